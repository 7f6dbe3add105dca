/* Which points a parameter's line consists of: a line is a row of points that differ in this parameter alone. */
#include "analysis/scaling/plan.h"

#include <stdlib.h>
#include <xxhash.h>

#include "core/map.h"

/* The lines of one parameter, in the order of their first points. */
typedef struct grouping {
    const as_plan *plan;
    size_t parameter;
    uint32_t *line_of; /* plan->n: line of each point */
    uint32_t *first, *length;
    size_t n_lines;
} grouping;

static double coordinate(const as_plan *plan, size_t parameter, size_t point) {
    return plan->coordinates[parameter * plan->n + point];
}

static bool same_but(const as_plan *plan, size_t parameter, size_t a, size_t b) {
    for (size_t k = 0; k < plan->n_parameters; k++) {
        if (k != parameter && coordinate(plan, k, a) != coordinate(plan, k, b)) return false;
    }
    return true;
}

static uint64_t hash_but(const as_plan *plan, size_t parameter, size_t point) {
    uint64_t hash = 0;
    for (size_t k = 0; k < plan->n_parameters; k++) {
        double value = coordinate(plan, k, point) + 0.0; /* -0 is 0 */
        if (k != parameter) hash = XXH3_64bits_withSeed(&value, sizeof value, hash + 1);
    }
    return hash;
}

static bool group_points(grouping *g) {
    size_t n = g->plan->n;
    as_map lines;
    as_map_init(&lines, NULL);
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        uint64_t hash = hash_but(g->plan, g->parameter, i);
        uint32_t line;
        /* Another line with the same hash only moves on to the next one */
        while ((line = as_map_get(&lines, hash)) != AS_MAP_NONE && !same_but(g->plan, g->parameter, g->first[line], i))
            hash++;
        if (line == UINT32_MAX) {
            line = (uint32_t)g->n_lines++;
            g->first[line] = (uint32_t)i;
            g->length[line] = 0;
            fine = as_map_put(&lines, hash, line);
        }
        g->line_of[i] = line;
        g->length[line]++;
    }
    as_map_free(&lines);
    return fine;
}

/* Puts point i behind the others of value x; groups of values come in the order of their first point. */
typedef struct value_groups {
    as_map by_value;
    uint32_t *group_of; /* of each point, UINT32_MAX: in none */
    double *x;
    size_t n;
} value_groups;

static bool add_to_group(value_groups *groups, size_t point, double x) {
    uint64_t key;
    x += 0.0;
    memcpy(&key, &x, sizeof key);
    uint32_t group = as_map_get(&groups->by_value, key);
    if (group == UINT32_MAX) {
        group = (uint32_t)groups->n++;
        groups->x[group] = x;
        if (!as_map_put(&groups->by_value, key, group)) return false;
    }
    groups->group_of[point] = group;
    return true;
}

/* The members of each group in the order given, without empty groups. order: the points. */
static bool fill_line(as_line_points *line, const value_groups *groups, const uint32_t *order, size_t n) {
    line->x = malloc((groups->n + 1) * sizeof *line->x);
    line->starts = calloc(groups->n + 2, sizeof *line->starts);
    line->members = malloc((n + 1) * sizeof *line->members);
    uint32_t *counts = calloc(groups->n + 1, sizeof *counts), *places = malloc((groups->n + 1) * sizeof *places);
    bool fine = line->x && line->starts && line->members && counts && places;
    for (size_t i = 0; fine && i < n; i++) {
        if (groups->group_of[order[i]] != UINT32_MAX) counts[groups->group_of[order[i]]]++;
    }
    uint32_t at = 0;
    for (size_t k = 0; fine && k < groups->n; k++) {
        places[k] = at;
        if (!counts[k]) continue;
        line->x[line->n] = groups->x[k];
        line->starts[line->n++] = at;
        at += counts[k];
    }
    if (fine) line->starts[line->n] = at;
    for (size_t i = 0; fine && i < n; i++) {
        if (groups->group_of[order[i]] != UINT32_MAX) line->members[places[groups->group_of[order[i]]]++] = order[i];
    }
    free(counts);
    free(places);
    return fine;
}

/* Points line after line, so that groups are seen in the order Extra-P sees them; only of the longest lines. */
static size_t order_points(const grouping *g, uint32_t *order) {
    uint32_t longest = 0, *next = malloc((g->n_lines + 1) * sizeof *next);
    size_t at = 0;
    if (!next) return SIZE_MAX;
    for (size_t k = 0; k < g->n_lines; k++) longest = g->length[k] > longest ? g->length[k] : longest;
    for (size_t k = 0; k < g->n_lines; k++) {
        next[k] = g->length[k] == longest ? (uint32_t)at : UINT32_MAX;
        at += g->length[k] == longest ? longest : 0;
    }
    for (size_t i = 0; i < g->plan->n; i++) {
        if (next[g->line_of[i]] != UINT32_MAX) order[next[g->line_of[i]]++] = (uint32_t)i;
    }
    free(next);
    return at;
}

