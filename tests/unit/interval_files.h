/* Datasets with intervals made by hand: runs, a tree of labels, sections, pauses, tags. */
#ifndef INTERVAL_FILES_H
#define INTERVAL_FILES_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dataset/build.h"

/* A region is named by its call path "a->b", a section or pause by its label. Times in seconds. tags: "k=v;k=v" or
 * NULL. */
typedef struct made_event {
    assay_id run;
    const char *kind, *path;
    double start, end;
    const char *tags;
} made_event;

static inline void add_tags(as_dataset *ds, as_owner owner, assay_id id, const char *tags) {
    while (tags && *tags) {
        size_t size = strcspn(tags, ";"), name = strcspn(tags, "=");
        char key[64];
        snprintf(key, sizeof key, "tag:%.*s", (int)name, tags);
        as_add_attribute(ds, owner, id, key, as_cell_text_n(tags + name + 1, size - name - 1));
        tags += size + (tags[size] == ';');
    }
}

static inline assay_id add_made_run(as_dataset *ds, const char *tags) {
    as_run run = AS_RUN_INIT;
    run.start_time = 1700000000.25;
    assay_id id = as_add_run(ds, &run);
    add_tags(ds, AS_OWNER_RUN, id, tags);
    return id;
}

static inline assay_id context_of(as_tree *tree, as_dataset *ds, const made_event *made) {
    if (strcmp(made->kind, "pause") == 0) return ASSAY_NONE;
    assay_id at = ASSAY_NONE;
    for (const char *name = made->path; name;) {
        const char *arrow = strstr(name, "->");
        size_t size = arrow ? (size_t)(arrow - name) : strlen(name);
        as_str label = as_ds_intern(ds, name, size), kind = as_ds_intern_text(ds, made->kind);
        assay_id region = ASSAY_NONE;
        for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
            if (as_ds_region(ds, id)->name == label && as_ds_region(ds, id)->kind == kind) region = id;
        }
        as_region fresh = AS_REGION_INIT;
        fresh.name = label;
        fresh.kind = kind;
        if (region == ASSAY_NONE) region = as_add_region(ds, &fresh);
        at = as_tree_child(tree, at, region);
        name = arrow ? arrow + 2 : NULL;
    }
    return at;
}

/* The runs must be there. */
static inline void add_made_events(as_dataset *ds, const made_event *made, size_t n) {
    as_tree tree;
    assay_id contexts[64];
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (size_t i = 0; i < n; i++) contexts[i] = context_of(&tree, ds, &made[i]);
    as_tree_finish(&tree, &ids);
    as_tree_free(&tree);
    for (size_t i = 0; i < n; i++) {
        const char *label = made[i].path, *arrow;
        while ((arrow = strstr(label, "->"))) label = arrow + 2;
        as_event event = {.source_id = AS_NO_STR,
                          .is_numbered = true,
                          .source_number = 16 + i,
                          .name = as_ds_intern_text(ds, label),
                          .kind = as_ds_intern_text(ds, made[i].kind),
                          .run = made[i].run,
                          .location = ASSAY_NONE,
                          .context = contexts[i] == ASSAY_NONE ? ASSAY_NONE : ids[contexts[i]],
                          .start = made[i].start,
                          .end = made[i].end};
        as_add_event(ds, &event);
        add_tags(ds, AS_OWNER_EVENT, (assay_id)i, made[i].tags);
    }
}

/* One row of the table. owner NULL: none; text NULL: a number. */
typedef struct made_record {
    const char *type, *owner;
    int64_t interval;
    double start;
    const char *aggregation, *measurement;
    double number;
    const char *text;
} made_record;

static inline void add_made_records(as_dataset *ds, const made_record *records, size_t n) {
    static const char *const names[] = {"type", "owner", "interval", "start", "aggregation", "measurement", "value"};
    as_table *table = as_add_record_table(ds, "record");
    for (size_t i = 0; i < 7; i++) as_table_add_column(table, names[i]);
    for (size_t i = 0; i < n; i++) {
        const made_record *r = &records[i];
        bool is_whole = r->number == floor(r->number);
        as_cell cells[] = {as_cell_int((int64_t)i),
                           as_cell_int(0),
                           as_cell_text(r->type),
                           as_cell_text(r->owner),
                           r->interval < 0 ? as_cell_null() : as_cell_int(r->interval),
                           as_cell_real(r->start),
                           as_cell_text(r->aggregation),
                           as_cell_text(r->measurement),
                           r->text    ? as_cell_text(r->text)
                           : is_whole ? as_cell_int((int64_t)r->number)
                                      : as_cell_real(r->number)};
        as_table_append(table, cells);
    }
}

#endif
