/* Metrics, points and attributes of several datasets as one. */
#include "dataset/unify.h"

#include <stdlib.h>

#include "dataset/formulas.h"

bool as_union_init(as_union *u, as_dataset *ds, const as_dataset *const *parts, size_t n) {
    *u = (as_union){.ds = ds, .parts = parts, .n = n, .maps = calloc(n ? n : 1, sizeof *u->maps)};
    as_vec_init(&u->metric_origins, sizeof(uint32_t), &ds->budget);
    as_vec_init(&u->region_origins, sizeof(uint32_t), &ds->budget);
    as_vec_init(&u->context_origins, sizeof(uint32_t), &ds->budget);
    as_vec_init(&u->location_origins, sizeof(uint32_t), &ds->budget);
    return u->maps != NULL;
}

void as_union_free(as_union *u) {
    for (size_t k = 0; u->maps && k < u->n; k++) {
        free(u->maps[k].points);
        free(u->maps[k].metrics);
        free(u->maps[k].regions);
        free(u->maps[k].contexts);
        free(u->maps[k].locations);
    }
    free(u->maps);
    free(u->carried);
    as_vec_free(&u->metric_origins);
    as_vec_free(&u->region_origins);
    as_vec_free(&u->context_origins);
    as_vec_free(&u->location_origins);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static assay_id add_metric(as_union *u, size_t k, const as_metric *from) {
    const as_dataset *part = u->parts[k];
    uint32_t origin = (uint32_t)k;
    bool fine = true;
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_carry(u->ds, part, from->name, &fine);
    metric.display_name = as_ds_carry(u->ds, part, from->display_name, &fine);
    metric.unit = as_ds_carry(u->ds, part, from->unit, &fine);
    metric.description = as_ds_carry(u->ds, part, from->description, &fine);
    metric.dtype = as_ds_carry(u->ds, part, from->dtype, &fine);
    metric.kind = from->kind;
    metric.is_stored = from->is_stored;
    if (from->parent != ASSAY_NONE) metric.parent = u->maps[k].metrics[from->parent];
    return fine && as_vec_append(&u->metric_origins, &origin, 1) ? as_add_metric(u->ds, &metric) : ASSAY_NONE;
}

/* What a metric is known by. */
static uint64_t metric_key(const as_metric *metric, as_str name) {
    return as_pair(metric->is_stored ? 1 + (uint32_t)metric->kind : 0, name);
}

static void set_once(assay_id *to, const assay_id *map, assay_id from) {
    if (*to == ASSAY_NONE && from != ASSAY_NONE) *to = map[from];
}

/* Units, and which metric is another side of which, in the part that says it first. */
static bool unite_details(as_union *u) {
    bool fine = true;
    for (size_t k = 0; k < u->n; k++) {
        const assay_id *map = u->maps[k].metrics;
        for (assay_id i = 0; i < u->parts[k]->metrics.count; i++) {
            const as_metric *from = as_ds_metric(u->parts[k], i);
            as_metric *to = &AS_AT(as_metric, &u->ds->metrics, map[i]);
            set_once(&to->exclusive, map, from->exclusive);
            set_once(&to->part_of, map, from->part_of);
            if (to->unit == AS_NO_STR) to->unit = as_ds_carry(u->ds, u->parts[k], from->unit, &fine);
        }
    }
    return fine;
}

static bool unite_metrics_of(as_union *u, size_t k, as_pairing *known) {
    const as_dataset *part = u->parts[k];
    assay_id *map = u->maps[k].metrics = malloc((part->metrics.count + 1) * sizeof *map);
    as_pairing_begin(known);
    for (assay_id i = 0; map && i < part->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(part, i);
        bool fine = true;
        as_str name = as_ds_carry(u->ds, part, metric->name, &fine);
        uint64_t key = metric_key(metric, name);
        map[i] = as_pairing_take(known, key);
        if (map[i] != AS_MAP_NONE) continue;
        map[i] = add_metric(u, k, metric);
        if (!fine || map[i] == ASSAY_NONE || !as_pairing_add(known, key, map[i])) return false;
    }
    return map != NULL;
}

bool as_unite_metrics(as_union *u) {
    as_pairing known;
    as_pairing_init(&known, &u->ds->budget);
    bool fine = true;
    for (size_t k = 0; k < u->n && fine; k++) fine = unite_metrics_of(u, k, &known);
    as_pairing_free(&known);
    return fine && unite_details(u);
}

bool as_union_drop_metrics(as_union *u, const bool *drop) {
    size_t n = u->ds->metrics.count, kept = 0;
    as_metric *metrics = u->ds->metrics.data;
    uint32_t *origins = u->metric_origins.data;
    assay_id *new_ids = malloc((n + 1) * sizeof *new_ids);
    if (!new_ids) return false;
    for (size_t i = 0; i < n; i++) {
        assay_id parent = metrics[i].parent;
        /* What is above a dropped one was found before: parents come first. */
        if (parent != ASSAY_NONE && drop[parent]) metrics[i].parent = metrics[parent].parent;
        new_ids[i] = drop[i] ? ASSAY_NONE : (assay_id)kept++;
    }
    for (size_t i = 0; i < n; i++) {
        if (drop[i]) continue;
        as_metric metric = metrics[i];
        if (metric.parent != ASSAY_NONE) metric.parent = new_ids[metric.parent];
        if (metric.exclusive != ASSAY_NONE) metric.exclusive = new_ids[metric.exclusive];
        if (metric.part_of != ASSAY_NONE) metric.part_of = new_ids[metric.part_of];
        metrics[new_ids[i]] = metric;
        origins[new_ids[i]] = origins[i];
    }
    u->ds->metrics.count = u->metric_origins.count = kept;
    for (size_t k = 0; k < u->n; k++) {
        for (size_t i = 0; i < u->parts[k]->metrics.count; i++) u->maps[k].metrics[i] = new_ids[u->maps[k].metrics[i]];
    }
    free(new_ids);
    return true;
}

/* A formula that is no CubePL: the same of the new metrics, unless one of those it uses is left out. */
static bool carry_formula(as_union *u, size_t part, const as_derived *derived, assay_id id) {
    const as_formula_operand *operands;
    size_t n = derived->formula ? as_formula_operands(derived->formula, &operands) : 0;
    if (!derived->formula) return true;
    for (size_t i = 0; i < n; i++) {
        if (u->maps[part].metrics[operands[i].metric] == ASSAY_NONE) return true;
    }
    as_formula *formula = as_formula_copy(derived->formula, u->maps[part].metrics);
    return formula && as_add_compiled_formula(u->ds, id, derived->sides, formula, derived->texts[AS_FORMULA_VALUE]);
}

bool as_unite_formulas(as_union *u) {
    bool any = false;
    for (size_t k = 0; k < u->n; k++) {
        for (assay_id m = 0; m < u->parts[k]->metrics.count; m++) {
            assay_id id = u->maps[k].metrics[m];
            const as_derived *derived = as_ds_derived(u->parts[k], m);
            if (!derived || id == ASSAY_NONE || AS_AT(uint32_t, &u->metric_origins, id) != k) continue;
            as_formula_text texts[AS_FORMULA_PARTS] = {0};
            any = true;
            if (derived->is_infix) {
                if (!carry_formula(u, k, derived, id)) return false;
                continue;
            }
            for (size_t i = 0; i < AS_FORMULA_PARTS; i++) {
                if (!derived->texts[i].text) continue;
                texts[i] = derived->texts[i];
                texts[i].text = as_arena_copy(&u->ds->arena, derived->texts[i].text, derived->texts[i].size);
                if (!texts[i].text) return false;
            }
            if (!as_add_formula(u->ds, id, derived->kind, texts)) return false;
        }
    }
    return !any || as_compile_formulas(u->ds, NULL);
}

/* ---- parameters and points --------------------------------------------------------------------------------------- */

/* The parameter of the part that has this name, or SIZE_MAX. */
static size_t find_parameter(const as_dataset *part, const char *name) {
    for (size_t i = 0; i < as_ds_parameters(part); i++) {
        if (strcmp(as_ds_parameter(part, i), name) == 0) return i;
    }
    return SIZE_MAX;
}

bool as_same_parameters(const as_dataset *const *parts, size_t n) {
    for (size_t k = 1; k < n; k++) {
        if (as_ds_parameters(parts[k]) != as_ds_parameters(parts[0])) return false;
        for (size_t i = 0; i < as_ds_parameters(parts[0]); i++) {
            if (find_parameter(parts[k], as_ds_parameter(parts[0], i)) == SIZE_MAX) return false;
        }
    }
    return true;
}

/* A point of a part with its coordinates in the order of the united dataset. */
struct place {
    const double *coordinates;
    size_t n;
    uint32_t part;
    assay_id point;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    for (size_t i = 0; i < x->n; i++) {
        if (x->coordinates[i] != y->coordinates[i]) return x->coordinates[i] < y->coordinates[i] ? -1 : 1;
    }
    return x->part != y->part ? (x->part < y->part ? -1 : 1) : (x->point > y->point) - (x->point < y->point);
}

static bool same_place(const struct place *a, const struct place *b) {
    for (size_t i = 0; i < a->n; i++) {
        if (a->coordinates[i] != b->coordinates[i]) return false;
    }
    return true;
}

/* All points of all parts, coordinates in `room`. */
static void list_places(const as_union *u, struct place *places, double *room) {
    size_t n = as_ds_parameters(u->parts[0]);
    for (size_t k = 0; k < u->n; k++) {
        for (assay_id p = 0; p < u->parts[k]->n_points; p++, places++, room += n) {
            const double *from = as_ds_point(u->parts[k], p);
            for (size_t i = 0; i < n; i++)
                room[i] = from[find_parameter(u->parts[k], as_ds_parameter(u->parts[0], i))] + 0.0; /* -0 is 0 */
            *places = (struct place){.coordinates = room, .n = n, .part = (uint32_t)k, .point = p};
        }
    }
}

static bool number_places(as_union *u, struct place *places, size_t n) {
    qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !same_place(&places[i], &places[i - 1])) {
            if (!as_vec_append(&u->ds->coordinates, places[i].coordinates, places[i].n)) return false;
            u->ds->n_points++;
        }
        u->maps[places[i].part].points[places[i].point] = (assay_id)(u->ds->n_points - 1);
    }
    return true;
}

