#include "analysis/grouping.h"

#include <stdlib.h>

#include "analysis/group_measures.h"
#include "analysis/tags.h"
#include "dataset/build.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

typedef enum key_type { KEY_TAG, KEY_REGION, KEY_PATH } key_type;

typedef struct group_key {
    key_type type;
    as_text_span name;
    uint32_t tag; /* of KEY_TAG: which of the tags */
} group_key;

/* What is spent in a group, in one run. */
typedef struct group_cell {
    assay_id run, group;
    uint32_t above; /* the cell of the group around it; UINT32_MAX: none */
    uint64_t visits;
    double time, whole; /* whole: with what lies in other groups, to tell rounding from time */
    double covered, covered_to;
} group_cell;

typedef struct grouper {
    const as_grouping_request *request;
    const as_dataset *ds;
    as_dataset *out;
    assay_id *group_of;
    group_key keys[AS_MOST_GROUP_KEYS];
    size_t n_keys;
    as_tags tags;
    as_group_measures measures;
    as_tree tree;
    as_map children; /* group and what tells its children apart -> group */
    as_map names;    /* name and kind of a region -> number */
    as_map paths;    /* group and context -> group */
    as_map cell_of;  /* run and group -> index into cells */
    as_vec cells;
    as_vec names_of;       /* as_pair(name, kind) of each number */
    as_vec contexts;       /* assay_id: of a path, from the end */
    as_vec values_of_slot; /* as_str: slots x tags */
    as_vec cell_of_slot;   /* uint32_t */
    bool failed;
    bool has_too_many; /* groups: nobody would look at them */
    bool is_too_deep;  /* for what the groups cover to be followed to the top */
} grouper;

static assay_status fail_key(assay_error *error, const char *what, as_text_span name) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "%s '%.*s' in --group-by", what,
                   (int)(name.size < 200 ? name.size : 200), name.text);
}

static bool is_word(as_text_span span, const char *word) {
    return span.size == strlen(word) && memcmp(span.text, word, span.size) == 0;
}

static assay_status parse_keys(grouper *g, assay_error *error) {
    for (const char *at = g->request->keys, *comma; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        as_text_span name = {at, comma ? (size_t)(comma - at) : strlen(at)};
        while (name.size && name.text[0] == ' ') name.text++, name.size--;
        while (name.size && name.text[name.size - 1] == ' ') name.size--;
        if (!name.size)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                           "--group-by takes names of tags, such as platform,component; also region and path");
        if (g->n_keys == AS_MOST_GROUP_KEYS)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "--group-by takes at most %d names",
                           AS_MOST_GROUP_KEYS);
        for (size_t i = 0; i < g->n_keys; i++) {
            if (g->keys[i].name.size == name.size && memcmp(g->keys[i].name.text, name.text, name.size) == 0)
                return fail_key(error, "there is twice", name);
        }
        key_type type = is_word(name, "region") ? KEY_REGION : is_word(name, "path") ? KEY_PATH : KEY_TAG;
        g->keys[g->n_keys++] = (group_key){.type = type, .name = name};
    }
    return ASSAY_OK;
}

static bool open_tags(grouper *g) {
    as_text_span names[AS_MOST_GROUP_KEYS];
    uint32_t n = 0;
    for (size_t i = 0; i < g->n_keys; i++) {
        if (g->keys[i].type != KEY_TAG) continue;
        g->keys[i].tag = n;
        names[n++] = g->keys[i].name;
    }
    return as_tags_open(g->ds, names, n, &g->tags);
}

/* Those there are, as many as fit: "; there are a, b, c". */
static void list_tags(const as_dataset *ds, char *out, size_t room) {
    enum { MOST = 20, PREFIX = sizeof AS_TAG_PREFIX - 1 };
    as_str seen[MOST];
    size_t n = 0, used = 0;
    out[0] = '\0';
    for (uint64_t i = 0, count = as_ds_attribute_count(ds); i < count && n < MOST; i++) {
        as_attribute attribute;
        as_ds_any_attribute(ds, i, &attribute);
        bool is_new = attribute.owner == AS_OWNER_EVENT || attribute.owner == AS_OWNER_RUN;
        const char *key = as_ds_text(ds, attribute.key);
        is_new = is_new && key && strncmp(key, AS_TAG_PREFIX, PREFIX) == 0;
        for (size_t k = 0; k < n && is_new; k++) is_new = seen[k] != attribute.key;
        if (!is_new) continue;
        size_t size = strlen(key + PREFIX);
        if (used + size + 16 > room) break;
        const char *before = n ? ", " : "; there are ";
        memcpy(out + used, before, strlen(before));
        used += strlen(before);
        memcpy(out + used, key + PREFIX, size + 1);
        used += size;
        seen[n++] = attribute.key;
    }
}