/* The longest lines, averaged: of a further value only points on lines that the first value has. */
static bool choose_longest(grouping *g, value_groups *groups, as_line_points *line) {
    size_t n = g->plan->n;
    uint32_t *order = malloc((n + 1) * sizeof *order);
    bool *is_common = calloc(n + 1, sizeof *is_common);
    size_t used = order && is_common && group_points(g) ? order_points(g, order) : SIZE_MAX;
    bool fine = used != SIZE_MAX;
    for (size_t i = 0; fine && i < used; i++) {
        fine = add_to_group(groups, order[i], coordinate(g->plan, g->parameter, order[i]));
        if (fine && groups->group_of[order[i]] == 0) is_common[g->line_of[order[i]]] = true;
    }
    for (size_t i = 0; fine && i < used; i++) {
        if (!is_common[g->line_of[order[i]]]) groups->group_of[order[i]] = UINT32_MAX;
    }
    fine = fine && fill_line(line, groups, order, used);
    free(order);
    free(is_common);
    return fine;
}

static bool is_lower(const as_plan *plan, size_t parameter, size_t a, size_t reference) {
    for (size_t k = 0; k < plan->n_parameters; k++) {
        if (k != parameter && !(coordinate(plan, k, a) <= coordinate(plan, k, reference))) return false;
    }
    return true;
}

/* The line at the smallest values of the other parameters, as it is. */
static bool choose_smallest(const grouping *g, value_groups *groups, as_line_points *line) {
    const as_plan *plan = g->plan;
    uint32_t *order = malloc((plan->n + 1) * sizeof *order);
    if (!order) return false;
    size_t n = 0, reference = SIZE_MAX;
    for (size_t i = 0; i < plan->n; i++) {
        bool is_same = reference != SIZE_MAX && same_but(plan, g->parameter, i, reference);
        if (!is_same && reference != SIZE_MAX && !is_lower(plan, g->parameter, i, reference)) continue;
        if (!is_same) n = 0;
        if (!is_same) reference = i;
        order[n++] = (uint32_t)i;
    }
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++)
        fine = add_to_group(groups, order[i], coordinate(plan, g->parameter, order[i]));
    fine = fine && fill_line(line, groups, order, n);
    free(order);
    return fine;
}

bool as_line_points_choose(const as_plan *plan, size_t parameter, as_line_points *line) {
    size_t n = plan->n;
    grouping g = {.plan = plan, .parameter = parameter};
    value_groups groups = {0};
    as_map_init(&groups.by_value, NULL);
    g.line_of = malloc((n + 1) * sizeof *g.line_of);
    g.first = malloc((n + 1) * sizeof *g.first);
    g.length = malloc((n + 1) * sizeof *g.length);
    groups.group_of = malloc((n + 1) * sizeof *groups.group_of);
    groups.x = malloc((n + 1) * sizeof *groups.x);
    bool fine = g.line_of && g.first && g.length && groups.group_of && groups.x;
    for (size_t i = 0; fine && i < n; i++) groups.group_of[i] = UINT32_MAX;
    if (fine) {
        fine = plan->options->point_selection == AS_SELECT_SMALLEST ? choose_smallest(&g, &groups, line)
                                                                    : choose_longest(&g, &groups, line);
    }
    free(g.line_of);
    free(g.first);
    free(g.length);
    free(groups.group_of);
    free(groups.x);
    as_map_free(&groups.by_value);
    return fine;
}

void as_line_points_free(as_line_points *line) {
    as_line_modeler_free(line->modeler);
    free(line->x);
    free(line->starts);
    free(line->members);
}

/* Extra-P scales the minimum or maximum of an averaged group a second time. */
static double scaled_again(const uint32_t *members, size_t n, const double *y, const double *means, double value) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        double ratio = y[members[i]] / means[members[i]];
        if (means[members[i]] == 0 || isnan(ratio)) continue;
        sum += ratio;
        count++;
    }
    return sum / count * value;
}

void as_line_points_values(const as_line_points *line, const double *y, const double *means, double *out,
                           size_t stride) {
    for (size_t k = 0; k < line->n; k++) {
        const uint32_t *members = line->members + line->starts[k];
        size_t n = line->starts[k + 1] - line->starts[k];
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += y[members[i]];
        double value = n == 1 ? sum : sum / (double)n;
        if (means && n > 1 && value != 0) value = scaled_again(members, n, y, means, value);
        out[k * stride] = value;
    }
}
