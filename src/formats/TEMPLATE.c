/* A format to copy: small, but whole. It is compiled and tested (tests/unit/test_template.c) and not registered, so
 * the command does not know it. docs/new-format.md says the same in prose.
 *
 * STEP 1. Copy this file to src/formats/NAME.c (a format that needs more than one file gets a folder). Say here what
 * a file looks like:
 *
 *   toy-profile 1                  the first line
 *   metric time s                  a metric and, if it has one, its unit; its values follow
 *   value main 2                   the exclusive value of a call path
 *   value main->solve 1.5          a path that comes again: the numbers are added up
 *   # a comment
 *
 * This is a profile: one run, no parameters. A format of measurements at points uses dataset/experiment.h instead, as
 * formats/extrap/text.c does. */
#include <stdlib.h>

#include "formats/format.h"

static const char MAGIC[] = "toy-profile 1\n";
enum { MAGIC_SIZE = sizeof MAGIC - 1, PROGRESS_BYTES = 1 << 18 };

/* ---- STEP 2. bid: is it mine? ------------------------------------------------------------------------------------ */

/* Say how many bits you verified, here 8 for each character. Look at the probe only; never allocate, never fail. 0:
 * not mine. */
static int bid(const as_probe *probe) {
    return !probe->is_directory && probe->head_size >= MAGIC_SIZE && memcmp(probe->head, MAGIC, MAGIC_SIZE) == 0
               ? 8 * MAGIC_SIZE
               : 0;
}

/* ---- STEP 3. read: bytes to a dataset ---------------------------------------------------------------------------- */

typedef struct row {
    assay_id metric, context; /* context: id of the tree, later that of the dataset */
    double value;
} row;

typedef struct profile {
    as_reader *reader;
    as_tree tree; /* contexts arrive in any order and are numbered in the end */
    as_vec rows;  /* row */
    assay_id metric;
    const char *line, *end;
    uint32_t line_number;
} profile;

/* Every error has a place, and says what to do where that is not plain. */
static assay_status broken(profile *p, const char *at, const char *rule, const char *message) {
    return as_broken(p->reader, as_place_line(p->reader->input->path, p->line_number, (uint32_t)(at - p->line) + 1),
                     rule, "%s", message);
}

static assay_status read_metric(profile *p, const char *at) {
    const char *blank = memchr(at, ' ', (size_t)(p->end - at)), *name_end = blank ? blank : p->end;
    as_dataset *ds = p->reader->dataset;
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern(ds, at, (size_t)(name_end - at));
    metric.dtype = as_ds_intern_text(ds, "DOUBLE");
    metric.kind = AS_KIND_EXCLUSIVE;
    if (blank) metric.unit = as_ds_intern(ds, blank + 1, (size_t)(p->end - blank - 1));
    p->metric = metric.name == AS_NO_STR ? ASSAY_NONE : as_add_metric(ds, &metric);
    return p->metric == ASSAY_NONE ? as_reader_memory(p->reader) : ASSAY_OK;
}

static assay_status read_value(profile *p, const char *at) {
    const char *blank = memrchr(at, ' ', (size_t)(p->end - at)); /* names may hold blanks */
    row new_row = {.metric = p->metric};
    if (p->metric == ASSAY_NONE) return broken(p, p->line, "no-metric", "a value before the first metric");
    if (!blank) return broken(p, p->line, "no-value", "a value needs a call path and a number");
    if (!as_real_parse(blank + 1, (size_t)(p->end - blank - 1), &new_row.value))
        return broken(p, blank + 1, "not-a-number", "not a number");
    new_row.context = as_tree_path(&p->tree, at, (size_t)(blank - at));
    if (new_row.context == ASSAY_NONE || !as_vec_append(&p->rows, &new_row, 1)) return as_reader_memory(p->reader);
    return ASSAY_OK;
}

static bool begins(const profile *p, const char *word) {
    return (size_t)(p->end - p->line) > strlen(word) && memcmp(p->line, word, strlen(word)) == 0;
}

static assay_status read_line(profile *p) {
    if (p->line == p->end || *p->line == '#') return ASSAY_OK;
    if (begins(p, "metric ")) return read_metric(p, p->line + strlen("metric "));
    if (begins(p, "value ")) return read_value(p, p->line + strlen("value "));
    return broken(p, p->line, "keyword", "neither a metric nor a value");
}

/* One pass; lines are never copied. as_broken() returns ASSAY_OK under keep_going: then the next line is read. */
static assay_status read_lines(profile *p) {
    const as_input *input = p->reader->input;
    const char *end = input->data + input->size, *told = input->data;
    if (input->size < MAGIC_SIZE || memcmp(input->data, MAGIC, MAGIC_SIZE) != 0) {
        return as_broken(p->reader, as_place_line(input->path, 1, 1), "magic", "the first line is not 'toy-profile 1'");
    }
    p->line_number = 1;
    for (const char *at = input->data + MAGIC_SIZE, *newline; at < end; at = newline ? newline + 1 : end) {
        newline = memchr(at, '\n', (size_t)(end - at));
        p->line = at;
        p->end = newline ? newline : end;
        p->line_number++;
        AS_TRY(read_line(p));
        if (at - told < PROGRESS_BYTES) continue;
        told = at;
        AS_TRY(as_reader_progress(p->reader, (size_t)(at - input->data))); /* may be cancelled; lets go of pages */
    }
    return ASSAY_OK;
}