/* A tag that nothing has is a slip. */
static assay_status check_tags(const grouper *g, assay_error *error) {
    for (size_t i = 0; i < g->n_keys; i++) {
        const group_key *key = &g->keys[i];
        if (key->type != KEY_TAG || g->tags.found[key->tag]) continue;
        char known[300];
        list_tags(g->ds, known, sizeof known);
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "%s: nothing has the tag '%.*s'%s; region and path are words of their own",
                       as_ds_text(g->ds, g->ds->path) ? as_ds_text(g->ds, g->ds->path) : "the input",
                       (int)(key->name.size < 100 ? key->name.size : 100), key->name.text, known);
    }
    return ASSAY_OK;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* What tells the children of a group apart: a value of the key, in 28 bits; ABSENT: none. */
enum { MOST_GROUPS = 4000000 }; /* more than there are intervals: paths below tags multiply */
enum { KEY_BITS = 4, ABSENT = (1 << (32 - KEY_BITS)) - 1 };

static as_str intern_joined(as_dataset *ds, const char *before, as_text_span name, const char *behind) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool fine = as_vec_text(&text, before) && as_vec_append(&text, name.text, name.size) && as_vec_text(&text, behind);
    as_str id = fine ? as_ds_intern(ds, text.data, text.count) : AS_NO_STR;
    as_vec_free(&text);
    return id;
}

/* A new region of the groups' dataset. */
static assay_id add_region(grouper *g, const group_key *key, uint32_t value, bool is_section) {
    as_region region = AS_REGION_INIT;
    bool fine = true;
    if (key->type != KEY_TAG) {
        uint64_t name = AS_AT(uint64_t, &g->names_of, value);
        region.name = as_ds_carry(g->out, g->ds, (as_str)(name >> 32), &fine);
        region.kind = as_ds_carry(g->out, g->ds, (as_str)name, &fine);
        if (region.name == AS_NO_STR) region.name = as_ds_intern_text(g->out, "(no name)");
    } else {
        size_t size = value == ABSENT ? 0 : as_str_size(&g->tags.values, value);
        region.kind = as_ds_intern(g->out, key->name.text, key->name.size);
        region.name = value == ABSENT ? intern_joined(g->out, "(no ", key->name, ")")
                      : size          ? as_ds_intern(g->out, as_str_text(&g->tags.values, value), size)
                                      : intern_joined(g->out, "", key->name, "=");
        if (is_section) region.kind = as_ds_intern_text(g->out, "section");
    }
    return fine && region.name != AS_NO_STR ? as_add_region(g->out, &region) : ASSAY_NONE;
}

/* Stands for the parent of what sections have at the root: they are groups of their own, whose time is no part of the
 * whole. */
#define NO_PARENT_BUT_SECTIONS (ASSAY_NONE - 2)

/* The child of a group; ASSAY_NONE when memory is out. */
static assay_id child_of(grouper *g, assay_id parent, const group_key *key, uint32_t value) {
    if (value > ABSENT) return ASSAY_NONE;
    bool is_section = parent == NO_PARENT_BUT_SECTIONS;
    uint32_t what = value << KEY_BITS | (uint32_t)(key - g->keys);
    uint64_t way = as_pair(parent + 1, what);
    uint32_t known = as_map_get(&g->children, way);
    if (known != AS_MAP_NONE) return known;
    /* Regions of one key and value are one, whatever they lie in: as_tree has no child of ASSAY_NONE - 1 or - 4 */
    uint64_t whose = as_pair(is_section ? ASSAY_NONE - 3 : ASSAY_NONE, what);
    assay_id region = as_map_get(&g->children, whose);
    if (region == AS_MAP_NONE) {
        region = add_region(g, key, value, is_section);
        if (region == ASSAY_NONE || !as_map_put(&g->children, whose, region)) return ASSAY_NONE;
    }
    g->has_too_many = g->tree.nodes.count >= MOST_GROUPS + as_ds_intervals(g->ds);
    if (g->has_too_many) return ASSAY_NONE;
    assay_id id = as_tree_child(&g->tree, is_section ? ASSAY_NONE : parent, region);
    return id != ASSAY_NONE && as_map_put(&g->children, way, id) ? id : ASSAY_NONE;
}

