#include "cli/context_text.h"

#include "render/names.h"

enum { MOST_NAMES = 500 };

void as_context_put_name(as_text *out, const as_dataset *ds, assay_id context) {
    const as_context *c = as_ds_context(ds, context);
    const as_region *region = c->region == ASSAY_NONE ? NULL : as_ds_region(ds, c->region);
    const char *name = as_ds_text(ds, c->name);
    as_name_of_place(out, name ? name : "", region ? as_ds_text(ds, region->file) : NULL,
                     region ? region->line_begin : -1);
}

/* The contexts of a path, the innermost first. True where there are more of them. */
static bool list_steps(const as_dataset *ds, assay_id context, bool with_places, as_text *out, as_vec *steps) {
    assay_id id = context;
    for (steps->count = 0; id != ASSAY_NONE && steps->count < MOST_NAMES; id = as_ds_context(ds, id)->parent) {
        if (steps->count && as_context_is_root(ds, id)) return false; /* it has no place in paths */
        bool is_step = !steps->count || with_places || as_ds_context(ds, id)->role == AS_ROLE_CALL;
        if (is_step && !as_vec_append(steps, &id, 1)) out->failed = true;
    }
    return id != ASSAY_NONE;
}

void as_context_put_path(as_text *out, const as_dataset *ds, assay_id context, const as_path_style *style,
                         as_vec *names) {
    as_text name;
    as_text_init(&name);
    if (list_steps(ds, context, style->with_places, out, names)) as_text_add(out, style->ellipsis);
    for (size_t i = names->count; i-- > 0;) {
        as_text_clear(&name);
        as_context_put_name(&name, ds, AS_AT(assay_id, names, i));
        as_name_shorten(out, as_text_data(&name), as_text_size(&name), style->most ? style->most : AS_WIDEST_NAME,
                        style->ellipsis);
        if (i) as_text_add(out, "->");
    }
    out->failed |= name.failed;
    as_text_free(&name);
}
