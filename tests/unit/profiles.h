/* Small profiles as text, made into datasets and back. Include it behind cmocka.h.
 *
 *   places   "0/0 0/1 1/0": process and thread rank of each leaf, "a/0 0/0" with a word for the node that the next ones
 *            are on; "" for none
 *   metrics  "time DOUBLE inclusive; visits UINT64 exclusive"; a name with a dot, "time.wait", is a child of the metric
 *            before the dot
 *   tree     a line for each context, indented by two blanks for each level: "solve:10@7{i=3} | 1 2 | 3 -5": name,
 *            first line of the region, call site, parameter, then for each metric that is not derived the row of
 *            values, "-" for none */
#ifndef AS_TESTS_PROFILES_H
#define AS_TESTS_PROFILES_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/build.h"

enum { MOST_METRICS = 8, MOST_CONTEXTS = 64, MOST_PLACES = 16 };

/* Values of one metric while the text is read. */
struct made_metric {
    as_value_type type;
    bool is_derived;
    uint32_t n_rows;
    assay_id *contexts;
    char *values;
};

static inline as_str text_of(as_dataset *ds, const char *text, size_t size) { return as_ds_intern(ds, text, size); }

static inline uint32_t make_places(as_dataset *ds, const char *places, assay_id *leaves) {
    uint32_t n = 0, n_processes = 0;
    if (!*places) return 0;
    as_location location = AS_LOCATION_INIT;
    location.kind = as_ds_intern_text(ds, "machine");
    location.name = as_ds_intern_text(ds, "cluster");
    assay_id machine = as_add_location(ds, &location), node = ASSAY_NONE, processes[MOST_PLACES];
    long ranks[MOST_PLACES];
    struct {
        assay_id process;
        long rank;
    } threads[MOST_PLACES];
    for (const char *at = places; *at;) {
        size_t size = strcspn(at, " ");
        if (node == ASSAY_NONE || !memchr(at, '/', size)) {
            location.kind = as_ds_intern_text(ds, "node");
            bool named = !memchr(at, '/', size);
            location.name = named ? text_of(ds, at, size) : as_ds_intern_text(ds, "node0");
            location.parent = machine;
            location.rank = -1;
            node = as_add_location(ds, &location);
            if (named) {
                at += size + strspn(at + size, " ");
                continue;
            }
        }
        long rank = strtol(at, NULL, 10);
        uint32_t p = 0;
        while (p < n_processes && ranks[p] != rank) p++;
        if (p == n_processes) {
            location.kind = as_ds_intern_text(ds, "process");
            location.name = as_ds_intern_text(ds, "MPI Rank");
            location.parent = node;
            location.rank = rank;
            ranks[n_processes] = rank;
            processes[n_processes++] = as_add_location(ds, &location);
        }
        threads[n].process = processes[p];
        threads[n++].rank = strtol((const char *)memchr(at, '/', size) + 1, NULL, 10);
        at += size + strspn(at + size, " ");
    }
    for (uint32_t i = 0; i < n; i++) {
        location.kind = as_ds_intern_text(ds, "thread");
        location.name = as_ds_intern_text(ds, "thread");
        location.parent = threads[i].process;
        location.rank = threads[i].rank;
        location.leaf = true;
        leaves[i] = as_add_location(ds, &location);
    }
    return n;
}

static inline size_t make_metrics(as_dataset *ds, const char *metrics, struct made_metric *made) {
    size_t n = 0;
    for (const char *at = metrics; *at; n++) {
        char name[64], type[64], kind[64];
        int size = 0;
        assert_int_equal(sscanf(at, " %63[^ ;] %63[^ ;] %63[^ ;]%n", name, type, kind, &size), 3);
        at += size + (at[size] == ';');
        as_metric metric = AS_METRIC_INIT;
        char *dot = strchr(name, '.');
        if (dot) {
            as_str parent = text_of(ds, name, (size_t)(dot - name));
            for (assay_id m = 0; m < n; m++)
                if (as_ds_metric(ds, m)->name == parent) metric.parent = m;
        }
        metric.name = as_ds_intern_text(ds, dot ? dot + 1 : name);
        metric.dtype = as_ds_intern_text(ds, type);
        for (metric.kind = AS_KIND_NONE; strcmp(as_kind_name(metric.kind), kind) != 0;) metric.kind++;
        as_add_metric(ds, &metric);
        made[n].is_derived = metric.kind == AS_KIND_DERIVED;
        assert_true(as_value_type_parse(type, strlen(type), &made[n].type));
        made[n].contexts = as_arena_array(&ds->arena, MOST_CONTEXTS, sizeof(assay_id));
        made[n].values = as_arena_array(&ds->arena, MOST_CONTEXTS * MOST_PLACES, made[n].type.size);
    }
    return n;
}

