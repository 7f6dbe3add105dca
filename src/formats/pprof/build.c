/* Samples become contexts and values. A context is a function below its callers, as pprof shows profiles unless it is
 * told otherwise; or, line by line, a function called from one line of its caller, with the lines that were sampled in
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/pprof/pprof.h"
#include "formats/stack_sums.h"

enum { MOST_LABELS = 64, PROGRESS_BYTES = 1 << 18, FIRST_COLUMN = 3 /* of values: behind id, run and context */ };

/* What a context is beyond its region. */
typedef struct call {
    int64_t line; /* it comes from; -1: none in particular */
    uint8_t role; /* as_context_role */
    bool is_inlined;
} call;

typedef struct building {
    as_pprof_tables *t;
    as_dataset *ds;
    as_pprof_places *where;
    bool by_line;
    as_stack_sums sums;
    as_vec calls;        /* call: of each context of the tree */
    as_map regions;      /* function, text of the module -> region */
    as_map places;       /* location without lines -> region */
    as_map lines;        /* text of the file, line -> region */
    as_map steps;        /* region, line of the call -> number */
    as_vec step_regions; /* assay_id: of these numbers */
    assay_id no_stack;   /* region of samples without a path; ASSAY_NONE: not met yet */
    as_str function_kind, line_kind, address_kind;
    as_vec path;     /* uint32_t: index of the locations of a sample, the innermost first */
    as_vec values;   /* int64_t: of a sample */
    as_table *table; /* of samples, where there are labels */
    as_vec labels;   /* as_str: keys with a column of their own */
    as_vec labelled; /* assay_id: for each row the context of the tree */
    bool has_told_labels;
} building;

static bool ended_well(const as_protobuf *m) { return !m->error; }

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static as_str module_of(const building *b, const as_pprof_location *location) {
    return location->mapping == UINT32_MAX ? AS_NO_STR
                                           : AS_AT(as_pprof_mapping, &b->t->mappings, location->mapping).file;
}

static assay_id keep_region(building *b, as_map *map, uint64_t key, const as_region *region) {
    assay_id id = as_add_region(b->ds, region);
    return id != ASSAY_NONE && as_map_put(map, key, id) ? id : ASSAY_NONE;
}

/* A location that nobody knows a function of is named by its address. */
static assay_id region_of_address(building *b, uint32_t index) {
    const as_pprof_location *location = &AS_AT(as_pprof_location, &b->t->locations, index);
    uint32_t known = as_map_get(&b->places, index);
    if (known != AS_MAP_NONE) return known;
    char digits[AS_NUMBER_SIZE];
    as_region region = AS_REGION_INIT;
    region.name = as_ds_intern(b->ds, digits, as_hex_format(location->address, digits));
    region.kind = b->address_kind;
    region.module = module_of(b, location);
    return region.name == AS_NO_STR ? ASSAY_NONE : keep_region(b, &b->places, index, &region);
}

static assay_id find_region(building *b, uint32_t index, const as_pprof_line *line) {
    as_str module = module_of(b, &AS_AT(as_pprof_location, &b->t->locations, index));
    if (line->function == UINT32_MAX) return region_of_address(b, index);
    const as_pprof_function *function = &AS_AT(as_pprof_function, &b->t->functions, line->function);
    uint64_t key = as_pair(line->function, module);
    uint32_t known = as_map_get(&b->regions, key);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = function->name != AS_NO_STR ? function->name : function->system_name;
    if (region.name == AS_NO_STR) return region_of_address(b, index);
    if (function->system_name != region.name) region.mangled = function->system_name;
    region.kind = b->function_kind;
    region.file = function->file;
    region.module = module;
    if (function->start_line > 0) region.line_begin = function->start_line;
    return keep_region(b, &b->regions, key, &region);
}

