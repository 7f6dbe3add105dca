/* Samples by call path and metric: what was gathered, sorted into subjects and strata. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "analysis/verdict/sampling.h"
#include "core/words.h"
#include "dataset/metric_names.h"

/* A number with its place: side, stratum, run. */
typedef struct entry {
    uint64_t key;
    double value;
} entry;

typedef struct stratum_range {
    uint32_t stratum, first, n; /* first: of values */
} stratum_range;

/* Room that is kept from subject to subject. */
typedef struct sorting {
    as_sampling *s;
    as_vec entries;                    /* entry */
    as_vec values[2], ranges[2];       /* double, stratum_range */
    double first[2][AS_MOST_SHUFFLED]; /* of the first range, in the order of runs; as many as there is room for */
    size_t n_runs[2];                  /* of the metric, that have one number each; 0: that is not so */
    uint64_t *starts;                  /* of each node's samples, once they are in order */
    as_sample *in_order;               /* node: its place, as they came */
    uint32_t *seen;                    /* of units: the node that was there last */
    const double *coordinates;         /* of the subject before, at these strata */
    as_vec strata;                     /* uint32_t */
    as_vec subjects;                   /* as_subject */
    as_str file;                       /* of the subject before */
    const char *file_text;
} sorting;

enum { STRATUM_SHIFT = 31 };
/* run: the dataset, of a side that is only one the unit. */
static uint64_t entry_key(const as_sample_unit *unit, uint32_t run) {
    return (uint64_t)unit->side << 63 | (uint64_t)unit->stratum << STRATUM_SHIFT | (run & 0x7fffffff);
}
static uint32_t stratum_of_key(uint64_t key) { return (uint32_t)(key << 1 >> (STRATUM_SHIFT + 1)); }

static int by_place(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static int by_unit(const void *left, const void *right) {
    const as_sample *a = left, *b = right;
    if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node); /* its place: sums depend on their order */
}

/* ---- strata ------------------------------------------------------------------------------------------------------ */

static double median_of(const entry *entries, size_t n) {
    return n % 2 ? entries[n / 2].value : as_halfway(entries[n / 2 - 1].value, entries[n / 2].value);
}

/* The entries of one side at one stratum, from `first`, as a range of values. Gives their end; SIZE_MAX when memory is
 * out. */
static size_t add_range(sorting *t, size_t side, size_t first, size_t end) {
    const entry *entries = t->entries.data;
    uint32_t stratum = stratum_of_key(entries[first].key);
    stratum_range range = {stratum, (uint32_t)t->values[side].count, 0};
    size_t at = first;
    while (at < end && stratum_of_key(entries[at].key) == stratum) {
        size_t last = at + 1;
        while (last < end && entries[last].key == entries[at].key) last++;
        if (t->s->n[side] > 1) { /* one number of each dataset: what is inside one is not independent */
            double median = median_of(entries + at, last - at);
            if (!as_vec_append(&t->values[side], &median, 1)) return SIZE_MAX;
        }
        for (size_t i = at; t->s->n[side] == 1 && i < last; i++)
            if (!as_vec_append(&t->values[side], &entries[i].value, 1)) return SIZE_MAX;
        at = last;
    }
    range.n = (uint32_t)t->values[side].count - range.first;
    if (!range.first && range.n <= AS_MOST_SHUFFLED)
        memcpy(t->first[side], t->values[side].data, range.n * sizeof(double));
    qsort((double *)t->values[side].data + range.first, range.n, sizeof(double), as_real_compare);
    return as_vec_append(&t->ranges[side], &range, 1) ? at : SIZE_MAX;
}

static bool add_ranges(sorting *t) {
    size_t n = t->entries.count;
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = by_place(&AS_AT(entry, &t->entries, i - 1), &AS_AT(entry, &t->entries, i)) <= 0;
    if (!is_sorted) qsort(t->entries.data, n, sizeof(entry), by_place);
    for (size_t side = 0; side < 2; side++) t->values[side].count = t->ranges[side].count = 0;
    for (size_t at = 0, end = 0; at < n;) {
        size_t side = AS_AT(entry, &t->entries, at).key >> 63;
        while (end < n && AS_AT(entry, &t->entries, end).key >> 63 == side) end++; /* once a side: it stays there */
        if ((at = add_range(t, side, at, end)) == SIZE_MAX) return false;
    }
    return true;
}

