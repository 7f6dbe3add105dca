/* The format `nsight-set`: a directory of measured points, DIR/POINT/FILE.sqlite, each file an export of one run or of
 * one process of it.
 *
 * A file is read like any export and given up as soon as its values are taken: those of all locations added up, for
 * each call path and metric. So there are never more exports in memory than files are read at a time. What is taken of
 * each is a small dataset, its brief; all of them are united in the end. */
#include <stdio.h>
#include <stdlib.h>

#include "dataset/unify.h"
#include "formats/nsight/export.h"
#include "formats/points.h"

/* ONE_FILE_BITS: for files that lie in the directory itself, each named like a point. */
enum { BID_BITS = 48, ONE_FILE_BITS = 9 };

static const as_point_rules rules = {
    .ending = ".sqlite", .parse = as_point_parse, .takes_files = true, .takes_one_point = true, .counts_ranks = true};

static const as_option read_options[] = {AS_POINTS_OPTION, {NULL, AS_OPTION_TEXT, NULL, NULL, NULL}};

typedef struct export_set {
    as_reader *reader;
    as_dataset *ds;
    as_point_set points;
    as_dataset **briefs; /* of each file */
} export_set;

static int bid_set(const as_probe *probe) {
    as_points_seen seen = probe->is_directory ? as_point_set_look(probe->path, rules.ending) : AS_POINTS_NONE;
    return seen == AS_POINTS_DIRECTORIES ? BID_BITS : seen == AS_POINTS_FILES ? ONE_FILE_BITS : 0;
}

/* ---- what is taken of a file ------------------------------------------------------------------------------------- */

/* The values of a block's contexts, those of all locations added up. */
static bool add_sums(as_dataset *brief, const as_block *from, assay_id metric, const assay_id *contexts) {
    uint32_t n = from->n_contexts;
    assay_id *ids = as_arena_array(&brief->arena, n, sizeof *ids);
    uint64_t *starts = as_arena_array(&brief->arena, (size_t)n + 1, sizeof *starts);
    double *reals = as_arena_array(&brief->arena, n, sizeof *reals);
    uint64_t *whole = (uint64_t *)reals; /* of 8 bytes as well */
    bool is_whole = from->dtype == AS_DTYPE_UINT64;
    if (!ids || !starts || !reals) return false;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        uint64_t count = 0;
        for (uint64_t row = from->starts[i]; row < from->starts[i + 1]; row++) {
            if (!is_whole)
                sum += as_block_real(from, row);
            else if (__builtin_add_overflow(count, ((const uint64_t *)from->values)[row], &count))
                count = UINT64_MAX;
        }
        ids[i] = contexts[from->contexts[i]];
        starts[i + 1] = i + 1;
        if (is_whole)
            whole[i] = count;
        else
            reals[i] = sum;
    }
    as_block block = {.metric = metric,
                      .run = 0,
                      .n_contexts = n,
                      .contexts = ids,
                      .starts = starts,
                      .dtype = is_whole ? AS_DTYPE_UINT64 : AS_DTYPE_DOUBLE,
                      .values = reals};
    return as_add_block(brief, &block);
}

/* The region of this kind that is called by its order, "thread 1". */
static assay_id ordinal_region(as_dataset *brief, as_map *known, as_str kind, uint32_t number) {
    uint64_t key = as_pair(kind, number);
    uint32_t id = as_map_get(known, key);
    if (id != AS_MAP_NONE) return id;
    char name[32];
    as_region region = AS_REGION_INIT;
    snprintf(name, sizeof name, "%s %u", as_ds_text(brief, kind), number);
    region.kind = kind;
    region.name = as_ds_intern_text(brief, name);
    id = region.name == AS_NO_STR ? ASSAY_NONE : as_add_region(brief, &region);
    return id != ASSAY_NONE && as_map_put(known, key, id) ? id : ASSAY_NONE;
}

/* Processes and threads are called by their order among siblings: their numbers differ from run to run. No context is a
 * call path yet. */