/* One part of a value. */
static inline void store(as_value_type type, uint32_t part, const char *text, char *to) {
    union {
        uint64_t u;
        double r;
    } number;
    if (as_dtype_is_integer(type.dtype)) {
        number.u = *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
        memcpy(to, &number, type.size); /* little endian, as the machines that run the tests */
    } else if (type.dtype == AS_DTYPE_TAU_ATOMIC && part == 0) {
        memcpy(to, &(uint32_t){(uint32_t)strtoul(text, NULL, 10)}, 4);
    } else {
        number.r = strtod(text, NULL);
        memcpy(to + type.size - (type.n_parts - part) * 8, &number, 8);
    }
}

static inline void make_row(struct made_metric *metric, assay_id context, uint32_t n_columns, const char *text,
                            const char *end) {
    text += strspn(text, " ");
    if (*text == '-' && (text[1] == ' ' || text + 1 == end || text[1] == '\n')) return;
    char *row = metric->values + (size_t)metric->n_rows * n_columns * metric->type.size;
    for (uint32_t i = 0; i < n_columns; i++, row += metric->type.size) {
        for (uint32_t part = 0; part < metric->type.n_parts; part++) { /* parts are joined by commas */
            text += strspn(text, " ,");
            assert_true(text < end);
            store(metric->type, part, text, row);
            text += strcspn(text, " ,|\n");
        }
    }
    metric->contexts[metric->n_rows++] = context;
}

static inline assay_id make_context(as_dataset *ds, as_tree *tree, const char *line, assay_id parent) {
    size_t size = strcspn(line, ":@{ |\n");
    const char *at = line + size;
    as_region region = AS_REGION_INIT;
    as_context context = AS_CONTEXT_INIT;
    region.name = text_of(ds, line, size);
    region.file = as_ds_intern_text(ds, "app.c");
    if (*at == ':') region.line_begin = strtol(at + 1, (char **)&at, 10), region.line_end = region.line_begin + 5;
    if (*at == '@') context.line = strtol(at + 1, (char **)&at, 10);
    context.parent = parent;
    for (assay_id r = 0; r < ds->regions.count; r++) {
        const as_region *known = as_ds_region(ds, r);
        if (known->name == region.name && known->line_begin == region.line_begin) context.region = r;
    }
    if (context.region == ASSAY_NONE) context.region = as_add_region(ds, &region);
    assay_id id = as_tree_add(tree, &context);
    if (*at == '{') {
        const char *equals = strchr(at, '=');
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)(equals - at - 1), at + 1);
        as_add_attribute(ds, AS_OWNER_CONTEXT, id, key, as_cell_text_n(equals + 1, strcspn(equals, "}") - 1));
    }
    return id;
}

static inline as_dataset *make_profile(const char *places, const char *metrics, const char *text) {
    as_dataset *ds = as_dataset_new(0);
    assay_id *leaves = as_arena_array(&ds->arena, MOST_PLACES, sizeof *leaves), above[32];
    struct made_metric made[MOST_METRICS] = {0};
    uint32_t n_columns = make_places(ds, places, leaves);
    size_t n_metrics = make_metrics(ds, metrics, made);
    bool has_places = n_columns > 0;
    if (!has_places) n_columns = 1;
    as_tree tree;
    as_tree_init(&tree, ds);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t depth = strspn(line, " ") / 2, at = strcspn(line, "|\n");
        above[depth] = make_context(ds, &tree, line + 2 * depth, depth ? above[depth - 1] : ASSAY_NONE);
        for (size_t m = 0; m < n_metrics; m++) {
            if (made[m].is_derived || line[at] != '|') continue;
            size_t end = at + 1 + strcspn(line + at + 1, "|\n");
            make_row(&made[m], above[depth], n_columns, line + at + 1, line + end);
            at = end;
        }
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids)); /* they came in pre-order: ids stay */
    as_tree_free(&tree);
    as_run run = AS_RUN_INIT;
    as_add_run(ds, &run);
    for (size_t m = 0; m < n_metrics; m++) {
        as_profile profile = {.metric = (assay_id)m,
                              .type = made[m].type,
                              .n_rows = made[m].n_rows,
                              .n_columns = n_columns,
                              .columns = has_places ? leaves : NULL,
                              .contexts = made[m].contexts,
                              .values = made[m].values};
        if (!made[m].is_derived) assert_true(as_add_profile(ds, &profile));
    }
    ds->format = "cube";
    return ds;
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