/* Where both sides have the subject: their common strata; else all there are. Into t->strata. */
static bool choose_strata(sorting *t, const as_subject *subject, as_vec *strata) {
    size_t n[2] = {t->ranges[0].count, t->ranges[1].count}, at[2] = {0, 0};
    strata->count = 0;
    while (at[0] < n[0] || at[1] < n[1]) {
        uint32_t id[2];
        for (size_t side = 0; side < 2; side++)
            id[side] = at[side] < n[side] ? AS_AT(stratum_range, &t->ranges[side], at[side]).stratum : UINT32_MAX;
        uint32_t least = id[0] < id[1] ? id[0] : id[1];
        bool is_common = id[0] == id[1];
        at[0] += id[0] == least;
        at[1] += id[1] == least;
        bool is_kept = is_common || !subject->is_in[0] || !subject->is_in[1];
        if (is_kept && !as_vec_append(strata, &least, 1)) return false;
    }
    return true;
}

/* Coordinates of the strata; those of the subject before where they are the same. */
static bool set_coordinates(sorting *t, const as_vec *strata, as_subject *subject) {
    size_t n = t->s->out->n_parameters;
    bool is_same = t->coordinates && strata->count == t->strata.count &&
                   (!strata->count || memcmp(strata->data, t->strata.data, strata->count * sizeof(uint32_t)) == 0);
    if (!n || is_same) return subject->coordinates = n ? t->coordinates : NULL, true;
    double *coordinates = as_arena_array(&t->s->out->arena, strata->count * n, sizeof *coordinates);
    if (!coordinates) return false;
    for (size_t i = 0; i < strata->count; i++) {
        as_str id = AS_AT(uint32_t, strata, i);
        bool has_point = as_str_size(&t->s->points, id) != 0;
        if (has_point) memcpy(coordinates + i * n, as_str_text(&t->s->points, id), n * sizeof *coordinates);
        for (size_t k = 0; !has_point && k < n; k++) coordinates[i * n + k] = NAN;
    }
    t->strata.count = 0;
    subject->coordinates = t->coordinates = coordinates;
    return as_vec_append(&t->strata, strata->data, strata->count);
}

static bool copy_strata(sorting *t, const as_vec *strata, size_t side, as_subject *subject) {
    as_stratum *out = as_arena_array(&t->s->out->arena, strata->count, sizeof *out);
    double *values = as_arena_array(&t->s->out->arena, t->values[side].count, sizeof *values);
    if (!out || !values) return false;
    if (t->values[side].count) memcpy(values, t->values[side].data, t->values[side].count * sizeof *values);
    for (size_t i = 0, at = 0; i < strata->count; i++) {
        const stratum_range *ranges = t->ranges[side].data;
        while (at < t->ranges[side].count && ranges[at].stratum < AS_AT(uint32_t, strata, i)) at++;
        if (at < t->ranges[side].count && ranges[at].stratum == AS_AT(uint32_t, strata, i))
            out[i] = (as_stratum){values + ranges[at].first, ranges[at].n};
    }
    subject->strata[side] = out;
    return true;
}

/* The numbers as runs come, where each has one. */
static bool set_runs(sorting *t, as_subject *subject) {
    for (size_t side = 0; side < 2; side++)
        if (subject->n_strata != 1 || t->ranges[side].count != 1 || subject->strata[side][0].n != t->n_runs[side])
            return true;
    for (size_t side = 0; side < 2; side++) {
        double *values = as_arena_array(&t->s->out->arena, t->n_runs[side], sizeof *values);
        if (!values) return false;
        memcpy(values, t->first[side], t->n_runs[side] * sizeof *values);
        subject->by_run[side] = values;
    }
    return true;
}

/* Which sides have runs with one number each, few enough. */
static void count_runs(sorting *t) {
    const as_sampling *s = t->s;
    for (size_t side = 0; side < 2; side++) {
        size_t n = 0;
        bool has_rows = false;
        for (size_t i = 0; i < s->units.count; i++) {
            const as_sample_unit *unit = &AS_AT(as_sample_unit, &s->units, i);
            n += unit->side == side;
            has_rows |= unit->side == side && unit->is_rows;
        }
        t->n_runs[side] = s->n[side] > 1 ? s->n[side] : has_rows ? 0 : n;
        if (t->n_runs[side] > AS_MOST_SHUFFLED) t->n_runs[side] = 0;
    }
}

