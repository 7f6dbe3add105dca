#include "analysis/scaling/samples.h"

bool as_fit_needs_means(const as_fit_options *options) {
    return options->compat_extrap && options->modeler == AS_MODELER_MULTI &&
           (options->measure == AS_MINIMUM || options->measure == AS_MAXIMUM);
}

typedef struct taking {
    as_samples *out;
    as_statistic statistic;
    uint32_t measured, repeated;
    double squares; /* of relative standard deviations */
} taking;

static bool take(void *user, const as_measurement *m) {
    taking *t = user;
    as_samples *out = t->out;
    double value = as_statistic_of(t->statistic, m);
    t->measured++;
    if (m->repetitions > 1 && m->mean != 0 && isfinite(m->std / m->mean)) {
        double r = (double)m->repetitions, relative = m->std / m->mean;
        t->squares += relative * relative * r / (r - 1);
        t->repeated++;
    }
    if (!isfinite(value)) {
        out->flags |= AS_FIT_NOT_FINITE;
        return true;
    }
    if (out->means) out->means[out->n] = m->mean;
    out->points[out->n] = m->point;
    out->values[out->n++] = value;
    return true;
}

bool as_samples_take(const as_dataset *ds, uint32_t series, as_statistic statistic, as_samples *out) {
    out->n = out->flags = 0;
    taking t = {.out = out, .statistic = statistic};
    if (!as_measure(ds, as_ds_series(ds, series), take, &t)) return false;
    out->n_missing = (uint32_t)(ds->n_points - t.measured);
    if (out->n_missing) out->flags |= AS_FIT_MISSING;
    out->noise = t.repeated ? (float)sqrt(t.squares / t.repeated) : NAN;
    if (out->noise > AS_NOISY) out->flags |= AS_FIT_NOISY;
    return true;
}
