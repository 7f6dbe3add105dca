#include "formats/costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "dataset/main_metric.h"
#include "formats/stack_target.h"

#define MILLIONTHS 1e6
#define LARGEST    0x1p63
#define TOO_LARGE  ((as_whole)1 << 64)

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static int64_t clip(as_whole whole, as_cost_type *type) {
    if (whole >= INT64_MIN && whole <= INT64_MAX) return (int64_t)whole;
    type->n_wrong++;
    return whole < 0 ? INT64_MIN : INT64_MAX;
}

/* What a double cannot say exactly is no digit that is lost. */
static int64_t round_real(double value, as_cost_type *type) {
    double exact = value * type->factor, whole = nearbyint(exact);
    if (isnan(exact)) {
        type->n_wrong++;
        return 0;
    }
    if (whole >= LARGEST || whole < -LARGEST) return clip(whole < 0 ? -TOO_LARGE : TOO_LARGE, type);
    if (fabs(exact - whole) > 1e-6 || (whole == 0 && exact != 0)) type->is_rounded = true;
    return (int64_t)whole;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* As pprof writes units of time; others are as they are. */
static const char *unit_word(const char *unit, double seconds) {
    return seconds == 1      ? "seconds"
           : seconds == 1e-3 ? "milliseconds"
           : seconds == 1e-6 ? "microseconds"
           : seconds == 1e-9 ? "nanoseconds"
                             : unit;
}

static bool has_fractions(const as_own_values *own) {
    for (assay_id id = 0; id < AS_COUNT(own->ds, contexts); id++) {
        if (own->has[id] && isfinite(own->real[id]) && own->real[id] != nearbyint(own->real[id])) return true;
    }
    return false;
}

static as_cost_type type_of(const as_dataset *ds, const as_own_values *own) {
    as_cost_type type = {.metric = own->metric, .factor = 1};
    const char *unit = as_ds_text(ds, as_ds_metric(ds, own->metric)->unit);
    if (!unit || !*unit || strcmp(unit, "occ") == 0) unit = "count"; /* "occ" is what Cube calls it */
    double seconds = as_unit_seconds(unit);
    bool is_real_time = seconds > 0 && !own->is_whole, is_split = !own->is_whole && !is_real_time && has_fractions(own);
    if (is_real_time) type.factor = seconds * 1e9;
    if (is_split) type.factor = MILLIONTHS;
    const char *word = is_real_time ? "nanoseconds" : unit_word(unit, seconds);
    snprintf(type.unit, sizeof type.unit, "%s%s", is_split ? "millionths of " : "", word);
    return type;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static void take_amounts(as_costs *c, const as_own_values *own, size_t k) {
    as_cost_type *type = &AS_AT(as_cost_type, &c->types, k);
    int64_t *amounts = (int64_t *)c->amounts.data + k;
    for (assay_id id = 0; id < AS_COUNT(c->ds, contexts); id++) {
        int64_t *amount = amounts + (size_t)id * c->types.count;
        *amount = !own->has[id] ? 0 : own->is_whole ? clip(own->whole[id], type) : round_real(own->real[id], type);
    }
}

/* What is a frame for one metric is one for all. is_frame, is_in: by context. */
static void join_frames(as_costs *c, const bool *is_frame, const bool *is_in) {
    for (assay_id id = 0; id < AS_COUNT(c->ds, contexts); id++) {
        assay_id parent = as_ds_context(c->ds, id)->parent;
        bool is_below = parent != ASSAY_NONE && !as_context_is_root(c->ds, parent);
        c->callers[id] = is_below ? c->frames[parent] : ASSAY_NONE;
        c->frames[id] = !is_in[id] ? ASSAY_NONE : is_frame[id] ? id : c->callers[id];
    }
}

static bool add_locations(as_costs *c, const as_own_values *own) {
    for (uint32_t i = 0; i < as_own_values_locations(own); i++) {
        assay_id location = as_own_values_location(own, i);
        if (location != ASSAY_NONE && !as_vec_append(&c->locations, &location, 1)) return false;
    }
    return true;
}

static int compare_ids(const void *a, const void *b) {
    assay_id x = *(const assay_id *)a, y = *(const assay_id *)b;
    return x < y ? -1 : x > y;
}

static void unite_locations(as_vec *locations) {
    assay_id *ids = locations->data;
    size_t n = 0;
    if (locations->count) qsort(ids, locations->count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < locations->count; i++) {
        if (!n || ids[n - 1] != ids[i]) ids[n++] = ids[i];
    }
    locations->count = n;
}

/* What people look at first comes first: it is what other tools show at once. */
static void put_main_first(as_costs *c) {
    assay_id first = as_main_metric(c->ds, false);
    for (size_t k = 0; k < c->types.count; k++) {
        as_cost_type *types = c->types.data, main = types[k];
        if (main.metric != first) continue;
        memmove(&types[1], &types[0], k * sizeof *types);
        types[0] = main;
    }
}

/* The metrics that have costs: of inclusive and exclusive ones that belong together the one that stands for both. */
static bool find_types(as_costs *c) {
    for (assay_id metric = 0; metric < AS_COUNT(c->ds, metrics); metric++) {
        if (as_ds_metric(c->ds, metric)->part_of != ASSAY_NONE) continue;
        bool is_derived = as_ds_metric(c->ds, metric)->kind == AS_KIND_DERIVED;
        if (!is_derived && !as_metric_has_data(c->ds, metric)) continue;
        as_cost_type type = {.metric = metric};
        if (as_own_values_check(c->ds, metric, NULL) != ASSAY_OK)
            c->n_others++;
        else if (!as_vec_append(&c->types, &type, 1))
            return false;
    }
    put_main_first(c);
    return true;
}

/* The sums of one metric, and what are frames for it. */
static assay_status take_metric(as_costs *c, size_t k, bool by_location, bool *is_frame, bool *is_in,
                                assay_error *error) {
    as_stacks stacks;
    as_cost_type *type = &AS_AT(as_cost_type, &c->types, k);
    assay_status status = as_stacks_open(c->ds, type->metric, c->run, !by_location, &stacks, error);
    if (status == ASSAY_OK) {
        *type = type_of(c->ds, &stacks.own);
        take_amounts(c, &stacks.own, k);
        for (assay_id id = 0; id < AS_COUNT(c->ds, contexts); id++) {
            is_frame[id] |= stacks.frames[id] == id;
            is_in[id] |= stacks.frames[id] != ASSAY_NONE;
        }
    }
    if (status == ASSAY_OK && by_location) {
        if (add_locations(c, &stacks.own) && as_vec_append(&c->stacks, &stacks, 1)) return ASSAY_OK;
        status = as_fail_memory(error, NULL);
    }
    as_stacks_close(&stacks);
    return status;
}

static assay_status take_metrics(as_costs *c, bool by_location, assay_error *error) {
    size_t n = AS_COUNT(c->ds, contexts);
    bool *is_frame = calloc(n + 1, sizeof *is_frame), *is_in = calloc(n + 1, sizeof *is_in);
    assay_status status = is_frame && is_in ? ASSAY_OK : as_fail_memory(error, NULL);
    for (size_t k = 0; k < c->types.count && status == ASSAY_OK; k++)
        status = take_metric(c, k, by_location, is_frame, is_in, error);
    if (status == ASSAY_OK) join_frames(c, is_frame, is_in);
    free(is_frame);
    free(is_in);
    unite_locations(&c->locations);
    return status;
}

assay_status as_costs_open(const as_dataset *ds, bool by_location, as_costs *out, assay_error *error) {
    *out = (as_costs){.ds = ds, .run = as_stacks_main_run(ds)};
    as_budget *budget = as_ds_budget(ds);
    as_vec_init(&out->types, sizeof(as_cost_type), budget);
    as_vec_init(&out->amounts, sizeof(int64_t), budget);
    as_vec_init(&out->locations, sizeof(assay_id), budget);
    as_vec_init(&out->stacks, sizeof(as_stacks), budget);
    size_t n = AS_COUNT(ds, contexts), n_amounts;
    if (!find_types(out)) return as_fail_memory(error, NULL);
    if (!out->types.count || out->run == ASSAY_NONE)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-costs",
                       "has no metric whose values at call paths add up: there is nothing to write");
    out->frames = malloc((n + 1) * sizeof *out->frames);
    out->callers = malloc((n + 1) * sizeof *out->callers);
    bool fine = out->frames && out->callers && as_mul_size(n, out->types.count, &n_amounts) &&
                as_vec_reserve(&out->amounts, n_amounts);
    if (!fine) return as_fail_memory(error, NULL);
    return take_metrics(out, by_location, error);
}

assay_status as_costs_load(as_costs *costs, size_t location, assay_error *error) {
    assay_id wanted = AS_AT(assay_id, &costs->locations, location);
    memset(costs->amounts.data, 0, AS_COUNT(costs->ds, contexts) * costs->types.count * sizeof(int64_t));
    for (size_t k = 0; k < costs->stacks.count; k++) {
        as_stacks *stacks = &AS_AT(as_stacks, &costs->stacks, k);
        uint32_t n = as_own_values_locations(&stacks->own), i = 0;
        while (i < n && as_own_values_location(&stacks->own, i) != wanted) i++;
        if (i == n) continue;
        AS_TRY(as_stacks_load(stacks, i, error));
        take_amounts(costs, &stacks->own, k);
    }
    return ASSAY_OK;
}

void as_costs_close(as_costs *costs) {
    for (size_t i = 0; i < costs->stacks.count; i++) as_stacks_close(&AS_AT(as_stacks, &costs->stacks, i));
    as_vec_free(&costs->types);
    as_vec_free(&costs->amounts);
    as_vec_free(&costs->locations);
    as_vec_free(&costs->stacks);
    free(costs->frames);
    free(costs->callers);
}

bool as_costs_any(const as_costs *costs, assay_id context) {
    const int64_t *amounts = as_costs_of(costs, context);
    for (size_t k = 0; k < costs->types.count; k++) {
        if (amounts[k]) return true;
    }
    return false;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const as_region *region_of(const as_dataset *ds, assay_id context) {
    assay_id region = as_ds_context(ds, context)->region;
    return region == ASSAY_NONE ? NULL : as_ds_region(ds, region);
}

as_cost_place as_cost_place_of(const as_costs *costs, assay_id frame) {
    as_str line = as_find(&costs->ds->strings, "line", 4);
    as_cost_place place = {.function = frame};
    while (line != AS_NO_STR && costs->callers[place.function] != ASSAY_NONE) {
        const as_region *region = region_of(costs->ds, place.function);
        bool is_line = region && region->kind == line && as_ds_context(costs->ds, place.function)->role != AS_ROLE_CALL;
        if (!is_line) break;
        if (!place.line && region->line_begin > 0) place.line = region->line_begin;
        place.function = costs->callers[place.function];
    }
    return place;
}

const char *as_frame_name(const as_dataset *ds, assay_id frame, size_t *size) {
    const as_region *region = region_of(ds, frame);
    as_str name = as_ds_context(ds, frame)->name;
    if (name == AS_NO_STR && region) name = region->name;
    const char *text = as_ds_text(ds, name);
    bool has_one = text && (*text || (size && as_str_size(&ds->strings, name) > 0));
    if (!has_one) text = "<unknown>";
    if (size) *size = has_one ? as_str_size(&ds->strings, name) : strlen(text);
    return text;
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static void lose_digits(const as_costs *c, as_losses *losses) {
    for (size_t k = 0; k < c->types.count; k++) {
        const as_cost_type *type = &AS_AT(as_cost_type, &c->types, k);
        const char *name = as_ds_text(c->ds, as_ds_metric(c->ds, type->metric)->name);
        if (type->is_rounded)
            as_lose(losses, "parts of %s below one of %s (they are rounded)", name ? name : "a metric", type->unit);
        if (type->n_wrong)
            as_lose(losses, "%llu value%s of %s beyond 64 bits, or that %s no number",
                    (unsigned long long)type->n_wrong, type->n_wrong == 1 ? "" : "s", name ? name : "a metric",
                    type->n_wrong == 1 ? "is" : "are");
    }
}

static void lose_frames(const as_costs *c, as_losses *losses) {
    size_t n = AS_COUNT(c->ds, contexts), n_nameless = 0;
    for (assay_id id = 0; id < n; id++) {
        as_str name = as_ds_context(c->ds, id)->name;
        n_nameless += c->frames[id] == id && name != AS_NO_STR && as_str_size(&c->ds->strings, name) == 0;
    }
    if (n_nameless)
        as_lose(losses, "the empty name of %zu call path%s (<unknown> stands there)", n_nameless,
                n_nameless == 1 ? "" : "s");
    bool *has = malloc((n + 1) * sizeof *has);
    losses->failed |= !has;
    for (assay_id id = 0; has && id < n; id++) has[id] = as_costs_any(c, id);
    if (has) as_lose_frames(c->ds, c->frames, c->callers, has, losses);
    free(has);
}

void as_lose_costs(const as_dataset *ds, bool are_of_stacks, as_losses *losses) {
    as_costs costs;
    assay_error error;
    assay_status status = as_costs_open(ds, false, &costs, &error);
    if (status == ASSAY_E_NOMEM) losses->failed = true; /* writing will meet others again */
    if (status == ASSAY_OK) lose_digits(&costs, losses);
    if (status == ASSAY_OK && are_of_stacks) lose_frames(&costs, losses);
    if (costs.n_others)
        as_lose(losses, "%zu metric%s computed from others, or whose values do not add up", costs.n_others,
                costs.n_others == 1 ? "" : "s");
    as_costs_close(&costs);
    size_t n_parameters = as_ds_parameters(ds);
    if (n_parameters) as_lose(losses, "%zu parameter%s", n_parameters, n_parameters == 1 ? "" : "s");
    if (ds->runs.count > 1) as_lose(losses, "%zu run%s beyond one", ds->runs.count - 1, ds->runs.count == 2 ? "" : "s");
    as_lose_placeless(losses, ds);
    as_lose_asides(losses, ds, true);
    size_t n_sections = as_stacks_sections(ds);
    if (n_sections) as_lose(losses, "%zu section%s, which run beside the rest", n_sections, n_sections == 1 ? "" : "s");
}