/* Makes the entries of a subject its strata. */
static bool set_strata(sorting *t, as_subject *subject) {
    as_vec strata;
    as_vec_init(&strata, sizeof(uint32_t), NULL);
    bool fine = add_ranges(t);
    for (size_t side = 0; side < 2; side++) subject->is_in[side] = t->ranges[side].count > 0;
    fine = fine && choose_strata(t, subject, &strata) && set_coordinates(t, &strata, subject) &&
           copy_strata(t, &strata, 0, subject) && copy_strata(t, &strata, 1, subject);
    subject->n_strata = (uint32_t)strata.count;
    as_vec_free(&strata);
    fine = fine && set_runs(t, subject);
    for (uint32_t i = 0; fine && i < subject->n_strata; i++)
        t->s->out->has_repetitions |= subject->strata[0][i].n > 1 && subject->strata[1][i].n > 1;
    return fine;
}

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

/* Samples in the order of their nodes. */
static bool sort_samples(sorting *t) {
    const as_sample *samples = t->s->samples.data;
    size_t n = t->s->samples.count, n_nodes = as_paths_count(&t->s->paths);
    free(t->starts), free(t->in_order), free(t->seen);
    t->starts = calloc(n_nodes + 2, sizeof *t->starts);
    t->in_order = malloc((n + 1) * sizeof *t->in_order);
    t->seen = calloc(t->s->units.count + 1, sizeof *t->seen);
    if (!t->starts || !t->in_order || !t->seen) return false;
    for (size_t i = 0; i < n; i++) t->starts[samples[i].node + 2]++;
    for (size_t i = 2; i < n_nodes + 2; i++) t->starts[i] += t->starts[i - 1];
    for (size_t i = 0; i < n; i++) {
        uint64_t at = t->starts[samples[i].node + 1]++;
        t->in_order[at] = (as_sample){(uint32_t)at, samples[i].unit, samples[i].value};
    }
    return true;
}

static bool add_entry(sorting *t, const as_sample_unit *unit, double value) {
    uint32_t run = t->s->n[unit->side] > 1 ? unit->dataset : (uint32_t)(unit - (as_sample_unit *)t->s->units.data);
    entry new = {entry_key(unit, run), value};
    return as_vec_append(&t->entries, &new, 1);
}

/* The entries of a node: numbers of one run are added up, and runs of profiles without any have 0, unless the numbers
 * are repetitions of their own. False when memory is out. */
static bool set_entries(sorting *t, uint32_t node, bool *is_zero) {
    const as_sample_unit *units = t->s->units.data;
    as_sample *samples = t->in_order + t->starts[node];
    size_t n = t->starts[node + 1] - t->starts[node];
    bool has_side[2] = {false, false}, has_rows[2] = {false, false}, is_sorted = true, fine = true;
    for (size_t i = 1; i < n && is_sorted; i++) is_sorted = samples[i - 1].unit <= samples[i].unit;
    if (!is_sorted) qsort(samples, n, sizeof *samples, by_unit);
    t->entries.count = 0;
    *is_zero = true;
    for (size_t i = 0; i < n && fine; i++) {
        const as_sample_unit *unit = &units[samples[i].unit];
        double value = samples[i].value;
        while (!unit->is_rows && i + 1 < n && samples[i + 1].unit == samples[i].unit) value += samples[++i].value;
        t->seen[samples[i].unit] = node;
        has_side[unit->side] = true;
        has_rows[unit->side] |= unit->is_rows;
        if (value != 0) *is_zero = false;
        fine = isnan(value) || add_entry(t, unit, value); /* infinities that cancel out */
    }
    for (size_t i = 0; t->s->has_profiles && i < t->s->units.count && fine; i++)
        if (units[i].is_profile && has_side[units[i].side] && !has_rows[units[i].side] && t->seen[i] != node)
            fine = add_entry(t, &units[i], 0);
    return fine;
}

/* The file of a node, copied once for those that follow each other. NULL: it has none, or memory is out. */
static const char *file_of(sorting *t, uint32_t node) {
    as_str file = as_paths_node(&t->s->paths, node)->file;
    if (file == AS_NO_STR) return NULL;
    if (file != t->file || !t->file_text)
        t->file_text = as_arena_copy(&t->s->out->arena, as_str_text(&t->s->paths.names, file),
                                     as_str_size(&t->s->paths.names, file));
    t->file = file;
    return t->file_text;
}