static bool rename_places(as_dataset *brief) {
    size_t n = brief->contexts.count;
    uint32_t *n_before = calloc(n + 1, sizeof *n_before); /* for each parent, the last: of roots */
    as_map known;
    as_map_init(&known, &brief->budget);
    bool fine = n_before != NULL;
    for (assay_id i = 0; i < n && fine; i++) {
        as_context *context = &AS_AT(as_context, &brief->contexts, i);
        context->is_callpath = false;
        if (!as_region_is_place(brief, context->region)) continue;
        uint32_t *number = &n_before[context->parent == ASSAY_NONE ? n : context->parent];
        as_str kind = as_ds_region(brief, context->region)->kind;
        context->region = ordinal_region(brief, &known, kind, (*number)++);
        fine = context->region != ASSAY_NONE;
        if (fine) context->name = as_ds_region(brief, context->region)->name;
    }
    as_map_free(&known);
    free(n_before);
    return fine;
}

static bool copy_run(as_dataset *brief, const as_dataset *part) {
    as_run run = AS_RUN_INIT;
    if (part->runs.count) run.start_time = as_ds_run(part, 0)->start_time;
    bool fine = as_add_run(brief, &run) != ASSAY_NONE;
    for (size_t i = 0; i < part->attributes.count && fine; i++) {
        const as_attribute *attribute = as_ds_attribute(part, i);
        if (attribute->owner == AS_OWNER_RUN)
            fine = as_add_attribute(brief, AS_OWNER_RUN, 0, as_ds_text(part, attribute->key), attribute->value);
    }
    return fine;
}

static bool fill_brief(as_dataset *brief, const as_dataset *part) {
    as_union u;
    bool fine = as_union_init(&u, brief, &part, 1) && as_unite_metrics(&u) && as_unite_contexts(&u, AS_MATCH_EXACT) &&
                as_unite_attributes(&u) && copy_run(brief, part) && rename_places(brief);
    for (size_t i = 0; i < part->blocks.count && fine; i++) {
        const as_block *block = as_ds_block(part, i);
        fine = add_sums(brief, block, u.maps[0].metrics[block->metric], u.maps[0].contexts);
    }
    brief->input_size = part->input_size;
    brief->overview = part->overview;
    as_union_free(&u);
    return fine;
}

static assay_status read_file(void *user, size_t i, assay_error *error) {
    export_set *set = user;
    const as_point_file *file = as_point_file_at(&set->points, i);
    as_read_config config = {.format = "nsight",
                             .memory_limit = set->ds->budget.limit,
                             .budget = &set->ds->budget,
                             .depth_limit = set->reader->max_depth,
                             .keep_going = set->reader->keep_going,
                             .is_overview = set->reader->is_overview};
    as_dataset *part = NULL, *brief = NULL;
    AS_TRY(as_read(file->path, &config, &part, error));
    brief = as_dataset_new_below(&set->ds->budget, set->ds->budget.limit);
    bool fine = brief && fill_brief(brief, part);
    as_dataset_free(part);
    if (fine)
        set->briefs[i] = brief;
    else
        as_dataset_free(brief);
    return fine ? ASSAY_OK : as_fail_memory(error, file->path);
}

/* ---- all files as one -------------------------------------------------------------------------------------------- */

/* The block of one metric in the making. */
typedef struct gathering {
    const as_union *u;
    assay_id metric;
    uint64_t *starts; /* of each context of the set, and one more */
    assay_id *runs;
    void *values;
    bool is_whole;
} gathering;

/* Calls take for each row of the metric, run by run. */
static void each_row(gathering *g, void (*take)(gathering *g, assay_id run, const as_block *block, uint32_t row)) {
    for (size_t k = 0; k < g->u->n; k++) {
        for (size_t i = 0; i < g->u->parts[k]->blocks.count; i++) {
            const as_block *block = as_ds_block(g->u->parts[k], i);
            if (g->u->maps[k].metrics[block->metric] != g->metric) continue;
            for (uint32_t row = 0; row < block->n_contexts; row++) take(g, (assay_id)k, block, row);
        }
    }
}

