/* The inner loop of all modelling: for a tile of series, which hypothesis of a plan has the smallest error.
 *
 * One lane of a vector is one series, so that nothing is summed across lanes and every instruction set gives the same
 * bits (products and sums are never fused: -ffp-contract=off). The code is written once (line_kernel_body.h) and
 * compiled for what the machine may have. */
#include <stdlib.h>

#include "analysis/scaling/line.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between functions that are always inlined */

#define NAME(name) name##_2
#define TARGET
#define WIDTH 2
#include "analysis/scaling/line_kernel_body.h"

#if defined(__x86_64__)
#define NAME(name) name##_4
#define TARGET     __attribute__((target("avx2")))
#define WIDTH      4
#include "analysis/scaling/line_kernel_body.h"
#endif

typedef void judge_function(const as_line_plan *plan, const double *tile, double *scratch, as_line_verdict *verdict);

static judge_function *best_judge(void) {
#if defined(__x86_64__)
    const char *wanted = getenv("ASSAY_SIMD");
    bool is_wanted = !wanted || strcmp(wanted, "baseline") != 0;
    __builtin_cpu_init();
    if (is_wanted && __builtin_cpu_supports("avx2")) return judge_4;
#endif
    return judge_2;
}

static judge_function *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void) { chosen = best_judge(); }

void as_line_judge(const as_line_plan *plan, const double *y, double *scratch, as_line_verdict *verdict) {
    pthread_once(&once, choose);
    chosen(plan, y, scratch, verdict);
}