static bool add_subjects(sorting *t, as_sampled_metric *metric, uint32_t index) {
    as_sampling *s = t->s;
    metric->first = t->subjects.count;
    for (uint32_t node = 1; node < as_paths_count(&s->paths); node++) {
        bool is_zero;
        if (t->starts[node] == t->starts[node + 1]) continue;
        const char *path = as_paths_text(&s->paths, node, &s->out->arena);
        if (!path) return false;
        if (s->request->keeps && !s->request->keeps(s->request->user, metric->name, path)) continue;
        if (!set_entries(t, node, &is_zero)) return false;
        if (is_zero || !t->entries.count) continue; /* nothing to say about it */
        as_subject *subject = as_vec_push(&t->subjects);
        if (!subject) return false;
        *subject = (as_subject){.path = path,
                                .metric = metric->name,
                                .unit = metric->unit,
                                .file = file_of(t, node),
                                .line = as_paths_node(&s->paths, node)->line,
                                .in_metric = index,
                                .node = node,
                                .is_top = true};
        if (!set_strata(t, subject)) return false;
    }
    metric->n = t->subjects.count - metric->first;
    return true;
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

/* Whether a metric has subjects that are parts of a whole, which then are all of its total. */
static bool has_wholes(const sorting *t, const as_sampled_metric *metric) {
    size_t i = metric->first, end = metric->first + metric->n;
    while (i < end && as_paths_node(&t->s->paths, AS_AT(as_subject, &t->subjects, i).node)->is_apart) i++;
    return i < end;
}

/* Of inclusive values: which subjects are in none of the others. counted: for each node bits, whether it adds to the
 * total (MATCHED) and to the whole (ANY). */
enum { MATCHED = 1, ANY = 2 };
static bool find_top(sorting *t, const as_sampled_metric *metric, uint8_t *counted) {
    size_t n = as_paths_count(&t->s->paths), next = metric->first, end = metric->first + metric->n;
    uint8_t *covered = calloc(n, 1); /* itself or something above it is a subject */
    bool leaves_apart = has_wholes(t, metric);
    if (!covered) return false;
    for (uint32_t node = 1; node < n; node++) {
        as_subject *subject = next < end ? &AS_AT(as_subject, &t->subjects, next) : NULL;
        uint8_t above = covered[as_paths_node(&t->s->paths, node)->parent];
        covered[node] = above;
        if (!subject || subject->node != node) continue;
        next++;
        subject->is_top = false;
        subject->is_apart = leaves_apart && as_paths_node(&t->s->paths, node)->is_apart;
        if (subject->is_apart) continue;
        bool is_matched = subject->is_in[0] && subject->is_in[1];
        subject->is_top = t->s->is_exclusive || !(above & (is_matched ? MATCHED : ANY));
        if (is_matched && subject->is_top) counted[node] |= MATCHED;
        if (t->s->is_exclusive || !(above & ANY)) counted[node] |= ANY;
        covered[node] |= is_matched ? MATCHED | ANY : ANY;
    }
    free(covered);
    return true;
}

/* Whether runs have sums that can be compared: every run of a side at a point has as many numbers, profiles aside. */
static bool have_sums(const as_sampling *s, const uint64_t *counts) {
    const as_sample_unit *units = s->units.data;
    for (size_t i = 0; i < s->units.count; i++) {
        if (units[i].is_rows && counts[i]) return false;
        if (!i || units[i].is_profile || units[i - 1].is_profile || !counts[i]) continue;
        bool is_alike = units[i].side == units[i - 1].side && units[i].dataset == units[i - 1].dataset &&
                        units[i].stratum == units[i - 1].stratum;
        if (is_alike && counts[i] != counts[i - 1]) return false;
    }
    return true;
}

/* The sums of runs over the nodes with this bit, as a subject. */
static bool add_sums(sorting *t, const uint8_t *counted, uint8_t bit, as_subject *subject) {
    as_sampling *s = t->s;
    const as_sample *samples = s->samples.data;
    double *sums = calloc(s->units.count + 1, sizeof *sums);
    uint64_t *counts = calloc(s->units.count + 1, sizeof *counts);
    bool fine = sums && counts;
    for (size_t i = 0; fine && i < s->samples.count; i++) {
        if (!(counted[samples[i].node] & bit)) continue;
        sums[samples[i].unit] += samples[i].value;
        counts[samples[i].unit]++;
    }
    t->entries.count = 0;
    bool has_sums = fine && have_sums(s, counts);
    for (size_t i = 0; fine && has_sums && i < s->units.count; i++)
        if (counts[i] && !isnan(sums[i])) fine = add_entry(t, &AS_AT(as_sample_unit, &s->units, i), sums[i]);
    fine = fine && set_strata(t, subject);
    subject->is_in[0] = subject->is_in[1] = true; /* also where only medians add up */
    free(sums), free(counts);
    return fine;
}

static bool add_totals(sorting *t, as_sampled_metric *metric, uint32_t index) {
    uint8_t *counted = calloc(as_paths_count(&t->s->paths) + 1, 1);
    metric->total = metric->whole =
        (as_subject){.metric = metric->name, .unit = metric->unit, .in_metric = index, .is_top = true, .line = -1};
    bool fine = counted && find_top(t, metric, counted) && add_sums(t, counted, MATCHED, &metric->total) &&
                add_sums(t, counted, ANY, &metric->whole);
    free(counted);
    return fine;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static bool side_has(const as_sampling *s, size_t side, const char *name) {
    for (size_t i = 0; i < s->n[side]; i++)
        if (as_sampled_metric_find(s->sides[side][i], name) != ASSAY_NONE) return true;
    return false;
}

static const char *name_on(const as_sampled_metric *metric, size_t side) {
    return side && metric->target_name ? metric->target_name : metric->name;
}

/* target_name: NULL where it is the same. */
static assay_status add_metric(as_sampling *s, as_vec *metrics, const char *name, const char *target_name) {
    as_sampled_metric *metric = as_vec_push(metrics);
    if (!metric || !(metric->name = as_arena_copy(&s->out->arena, name, strlen(name))))
        return as_fail_memory(s->error, NULL);
    if (target_name && !(metric->target_name = as_arena_copy(&s->out->arena, target_name, strlen(target_name))))
        return as_fail_memory(s->error, NULL);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < s->n[side] && !metric->unit; i++) {
            const as_dataset *ds = s->sides[side][i];
            assay_id id = as_sampled_metric_find(ds, name_on(metric, side));
            const char *unit = id == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_metric(ds, id)->unit);
            if (unit && *unit) metric->unit = as_arena_copy(&s->out->arena, unit, strlen(unit));
        }
    }
    return ASSAY_OK;
}

