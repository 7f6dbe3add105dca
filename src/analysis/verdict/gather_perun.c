/* The numbers of Perun's resources: those of one uid at one structure-unit-size, or with an order, are repetitions. */
#include <stdlib.h>

#include "analysis/verdict/sampling.h"
#include "formats/perun/perun.h"

typedef struct resources {
    as_sampling *s;
    uint32_t side, dataset;
    const as_perun *perun;
    uint32_t amount, size, order; /* columns; UINT32_MAX: there is none */
    as_map units;                 /* of strata */
} resources;

/* What makes a row a repetition: its size as the point, or NAN where it has an order. False: neither. */
static bool point_of(const resources *r, size_t row, double *point) {
    bool is_number = false;
    *point = NAN;
    if (r->size != UINT32_MAX && r->s->out->n_parameters == 1)
        *point = as_records_number(r->perun->records, row, r->size, &is_number) + 0.0; /* -0 is 0 */
    if (is_number && !isnan(*point)) return true;
    *point = NAN;
    if (r->order != UINT32_MAX) as_records_number(r->perun->records, row, r->order, &is_number);
    return r->order != UINT32_MAX && is_number;
}

static uint32_t unit_of(resources *r, double point) {
    uint32_t stratum = as_sampling_stratum(r->s, r->side, &point, isnan(point) ? 0u : 1u);
    if (stratum == AS_NO_STR) return UINT32_MAX;
    uint32_t unit = as_map_get(&r->units, stratum);
    if (unit != AS_MAP_NONE) return unit;
    unit = as_sampling_unit(r->s, (as_sample_unit){r->side, r->dataset, stratum, .is_rows = true});
    return unit != UINT32_MAX && as_map_put(&r->units, stratum, unit) ? unit : UINT32_MAX;
}

/* is_sampled: of kinds, set where rows of it are repetitions. False when memory is out. */
static bool add_rows(resources *r, assay_id metric, bool *is_sampled) {
    const as_records *records = r->perun->records;
    const uint32_t *kinds = as_records_row_kinds(records), *nodes = r->s->nodes[r->side][r->dataset];
    for (size_t row = 0; row < as_records_rows(records); row++) {
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &r->perun->kinds, kinds[row]);
        double point;
        bool is_number;
        if (kind->metric != metric || kind->uid_context == ASSAY_NONE || nodes[kind->uid_context] == AS_NO_PATH ||
            !point_of(r, row, &point))
            continue;
        is_sampled[kinds[row]] = true;
        double value = as_records_number(records, row, r->amount, &is_number);
        if (!is_number) continue;
        uint32_t unit = unit_of(r, point);
        if (unit == UINT32_MAX || !as_sampling_add(r->s, nodes[kind->uid_context], unit, value)) return false;
        /* Commands are repeated as a whole, calls at one size inside a run. */
        if (!isnan(point) && r->s->n[r->side] == 1) r->s->out->is_within_run = true;
    }
    return true;
}

bool as_gather_resources(as_sampling *s, uint32_t side, uint32_t dataset, assay_id metric, uint32_t *nodes) {
    const as_perun *perun = as_perun_of(s->sides[side][dataset]);
    if (!perun || !perun->records) return true;
    resources r = {.s = s,
                   .side = side,
                   .dataset = dataset,
                   .perun = perun,
                   .amount = as_records_find_column(perun->records, "amount"),
                   .size = as_records_find_column(perun->records, "structure-unit-size"),
                   .order = as_records_find_column(perun->records, "order")};
    if (r.amount == UINT32_MAX || (r.size == UINT32_MAX && r.order == UINT32_MAX)) return true;
    bool *is_sampled = calloc(perun->kinds.count + 1, 1);
    as_map_init(&r.units, NULL);
    bool fine = is_sampled && add_rows(&r, metric, is_sampled);
    for (size_t i = 0; fine && i < perun->kinds.count; i++) {
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &perun->kinds, i);
        if (is_sampled[i] && kind->context != ASSAY_NONE) nodes[kind->context] = AS_NO_PATH;
    }
    as_map_free(&r.units);
    free(is_sampled);
    return fine;
}
