/* Points and ranges given as text. */
#include "analysis/scaling/coordinates.h"

#include <stdlib.h>

#include <math.h>
#include <string.h>

#include "core/number.h"
#include "core/words.h"

enum { MAX_POINTS = 100000 };

typedef struct span {
    const char *text;
    size_t size;
} span;

/* The values of one parameter: from, from * step … or from + step …, up to `to`. */
typedef struct range {
    double from, to, step;
    bool adds;
    size_t count; /* 0: the parameter was not given */
} range;

typedef struct request {
    const as_dataset *ds;
    const char *text; /* all of it, for messages */
    range *ranges;    /* one for each parameter */
    assay_error *error;
} request;

static assay_status complain(const request *r, const char *what, span about) {
    return as_fail(r->error, ASSAY_E_USAGE, AS_NOWHERE, "point", "%s: %s '%.*s'", r->text, what, (int)about.size,
                   about.text);
}

static span trimmed(const char *begin, const char *end) {
    while (begin < end && *begin == ' ') begin++;
    while (begin < end && end[-1] == ' ') end--;
    return (span){begin, (size_t)(end - begin)};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Without the dust of binary fractions: 0.1 + 2 * 0.1 is 0.3. Whole numbers stay as they are. */
static double without_dust(double value) {
    if (value == floor(value) || fabs(value) < 1e-6 || fabs(value) > 1e9) return value;
    double scale = pow(10, 15 - ceil(log10(fabs(value))));
    return round(value * scale) / scale;
}

static double value_at(const range *r, size_t i) {
    double value = r->adds ? r->from + (double)i * r->step : r->from * pow(r->step, (double)i);
    bool is_end = fabs(value - r->to) <= 1e-9 * fmax(fabs(r->to), r->adds ? fabs(r->step) : 0);
    return i == 0 ? r->from : is_end ? r->to : without_dust(value);
}

static assay_status count_values(const request *r, range *values, span given) {
    double steps;
    if (values->from == values->to)
        steps = 0;
    else if (values->adds)
        steps = (values->to - values->from) / values->step;
    else if (values->from > 0 && values->to > 0 && values->step > 0)
        steps = log(values->to / values->from) / log(values->step);
    else
        return complain(r, "a range that multiplies needs numbers above 0, not", given);
    if (!(steps >= 0 && steps < INFINITY)) return complain(r, "a range that never reaches its end:", given);
    if (steps + 1 > MAX_POINTS) return complain(r, "a range of more than 100000 points:", given);
    values->count = (size_t)(steps * (1 + 1e-12) + 1e-9) + 1;
    return ASSAY_OK;
}

static assay_status parse_number(const request *r, span given, double *out) {
    if (!given.size) return complain(r, "a number is missing in", (span){r->text, strlen(r->text)});
    if (!as_real_parse(given.text, given.size, out)) return complain(r, "a value is a number, not", given);
    return isfinite(*out) ? ASSAY_OK : complain(r, "a value is a finite number, not", given);
}

static assay_status parse_values(const request *r, span given, range *out) {
    const char *end = given.text + given.size, *dots = memmem(given.text, given.size, "..", 2);
    *out = (range){.step = 2, .count = 1};
    if (!dots) return parse_number(r, given, &out->from);
    const char *colon = memchr(dots, ':', (size_t)(end - dots));
    AS_TRY(parse_number(r, trimmed(given.text, dots), &out->from));
    AS_TRY(parse_number(r, trimmed(dots + 2, colon ? colon : end), &out->to));
    if (colon) {
        span step = trimmed(colon + 1, end);
        if (step.size < 2 || (step.text[0] != 'x' && step.text[0] != '+'))
            return complain(r, "a step is x2 (times) or +8 (plus), not", step);
        out->adds = step.text[0] == '+';
        AS_TRY(parse_number(r, (span){step.text + 1, step.size - 1}, &out->step));
    }
    return count_values(r, out, given);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* The parameter whose name and "=" the text begins with; the longest, as one name may begin with another and hold a
 * comma. */
static size_t find_parameter(const as_dataset *ds, const char *text, const char **behind) {
    size_t best = SIZE_MAX, longest = 0;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        const char *name = as_ds_parameter(ds, i);
        size_t size = strlen(name);
        if (strncmp(text, name, size) != 0 || (best != SIZE_MAX && size <= longest)) continue;
        const char *next = text + size;
        while (*next == ' ') next++;
        if (*next != '=') continue;
        best = i;
        longest = size;
        *behind = next + 1;
    }
    return best;
}

static assay_status complain_of_name(const request *r, const char *text, const char *end) {
    const char *equals = memchr(text, '=', (size_t)(end - text));
    span name = trimmed(text, equals ? equals : end);
    if (!equals) return complain(r, "each parameter is given as NAME=VALUE, not as", name);
    as_nearest nearest = as_nearest_start(name.text, name.size);
    for (size_t i = 0; i < as_ds_parameters(r->ds); i++) as_nearest_offer(&nearest, as_ds_parameter(r->ds, i));
    if (!nearest.word && as_ds_parameters(r->ds) == 1) nearest.word = as_ds_parameter(r->ds, 0);
    return as_fail(r->error, ASSAY_E_USAGE, AS_NOWHERE, "point", "%s: there is no parameter '%.*s'%s%s%s", r->text,
                   (int)name.size, name.text, nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
                   nearest.word ? "'?" : "");
}

/* One "NAME=VALUES"; *next: behind its comma, or NULL at the end. */
static assay_status parse_part(const request *r, const char *text, const char **next) {
    const char *values = text;
    while (*text == ' ') text++;
    size_t parameter = find_parameter(r->ds, text, &values);
    const char *end = strchr(parameter == SIZE_MAX ? text : values, ',');
    *next = end ? end + 1 : NULL;
    if (!end) end = text + strlen(text);
    bool is_bare = parameter == SIZE_MAX && as_ds_parameters(r->ds) == 1 && r->ranges[0].count == 0 &&
                   !memchr(text, '=', (size_t)(end - text));
    if (is_bare) {
        parameter = 0;
        values = text;
    }
    if (parameter == SIZE_MAX) return complain_of_name(r, text, end);
    const char *name = as_ds_parameter(r->ds, parameter);
    if (r->ranges[parameter].count > 0)
        return complain(r, "gives a value twice to parameter", (span){name, strlen(name)});
    return parse_values(r, trimmed(values, end), &r->ranges[parameter]);
}

static assay_status parse_all(const request *r, size_t *n_points) {
    const char *next = r->text;
    while (next) AS_TRY(parse_part(r, next, &next));
    *n_points = 1;
    for (size_t i = 0; i < as_ds_parameters(r->ds); i++) {
        const char *name = as_ds_parameter(r->ds, i);
        if (r->ranges[i].count == 0)
            return complain(r, "does not say the value of parameter", (span){name, strlen(name)});
        /* both at most MAX_POINTS: no overflow */
        *n_points *= r->ranges[i].count;
        if (*n_points > MAX_POINTS)
            return as_fail(r->error, ASSAY_E_USAGE, AS_NOWHERE, "point", "%s: has more than %d points", r->text,
                           MAX_POINTS);
    }
    return ASSAY_OK;
}

/* All combinations, the first parameter slowest. */
static bool append_points(const request *r, size_t n_points, as_vec *points) {
    size_t n = as_ds_parameters(r->ds);
    if (!as_vec_reserve(points, n_points * n)) return false;
    for (size_t i = 0; i < n_points; i++) {
        size_t period = n_points, rest = i;
        for (size_t k = 0; k < n; k++) {
            period /= r->ranges[k].count;
            double value = value_at(&r->ranges[k], rest / period);
            rest %= period;
            if (!as_vec_append(points, &value, 1)) return false;
        }
    }
    return true;
}

assay_status as_points_parse(const as_dataset *ds, const char *text, as_vec *points, assay_error *error) {
    size_t n = as_ds_parameters(ds), n_points;
    if (n == 0) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "point", "%s: the data has no parameters", text);
    if (text[strspn(text, " ")] == '\0')
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "point", "'%s' is no point; one is %s=64, for example", text,
                       as_ds_parameter(ds, 0));
    as_vec ranges;
    as_vec_init(&ranges, sizeof(range), NULL);
    for (size_t i = 0; i < n; i++) {
        if (!as_vec_push(&ranges)) {
            as_vec_free(&ranges);
            return as_fail_memory(error, NULL);
        }
    }
    request r = {.ds = ds, .text = text, .ranges = ranges.data, .error = error};
    assay_status status = parse_all(&r, &n_points);
    if (status == ASSAY_OK && !append_points(&r, n_points, points)) status = as_fail_memory(error, NULL);
    as_vec_free(&ranges);
    return status;
}