/* The number of a region's name and kind; UINT32_MAX when memory is out. */
static uint32_t name_number(grouper *g, as_str name, as_str kind) {
    uint64_t key = as_pair(name, kind);
    uint32_t known = as_map_get(&g->names, key);
    if (known != AS_MAP_NONE) return known;
    uint32_t number = (uint32_t)g->names_of.count;
    return as_vec_append(&g->names_of, &key, 1) && as_map_put(&g->names, key, number) ? number : UINT32_MAX;
}

/* The group at the end of a call path below `group`. */
static assay_id follow_path(grouper *g, assay_id group, const group_key *key, const as_event *event) {
    if (event->context == ASSAY_NONE) return child_of(g, group, key, name_number(g, event->name, event->kind));
    assay_id context = event->context;
    uint32_t known = AS_MAP_NONE;
    g->contexts.count = 0;
    while (context != ASSAY_NONE && (known = as_map_get(&g->paths, as_pair(group + 1, context))) == AS_MAP_NONE) {
        if (!as_vec_append(&g->contexts, &context, 1)) return ASSAY_NONE;
        context = as_ds_context(g->ds, context)->parent;
    }
    assay_id at = context == ASSAY_NONE ? group : known;
    for (size_t i = g->contexts.count; i-- > 0;) {
        context = AS_AT(assay_id, &g->contexts, i);
        const as_context *node = as_ds_context(g->ds, context);
        as_str kind = node->region == ASSAY_NONE ? AS_NO_STR : as_ds_region(g->ds, node->region)->kind;
        at = child_of(g, at, key, name_number(g, node->name, kind));
        if (at == ASSAY_NONE || !as_map_put(&g->paths, as_pair(group + 1, context), at)) return ASSAY_NONE;
    }
    return at;
}

static assay_id find_group(grouper *g, const as_event *event, bool is_section, const as_str *values) {
    assay_id group = is_section ? NO_PARENT_BUT_SECTIONS : ASSAY_NONE;
    for (size_t i = 0; i < g->n_keys; i++) {
        const group_key *key = &g->keys[i];
        if (key->type == KEY_TAG)
            group = child_of(g, group, key, values[key->tag] == AS_NO_STR ? ABSENT : values[key->tag]);
        else if (key->type == KEY_REGION)
            group = child_of(g, group, key, name_number(g, event->name, event->kind));
        else
            group = follow_path(g, group, key, event);
        if (group == ASSAY_NONE) return ASSAY_NONE;
    }
    return group;
}

/* ---- what they cost ---------------------------------------------------------------------------------------------- */

/* The cell of a group in a run, made with those above it; UINT32_MAX when memory is out. */
static uint32_t find_cell(grouper *g, assay_id run, assay_id group) {
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    for (assay_id at = group; at != ASSAY_NONE; at = AS_AT(as_context, &g->tree.nodes, at).parent) {
        uint32_t index = as_map_get(&g->cell_of, as_pair(run, at));
        bool is_new = index == AS_MAP_NONE;
        if (is_new) {
            group_cell *cell = as_vec_push(&g->cells);
            index = (uint32_t)(g->cells.count - 1);
            if (!cell || !as_map_put(&g->cell_of, as_pair(run, at), index)) return UINT32_MAX;
            *cell = (group_cell){.run = run, .group = at, .above = UINT32_MAX, .covered_to = -INFINITY};
        }
        if (last != UINT32_MAX) AS_AT(group_cell, &g->cells, last).above = index;
        if (first == UINT32_MAX) first = index;
        if (!is_new) return first;
        last = index;
    }
    return first;
}

/* The union of a group's intervals grows by what is new in this one; they come in the order of their starts. What a
 * group covers, those around it cover as well. */
static void cover(grouper *g, uint32_t index, const as_event *event) {
    enum { MOST_LEVELS = 1000 };
    for (size_t level = 0; index != UINT32_MAX; level++) {
        group_cell *cell = &AS_AT(group_cell, &g->cells, index);
        double from = event->start > cell->covered_to ? event->start : cell->covered_to;
        if (!(event->end > from)) return;
        if (level == MOST_LEVELS) {
            g->is_too_deep = true;
            return;
        }
        cell->covered += event->end - from - as_paused(g->request->pauses, event->run, from, event->end);
        cell->covered_to = event->end;
        index = cell->above;
    }
}

