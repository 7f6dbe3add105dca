#include "formats/hpctoolkit/metrics.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == ':'; }

const char *as_hpc_unit(const char *name, size_t *size) {
    const char *end = strrchr(name, ')');
    if (!end) return NULL;
    if (end[1] && end[1] != ':') return NULL;
    for (const char *at = end + 1; *at; at++)
        if (!is_word(*at)) return NULL;
    const char *begin = end;
    while (begin > name && begin[-1] != '(' && begin[-1] != ')') begin--;
    if (begin - name < 2 || begin[-1] != '(' || begin[-2] != ' ') return NULL;
    *size = (size_t)(end - begin);
    return begin;
}

void as_hpc_pair_metrics(as_dataset *ds, const assay_id *metrics, size_t n) {
    assay_id found[AS_KIND_DERIVED + 1];
    for (size_t i = 0; i <= AS_KIND_DERIVED; i++) found[i] = ASSAY_NONE;
    for (size_t i = 0; i < n; i++) {
        assay_id *first = &found[as_ds_metric(ds, metrics[i])->kind];
        if (*first == ASSAY_NONE) *first = metrics[i];
    }
    assay_id exclusive = found[AS_KIND_LEXICAL] != ASSAY_NONE ? found[AS_KIND_LEXICAL] : found[AS_KIND_EXCLUSIVE];
    assay_id whole = found[AS_KIND_INCLUSIVE] != ASSAY_NONE ? found[AS_KIND_INCLUSIVE] : exclusive;
    for (size_t i = 0; i < n; i++) {
        as_metric *metric = &AS_AT(as_metric, &ds->metrics, metrics[i]);
        metric->is_stored = true;
        if (metrics[i] != whole)
            metric->part_of = whole;
        else if (whole != exclusive)
            metric->exclusive = exclusive;
    }
}
