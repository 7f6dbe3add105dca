#include "cli/card.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/busy.h"
#include "analysis/trace/trace.h"
#include "cli/problems.h"
#include "cli/run_list.h"
#include "core/map.h"
#include "dataset/formulas.h"
#include "render/display.h"
#include "render/quantity.h"

enum {
    LABEL_COLUMN = 2,
    LABEL_WIDTH = 10,
    MAX_ROWS = 16,
    NAMES_SHOWN = 12,
    METRICS_SHOWN = 24, /* of one kind */
    LONGEST_VALUE = 30, /* of an attribute */
    VALUES_SHOWN = 8,
    PROBLEMS_SHOWN = 5,
    WIDEST = 100
};

typedef struct row {
    const char *label;
    char count[AS_QUANTITY_SIZE];
    as_output *detail;
} row;

typedef struct card {
    row rows[MAX_ROWS];
    size_t n;
    bool is_ascii;
    bool failed; /* for want of memory */
} card;

/* ---- pieces of text ---------------------------------------------------------------------------------------------- */

/* "812 bytes", "12.3 kB", "2.1 GB". */
static void print_size(as_output *out, uint64_t bytes) {
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes / 1000;
    size_t unit = 0;
    for (; size >= 999.95 && unit < 5; unit++) size /= 1000;
    if (bytes < 1000)
        as_output_printf(out, "%llu bytes", (unsigned long long)bytes);
    else if (size >= 99.95)
        as_output_printf(out, "%llu %s", (unsigned long long)(size + 0.5), units[unit]);
    else {
        unsigned tenths = (unsigned)(size * 10 + 0.5);
        as_output_printf(out, "%u.%u %s", tenths / 10, tenths % 10, units[unit]);
    }
}

static void print_text(as_output *out, const char *text) {
    if (text) as_display_write(out, text, strlen(text), 0);
}

/* In single quotes where a shell would need them. */
static void print_shell_word(as_output *out, const char *word) {
    bool plain =
        *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%")];
    if (plain) {
        as_output_text(out, word);
        return;
    }
    as_output_char(out, '\'');
    while (*word) {
        size_t size = strcspn(word, "'");
        as_display_write(out, word, size, 0);
        word += size;
        if (*word == '\'') as_output_text(out, "'\\''"), word++;
    }
    as_output_char(out, '\'');
}

/* The different values of a parameter: all where they are few, else the range. */
static void print_coordinates(card *c, as_output *out, const as_dataset *ds, size_t parameter) {
    size_t n = ds->n_points, different = 0;
    double *values = malloc((n ? n : 1) * sizeof *values);
    if (!values) {
        c->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) values[i] = as_ds_point(ds, (assay_id)i)[parameter];
    qsort(values, n, sizeof *values, as_real_compare);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || values[i] != values[different - 1]) values[different++] = values[i];
    }
    bool few = different <= VALUES_SHOWN;
    for (size_t i = 0; few && i < different; i++) {
        if (i) as_output_text(out, ", ");
        as_output_real(out, values[i]);
    }
    if (!few) {
        as_output_real(out, values[0]);
        as_output_text(out, as_output_is_ascii(out) ? " .. " : " … ");
        as_output_real(out, values[different - 1]);
        as_output_printf(out, " (%zu values)", different);
    }
    free(values);
}