/* Where what is known of an open interval is kept. */
static bool make_room(grouper *g, uint32_t slot) {
    uint32_t n = g->tags.n_keys;
    while (g->cell_of_slot.count <= slot) {
        if (!as_vec_push(&g->cell_of_slot)) return false;
        if (!as_vec_reserve(&g->values_of_slot, n)) return false;
        g->values_of_slot.count += n;
    }
    return true;
}

/* What it lies in says what it does not say itself. */
static bool find_values(grouper *g, const as_event_interval *interval, as_str *values) {
    uint32_t n = g->tags.n_keys;
    if (!as_tags_of_event(&g->tags, interval->id, values)) return false;
    const as_str *outer = interval->around == AS_NO_SLOT
                              ? as_tags_of_run(&g->tags, interval->event.run)
                              : &AS_AT(as_str, &g->values_of_slot, (size_t)interval->around * n);
    for (uint32_t k = 0; k < n; k++) {
        if (values[k] == AS_NO_STR) values[k] = outer[k];
    }
    if (interval->slot == AS_NO_SLOT) return true;
    if (!make_room(g, interval->slot)) return false;
    for (uint32_t k = 0; k < n; k++) AS_AT(as_str, &g->values_of_slot, (size_t)interval->slot * n + k) = values[k];
    return true;
}

static bool add_interval(void *user, const as_event_interval *interval) {
    grouper *g = user;
    const as_event *event = &interval->event;
    if (interval->class == AS_INTERVAL_PAUSE || event->run >= AS_COUNT(g->ds, runs)) return true;
    as_str values[AS_MOST_GROUP_KEYS];
    g->failed = !find_values(g, interval, values);
    assay_id group = g->failed ? ASSAY_NONE : find_group(g, event, interval->class == AS_INTERVAL_SECTION, values);
    uint32_t index = group == ASSAY_NONE ? UINT32_MAX : find_cell(g, event->run, group);
    g->failed = index == UINT32_MAX;
    if (g->failed) return false;
    group_cell *cell = &AS_AT(group_cell, &g->cells, index);
    cell->visits++;
    cell->time += interval->duration;
    cell->whole += interval->duration;
    if (interval->around != AS_NO_SLOT)
        AS_AT(group_cell, &g->cells, AS_AT(uint32_t, &g->cell_of_slot, interval->around)).time -= interval->duration;
    cover(g, index, event);
    if (interval->slot != AS_NO_SLOT) AS_AT(uint32_t, &g->cell_of_slot, interval->slot) = index;
    if (g->group_of) g->group_of[interval->id] = group;
    g->failed = !as_group_measures_add(&g->measures, interval, index, group);
    return !g->failed;
}

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

static int compare_cells(const void *a, const void *b) {
    const group_cell *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* What tells how long runs stood still. */
static bool carry_pauses(as_dataset *out, const as_dataset *ds) {
    bool fine = true;
    for (size_t i = 0; i < AS_COUNT(ds, attributes) && fine; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *key = as_ds_text(ds, attribute->key);
        bool is_meant = attribute->owner == AS_OWNER_RUN && key &&
                        (strcmp(key, "paused") == 0 || strcmp(key, "timestamp units") == 0);
        if (is_meant) fine = as_add_attribute(out, AS_OWNER_RUN, attribute->owner_id, key, attribute->value);
    }
    return fine;
}

static bool carry_runs(grouper *g) {
    as_dataset *out = g->out;
    const as_dataset *ds = g->ds;
    bool fine = true;
    out->format = ds->format;
    out->evidence = ds->evidence;
    out->input_size = ds->input_size;
    out->format_version = as_ds_carry(out, ds, ds->format_version, &fine);
    out->path = as_ds_carry(out, ds, ds->path, &fine);
    for (size_t i = 0; i < as_ds_parameters(ds) && fine; i++)
        fine = as_add_parameter(out, as_ds_carry(out, ds, AS_AT(as_str, &ds->parameters, i), &fine)) != ASSAY_NONE;
    out->n_points = ds->n_points;
    out->whole_coordinates = ds->whole_coordinates;
    fine = fine && as_vec_append(&out->coordinates, ds->coordinates.data, ds->coordinates.count);
    for (assay_id id = 0; id < AS_COUNT(ds, runs) && fine; id++) {
        as_run run = *as_ds_run(ds, id);
        run.source_id = as_ds_carry(out, ds, run.source_id, &fine);
        run.source = as_ds_carry(out, ds, run.source, &fine);
        fine = fine && as_add_run(out, &run) != ASSAY_NONE;
    }
    return fine && carry_pauses(out, ds);
}

static assay_id add_metric(as_dataset *out, const char *name, const char *unit, as_dtype dtype,
                           const char *description) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(out, name);
    metric.unit = as_ds_intern_text(out, unit);
    metric.dtype = as_ds_intern_text(out, as_dtype_name(dtype));
    metric.description = as_ds_intern_text(out, description);
    metric.kind = AS_KIND_EXCLUSIVE;
    return as_add_metric(out, &metric);
}

