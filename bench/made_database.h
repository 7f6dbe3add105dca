/* A made-up dataset as HPCToolkit measures them: a random call tree of functions, loops and lines, threads that were
 * each seen at some of the lines, and what that gives above them, as inclusive and exclusive values. Include it behind
 * measuring.h. */
#ifndef AS_BENCH_MADE_DATABASE_H
#define AS_BENCH_MADE_DATABASE_H

#include <stdint.h>
#include <string.h>

#include "dataset/build.h"
#include "dataset/sparse_table.h"
#include "formats/format.h"
#include "formats/hpctoolkit/database.h"

enum { MADE_METRICS = 4, MADE_FUNCTIONS = 2000, MADE_FILES = 200, MADE_MODULES = 20, MADE_DEPTH = 60 };

typedef struct made_shape {
    uint32_t n_contexts, n_profiles, n_samples; /* samples of each trace line */
    double density;                             /* which part of the lines each profile has */
    /* As in real databases: */
    bool says_kinds;     /* what is a loop or a line is said; else all are functions */
    bool calls_at_lines; /* lines call functions, and those do nothing else; ids are in the order of the tree */
    /* lines that call have samples of their own, some in one metric only, so that metrics join different lines */
    bool sites_cost;
} made_shape;

typedef enum made_kind { MADE_FUNCTION, MADE_LOOP, MADE_LINE } made_kind;

/* In pre-order, but for the numbers that values are made by. */
typedef struct made_tree {
    uint32_t n, n_lines;
    uint32_t *parents; /* by order of arrival: a parent comes first */
    uint8_t *kinds;
    uint32_t *depths;
    uint32_t *lines;     /* all contexts that are lines */
    const assay_id *ids; /* of each in the dataset */
} made_tree;