/* The fewest and most repetitions of a point; false where nothing is known. */
static bool find_repetitions(card *c, const as_dataset *ds, uint64_t *fewest, uint64_t *most) {
    *fewest = UINT64_MAX;
    *most = 0;
    bool is_by_run = false;
    if (AS_COUNT(ds, runs)) {
        uint32_t *counts = calloc(ds->n_points + 1, sizeof *counts);
        if (!counts) {
            c->failed = true;
            return false;
        }
        for (size_t i = 0; i < AS_COUNT(ds, runs); i++) {
            const as_run *run = as_ds_run(ds, (assay_id)i);
            if (run->point == ASSAY_NONE) continue;
            is_by_run = true;
            if (run->repetition + 1 > counts[run->point]) counts[run->point] = run->repetition + 1;
        }
        for (size_t i = 0; is_by_run && i < ds->n_points; i++) {
            if (counts[i] < *fewest) *fewest = counts[i];
            if (counts[i] > *most) *most = counts[i];
        }
        free(counts);
    }
    for (size_t i = 0; !is_by_run && i < AS_COUNT(ds, measurements); i++) {
        int64_t n = as_ds_measurement(ds, i)->repetitions;
        if (n < 0) continue;
        if ((uint64_t)n < *fewest) *fewest = (uint64_t)n;
        if ((uint64_t)n > *most) *most = (uint64_t)n;
    }
    return *most > 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A row, and where its detail is to be printed: pieces, each behind ", " or "\n" (a new line). NULL when memory is
 * out. */
static as_output *add_row(card *c, const char *label, uint64_t count) {
    if (c->n == MAX_ROWS) return NULL;
    row *r = &c->rows[c->n];
    r->label = label;
    as_count_format(count, r->count);
    r->detail = as_output_to_memory();
    if (!r->detail) {
        c->failed = true;
        return NULL;
    }
    as_output_set_ascii(r->detail, c->is_ascii);
    c->n++;
    return r->detail;
}

static void add_parameters(card *c, const as_dataset *ds) {
    size_t n = as_ds_parameters(ds);
    as_output *detail = n ? add_row(c, n == 1 ? "parameter" : "parameters", n) : NULL;
    for (size_t i = 0; detail && i < n; i++) {
        if (i) as_output_text(detail, "   ");
        print_text(detail, as_ds_parameter(ds, i));
        as_output_text(detail, " = ");
        print_coordinates(c, detail, ds, i);
    }
}

static void add_points(card *c, const as_dataset *ds) {
    as_output *detail = ds->n_points ? add_row(c, ds->n_points == 1 ? "point" : "points", ds->n_points) : NULL;
    uint64_t fewest, most;
    if (!detail || !find_repetitions(c, ds, &fewest, &most)) return;
    if (fewest == most && most == 1)
        as_output_text(detail, "measured once each");
    else if (fewest == most)
        as_output_printf(detail, "%llu repetitions each", (unsigned long long)most);
    else
        as_output_printf(detail, "%llu to %llu repetitions", (unsigned long long)fewest, (unsigned long long)most);
}

/* "CPUTIME (sec)" of "sec". */
static bool has_unit_in_name(const char *name, const char *unit) {
    size_t n = name ? strlen(name) : 0, size = strlen(unit);
    for (const char *at = name; n && (at = strstr(at, unit)); at++) {
        if (at > name && at[-1] == '(' && at[size] == ')') return true;
    }
    return false;
}

static void print_metric(as_output *out, const as_dataset *ds, assay_id id) {
    const as_metric *m = as_ds_metric(ds, id);
    const char *name = as_ds_text(ds, m->name), *unit = as_ds_text(ds, m->unit);
    print_text(out, name && *name ? name : "(no name)");
    if (!unit || !*unit || has_unit_in_name(name, unit)) return;
    as_output_text(out, " [");
    print_text(out, unit);
    as_output_char(out, ']');
}

/* What a metric is, in a word or two; NULL: nothing to say. has_values: of each metric; NULL: not known. */
static const char *sort_of_metric(const as_dataset *ds, assay_id id, const bool *has_values) {
    const as_derived *derived = as_ds_derived(ds, id);
    as_metric_kind kind = as_ds_metric(ds, id)->kind;
    if (derived && !derived->is_usable) return "not computable";
    if (!derived && has_values && !has_values[id]) return "without values";
    return kind == AS_KIND_NONE ? NULL : as_kind_name(kind);
}

static bool same_sort(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* "inclusive, exclusive: " of all kinds that a metric has; "derived: " of what is of one sort. */
static void print_sort(as_output *out, const char *sort, unsigned kinds) {
    static const as_metric_kind order[] = {AS_KIND_INCLUSIVE, AS_KIND_EXCLUSIVE, AS_KIND_POINT, AS_KIND_LEXICAL};
    bool is_single = !(kinds & (kinds - 1)), is_first = true;
    for (size_t i = 0; !is_single && i < sizeof order / sizeof *order; i++) {
        if (!(kinds & 1u << order[i])) continue;
        as_output_printf(out, "%s%s", is_first ? "" : ", ", as_kind_name(order[i]));
        is_first = false;
    }
    if (is_single && sort) as_output_text(out, sort);
    if (!is_single || sort) as_output_text(out, ": ");
}

/* The metrics of one sort and the same kinds as `first`, on a line. */
static void print_metrics_like(as_output *out, const as_dataset *ds, const bool *has_values, assay_id first,
                               const unsigned *kinds, bool *is_done) {
    const char *sort = sort_of_metric(ds, first, has_values);
    bool is_without = same_sort(sort, "without values");
    size_t found = 0;
    print_sort(out, sort, is_without ? 0 : kinds[first]);
    for (assay_id id = first; id < AS_COUNT(ds, metrics); id++) {
        if (is_done[id] || !same_sort(sort_of_metric(ds, id, has_values), sort)) continue;
        if (!is_without && kinds[id] != kinds[first]) continue;
        is_done[id] = true;
        if (found++ >= METRICS_SHOWN) continue;
        if (found > 1) as_output_text(out, ", ");
        print_metric(out, ds, id);
    }
    if (found > METRICS_SHOWN) as_output_printf(out, ", %s %zu more", as_display_ellipsis(out), found - METRICS_SHOWN);
}

/* A line for each sort of metric. The sides of a metric are no further ones. False when memory is out. */
static bool print_metrics(as_output *out, const as_dataset *ds, const bool *has_values) {
    static const char *const sorts[] = {"inclusive", "exclusive", "point",          "lexical",
                                        NULL,        "derived",   "without values", "not computable"};
    size_t n = AS_COUNT(ds, metrics);
    unsigned *kinds = calloc(n + 1, sizeof *kinds);
    bool *is_done = calloc(n + 1, sizeof *is_done), is_first = true;
    for (assay_id id = 0; kinds && is_done && id < n; id++) {
        is_done[id] = as_ds_metric(ds, id)->part_of != ASSAY_NONE;
        kinds[id] = is_done[id] ? 0 : 1u << as_ds_metric(ds, id)->kind;
    }
    for (assay_id id = 0; kinds && is_done && id < n; id++) {
        assay_id whole = as_ds_metric(ds, id)->part_of;
        if (whole != ASSAY_NONE) kinds[whole] |= 1u << as_ds_metric(ds, id)->kind;
    }
    for (size_t k = 0; kinds && is_done && k < sizeof sorts / sizeof *sorts; k++) {
        for (assay_id id = 0; id < n; id++) {
            if (is_done[id] || !same_sort(sort_of_metric(ds, id, has_values), sorts[k])) continue;
            if (!is_first) as_output_char(out, '\n');
            print_metrics_like(out, ds, has_values, id, kinds, is_done);
            is_first = false;
        }
    }
    bool fine = kinds && is_done;
    free(kinds);
    free(is_done);
    return fine;
}

static void add_metrics(card *c, const as_dataset *ds) {
    size_t n = AS_COUNT(ds, metrics);
    as_output *detail = n ? add_row(c, n == 1 ? "metric" : "metrics", n) : NULL;
    bool is_known = ds->profiles.count && !ds->blocks.count;
    bool *has_values = is_known ? calloc(n + 1, 1) : NULL;
    c->failed |= is_known && !has_values;
    for (size_t i = 0; has_values && i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (as_profile_values(profile) || as_profile_is_sparse(profile)) has_values[profile->metric] = true;
    }
    if (detail) c->failed |= !print_metrics(detail, ds, has_values);
    free(has_values);
}

static void print_attribute(as_output *out, const as_dataset *ds, const as_attribute *attribute) {
    const as_cell *value = &attribute->value;
    print_text(out, as_ds_text(ds, attribute->key));
    if (attribute->owner != AS_OWNER_DATASET || value->type != AS_CELL_TEXT || value->size == 0 ||
        value->size > LONGEST_VALUE || memchr(value->text, '\n', value->size))
        return;
    as_output_text(out, " = ");
    as_display_write(out, value->text, value->size, 0);
}

/* The key up to its first colon. */
static size_t head_size(const char *key) { return strcspn(key, ":"); }

static bool same_head(const char *a, const char *b) {
    size_t size = head_size(a);
    return size == head_size(b) && memcmp(a, b, size) == 0;
}

/* A key, the first attribute that has it, and how many do. */
typedef struct key_use {
    as_attribute first;
    uint64_t count;
} key_use;

/* Each key once, in the order of their first appearance: attributes of events are looked at only here. False when
 * memory is out. */
static bool find_uses(const as_dataset *ds, as_vec *uses) {
    as_map use_of;
    as_map_init(&use_of, NULL);
    bool fine = true;
    for (uint64_t i = 0; fine && i < as_ds_attribute_count(ds); i++) {
        key_use use = {.count = 0};
        as_ds_any_attribute(ds, i, &use.first);
        uint32_t at = as_map_get(&use_of, use.first.key);
        if (at == AS_MAP_NONE) {
            at = (uint32_t)uses->count;
            fine = as_map_put(&use_of, use.first.key, at) && as_vec_append(uses, &use, 1);
        }
        if (fine) AS_AT(key_use, uses, at).count++;
    }
    as_map_free(&use_of);
    return fine;
}

/* At most one key more than are shown; by_head: of those that begin alike the first. */
static size_t find_keys(const as_dataset *ds, const as_vec *uses, bool by_head, const key_use *found[NAMES_SHOWN + 1]) {
    size_t n = 0;
    for (size_t i = 0; i < uses->count && n <= NAMES_SHOWN; i++) {
        const key_use *use = &AS_AT(key_use, uses, i);
        size_t known = 0;
        while (known < n &&
               !(by_head && same_head(as_ds_text(ds, found[known]->first.key), as_ds_text(ds, use->first.key))))
            known++;
        if (known == n) found[n++] = use;
    }
    return n;
}

/* "header (4)" */
static void print_head_of(as_output *out, const as_dataset *ds, const as_vec *uses, const as_attribute *first) {
    const char *key = as_ds_text(ds, first->key);
    uint64_t count = 0;
    for (size_t i = 0; i < uses->count; i++) {
        const key_use *use = &AS_AT(key_use, uses, i);
        if (same_head(as_ds_text(ds, use->first.key), key)) count += use->count;
    }
    if (count == 1) {
        print_attribute(out, ds, first);
        return;
    }
    char text[AS_QUANTITY_SIZE];
    as_count_format(count, text);
    as_display_write(out, key, head_size(key), 0);
    as_output_printf(out, " (%s)", text);
}

/* With the keys, each once, and short values of the dataset's own; of many keys only how they begin, and how many
 * do. */
static void print_keys(as_output *detail, const as_dataset *ds, const as_vec *uses) {
    const key_use *keys[NAMES_SHOWN + 1];
    bool by_head = find_keys(ds, uses, false, keys) > NAMES_SHOWN;
    size_t n_keys = find_keys(ds, uses, by_head, keys);
    for (size_t i = 0; i < n_keys; i++) {
        if (i) as_output_text(detail, ", ");
        if (i == NAMES_SHOWN)
            as_output_text(detail, as_display_ellipsis(detail));
        else if (by_head)
            print_head_of(detail, ds, uses, &keys[i]->first);
        else
            print_attribute(detail, ds, &keys[i]->first);
    }
}

static void add_attributes(card *c, const as_dataset *ds) {
    uint64_t n = as_ds_attribute_count(ds);
    as_output *detail = n ? add_row(c, n == 1 ? "attribute" : "attributes", n) : NULL;
    as_vec uses;
    if (!detail) return;
    as_vec_init(&uses, sizeof(key_use), NULL);
    if (find_uses(ds, &uses))
        print_keys(detail, ds, &uses);
    else
        c->failed = true;
    as_vec_free(&uses);
}

/* ---- what was measured ------------------------------------------------------------------------------------------- */

/* The text of the first of these attributes that is there and says something. NULL: none. */
static const as_cell *find_text(const as_dataset *ds, const char *const *keys) {
    for (; *keys; keys++) {
        as_str id = as_find(&ds->strings, *keys, strlen(*keys));
        for (size_t i = 0; id != AS_NO_STR && i < AS_COUNT(ds, attributes); i++) {
            const as_attribute *attribute = as_ds_attribute(ds, i);
            const as_cell *value = &attribute->value;
            if (attribute->key == id && attribute->owner == AS_OWNER_RUN && value->type == AS_CELL_TEXT && value->size)
                return value;
        }
    }
    return NULL;
}

/* A row without a number: texts with blanks between them. */
static as_output *add_texts(card *c, const char *label, const as_cell *const *texts, size_t n, size_t longest) {
    as_output *detail = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!texts[i]) continue;
        if (detail) as_output_char(detail, ' ');
        if (!detail && !(detail = add_row(c, label, 0))) return NULL;
        as_display_write(detail, texts[i]->text, texts[i]->size, longest);
    }
    if (detail) c->rows[c->n - 1].count[0] = '\0';
    return detail;
}