/* What all groups of one run have of one metric. values: of 8 bytes each. */
static bool add_profile(grouper *g, assay_id metric, as_dtype dtype, const group_cell *cells, size_t n, void *values) {
    assay_id *contexts = as_arena_array(&g->out->arena, n, sizeof *contexts);
    if (!contexts || !values) return false;
    for (size_t i = 0; i < n; i++) contexts[i] = cells[i].group;
    as_profile profile = {.metric = metric,
                          .run = cells[0].run,
                          .type = as_value_type_of(dtype, 1),
                          .n_rows = (uint32_t)n,
                          .n_columns = 1,
                          .contexts = contexts,
                          .values = values};
    return as_add_profile(g->out, &profile);
}

/* What is left where all of a group's time lies in others is rounding. */
static double time_of(const group_cell *cell) { return fabs(cell->time) <= 1e-12 * cell->whole ? 0 : cell->time; }

typedef struct group_metrics {
    assay_id visits, time, covered;
} group_metrics;

static bool add_run_values(grouper *g, const group_metrics *metrics, const group_cell *cells, size_t n) {
    uint64_t *visits = as_arena_array(&g->out->arena, n, sizeof *visits);
    double *time = as_arena_array(&g->out->arena, n, sizeof *time);
    double *covered = as_arena_array(&g->out->arena, n, sizeof *covered);
    for (size_t i = 0; i < n && visits && time && covered; i++) {
        visits[i] = cells[i].visits;
        time[i] = time_of(&cells[i]);
        covered[i] = cells[i].covered;
    }
    return add_profile(g, metrics->visits, AS_DTYPE_UINT64, cells, n, visits) &&
           add_profile(g, metrics->time, AS_DTYPE_DOUBLE, cells, n, time) &&
           (g->is_too_deep || add_profile(g, metrics->covered, AS_DTYPE_DOUBLE, cells, n, covered));
}

static bool finish_tree(grouper *g, const assay_id **new_ids) {
    const assay_id *ids;
    for (assay_id id = 0; id < g->tree.nodes.count; id++) as_tree_mark_callpath(&g->tree, id);
    if (!as_tree_finish(&g->tree, &ids)) return false;
    *new_ids = ids;
    for (size_t i = 0; i < g->cells.count; i++) {
        group_cell *cell = &AS_AT(group_cell, &g->cells, i);
        cell->group = ids[cell->group];
    }
    for (uint64_t i = 0, n = g->group_of ? as_ds_intervals(g->ds) : 0; i < n; i++) {
        if (g->group_of[i] != ASSAY_NONE) g->group_of[i] = ids[g->group_of[i]];
    }
    return true;
}

/* What has data at points, for models: all but the time covered, which is no sum. */
static bool add_series(as_dataset *out, assay_id left_out) {
    bool *has_values = malloc(AS_COUNT(out, contexts) + 1), fine = has_values != NULL;
    for (assay_id metric = 0; fine && metric < AS_COUNT(out, metrics); metric++) {
        if (metric == left_out) continue;
        memset(has_values, 0, AS_COUNT(out, contexts) + 1);
        for (assay_id run = 0; run < AS_COUNT(out, runs); run++) {
            const as_profile *profile =
                as_ds_run(out, run)->point == ASSAY_NONE ? NULL : as_ds_profile(out, metric, run);
            for (uint32_t i = 0; profile && i < profile->n_rows; i++) has_values[profile->contexts[i]] = true;
        }
        for (assay_id context = 0; fine && context < AS_COUNT(out, contexts); context++) {
            as_series series = {.metric = metric, .context = context};
            if (has_values[context]) fine = as_vec_append(&out->series, &series, 1);
        }
    }
    free(has_values);
    return fine;
}

