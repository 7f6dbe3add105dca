#include "dataset/merge.h"

#include <stdlib.h>

#include "dataset/experiment.h"
#include "dataset/metric_names.h"

bool as_can_merge(as_dataset *const *parts, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (!parts[k]->parameters.count || parts[k]->parameters.count != parts[0]->parameters.count) return false;
        for (size_t i = 0; i < parts[0]->parameters.count; i++) {
            const char *name = as_ds_text(parts[0], AS_AT(as_str, &parts[0]->parameters, i));
            size_t j = 0;
            while (j < parts[k]->parameters.count &&
                   strcmp(as_ds_text(parts[k], AS_AT(as_str, &parts[k]->parameters, j)), name) != 0)
                j++;
            if (j == parts[k]->parameters.count) return false;
        }
    }
    return n > 0;
}

/* Where the ids of a part go. Contexts are tree ids until the experiment is finished. */
typedef struct id_maps {
    assay_id *points, *metrics, *contexts;
    as_vec record_runs; /* run_place, for each row of each table of records */
} id_maps;

/* A run before runs have numbers. point ASSAY_NONE: none. */
typedef struct run_place {
    assay_id point;
    uint32_t repetition;
} run_place;

typedef struct merger {
    as_dataset *ds;
    as_experiment *experiment;
    id_maps *maps;     /* one for each part */
    as_map attributes; /* hash of owner and key -> index */
    as_map counts;     /* hash of table and name -> row */
    as_map sections;   /* name -> region */
    bool leaves_records;
    assay_status refusal; /* why they are not one; ASSAY_OK: they are */
    assay_error *error;
} merger;

static assay_id *map_points(merger *m, const as_dataset *part) {
    size_t n = m->ds->parameters.count;
    assay_id *map = malloc((part->n_points + 1) * sizeof *map);
    double *coordinates = malloc(n * sizeof *coordinates);
    if (!map || !coordinates) goto fail;
    for (assay_id p = 0; p < part->n_points; p++) {
        const double *from = as_ds_point(part, p);
        for (size_t i = 0; i < n; i++) { /* parameters may stand in another order */
            as_str name = AS_AT(as_str, &part->parameters, i);
            assay_id parameter =
                as_add_parameter(m->ds, as_ds_intern(m->ds, as_ds_text(part, name), as_str_size(&part->strings, name)));
            if (parameter == ASSAY_NONE) goto fail;
            coordinates[parameter] = from[i];
        }
        map[p] = as_experiment_point(m->experiment, coordinates);
        if (map[p] == ASSAY_NONE) goto fail;
    }
    free(coordinates);
    return map;
fail:
    free(coordinates);
    free(map);
    return NULL;
}

/* Whether a metric that parts before have, too, is in the same unit here. */
static bool has_same_unit(merger *m, const as_dataset *part, assay_id own, assay_id known) {
    double factor;
    assay_error ignored;
    const as_dataset *const sides[2] = {m->ds, part};
    assay_status status = as_metric_factor(sides, (const assay_id[2]){known, own}, &factor, &ignored);
    if (status == ASSAY_OK && factor == 1) return true;
    const as_metric *metric = as_ds_metric(part, own);
    m->refusal = as_fail(m->error, ASSAY_E_UNSUPPORTED, as_place_file(as_ds_text(part, part->path)), "units-differ",
                         "the unit of '%s' is '%s' here, but '%s' in an input before: they are not one experiment",
                         as_ds_text(part, metric->name), as_ds_text(part, metric->unit),
                         as_ds_text(m->ds, as_ds_metric(m->ds, known)->unit));
    return false;
}

static assay_id *map_metrics(merger *m, const as_dataset *part) {
    assay_id *map = malloc((part->metrics.count + 1) * sizeof *map);
    size_t n_known = m->ds->metrics.count;
    bool fine = map != NULL;
    for (assay_id i = 0; i < part->metrics.count && fine; i++) {
        const as_metric *from = as_ds_metric(part, i);
        size_t before = m->ds->metrics.count;
        map[i] =
            as_experiment_metric(m->experiment, as_ds_text(part, from->name), as_str_size(&part->strings, from->name));
        fine = map[i] != ASSAY_NONE && (map[i] >= n_known || has_same_unit(m, part, i, map[i]));
        if (!fine) break;
        as_metric *to = &AS_AT(as_metric, &m->ds->metrics, map[i]);
        bool is_new = map[i] >= before, has_unit = to->unit != AS_NO_STR && as_str_size(&m->ds->strings, to->unit);
        if (!is_new && !has_unit) to->unit = as_ds_carry(m->ds, part, from->unit, &fine);
        if (!is_new) continue;
        to->display_name = as_ds_carry(m->ds, part, from->display_name, &fine);
        to->unit = as_ds_carry(m->ds, part, from->unit, &fine);
        to->description = as_ds_carry(m->ds, part, from->description, &fine);
        to->kind = as_measured_kind(part, i);
        to->parent = from->parent == ASSAY_NONE ? ASSAY_NONE : map[from->parent]; /* parents come before children */
    }
    if (fine) return map;
    free(map);
    return NULL;
}

