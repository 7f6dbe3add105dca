/* JSON of profiles: numbers, regions, and members of what is there as text. */
#include <math.h>

#include "formats/perun/write.h"

void as_perun_write_real(as_output *out, double value) {
    char text[AS_NUMBER_SIZE];
    if (isfinite(value))
        as_output_write(out, text, as_real_format_python(value, text));
    else
        as_output_text(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

void as_perun_write_number(as_output *out, as_number number) {
    char text[AS_NUMBER_SIZE];
    if (number.kind == AS_REAL)
        as_perun_write_real(out, number.r);
    else
        as_output_write(out, text, as_number_format(number, text));
}

void as_perun_write_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: as_output_text(out, "null"); break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: as_perun_write_number(out, (as_number){.kind = AS_UINT, .u = cell.u}); break;
    case AS_CELL_REAL: as_perun_write_real(out, cell.r); break;
    case AS_CELL_TEXT: as_json_write_string(out, cell.text, cell.size); break;
    case AS_CELL_JSON: as_output_write(out, cell.text, cell.size); break;
    }
}

void as_perun_write_str(as_output *out, const as_dataset *ds, as_str text) {
    as_json_write_string(out, text == AS_NO_STR ? "" : as_ds_text(ds, text),
                         text == AS_NO_STR ? 0 : as_str_size(&ds->strings, text));
}

void as_region_begin(as_region_list *list, const char *key, size_t size) {
    as_output_text(list->out, list->n++ ? ",\n  " : "{\n  ");
    as_json_write_string(list->out, key, size);
    as_output_text(list->out, ": ");
}

void as_region_end(as_region_list *list) { as_output_text(list->out, list->n ? "\n}\n" : "{}\n"); }

/* ---- members ----------------------------------------------------------------------------------------------------- */

bool as_raw_items_begin(as_raw_items *items, as_raw_json text, as_budget *budget) {
    *items = (as_raw_items){0};
    /* Nesting was bounded when it was read. */
    as_json_init(&items->json, NULL, text.text, text.size,
                 (as_json_options){.nan_literals = true, .max_depth = UINT32_MAX}, budget);
    as_json_type type = as_json_next(&items->json);
    return type == AS_JSON_OBJECT || type == AS_JSON_ARRAY;
}

bool as_raw_items_next(as_raw_items *items) {
    as_json_type type = as_json_next(&items->json);
    if (type == AS_JSON_KEY) {
        items->key.text = as_json_text(&items->json, &items->key.size);
        if (!items->key.text) return false;
        as_json_next(&items->json);
    } else if (type <= AS_JSON_END || type == AS_JSON_OBJECT_END || type == AS_JSON_ARRAY_END)
        return false;
    return as_json_skip(&items->json, &items->value.text, &items->value.size) != AS_JSON_ERROR;
}

bool as_raw_items_end(as_raw_items *items) {
    bool failed = items->json.type == AS_JSON_ERROR;
    as_json_free(&items->json);
    return failed;
}

as_raw_json as_raw_member(as_raw_json object, const char *key, as_budget *budget, bool *fine) {
    as_raw_json found = {0};
    if (as_raw_begins(object) != '{') return found;
    as_raw_items items;
    for (bool more = as_raw_items_begin(&items, object, budget); more && as_raw_items_next(&items);) {
        if (as_raw_is(items.key, key)) found = items.value; /* the last one counts */
    }
    if (as_raw_items_end(&items)) *fine = false;
    return found;
}