bool as_unite_points(as_union *u) {
    size_t n = 0, n_parameters = as_ds_parameters(u->parts[0]);
    bool fine = true;
    u->ds->whole_coordinates = true;
    for (size_t k = 0; k < u->n; k++) {
        u->maps[k].points = malloc((u->parts[k]->n_points + 1) * sizeof *u->maps[k].points);
        u->ds->whole_coordinates &= u->parts[k]->whole_coordinates;
        fine = fine && u->maps[k].points;
        n += u->parts[k]->n_points;
    }
    for (size_t i = 0; i < n_parameters && fine; i++) {
        as_str name = as_ds_carry(u->ds, u->parts[0], AS_AT(as_str, &u->parts[0]->parameters, i), &fine);
        fine = as_add_parameter(u->ds, name) != ASSAY_NONE;
    }
    struct place *places = malloc((n + 1) * sizeof *places);
    double *room = malloc((n * n_parameters + 1) * sizeof *room);
    fine = fine && places && room;
    if (fine) list_places(u, places, room);
    fine = fine && number_places(u, places, n);
    free(places);
    free(room);
    return fine;
}

bool as_union_drop_points(as_union *u, const bool *drop) {
    size_t n = u->ds->n_points, n_parameters = as_ds_parameters(u->ds), kept = 0;
    double *coordinates = u->ds->coordinates.data;
    assay_id *new_ids = malloc((n + 1) * sizeof *new_ids);
    if (!new_ids) return false;
    for (size_t p = 0; p < n; p++) {
        new_ids[p] = drop[p] ? ASSAY_NONE : (assay_id)kept;
        if (drop[p]) continue;
        memmove(coordinates + kept * n_parameters, coordinates + p * n_parameters, n_parameters * sizeof *coordinates);
        kept++;
    }
    for (size_t k = 0; k < u->n; k++) {
        for (size_t p = 0; p < u->parts[k]->n_points; p++) u->maps[k].points[p] = new_ids[u->maps[k].points[p]];
    }
    u->ds->n_points = kept;
    u->ds->coordinates.count = kept * n_parameters;
    free(new_ids);
    return true;
}