/* The first metric that is a time; NULL: there is none. */
static const char *time_of(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        const char *name = as_ds_text(ds, metric->name);
        if (name && as_metric_is_sampled(ds, id) && as_sampled_metric_find(ds, name) == id &&
            (as_unit_seconds(as_ds_text(ds, metric->unit)) > 0 || strcasecmp(name, "time") == 0))
            return name;
    }
    return NULL;
}

/* A metric by the name that somebody gave, which is not always the whole one. */
static assay_status add_named(as_sampling *s, as_vec *metrics, const char *const names[2]) {
    const char *found[2];
    for (size_t side = 0; side < 2; side++) {
        const as_dataset *ds = s->sides[side][0];
        const char *name = names[side];
        char why[512] = "";
        assay_id id = ASSAY_NONE;
        found[side] = side_has(s, side, name) ? name : NULL;
        if (!found[side]) id = as_metric_by_name(ds, name, strlen(name), false, why, sizeof why);
        if (id != ASSAY_NONE) found[side] = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (found[side] && side_has(s, side, found[side])) continue;
        if (!why[0]) snprintf(why, sizeof why, "the values of '%.80s' cannot be compared: they do not add up", name);
        return as_fail(s->error, ASSAY_E_USAGE, as_place_file(as_ds_text(ds, ds->path)), "", "%s", why);
    }
    return add_metric(s, metrics, found[0], strcmp(found[0], found[1]) == 0 ? NULL : found[1]);
}

