#include "dataset/metric_names.h"

#include <stdio.h>
#include <strings.h>

#include "core/number.h"
#include "core/words.h"

typedef enum fit { FIT_BEGINNING, FIT_WITHOUT_UNIT, FIT_ANY_CASE, FIT_EXACT } fit;

bool as_metric_find_unit(const char *name, const char *unit, size_t *from, size_t *to) {
    size_t size = unit ? strlen(unit) : 0;
    for (const char *at = name; size && (at = strstr(at, " (")) != NULL; at += 2) {
        if (at == name || strncmp(at + 2, unit, size) != 0 || at[2 + size] != ')') continue;
        *from = (size_t)(at - name);
        *to = *from + 2 + size + 1;
        return true;
    }
    return false;
}

static bool fits_without_unit(const char *known, const char *unit, const char *name, size_t size) {
    size_t from, to;
    if (!known || !as_metric_find_unit(known, unit, &from, &to)) return false;
    return size == from + strlen(known + to) && strncasecmp(known, name, from) == 0 &&
           strncasecmp(known + to, name + from, size - from) == 0;
}

static bool fits(const char *known, const char *name, size_t size, fit wanted) {
    if (!known) return false;
    size_t length = strlen(known);
    if (wanted == FIT_EXACT) return length == size && memcmp(known, name, size) == 0;
    if (wanted == FIT_ANY_CASE) return length == size && strncasecmp(known, name, size) == 0;
    return size > 0 && length > size && strncasecmp(known, name, size) == 0;
}

/* The first that fits. *other: another one that does; exact names need no other. */
static assay_id find(const as_dataset *ds, const char *name, size_t size, fit wanted, bool displayed, assay_id *other) {
    assay_id found = ASSAY_NONE;
    *other = ASSAY_NONE;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics) && *other == ASSAY_NONE; id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        if (metric->part_of != ASSAY_NONE) continue;
        const char *known = as_ds_text(ds, displayed ? metric->display_name : metric->name);
        if (wanted == FIT_WITHOUT_UNIT ? !fits_without_unit(known, as_ds_text(ds, metric->unit), name, size)
                                       : !fits(known, name, size, wanted))
            continue;
        if (found == ASSAY_NONE)
            found = id;
        else
            *other = id;
        if (wanted == FIT_EXACT) break;
    }
    return found;
}

static const char *name_of(const as_dataset *ds, assay_id id) {
    const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name);
    return name ? name : "";
}

enum { SHOWN = 80 }; /* of what was given */

static void say_unknown(const as_dataset *ds, const char *name, size_t size, char *why, size_t room) {
    as_nearest nearest = as_nearest_start(name, size);
    int shown = (int)(size < SHOWN ? size : SHOWN);
    size_t n = AS_COUNT(ds, metrics), others = 0;
    for (assay_id id = 0; id < n; id++) {
        as_nearest_offer(&nearest, name_of(ds, id));
        others += as_ds_metric(ds, id)->name != as_ds_metric(ds, 0)->name;
    }
    if (n == 0)
        snprintf(why, room, "there is no metric '%.*s', nor any other", shown, name);
    else if (nearest.word)
        snprintf(why, room, "there is no metric '%.*s'; did you mean '%s'?", shown, name, nearest.word);
    else
        snprintf(why, room, "there is no metric '%.*s'; there is '%s'%s", shown, name, name_of(ds, 0),
                 others ? ", and others" : "");
}

assay_id as_metric_by_name(const as_dataset *ds, const char *name, size_t size, bool beginnings, char *why,
                           size_t room) {
    assay_id other = ASSAY_NONE;
    for (int wanted = FIT_EXACT; wanted >= (beginnings ? FIT_BEGINNING : FIT_WITHOUT_UNIT); wanted--) {
        for (int displayed = 0; displayed < 2; displayed++) {
            assay_id found = find(ds, name, size, (fit)wanted, displayed, &other);
            if (found != ASSAY_NONE && other == ASSAY_NONE) return found;
            if (found == ASSAY_NONE) continue;
            if (why)
                snprintf(why, room, "'%.*s' can be '%s' and '%s'; write more of it", (int)(size < SHOWN ? size : SHOWN),
                         name, name_of(ds, found), name_of(ds, other));
            return ASSAY_NONE;
        }
    }
    if (why) say_unknown(ds, name, size, why, room);
    return ASSAY_NONE;
}

assay_status as_metric_factor(const as_dataset *const sides[2], const assay_id metrics[2], double *factor,
                              assay_error *error) {
    static const char counts[] = "occ|#|count"; /* formats have several words for numbers that only count */
    const char *names[2], *units[2];
    for (size_t side = 0; side < 2; side++) {
        const char *unit = as_ds_text(sides[side], as_ds_metric(sides[side], metrics[side])->unit);
        units[side] = unit ? unit : "";
        names[side] = name_of(sides[side], metrics[side]);
    }
    double seconds[2] = {as_unit_seconds(units[0]), as_unit_seconds(units[1])};
    *factor = 1;
    if (seconds[0] > 0 && seconds[1] > 0) {
        *factor = seconds[1] / seconds[0];
        return ASSAY_OK;
    }
    bool are_alike = strcmp(units[0], units[1]) == 0 ||
                     (as_is_choice(counts, units[0]) && as_is_choice(counts, units[1])) ||
                     ((!*units[0] || !*units[1]) && strcmp(names[0], names[1]) == 0);
    if (are_alike) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                   "'%.100s' (%.40s) and '%.100s' (%.40s) have different units; choose another metric", names[0],
                   *units[0] ? units[0] : "no unit", names[1], *units[1] ? units[1] : "no unit");
}

assay_id as_metric_by_number(const as_dataset *ds, const char *digits, size_t size) {
    as_number number;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        if (fits(as_ds_text(ds, as_ds_metric(ds, id)->source_id), digits, size, FIT_EXACT)) return id;
    }
    bool is_number = as_number_parse(digits, size, &number) && number.kind == AS_INT;
    return is_number && number.i >= 0 && (uint64_t)number.i < AS_COUNT(ds, metrics) ? (assay_id)number.i : ASSAY_NONE;
}
