/* What Extra-P says of the call paths of exports, in its tags: which are of GPUs, and which it leaves out of its sums.
 * Kept as attributes "tags:…" of contexts, as .extra-p files have them. */
#include "formats/tags.h"
#include "formats/nsight/export.h"

#define COMPARED "tags:agg__category__comparison_cpu_gpu"
#define CATEGORY "tags:agg__category"
#define OVERLAPS "tags:gpu__overlap"
#define UNUSED   "tags:agg__usage_disabled"
#define MAY_LACK "tags:validation__ignore__num_measurements"

enum { MOST_TAGS = 4 };

/* Those of contexts whose region is of a kind (of activities that block: other ones), and of what overlaps one. Unused
 * entries have no key. */
typedef struct rule {
    const char *kind;
    as_tag by_kind[MOST_TAGS], when_blocking[MOST_TAGS], overlap[MOST_TAGS];
} rule;

static const rule rules[] = {
    {"kernel",
     {{"tags:gpu__kernel", "true"}, {CATEGORY, "GPU"}, {COMPARED, "null"}},
     {{0}},
     {{OVERLAPS, "agg"}, {"tags:gpu__kernel", "true"}, {UNUSED, "true"}}},
    {"memcpy",
     {{"tags:gpu__mem_copy", "true"},
      {"tags:gpu__blocking__mem_copy", "false"},
      {CATEGORY, "GPU MEM"},
      {COMPARED, "null"}},
     {{"tags:gpu__mem_copy", "true"}, {"tags:gpu__blocking__mem_copy", "true"}},
     {{OVERLAPS, "true"}, {"tags:agg__disabled", "true"}}},
    {"memset",
     {{"tags:gpu__mem_set", "true"}, {"tags:gpu__blocking__mem_set", "false"}, {CATEGORY, "GPU"}, {COMPARED, "null"}},
     {{"tags:gpu__mem_set", "true"}, {"tags:gpu__blocking__mem_set", "true"}},
     {{OVERLAPS, "true"}, {"tags:agg__disabled", "true"}}},
    {"sync", {{COMPARED, "GPU SYNC"}}, {{0}}, {{OVERLAPS, "agg"}, {UNUSED, "true"}, {MAY_LACK, "true"}}},
    {"api", {{0}}, {{0}}, {{OVERLAPS, "agg"}, {UNUSED, "true"}, {MAY_LACK, "true"}}},
    {"wait", {{UNUSED, "true"}}, {{0}}, {{0}}},
    {"idle", {{"tags:gpu__idle", "true"}, {CATEGORY, "GPU IDLE"}, {MAY_LACK, "true"}}, {{0}}, {{0}}}};

static const char *kind_of(const as_dataset *ds, assay_id context) {
    assay_id region = context == ASSAY_NONE ? ASSAY_NONE : as_ds_context(ds, context)->region;
    const char *kind = region == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_region(ds, region)->kind);
    return kind ? kind : "";
}

static const as_tag *tags_of(const as_dataset *ds, assay_id id) {
    const as_context *context = as_ds_context(ds, id);
    const char *kind = kind_of(ds, id);
    bool is_overlap = strcmp(kind, "overlap") == 0;
    bool is_blocking = strncmp(as_ds_text(ds, context->name), "BLOCKING ", 9) == 0;
    if (is_overlap) kind = kind_of(ds, context->parent);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const rule *r = &rules[i];
        if (strcmp(kind, r->kind) == 0)
            return is_overlap ? r->overlap : is_blocking && r->when_blocking[0].key ? r->when_blocking : r->by_kind;
    }
    return NULL;
}

bool as_ns_add_tags(as_dataset *ds) {
    bool fine = true;
    for (assay_id id = 0; id < ds->contexts.count; id++) {
        const as_tag *tags = tags_of(ds, id);
        for (size_t k = 0; tags && k < MOST_TAGS && tags[k].key && fine; k++) fine = as_add_tag(ds, id, tags[k]);
    }
    return fine;
}