/* The region of a section, which is no other region of its name; ASSAY_NONE when memory is out. */
static assay_id section_region(merger *m, as_str name) {
    if (name == AS_NO_STR) return ASSAY_NONE;
    uint32_t known = as_map_get(&m->sections, name);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = name;
    region.kind = as_ds_intern_text(m->ds, "section");
    assay_id id = region.kind == AS_NO_STR ? ASSAY_NONE : as_add_region(m->ds, &region);
    return id != ASSAY_NONE && as_map_put(&m->sections, name, id) ? id : ASSAY_NONE;
}

static assay_id *map_contexts(merger *m, const as_dataset *part) {
    as_tree *tree = as_experiment_tree(m->experiment);
    assay_id *map = malloc((part->contexts.count + 1) * sizeof *map);
    bool fine = map != NULL;
    for (assay_id i = 0; i < part->contexts.count && fine; i++) {
        const as_context *from = as_ds_context(part, i);
        as_str name = as_ds_carry(m->ds, part, from->name, &fine);
        assay_id region = as_context_is_section(part, i) ? section_region(m, name) : as_tree_region(tree, name);
        fine = fine && region != ASSAY_NONE;
        if (!fine) break;
        map[i] = as_tree_child(tree, from->parent == ASSAY_NONE ? ASSAY_NONE : map[from->parent], region);
        fine = map[i] != ASSAY_NONE;
        if (!fine) break;
        as_context *to = &AS_AT(as_context, &tree->nodes, map[i]);
        if (to->line < 0) to->line = from->line;
        to->is_aside |= from->is_aside;
        if (from->region == ASSAY_NONE) continue;
        as_region *place = &AS_AT(as_region, &m->ds->regions, region);
        const as_region *source = as_ds_region(part, from->region);
        const char *kind = as_ds_text(part, source->kind);
        if (place->kind == AS_NO_STR && kind && strcmp(kind, "section") != 0)
            place->kind = as_ds_carry(m->ds, part, source->kind, &fine);
        if (place->file == AS_NO_STR)
            place->file = as_ds_carry(m->ds, part, source->file, &fine), place->line_begin = source->line_begin,
            place->line_end = source->line_end;
    }
    assay_id *callpaths = NULL;
    size_t n = 0;
    fine = fine && as_ds_callpaths(part, &callpaths, &n);
    for (size_t i = 0; i < n; i++) as_tree_mark_callpath(tree, map[callpaths[i]]);
    free(callpaths);
    if (fine) return map;
    free(map);
    return NULL;
}

/* What a profile has for a series, as a repetition with a list of values. Integers stay integers as long as doubles
 * hold them. */
static bool add_pooled(merger *m, const as_dataset *part, as_cell_key key, const as_profile *profile, uint32_t index) {
    static const double exact = 9007199254740992.0; /* 2^53 */
    as_vec pool;
    as_vec_init(&pool, sizeof(double), NULL);
    bool fine = as_pool_row(part, profile, index, &pool);
    bool is_integer = as_dtype_is_integer(profile->type.dtype), is_list = profile->columns && pool.count > 1;
    for (size_t i = 0; fine && i < pool.count; i++) {
        double real = AS_AT(double, &pool, i);
        as_number value = {.kind = AS_REAL, .r = real};
        if (is_integer && fabs(real) <= exact) value = (as_number){.kind = AS_INT, .i = (int64_t)real};
        fine = is_list ? as_experiment_value_at(m->experiment, key, (uint32_t)i, value)
                       : as_experiment_value(m->experiment, key, value);
    }
    as_vec_free(&pool);
    return fine;
}