/* ---- attributes and problems ------------------------------------------------------------------------------------- */

bool as_is_file_number(const char *key) { return strcmp(key, "trace_id") == 0 || strcmp(key, "static_id") == 0; }

/* Where the owner of an attribute of part k has gone; ASSAY_NONE: it is not the part that it comes from, or it is not
 * there. */
static assay_id find_owner(const as_union *u, size_t k, const as_attribute *attribute) {
    const as_id_map *map = &u->maps[k];
    const assay_id *ids = NULL;
    const as_vec *origins = NULL;
    switch (attribute->owner) {
    case AS_OWNER_METRIC: ids = map->metrics, origins = &u->metric_origins; break;
    case AS_OWNER_REGION: ids = map->regions, origins = &u->region_origins; break;
    case AS_OWNER_CONTEXT: ids = map->contexts, origins = &u->context_origins; break;
    case AS_OWNER_LOCATION: ids = map->locations, origins = &u->location_origins; break;
    default: break;
    }
    assay_id id = ids ? ids[attribute->owner_id] : ASSAY_NONE;
    return id != ASSAY_NONE && AS_AT(uint32_t, origins, id) == k ? id : ASSAY_NONE;
}

/* Key, type and value of an attribute as one text: equal where all three are. */
static bool make_text(const as_dataset *part, const as_attribute *attribute, as_vec *out) {
    as_cell value = attribute->value;
    const char *key = as_ds_text(part, attribute->key), type = (char)value.type;
    bool is_text = value.type == AS_CELL_TEXT || value.type == AS_CELL_JSON;
    out->count = 0;
    return as_vec_append(out, key, strlen(key) + 1) && as_vec_append(out, &type, 1) &&
           as_vec_append(out, is_text ? value.text : (const char *)&value.u, is_text ? value.size : sizeof value.u);
}