/* ", then NAME" for each postprocessor. */
static void print_postprocessors(as_output *out, const as_dataset *ds) {
    enum { MOST = 8 };
    for (size_t i = 0; i <= MOST; i++) {
        char key[64];
        snprintf(key, sizeof key, "postprocessors:%zu:name", i);
        const as_cell *name = find_text(ds, (const char *const[]){key, NULL});
        if (!name) return;
        as_output_text(out, ", then ");
        if (i == MOST)
            as_output_text(out, as_display_ellipsis(out));
        else
            as_display_write(out, name->text, name->size, 0);
    }
}

/* Of a Perun profile: the command, what measured it, and at which commit. */
static void add_origin(card *c, const as_dataset *ds) {
    enum { LONGEST = 200, COMMIT_SHOWN = 10 };
    static const char *const keys[][4] = {{"header:cmd", "cmd", NULL},
                                          {"header:args", "header:params", NULL},
                                          {"header:workload", "workload", NULL},
                                          {"collector_info:name", "collector:name", NULL},
                                          {"origin", NULL}};
    const as_cell *found[sizeof keys / sizeof *keys];
    if (AS_COUNT(ds, runs) != 1) return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) found[i] = find_text(ds, keys[i]);
    if (!found[3]) return;
    add_texts(c, "command", found, 3, LONGEST);
    as_output *detail = add_texts(c, "collector", found + 3, 1, LONGEST);
    if (detail) print_postprocessors(detail, ds);
    as_cell commit = found[4] ? *found[4] : as_cell_null();
    if (commit.size > COMMIT_SHOWN) commit.size = COMMIT_SHOWN;
    if (found[4]) add_texts(c, "commit", (const as_cell *const[]){&commit}, 1, LONGEST);
}