static inline void write_row(const as_dataset *ds, assay_id metric, assay_id run, assay_id context, FILE *out) {
    const as_profile *profile = as_ds_profile(ds, metric, run);
    uint32_t row = profile ? as_profile_find(profile, context) : UINT32_MAX;
    fputs(" |", out);
    if (row == UINT32_MAX) fputs(" -", out);
    for (uint32_t i = 0; row != UINT32_MAX && i < profile->n_columns; i++) {
        const char *value = as_profile_row(profile, row) + (size_t)i * profile->type.size;
        for (uint32_t part = 0; part < profile->type.n_parts; part++) {
            char number[AS_NUMBER_SIZE];
            as_number_format(as_part_get(profile->type, value, part), number);
            fprintf(out, "%s%s", part ? "," : " ", number);
        }
    }
}

static inline void write_context(const as_dataset *ds, assay_id id, FILE *out) {
    const as_context *context = as_ds_context(ds, id);
    fprintf(out, "%*s%s", 2 * (int)context->depth, "", as_ds_text(ds, context->name));
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(ds, context->region);
    if (region && region->line_begin >= 0) fprintf(out, ":%d", (int)region->line_begin);
    if (context->line >= 0) fprintf(out, "@%d", (int)context->line);
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_CONTEXT && attribute->owner_id == id)
            fprintf(out, "{%s=%s}", as_ds_text(ds, attribute->key), attribute->value.text);
    }
}

/* All contexts with their values in one run. The caller frees it. */
static inline char *tree_text(const as_dataset *ds, assay_id run) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (assay_id id = 0; id < ds->contexts.count; id++) {
        write_context(ds, id, out);
        for (assay_id m = 0; m < ds->metrics.count; m++)
            if (as_ds_metric(ds, m)->kind != AS_KIND_DERIVED) write_row(ds, m, run, id, out);
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

static inline char *metrics_text(const as_dataset *ds) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (assay_id m = 0; m < ds->metrics.count; m++) {
        const as_metric *metric = as_ds_metric(ds, m);
        fputs(m ? "; " : "", out);
        if (metric->parent != ASSAY_NONE) fprintf(out, "%s.", as_ds_text(ds, as_ds_metric(ds, metric->parent)->name));
        fprintf(out, "%s %s %s", as_ds_text(ds, metric->name), as_ds_text(ds, metric->dtype),
                as_kind_name(metric->kind));
    }
    fclose(out);
    return text;
}

/* "node0 0/0 0/1 node1 1/0": leaves in order, a node's name before the first of each. */
static inline char *places_text(const as_dataset *ds) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assay_id node = ASSAY_NONE;
    for (assay_id id = 0; id < ds->locations.count; id++) {
        const as_location *leaf = as_ds_location(ds, id);
        if (!leaf->leaf) continue;
        const as_location *process = as_ds_location(ds, leaf->parent);
        if (process->parent != node)
            fprintf(out, "%s%s", node == ASSAY_NONE ? "" : " ",
                    as_ds_text(ds, as_ds_location(ds, process->parent)->name));
        node = process->parent;
        fprintf(out, " %d/%d", (int)process->rank, (int)leaf->rank);
    }
    fclose(out);
    return text;
}

static inline void assert_texts(char *made, const char *expected) {
    assert_string_equal(made, expected);
    free(made);
}
static inline void assert_tree(const as_dataset *ds, const char *expected) { assert_texts(tree_text(ds, 0), expected); }
static inline void assert_metrics(const as_dataset *ds, const char *expected) {
    assert_texts(metrics_text(ds), expected);
}
static inline void assert_places(const as_dataset *ds, const char *expected) {
    assert_texts(places_text(ds), expected);
}

#endif
