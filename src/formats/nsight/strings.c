/* StringIds: the pool of texts that nearly all names refer to by their numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/nsight/load.h"

typedef struct pooled {
    const char *text; /* NULL: not in the pool */
    size_t size;
    as_str name; /* AS_NO_STR: nobody asked yet */
} pooled;

typedef struct as_ns_texts {
    as_arena arena;
    as_map by_id;
    as_vec texts;
} as_ns_texts;

static assay_status fill(as_ns_export *x, as_ns_texts *texts, as_scan *scan, bool *fine) {
    uint64_t n_wrong = 0;
    while (*fine && as_scan_next(scan)) {
        as_scan_type type = as_scan_type_of(scan, 1);
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT || type < AS_SCAN_TEXT) {
            n_wrong++;
            continue;
        }
        pooled *p = as_vec_push(&texts->texts);
        size_t size;
        const char *text = as_scan_text(scan, 1, &size);
        if (p) *p = (pooled){as_arena_copy(&texts->arena, text, size), size, AS_NO_STR};
        *fine = p && p->text &&
                as_map_put(&texts->by_id, (uint64_t)as_scan_int(scan, 0), (uint32_t)(texts->texts.count - 1));
    }
    as_ns_tell_wrong(x, "StringIds", n_wrong);
    return as_scan_close(scan, x->reader->error);
}

assay_status as_ns_texts_read(as_ns_export *x) {
    as_ns_texts *texts = calloc(1, sizeof *texts);
    if (!texts) return as_reader_memory(x->reader);
    x->texts = texts;
    as_arena_init(&texts->arena, &x->ds->budget);
    as_map_init(&texts->by_id, &x->ds->budget);
    as_vec_init(&texts->texts, sizeof(pooled), &x->ds->budget);
    static const char *const columns[] = {"id", "value"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "StringIds", columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    assay_status status = fill(x, texts, scan, &fine);
    return fine ? status : as_reader_memory(x->reader);
}

void as_ns_texts_free(as_ns_export *x) {
    if (!x->texts) return;
    as_map_free(&x->texts->by_id);
    as_vec_free(&x->texts->texts);
    as_arena_free(&x->texts->arena);
    free(x->texts);
    x->texts = NULL;
}

/* The text of an id; one that is missing gets an entry without text, so that it is counted once. NULL when memory is
 * out. */
static pooled *find(as_ns_export *x, int64_t id) {
    as_ns_texts *texts = x->texts;
    uint32_t at = as_map_get(&texts->by_id, (uint64_t)id);
    if (at != AS_MAP_NONE) return &AS_AT(pooled, &texts->texts, at);
    pooled *p = as_vec_push(&texts->texts);
    if (!p || !as_map_put(&texts->by_id, (uint64_t)id, (uint32_t)(texts->texts.count - 1))) return NULL;
    p->name = AS_NO_STR;
    x->n_no_string++;
    return p;
}

as_str as_ns_string(as_ns_export *x, int64_t id) {
    pooled *p = find(x, id);
    if (!p || p->name != AS_NO_STR) return p ? p->name : AS_NO_STR;
    char missing[48];
    snprintf(missing, sizeof missing, "[string %lld]", (long long)id);
    p->name = p->text ? as_ns_fit_name(x, p->text, p->size, false) : as_ds_intern_text(x->ds, missing);
    return p->name;
}

const char *as_ns_stored_string(as_ns_export *x, int64_t id, size_t *size) {
    const pooled *p = find(x, id);
    *size = p && p->text ? p->size : 0;
    return p ? p->text : NULL;
}
