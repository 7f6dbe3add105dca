/* For tests of readers and writers: read text, say in a few words what was read, write it again. Include it behind
 * cmocka.h. */
#ifndef AS_TESTS_HELPERS_H
#define AS_TESTS_HELPERS_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/format.h"

typedef struct expected_error {
    const char *text; /* the input */
    const char *rule;
    uint32_t line, column; /* 0: none */
} expected_error;

static inline as_dataset *read_bytes(const char *format, const char *data, size_t size) {
    as_read_config config = {.format = format};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", data, size, &config, &ds, &error) != ASSAY_OK)
        fail_msg("%u:%u: %s (%s)", error.line, error.column, error.message, error.rule);
    return ds;
}

static inline as_dataset *read_text(const char *format, const char *text) {
    return read_bytes(format, text, strlen(text));
}

static inline void assert_refused(const char *format, const expected_error *expected) {
    as_read_config config = {.format = format};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", expected->text, strlen(expected->text), &config, &ds, &error) == ASSAY_OK)
        fail_msg("accepted: %s", expected->text);
    if (error.code != ASSAY_E_FORMAT || strcmp(error.rule, expected->rule) != 0 || error.line != expected->line ||
        error.column != expected->column) {
        fail_msg("%s\nexpected %s at %u:%u, got %s at %u:%u: %s", expected->text, expected->rule, expected->line,
                 expected->column, error.rule, error.line, error.column, error.message);
    }
    assert_string_equal(error.path, "input");
}

/* How many problems have this rule; *line (may be NULL): of the first. */
static inline size_t count_problems(const as_dataset *ds, const char *rule, uint32_t *line) {
    size_t n = 0;
    for (size_t i = 0; i < ds->problems.count; i++) {
        if (strcmp(as_ds_problem(ds, i)->rule, rule) != 0) continue;
        if (!n++ && line) *line = as_ds_problem(ds, i)->line;
    }
    return n;
}

/* ---- what was read, in words: "main->f time (1,2): 1 [2 3]" and so on, a line for each point of each series ------ */

static inline void describe_rows(const as_dataset *ds, const as_series *series, FILE *out) {
    const as_block *block = as_ds_metric_block(ds, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    as_vec words;
    as_vec_init(&words, 1, NULL);
    assay_id point = ASSAY_NONE, run = ASSAY_NONE;
    bool open = false;
    for (uint64_t row = index == UINT32_MAX ? 0 : block->starts[index],
                  end = index == UINT32_MAX ? 0 : block->starts[index + 1];
         row < end; row++) {
        assay_id here = as_block_run(block, row), location = as_block_location(block, row);
        if (open && here != run) fputc(']', out), open = false;
        if (as_ds_run(ds, here)->point != point) {
            if (point != ASSAY_NONE) fputc('\n', out);
            point = as_ds_run(ds, here)->point;
            as_context_path(ds, series->context, &words);
            fprintf(out, "%s %s ", (char *)words.data, as_ds_text(ds, as_ds_metric(ds, series->metric)->name));
            as_point_label(ds, point, &words);
            fprintf(out, "%.*s:", (int)words.count, (char *)words.data);
        }
        char number[AS_NUMBER_SIZE];
        as_number_format(as_block_value(block, row), number);
        bool begins = location != ASSAY_NONE && !open;
        fprintf(out, " %s%s", begins ? "[" : "", number);
        open |= begins;
        run = here;
    }
    if (open) fputc(']', out);
    if (point != ASSAY_NONE) fputc('\n', out);
    as_vec_free(&words);
}

static inline char *describe(const as_dataset *ds) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < ds->series.count; i++) describe_rows(ds, as_ds_series(ds, i), out);
    fclose(out);
    return text;
}

static inline void assert_described(const as_dataset *ds, const char *expected) {
    char *text = describe(ds);
    assert_string_equal(text, expected);
    free(text);
}

/* Reads text and compares. */
static inline void assert_reads(const char *format, const char *text, const char *expected) {
    as_dataset *ds = read_text(format, text);
    assert_described(ds, expected);
    as_dataset_free(ds);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The caller frees it. */
static inline char *write_text(const as_dataset *ds, const char *format) {
    as_output *out = as_output_to_memory();
    assay_error error = {0};
    size_t size;
    if (as_write(ds, as_format_find(format), NULL, 0, out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    char *text = strdup(as_output_memory(out, &size));
    as_output_discard(out);
    return text;
}

/* Reads text, writes it in a format, and expects this. */
static inline void assert_writes(const char *from, const char *text, const char *to, const char *expected) {
    as_dataset *ds = read_text(from, text);
    char *written = write_text(ds, to);
    assert_string_equal(written, expected);
    free(written);
    as_dataset_free(ds);
}

/* What is lost, joined by "; ". The caller frees it. */
static inline char *losses_of(const as_dataset *ds, const char *format) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find(format), &losses);
    for (size_t i = 0; i < losses.texts.count; i++)
        fprintf(out, "%s%s", i ? "; " : "", AS_AT(char *, &losses.texts, i));
    as_losses_free(&losses);
    fclose(out);
    return text;
}

static inline void assert_loses(const char *from, const char *text, const char *to, const char *expected) {
    as_dataset *ds = read_text(from, text);
    char *losses = losses_of(ds, to);
    assert_string_equal(losses, expected);
    free(losses);
    as_dataset_free(ds);
}

/* Writing and reading again gives the same series, values and places. */
static inline void assert_survives(const char *from, const char *text, const char *to) {
    as_dataset *ds = read_text(from, text);
    char *written = write_text(ds, to), *before = describe(ds);
    as_dataset *back = read_text(to, written);
    assert_described(back, before);
    assert_int_equal(back->n_points, ds->n_points);
    assert_int_equal(back->contexts.count, ds->contexts.count);
    as_dataset_free(back);
    as_dataset_free(ds);
    free(written);
    free(before);
}

/* Reads every beginning of text, stopping at errors and going on: no crash, and an error says something. */
static inline void read_all_beginnings(const char *format, const char *text) {
    for (size_t size = 0; size <= strlen(text); size++) {
        for (int keep_going = 0; keep_going < 2; keep_going++) {
            char *exact = malloc(size + 1); /* so that a sanitizer sees a read behind the end */
            memcpy(exact, text, size);
            char *tight = realloc(exact, size ? size : 1);
            as_read_config config = {.format = format, .keep_going = keep_going};
            as_dataset *ds = NULL;
            assay_error error = {0};
            if (as_read_memory("input", tight, size, &config, &ds, &error) == ASSAY_OK)
                as_dataset_free(ds);
            else
                assert_true(error.message[0] != '\0');
            free(tight);
        }
    }
}

/* Reads text under ever larger memory limits until it is enough: below, memory is out, and nothing else happens. */
static inline void read_with_little_memory(const char *format, const char *text) {
    size_t failed = 0;
    for (uint64_t limit = 1;; limit += 61) {
        as_read_config config = {.format = format, .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error = {0};
        assay_status status = as_read_memory("input", text, strlen(text), &config, &ds, &error);
        if (status == ASSAY_OK) {
            as_dataset_free(ds);
            break;
        }
        assert_int_equal(status, ASSAY_E_NOMEM);
        failed++;
        assert_true(limit < 100000000);
    }
    assert_true(failed > 10);
}

#endif
