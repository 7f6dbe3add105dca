/* Exclusive times that changed more than those of most functions did. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"
#include "core/quantile.h"

/* A function in a location; NAN: that side does not have it. */
typedef struct function {
    const char *uid, *location;
    double base, target; /* ms */
    double change;       /* target - base, in ms; a missing side counts as 0 */
    double share;        /* of the target's time, in percent */
    bool is_severe, is_beyond;
    double quartiles; /* how many interquartile ranges beyond the quartile; NAN: it is not */
} function;

typedef struct functions {
    as_vec rows;
    double total; /* of the target, in ms */
} functions;

static int compare_rows(const void *a, const void *b) {
    const function *x = a, *y = b;
    int order = strcmp(x->uid, y->uid);
    return order ? order : strcmp(x->location, y->location);
}

/* ---- names of locations ------------------------------------------------------------------------------------------ */

/* The different locations in order of appearance: names. sorted: an index of them, for find_name(). */
typedef struct location_list {
    as_vec names;   /* const char * */
    as_vec sorted;  /* named */
    as_vec renamed; /* const char *, or NULL */
} location_list;

typedef struct named {
    const char *name;
    size_t index;
} named;

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static int compare_name(const void *name, const void *entry) { return strcmp(name, ((const named *)entry)->name); }

static int compare_indices(const void *a, const void *b) {
    size_t x = ((const named *)a)->index, y = ((const named *)b)->index;
    return x < y ? -1 : x > y;
}

static bool list_locations(const as_check_groups *groups, location_list *out) {
    size_t n = groups->groups.count, kept = 0;
    for (size_t i = 0; i < n; i++) {
        named entry = {AS_AT(as_check_group, &groups->groups, i).location, i};
        if (!as_vec_append(&out->sorted, &entry, 1)) return false;
    }
    if (!n) return true;
    named *entries = out->sorted.data;
    qsort(entries, n, sizeof *entries, compare_named);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(entries[i].name, entries[kept - 1].name) != 0) entries[kept++] = entries[i];
    }
    out->sorted.count = kept;
    qsort(entries, kept, sizeof *entries, compare_indices);
    for (size_t i = 0; i < kept; i++) {
        entries[i].index = i;
        if (!as_vec_append(&out->names, &entries[i].name, 1) || !as_vec_push(&out->renamed)) return false;
    }
    qsort(entries, kept, sizeof *entries, compare_named);
    return true;
}

static const char *new_name(const location_list *locations, const char *name) {
    const named *found = bsearch(name, locations->sorted.data, locations->sorted.count, sizeof *found, compare_name);
    const char *renamed = found ? AS_AT(const char *, &locations->renamed, found->index) : NULL;
    return renamed ? renamed : name;
}

static bool rename_locations(as_checking *checking, as_check_groups groups[2]) {
    location_list locations[2];
    bool is_done = true;
    for (int side = 0; side < 2; side++) {
        as_vec_init(&locations[side].names, sizeof(const char *), NULL);
        as_vec_init(&locations[side].sorted, sizeof(named), NULL);
        as_vec_init(&locations[side].renamed, sizeof(const char *), NULL);
        is_done = is_done && list_locations(&groups[side], &locations[side]);
    }
    const char *const *names[2] = {locations[0].names.data, locations[1].names.data};
    const char **renamed[2] = {locations[0].renamed.data, locations[1].renamed.data};
    size_t n[2] = {locations[0].names.count, locations[1].names.count};
    is_done = is_done && as_match_names(names, n, checking->is_compatible, &checking->out->arena, renamed);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; is_done && i < groups[side].groups.count; i++) {
            as_check_group *group = &AS_AT(as_check_group, &groups[side].groups, i);
            group->location = new_name(&locations[side], group->location);
        }
        as_vec_free(&locations[side].names);
        as_vec_free(&locations[side].sorted);
        as_vec_free(&locations[side].renamed);
    }
    return is_done;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int compare_groups(const as_check_group *a, const as_check_group *b) {
    int order = strcmp(a->uid, b->uid);
    return order ? order : strcmp(a->location, b->location);
}

static int compare_group_entries(const void *a, const void *b) { return compare_groups(a, b); }

/* Sorts again by the new names; groups that are one now are added up, which Perun does not do. */
static void sort_groups(as_vec *groups, bool is_compatible) {
    size_t kept = 0;
    if (!groups->count) return;
    qsort(groups->data, groups->count, sizeof(as_check_group), compare_group_entries);
    for (size_t i = 0; !is_compatible && i < groups->count; i++) {
        as_check_group *group = &AS_AT(as_check_group, groups, i);
        as_check_group *last = kept ? &AS_AT(as_check_group, groups, kept - 1) : NULL;
        if (last && compare_groups(last, group) == 0)
            last->sum += group->sum;
        else
            AS_AT(as_check_group, groups, kept++) = *group;
    }
    if (!is_compatible) groups->count = kept;
}