static void add_contexts(card *c, const as_dataset *ds) {
    size_t n = AS_COUNT(ds, contexts), callpaths = 0, levels = 0;
    for (size_t i = 0; i < n; i++) {
        const as_context *context = as_ds_context(ds, (assay_id)i);
        callpaths += context->is_callpath;
        if (context->depth + 1 > levels) levels = context->depth + 1;
    }
    if (!n) return;
    as_output *detail = add_row(c, callpaths == 1 ? "call path" : "call paths", callpaths ? callpaths : n);
    if (!detail) return;
    as_output_printf(detail, "%zu level%s", levels, levels == 1 ? "" : "s");
    char nodes[AS_QUANTITY_SIZE];
    as_count_format(n, nodes);
    if (callpaths && callpaths != n) as_output_printf(detail, ", %s nodes in the tree", nodes);
}

/* "1 machine, 2 nodes, 16 processes, 128 threads": what the tree of locations consists of, in the order it names
 * them. */
static void add_locations(card *c, const as_dataset *ds) {
    size_t leaves = as_ds_leaves(ds), counts[NAMES_SHOWN] = {0}, n = 0;
    as_str kinds[NAMES_SHOWN];
    as_output *detail = leaves ? add_row(c, leaves == 1 ? "location" : "locations", leaves) : NULL;
    for (size_t i = 0; i < AS_COUNT(ds, locations); i++) {
        as_str kind = as_ds_location(ds, (assay_id)i)->kind;
        size_t k = 0;
        while (k < n && kinds[k] != kind) k++;
        if (kind == AS_NO_STR || k == NAMES_SHOWN) continue;
        if (k == n) kinds[n++] = kind;
        counts[k]++;
    }
    for (size_t k = 0; detail && k < n; k++) {
        const char *kind = as_ds_text(ds, kinds[k]);
        size_t size = strlen(kind);
        char count[AS_QUANTITY_SIZE];
        as_count_format(counts[k], count);
        as_output_printf(detail, "%s%s ", k ? ", " : "", count);
        print_text(detail, kind);
        if (counts[k] > 1) as_output_text(detail, size && kind[size - 1] == 's' ? "es" : "s");
    }
}

