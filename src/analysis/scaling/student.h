/* Student's t distribution. */
#ifndef AS_ANALYSIS_SCALING_STUDENT_H
#define AS_ANALYSIS_SCALING_STUDENT_H

/* The probability of a value of at most t; freedom >= 1. Right to 1e-8. A few tens of nanoseconds. */
double as_student_cdf(double t, unsigned freedom);
/* The value that as_student_cdf() gives this probability, 0 < probability < 1. */
double as_student_quantile(double probability, unsigned freedom);

#endif