static bool add_row(functions *rows, const as_check_group *base, const as_check_group *target) {
    function *row = as_vec_push(&rows->rows);
    if (!row) return false;
    row->uid = target ? target->uid : base->uid;
    row->location = target ? target->location : base->location;
    row->base = base ? base->sum / 1e6 : NAN;
    row->target = target ? target->sum / 1e6 : NAN;
    row->change = (target ? row->target : 0) - (base ? row->base : 0);
    row->quartiles = NAN;
    if (target) rows->total += row->target;
    return true;
}

/* Matches both sides. Perun leaves out what the target does not have, and pairs each with each where names became
 * one. */
static bool join(const as_check_groups groups[2], bool is_compatible, functions *rows) {
    const as_vec *base = &groups[AS_SIDE_BASE].groups, *target = &groups[AS_SIDE_TARGET].groups;
    size_t b = 0;
    for (size_t t = 0; t < target->count; t++) {
        const as_check_group *of_target = &AS_AT(as_check_group, target, t);
        for (; b < base->count && compare_groups(&AS_AT(as_check_group, base, b), of_target) < 0; b++) {
            if (!is_compatible && !add_row(rows, &AS_AT(as_check_group, base, b), NULL)) return false;
        }
        size_t end = b;
        while (end < base->count && compare_groups(&AS_AT(as_check_group, base, end), of_target) == 0) {
            if (!add_row(rows, &AS_AT(as_check_group, base, end++), of_target)) return false;
        }
        if (end == b && !add_row(rows, NULL, of_target)) return false;
        if (!is_compatible) b = end;
    }
    for (; !is_compatible && b < base->count; b++) {
        if (!add_row(rows, &AS_AT(as_check_group, base, b), NULL)) return false;
    }
    return true;
}

/* ---- outliers ---------------------------------------------------------------------------------------------------- */

/* The modified z-score: far from the median, by the median of all distances from it. */
static void mark_severe(functions *rows, double *sorted, double middle) {
    size_t n = rows->rows.count;
    for (size_t i = 0; i < n; i++) sorted[i] = fabs(AS_AT(function, &rows->rows, i).change - middle);
    qsort(sorted, n, sizeof *sorted, as_real_compare);
    double deviation = as_median(sorted, n);
    for (size_t i = 0; i < n; i++) {
        function *row = &AS_AT(function, &rows->rows, i);
        row->is_severe = 0.6745 * fabs(row->change - middle) / deviation > 3.5;
    }
}

static void mark_beyond(functions *rows, const double *sorted, bool is_compatible) {
    size_t n = rows->rows.count;
    double q1 = as_quantile(sorted, n, 0.25), q3 = as_quantile(sorted, n, 0.75), range = q3 - q1;
    for (size_t i = 0; i < n; i++) {
        function *row = &AS_AT(function, &rows->rows, i);
        bool is_below = row->change<q1 - 1.5 * range, is_above = row->change> q3 + 1.5 * range;
        row->is_beyond = is_below || is_above;
        if (is_below) row->quartiles = -((row->change - q1) / range);
        if (is_above) row->quartiles = is_compatible ? row->change / range - q3 : (row->change - q3) / range;
    }
}

