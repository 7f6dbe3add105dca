/* Texts that are made rather than stored: labels of points, paths of contexts, functions. */
#include <stdlib.h>

#include "query/tables.h"

/* Deep trees have paths whose total length is quadratic: beyond this a path is made anew each time. */
enum { MAX_KEPT = 64 << 20 };

struct as_cached_text {
    const char *text; /* NULL: not made yet */
    size_t size;
};

static void cache_init(as_text_cache *cache, size_t count) {
    *cache = (as_text_cache){.count = count};
    as_arena_init(&cache->arena, NULL);
}

static void cache_free(as_text_cache *cache) {
    as_arena_free(&cache->arena);
    free(cache->texts);
}

bool as_view_init(as_view *view, const as_dataset *ds) {
    *view = (as_view){.ds = ds, .scratch_path = ASSAY_NONE};
    cache_init(&view->labels, ds->n_points);
    cache_init(&view->paths, AS_COUNT(ds, contexts));
    as_vec_init(&view->scratch, 1, NULL);
    if (as_ds_records(ds, "record")) return true;
    view->no_records = as_table_new((as_column[]){{"id"}, {"run"}}, 2, NULL);
    return view->no_records != NULL;
}

void as_view_free(as_view *view) {
    cache_free(&view->labels);
    cache_free(&view->paths);
    free(view->path_sizes);
    as_vec_free(&view->scratch);
    as_table_free(view->no_records);
}

/* The slot of an id, or NULL when memory is out. */
static struct as_cached_text *cache_slot(as_text_cache *cache, size_t id) {
    if (!cache->texts) cache->texts = calloc(cache->count, sizeof *cache->texts);
    return cache->texts ? &cache->texts[id] : NULL;
}

/* Keeps the text in view->scratch for the id where there is room. */
static as_cell keep_scratch(as_view *view, as_text_cache *cache, struct as_cached_text *slot) {
    size_t size = view->scratch.count - 1; /* without the NUL */
    char *copy = NULL;
    if (slot && size <= MAX_KEPT && cache->kept + size + 1 <= MAX_KEPT)
        copy = as_arena_copy(&cache->arena, view->scratch.data, size);
    if (!copy) return as_cell_text_n(view->scratch.data, size);
    cache->kept += size + 1;
    *slot = (struct as_cached_text){copy, size};
    return as_cell_text_n(copy, size);
}

static as_cell out_of_memory(as_view *view) {
    view->is_out_of_memory = true;
    return as_cell_null();
}

as_cell as_view_label(as_view *view, assay_id point) {
    struct as_cached_text *slot = cache_slot(&view->labels, point);
    if (slot && slot->text) return as_cell_text_n(slot->text, slot->size);
    view->scratch_path = ASSAY_NONE;
    if (!as_point_label(view->ds, point, &view->scratch)) return out_of_memory(view);
    return keep_scratch(view, &view->labels, slot);
}

as_cell as_view_function(as_view *view, const as_model *model) {
    view->scratch_path = ASSAY_NONE;
    if (!as_model_function_text(view->ds, model, &view->scratch)) return out_of_memory(view);
    return as_cell_text_n(view->scratch.data, view->scratch.count - 1);
}

as_cell as_view_number(as_view *view, uint64_t number) {
    char digits[AS_NUMBER_SIZE];
    size_t size = as_uint_format(number, digits);
    view->scratch_path = ASSAY_NONE;
    view->scratch.count = 0;
    if (!as_vec_append(&view->scratch, digits, size)) return out_of_memory(view);
    return as_cell_text_n(view->scratch.data, size);
}

/* The context that the path goes on from, or ASSAY_NONE: the root of all has no place in it. */
static assay_id path_parent(const as_dataset *ds, assay_id id) {
    assay_id parent = as_ds_context(ds, id)->parent;
    return parent != ASSAY_NONE && as_context_is_root(ds, parent) ? ASSAY_NONE : parent;
}

/* The path from its parent's, where that one is kept. */
static const char *extend_parent(as_view *view, assay_id id, struct as_cached_text *slot) {
    const as_context *context = as_ds_context(view->ds, id);
    assay_id above = path_parent(view->ds, id);
    if (above == ASSAY_NONE) return NULL;
    const struct as_cached_text *parent = cache_slot(&view->paths, above);
    if (!parent || !parent->text) return NULL;
    size_t name_size = context->name == AS_NO_STR ? 0 : as_str_size(&view->ds->strings, context->name);
    size_t size = parent->size + 2 + name_size;
    if (view->paths.kept + size + 1 > MAX_KEPT) return NULL;
    char *text = as_arena_alloc(&view->paths.arena, size + 1);
    if (!text) return NULL;
    memcpy(text, parent->text, parent->size);
    memcpy(text + parent->size, "->", 2);
    if (name_size) memcpy(text + parent->size + 2, as_ds_text(view->ds, context->name), name_size);
    view->paths.kept += size + 1;
    *slot = (struct as_cached_text){text, size};
    return text;
}

/* Into scratch; it goes on from the parent's where that was the last one. */
static bool make_path(as_view *view, assay_id id) {
    const as_context *context = as_ds_context(view->ds, id);
    assay_id above = path_parent(view->ds, id);
    bool goes_on = above != ASSAY_NONE && view->scratch_path == above, fine;
    view->scratch_path = ASSAY_NONE;
    if (goes_on) {
        size_t size = as_str_size(&view->ds->strings, context->name);
        view->scratch.count--; /* its NUL */
        fine = as_vec_text(&view->scratch, "->") &&
               (!size || as_vec_append(&view->scratch, as_ds_text(view->ds, context->name), size)) &&
               as_vec_append(&view->scratch, "", 1);
    } else
        fine = as_context_path(view->ds, id, &view->scratch);
    if (fine) view->scratch_path = id;
    return fine;
}

uint32_t *as_path_sizes(const as_dataset *ds) {
    uint32_t *sizes = malloc((AS_COUNT(ds, contexts) + 1) * sizeof *sizes);
    for (assay_id i = 0; sizes && i < AS_COUNT(ds, contexts); i++) {
        const as_context *context = as_ds_context(ds, i);
        assay_id above = path_parent(ds, i);
        bool is_first = above == ASSAY_NONE;
        uint64_t size = as_str_size(&ds->strings, context->name) + (is_first ? 0 : (uint64_t)sizes[above] + 2);
        bool fits = size <= AS_LONGEST_SQL_PATH && (is_first || sizes[above] != AS_NO_PATH);
        sizes[i] = fits ? (uint32_t)size : AS_NO_PATH;
    }
    return sizes;
}

as_cell as_view_path(as_view *view, assay_id context) {
    if (!view->path_sizes && !(view->path_sizes = as_path_sizes(view->ds))) return out_of_memory(view);
    if (view->path_sizes[context] == AS_NO_PATH) return as_cell_null();
    struct as_cached_text *slot = cache_slot(&view->paths, context);
    if (slot && (slot->text || extend_parent(view, context, slot))) return as_cell_text_n(slot->text, slot->size);
    if (!make_path(view, context)) return out_of_memory(view);
    return keep_scratch(view, &view->paths, slot);
}