/* ---- how far outside --------------------------------------------------------------------------------------------- */

/* How many times `value` lies beyond an end of what was measured; infinitely many across zero. */
static double times_outside(double value, double smallest, double largest) {
    if (value > largest) return largest > 0 ? value / largest : INFINITY;
    if (value < smallest) return value > 0 ? smallest / value : INFINITY;
    return 1;
}

void as_parameter_extent(const as_dataset *ds, assay_id parameter, double *smallest, double *largest) {
    *smallest = INFINITY, *largest = -INFINITY;
    for (assay_id i = 0; i < ds->n_points; i++) {
        double value = as_ds_point(ds, i)[parameter];
        *smallest = fmin(*smallest, value);
        *largest = fmax(*largest, value);
    }
}

bool as_parameter_values(const as_dataset *ds, assay_id parameter, as_vec *out) {
    out->count = 0;
    for (assay_id i = 0; i < ds->n_points; i++) {
        if (!as_vec_append(out, &as_ds_point(ds, i)[parameter], 1)) return false;
    }
    double *values = out->data;
    size_t n = 0;
    if (out->count) qsort(values, out->count, sizeof *values, as_real_compare);
    for (size_t i = 0; i < out->count; i++) {
        if (n == 0 || values[i] != values[n - 1]) values[n++] = values[i];
    }
    out->count = n;
    return true;
}

double as_extrapolation(const as_dataset *ds, const double *point, assay_id *parameter) {
    size_t n = as_ds_parameters(ds);
    double farthest = 1;
    if (parameter) *parameter = 0;
    for (size_t k = 0; k < n; k++) {
        double smallest, largest;
        as_parameter_extent(ds, (assay_id)k, &smallest, &largest);
        double times = smallest <= largest ? times_outside(point[k], smallest, largest) : 1;
        if (!(times > farthest)) continue;
        farthest = times;
        if (parameter) *parameter = (assay_id)k;
    }
    return farthest;
}
