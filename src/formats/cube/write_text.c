/* XML as CubeLib reads it. */
#include "formats/cube/write.h"

void as_cube_put_element(as_output *out, const char *name, const char *text) {
    as_output_char(out, '<');
    as_output_text(out, name);
    as_output_char(out, '>');
    if (text) as_xml_put_text(out, text, strlen(text));
    as_output_text(out, "</");
    as_output_text(out, name);
    as_output_text(out, ">\n");
}

const char *as_cube_cell_text(as_cell cell, char buffer[AS_NUMBER_SIZE]) {
    switch (cell.type) {
    case AS_CELL_TEXT:
    case AS_CELL_JSON: return cell.text;
    case AS_CELL_INT: as_int_format(cell.i, buffer); return buffer;
    case AS_CELL_UINT: as_uint_format(cell.u, buffer); return buffer;
    case AS_CELL_REAL: as_real_format(cell.r, buffer); return buffer;
    default: return "";
    }
}

void as_cube_put_attr(as_output *out, const char *key, as_cell value) {
    char number[AS_NUMBER_SIZE];
    as_output_text(out, "<attr");
    as_xml_put_attribute(out, "key", key);
    as_xml_put_attribute(out, "value", as_cube_cell_text(value, number));
    as_output_text(out, "/>\n");
}