/* Those asked for, or all that both sides have. */
static assay_status choose_metrics(as_sampling *s, as_vec *metrics) {
    const as_dataset *first = s->sides[0][0];
    const as_sample_request *request = s->request;
    for (size_t i = 0; request->metrics && request->metrics[i]; i++) {
        const char *name = request->metrics[i], *other = request->target_metrics ? request->target_metrics[i] : name;
        AS_TRY(add_named(s, metrics, (const char *const[2]){name, other}));
    }
    for (assay_id id = 0; !request->metrics && id < AS_COUNT(first, metrics); id++) {
        const char *name = as_ds_text(first, as_ds_metric(first, id)->name);
        if (name && as_metric_is_sampled(first, id) && as_sampled_metric_find(first, name) == id &&
            side_has(s, 1, name))
            AS_TRY(add_metric(s, metrics, name, NULL));
    }
    bool are_empty = !AS_COUNT(first, metrics) && !AS_COUNT(s->sides[1][0], metrics);
    if (metrics->count || are_empty) return ASSAY_OK;                 /* of nothing, nothing changed */
    const char *times[2] = {time_of(first), time_of(s->sides[1][0])}; /* formats have names of their own for it */
    if (times[0] && times[1]) return add_metric(s, metrics, times[0], times[1]);
    return as_fail(s->error, ASSAY_E_USAGE, AS_NOWHERE, "",
                   "the two have no metric in common; assay info tells which they have");
}

static assay_status sample_metric(sorting *t, as_sampled_metric *metric, uint32_t index) {
    as_sampling *s = t->s;
    s->units.count = s->samples.count = 0;
    s->is_exclusive = s->has_profiles = false;
    s->n_experiments = s->n_nested[0] = s->n_nested[1] = 0;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < s->n[side]; i++) {
            const as_dataset *ds = s->sides[side][i];
            assay_id id = as_sampled_metric_find(ds, name_on(metric, side));
            if (id == ASSAY_NONE) continue;
            double own = as_unit_seconds(as_ds_text(ds, as_ds_metric(ds, id)->unit)),
                   first = as_unit_seconds(metric->unit);
            s->factor = own > 0 && first > 0 ? own / first : 1;
            AS_TRY(as_gather_samples(s, side, i, id));
        }
    }
    bool is_nested = s->request->is_inclusive || (s->n_nested[1] && s->n_nested[1] >= s->n_nested[0]);
    if (s->n_experiments && !is_nested) s->is_exclusive = true;
    metric->looks_inclusive = s->n_experiments && is_nested && !s->is_exclusive && !s->request->is_inclusive;
    count_runs(t);
    bool fine = sort_samples(t) && add_subjects(t, metric, index) && add_totals(t, metric, index);
    return fine ? ASSAY_OK : as_fail_memory(s->error, NULL);
}

static assay_status sample_metrics(sorting *t) {
    as_sampling *s = t->s;
    as_vec metrics;
    as_vec_init(&metrics, sizeof(as_sampled_metric), NULL);
    assay_status status = choose_metrics(s, &metrics);
    as_sampled_metric *list = as_arena_array(&s->out->arena, metrics.count, sizeof *list);
    if (status == ASSAY_OK && !list) status = as_fail_memory(s->error, NULL);
    for (uint32_t i = 0; status == ASSAY_OK && i < metrics.count; i++) {
        list[i] = AS_AT(as_sampled_metric, &metrics, i);
        status = sample_metric(t, &list[i], i);
    }
    s->out->metrics = list;
    s->out->n_metrics = status == ASSAY_OK ? metrics.count : 0;
    as_vec_free(&metrics);
    if (status != ASSAY_OK) return status;
    s->out->n = t->subjects.count;
    s->out->subjects = as_arena_array(&s->out->arena, s->out->n, sizeof(as_subject));
    if (!s->out->subjects) return as_fail_memory(s->error, NULL);
    if (s->out->n) memcpy(s->out->subjects, t->subjects.data, s->out->n * sizeof(as_subject));
    return ASSAY_OK;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

static assay_status set_parameters(as_sampling *s) {
    const as_dataset *first = s->sides[0][0];
    size_t n = s->request->runs[0] ? 0 : as_ds_parameters(first); /* wherever those runs were measured */
    const char **names = as_arena_array(&s->out->arena, n, sizeof *names);
    if (!names) return as_fail_memory(s->error, NULL);
    for (size_t i = 0; i < n; i++) {
        const char *name = as_ds_parameter(first, i);
        if (!(names[i] = as_arena_copy(&s->out->arena, name, strlen(name)))) return as_fail_memory(s->error, NULL);
    }
    s->out->parameters = names;
    s->out->n_parameters = n;
    return ASSAY_OK;
}

/* Which of a dataset's parameters is each of the first one's. */
static assay_status match_parameters(as_sampling *s, size_t side, size_t dataset) {
    const as_dataset *ds = s->sides[side][dataset], *first = s->sides[0][0];
    size_t n = s->out->n_parameters, found = 0;
    uint32_t *indices = as_arena_array(&s->arena, n, sizeof *indices);
    if (!indices) return as_fail_memory(s->error, NULL);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < as_ds_parameters(ds); k++) {
            if (strcmp(as_ds_parameter(ds, k), s->out->parameters[i]) != 0) continue;
            indices[i] = k;
            found++;
            break;
        }
    }
    s->indices[side][dataset] = n ? indices : NULL;
    if (s->request->runs[side] || (found == n && as_ds_parameters(ds) == n)) return ASSAY_OK;
    return as_fail(s->error, ASSAY_E_USAGE, AS_NOWHERE, "", "%s and %s have different parameters: nothing to compare",
                   as_ds_text(first, first->path), as_ds_text(ds, ds->path));
}