static bool add_profiles(merger *m, const as_dataset *part, const id_maps *maps, const as_series *series) {
    as_cell_key key = {.metric = maps->metrics[series->metric], .context = maps->contexts[series->context]};
    for (assay_id run = 0; run < part->runs.count; run++) {
        const as_profile *profile = as_ds_profile(part, series->metric, run);
        assay_id point = as_ds_run(part, run)->point;
        uint32_t index = profile && profile->is_loaded ? as_profile_find(profile, series->context) : UINT32_MAX;
        if (index == UINT32_MAX || point == ASSAY_NONE) continue;
        key.point = maps->points[point];
        if (!add_pooled(m, part, key, profile, index)) return false;
    }
    return true;
}

static bool add_series(merger *m, const as_dataset *part, const id_maps *maps, const as_series *series) {
    as_cell_key key = {.metric = maps->metrics[series->metric], .context = maps->contexts[series->context]};
    const as_block *block = as_ds_metric_block(part, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    if (as_experiment_series(m->experiment, key.metric, key.context) == UINT32_MAX) return false;
    if (!block && part->profiles.count) return add_profiles(m, part, maps, series);
    if (index != UINT32_MAX) {
        for (uint64_t row = block->starts[index]; row < block->starts[index + 1]; row++) {
            key.point = maps->points[as_ds_run(part, as_block_run(block, row))->point];
            assay_id location = as_block_location(block, row);
            bool fine = location == ASSAY_NONE
                            ? as_experiment_value(m->experiment, key, as_block_value(block, row))
                            : as_experiment_value_at(m->experiment, key, location, as_block_value(block, row));
            if (!fine) return false;
        }
        return true;
    }
    if (part->measurement_source) return true; /* what they are made of follows, all series at once */
    for (uint32_t i = 0; i < series->n_measurements; i++) {
        const as_measurement *statistics = as_ds_measurement(part, series->first_measurement + i);
        key.point = maps->points[statistics->point];
        if (!as_experiment_statistics(m->experiment, key, statistics)) return false;
    }
    return true;
}

/* Takes a value that a part's measurements are made of. */
typedef struct measured {
    merger *m;
    const as_dataset *part;
    const id_maps *maps;
} measured;

static bool add_measured(void *user, size_t series, assay_id point, double value) {
    const measured *to = user;
    const as_series *of = as_ds_series(to->part, series);
    as_cell_key key = {.metric = to->maps->metrics[of->metric],
                       .context = to->maps->contexts[of->context],
                       .point = to->maps->points[point]};
    bool is_whole = fabs(value) < 0x1p53 && value == (double)(int64_t)value;
    as_number number =
        is_whole ? (as_number){.kind = AS_INT, .i = (int64_t)value} : (as_number){.kind = AS_REAL, .r = value};
    return as_experiment_value(to->m->experiment, key, number);
}

static bool add_all_measured(merger *m, const as_dataset *part, const id_maps *maps) {
    as_measurement_source *source = part->measurement_source;
    measured to = {m, part, maps};
    return !source || source->values(source, add_measured, &to);
}

/* The number in a column of ids, or ASSAY_NONE. */
static assay_id id_in(const as_table *table, size_t row, const char *column) {
    size_t at = as_table_find_column(table, column);
    as_cell cell = at == SIZE_MAX ? as_cell_null() : as_table_get(table, row, at);
    return cell.type == AS_CELL_INT ? (assay_id)cell.i : ASSAY_NONE;
}

/* The repetitions of a part follow those that were there before it: finds out, before its values come, which run each
 * of its records will have. */
static bool place_records(merger *m, const as_dataset *part, id_maps *maps) {
    for (size_t t = 0; t < part->records.count && !m->leaves_records; t++) {
        const as_table *table = AS_AT(as_record_table, &part->records, t).table;
        for (size_t row = 0; row < as_table_rows(table); row++) {
            assay_id run = id_in(table, row, "run"), metric = id_in(table, row, "metric"),
                     context = id_in(table, row, "context");
            run_place place = {.point = ASSAY_NONE};
            if (run < part->runs.count && metric < part->metrics.count && context < part->contexts.count &&
                as_ds_run(part, run)->point != ASSAY_NONE) {
                place.point = maps->points[as_ds_run(part, run)->point];
                uint32_t before = as_experiment_repetition(
                    m->experiment, (as_cell_key){maps->metrics[metric], maps->contexts[context], place.point});
                if (before == UINT32_MAX) return false;
                place.repetition = before + as_ds_run(part, run)->repetition;
            }
            if (!as_vec_append(&maps->record_runs, &place, 1)) return false;
        }
    }
    return true;
}

/* A table of a part's records on its way into the merged dataset. */
typedef struct carried {
    const as_dataset *part;
    const id_maps *maps;
    const assay_id *new_ids;
    const as_table *from;
    as_table *to;
    as_str name; /* in the merged dataset */
    as_record_meaning meaning;
    size_t first_record; /* the merged id of the part's first row of "record" */
} carried;

/* A cell of a record in the merged dataset: ids are those of the part. Where runs are at no point, records have no ids,
 * only keys of the source that may be called so. */
static as_cell carry_cell(const carried *table, const char *column, as_cell cell) {
    const as_dataset *part = table->part;
    if (cell.type != AS_CELL_INT || cell.i < 0) return cell;
    if (table->meaning == AS_RECORDS_PARTS && strcmp(column, "record") == 0)
        return as_cell_int(cell.i + (int64_t)table->first_record);
    bool has_ids = !part->runs.count || as_ds_run(part, 0)->point != ASSAY_NONE;
    size_t id = has_ids ? (size_t)cell.i : SIZE_MAX;
    if (strcmp(column, "metric") == 0 && id < part->metrics.count) return as_cell_int(table->maps->metrics[id]);
    if (strcmp(column, "context") == 0 && id < part->contexts.count)
        return as_cell_int(table->new_ids[table->maps->contexts[id]]);
    if (strcmp(column, "point") == 0 && id < part->n_points) return as_cell_int(table->maps->points[id]);
    return cell;
}

static bool add_record(as_dataset *ds, const carried *table, size_t row, run_place place) {
    as_table *to = table->to;
    size_t target = as_table_rows(to);
    assay_id run = place.point == ASSAY_NONE ? ASSAY_NONE : as_run_of(ds, place.point, place.repetition);
    if (!as_table_add_row(to) || !as_table_set(to, target, 0, as_cell_int((int64_t)target))) return false;
    if (run != ASSAY_NONE && !as_table_set(to, target, 1, as_cell_int(run))) return false;
    for (size_t column = 2; column < as_table_columns(table->from); column++) {
        const char *name = as_table_column_name(table->from, column);
        size_t at = as_table_find_column(to, name);
        if (at == SIZE_MAX) at = as_table_add_column(to, name);
        if (at == SIZE_MAX ||
            !as_table_set(to, target, at, carry_cell(table, name, as_table_get(table->from, row, column))))
            return false;
    }
    return true;
}

static bool same_cell(as_cell a, as_cell b) {
    if (a.type != b.type) return false;
    bool is_text = a.type == AS_CELL_TEXT || a.type == AS_CELL_JSON;
    return is_text ? a.size == b.size && memcmp(a.text, b.text, a.size) == 0 : a.u == b.u;
}

/* What an earlier part counted, and what this one did. All parts have the same columns: counts are of one kind of
 * source. */
static bool add_counts(const carried *table, size_t row, size_t known) {
    for (size_t column = 2; column < as_table_columns(table->from); column++) {
        const char *name = as_table_column_name(table->from, column);
        size_t at = as_table_find_column(table->to, name);
        if (at == SIZE_MAX) continue;
        as_cell here = as_table_get(table->from, row, column), sum = as_table_get(table->to, known, at);
        if (sum.type == AS_CELL_NULL)
            sum = here;
        else if (sum.type == AS_CELL_INT && here.type == AS_CELL_INT)
            sum.i += here.i; /* numbers of rows in memory */
        else if (here.type == AS_CELL_TEXT && !same_cell(here, sum))
            sum = as_cell_text("both");
        if (!as_table_set(table->to, known, at, sum)) return false;
    }
    return true;
}

/* A row of counts: one for each name. */
static bool add_count(merger *m, const carried *table, size_t row, run_place place) {
    size_t column = as_table_find_column(table->from, "name");
    as_cell name = column == SIZE_MAX ? as_cell_null() : as_table_get(table->from, row, column);
    struct {
        as_str table, name;
    } key = {table->name, name.type == AS_CELL_TEXT ? as_ds_intern(m->ds, name.text, name.size) : AS_NO_STR};
    if (key.name == AS_NO_STR) return name.type != AS_CELL_TEXT && add_record(m->ds, table, row, place);
    uint64_t hash = as_hash(&key, sizeof key);
    uint32_t known = as_map_get(&m->counts, hash);
    if (known != AS_MAP_NONE) return add_counts(table, row, known);
    return as_map_put(&m->counts, hash, (uint32_t)as_table_rows(table->to)) && add_record(m->ds, table, row, place);
}

static bool add_records(merger *m, const as_dataset *part, const id_maps *maps, const assay_id *new_ids) {
    const as_table *merged = as_ds_records(m->ds, "record");
    size_t place = 0, first_record = merged ? as_table_rows(merged) : 0;
    for (size_t t = 0; t < part->records.count && !m->leaves_records; t++) {
        const as_record_table *records = &AS_AT(as_record_table, &part->records, t);
        as_table *to = as_add_record_table(m->ds, as_ds_text(part, records->name));
        if (!to) return false;
        as_record_table *copy = &AS_AT(as_record_table, &m->ds->records, m->ds->records.count - 1);
        if (copy->table == to) copy->meaning = records->meaning;
        carried table = {.part = part,
                         .maps = maps,
                         .new_ids = new_ids,
                         .from = records->table,
                         .to = to,
                         .name = as_ds_intern_text(m->ds, as_ds_text(part, records->name)),
                         .meaning = records->meaning,
                         .first_record = first_record};
        for (size_t row = 0; row < as_table_rows(records->table); row++) {
            run_place at = AS_AT(run_place, &maps->record_runs, place++);
            if (table.meaning == AS_RECORDS_COUNTS ? !add_count(m, &table, row, at)
                                                   : !add_record(m->ds, &table, row, at))
                return false;
        }
    }
    return true;
}

/* Two texts become two paragraphs of one: comments, titles. */
static bool join_texts(merger *m, as_attribute *known, as_cell further) {
    size_t size = (size_t)known->value.size + 1 + further.size;
    char *joined = size < UINT32_MAX ? as_arena_alloc(&m->ds->arena, size + 1) : NULL;
    if (!joined) return false;
    memcpy(joined, known->value.text, known->value.size);
    joined[known->value.size] = '\n';
    memcpy(joined + known->value.size + 1, further.text, further.size);
    known->value = as_cell_text_n(joined, size);
    return true;
}

/* An attribute that an earlier part has too: once, where they agree. */
static bool add_attribute(merger *m, const as_dataset *part, const as_attribute *attribute, assay_id owner) {
    const char *key = as_ds_text(part, attribute->key);
    struct {
        uint32_t owner, owner_id, key;
    } name = {attribute->owner, owner, as_ds_intern_text(m->ds, key)};
    uint64_t hash = as_hash(&name, sizeof name);
    uint32_t index = as_map_get(&m->attributes, hash);
    if (index == AS_MAP_NONE) {
        return as_map_put(&m->attributes, hash, (uint32_t)m->ds->attributes.count) &&
               as_add_attribute(m->ds, attribute->owner, owner, key, attribute->value);
    }
    as_attribute *known = &AS_AT(as_attribute, &m->ds->attributes, index);
    if (same_cell(known->value, attribute->value)) return true;
    if (known->value.type == AS_CELL_TEXT && attribute->value.type == AS_CELL_TEXT)
        return join_texts(m, known, attribute->value);
    as_add_problem(m->ds, AS_WARNING, as_place_file(as_ds_text(part, part->path)), "attribute-differs",
                   "its attribute '%s' differs from that of an earlier input and is left out", key);
    return true;
}

static bool add_attributes(merger *m, const as_dataset *part, const id_maps *maps, const assay_id *new_ids) {
    for (size_t i = 0; i < part->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(part, i);
        assay_id owner = attribute->owner_id;
        if (attribute->owner == AS_OWNER_METRIC)
            owner = maps->metrics[owner];
        else if (attribute->owner == AS_OWNER_CONTEXT)
            owner = new_ids[maps->contexts[owner]];
        else if (attribute->owner != AS_OWNER_DATASET)
            continue;
        if (!add_attribute(m, part, attribute, owner)) return false;
    }
    for (size_t i = 0; i < part->problems.count; i++) {
        const as_problem *problem = as_ds_problem(part, i);
        as_place place = {problem->file, problem->offset, problem->line, problem->column};
        if (strcmp(problem->rule, "missing-points") == 0) continue; /* found anew for the whole */
        as_add_problem(m->ds, problem->severity, place, problem->rule, "%s", problem->message);
    }
    if (part->models.count) {
        as_add_problem(m->ds, AS_NOTE, as_place_file(as_ds_text(part, part->path)), "models-left-out",
                       "its %zu models do not describe the merged data and are left out", part->models.count);
    }
    size_t n_elsewhere = part->measurement_source ? part->measurement_source->n_elsewhere : 0;
    m->ds->n_left_out += n_elsewhere;
    if (n_elsewhere) {
        as_add_problem(m->ds, AS_WARNING, as_place_file(as_ds_text(part, part->path)), "values-left-out",
                       "%zu value%s at no point of the experiment; left out", n_elsewhere,
                       n_elsewhere == 1 ? " is" : "s are");
    }
    return true;
}

static bool merge_parts(merger *m, as_dataset *const *parts, size_t n) {
    bool fine = true;
    for (size_t i = 0; i < parts[0]->parameters.count; i++) {
        if (as_add_parameter(m->ds, as_ds_carry(m->ds, parts[0], AS_AT(as_str, &parts[0]->parameters, i), &fine)) ==
            ASSAY_NONE)
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        id_maps *maps = &m->maps[k];
        m->ds->whole_coordinates = parts[k]->whole_coordinates && (!k || m->ds->whole_coordinates);
        maps->points = map_points(m, parts[k]);
        maps->metrics = map_metrics(m, parts[k]);
        maps->contexts = map_contexts(m, parts[k]);
        if (!maps->points || !maps->metrics || !maps->contexts || !place_records(m, parts[k], maps)) return false;
        for (size_t i = 0; i < parts[k]->series.count; i++) {
            if (!add_series(m, parts[k], maps, as_ds_series(parts[k], i))) return false;
        }
        if (!add_all_measured(m, parts[k], maps)) return false;
        m->ds->input_size += parts[k]->input_size;
    }
    const assay_id *new_ids;
    if (!as_experiment_finish(m->experiment, AS_NOWHERE, &new_ids)) return false;
    for (size_t k = 0; k < n; k++) {
        if (!add_records(m, parts[k], &m->maps[k], new_ids) || !add_attributes(m, parts[k], &m->maps[k], new_ids))
            return false;
    }
    return true;
}

static assay_status merge(as_dataset *const *parts, size_t n, bool leaves_records, as_dataset **out,
                          assay_error *error) {
    if (!as_can_merge(parts, n)) {
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "not-one-experiment",
                       "the inputs do not measure the same parameters and so are not one experiment");
    }
    for (size_t k = 0; k < n; k++) AS_TRY(as_ds_load(parts[k], ASSAY_NONE, error));
    merger m = {.ds = as_dataset_new(parts[0]->budget.limit),
                .maps = calloc(n, sizeof *m.maps),
                .leaves_records = leaves_records,
                .error = error};
    if (m.ds) {
        m.ds->share = parts[0]->share;
        m.experiment = as_experiment_new(m.ds);
    }
    as_map_init(&m.attributes, NULL);
    as_map_init(&m.counts, NULL);
    as_map_init(&m.sections, NULL);
    for (size_t k = 0; m.maps && k < n; k++) as_vec_init(&m.maps[k].record_runs, sizeof(run_place), NULL);
    bool fine = m.experiment && m.maps && merge_parts(&m, parts, n);
    for (size_t k = 0; m.maps && k < n; k++) {
        free(m.maps[k].points);
        free(m.maps[k].metrics);
        free(m.maps[k].contexts);
        as_vec_free(&m.maps[k].record_runs);
    }
    free(m.maps);
    as_map_free(&m.attributes);
    as_map_free(&m.counts);
    as_map_free(&m.sections);
    as_experiment_free(m.experiment);
    if (!fine) {
        as_dataset_free(m.ds);
        return m.refusal != ASSAY_OK ? m.refusal : as_fail_memory(error, NULL);
    }
    m.ds->format = parts[0]->format;
    *out = m.ds;
    return ASSAY_OK;
}

assay_status as_merge(as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error) {
    return merge(parts, n, false, out, error);
}

assay_status as_merge_values(const as_dataset *part, as_dataset **out, assay_error *error) {
    as_dataset *parts = (as_dataset *)(uintptr_t)part; /* which is only read */
    return merge(&parts, 1, true, out, error);
}
