/* Which rule is for which metric and call path. */
#include <stdlib.h>

#include "analysis/verdict/verdict.h"
#include "core/pattern.h"

struct as_rules {
    const as_threshold_rule *rules;
    size_t n;
    as_pattern **patterns; /* of each rule that of the metric and that of the path; NULL: fits all */
};

static assay_status add_pattern(const char *text, as_pattern **out, assay_error *error) {
    const char *why;
    size_t at;
    if (!text || (*out = as_pattern_new(text, strlen(text), &why, &at))) return ASSAY_OK;
    if (!why) return as_fail_memory(error, NULL);
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'%s' is no pattern: %s, at its byte %zu", text, why, at + 1);
}

assay_status as_rules_new(const as_threshold_rule *rules, size_t n, as_rules **out, assay_error *error) {
    as_rules *new = *out = calloc(1, sizeof *new);
    if (!new) return as_fail_memory(error, NULL);
    *new = (as_rules){rules, n, calloc(2 * n + 1, sizeof(as_pattern *))};
    assay_status status = new->patterns ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t i = 0; status == ASSAY_OK && i < 2 * n; i++)
        status = add_pattern(i % 2 ? rules[i / 2].path : rules[i / 2].metric, &new->patterns[i], error);
    if (status == ASSAY_OK) return ASSAY_OK;
    as_rules_free(new);
    *out = NULL;
    return status;
}

void as_rules_free(as_rules *rules) {
    if (!rules) return;
    for (size_t i = 0; rules->patterns && i < 2 * rules->n; i++) as_pattern_free(rules->patterns[i]);
    free(rules->patterns);
    free(rules);
}

const as_threshold_rule *as_rules_find(const as_rules *rules, const char *metric, const char *path) {
    for (size_t i = rules->n; i-- > 0;) {
        const as_pattern *of_metric = rules->patterns[2 * i], *of_path = rules->patterns[2 * i + 1];
        if (of_metric && !as_pattern_search(of_metric, metric, strlen(metric))) continue;
        if (of_path && (!path || !as_pattern_search(of_path, path, strlen(path)))) continue;
        return &rules->rules[i];
    }
    return NULL;
}

bool as_rules_keep(void *rules, const char *metric, const char *path) {
    const as_threshold_rule *rule = as_rules_find(rules, metric, path);
    return !rule || !rule->is_ignored;
}