/* "device 0 busy for 63.2 % of 2.67 s (kernels 60.1 %)" of each GPU that something ran on. */
static void add_devices(card *c, const as_dataset *ds) {
    as_vec devices; /* as_device_busy */
    double span;
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    c->failed |= !as_devices_busy(ds, &devices, &span);
    as_output *detail = devices.count ? add_row(c, devices.count == 1 ? "GPU" : "GPUs", devices.count) : NULL;
    for (size_t i = 0; detail && i < devices.count && i < NAMES_SHOWN; i++) {
        const as_device_busy *device = &AS_AT(as_device_busy, &devices, i);
        char all[AS_QUANTITY_SIZE], kernels[AS_QUANTITY_SIZE];
        as_percent_format(device->all / span, all);
        as_percent_format(device->kernels / span, kernels);
        if (i) as_output_text(detail, "\n");
        print_text(detail, as_ds_text(ds, as_ds_location(ds, device->device)->name));
        as_output_printf(detail, " busy %s %%", all);
        if (device->kernels < device->all) as_output_printf(detail, " (kernels %s %%)", kernels);
    }
    if (detail && devices.count > NAMES_SHOWN) as_output_printf(detail, "\n%s", as_display_ellipsis(detail));
    as_vec_free(&devices);
}

/* "stored in the file: linear 4, power 4" */
static void print_kinds_of_models(as_output *out, const as_table *models) {
    size_t column = as_table_find_column(models, "model"), counts[NAMES_SHOWN + 1] = {0}, n = 0;
    as_cell kinds[NAMES_SHOWN + 1];
    as_output_text(out, "stored in the file");
    for (size_t i = 0; column != SIZE_MAX && i < as_table_rows(models); i++) {
        as_cell kind = as_table_get(models, i, column);
        size_t k = 0;
        if (kind.type != AS_CELL_TEXT) continue;
        while (k < n && !(kinds[k].size == kind.size && memcmp(kinds[k].text, kind.text, kind.size) == 0)) k++;
        if (k == n && n <= NAMES_SHOWN) kinds[n++] = kind;
        if (k < n) counts[k]++;
    }
    for (size_t k = 0; k < n; k++) {
        as_output_text(out, k ? ", " : ": ");
        if (k == NAMES_SHOWN)
            as_output_text(out, as_display_ellipsis(out));
        else
            as_display_write(out, kinds[k].text, kinds[k].size, 0);
        if (k < NAMES_SHOWN) as_output_printf(out, " %zu", counts[k]);
    }
}

/* Rows of the source's own columns, and models that the source keeps beside them. */
static void add_records(card *c, const as_dataset *ds) {
    enum { FIRST = 2 }; /* behind id and run */
    const as_table *records = as_ds_records(ds, "record"), *models = as_ds_records(ds, "stored_model");
    size_t n = records ? as_table_rows(records) : 0, n_columns = records ? as_table_columns(records) : 0;
    as_output *detail = n ? add_row(c, n == 1 ? "record" : "records", n) : NULL;
    for (size_t i = FIRST; detail && i < n_columns && i < FIRST + NAMES_SHOWN; i++) {
        if (i > FIRST) as_output_text(detail, ", ");
        print_text(detail, as_table_column_name(records, i));
    }
    if (detail && n_columns > FIRST + NAMES_SHOWN) as_output_printf(detail, ", %s", as_display_ellipsis(detail));
    n = models ? as_table_rows(models) : 0;
    detail = n ? add_row(c, n == 1 ? "model" : "models", n) : NULL;
    if (detail) print_kinds_of_models(detail, models);
}