static inline uint64_t made_random(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline double made_uniform(uint64_t *state) { return (double)(made_random(state) >> 11) * 0x1p-53; }

static inline void *made_room(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (!memory) fail("memory", NULL);
    return memory;
}

/* One of those that can have something below them, mostly of the last 64. */
static inline uint32_t made_parent(const uint32_t *inner, uint32_t n, uint64_t *state) {
    uint32_t low = made_uniform(state) < 0.7 && n > 64 ? n - 64 : 0;
    return inner[low + (uint32_t)(made_uniform(state) * (n - low))];
}

/* Functions below lines, which are below functions and loops. Values are those of other lines. */
static inline void made_shape_calls(made_tree *tree, uint32_t *inner, bool sites_cost) {
    uint32_t n_inner = 1, n_sites = 0, *sites = made_room(tree->n, sizeof *sites);
    uint64_t state = 1;
    for (uint32_t k = 2; k < tree->n; k++) {
        double sort = made_uniform(&state);
        bool is_call = sort > 0.75 && n_sites;
        uint32_t parent = is_call ? made_parent(sites, n_sites, &state) : made_parent(inner, n_inner, &state);
        if (tree->depths[parent] > MADE_DEPTH) parent = is_call ? sites[0] : 1;
        tree->parents[k] = parent;
        tree->depths[k] = tree->depths[parent] + 1;
        tree->kinds[k] = is_call ? MADE_FUNCTION : sort < 0.65 || !n_sites ? MADE_LINE : MADE_LOOP;
        bool is_site = tree->kinds[k] == MADE_LINE && (!n_sites || sort < 0.2);
        if (is_site) sites[n_sites++] = k;
        if (tree->kinds[k] != MADE_LINE) inner[n_inner++] = k;
        if (tree->kinds[k] == MADE_LINE && (!is_site || sites_cost)) tree->lines[tree->n_lines++] = k;
    }
    free(sites);
}

/* Deep, and bushy. */
static inline made_tree made_shape_tree(const made_shape *shape) {
    uint32_t n = shape->n_contexts;
    bool calls_at_lines = shape->calls_at_lines;
    made_tree tree = {.n = n,
                      .parents = made_room(n, sizeof *tree.parents),
                      .kinds = made_room(n, sizeof *tree.kinds),
                      .depths = made_room(n, sizeof *tree.depths),
                      .lines = made_room(n, sizeof *tree.lines)};
    uint32_t *inner = made_room(n, sizeof *inner), n_inner = 0;
    uint64_t state = 1;
    tree.depths[1] = 1;
    inner[n_inner++] = 1;
    if (calls_at_lines) made_shape_calls(&tree, inner, shape->sites_cost);
    for (uint32_t k = 2; k < n && !calls_at_lines; k++) {
        uint32_t parent = made_parent(inner, n_inner, &state);
        if (tree.depths[parent] > MADE_DEPTH) parent = 1;
        double sort = made_uniform(&state);
        tree.parents[k] = parent;
        tree.depths[k] = tree.depths[parent] + 1;
        tree.kinds[k] = sort < 0.55 ? MADE_LINE : sort < 0.65 ? MADE_LOOP : MADE_FUNCTION;
        if (tree.kinds[k] == MADE_LINE)
            tree.lines[tree.n_lines++] = k;
        else
            inner[n_inner++] = k;
    }
    free(inner);
    return tree;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static inline assay_id made_region(as_dataset *ds, const char *kind, const char *name, uint32_t file, int64_t line,
                                   uint32_t module) {
    char text[64];
    as_region region = AS_REGION_INIT;
    region.kind = as_ds_intern_text(ds, kind);
    region.name = as_ds_intern_text(ds, name);
    region.line_begin = line;
    snprintf(text, sizeof text, "/src/dir%u/file%u.c", file % 10, file);
    if (file < MADE_FILES) region.file = as_ds_intern_text(ds, text);
    snprintf(text, sizeof text, "/opt/app/lib%u.so", module);
    if (module < MADE_MODULES) region.module = as_ds_intern_text(ds, text);
    return as_add_region(ds, &region);
}

/* The region of a context: functions are shared, loops and lines are not. */
static inline assay_id made_region_of(as_dataset *ds, const made_tree *tree, uint32_t k, assay_id functions) {
    uint32_t function = k * 2654435761u % MADE_FUNCTIONS, file = function % MADE_FILES;
    uint32_t line = (tree->kinds[k] == MADE_LOOP ? 7 : 10) + k % 500;
    char name[96];
    if (tree->kinds[k] == MADE_FUNCTION) return functions + function;
    snprintf(name, sizeof name, "%s/src/dir%u/file%u.c:%u", tree->kinds[k] == MADE_LOOP ? "loop at " : "line ",
             file % 10, file, line);
    return made_region(ds, tree->kinds[k] == MADE_LOOP ? "loop" : "line", name, file, line, UINT32_MAX);
}

static inline void made_contexts(as_dataset *ds, made_tree *tree, bool has_ids) {
    as_tree contexts;
    char text[32];
    as_tree_init(&contexts, ds);
    assay_id root = made_region(ds, "root", "<root>", UINT32_MAX, -1, UINT32_MAX);
    assay_id entry = made_region(ds, "entry", "main thread", UINT32_MAX, -1, UINT32_MAX), functions = entry + 1;
    for (uint32_t i = 0; i < MADE_FUNCTIONS; i++) {
        snprintf(text, sizeof text, i % 17 ? "fn_%04u" : "fn_%04u<int>", i);
        made_region(ds, "function", text, i % MADE_FILES, 1 + i % 300, i % MADE_MODULES);
    }
    for (uint32_t k = 0; k < tree->n; k++) {
        as_context context = AS_CONTEXT_INIT;
        snprintf(text, sizeof text, "%u", k);
        if (has_ids) context.source_id = as_ds_intern_text(ds, text);
        context.parent = k ? tree->parents[k] : ASSAY_NONE;
        context.region = k == 0 ? root : k == 1 ? entry : made_region_of(ds, tree, k, functions);
        context.name = as_ds_region(ds, context.region)->name;
        context.role = tree->kinds[k] == MADE_FUNCTION ? AS_ROLE_CALL : AS_ROLE_INNER;
        if (as_tree_add(&contexts, &context) == ASSAY_NONE) fail("memory", NULL);
    }
    if (!as_tree_finish(&contexts, &tree->ids)) fail("memory", NULL);
    as_tree_free(&contexts);
}

/* ---- places and metrics ------------------------------------------------------------------------------------------ */

/* Ranks of four threads, eight to a node. */
static inline assay_id *made_places(as_dataset *ds, uint32_t n) {
    assay_id *leaves = as_arena_array(&ds->arena, n, sizeof *leaves);
    as_hpc_places places = {0};
    char text[32];
    for (uint32_t i = 0; leaves && i < n; i++) {
        as_hpc_place tuple[] = {
            {"NODE", i / 32, 0x2A803C80 + i / 32, 0}, {"RANK", i / 4, i / 4, 0}, {"THREAD", i % 4, i % 4, 0}};
        snprintf(text, sizeof text, "%u", i + 1);
        leaves[i] = as_hpc_add_leaf(ds, &places, tuple, 3, as_ds_intern_text(ds, text));
        if (leaves[i] == ASSAY_NONE) fail("memory", NULL);
    }
    as_hpc_places_free(&places);
    return leaves;
}

/* Two for each: inclusive ones have the even ids. */
static inline void made_metrics(as_dataset *ds) {
    for (assay_id i = 0; i < 2 * MADE_METRICS; i++) {
        char text[32];
        as_metric metric = AS_METRIC_INIT;
        snprintf(text, sizeof text, "M%u (sec)", i / 2);
        metric.name = as_ds_intern_text(ds, text);
        metric.unit = as_ds_intern_text(ds, "sec");
        snprintf(text, sizeof text, "%u", i);
        metric.source_id = as_ds_intern_text(ds, text);
        metric.kind = i % 2 ? AS_KIND_EXCLUSIVE : AS_KIND_INCLUSIVE;
        metric.is_stored = true;
        *(i % 2 ? &metric.part_of : &metric.exclusive) = i ^ 1;
        if (as_add_metric(ds, &metric) == ASSAY_NONE) fail("memory", NULL);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

typedef struct made_cell {
    assay_id context;
    uint32_t column;
    double value;
} made_cell;

/* What each thread has, one after the other. */
static inline void made_profile(const made_tree *tree, const made_shape *shape, uint32_t profile, int metric,
                                bool inclusive, double *values, as_vec *cells) {
    uint32_t n_hits = (uint32_t)(shape->density * tree->n_lines + 0.5);
    uint64_t hits = profile * 1000003u, numbers = profile * 1000003u + (uint64_t)metric + 17;
    memset(values, 0, tree->n * sizeof *values);
    for (uint32_t i = 0; i < n_hits; i++) {
        uint32_t line = tree->lines[made_random(&hits) % tree->n_lines];
        double value = (double)(1 + made_random(&numbers) % 1000);
        if (metric == 0 || made_uniform(&numbers) < 0.8) values[line] += value;
    }
    for (uint32_t k = tree->n; k-- > 1;) {
        if (inclusive || tree->kinds[k] != MADE_FUNCTION) values[tree->parents[k]] += values[k];
    }
    if (!inclusive) values[0] = 0;
    for (uint32_t k = 0; k < tree->n; k++) {
        made_cell cell = {tree->ids[k], profile, values[k]};
        if (values[k] != 0 && !as_vec_append(cells, &cell, 1)) fail("memory", NULL);
    }
}

/* Brings the cells of all threads into the order of contexts, and hands them over row by row. */
static inline void made_rows(as_dataset *ds, const as_vec *cells, uint32_t n_contexts, assay_id metric,
                             const assay_id *leaves, uint32_t n_columns) {
    uint64_t *starts = made_room((size_t)n_contexts + 1, sizeof *starts);
    uint32_t *columns = made_room(cells->count, sizeof *columns);
    double *values = made_room(cells->count, sizeof *values);
    as_sparse_table *table = as_sparse_table_new(ds);
    const made_cell *all = cells->data;
    for (size_t i = 0; i < cells->count; i++) starts[all[i].context + 1]++;
    for (uint32_t k = 0; k < n_contexts; k++) starts[k + 1] += starts[k];
    for (size_t i = 0; i < cells->count; i++) {
        uint64_t to = starts[all[i].context]++; /* moves starts to the ends */
        columns[to] = all[i].column;
        values[to] = all[i].value;
    }
    for (uint32_t k = 0; table && k < n_contexts; k++) {
        uint64_t start = k ? starts[k - 1] : 0;
        if (!as_sparse_table_add(table, k, columns + start, values + start, (uint32_t)(starts[k] - start)))
            fail("memory", NULL);
    }
    if (!table || !as_sparse_table_finish(table, metric, 0, leaves, n_columns)) fail("memory", NULL);
    free(starts);
    free(columns);
    free(values);
}

static inline void made_values(as_dataset *ds, const made_tree *tree, const made_shape *shape, const assay_id *leaves) {
    as_vec cells;
    double *values = made_room(tree->n, sizeof *values);
    as_vec_init(&cells, sizeof(made_cell), NULL);
    for (assay_id metric = 0; metric < 2 * MADE_METRICS; metric++) {
        cells.count = 0;
        for (uint32_t i = 0; i < shape->n_profiles; i++)
            made_profile(tree, shape, i, (int)metric / 2, metric % 2 == 0, values, &cells);
        made_rows(ds, &cells, tree->n, metric, leaves, shape->n_profiles);
    }
    as_vec_free(&cells);
    free(values);
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

typedef struct made_traces {
    as_trace_source source;
    assay_id *contexts; /* to be seen in */
    uint32_t n;
} made_traces;

static inline assay_status made_read_trace(const as_trace_source *source, const as_trace_line *line, uint64_t first,
                                           size_t n, as_trace_sample *out, assay_error *error) {
    const made_traces *traces = (const made_traces *)source;
    (void)error;
    for (size_t i = 0; i < n; i++) {
        uint64_t state = line->at + (first + i) / 3; /* some time at each */
        out[i] = (as_trace_sample){1600000000000000000u + (first + i) * 2000000u,
                                   traces->contexts[made_random(&state) % traces->n]};
    }
    return ASSAY_OK;
}

static inline void made_trace_lines(as_dataset *ds, const made_tree *tree, const made_shape *shape,
                                    const assay_id *leaves) {
    made_traces *traces = as_arena_alloc(&ds->arena, sizeof *traces);
    if (!traces || !shape->n_samples) return;
    traces->source.read = made_read_trace;
    traces->n = tree->n_lines;
    traces->contexts = as_arena_array(&ds->arena, tree->n_lines, sizeof *traces->contexts);
    if (!traces->contexts) fail("memory", NULL);
    for (uint32_t i = 0; i < tree->n_lines; i++) traces->contexts[i] = tree->ids[tree->lines[i]];
    ds->traces.ticks_per_second = 1e9;
    for (uint32_t i = 0; i < shape->n_profiles; i++) {
        as_trace_line line = {
            .location = leaves[i], .n = shape->n_samples, .source = &traces->source, .at = i * 1000003u};
        if (!as_add_trace_line(ds, &line)) fail("memory", NULL);
    }
}

/* The dataset, to be freed. */
static inline as_dataset *made_dataset(const made_shape *shape) {
    as_dataset *ds = as_dataset_new(0);
    if (!ds) fail("memory", NULL);
    made_tree tree = made_shape_tree(shape);
    made_metrics(ds);
    made_contexts(ds, &tree, !shape->calls_at_lines);
    as_add_run(ds, &AS_RUN_INIT);
    ds->format = shape->says_kinds ? "hpctoolkit-2021" : "made";
    assay_id *leaves = made_places(ds, shape->n_profiles);
    made_values(ds, &tree, shape, leaves);
    made_trace_lines(ds, &tree, shape, leaves);
    free(tree.parents);
    free(tree.kinds);
    free(tree.depths);
    free(tree.lines);
    return ds;
}

/* Writes a dataset as a database of 2021. */
static inline void made_write(const as_dataset *ds, const char *path) {
    assay_error error;
    const as_format *format = as_format_find("hpctoolkit-2021");
    as_output_directory *out;
    if (!format || !format->write) fail("hpctoolkit-2021 cannot be written", NULL);
    if (as_output_directory_open(path, &out, &error) != ASSAY_OK) fail(path, &error);
    if (as_write_directory(ds, format, NULL, 0, out, &error) != ASSAY_OK) fail(path, &error);
    if (as_output_directory_commit(out, &error) != ASSAY_OK) fail(path, &error);
}

#endif