static void count_row(gathering *g, assay_id run, const as_block *block, uint32_t row) {
    g->starts[g->u->maps[run].contexts[block->contexts[row]] + 1]++;
    g->is_whole &= block->dtype == AS_DTYPE_UINT64;
}

/* starts[c] is where the next row of c goes. */
static void put_row(gathering *g, assay_id run, const as_block *block, uint32_t row) {
    uint64_t at = g->starts[g->u->maps[run].contexts[block->contexts[row]]]++;
    g->runs[at] = run;
    if (g->is_whole)
        ((uint64_t *)g->values)[at] = ((const uint64_t *)block->values)[row];
    else
        ((double *)g->values)[at] = as_block_real(block, row);
}

/* Contexts with rows, and where those of each begin; put_row() left in starts where they end. */
static bool add_gathered(as_dataset *ds, const gathering *g, uint32_t n_contexts) {
    assay_id *contexts = as_arena_array(&ds->arena, n_contexts, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, (size_t)n_contexts + 1, sizeof *starts);
    if (!contexts || !starts) return false;
    uint32_t n = 0;
    for (assay_id c = 0; c < ds->contexts.count; c++) {
        uint64_t begin = n ? starts[n] : 0;
        if (g->starts[c] == begin) continue;
        contexts[n] = c;
        starts[++n] = g->starts[c];
    }
    as_block block = {.metric = g->metric,
                      .run = ASSAY_NONE,
                      .n_contexts = n,
                      .contexts = contexts,
                      .starts = starts,
                      .runs = g->runs,
                      .dtype = g->is_whole ? AS_DTYPE_UINT64 : AS_DTYPE_DOUBLE,
                      .values = g->values};
    return as_add_block(ds, &block);
}

static bool gather(as_dataset *ds, gathering *g) {
    size_t n = ds->contexts.count;
    uint32_t n_contexts = 0;
    memset(g->starts, 0, (n + 1) * sizeof *g->starts);
    each_row(g, count_row);
    for (size_t c = 0; c < n; c++) {
        n_contexts += g->starts[c + 1] > 0;
        g->starts[c + 1] += g->starts[c];
    }
    uint64_t n_rows = g->starts[n];
    if (!n_rows) return true;
    g->runs = as_arena_array(&ds->arena, n_rows, sizeof *g->runs);
    g->values = as_arena_array(&ds->arena, n_rows, sizeof(double));
    if (!g->runs || !g->values) return false;
    each_row(g, put_row);
    return add_gathered(ds, g, n_contexts);
}

static bool gather_all(as_dataset *ds, const as_union *u) {
    uint64_t *starts = malloc((ds->contexts.count + 1) * sizeof *starts);
    bool fine = starts != NULL;
    for (assay_id m = 0; m < ds->metrics.count && fine; m++) {
        gathering g = {.u = u, .metric = m, .starts = starts, .is_whole = true};
        fine = gather(ds, &g);
    }
    free(starts);
    return fine;
}

/* ---- what files say of themselves -------------------------------------------------------------------------------- */

static bool is_equal(as_cell a, as_cell b) {
    bool is_text = a.type == AS_CELL_TEXT || a.type == AS_CELL_JSON;
    if (a.type != b.type) return false;
    return is_text ? a.size == b.size && memcmp(a.text, b.text, a.size) == 0 : a.u == b.u;
}

static uint64_t hash_of(const char *key, as_cell value) {
    bool is_text = value.type == AS_CELL_TEXT || value.type == AS_CELL_JSON;
    uint64_t of_value = is_text ? as_hash(value.text, value.size) : as_hash(&value.u, sizeof value.u);
    return as_hash(key, strlen(key)) * 31 + of_value;
}

