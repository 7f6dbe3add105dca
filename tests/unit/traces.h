/* Trace lines written down in a test. Include it behind cmocka.h. */
#ifndef AS_TESTS_TRACES_H
#define AS_TESTS_TRACES_H

#include <string.h>

#include "dataset/build.h"

typedef struct line_source {
    as_trace_source base;
    const as_trace_sample *samples;
    bool is_damaged;         /* every read fails */
    size_t n_reads, n_given; /* calls so far, and samples they gave */
} line_source;

static inline assay_status read_line_source(const as_trace_source *source, const as_trace_line *line, uint64_t first,
                                            size_t n, as_trace_sample *out, assay_error *error) {
    line_source *s = (line_source *)(uintptr_t)source;
    assert_true(first <= line->n && n <= line->n - first);
    if (s->is_damaged)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset("trace.db", 96), "trace", "the line is cut off");
    if (n) memcpy(out, s->samples + first, n * sizeof *out);
    s->n_reads++;
    s->n_given += n;
    return ASSAY_OK;
}

/* The samples must stay where they are. */
static inline line_source *add_line(as_dataset *ds, assay_id run, assay_id location, const as_trace_sample *samples,
                                    size_t n) {
    line_source *source = as_arena_alloc(&ds->arena, sizeof *source);
    assert_non_null(source);
    *source = (line_source){.base.read = read_line_source, .samples = samples};
    as_trace_line line = {.run = run, .location = location, .n = n, .source = &source->base};
    assert_true(as_add_trace_line(ds, &line));
    return source;
}

/* A location without a parent. */
static inline assay_id add_place(as_dataset *ds, const char *kind, const char *name) {
    as_location location = AS_LOCATION_INIT;
    location.kind = as_ds_intern_text(ds, kind);
    location.name = as_ds_intern_text(ds, name);
    location.leaf = true;
    return as_add_location(ds, &location);
}

#endif