static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* The n rows of one metric, sorted by context, become its block. Its arrays live in the dataset's arena. */
static bool add_block(as_dataset *ds, const row *rows, size_t n, assay_id run) {
    assay_id *contexts = as_arena_array(&ds->arena, n, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, n + 1, sizeof *starts);
    double *values = as_arena_array(&ds->arena, n, sizeof *values);
    if (!contexts || !starts || !values) return false;
    as_block block = {.metric = rows[0].metric,
                      .run = run,
                      .contexts = contexts,
                      .starts = starts,
                      .dtype = AS_DTYPE_DOUBLE,
                      .values = values};
    for (size_t i = 0; i < n; i++) {
        if (i && rows[i].context == rows[i - 1].context) {
            values[block.n_contexts - 1] += rows[i].value;
            continue;
        }
        contexts[block.n_contexts] = rows[i].context;
        values[block.n_contexts++] = rows[i].value;
        starts[block.n_contexts] = block.n_contexts; /* one row a context */
    }
    return as_add_block(ds, &block);
}

/* Contexts get their final ids, rows go to blocks. */
static assay_status finish(profile *p) {
    as_dataset *ds = p->reader->dataset;
    as_run run = AS_RUN_INIT;
    assay_id id = as_add_run(ds, &run);
    const assay_id *new_ids;
    row *rows = p->rows.data;
    size_t n = p->rows.count;
    if (!n) return as_broken(p->reader, as_place_file(p->reader->input->path), "no-data", "no values");
    if (id == ASSAY_NONE || !as_tree_finish(&p->tree, &new_ids)) return as_reader_memory(p->reader);
    for (size_t i = 0; i < n; i++) rows[i].context = new_ids[rows[i].context];
    qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0, first = 0; i < n; i++) {
        if (i + 1 < n && rows[i + 1].metric == rows[i].metric) continue;
        if (!add_block(ds, rows + first, i + 1 - first, id)) return as_reader_memory(p->reader);
        first = i + 1;
    }
    return ASSAY_OK;
}

static assay_status read_profile(as_reader *reader) {
    profile p = {.reader = reader, .metric = ASSAY_NONE};
    as_tree_init(&p.tree, reader->dataset);
    as_vec_init(&p.rows, sizeof(row), &reader->dataset->budget);
    assay_status status = read_lines(&p);
    if (status == ASSAY_OK) status = finish(&p);
    as_tree_free(&p.tree);
    as_vec_free(&p.rows);
    return status;
}

/* ---- STEP 4. write, and say what is lost ------------------------------------------------------------------------- */

/* Errors of the output stick: write on, the caller looks at them when it commits. */
static assay_status write_profile(as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = true;
    as_output_text(writer->out, MAGIC);
    for (size_t i = 0; i < ds->blocks.count && fine; i++) {
        const as_block *block = as_ds_block(ds, i);
        const as_metric *metric = as_ds_metric(ds, block->metric);
        const char *unit = as_ds_text(ds, metric->unit);
        as_output_printf(writer->out, "metric %s%s%s\n", as_ds_text(ds, metric->name), unit ? " " : "",
                         unit ? unit : "");
        for (uint32_t k = 0; k < block->n_contexts && fine; k++) {
            fine = as_context_path(ds, block->contexts[k], &path);
            for (uint64_t at = block->starts[k]; at < block->starts[k + 1] && fine; at++) {
                if (as_block_run(block, at) != 0) continue;
                as_output_printf(writer->out, "value %s ", (const char *)path.data);
                as_output_number(writer->out,
                                 as_block_value(block, at)); /* the shortest text that reads back the same */
                as_output_char(writer->out, '\n');
            }
        }
    }
    as_vec_free(&path);
    return fine ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

/* Only what the bits of `holds` below do not say. It stands behind "NAME cannot hold ". */
static void find_losses(const as_dataset *ds, as_losses *losses) {
    if (ds->runs.count > 1) as_lose(losses, "%zu runs beyond the first", ds->runs.count - 1);
}

/* ---- STEP 5. the struct that is the format ----------------------------------------------------------------------- */

const struct assay_format as_format_template = {
    .name = "template",
    .title = "Toy profile",
    .extensions = ".toy",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_UNITS | AS_HOLDS_PROFILES,
    .bid = bid,
    .read = read_profile,
    .write = write_profile,
    .losses = find_losses,
};

/* STEP 6. One line in formats.def: AS_FORMAT(as_format_NAME).
 * STEP 7. tests/unit/test_NAME.c, files in tests/data/, fuzz/fuzz_NAME.c with seeds, a row in the README's table of
 * formats. */
