/* What the files of one dataset share: attributes by owner, ids, regions, and the order of rows. */
#include <stdlib.h>

#include "dataset/formulas.h"
#include "formats/cube/write.h"

/* ---- attributes by owner ----------------------------------------------------------------------------------------- */

/* How many owners of a kind there are. */
static size_t count_owners(const as_dataset *ds, as_owner owner) {
    switch (owner) {
    case AS_OWNER_RUN: return ds->runs.count;
    case AS_OWNER_METRIC: return ds->metrics.count;
    case AS_OWNER_REGION: return ds->regions.count;
    case AS_OWNER_CONTEXT: return ds->contexts.count;
    case AS_OWNER_LOCATION: return ds->locations.count;
    default: return 1;
    }
}

/* Counts, then places: the order of the dataset stays within each owner. */
static bool index_owner(const as_dataset *ds, as_owner owner, as_cube_owned *out) {
    size_t n_owners = count_owners(ds, owner), n = 0;
    for (size_t i = 0; i < ds->attributes.count; i++) n += as_ds_attribute(ds, i)->owner == owner;
    if (!n) return true;
    out->starts = calloc(n_owners + 2, sizeof *out->starts);
    out->list = malloc(n * sizeof *out->list);
    if (!out->starts || !out->list) return false;
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == owner && attribute->owner_id < n_owners) out->starts[attribute->owner_id + 2]++;
    }
    for (size_t i = 2; i < n_owners + 2; i++) out->starts[i] += out->starts[i - 1];
    for (size_t i = 0; i < ds->attributes.count; i++) { /* moves starts one owner on, to where they belong */
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == owner && attribute->owner_id < n_owners)
            out->list[out->starts[attribute->owner_id + 1]++] = (uint32_t)i;
    }
    return true;
}

void as_cube_each_attribute(const as_cube_source *source, as_owner owner, assay_id id, as_cube_visit *visit,
                            void *user) {
    const as_cube_owned *owned = &source->owned[owner];
    if (!owned->starts) return;
    for (uint32_t i = owned->starts[id]; i < owned->starts[id + 1]; i++) {
        const as_attribute *attribute = as_ds_attribute(source->ds, owned->list[i]);
        visit(user, as_ds_text(source->ds, attribute->key), attribute->value);
    }
}

const char *as_cube_attribute(const as_cube_source *source, as_owner owner, assay_id id, const char *key) {
    const as_cube_owned *owned = &source->owned[owner];
    if (!owned->starts) return NULL;
    for (uint32_t i = owned->starts[id]; i < owned->starts[id + 1]; i++) {
        const as_attribute *attribute = as_ds_attribute(source->ds, owned->list[i]);
        if (attribute->value.type == AS_CELL_TEXT && strcmp(as_ds_text(source->ds, attribute->key), key) == 0)
            return attribute->value.text;
    }
    return NULL;
}

/* ---- ids and regions --------------------------------------------------------------------------------------------- */

/* A number as it is written for people: no sign, no blanks, no zeros before it. */
static bool parse_id(const char *text, size_t limit, size_t *out) {
    size_t value = 0;
    if (!text || !*text || (text[0] == '0' && text[1])) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        value = value * 10 + (size_t)(*text - '0');
        if (value >= limit) return false;
    }
    *out = value;
    return true;
}

static const char *metric_id(const as_dataset *ds, assay_id id, char *digits) {
    (void)digits;
    return as_ds_text(ds, as_ds_metric(ds, id)->source_id);
}

static const char *region_id(const as_dataset *ds, assay_id id, char *digits) {
    (void)digits;
    return as_ds_text(ds, as_ds_region(ds, id)->source_id);
}

/* Whether the source ids of the entities are the numbers below their count, each once. Also false when memory is out:
 * then they are numbered anew. */
static bool are_dense(const as_dataset *ds, size_t n, const char *(*id_of)(const as_dataset *, assay_id, char *)) {
    unsigned char *seen = calloc(n + 1, 1);
    bool dense = seen != NULL;
    for (size_t i = 0; i < n && dense; i++) {
        char digits[AS_NUMBER_SIZE];
        size_t number = 0;
        dense = parse_id(id_of(ds, (assay_id)i, digits), n, &number) && !seen[number];
        if (dense) seen[number] = 1;
    }
    free(seen);
    return dense;
}

/* Contexts name their region; where they have none, or one of another name, a region of their own name is made, one for
 * each such pair. */