/* What the attributes of the set say, by key and value. */
static bool list_shared(const as_dataset *ds, as_map *shared) {
    bool fine = true;
    for (size_t i = 0; i < ds->attributes.count && fine; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_DATASET)
            fine = as_map_put(shared, hash_of(as_ds_text(ds, attribute->key), attribute->value), (uint32_t)i);
    }
    return fine;
}

static bool is_shared(const as_dataset *ds, const as_map *shared, const char *key, as_cell value) {
    uint32_t at = as_map_get(shared, hash_of(key, value));
    const as_attribute *attribute = at == AS_MAP_NONE ? NULL : as_ds_attribute(ds, at);
    return attribute && is_equal(attribute->value, value) && strcmp(as_ds_text(ds, attribute->key), key) == 0;
}

/* What a file says of its run, or of itself and not all do, belongs to the run. */
static bool add_attributes_of_run(const as_union *u, assay_id run, const as_map *shared) {
    const as_dataset *brief = u->parts[run];
    AS_AT(as_run, &u->ds->runs, run).start_time = as_ds_run(brief, 0)->start_time;
    u->ds->input_size += brief->input_size;
    for (size_t i = 0; i < brief->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(brief, i);
        const char *key = as_ds_text(brief, attribute->key);
        bool is_wanted = attribute->owner == AS_OWNER_RUN ||
                         (attribute->owner == AS_OWNER_DATASET && !is_shared(u->ds, shared, key, attribute->value));
        if (is_wanted && !as_add_attribute(u->ds, AS_OWNER_RUN, run, key, attribute->value)) return false;
    }
    return true;
}

static bool add_attributes_of_runs(const as_union *u) {
    as_map shared; /* hash_of() an attribute of the set -> its number */
    as_map_init(&shared, &u->ds->budget);
    bool fine = list_shared(u->ds, &shared);
    for (assay_id run = 0; run < u->n && fine; run++) fine = add_attributes_of_run(u, run, &shared);
    as_map_free(&shared);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Where a file is too large for an overview, so is the set. */
static bool note_overview(export_set *set) {
    for (size_t i = 0; i < set->points.files.count; i++) {
        if (!set->briefs[i]->overview.is_set) continue;
        set->ds->overview = (as_overview){.is_set = true,
                                          .regions = AS_NOT_COUNTED,
                                          .contexts = AS_NOT_COUNTED,
                                          .values = AS_NOT_COUNTED,
                                          .attributes = AS_NOT_COUNTED};
        return true;
    }
    return false;
}

static assay_status unite(export_set *set) {
    as_union u;
    size_t n = set->points.files.count;
    bool fine = as_union_init(&u, set->ds, (const as_dataset *const *)set->briefs, n) && as_unite_metrics(&u) &&
                as_unite_contexts(&u, AS_MATCH_NAME) && as_unite_attributes(&u) && add_attributes_of_runs(&u) &&
                as_ns_add_tags(set->ds) && gather_all(set->ds, &u);
    as_union_free(&u);
    if (!fine) return as_reader_memory(set->reader);
    return note_overview(set) ? ASSAY_OK : as_point_set_add_block_series(set->reader);
}

static assay_status read_all(export_set *set) {
    AS_TRY(as_point_set_find(set->reader, &rules, &set->points));
    set->briefs = calloc(set->points.files.count, sizeof(as_dataset *));
    if (!set->briefs) return as_reader_memory(set->reader);
    AS_TRY(as_point_set_read(&set->points, read_file, set));
    return unite(set);
}

static assay_status read_set(as_reader *reader) {
    export_set set = {.reader = reader, .ds = reader->dataset};
    assay_status status = read_all(&set);
    for (size_t i = 0; set.briefs && i < set.points.files.count; i++) as_dataset_free(set.briefs[i]);
    free(set.briefs);
    as_point_set_free(&set.points);
    return status;
}

const struct assay_format as_format_nsight_set = {
    .name = "nsight-set",
    .title = "Nsight Systems experiment",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS,
    .reads_directories = true,
    .read_options = read_options,
    .bid = bid_set,
    .read = read_set,
};
