/* The algebra of profiles for users of the library. */
#include "analysis/algebra/algebra.h"

#include "assay/assay.h"

static as_matching matching_of(const assay_algebra_config *config) {
    return config && config->exact_match ? AS_MATCH_EXACT : AS_MATCH_NAME;
}

assay_status assay_diff(const assay_dataset *base, const assay_dataset *target, const assay_algebra_config *config,
                        assay_dataset **out, assay_error *error) {
    assay_error unwanted;
    *out = NULL;
    return as_diff(base, target, matching_of(config), config && config->all_metrics, out, error ? error : &unwanted);
}

/* Both want at least one part. */
static assay_status combine(assay_dataset *const *parts, size_t n, const assay_algebra_config *config,
                            assay_status (*operation)(const as_dataset *const *, size_t, as_matching, as_dataset **,
                                                      assay_error *),
                            assay_dataset **out, assay_error *error) {
    assay_error unwanted;
    *out = NULL;
    if (!n) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is nothing to combine; give a dataset or more");
    return operation((const as_dataset *const *)parts, n, matching_of(config), out, error ? error : &unwanted);
}

assay_status assay_mean(assay_dataset *const *parts, size_t n, const assay_algebra_config *config, assay_dataset **out,
                        assay_error *error) {
    return combine(parts, n, config, as_mean, out, error);
}

assay_status assay_merge_profiles(assay_dataset *const *parts, size_t n, const assay_algebra_config *config,
                                  assay_dataset **out, assay_error *error) {
    return combine(parts, n, config, as_merge_profiles, out, error);
}

static size_t count(const char *const *names) {
    size_t n = 0;
    while (names && names[n]) n++;
    return n;
}

assay_status assay_cut(const assay_dataset *dataset, const char *const *roots, const char *const *prunes,
                       assay_dataset **out, assay_error *error) {
    assay_error unwanted;
    as_cut_names names = {.roots = roots, .prunes = prunes, .n_roots = count(roots), .n_prunes = count(prunes)};
    *out = NULL;
    return as_cut(dataset, &names, out, error ? error : &unwanted);
}