static void add_models(card *c, const as_dataset *ds) {
    size_t n = AS_COUNT(ds, models), sets = AS_COUNT(ds, model_sets);
    as_output *detail = n ? add_row(c, n == 1 ? "model" : "models", n) : NULL;
    if (!detail || !sets) return;
    as_output_printf(detail, "in %zu set%s: ", sets, sets == 1 ? "" : "s");
    for (size_t i = 0; i < sets && i < NAMES_SHOWN; i++) {
        if (i) as_output_text(detail, ", ");
        print_text(detail, as_ds_text(ds, as_ds_model_set(ds, (assay_id)i)->name));
    }
    if (sets > NAMES_SHOWN) as_output_printf(detail, ", %s", as_display_ellipsis(detail));
}

static void add_count(card *c, const char *label, uint64_t count) {
    if (count) add_row(c, label, count);
}

static void print_seconds(const card *c, as_output *detail, const char *before, double seconds) {
    char count[AS_QUANTITY_SIZE];
    as_quantity q = as_quantity_of("s", seconds, false);
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = seconds}, count);
    as_output_printf(detail, "%s%s %s", before, count, as_unit_shown(&q, c->is_ascii));
}

/* Kinds of intervals, each with its number, and the time they span. */
static void print_intervals(const card *c, as_output *detail, const as_dataset *ds) {
    as_str kinds[NAMES_SHOWN];
    uint64_t counts[NAMES_SHOWN + 1] = {0};
    size_t n_kinds = 0;
    double first = INFINITY, last = -INFINITY;
    for (uint64_t i = 0; i < as_ds_intervals(ds); i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        size_t k = 0;
        while (k < n_kinds && kinds[k] != event.kind) k++;
        if (k == n_kinds && n_kinds < NAMES_SHOWN) kinds[n_kinds++] = event.kind;
        counts[k]++;
        if (event.start < first) first = event.start;
        double end = isnan(event.end) ? event.start : event.end;
        if (end > last) last = end;
    }
    for (size_t k = 0; k < n_kinds; k++) {
        const char *kind = as_ds_text(ds, kinds[k]);
        char count[AS_QUANTITY_SIZE];
        as_count_format(counts[k], count);
        if (k) as_output_text(detail, ", ");
        print_text(detail, kind ? kind : "of no kind");
        as_output_printf(detail, " (%s)", count);
    }
    if (counts[NAMES_SHOWN]) as_output_printf(detail, ", %s", as_display_ellipsis(detail));
    if (last >= first) print_seconds(c, detail, AS_COUNT(ds, runs) > 1 ? ", over up to " : ", over ", last - first);
}

/* Of samples how long they went on, and where; of intervals what they are. */
static void add_events(card *c, const as_dataset *ds) {
    uint64_t n = as_ds_events(ds);
    size_t lines = as_trace_line_count(&ds->traces);
    as_output *detail = n ? add_row(c, n == 1 ? "event" : "events", n) : NULL;
    if (!detail) return;
    if (as_ds_intervals(ds)) print_intervals(c, detail, ds);
    if (!lines) return;
    char count[AS_QUANTITY_SIZE];
    double seconds;
    as_count_format(lines, count);
    as_output_printf(detail, "%ssamples of %s location%s", as_ds_intervals(ds) ? "; " : "", count,
                     lines == 1 ? "" : "s");
    if (as_trace_quick_duration(ds, &seconds)) print_seconds(c, detail, ", over ", seconds);
}

void as_overview_rows(const as_dataset *ds, void (*visit)(void *user, const char *kind, uint64_t count), void *user) {
    static const char prefix[] = "rows:";
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *key = as_ds_text(ds, attribute->key);
        if (strncmp(key, prefix, sizeof prefix - 1) != 0 || attribute->value.type != AS_CELL_INT) continue;
        visit(user, key + sizeof prefix - 1, (uint64_t)attribute->value.i);
    }
}

typedef struct listed_rows {
    as_output *detail;
    uint64_t total;
} listed_rows;

static void list_rows(void *user, const char *kind, uint64_t count) {
    listed_rows *rows = user;
    char text[AS_QUANTITY_SIZE];
    as_count_format(count, text);
    if (rows->total) as_output_text(rows->detail, ", ");
    print_text(rows->detail, kind);
    as_output_printf(rows->detail, " (%s)", text);
    rows->total += count;
}

/* What is known of an input that was only looked at, and what is not. */
static void add_overview(card *c, const as_dataset *ds) {
    listed_rows rows = {.detail = add_row(c, "rows", 0)};
    if (!rows.detail) return;
    as_overview_rows(ds, list_rows, &rows);
    as_count_format(rows.total, c->rows[c->n - 1].count);
    as_output *detail = add_row(c, "not read", 0);
    if (!detail) return;
    c->rows[c->n - 1].count[0] = '\0';
    as_output_text(detail, "call paths, locations, values, events are not counted; info --full reads everything");
}

