/* What programs and people are told of a node: its name, its place, its path, its line of source. */
#include <string.h>

#include "cli/tree_view.h"

static const as_region *region_of(const as_dataset *ds, assay_id region) {
    return region == ASSAY_NONE ? NULL : as_ds_region(ds, region);
}

/* The line that a context is called from is one of its caller's file, where that is known. */
static void add_call_line(const as_dataset *ds, const as_context *context, as_tree_place *place) {
    const as_region *caller =
        context->parent == ASSAY_NONE ? NULL : region_of(ds, as_ds_context(ds, context->parent)->region);
    if (context->role == AS_ROLE_CALL && context->line > 0 && caller && caller->file != AS_NO_STR) {
        place->call_file = caller->file;
        place->call_line = context->line;
    } else {
        place->line = context->line;
    }
}

as_tree_place as_tree_place_of(const as_tree_view *view, const as_view_node *node, char digits[AS_NUMBER_SIZE]) {
    const as_dataset *ds = view->ds;
    const as_region *region = region_of(ds, node->region),
                    *site = node->call_site == ASSAY_NONE ? NULL
                                                          : region_of(ds, as_ds_context(ds, node->call_site)->region);
    as_tree_place place = {.file = AS_NO_STR, .call_file = AS_NO_STR, .line = -1, .call_line = -1};
    if (region) {
        place.kind = as_ds_text(ds, region->kind);
        place.source_id = as_ds_text(ds, region->source_id);
        place.module = as_ds_text(ds, region->module);
        place.file = region->file;
        place.line = region->line_begin;
    }
    if (site) {
        place.call_file = site->file;
        place.call_line = site->line_begin;
    }
    switch (node->level) {
    case AS_LEVEL_MODULE: place.kind = "module", place.module = as_ds_text(ds, node->name); break;
    case AS_LEVEL_FILE: place.kind = "file", place.file = node->name; break;
    case AS_LEVEL_CALL: place.kind = "call"; break;
    default: break;
    }
    if (view->request.kind != AS_VIEW_TOP_DOWN || node->context == ASSAY_NONE) return place;
    const as_context *context = as_ds_context(ds, node->context);
    place.source_id = as_context_source_id(ds, node->context, digits);
    if (place.line < 0 && !site) add_call_line(ds, context, &place);
    return place;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Sources without a name for an inlined function, or for where it stands, call it so. */
static bool is_nameless(const char *name) { return !name[0] || strcmp(name, "<inline>") == 0; }

/* "[I] solve", as hpcviewer has it. */
static const char *inlined_name(as_tree_view *view, const as_view_node *node, const char *name) {
    const as_region *region = region_of(view->ds, node->region);
    const char *file = region ? as_ds_text(view->ds, region->file) : NULL, *slash = file ? strrchr(file, '/') : NULL;
    as_vec *text = &view->name;
    text->count = 0;
    bool fine = as_vec_text(text, "[I] ");
    if (fine && is_nameless(name) && file) {
        char line[AS_NUMBER_SIZE];
        as_int_format(region->line_begin > 0 ? region->line_begin : 0, line);
        fine = as_vec_text(text, "inlined from ") && as_vec_text(text, slash ? slash + 1 : file) &&
               as_vec_text(text, ": ") && as_vec_text(text, line);
    } else if (fine) {
        fine = as_vec_text(text, name);
    }
    return fine && as_vec_append(text, "", 1) ? text->data : name;
}

const char *as_tree_name_of(as_tree_view *view, const as_view_node *node, bool for_people) {
    const char *name = as_ds_text(view->ds, node->name);
    bool is_scope = view->request.kind == AS_VIEW_FLAT && view->request.group == AS_GROUP_SCOPE;
    if (!name && is_scope && node->level == AS_LEVEL_MODULE) return "<unknown module>";
    if (!name && is_scope && node->level == AS_LEVEL_FILE) return "<unknown file>";
    if (!name) return for_people ? "(unknown)" : NULL;
    bool is_piece = node->context != ASSAY_NONE && as_ds_context(view->ds, node->context)->role == AS_ROLE_INNER;
    if (for_people && is_piece && !name[0]) return inlined_name(view, node, name);
    if (!node->is_inlined) return name;
    return for_people || (is_piece && view->request.kind != AS_VIEW_TOP_DOWN) ? inlined_name(view, node, name) : name;
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

bool as_tree_path_step(as_walk_path *path, const as_tree_view *view, const as_view_node *node) {
    bool is_down = view->request.kind == AS_VIEW_TOP_DOWN, is_first = is_down && node->depth == 0;
    if (is_first && as_context_is_root(view->ds, node->context)) return as_walk_path_skip(path);
    /* The root of a subtree has a path, too. */
    assay_id above = is_first ? as_ds_context(view->ds, node->context)->parent : ASSAY_NONE;
    return as_walk_path_step(path, view->ds, node->depth, node->name, above, is_down ? "->" : "<-");
}

/* ---- source ------------------------------------------------------------------------------------------------------ */

const char *as_tree_source_of(const as_tree_view *view, const as_view_node *node, const as_tree_place *place,
                              size_t *size) {
    if (!view->sources) return NULL;
    if (node->level == AS_LEVEL_CALL) return as_source_line(view->sources, place->call_file, place->call_line, size);
    if (node->level != AS_LEVEL_CONTEXT) return NULL;
    return as_source_line(view->sources, place->file, place->line, size);
}