static bool fill(grouper *g) {
    const assay_id *ids;
    if (!carry_runs(g) || !finish_tree(g, &ids)) return false;
    group_metrics metrics = {
        .visits = add_metric(g->out, "visits", "occ", AS_DTYPE_UINT64, "intervals of the group"),
        .time = add_metric(g->out, "time", "s", AS_DTYPE_DOUBLE, "time of the group's intervals without those in them"),
        .covered = add_metric(g->out, "time covered", "s", AS_DTYPE_DOUBLE, "time in which at least one of them ran")};
    if (metrics.visits == ASSAY_NONE || metrics.time == ASSAY_NONE || metrics.covered == ASSAY_NONE) return false;
    as_metric *covered = &AS_AT(as_metric, &g->out->metrics, metrics.covered);
    covered->kind = AS_KIND_INCLUSIVE; /* groups that overlap have less together than the sum of theirs */
    covered->is_stored = true;
    const group_cell *cells = g->cells.data;
    size_t n = g->cells.count;
    if (n) qsort(g->cells.data, n, sizeof *cells, compare_cells);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && cells[end].run == cells[i].run;) end++;
        if (!add_run_values(g, &metrics, cells + i, end - i)) return false;
    }
    return as_group_measures_fill(&g->measures, g->out, ids) &&
           (!g->out->n_points || add_series(g->out, metrics.covered));
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void open_grouper(grouper *g) {
    as_budget *budget = as_ds_budget(g->ds);
    as_tree_init(&g->tree, g->out);
    as_map_init(&g->children, budget);
    as_map_init(&g->names, budget);
    as_map_init(&g->paths, budget);
    as_map_init(&g->cell_of, budget);
    as_vec_init(&g->cells, sizeof(group_cell), budget);
    as_vec_init(&g->names_of, sizeof(uint64_t), budget);
    as_vec_init(&g->contexts, sizeof(assay_id), budget);
    as_vec_init(&g->values_of_slot, sizeof(as_str), budget);
    as_vec_init(&g->cell_of_slot, sizeof(uint32_t), budget);
}

static void close_grouper(grouper *g) {
    as_tags_free(&g->tags);
    as_group_measures_free(&g->measures);
    as_tree_free(&g->tree);
    as_map_free(&g->children);
    as_map_free(&g->names);
    as_map_free(&g->paths);
    as_map_free(&g->cell_of);
    as_vec_free(&g->cells);
    as_vec_free(&g->names_of);
    as_vec_free(&g->contexts);
    as_vec_free(&g->values_of_slot);
    as_vec_free(&g->cell_of_slot);
}

static assay_status work(grouper *g, assay_error *error) {
    as_event_intervals request = {.ds = g->ds, .pauses = g->request->pauses};
    AS_TRY(parse_keys(g, error));
    if (!open_tags(g) || !as_group_measures_open(g->ds, &g->measures)) return as_fail_memory(error, NULL);
    AS_TRY(as_event_intervals_walk(&request, add_interval, g, error));
    if (g->has_too_many)
        return as_fail(error, ASSAY_E_UNSUPPORTED, as_place_file(as_ds_text(g->ds, g->ds->path)), "",
                       "--group-by %s makes more than %zu groups; take fewer tags, or region instead of path",
                       g->request->keys, g->tree.nodes.count);
    if (g->failed) return as_fail_memory(error, NULL);
    AS_TRY(check_tags(g, error));
    return fill(g) ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_group(const as_grouping_request *request, as_grouping *out, assay_error *error) {
    const as_dataset *ds = request->ds;
    *out = (as_grouping){0};
    uint64_t n = as_ds_intervals(ds);
    if (n == 0)
        return as_fail(error, ASSAY_E_UNSUPPORTED, as_place_file(as_ds_text(ds, ds->path)), "",
                       "has no events, so there is nothing to group; tags are those of events");
    out->ds = as_dataset_new(request->memory_limit);
    if (request->wants_events) out->group_of = malloc(n * sizeof *out->group_of);
    if (!out->ds || (request->wants_events && !out->group_of)) return as_fail_memory(error, NULL);
    if (out->group_of) memset(out->group_of, 0xff, n * sizeof *out->group_of); /* ASSAY_NONE */
    grouper g = {.request = request, .ds = ds, .out = out->ds, .group_of = out->group_of};
    open_grouper(&g);
    assay_status status = work(&g, error);
    close_grouper(&g);
    return status;
}

void as_grouping_free(as_grouping *grouping) {
    as_dataset_free(grouping->ds);
    free(grouping->group_of);
    *grouping = (as_grouping){0};
}