static void add_problems(card *c, const as_dataset *ds) {
    uint64_t counts[3] = {0};
    for (size_t i = 0; i < as_ds_problems(ds); i++) counts[as_ds_problem(ds, i)->severity]++;
    uint64_t n = as_ds_problems(ds) + as_ds_problems_dropped(ds);
    as_output *detail = n ? add_row(c, n == 1 ? "problem" : "problems", n) : NULL;
    if (detail) as_finding_print_counts(detail, counts[AS_ERROR], counts[AS_WARNING], counts[AS_NOTE]);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* The next piece of a detail, with the comma behind it; *is_line_end: a new line follows. */
static size_t piece_size(const char *text, size_t size, bool *is_line_end) {
    size_t i = 0;
    while (i < size && text[i] == ' ') i++; /* left over from the piece before */
    for (; i < size; i++) {
        *is_line_end = text[i] == '\n';
        if (*is_line_end) return i;
        if (i + 1 < size && text[i] == ',' && text[i + 1] == ' ') return i + 1;
        if (i + 3 < size && memcmp(text + i, "   ", 3) == 0) return i; /* between parameters */
    }
    *is_line_end = false;
    return size;
}

/* Broken between its pieces where it is wider than room (0: no limit). */
static void print_detail(as_output *out, const char *text, size_t size, size_t indent, size_t room) {
    for (size_t used = 0; size;) {
        bool is_line_end;
        size_t n = piece_size(text, size, &is_line_end);
        const char *begin = text;
        while (used == 0 && n && *begin == ' ') begin++, n--;
        size_t width = as_display_width(begin, n);
        if (used && room && used + width > room) {
            as_output_char(out, '\n');
            as_display_pad(out, indent);
            used = 0;
            continue;
        }
        used += as_display_write(out, begin, n, room > used ? room - used : 0);
        size -= (size_t)(begin - text) + n + is_line_end;
        text = begin + n + is_line_end;
        if (!is_line_end) continue;
        as_output_char(out, '\n');
        as_display_pad(out, indent);
        used = 0;
    }
}

static void print_rows(as_cli *cli, card *c) {
    size_t count_width = 0;
    for (size_t i = 0; i < c->n; i++)
        count_width = strlen(c->rows[i].count) > count_width ? strlen(c->rows[i].count) : count_width;
    size_t indent = LABEL_COLUMN + LABEL_WIDTH + 2 + count_width + 2;
    size_t room = cli->style.width > indent + 10 ? cli->style.width - indent : 0;
    bool colour = cli->style.colour;
    for (size_t i = 0; i < c->n; i++) {
        size_t size;
        const char *detail = as_output_memory(c->rows[i].detail, &size);
        if (!detail) c->failed = true;
        as_output_printf(cli->out, "  %s%-*s%s  %*s", as_sgr(colour, AS_DIM), LABEL_WIDTH, c->rows[i].label,
                         as_sgr(colour, AS_PLAIN), (int)count_width, c->rows[i].count);
        if (detail && size) {
            as_output_text(cli->out, "  ");
            print_detail(cli->out, detail, size, indent, room);
        }
        as_output_char(cli->out, '\n');
    }
}

/* "Cube profile 4.4"; where the version is that of a file, "HPCToolkit database of 2021, experiment.xml 4.0". */
static size_t print_title(as_output *out, const as_dataset *ds) {
    const as_format *format = as_format_find(ds->format);
    const char *title = format ? format->title : ds->format, *version = as_ds_text(ds, ds->format_version);
    const char *versioned = format ? format->versioned : NULL, *last = strrchr(title, ' ');
    size_t size = strlen(title);
    if (version && last && strncmp(last + 1, version, strlen(last + 1)) == 0) size = (size_t)(last - title);
    size_t width = as_display_write(out, title, size, 0);
    if (!version) return width;
    if (versioned) as_output_printf(out, ", %s", versioned);
    as_output_char(out, ' ');
    width += (versioned ? strlen(", ") + strlen(versioned) : 0) + 1;
    return width + as_display_write(out, version, strlen(version), 0);
}

/* The name, the format, and at the right edge how it was recognised and how large it is; on two lines where one is too
 * short. */
static void print_head(card *c, as_cli *cli, const as_dataset *ds) {
    const char *path = as_ds_text(ds, ds->path), *plain = as_sgr(cli->style.colour, AS_PLAIN);
    as_output *title = as_output_to_memory(), *right = as_output_to_memory();
    c->failed |= !title || !right;
    if (title && right) {
        size_t title_width = print_title(title, ds), size, right_size;
        if (ds->evidence) as_output_printf(right, "recognised by %d bits, ", ds->evidence);
        print_size(right, ds->input_size);
        const char *title_text = as_output_memory(title, &size), *right_text = as_output_memory(right, &right_size);
        c->failed |= !title_text || !right_text;
        as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
        size_t at = as_display_write(cli->out, path, strlen(path), 0),
               edge = cli->style.width < WIDEST ? cli->style.width : WIDEST;
        as_output_text(cli->out, plain);
        size_t needed = at + 2 + title_width + 2 + right_size;
        if (edge && needed > cli->style.width) {
            needed -= at;
            as_output_char(cli->out, '\n');
        }
        as_output_printf(cli->out, "  %s", title_text ? title_text : "");
        as_display_pad(cli->out, edge > needed ? edge - needed + 2 : 2);
        as_output_printf(cli->out, "%s%s%s\n", as_sgr(cli->style.colour, AS_DIM), right_text ? right_text : "", plain);
    }
    as_output_discard(title);
    as_output_discard(right);
}

static void print_problems(as_cli *cli, const as_dataset *ds) {
    size_t n = as_ds_problems(ds), shown = n <= PROBLEMS_SHOWN + 1 ? n : PROBLEMS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        as_finding finding = as_finding_of(ds, i);
        as_output_text(cli->out, "    ");
        as_finding_print(cli->out, &finding, cli->style.colour);
    }
    uint64_t more = n - shown + as_ds_problems_dropped(ds);
    if (more)
        as_output_printf(cli->out, "    %s %llu more; assay validate shows them\n", as_display_ellipsis(cli->out),
                         (unsigned long long)more);
}

