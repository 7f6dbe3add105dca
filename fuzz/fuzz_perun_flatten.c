/* Flattening of Perun's values: bounded, and never anything but UTF-8. */
#include <stdlib.h>

#include "core/utf8.h"
#include "formats/perun/perun.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct flat {
    size_t produced;
    bool is_over; /* the whole has come */
} flat;

static bool check(void *user, const char *key, size_t key_size, as_cell value) {
    flat *f = user;
    if (f->is_over || key_size == 0 || key[0] != 'x' || (key_size > 1 && key[1] != ':')) abort();
    if (as_utf8_invalid(key, key_size)) abort();
    if (value.type == AS_CELL_TEXT && as_utf8_invalid(value.text, value.size)) abort();
    f->produced += key_size + (value.type == AS_CELL_TEXT ? value.size : 1);
    f->is_over = key_size == 1;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_json json;
    as_json_init(&json, "input", (const char *)bytes, size, (as_json_options){.nan_literals = true}, NULL);
    as_flattener *flattener = as_flattener_new(NULL);
    if (!flattener) abort();
    flat f = {0};
    if (as_json_next(&json) > AS_JSON_END) {
        bool fine = as_flatten(flattener, &json, "x", 1, check, &f);
        if (!fine && json.type != AS_JSON_ERROR) abort();
        if (fine && !f.is_over) abort();
        if (f.produced > 65 * size + 20000) abort();
    }
    as_flattener_free(flattener);
    as_json_free(&json);
    return 0;
}
