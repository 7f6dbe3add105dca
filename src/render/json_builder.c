#include "render/json_builder.h"

#include <math.h>
#include <string.h>

#include "io/json.h"

/* Comma, line break and key before a member. */
static void begin_member(as_builder *b, const char *key) {
    if (b->depth > 0) {
        bool spread = b->levels[b->depth - 1].spread && !b->compact;
        if (b->levels[b->depth - 1].filled) as_output_text(b->out, spread || b->compact ? "," : ", ");
        b->levels[b->depth - 1].filled = true;
        if (spread) as_output_printf(b->out, "\n%*s", (int)(2 * b->depth), "");
    }
    if (!key) return;
    as_json_write_string(b->out, key, strlen(key));
    as_output_text(b->out, b->compact ? ":" : ": ");
}

static void open_level(as_builder *b, const char *key, const char *brackets, bool spread) {
    begin_member(b, key);
    as_output_char(b->out, brackets[0]);
    if (b->depth == AS_BUILDER_DEPTH) return; /* not reached: shapes are fixed by the code that builds them */
    b->levels[b->depth].close = brackets[1];
    b->levels[b->depth].filled = false;
    b->levels[b->depth].spread = spread;
    b->depth++;
}

void as_build_object(as_builder *b, const char *key, bool spread) { open_level(b, key, "{}", spread); }
void as_build_array(as_builder *b, const char *key, bool spread) { open_level(b, key, "[]", spread); }

void as_build_end(as_builder *b) {
    b->depth--;
    if (b->levels[b->depth].spread && b->levels[b->depth].filled && !b->compact)
        as_output_printf(b->out, "\n%*s", (int)(2 * b->depth), "");
    as_output_char(b->out, b->levels[b->depth].close);
    if (b->depth == 0) as_output_char(b->out, '\n');
}

void as_build_text(as_builder *b, const char *key, const char *text) {
    begin_member(b, key);
    if (text)
        as_json_write_string(b->out, text, strlen(text));
    else
        as_output_text(b->out, "null");
}

void as_build_int(as_builder *b, const char *key, int64_t value) {
    begin_member(b, key);
    as_output_int(b->out, value);
}

void as_build_known(as_builder *b, const char *key, int64_t value, bool null_zero) {
    if (value < 0 || (null_zero && value == 0))
        as_build_text(b, key, NULL);
    else
        as_build_int(b, key, value);
}

void as_build_bool(as_builder *b, const char *key, bool value) {
    begin_member(b, key);
    as_output_text(b->out, value ? "true" : "false");
}

void as_build_real(as_builder *b, const char *key, double value) {
    begin_member(b, key);
    as_json_write_real(b->out, value);
}

void as_build_number(as_builder *b, const char *key, double value) {
    if (isnan(value))
        as_build_text(b, key, NULL);
    else
        as_build_real(b, key, value);
}

void as_build_json(as_builder *b, const char *key, const char *json) {
    begin_member(b, key);
    as_output_text(b->out, json);
}

void as_build_whole(as_builder *b, const char *key, as_whole value) {
    char digits[AS_WHOLE_SIZE];
    size_t size = as_whole_format(value, digits);
    begin_member(b, key);
    as_output_write(b->out, digits, size);
}

void as_build_cell(as_builder *b, const char *key, const as_cell *cell) {
    const int64_t most = (int64_t)1 << 53;
    char digits[AS_NUMBER_SIZE];
    switch (cell->type) {
    case AS_CELL_NULL: as_build_text(b, key, NULL); return;
    case AS_CELL_REAL: as_build_real(b, key, cell->r); return;
    case AS_CELL_INT:
        if (cell->i >= -most && cell->i <= most)
            as_build_int(b, key, cell->i);
        else
            as_build_text(b, key, (as_int_format(cell->i, digits), digits));
        return;
    case AS_CELL_UINT: as_build_text(b, key, (as_uint_format(cell->u, digits), digits)); return;
    case AS_CELL_TEXT:
    case AS_CELL_JSON: break;
    }
    begin_member(b, key);
    as_json_write_string(b->out, cell->text, cell->size);
}
