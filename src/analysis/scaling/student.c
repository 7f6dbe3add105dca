/* Student's t distribution: closed forms for few degrees of freedom, a transformation to the normal distribution for
 * more. */
#include "analysis/scaling/student.h"

#include <math.h>
#include <stdbool.h>

/* From here on Hill's transformation is right to 3e-9. */
enum { MANY = 8 };

/* The finite series in the angle of t (Abramowitz and Stegun 26.7.3 and 26.7.4). */
static double cdf_of_few(double t, unsigned freedom) {
    double squared = 1 / (1 + t * t / freedom), cosine = sqrt(squared), sine = t / sqrt(freedom) * cosine;
    bool is_odd = freedom % 2;
    double term = is_odd ? cosine : 1, sum = 0;
    for (unsigned k = is_odd ? 1 : 0; k + 2 <= freedom; k += 2) {
        sum += term;
        term *= squared * (k + 1) / (k + 2);
    }
    return is_odd ? 0.5 + (atan(t / sqrt(freedom)) + sine * sum) / M_PI : 0.5 + sine * sum / 2;
}

/* G. W. Hill, Algorithm 395, 1970: the normal deviate of the same probability. */
static double cdf_of_many(double t, unsigned freedom) {
    double a = freedom - 0.5, b = 48 * a * a, z2 = a * log1p(t * t / freedom), z = sqrt(z2);
    double shift = (((-0.4 * z2 - 3.3) * z2 - 24) * z2 - 85.5) / (0.8 * z2 * z2 + 100 + b);
    z *= 1 + (shift + z2 + 3) / b;
    return 0.5 * erfc(copysign(z, -t) * M_SQRT1_2);
}

double as_student_cdf(double t, unsigned freedom) {
    if (isinf(t)) return t > 0 ? 1 : 0;
    return freedom < MANY ? cdf_of_few(t, freedom) : cdf_of_many(t, freedom);
}

/* By bisection in the angle of t, in which the distribution is tame whatever its tails. */
double as_student_quantile(double probability, unsigned freedom) {
    double low = -M_PI_2, high = M_PI_2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (as_student_cdf(tan(middle), freedom) < probability)
            low = middle;
        else
            high = middle;
    }
    return tan((low + high) / 2);
}
