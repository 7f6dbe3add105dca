/* Filling a dataset. Every function returns an id, or ASSAY_NONE / false when memory (or the budget) is out; nothing
 * else can fail. */
#ifndef AS_DATASET_BUILD_H
#define AS_DATASET_BUILD_H

#include "core/map.h"
#include "dataset/dataset.h"

as_str as_ds_intern(as_dataset *ds, const char *text, size_t size);
as_str as_ds_intern_text(as_dataset *ds, const char *text);
/* A text of another dataset in this one; absent stays absent. *fine is cleared when memory is out. */
as_str as_ds_carry(as_dataset *ds, const as_dataset *from, as_str text, bool *fine);

/* By name: known ones are found, new ones appended. */
assay_id as_add_parameter(as_dataset *ds, as_str name);
/* New entries; the struct is copied. Fill a struct from the matching AS_..._INIT first. */
assay_id as_add_metric(as_dataset *ds, const as_metric *metric);
assay_id as_add_region(as_dataset *ds, const as_region *region);
assay_id as_add_location(as_dataset *ds, const as_location *location);
assay_id as_add_run(as_dataset *ds, const as_run *run);
bool as_add_block(as_dataset *ds, const as_block *block); /* arrays must live in ds->arena */
/* An entry of as_pair(metric, run) that is new. The struct is copied; arrays and source live in ds->arena, or in what
 * the dataset holds. One without a source is loaded. */
bool as_add_profile(as_dataset *ds, const as_profile *profile);
/* release(object) is called when the dataset is freed; at once, where memory is out. */
bool as_ds_hold(as_dataset *ds, void *object, void (*release)(void *object));
bool as_add_summary(as_dataset *ds, const as_summary *summary);
bool as_add_event(as_dataset *ds, const as_event *event);
/* The struct is copied; lines are added in ascending order of (run, location), one for each. */
bool as_add_trace_line(as_dataset *ds, const as_trace_line *line);
assay_id as_add_model_set(as_dataset *ds, const as_model_set *set);
/* segments (those of model->n_pieces last) and terms are copied behind those of earlier models. */
assay_id as_add_model(as_dataset *ds, const as_model *model, const as_segment *segments, size_t n_segments,
                      const as_term *terms, size_t n_terms);
/* Of the last model added; segments in ascending order. costs->model is set here. */
bool as_add_segment_costs(as_dataset *ds, const as_segment_costs *costs);
/* The cell's text is copied. */
bool as_add_attribute(as_dataset *ds, as_owner owner, assay_id owner_id, const char *key, as_cell value);
/* The table of this name, made with columns "id" and "run" when new. NULL when memory is out. */
as_table *as_add_record_table(as_dataset *ds, const char *name);
/* A table of this name, which the dataset must not have yet, whose cells are asked of `source`; it lives as long as the
 * dataset. records: see as_record_table; NULL: the table is derived from others. Its columns are "id" and "run" so far.
 * NULL when memory is out. */
as_table *as_add_record_view(as_dataset *ds, const char *name, const as_table_source *source,
                             struct as_records *records);
/* The same for one that is derived in a way that is known. */
as_table *as_add_derived_view(as_dataset *ds, const char *name, const as_table_source *source,
                              as_record_meaning meaning);
/* Kept up to AS_MAX_PROBLEMS, then counted. */
void as_add_problem(as_dataset *ds, as_severity severity, as_place place, const char *rule, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void as_add_vproblem(as_dataset *ds, as_severity severity, as_place place, const char *rule, const char *format,
                     va_list args) __attribute__((format(printf, 5, 0)));

/* The problem "missing-points": n_incomplete series have no data at some points, the first of them at n_missing. False
 * when memory is out. */
bool as_add_missing_points(as_dataset *ds, as_place place, const as_series *first, size_t n_missing,
                           size_t n_incomplete);

#define AS_METRIC_INIT                                                                                                 \
    ((as_metric){.source_id = AS_NO_STR,                                                                               \
                 .name = AS_NO_STR,                                                                                    \
                 .display_name = AS_NO_STR,                                                                            \
                 .unit = AS_NO_STR,                                                                                    \
                 .dtype = AS_NO_STR,                                                                                   \
                 .description = AS_NO_STR,                                                                             \
                 .parent = ASSAY_NONE,                                                                                 \
                 .exclusive = ASSAY_NONE,                                                                              \
                 .part_of = ASSAY_NONE})
#define AS_REGION_INIT                                                                                                 \
    ((as_region){.source_id = AS_NO_STR,                                                                               \
                 .name = AS_NO_STR,                                                                                    \
                 .mangled = AS_NO_STR,                                                                                 \
                 .kind = AS_NO_STR,                                                                                    \
                 .file = AS_NO_STR,                                                                                    \
                 .module = AS_NO_STR,                                                                                  \
                 .line_begin = -1,                                                                                     \
                 .line_end = -1})
#define AS_LOCATION_INIT                                                                                               \
    ((as_location){.source_id = AS_NO_STR, .kind = AS_NO_STR, .name = AS_NO_STR, .parent = ASSAY_NONE, .rank = -1})
#define AS_CONTEXT_INIT                                                                                                \
    ((as_context){.source_id = AS_NO_STR, .name = AS_NO_STR, .parent = ASSAY_NONE, .region = ASSAY_NONE, .line = -1})
#define AS_RUN_INIT ((as_run){.source_id = AS_NO_STR, .source = AS_NO_STR, .point = ASSAY_NONE, .start_time = NAN})

/* ---- the tree of contexts ---------------------------------------------------------------------------------------- */

/* Contexts arrive in any order, a parent before its children, and get ids in order of arrival; as_tree_finish()
 * renumbers them in pre-order (children in order of arrival) and stores them in the dataset. Until then use the tree's
 * ids. */
typedef struct as_tree {
    as_dataset *ds;
    as_vec nodes;     /* as_context, parent being a tree id */
    as_map by_region; /* (parent + 1, region) -> tree id; only of as_tree_child() */
    as_map by_path;   /* hash of a path -> tree id */
    as_map regions;   /* string id of a name -> region id */
    uint32_t n_callpaths;
} as_tree;

void as_tree_init(as_tree *tree, as_dataset *ds);
void as_tree_free(as_tree *tree);
/* A new context, whether or not its parent has one of that region already. */
assay_id as_tree_add(as_tree *tree, const as_context *context);
/* The context of this region below parent (ASSAY_NONE: a root), made if new. */
assay_id as_tree_child(as_tree *tree, assay_id parent, assay_id region);
/* The region of this name, made if new. */
assay_id as_tree_region(as_tree *tree, as_str name);
/* Says that the source names this context as a call path. */
void as_tree_mark_callpath(as_tree *tree, assay_id id);
/* The context at the end of a call path "a->b->c", made with all that lies on the way; marked as a call path. */
assay_id as_tree_path(as_tree *tree, const char *path, size_t size);
/* Puts the contexts into the dataset in pre-order; the tree is not to be used from then on. *new_ids: for each tree id
 * its final id, in ds->arena. */
bool as_tree_finish(as_tree *tree, const assay_id **new_ids);

#endif
