/* Terms p^(i) * log2(p)^(j): exponents as fractions, the lists of them that are searched, and their values. */
#ifndef AS_ANALYSIS_SCALING_TERMS_H
#define AS_ANALYSIS_SCALING_TERMS_H

#include "core/memory.h"
#include "core/number.h"

/* A fraction, or (denominator 0) a real that was written as one. value is what it is worth either way. */
typedef struct as_exponent {
    int32_t numerator, denominator;
    double value;
} as_exponent;

as_exponent as_exponent_fraction(int64_t numerator, int64_t denominator); /* reduced */
as_exponent as_exponent_real(double value);
/* "3/2", "2", "0.5": what a model's term holds. False where it is none of these. */
bool as_exponent_parse(const char *text, as_exponent *out);
/* "3/2", "2", "0.5", "2.0"; NUL-terminated. */
void as_exponent_text(as_exponent exponent, char out[AS_NUMBER_SIZE]);
/* (a + c) / (b + d) of a/b and c/d. */
as_exponent as_exponent_mediant(as_exponent a, as_exponent b);

typedef struct as_power {
    as_exponent power, log; /* p^(power) * log2(p)^(log) */
} as_power;

/* pow(x, i) * pow(log2(x), j); exponents of 0 leave their factor out. */
double as_power_value(const as_power *power, double x);
/* Orders by growth for large p: by power, then by log. <0, 0, >0. */
int as_power_compare(const as_power *a, const as_power *b);

/* The entries of a comma list that are numbers or fractions, appended to list (a vector of as_exponent); others are
 * skipped. *wrong (may be NULL): the first that is neither such nor empty, and wrong_size, its length; NULL: none.
 * False when memory is out. */
bool as_exponents_parse(const char *text, as_vec *list, const char **wrong, size_t *wrong_size);

/* The search space of Extra-P's basic modeler in its order: appends as_power to list (a vector of them). allow_log is
 * about the default list; logarithms that are asked for by log_exponents are in it anyway. False when memory is out. */
bool as_power_list(as_vec *list, bool allow_log, bool allow_negative, const char *poly_exponents,
                   const char *log_exponents, bool retain_default, bool force_combination);
/* Takes the terms with a logarithm out: for parameter values below 1. */
void as_power_list_drop_logs(as_vec *list);

#endif
