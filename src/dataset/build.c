#include "dataset/build.h"

#include <stdio.h>

as_str as_ds_intern(as_dataset *ds, const char *text, size_t size) { return as_intern(&ds->strings, text, size); }
as_str as_ds_intern_text(as_dataset *ds, const char *text) { return as_intern(&ds->strings, text, strlen(text)); }

as_str as_ds_carry(as_dataset *ds, const as_dataset *from, as_str text, bool *fine) {
    if (text == AS_NO_STR) return AS_NO_STR;
    as_str copy = as_ds_intern(ds, as_ds_text(from, text), as_str_size(&from->strings, text));
    if (copy == AS_NO_STR) *fine = false;
    return copy;
}

assay_id as_add_parameter(as_dataset *ds, as_str name) {
    if (name == AS_NO_STR) return ASSAY_NONE;
    for (size_t i = 0; i < ds->parameters.count; i++) {
        if (AS_AT(as_str, &ds->parameters, i) == name) return (assay_id)i;
    }
    return as_vec_append(&ds->parameters, &name, 1) ? (assay_id)(ds->parameters.count - 1) : ASSAY_NONE;
}

/* Appends a copy and returns its id. Ids are 32 bits wide, ASSAY_NONE being none. */
static assay_id append(as_vec *vec, const void *element) {
    if (vec->count >= ASSAY_NONE || !as_vec_append(vec, element, 1)) return ASSAY_NONE;
    return (assay_id)(vec->count - 1);
}

assay_id as_add_metric(as_dataset *ds, const as_metric *metric) { return append(&ds->metrics, metric); }
assay_id as_add_region(as_dataset *ds, const as_region *region) { return append(&ds->regions, region); }
assay_id as_add_location(as_dataset *ds, const as_location *location) { return append(&ds->locations, location); }
assay_id as_add_run(as_dataset *ds, const as_run *run) { return append(&ds->runs, run); }

bool as_add_block(as_dataset *ds, const as_block *block) {
    assay_id index = append(&ds->blocks, block), none = ASSAY_NONE;
    if (index == ASSAY_NONE) return false;
    if (block->run != ASSAY_NONE) return as_map_put(&ds->block_of_run, as_pair(block->metric, block->run), index);
    while (ds->block_of_metric.count <= block->metric) {
        if (!as_vec_append(&ds->block_of_metric, &none, 1)) return false;
    }
    AS_AT(assay_id, &ds->block_of_metric, block->metric) = index;
    return true;
}

bool as_add_profile(as_dataset *ds, const as_profile *profile) {
    as_profile copy = *profile;
    copy.is_loaded = !profile->source;
    assay_id index = append(&ds->profiles, &copy);
    return index != ASSAY_NONE && as_map_put(&ds->profile_of, as_pair(profile->metric, profile->run), index);
}

bool as_ds_hold(as_dataset *ds, void *object, void (*release)(void *object)) {
    as_holding holding = {object, release};
    if (as_vec_append(&ds->holdings, &holding, 1)) return true;
    release(object);
    return false;
}

assay_id as_add_model_set(as_dataset *ds, const as_model_set *set) { return append(&ds->model_sets, set); }

/* Text of a cell moves into the dataset. */
static bool own_cell(as_dataset *ds, as_cell *cell) {
    if (cell->type != AS_CELL_TEXT && cell->type != AS_CELL_JSON) return true;
    cell->text = as_arena_copy(&ds->arena, cell->text, cell->size);
    return cell->text != NULL;
}

bool as_add_summary(as_dataset *ds, const as_summary *summary) {
    as_summary copy = *summary;
    return own_cell(ds, &copy.value) && as_vec_append(&ds->summaries, &copy, 1);
}

bool as_add_event(as_dataset *ds, const as_event *event) {
    as_event copy = *event;
    return own_cell(ds, &copy.start_raw) && own_cell(ds, &copy.end_raw) && append(&ds->events, &copy) != ASSAY_NONE;
}

