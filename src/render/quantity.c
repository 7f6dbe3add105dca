#include "render/quantity.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct known_unit {
    const char *names; /* as files write it, between bars */
    double base;       /* seconds or bytes of one */
} known_unit;

static const known_unit times[] = {{"|s|sec|secs|second|seconds|", 1},
                                   {"|ms|msec|millisecond|milliseconds|", 1e-3},
                                   {"|us|usec|µs|μs|microsecond|microseconds|", 1e-6},
                                   {"|ns|nsec|nanosecond|nanoseconds|", 1e-9}};
static const known_unit sizes[] = {{"|b|byte|bytes|", 1}, {"|kb|", 1e3}, {"|mb|", 1e6}, {"|gb|", 1e9}};

/* Units of one family, the largest first; a value takes the first that it has at least one of. */
typedef struct scale {
    const char *unit;
    double size;
} scale;

static const scale time_scales[] = {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}};
static const scale count_scales[] = {{"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}};
static const scale size_scales[] = {{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}};

#define N(array) (sizeof(array) / sizeof *(array))

/* What one of this unit is, or 0 where it is not known. */
static double find_base(const known_unit *units, size_t n, const char *unit) {
    char wanted[32] = "|";
    size_t size = unit ? strlen(unit) : 0;
    if (size == 0 || size + 3 > sizeof wanted) return 0;
    memcpy(wanted + 1, unit, size);
    memcpy(wanted + 1 + size, "|", 2);
    for (size_t i = 0; i < n; i++) {
        if (strcasestr(units[i].names, wanted)) return units[i].base;
    }
    return 0;
}

bool as_unit_is_time(const char *unit) { return find_base(times, N(times), unit) > 0; }

/* Digits behind the point that leave about four in all. */
static int decimals_of(double largest) {
    if (!(largest > 0) || !isfinite(largest)) return 0;
    int digits = (int)floor(log10(largest)) + 1;
    return digits >= 4 ? 1 : 4 - digits;
}

static const double most_digits = 1e12, least_plain = 1e-3; /* between them digits are written out */

static as_quantity scaled(const scale *scales, size_t n, double base, double largest) {
    double value = largest * base;
    size_t i = 0;
    while (i + 1 < n && value < scales[i].size) i++;
    if (!(value > 0)) i = 0;
    double shown = value / scales[i].size;
    bool is_tiny = shown > 0 && shown < least_plain;
    return (as_quantity){.factor = base / scales[i].size,
                         .unit = scales[i].unit,
                         .decimals = is_tiny ? 3 : decimals_of(shown),
                         .is_scientific = is_tiny};
}

as_quantity as_quantity_of(const char *unit, double largest, bool is_whole) {
    if (!unit || strcmp(unit, "unknown") == 0) unit = "";
    largest = fabs(largest);
    double base = find_base(times, N(times), unit);
    if (base > 0) return scaled(time_scales, N(time_scales), base, largest);
    base = find_base(sizes, N(sizes), unit);
    if (base > 0) {
        as_quantity q = scaled(size_scales, N(size_scales), base, largest > 0 ? largest : 1 / base);
        q.is_exact = is_whole && q.factor == 1;
        if (q.is_exact) q.decimals = 0;
        return q;
    }
    as_quantity plain = {.factor = 1, .unit = unit, .is_exact = is_whole && largest < most_digits};
    if (plain.is_exact) return plain;
    plain.is_scientific = largest >= most_digits || (largest > 0 && largest < least_plain);
    plain.decimals = plain.is_scientific ? 3 : decimals_of(largest);
    return plain;
}

as_quantity as_quantity_of_counts(double largest) {
    static const double readable = 1e8;
    if (!(fabs(largest) >= readable)) return as_quantity_of(NULL, largest, true);
    return scaled(count_scales, N(count_scales), 1, fabs(largest));
}

/* Puts commas into the whole part of a number of `size` characters. */
static size_t group(const char *digits, size_t size, char buffer[AS_QUANTITY_SIZE]) {
    size_t sign = size && digits[0] == '-', whole = sign, to = 0;
    while (whole < size && digits[whole] >= '0' && digits[whole] <= '9') whole++;
    for (size_t i = 0; i < size && to + 2 < AS_QUANTITY_SIZE; i++) {
        if (i > sign && i < whole && (whole - i) % 3 == 0) buffer[to++] = ',';
        buffer[to++] = digits[i];
    }
    buffer[to] = '\0';
    return to;
}

size_t as_count_format(uint64_t count, char buffer[AS_QUANTITY_SIZE]) {
    char digits[AS_NUMBER_SIZE];
    size_t size = as_uint_format(count, digits);
    return group(digits, size, buffer);
}

static size_t copy(const char *text, char buffer[AS_QUANTITY_SIZE]) {
    size_t size = strlen(text);
    memcpy(buffer, text, size + 1);
    return size;
}

size_t as_quantity_format(const as_quantity *q, as_number value, char buffer[AS_QUANTITY_SIZE]) {
    char digits[AS_QUANTITY_SIZE];
    /* Beside counts of 1e18 a change by 1 is still that */
    bool is_short = q->is_scientific && q->factor == 1 && fabs(as_number_real(value)) < most_digits;
    if ((q->is_exact || is_short) && value.kind != AS_REAL) {
        size_t whole = as_number_format(value, digits);
        return group(digits, whole, buffer);
    }
    double shown = as_number_real(value) * q->factor;
    if (!isfinite(shown)) return as_real_format(shown, buffer);
    if (shown == 0) return copy("0", buffer);
    if (!q->is_scientific && fabs(shown) < 0.5 * pow(10, -q->decimals)) shown = 0; /* never "-0.0" */
    bool is_scientific = q->is_scientific || fabs(shown) >= 1e21;
    size_t size = as_real_format_digits(shown, is_scientific, is_scientific ? 3 : q->decimals, digits, sizeof digits);
    return group(digits, size, buffer);
}

const char *as_unit_shown(const as_quantity *q, bool is_ascii) {
    return is_ascii && strcmp(q->unit, "µs") == 0 ? "us" : q->unit;
}

size_t as_percent_format(double share, char buffer[AS_QUANTITY_SIZE]) {
    buffer[0] = '\0';
    if (!isfinite(share)) return 0;
    double percent = share * 100;
    if (fabs(percent) >= 1e6) return copy(percent > 0 ? ">1e6" : "<-1e6", buffer);
    if (percent == 0) return copy("0", buffer);
    if (fabs(percent) < 0.05) percent = 0;
    return as_real_format_digits(percent, false, fabs(percent) >= 999.95 ? 0 : 1, buffer, AS_QUANTITY_SIZE);
}

size_t as_percent_change_format(double share, char buffer[AS_QUANTITY_SIZE]) {
    if (share != 0 && fabs(share) < 0.0005) return copy(share > 0 ? "<+0.1" : ">-0.1", buffer);
    char percent[AS_QUANTITY_SIZE]; /* short: with a sign it still fits */
    size_t sign = share > 0 && isfinite(share), size = as_percent_format(share, percent);
    if (sign) buffer[0] = '+';
    memcpy(buffer + sign, percent, size + 1);
    return size + sign;
}