static assay_id region_of_line(building *b, uint32_t index, as_pprof_line *line) {
    if (line->region == ASSAY_NONE) line->region = find_region(b, index, line);
    return line->region;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* Lines beyond 32 bits tell nothing apart. */
static uint32_t line_key(int64_t line) { return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0; }

/* What tells a call from others of the same parent: its region, and line by line where it comes from. */
static uint32_t step_of(building *b, assay_id region, int64_t line) {
    if (!b->by_line) return region;
    uint64_t key = as_pair(region, line_key(line));
    uint32_t step = as_map_get(&b->steps, key);
    if (step != AS_MAP_NONE) return step;
    step = (uint32_t)b->steps.count;
    return as_map_put(&b->steps, key, step) && as_vec_append(&b->step_regions, &region, 1) ? step : UINT32_MAX;
}

/* The context of a region below a parent, called from a line; made if new. ASSAY_NONE when memory is out. */
static assay_id enter(building *b, assay_id parent, assay_id region, int64_t line, as_context_role role,
                      bool is_inlined) {
    uint32_t step = step_of(b, region, line);
    if (step == UINT32_MAX) return ASSAY_NONE;
    assay_id id = as_stack_tree_child(&b->sums.tree, parent, step);
    call new = {line > 0 ? line : -1, (uint8_t)role, is_inlined};
    if (id < b->calls.count) { /* called from several lines: from none in particular */
        call *known = &AS_AT(call, &b->calls, id);
        if (known->line != new.line) known->line = -1;
        return id;
    }
    return id != ASSAY_NONE && as_vec_append(&b->calls, &new, 1) ? id : ASSAY_NONE;
}

/* The line of a function that was sampled, below the context of the function. */
static assay_id enter_line(building *b, assay_id parent, const as_pprof_line *line) {
    as_str file =
        line->function == UINT32_MAX ? AS_NO_STR : AS_AT(as_pprof_function, &b->t->functions, line->function).file;
    uint32_t key = line_key(line->line), region = key ? as_map_get(&b->lines, as_pair(file, key)) : 0;
    if (!key) return parent;
    if (region == AS_MAP_NONE) {
        as_region new = AS_REGION_INIT;
        const char *text = as_ds_text(b->ds, file);
        char *name = NULL;
        int size = asprintf(&name, "line %s:%lld", text ? text : "?", (long long)line->line);
        if (size < 0) return ASSAY_NONE;
        new.name = as_ds_intern(b->ds, name, (size_t)size);
        free(name);
        new.kind = b->line_kind;
        new.file = file;
        new.line_begin = new.line_end = line->line;
        region = new.name == AS_NO_STR ? ASSAY_NONE : keep_region(b, &b->lines, as_pair(file, key), &new);
        if (region == ASSAY_NONE) return ASSAY_NONE;
    }
    return enter(b, parent, region, line->line, AS_ROLE_INNER, false);
}

static assay_id enter_no_stack(building *b) {
    if (b->no_stack == ASSAY_NONE) {
        as_region region = AS_REGION_INIT;
        region.name = as_ds_intern_text(b->ds, "<no stack>");
        if (region.name != AS_NO_STR) b->no_stack = as_add_region(b->ds, &region);
    }
    return b->no_stack == ASSAY_NONE ? ASSAY_NONE : enter(b, ASSAY_NONE, b->no_stack, 0, AS_ROLE_CALL, false);
}

/* The context that the sample's path leads to; ASSAY_NONE when memory is out. */
static assay_id follow(building *b) {
    assay_id at = ASSAY_NONE;
    int64_t call_line = 0;
    as_pprof_line last = {.function = UINT32_MAX};
    if (!b->path.count) return enter_no_stack(b);
    for (size_t i = b->path.count; i-- > 0;) {
        uint32_t index = AS_AT(uint32_t, &b->path, i);
        const as_pprof_location *location = &AS_AT(as_pprof_location, &b->t->locations, index);
        last = (as_pprof_line){.function = UINT32_MAX};
        if (!location->n_lines) {
            assay_id region = region_of_address(b, index);
            at = region == ASSAY_NONE ? ASSAY_NONE : enter(b, at, region, call_line, AS_ROLE_CALL, false);
            if (at == ASSAY_NONE) return at;
        }
        for (size_t k = location->n_lines; k-- > 0;) {
            as_pprof_line *line = &AS_AT(as_pprof_line, &b->t->lines, location->first_line + k);
            assay_id region = region_of_line(b, index, line);
            last = *line;
            bool is_inlined = k + 1 < location->n_lines;
            at = region == ASSAY_NONE ? ASSAY_NONE : enter(b, at, region, call_line, AS_ROLE_CALL, is_inlined);
            if (at == ASSAY_NONE) return at;
            call_line = last.line;
        }
        if (!location->n_lines) call_line = 0;
    }
    return b->by_line ? enter_line(b, at, &last) : at;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static size_t add_column(building *b, const char *prefix, as_str key) {
    char *name = NULL;
    const char *text = as_ds_text(b->ds, key);
    if (asprintf(&name, "%s%s", prefix, text ? text : "") < 0) return SIZE_MAX;
    size_t column = as_table_add_column(b->table, name);
    free(name);
    return column;
}

static bool begin_table(building *b) {
    static const char *const words = "value:";
    b->table = as_add_record_table(b->ds, "sample");
    if (!b->table || as_table_add_column(b->table, "context") == SIZE_MAX) return false;
    for (size_t i = 0; i < b->t->types.count; i++) {
        if (add_column(b, words, AS_AT(as_pprof_type, &b->t->types, i).type) == SIZE_MAX) return false;
    }
    return true;
}

/* Two columns for each key: what it is, and the unit of numbers. */
static bool set_label(building *b, size_t row, const as_pprof_label *l) {
    size_t k = 0, first = FIRST_COLUMN + b->t->types.count;
    while (k < b->labels.count && AS_AT(as_str, &b->labels, k) != l->key) k++;
    if (k == MOST_LABELS) {
        if (!b->has_told_labels)
            as_add_problem(b->ds, AS_NOTE, as_place_file(b->t->reader->input->path), "many-labels",
                           "samples have labels of more than %d keys; the table sample shows the first ones",
                           MOST_LABELS);
        b->has_told_labels = true;
        return true;
    }
    if (k == b->labels.count &&
        (!as_vec_append(&b->labels, &l->key, 1) || add_column(b, "label:", l->key) == SIZE_MAX ||
         add_column(b, "unit:", l->key) == SIZE_MAX))
        return false;
    as_cell cell = l->text != AS_NO_STR ? as_cell_text(as_ds_text(b->ds, l->text)) : as_cell_int(l->number);
    return as_table_set(b->table, row, first + 2 * k, cell) &&
           (l->unit == AS_NO_STR ||
            as_table_set(b->table, row, first + 2 * k + 1, as_cell_text(as_ds_text(b->ds, l->unit))));
}

/* The row of a sample with labels; its context gets its number in the end. */
static assay_status add_row(building *b, as_protobuf m, assay_id context) {
    if (!b->table && !begin_table(b)) return as_reader_memory(b->t->reader);
    size_t row = as_table_rows(b->table);
    bool fine = as_table_add_row(b->table) && as_table_set(b->table, row, 0, as_cell_int((int64_t)row)) &&
                as_table_set(b->table, row, 1, as_cell_int(0)) && as_vec_append(&b->labelled, &context, 1);
    for (size_t i = 0; i < b->values.count && fine; i++)
        fine = as_table_set(b->table, row, FIRST_COLUMN + i, as_cell_int(AS_AT(int64_t, &b->values, i)));
    while (fine && as_protobuf_next(&m)) {
        as_pprof_label l;
        if (m.field != AS_PPROF_SAMPLE_LABEL || m.type != AS_PROTOBUF_BYTES) continue;
        AS_TRY(as_pprof_read_label(b->t, &m, &l));
        fine = set_label(b, row, &l);
    }
    return fine ? ASSAY_OK : as_reader_memory(b->t->reader);
}

/* From now on values are those of the place that the labels of a sample say. */
static assay_status go_to_place(building *b, as_protobuf sample) {
    assay_id place;
    AS_TRY(as_pprof_find_place(b->where, b->t, sample, &place));
    if (place != b->sums.location) as_stack_sums_at(&b->sums, place);
    return ASSAY_OK;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static assay_status read_path(building *b, as_protobuf *m) {
    size_t at = 0;
    uint64_t id;
    while (as_protobuf_each(m, &at, &id)) {
        uint32_t index = as_map_get(&b->t->location_of, id);
        if (index == AS_MAP_NONE) {
            AS_TRY(as_pprof_broken(b->t, m, "location-id", "a sample names a location that is not there"));
            continue;
        }
        if (!as_vec_append(&b->path, &index, 1)) return as_reader_memory(b->t->reader);
    }
    return ASSAY_OK;
}

static assay_status read_values(building *b, as_protobuf *m) {
    size_t at = 0;
    uint64_t number;
    while (as_protobuf_each(m, &at, &number)) {
        int64_t value = (int64_t)number;
        if (!as_vec_append(&b->values, &value, 1)) return as_reader_memory(b->t->reader);
    }
    return ASSAY_OK;
}

/* Adds the values of a sample to those of its context. */
static bool add_values(building *b, assay_id context) {
    for (size_t i = 0; i < b->values.count; i++) {
        as_number value = {.kind = AS_INT, .i = AS_AT(int64_t, &b->values, i)};
        if (!as_stack_sums_add(&b->sums, i, context, value)) return false;
    }
    return true;
}

static size_t count_frames(const building *b) {
    size_t n = 0;
    for (size_t i = 0; i < b->path.count; i++) {
        size_t lines = AS_AT(as_pprof_location, &b->t->locations, AS_AT(uint32_t, &b->path, i)).n_lines;
        n += lines ? lines : 1;
    }
    return n;
}

static assay_status read_sample(building *b, const as_protobuf *p) {
    as_protobuf m = as_protobuf_message_of(p);
    bool has_labels = false;
    b->path.count = b->values.count = 0;
    while (as_protobuf_next(&m)) {
        bool is_list = m.type == AS_PROTOBUF_NUMBER || m.type == AS_PROTOBUF_BYTES;
        if (m.field == AS_PPROF_SAMPLE_LOCATION && is_list) AS_TRY(read_path(b, &m));
        if (m.field == AS_PPROF_SAMPLE_VALUE && is_list) AS_TRY(read_values(b, &m));
        has_labels |= m.field == AS_PPROF_SAMPLE_LABEL && m.type == AS_PROTOBUF_BYTES;
    }
    if (!ended_well(&m)) return as_pprof_broken(b->t, &m, "protobuf", m.error);
    if (b->values.count != b->t->types.count)
        return as_pprof_broken(b->t, p, "value-count", "a sample has not one value for each type of the profile");
    if (count_frames(b) > b->t->reader->most_frames)
        return as_pprof_broken(b->t, p, "depth", "a stack has more frames than can be read");
    if (as_pprof_has_places(b->where)) AS_TRY(go_to_place(b, as_protobuf_message_of(p)));
    assay_id context = follow(b);
    if (context == ASSAY_NONE) return as_reader_memory(b->t->reader);
    if (!add_values(b, context)) return as_reader_memory(b->t->reader);
    return has_labels ? add_row(b, as_protobuf_message_of(p), context) : ASSAY_OK;
}

static assay_status read_samples(building *b) {
    as_protobuf p = as_protobuf_of(b->t->data, b->t->size);
    size_t told = 0;
    while (as_protobuf_next(&p)) {
        if (p.field != AS_PPROF_SAMPLE || p.type != AS_PROTOBUF_BYTES) continue;
        AS_TRY(read_sample(b, &p));
        if (p.at - told < PROGRESS_BYTES) continue;
        told = p.at;
        AS_TRY(as_reader_progress(b->t->reader, 0));
    }
    return ASSAY_OK;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* What is shown first is the type that the profile says; where it says none, it is the last one, as with pprof. */
static bool add_metrics(building *b) {
    as_str value = as_ds_intern_text(b->ds, "value");
    bool is_said = false;
    for (size_t i = 0; i < b->t->types.count; i++) {
        const as_pprof_type *type = &AS_AT(as_pprof_type, &b->t->types, i);
        size_t metric = as_stack_metric_add(&b->sums, type->type == AS_NO_STR ? value : type->type, type->unit);
        if (value == AS_NO_STR || metric == SIZE_MAX) return false;
        if (!is_said) b->ds->first_metric = (assay_id)metric;
        is_said |= type->type != AS_NO_STR && type->type == b->t->default_type;
    }
    return true;
}

/* Values are of 64 bits, and so must sums be. */
static assay_status check_sums(const building *b) {
    for (size_t i = 0; i < b->sums.metrics.count; i++) {
        const as_vec *sums = &AS_AT(as_stack_metric, &b->sums.metrics, i).sums;
        for (size_t k = 0; k < sums->count; k++) {
            as_whole whole = AS_AT(as_stack_sum, sums, k).whole;
            if (whole < INT64_MIN || whole > INT64_MAX)
                return as_broken(b->t->reader, as_place_file(b->t->reader->input->path), "sum",
                                 "the values of a call path add up to more than 64 bits hold");
        }
    }
    return ASSAY_OK;
}

static bool finish(building *b) {
    if (b->by_line) b->sums.tree.regions = &b->step_regions;
    if (!as_stack_sums_finish(&b->sums)) return false;
    const assay_id *new_ids = b->sums.new_ids;
    for (size_t i = 0; i < b->calls.count; i++) {
        const call *from = &AS_AT(call, &b->calls, i);
        as_context *context = &AS_AT(as_context, &b->ds->contexts, new_ids[i]);
        context->line = from->line;
        context->role = from->role;
        context->is_inlined = from->is_inlined;
    }
    for (size_t row = 0; row < b->labelled.count; row++) {
        assay_id context = new_ids[AS_AT(assay_id, &b->labelled, row)];
        if (!as_table_set(b->table, row, 2, as_cell_int((int64_t)context))) return false;
    }
    return true;
}

static assay_status build(building *b) {
    bool has_kinds = b->function_kind != AS_NO_STR && b->line_kind != AS_NO_STR && b->address_kind != AS_NO_STR;
    if (!has_kinds || !add_metrics(b)) return as_reader_memory(b->t->reader);
    AS_TRY(read_samples(b));
    as_stack_sums_join(&b->sums);
    AS_TRY(check_sums(b));
    return finish(b) ? ASSAY_OK : as_reader_memory(b->t->reader);
}

assay_status as_pprof_build(as_pprof_tables *tables, bool by_line, as_pprof_places *places) {
    as_dataset *ds = tables->reader->dataset;
    building b = {.t = tables,
                  .ds = ds,
                  .where = places,
                  .by_line = by_line,
                  .no_stack = ASSAY_NONE,
                  .function_kind = as_ds_intern_text(ds, "function"),
                  .line_kind = as_ds_intern_text(ds, "line"),
                  .address_kind = as_ds_intern_text(ds, "address")};
    as_stack_sums_init(&b.sums, ds);
    as_map *const maps[] = {&b.regions, &b.places, &b.lines, &b.steps};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_init(maps[i], &ds->budget);
    as_vec_init(&b.calls, sizeof(call), &ds->budget);
    as_vec_init(&b.step_regions, sizeof(assay_id), &ds->budget);
    as_vec_init(&b.path, sizeof(uint32_t), &ds->budget);
    as_vec_init(&b.values, sizeof(int64_t), &ds->budget);
    as_vec_init(&b.labels, sizeof(as_str), &ds->budget);
    as_vec_init(&b.labelled, sizeof(assay_id), &ds->budget);
    assay_status status = build(&b);
    as_stack_sums_free(&b.sums);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_free(maps[i]);
    as_vec *const vectors[] = {&b.calls, &b.step_regions, &b.path, &b.values, &b.labels, &b.labelled};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) as_vec_free(vectors[i]);
    return status;
}
