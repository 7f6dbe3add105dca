#include "render/plot_axis.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"

/* Numbers beyond this have no differences; the rest of the way to infinity is not worth an axis. */
#define LARGEST 1e300
/* The smallest part of its largest number that a linear axis spans: its labels need no more digits than this has. */
#define LEAST_SPAN 1e-4
/* A linear axis starts at zero where its smallest number is at most this part of the largest. */
#define NEAR_ZERO 0.4
/* Labels are written plainly between these. */
#define PLAIN_LOW  1e-3
#define PLAIN_HIGH 1e6

/* Whether a number can be drawn at all: finite, and not so large that differences overflow. */
static bool is_drawable(double value) { return fabs(value) <= LARGEST; }

void as_range_add(as_range *range, double value) {
    if (!is_drawable(value)) return;
    if (fabs(value) < 1 / LARGEST) value = 0;
    if (!range->n || value < range->low) range->low = value;
    if (!range->n || value > range->high) range->high = value;
    range->n++;
}

bool as_range_prefers_log(const as_range *range) {
    return range->n && range->low > 0 && log10(range->high) - log10(range->low) > 2;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* air: the part of the span that is added on both sides. */
static void fit_log(as_axis *axis, double low, double high, double air) {
    double base = log10(axis->base), from = log10(low), to = log10(high);
    if (to - from < 0.5 * base) {
        double middle = (from + to) / 2;
        from = middle - base / 4;
        to = middle + base / 4;
    }
    double pad = air * (to - from);
    axis->low = pow(10, fmax(from - pad, log10(1 / LARGEST))); /* air must not lead to zero or infinity */
    axis->high = pow(10, fmin(to + pad, log10(LARGEST)));
}

static void fit_linear(as_axis *axis, double low, double high, double air) {
    double largest = fmax(fabs(low), fabs(high));
    if (largest == 0) {
        axis->low = 0;
        axis->high = 1;
        return;
    }
    if (high - low < LEAST_SPAN * largest) { /* all equal */
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    if (!axis->tight && low > 0 && low <= NEAR_ZERO * high) low = 0;
    if (!axis->tight && high < 0 && high >= NEAR_ZERO * low) high = 0;
    /* No air beyond zero, and little where it is crossed by little */
    double pad = air * (high - low);
    axis->low = low - fmin(pad, low > 0 ? pad : -low);
    axis->high = high + fmin(pad, high < 0 ? pad : high);
}

static void fit(as_axis *axis, const as_range *range, double air) {
    if (axis->scale != AS_SCALE_LOG || range->low <= 0) axis->scale = AS_SCALE_LINEAR;
    if (axis->base == 0) axis->base = 10;
    if (axis->origin == 0) axis->origin = 1;
    if (axis->scale == AS_SCALE_LOG)
        fit_log(axis, range->low, range->high, air);
    else
        fit_linear(axis, range->low, range->high, air);
}

void as_axis_fit(as_axis *axis, const as_range *range) {
    if (axis->scale == AS_SCALE_AUTO) axis->scale = as_range_prefers_log(range) ? AS_SCALE_LOG : AS_SCALE_LINEAR;
    fit(axis, range, 0.05);
}

/* The factor between neighbours where it is the same everywhere, else 0. */
static double common_factor(const double *values, size_t n) {
    if (n < 3 || values[0] <= 0) return 0;
    double factor = values[1] / values[0];
    for (size_t i = 2; i < n; i++) {
        if (fabs(values[i] / values[i - 1] - factor) > 1e-9 * factor) return 0;
    }
    return factor;
}

static bool is_power_of(double value, double base) {
    double k = log(value) / log(base);
    return fabs(k - round(k)) < 1e-9;
}

/* Bases whose ticks meet the values: powers of two count in twos, other whole factors in themselves. */
static void choose_base(as_axis *axis, double first, double factor) {
    if (factor > 1.5 && is_power_of(factor, 2))
        axis->base = 2;
    else if (factor > 1.5 && factor <= 10 && factor == round(factor))
        axis->base = factor;
    else
        return;
    if (!is_power_of(first, axis->base)) axis->origin = first;
}

void as_axis_fit_parameter(as_axis *axis, const double *values, size_t n, double last) {
    as_range range = {0};
    for (size_t i = 0; i < n; i++) as_range_add(&range, values[i]);
    double factor = range.n == n ? common_factor(values, n) : 0;
    if (axis->scale == AS_SCALE_AUTO) {
        /* Three values in a row such as 1, 2, 4 say little, and 64, 80, 100 look alike on both scales */
        bool is_geometric = factor >= 1.5 && range.high >= 4 * range.low;
        axis->scale = is_geometric || as_range_prefers_log(&range) ? AS_SCALE_LOG : AS_SCALE_LINEAR;
    }
    if (axis->scale == AS_SCALE_LOG && factor > 0) choose_base(axis, values[0], factor);
    as_range_add(&range, last);
    fit(axis, &range, axis->tight ? 0 : 0.03);
}

double as_axis_position(const as_axis *axis, double value) {
    if (!is_drawable(value)) return NAN;
    if (axis->scale != AS_SCALE_LOG) return (value - axis->low) / (axis->high - axis->low);
    if (value <= 0) return NAN;
    double from = log10(axis->low);
    return (log10(value) - from) / (log10(axis->high) - from);
}

double as_axis_value(const as_axis *axis, double position) {
    if (axis->scale != AS_SCALE_LOG) return axis->low + position * (axis->high - axis->low);
    double from = log10(axis->low);
    return pow(10, from + position * (log10(axis->high) - from));
}

/* ---- numbers as labels ------------------------------------------------------------------------------------------- */

/* digits * 10^shift without trailing zeros behind the point. |digits| < 10^15, shift -15 … 6. */
static void write_decimal(int64_t digits, int shift, char out[AS_TICK_LABEL]) {
    for (; shift < 0 && digits % 10 == 0; shift++) digits /= 10;
    for (; shift > 0; shift--) digits *= 10;
    char reversed[AS_TICK_LABEL];
    int n = 0;
    for (int64_t left = digits < 0 ? -digits : digits; (left > 0 || n <= -shift) && n < AS_TICK_LABEL - 3; left /= 10)
        reversed[n++] = (char)('0' + left % 10);
    char *to = out;
    if (digits < 0) *to++ = '-';
    while (n > 0) {
        *to++ = reversed[--n];
        if (n > 0 && n == -shift) *to++ = '.';
    }
    *to = '\0';
}

/* value = *digits * 10^(*exponent) rounded to n digits. */
static void round_digits(double value, unsigned n, int64_t *digits, int *exponent) {
    *exponent = (int)floor(log10(fabs(value))) - (int)n + 1;
    /* In two steps: 10^-exponent alone can overflow */
    int half = *exponent / 2;
    *digits = llround(value * pow(10, -half) * pow(10, half - *exponent));
    if (llabs(*digits) >= llround(pow(10, n))) {
        *digits /= 10;
        ++*exponent;
    }
}

void as_rich_number(double value, unsigned digits, char out[AS_TICK_LABEL]) {
    if (!is_drawable(value) || fabs(value) < 1 / LARGEST) {
        char text[AS_NUMBER_SIZE];
        as_real_format(value == 0 || is_drawable(value) ? 0 : value, text);
        snprintf(out, AS_TICK_LABEL, "%s", text);
        return;
    }
    int64_t mantissa;
    int exponent;
    round_digits(value, digits, &mantissa, &exponent);
    int power = exponent + (int)digits - 1; /* of the first digit */
    if (power >= -3 && power < 6) {
        write_decimal(mantissa, exponent, out);
        return;
    }
    write_decimal(mantissa, 1 - (int)digits, out);
    size_t used = strlen(out);
    snprintf(out + used, AS_TICK_LABEL - used, "×10^{%d}", power);
}

/* ---- ticks ------------------------------------------------------------------------------------------------------- */

static void add_tick(as_ticks *ticks, double value, const char *label) {
    if (ticks->n == AS_MAX_TICKS) return;
    as_tick *tick = &ticks->at[ticks->n++];
    tick->value = value;
    snprintf(tick->label, sizeof tick->label, "%s", label);
}

/* 10^k exactly where a double has it. */
static double times_power(double value, int k) {
    return k >= 0 ? value * pow(10, k) : k > -300 ? value / pow(10, -k) : value / 1e300 / pow(10, -k - 300);
}

/* The least of 1, 2, 5 times a power of ten that is at least `least`. */
static void nice_step(double least, int64_t *mantissa, int *exponent) {
    *exponent = (int)floor(log10(least));
    double part = times_power(least, -*exponent) * (1 - 1e-9);
    *mantissa = part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10;
    if (*mantissa == 10) {
        *mantissa = 1;
        ++*exponent;
    }
}

/* Multiples first … last of mantissa * 10^power, the nicest that are at most `want`. */
typedef struct multiples {
    int64_t mantissa, first, last;
    int power;
    double step;
} multiples;

static multiples nice_multiples(const as_axis *axis, unsigned want) {
    multiples m;
    nice_step((axis->high - axis->low) / want, &m.mantissa, &m.power);
    m.step = times_power((double)m.mantissa, m.power);
    m.first = (int64_t)ceil(axis->low / m.step - 1e-9);
    m.last = (int64_t)floor(axis->high / m.step + 1e-9);
    return m;
}

static void linear_ticks(const as_axis *axis, unsigned want, as_ticks *out) {
    multiples m = nice_multiples(axis, want);
    /* With both ends there is one more than spaces between */
    for (unsigned fewer = want; m.last - m.first >= (int64_t)want && fewer > 1;) m = nice_multiples(axis, --fewer);
    while (m.last <= m.first && want++ < 32) m = nice_multiples(axis, want); /* one tick says nothing */
    double largest = (double)(llabs(m.first) > llabs(m.last) ? llabs(m.first) : llabs(m.last)) * m.step;
    bool is_plain = axis->scale == AS_SCALE_LOG || (largest >= PLAIN_LOW && largest < PLAIN_HIGH);
    if (!is_plain && largest > 0) out->exponent = 3 * (int)floor(log10(largest * (1 + 1e-9)) / 3);
    for (int64_t i = m.first; i <= m.last; i++) {
        char label[AS_TICK_LABEL];
        double value = times_power((double)(i * m.mantissa), m.power);
        if (axis->scale == AS_SCALE_LOG)
            as_rich_number(value, 7, label);
        else
            write_decimal(i * m.mantissa, m.power - out->exponent, label);
        add_tick(out, value, label);
    }
}

static double log_tick(const as_axis *axis, int k) {
    double power = pow(axis->base, abs(k));
    return k < 0 ? axis->origin / power : axis->origin * power;
}

/* The exponents k whose ticks lie on the axis; 0: there are none. */
static int log_range(const as_axis *axis, int *first, int *last) {
    double base = log10(axis->base), origin = log10(axis->origin);
    *first = (int)ceil((log10(axis->low) - origin) / base - 1e-9);
    *last = (int)floor((log10(axis->high) - origin) / base + 1e-9);
    return *last >= *first ? *last - *first + 1 : 0;
}

static void log_label(const as_axis *axis, int k, bool plain, char out[AS_TICK_LABEL]) {
    if (plain || axis->origin != 1)
        as_rich_number(log_tick(axis, k), 6, out);
    else
        snprintf(out, AS_TICK_LABEL, "%d^{%d}", (int)axis->base, k);
}

/* One tick every so many powers of the base; those between are minor ones. */
static void power_ticks(const as_axis *axis, int first, int last, int stride, as_ticks *out) {
    bool plain = log_tick(axis, first) >= PLAIN_LOW && log_tick(axis, last) <= PLAIN_HIGH;
    bool minor_parts = axis->base == 10 && stride == 1 && last - first < 6;
    bool minor_powers = stride > 1 && last - first < AS_MAX_TICKS;
    for (int k = first - 1; k <= last; k++) {
        char label[AS_TICK_LABEL] = "";
        bool labelled = k % stride == 0;
        if (labelled) log_label(axis, k, plain, label);
        if (k >= first && (labelled || minor_powers)) add_tick(out, log_tick(axis, k), label);
        for (int part = 2; minor_parts && part < 10; part++) {
            double value = part * log_tick(axis, k);
            if (value >= axis->low && value <= axis->high) add_tick(out, value, "");
        }
    }
}

static void part_label(int part, int k, bool plain, char out[AS_TICK_LABEL]) {
    if (plain)
        as_rich_number(times_power(part, k), 6, out);
    else if (part == 1)
        snprintf(out, AS_TICK_LABEL, "10^{%d}", k);
    else
        snprintf(out, AS_TICK_LABEL, "%d×10^{%d}", part, k);
}

/* Multiples of the powers of ten. */
static void part_ticks(const as_axis *axis, const int *parts, size_t n_parts, as_ticks *out) {
    int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
    bool plain = axis->low > PLAIN_LOW / 2 && axis->high < PLAIN_HIGH;
    out->n = 0;
    for (int k = first; k <= last; k++) {
        for (size_t i = 0; i < n_parts; i++) {
            double value = times_power(parts[i], k);
            char label[AS_TICK_LABEL];
            part_label(parts[i], k, plain, label);
            if (value >= axis->low && value <= axis->high) add_tick(out, value, label);
        }
    }
}

static const int halves[] = {1, 2, 5}, thirds[] = {1, 3};

static void log_ticks(const as_axis *axis, unsigned want, as_ticks *out) {
    int first, last, n = log_range(axis, &first, &last);
    if (axis->base == 10 && n <= 3) {
        part_ticks(axis, halves, 3, out);
        if (out->n >= 2 && out->n <= want) return;
        out->n = 0;
    }
    if (n >= 2)
        power_ticks(axis, first, last, (n + (int)want - 1) / (int)want, out);
    else
        linear_ticks(axis, want, out);
}

void as_axis_ticks(const as_axis *axis, unsigned want, as_ticks *out) {
    want = want < 2 ? 2 : want > 32 ? 32 : want;
    out->n = 0;
    out->exponent = 0;
    if (!(axis->high > axis->low)) return;
    if (axis->scale == AS_SCALE_LOG)
        log_ticks(axis, want, out);
    else
        linear_ticks(axis, want, out);
}

/* Two digits, and more only where neighbours would be one. */
static void even_levels(const as_axis *axis, unsigned n, as_ticks *out) {
    for (unsigned digits = 2; digits < 8; digits++) {
        out->n = 0;
        out->exponent = 0;
        for (unsigned i = 1; i <= n; i++) {
            double value = as_axis_value(axis, i / (n + 1.0));
            int64_t mantissa = 0;
            int exponent = 0;
            char label[AS_TICK_LABEL];
            if (value != 0) round_digits(value, digits, &mantissa, &exponent);
            value = times_power((double)mantissa, exponent);
            as_rich_number(value, digits, label);
            if (!out->n || value > out->at[out->n - 1].value) add_tick(out, value, label);
        }
        if (out->n == n) return;
    }
}

void as_axis_levels(const as_axis *axis, unsigned n, as_ticks *out) {
    static const struct {
        const int *parts;
        size_t n;
    } ways[] = {{halves, 3}, {thirds, 2}, {halves, 1}};
    n = n < 2 ? 2 : n > 32 ? 32 : n;
    if (axis->scale != AS_SCALE_LOG) as_axis_ticks(axis, n, out);
    for (size_t i = 0; axis->scale == AS_SCALE_LOG && i < sizeof ways / sizeof *ways; i++) {
        out->exponent = 0;
        part_ticks(axis, ways[i].parts, ways[i].n, out);
        if (out->n <= n) break;
    }
    if (out->n > n || 2 * out->n < n) even_levels(axis, n, out);
}

void as_axis_title(const as_axis *axis, const as_ticks *ticks, char *out, size_t size) {
    const char *label = axis->label ? axis->label : "";
    if (ticks->exponent)
        snprintf(out, size, "%s%s×10^{%d}", label, *label ? " " : "", ticks->exponent);
    else
        snprintf(out, size, "%s", label);
}