/* What the parts say about the dataset, as texts: for each one of the first part how many parts in a row have it. */
typedef struct sharing {
    as_strings texts;
    as_vec counts; /* uint32_t */
    as_vec text;   /* scratch */
} sharing;

static bool count_part(sharing *s, const as_dataset *part, uint32_t k) {
    for (size_t i = 0; i < part->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(part, i);
        if (attribute->owner != AS_OWNER_DATASET) continue;
        if (!make_text(part, attribute, &s->text)) return false;
        as_str id = k == 0 ? as_intern(&s->texts, s->text.data, s->text.count)
                           : as_find(&s->texts, s->text.data, s->text.count);
        if (k == 0 && (id == AS_NO_STR || (id == s->counts.count && !as_vec_push(&s->counts)))) return false;
        if (id != AS_NO_STR && AS_AT(uint32_t, &s->counts, id) == k) AS_AT(uint32_t, &s->counts, id)++;
    }
    return true;
}

/* Of the dataset: those of the first part that all others have, too. */
static bool add_shared(as_union *u, sharing *s) {
    const as_dataset *first = u->parts[0];
    for (size_t k = 0; k < u->n; k++) {
        if (!count_part(s, u->parts[k], (uint32_t)k)) return false;
    }
    for (size_t i = 0; i < first->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(first, i);
        if (attribute->owner != AS_OWNER_DATASET) continue;
        if (!make_text(first, attribute, &s->text)) return false;
        as_str id = as_find(&s->texts, s->text.data, s->text.count);
        if (AS_AT(uint32_t, &s->counts, id) == u->n &&
            !as_add_attribute(u->ds, AS_OWNER_DATASET, 0, as_ds_text(first, attribute->key), attribute->value))
            return false;
    }
    return true;
}

static bool unite_shared(as_union *u) {
    as_arena arena;
    sharing s;
    as_arena_init(&arena, &u->ds->budget);
    as_strings_init(&s.texts, &arena);
    as_vec_init(&s.counts, sizeof(uint32_t), &u->ds->budget);
    as_vec_init(&s.text, 1, &u->ds->budget);
    bool fine = u->n == 0 || add_shared(u, &s);
    as_vec_free(&s.text);
    as_vec_free(&s.counts);
    as_strings_free(&s.texts);
    as_arena_free(&arena);
    return fine;
}

static void carry_problems(as_union *u, const as_dataset *part) {
    for (size_t i = 0; i < part->problems.count; i++) {
        const as_problem *problem = as_ds_problem(part, i);
        if (strcmp(problem->rule, "cubepl") == 0) continue; /* found anew */
        as_place place = {problem->file, problem->offset, problem->line, problem->column};
        as_add_problem(u->ds, problem->severity, place, problem->rule, "%s", problem->message);
    }
    u->ds->problems.n_dropped += part->problems.n_dropped;
}

bool as_unite_attributes(as_union *u) {
    if (!unite_shared(u)) return false;
    for (size_t k = 0; k < u->n; k++) {
        const as_dataset *part = u->parts[k];
        for (size_t i = 0; i < part->attributes.count; i++) {
            const as_attribute *attribute = as_ds_attribute(part, i);
            assay_id owner = find_owner(u, k, attribute);
            if (owner == ASSAY_NONE || (u->n > 1 && as_is_file_number(as_ds_text(part, attribute->key)))) continue;
            if (!as_add_attribute(u->ds, attribute->owner, owner, as_ds_text(part, attribute->key), attribute->value))
                return false;
        }
        carry_problems(u, part);
    }
    return true;
}