/* The standard deviation of those that are no outliers; NAN for fewer than two. */
static double deviation_of_rest(const functions *rows) {
    double sum = 0, squares = 0;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        double mean = n ? sum / (double)n : 0;
        for (size_t i = 0; i < rows->rows.count; i++) {
            const function *row = &AS_AT(function, &rows->rows, i);
            if (row->is_severe || row->is_beyond) continue;
            if (pass) squares += (row->change - mean) * (row->change - mean);
            if (!pass) sum += row->change;
            n += !pass;
        }
    }
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static bool find_outliers(functions *rows, bool is_compatible) {
    size_t n = rows->rows.count;
    if (!n) return true;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return false;
    for (size_t i = 0; i < n; i++) {
        function *row = &AS_AT(function, &rows->rows, i);
        row->share = row->change / rows->total * 100;
        sorted[i] = row->change;
    }
    qsort(sorted, n, sizeof *sorted, as_real_compare);
    double middle = as_median(sorted, n);
    mark_beyond(rows, sorted, is_compatible);
    mark_severe(rows, sorted, middle);
    free(sorted);
    return true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static as_result result_of(const function *row, double deviations, bool is_compatible) {
    bool is_new = isnan(row->base), is_gone = isnan(row->target), is_worse = row->change > 0;
    if (is_compatible && is_new) return is_worse ? AS_NOT_IN_BASELINE : AS_NOT_IN_TARGET;
    if (is_new) return AS_NOT_IN_BASELINE;
    if (is_gone) return AS_NOT_IN_TARGET;
    if (row->is_severe) return is_worse ? AS_SEVERE_DEGRADATION : AS_SEVERE_OPTIMIZATION;
    if (row->is_beyond) return is_worse ? AS_DEGRADATION : AS_OPTIMIZATION;
    if (fabs(deviations) > 2.0) return is_worse ? AS_MAYBE_DEGRADATION : AS_MAYBE_OPTIMIZATION;
    return AS_NO_CHANGE;
}

static const char *milliseconds(as_checking *checking, double value) {
    return as_check_number_text(checking, isnan(value) ? 0 : value, 3, "");
}

static bool report_row(as_checking *checking, const function *row, double deviation) {
    as_check_change *change = as_check_add(checking, AS_CHECK_OUTLIERS, NULL, row->uid);
    if (!change) return false;
    double deviations = row->change / deviation;
    bool is_outlier = row->is_severe || row->is_beyond;
    change->type = "time";
    change->result = result_of(row, deviations, checking->is_compatible);
    change->from = milliseconds(checking, row->base);
    change->to = milliseconds(checking, row->target);
    change->rate = row->change;
    change->rate_relative = row->share;
    change->confidence_type = is_outlier ? "IQR_multiple" : "StdDev_multiple";
    change->confidence = as_round_decimals(is_outlier ? row->quartiles : deviations, 2);
    return change->from && change->to;
}

static int compare_locations(const void *a, const void *b) {
    const function *x = a, *y = b;
    int order = strcmp(x->location, y->location);
    return order ? order : compare_rows(a, b);
}

/* One location's functions: rows first … end - 1. */
static bool report_location(as_checking *checking, const function *first, const function *end) {
    double base = 0, target = 0, rate = 0, share = 0;
    for (const function *row = first; row < end; row++) {
        base += isnan(row->base) ? 0 : row->base;
        target += isnan(row->target) ? 0 : row->target;
        rate += row->change;
        share += isnan(row->share) ? 0 : row->share;
    }
    as_check_change *change = as_check_add(checking, AS_CHECK_OUTLIERS, NULL, first->location);
    if (!change) return false;
    change->type = "time";
    change->result = (checking->is_compatible ? share : rate) > 0 ? AS_TOTAL_DEGRADATION : AS_TOTAL_OPTIMIZATION;
    if (!checking->is_compatible && rate == 0) change->result = AS_NO_CHANGE;
    change->from = milliseconds(checking, base);
    change->to = milliseconds(checking, target);
    change->rate = rate;
    change->rate_relative = share;
    change->confidence_type = "N/A";
    return change->from && change->to;
}

static bool report(as_checking *checking, functions *rows) {
    double deviation = deviation_of_rest(rows);
    function *all = rows->rows.data;
    size_t n = rows->rows.count;
    for (size_t i = 0; i < n; i++) {
        if (!report_row(checking, &all[i], deviation)) return false;
    }
    if (n) qsort(all, n, sizeof *all, compare_locations);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(all[end].location, all[i].location) == 0;) end++;
        if (!report_location(checking, &all[i], &all[end])) return false;
    }
    return true;
}

static const char *find_obstacle(const as_check_groups groups[2]) {
    for (int side = 0; side < 2; side++) {
        const as_check_groups *g = &groups[side];
        if (g->has_column && g->has_location && g->groups.count) continue;
        return side ? "the target has no records with exclusive times and locations (`exclusive`, `location`)"
                    : "the base has no records with exclusive times and locations (`exclusive`, `location`)";
    }
    return NULL;
}

bool as_check_outliers(as_checking *checking) {
    as_check_groups groups[2];
    functions rows = {.total = 0};
    as_vec_init(&rows.rows, sizeof(function), as_ds_budget(checking->sides[AS_SIDE_TARGET]));
    bool is_done = true;
    for (int side = 0; side < 2; side++)
        is_done &= as_check_groups_find(checking->sides[side], "exclusive", true, &groups[side]);
    const char *obstacle = is_done ? find_obstacle(groups) : NULL;
    if (obstacle) is_done = as_check_fails(checking, obstacle);
    is_done = is_done && rename_locations(checking, groups);
    for (int side = 0; side < 2; side++) sort_groups(&groups[side].groups, checking->is_compatible);
    is_done = is_done && join(groups, checking->is_compatible, &rows) &&
              find_outliers(&rows, checking->is_compatible) && report(checking, &rows);
    as_vec_free(&rows.rows);
    for (int side = 0; side < 2; side++) as_check_groups_free(&groups[side]);
    return is_done;
}