void as_card_next(const as_dataset *ds, const char *verbs[2]) {
    bool has_models = as_ds_parameters(ds) > 0, has_tree = AS_COUNT(ds, contexts) > 0 && AS_COUNT(ds, metrics) > 0;
    const as_table *records = as_ds_records(ds, "record");
    bool has_uids = records && as_table_find_column(records, "uid") != SIZE_MAX;
    if (ds->overview.is_set) {
        verbs[0] = "tree";
        verbs[1] = "trace";
        return;
    }
    verbs[0] = has_tree && (!has_models || has_uids || ds->profiles.count) ? "tree" : "sql";
    bool has_places = AS_COUNT(ds, locations) > 1 || AS_COUNT(ds, runs) > 1;
    verbs[1] = has_models                  ? "model"
               : as_ds_events(ds)          ? "trace"
               : AS_COUNT(ds, metrics) > 0 ? has_places ? "stat" : "top"
                                           : NULL;
    if (as_has_run_list(ds))
        verbs[1] = "compare --series";
    else if (has_uids && !has_models)
        verbs[1] = has_tree ? "flame --folded" : NULL;
    else if (has_uids)
        verbs[1] = "regress";
}

/* Commands that make sense now, side by side where that fits. */
static void print_next(card *c, as_cli *cli, const as_dataset *ds) {
    const char *path = as_cli_operand(cli, 0);
    if (strcmp(path, "-") == 0) return;
    as_output *word = as_output_to_memory();
    if (!word) {
        c->failed = true;
        return;
    }
    print_shell_word(word, path);
    size_t size;
    const char *file = as_output_memory(word, &size);
    if (!file) {
        c->failed = true;
        file = "";
    }
    const char *verbs[2];
    as_card_next(ds, verbs);
    as_output_printf(cli->out, "%snext:%s assay %s %s", as_sgr(cli->style.colour, AS_DIM),
                     as_sgr(cli->style.colour, AS_PLAIN), verbs[0], file);
    if (verbs[1]) {
        size_t needed = strlen("next: assay    |   assay  ") + strlen(verbs[0]) + strlen(verbs[1]) + 2 * size;
        bool fits = !cli->style.width || needed <= cli->style.width;
        as_output_printf(cli->out, "%sassay %s %s", fits ? "   |   " : "\n      ", verbs[1], file);
    }
    as_output_char(cli->out, '\n');
    as_output_discard(word);
}

bool as_card_print(as_cli *cli, const as_dataset *ds, bool with_next) {
    card c = {.is_ascii = as_output_is_ascii(cli->out)};
    add_origin(&c, ds);
    add_parameters(&c, ds);
    add_points(&c, ds);
    add_metrics(&c, ds);
    add_contexts(&c, ds);
    add_locations(&c, ds);
    add_devices(&c, ds);
    add_count(&c, "values", as_ds_values(ds));
    if (!as_ds_values(ds)) add_count(&c, "statistics", AS_COUNT(ds, measurements));
    add_events(&c, ds);
    add_models(&c, ds);
    add_records(&c, ds);
    if (ds->overview.is_set) add_overview(&c, ds);
    add_attributes(&c, ds);
    add_problems(&c, ds);
    print_head(&c, cli, ds);
    print_rows(cli, &c);
    print_problems(cli, ds);
    if (as_has_run_list(ds)) c.failed |= !as_run_list_print(cli, ds);
    if (with_next) print_next(&c, cli, ds);
    for (size_t i = 0; i < c.n; i++) as_output_discard(c.rows[i].detail);
    return !c.failed;
}