static assay_status add_datasets(as_sampling *s) {
    AS_TRY(set_parameters(s));
    for (size_t side = 0; side < 2; side++) {
        s->nodes[side] = as_arena_array(&s->arena, s->n[side], sizeof **s->nodes);
        s->indices[side] = as_arena_array(&s->arena, s->n[side], sizeof **s->indices);
        if (!s->nodes[side] || !s->indices[side]) return as_fail_memory(s->error, NULL);
        for (size_t i = 0; i < s->n[side]; i++) {
            const as_dataset *ds = s->sides[side][i];
            uint32_t *nodes = as_arena_array(&s->arena, AS_COUNT(ds, contexts), sizeof *nodes);
            s->nodes[side][i] = nodes;
            AS_TRY(match_parameters(s, side, i));
            if (!nodes || !as_paths_add(&s->paths, ds, nodes)) return as_fail_memory(s->error, NULL);
        }
    }
    return ASSAY_OK;
}

static void count_points(as_sampling *s) {
    bool has_common = false;
    for (size_t i = 0; i < s->side_has_points.count; i++) {
        uint8_t sides = AS_AT(uint8_t, &s->side_has_points, i);
        if (sides == 1) s->out->n_unmatched_points[0]++;
        if (sides == 2) s->out->n_unmatched_points[1]++;
        has_common |= sides == 3;
    }
    const size_t *unmatched = s->out->n_unmatched_points;
    s->out->has_no_common_point = !has_common && unmatched[0] && unmatched[1];
}

static void free_sorting(sorting *t) {
    as_vec *vectors[] = {&t->entries,   &t->values[0], &t->values[1], &t->ranges[0],
                         &t->ranges[1], &t->strata,    &t->subjects};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) as_vec_free(vectors[i]);
    free(t->starts), free(t->in_order), free(t->seen);
}

static void init_sorting(sorting *t, as_sampling *s, as_budget *budget) {
    *t = (sorting){.s = s};
    as_vec_init(&t->entries, sizeof(entry), budget);
    as_vec_init(&t->strata, sizeof(uint32_t), budget);
    as_vec_init(&t->subjects, sizeof(as_subject), budget);
    for (size_t side = 0; side < 2; side++) {
        as_vec_init(&t->values[side], sizeof(double), budget);
        as_vec_init(&t->ranges[side], sizeof(stratum_range), budget);
    }
}

assay_status as_samples_find(const as_dataset *const *const sides[2], const size_t n[2],
                             const as_sample_request *request, as_samples *out, assay_error *error) {
    as_budget *budget = as_ds_budget(sides[0][0]);
    as_sampling s = {.sides = {sides[0], sides[1]}, .n = {n[0], n[1]}, .request = request, .out = out, .error = error};
    sorting t;
    *out = (as_samples){0};
    as_arena_init(&out->arena, NULL);
    as_arena_init(&s.arena, budget);
    as_strings_init(&s.points, &s.arena);
    as_vec_init(&s.units, sizeof(as_sample_unit), budget);
    as_vec_init(&s.samples, sizeof(as_sample), budget);
    as_vec_init(&s.side_has_points, 1, budget);
    init_sorting(&t, &s, budget);
    assay_status status = as_paths_init(&s.paths, budget) ? add_datasets(&s) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = sample_metrics(&t);
    if (status == ASSAY_OK) count_points(&s);
    free_sorting(&t);
    as_paths_free(&s.paths);
    as_vec_free(&s.units);
    as_vec_free(&s.samples);
    as_vec_free(&s.side_has_points);
    as_strings_free(&s.points);
    as_arena_free(&s.arena);
    return status;
}

void as_samples_free(as_samples *samples) {
    as_arena_free(&samples->arena);
    *samples = (as_samples){0};
}