static bool find_regions(as_cube_source *source) {
    const as_dataset *ds = source->ds;
    as_map made;
    as_map_init(&made, NULL);
    bool fine = true;
    for (size_t i = 0; i < ds->contexts.count && fine; i++) {
        const as_context *context = as_ds_context(ds, (assay_id)i);
        bool fits = context->region != ASSAY_NONE && as_ds_region(ds, context->region)->name == context->name;
        if (fits && !source->region_of) continue;
        if (!source->region_of) {
            source->region_of = malloc(ds->contexts.count * sizeof *source->region_of);
            for (size_t k = 0; source->region_of && k < i; k++)
                source->region_of[k] = as_ds_context(ds, (assay_id)k)->region;
        }
        uint64_t key = as_pair(context->region, context->name);
        uint32_t known = fits ? context->region : as_map_get(&made, key);
        if (known == AS_MAP_NONE) {
            known = (uint32_t)(ds->regions.count + source->more_regions.count);
            as_cube_region region = {context->region, context->name};
            fine = as_map_put(&made, key, known) && as_vec_append(&source->more_regions, &region, 1);
        }
        fine = fine && source->region_of;
        if (fine) source->region_of[i] = known;
    }
    as_map_free(&made);
    return fine;
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

/* In pre-order each context hands out the next numbers to all its children at once; a root takes one when its turn
 * comes. */
static bool number_widely(as_cube_source *source) {
    const as_dataset *ds = source->ds;
    size_t n = ds->contexts.count;
    source->wide = calloc(n + 1, sizeof *source->wide);
    source->by_wide = malloc((n + 1) * sizeof *source->by_wide);
    if (!source->wide || !source->by_wide) return false;
    uint32_t next = 0;
    for (assay_id i = 0; i < n; i++) {
        const as_context *context = as_ds_context(ds, i);
        if (context->parent == ASSAY_NONE) source->wide[i] = next++;
        for (assay_id child = i + 1; child < i + context->subtree; child += as_ds_context(ds, child)->subtree)
            source->wide[child] = next++;
    }
    for (assay_id i = 0; i < n; i++) source->by_wide[source->wide[i]] = i;
    return true;
}

bool as_cube_holds_metric(const as_dataset *ds, assay_id metric) {
    const as_metric *about = as_ds_metric(ds, metric);
    const as_derived *derived = as_ds_derived(ds, metric);
    if (!about->is_stored) return !derived || !derived->is_infix;
    bool has_inclusive = about->part_of != ASSAY_NONE && as_ds_metric(ds, about->part_of)->kind == AS_KIND_INCLUSIVE;
    return about->kind == AS_KIND_INCLUSIVE || (about->kind == AS_KIND_POINT && !has_inclusive);
}

/* Numbers without gaps, for those that are written. */
static bool number_metrics(as_cube_source *source) {
    const as_dataset *ds = source->ds;
    uint32_t next = 0;
    source->metric_numbers = malloc((ds->metrics.count + 1) * sizeof *source->metric_numbers);
    for (assay_id i = 0; source->metric_numbers && i < ds->metrics.count; i++)
        source->metric_numbers[i] = as_cube_holds_metric(ds, i) ? next++ : UINT32_MAX;
    if (next < ds->metrics.count) source->keeps_metric_ids = false;
    return source->metric_numbers != NULL;
}

/* What has no place in the call tree has no place in Cube's. */
static bool mark_placeless(as_cube_source *source) {
    const as_dataset *ds = source->ds;
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        if (as_ds_context(ds, i)->role != AS_ROLE_PLACELESS) continue;
        if (!source->placeless) source->placeless = calloc(ds->contexts.count, sizeof *source->placeless);
        if (!source->placeless) return false;
        source->placeless[i] = true;
    }
    return true;
}

static bool link_metrics(as_cube_source *source) {
    const as_dataset *ds = source->ds;
    size_t n = ds->metrics.count;
    source->child = malloc((n + 1) * sizeof *source->child);
    source->sibling = malloc((n + 1) * sizeof *source->sibling);
    if (!source->child || !source->sibling) return false;
    for (size_t i = 0; i <= n; i++) source->child[i] = ASSAY_NONE;
    for (size_t i = n; i-- > 0;) {
        if (source->metric_numbers[i] == UINT32_MAX) continue;
        assay_id parent = as_ds_metric(ds, (assay_id)i)->parent;
        size_t place = parent == ASSAY_NONE ? n : parent;
        source->sibling[i] = source->child[place];
        source->child[place] = (assay_id)i;
    }
    return true;
}

bool as_cube_source_init(as_cube_source *source, const as_dataset *ds) {
    *source = (as_cube_source){.ds = ds};
    as_vec_init(&source->more_regions, sizeof(as_cube_region), NULL);
    for (as_owner owner = AS_OWNER_DATASET; owner <= AS_OWNER_LOCATION; owner++) {
        if (!index_owner(ds, owner, &source->owned[owner])) return false;
    }
    source->keeps_metric_ids = are_dense(ds, ds->metrics.count, metric_id);
    source->keeps_region_ids = are_dense(ds, ds->regions.count, region_id);
    source->keeps_context_ids = are_dense(ds, ds->contexts.count, as_context_source_id);
    return find_regions(source) && number_widely(source) && number_metrics(source) && mark_placeless(source) &&
           link_metrics(source);
}

void as_cube_source_free(as_cube_source *source) {
    for (as_owner owner = AS_OWNER_DATASET; owner <= AS_OWNER_LOCATION; owner++) {
        free(source->owned[owner].starts);
        free(source->owned[owner].list);
    }
    as_vec_free(&source->more_regions);
    free(source->region_of);
    free(source->wide);
    free(source->by_wide);
    free(source->metric_numbers);
    free(source->placeless);
    free(source->child);
    free(source->sibling);
}
