/* The mean amount of each uid: doubled is a degradation, halved an optimization. */
#include <string.h>

#include "analysis/checks/checks_private.h"

static double mean_of(const as_check_group *group, bool has_amounts) {
    if (!has_amounts) return 0; /* profiles of bounds: Perun takes 0 */
    return group->n ? group->sum / (double)group->n : NAN;
}

static as_result judge(double ratio) {
    if (ratio >= 2.0) return AS_DEGRADATION;
    return ratio > 0 && ratio <= 0.5 ? AS_OPTIMIZATION : AS_NO_CHANGE;
}

typedef struct wording {
    const char *unit, *type;
} wording;

static bool add(as_checking *checking, const as_check_group *base, const as_check_group *target, const wording *units,
                const bool has_amounts[2]) {
    double means[2] = {mean_of(base, has_amounts[AS_SIDE_BASE]), mean_of(target, has_amounts[AS_SIDE_TARGET])};
    as_check_change *change = as_check_add(checking, AS_CHECK_AMOUNT, NULL, target->uid);
    if (!change) return false;
    change->rate = as_check_divide(means[AS_SIDE_TARGET], means[AS_SIDE_BASE]);
    change->result = judge(change->rate);
    change->type = units->type;
    change->confidence_type = "no";
    change->from = as_check_number_text(checking, means[AS_SIDE_BASE], 2, units->unit);
    change->to = as_check_number_text(checking, means[AS_SIDE_TARGET], 2, units->unit);
    return change->from && change->to;
}

static bool compare_groups(as_checking *checking, const as_check_groups groups[2], const wording *units) {
    const as_vec *base = &groups[AS_SIDE_BASE].groups, *target = &groups[AS_SIDE_TARGET].groups;
    bool has_amounts[2] = {groups[AS_SIDE_BASE].has_column, groups[AS_SIDE_TARGET].has_column};
    for (size_t b = 0, t = 0; b < base->count && t < target->count;) {
        const as_check_group *of_base = &AS_AT(as_check_group, base, b), *of_target = &AS_AT(as_check_group, target, t);
        int order = strcmp(of_base->uid, of_target->uid);
        if (order == 0 && !add(checking, of_base, of_target, units, has_amounts)) return false;
        b += order <= 0;
        t += order >= 0;
    }
    return true;
}

/* Why the check cannot be made; NULL: it can. */
static const char *find_obstacle(const as_checking *checking, const as_check_groups groups[2], const wording *units) {
    if (!groups[AS_SIDE_BASE].groups.count || !groups[AS_SIDE_TARGET].groups.count)
        return groups[AS_SIDE_BASE].groups.count ? "the target has no records with a uid"
                                                 : "the base has no records with a uid";
    if (checking->is_compatible) {
        if (!units->unit || !units->type) return "the base's header has no units or no type";
        return groups[0].has_text || groups[1].has_text ? "some amounts are no numbers" : NULL;
    }
    for (int side = 0; side < 2; side++) {
        if (!groups[side].has_column) return side ? "the target has no amounts" : "the base has no amounts";
    }
    return NULL;
}

bool as_check_amounts(as_checking *checking) {
    as_check_groups groups[2] = {{.has_column = false}};
    bool is_done = true;
    for (int side = 0; side < 2; side++)
        is_done &= as_check_groups_find(checking->sides[side], "amount", false, &groups[side]);
    wording units = {as_check_attribute(checking->sides[AS_SIDE_BASE], "header:units:", true),
                     as_check_attribute(checking->sides[AS_SIDE_BASE], "header:type", false)};
    const char *obstacle = is_done ? find_obstacle(checking, groups, &units) : NULL;
    if (obstacle) is_done = as_check_fails(checking, obstacle);
    if (!units.unit) units.unit = "";
    if (!units.type) units.type = "amount";
    if (is_done) is_done = compare_groups(checking, groups, &units);
    for (int side = 0; side < 2; side++) as_check_groups_free(&groups[side]);
    return is_done;
}