assay_id as_add_model(as_dataset *ds, const as_model *model, const as_segment *segments, size_t n_segments,
                      const as_term *terms, size_t n_terms) {
    if (ds->segments.count > UINT32_MAX - n_segments || ds->terms.count > UINT32_MAX - n_terms ||
        ds->models.count >= ASSAY_NONE)
        return ASSAY_NONE;
    as_model copy = *model;
    copy.first_segment = (uint32_t)ds->segments.count;
    copy.n_segments = (uint32_t)n_segments - copy.n_pieces;
    copy.first_term = (uint32_t)ds->terms.count;
    copy.n_terms = (uint32_t)n_terms;
    if (!as_vec_append(&ds->segments, segments, n_segments) || !as_vec_append(&ds->terms, terms, n_terms))
        return ASSAY_NONE;
    for (size_t i = 0; i < n_terms; i++)
        AS_AT(as_term, &ds->terms, copy.first_term + i).model = (assay_id)ds->models.count;
    return append(&ds->models, &copy);
}

bool as_add_segment_costs(as_dataset *ds, const as_segment_costs *costs) {
    as_segment_costs copy = *costs;
    copy.model = (assay_id)(ds->models.count - 1);
    return as_vec_append(&ds->segment_costs, &copy, 1);
}

bool as_add_attribute(as_dataset *ds, as_owner owner, assay_id owner_id, const char *key, as_cell value) {
    as_attribute attribute = {.owner = owner, .owner_id = owner_id, .key = as_ds_intern_text(ds, key), .value = value};
    return attribute.key != AS_NO_STR && own_cell(ds, &attribute.value) &&
           as_vec_append(&ds->attributes, &attribute, 1);
}

/* Takes the table, which has no columns yet. */
static as_table *add_records(as_dataset *ds, const char *name, as_table *table, struct as_records *records,
                             as_record_meaning meaning) {
    as_record_table entry = {
        .name = as_ds_intern_text(ds, name), .table = table, .records = records, .meaning = meaning};
    if (table && entry.name != AS_NO_STR && as_table_add_column(table, "id") != SIZE_MAX &&
        as_table_add_column(table, "run") != SIZE_MAX && as_vec_append(&ds->records, &entry, 1))
        return table;
    as_table_free(table);
    return NULL;
}

as_table *as_add_record_table(as_dataset *ds, const char *name) {
    as_table *known = as_ds_records(ds, name);
    if (known) return known;
    return add_records(ds, name, as_table_new(NULL, 0, &ds->budget), NULL, AS_RECORDS_OWN);
}

as_table *as_add_record_view(as_dataset *ds, const char *name, const as_table_source *source,
                             struct as_records *records) {
    as_record_meaning meaning = records ? AS_RECORDS_OWN : AS_RECORDS_DERIVED;
    return add_records(ds, name, as_table_new_view(source, &ds->budget), records, meaning);
}

as_table *as_add_derived_view(as_dataset *ds, const char *name, const as_table_source *source,
                              as_record_meaning meaning) {
    return add_records(ds, name, as_table_new_view(source, &ds->budget), NULL, meaning);
}

void as_add_vproblem(as_dataset *ds, as_severity severity, as_place place, const char *rule, const char *format,
                     va_list args) {
    char message[sizeof(((assay_error *)0)->message)];
    vsnprintf(message, sizeof message, format, args);
    as_one_line(message);
    as_problem problem = {.severity = severity,
                          .rule = rule,
                          .file = place.path,
                          .message = message,
                          .offset = place.offset,
                          .line = place.line,
                          .column = place.column};
    as_problems_add(&ds->problems, &problem);
}

void as_add_problem(as_dataset *ds, as_severity severity, as_place place, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    as_add_vproblem(ds, severity, place, rule, format, args);
    va_end(args);
}
