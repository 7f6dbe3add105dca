/* A flame graph, as far as it can be seen (api/flame): boxes, what is looked for, and where the root lies. */
#include <stdlib.h>
#include <string.h>

#include "core/needle.h"
#include "server/frames.h"
#include "server/report_choice.h"

enum { MOST_SHAPES = 20000, USUAL_WIDTH = 1600, WIDEST = 20000, MOST_LOOPS = 32 };

typedef struct flame {
    as_asked_frames asked;
    const as_dataset *ds;
    as_flame_asked request;
    as_vec shapes;     /* as_flame_shape */
    uint32_t n_levels; /* of these; 0: nothing is cut */
    as_vec names;      /* as_str: those of the answer */
    uint32_t *number;  /* of each string of the dataset: its place in names, from 1 on; 0: it is not there */
    bool *wanted;      /* names that are looked for; or NULL */
} flame;

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

/* A node is the context of the frame, inverted with the number of levels above it from bit 32 on. */
static int64_t node_of(const flame *f, uint32_t frame, uint32_t level) {
    return frame == AS_NO_FRAME ? -1 : (int64_t)as_flame_box_at(f->asked.frames, frame)->context | (int64_t)level << 32;
}

static assay_status choose_root(const as_request *request, flame *f, assay_error *error) {
    int64_t node;
    f->request.root = AS_NO_FRAME;
    AS_TRY(as_request_number(request, "root", 0, (int64_t)1 << 52, -1, &node, error));
    if (node < 0) return ASSAY_OK;
    uint64_t context = (uint64_t)node & UINT32_MAX, level = (uint64_t)node >> 32;
    uint32_t frame = context < AS_COUNT(f->ds, contexts) ? f->asked.frames->of_context[context] : AS_NO_FRAME;
    uint32_t above = frame;
    for (uint64_t i = 0; i < level && above != AS_NO_FRAME; i++)
        above = as_flame_box_at(f->asked.frames, above)->parent;
    if (above == AS_NO_FRAME || (level && !f->request.is_inverted))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no frame %lld here", (long long)node);
    f->request.root = frame;
    f->request.levels = (uint32_t)level;
    return ASSAY_OK;
}

static assay_status find_names(const as_request *request, flame *f, assay_error *error) {
    const char *match = as_request_text(request, "match");
    as_needle needle;
    if (!match) return ASSAY_OK;
    assay_status status = as_needle_init(&needle, match, error);
    size_t n = f->ds->strings.entries.count;
    if (status == ASSAY_OK && !(f->wanted = calloc(n + 1, sizeof *f->wanted))) status = as_fail_memory(error, NULL);
    for (uint32_t i = 0; status == ASSAY_OK && i < as_flame_frames_count(f->asked.frames); i++) {
        as_str name = as_flame_box_at(f->asked.frames, i)->name;
        if (name == AS_NO_STR || f->number[name]) continue;
        f->number[name] = 1; /* asked already */
        f->wanted[name] = as_needle_matches(&needle, as_ds_text(f->ds, name));
    }
    memset(f->number, 0, (n + 1) * sizeof *f->number);
    as_needle_free(&needle);
    f->request.names = f->wanted;
    return status;
}

/* One of two words; the first is the usual one. */
static assay_status choose_word(const as_request *request, const char *name, const char *first, const char *second,
                                bool *is_second, assay_error *error) {
    const char *text = as_request_text(request, name);
    *is_second = text && strcmp(text, second) == 0;
    if (!text || *is_second || strcmp(text, first) == 0) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'%s' cannot be '%.100s'; %s or %s", name, text, first,
                   second);
}

static assay_status choose(const as_request *request, flame *f, assay_error *error) {
    int64_t width;
    bool by_source;
    AS_TRY(choose_word(request, "view", "top-down", "inverted", &f->request.is_inverted, error));
    AS_TRY(choose_word(request, "order", "size", "source", &by_source, error));
    AS_TRY(as_request_number(request, "width", 1, WIDEST, USUAL_WIDTH, &width, error));
    f->request.by_size = !by_source;
    f->request.most = MOST_SHAPES;
    AS_TRY(choose_root(request, f, error));
    AS_TRY(find_names(request, f, error));
    double total = f->asked.frames->all;
    if (f->request.root != AS_NO_FRAME && !f->request.is_inverted) total = f->asked.frames->total[f->request.root];
    f->request.narrowest = 0.5 * total / (double)width;
    return ASSAY_OK;
}

/* Inverted: how much a root has is known when it was drawn. */
static assay_status draw(flame *f, assay_error *error) {
    double asked = f->request.narrowest;
    bool is_part = f->request.is_inverted && f->request.root != AS_NO_FRAME;
    if (is_part) f->request.narrowest = f->asked.frames->all; /* the root alone */
    bool fine = as_flame_frames_draw(f->asked.frames, &f->request, &f->shapes, &f->n_levels);
    if (fine && is_part) {
        double total = AS_AT(as_flame_shape, &f->shapes, 0).total;
        f->request.narrowest = f->asked.frames->all > 0 ? asked * (total / f->asked.frames->all) : 0;
        f->shapes.count = 0;
        fine = as_flame_frames_draw(f->asked.frames, &f->request, &f->shapes, &f->n_levels);
    }
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool number_name(flame *f, as_str name) {
    if (name == AS_NO_STR || f->number[name]) return true;
    f->number[name] = (uint32_t)f->names.count + 1;
    return as_vec_append(&f->names, &name, 1);
}

static const as_region *region_of(const flame *f, uint32_t frame) {
    if (frame == AS_NO_FRAME) return NULL;
    assay_id region = as_ds_context(f->ds, as_flame_box_at(f->asked.frames, frame)->context)->region;
    return region == ASSAY_NONE ? NULL : as_ds_region(f->ds, region);
}

/* Loops and lines are in the module of their function, the nearest above them that has one; where there are none, files
 * do. */
static as_str module_of(const flame *f, uint32_t frame) {
    const as_region *own = region_of(f, frame), *region = own;
    for (int i = 0; i < MOST_LOOPS && region && region->module == AS_NO_STR && region->file != AS_NO_STR; i++) {
        frame = as_flame_box_at(f->asked.frames, frame)->parent;
        region = region_of(f, frame);
    }
    if (region && region->module != AS_NO_STR) return region->module;
    return own ? own->file : AS_NO_STR;
}
static as_str kind_of(const as_region *region) { return region ? region->kind : AS_NO_STR; }
static as_str name_of(const flame *f, uint32_t frame) {
    return frame == AS_NO_FRAME ? AS_NO_STR : as_flame_box_at(f->asked.frames, frame)->name;
}

static bool number_names(flame *f) {
    for (size_t i = 0; i < f->shapes.count; i++) {
        uint32_t frame = AS_AT(as_flame_shape, &f->shapes, i).frame;
        const as_region *region = region_of(f, frame);
        if (!number_name(f, name_of(f, frame)) || !number_name(f, module_of(f, frame)) ||
            !number_name(f, kind_of(region)))
            return false;
    }
    return true;
}

static void build_name(as_builder *b, const flame *f, as_str name) {
    as_build_known(b, NULL, name == AS_NO_STR ? -1 : (int64_t)f->number[name] - 1, false);
}

typedef enum shape_column {
    NODE,
    PARENT,
    CONTEXT,
    NAME,
    VALUE,
    OWN,
    MODULE,
    KIND,
    REST,
    FOUND,
    N_COLUMNS
} shape_column;

static void build_cell(as_builder *b, const flame *f, const as_flame_shape *shape, shape_column column) {
    switch (column) {
    case NODE: as_build_known(b, NULL, node_of(f, shape->origin, shape->level), false); break;
    case PARENT: as_build_int(b, NULL, shape->parent == AS_NO_FRAME ? -1 : (int64_t)shape->parent); break;
    case CONTEXT: as_build_known(b, NULL, node_of(f, shape->frame, 0), false); break;
    case NAME: build_name(b, f, name_of(f, shape->frame)); break;
    case VALUE: as_build_real(b, NULL, shape->total); break;
    case OWN: as_build_real(b, NULL, shape->own); break;
    case MODULE: build_name(b, f, module_of(f, shape->frame)); break;
    case KIND: build_name(b, f, kind_of(region_of(f, shape->frame))); break;
    case REST: as_build_int(b, NULL, shape->rest); break;
    case FOUND: as_build_int(b, NULL, shape->is_found); break;
    case N_COLUMNS: break;
    }
}

static void build_shapes(as_builder *b, const flame *f) {
    static const char *const titles[N_COLUMNS] = {"node", "parent", "context", "name", "value",
                                                  "own",  "module", "kind",    "rest", "found"};
    for (shape_column column = 0; column < N_COLUMNS; column++) {
        if (column == FOUND && !f->wanted) continue;
        if (column == CONTEXT && !f->request.is_inverted) continue;
        as_build_array(b, titles[column], false);
        for (size_t i = 0; i < f->shapes.count; i++) build_cell(b, f, &AS_AT(as_flame_shape, &f->shapes, i), column);
        as_build_end(b);
    }
}

/* What lies above the root, the outermost first; inverted what it calls, the innermost first. */
static bool build_above(as_builder *b, const flame *f) {
    const as_flame_frames *frames = f->asked.frames;
    as_vec above; /* uint32_t */
    as_vec_init(&above, sizeof(uint32_t), NULL);
    uint32_t at = f->request.root;
    bool fine = true, is_inverted = f->request.is_inverted;
    for (uint32_t level = 0; fine && at != AS_NO_FRAME && (!is_inverted || level < f->request.levels); level++) {
        if (is_inverted) fine = as_vec_append(&above, &at, 1);
        at = as_flame_box_at(frames, at)->parent;
        if (!is_inverted && at != AS_NO_FRAME) fine = as_vec_append(&above, &at, 1);
    }
    as_build_object(b, "above", false);
    for (int column = 0; fine && column < 3; column++) {
        static const char *const titles[] = {"node", "name", "value"};
        as_build_array(b, titles[column], false);
        for (size_t i = 0; i < above.count; i++) {
            uint32_t frame = AS_AT(uint32_t, &above, is_inverted ? i : above.count - 1 - i);
            if (column == 0)
                as_build_int(b, NULL, is_inverted ? node_of(f, f->request.root, (uint32_t)i) : node_of(f, frame, 0));
            else if (column == 1)
                as_build_text(b, NULL, as_ds_text(f->ds, name_of(f, frame)));
            else if (is_inverted)
                as_build_text(b, NULL, NULL);
            else
                as_build_real(b, NULL, frames->total[frame]);
        }
        as_build_end(b);
    }
    as_build_end(b);
    as_vec_free(&above);
    return fine;
}

static assay_status answer(flame *f, as_output *out, assay_error *error) {
    const as_metric *metric = as_ds_metric(f->ds, f->asked.metric);
    as_builder b = as_builder_of(out);
    b.compact = true;
    if (!number_names(f)) return as_fail_memory(error, NULL);
    as_build_object(&b, NULL, false);
    as_build_text(&b, "metric", as_ds_text(f->ds, metric->name));
    as_build_text(&b, "unit", as_ds_text(f->ds, metric->unit));
    as_build_real(&b, "total", f->asked.frames->all);
    as_build_int(&b, "n_frames", as_flame_frames_count(f->asked.frames));
    as_build_int(&b, "n_minus", (int64_t)f->asked.frames->n_minus);
    if (f->n_levels) as_build_int(&b, "n_levels", f->n_levels);
    if (f->wanted) {
        uint32_t n;
        double value = as_flame_frames_found(f->asked.frames, f->wanted, &n);
        as_build_object(&b, "search", false);
        as_build_int(&b, "n", n);
        as_build_real(&b, "value", value);
        as_build_end(&b);
    }
    if (!build_above(&b, f)) return as_fail_memory(error, NULL);
    as_build_array(&b, "names", false);
    for (size_t i = 0; i < f->names.count; i++) as_build_text(&b, NULL, as_ds_text(f->ds, AS_AT(as_str, &f->names, i)));
    as_build_end(&b);
    build_shapes(&b, f);
    as_build_end(&b);
    return ASSAY_OK;
}

static assay_status answer_flame(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    flame f = {0};
    AS_TRY(as_asked_frames_find(viewing, request, &f.asked, error));
    f.ds = f.asked.frames->ds;
    as_vec_init(&f.shapes, sizeof(as_flame_shape), NULL);
    as_vec_init(&f.names, sizeof(as_str), NULL);
    f.number = calloc(f.ds->strings.entries.count + 1, sizeof *f.number);
    assay_status status = f.number ? choose(request, &f, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = draw(&f, error);
    if (status == ASSAY_OK) status = answer(&f, out, error);
    as_vec_free(&f.shapes);
    as_vec_free(&f.names);
    free(f.number);
    free(f.wanted);
    return status;
}

/* ---- in a report ------------------------------------------------------------------------------------------------- */

/* The finest picture for which there is room: the page zooms inside it. False: there is room for none. */
static bool report_picture(as_html_report *report, assay_id metric, const char *view, double part) {
    static const char *const widths[] = {"20000", "12800", "6400", "3200", "1600", "800", "400", "100", NULL};
    as_report_words words;
    as_report_words_begin(&words, report, metric);
    as_report_words_add(&words, "view", view);
    return as_html_report_keep_first(report, "flame", words.parameters, words.n, "width", widths, part) ||
           as_html_report_last_refused(report);
}

static void report_pictures(as_viewing *viewing, as_html_report *report) {
    assay_id metrics[AS_REPORT_METRICS];
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    if (!input || !AS_COUNT(input->ds, contexts) || !AS_COUNT(input->ds, metrics)) return;
    size_t n = as_report_metrics(viewing, report, metrics);
    bool fine = true;
    for (size_t i = 0; i < n; i++) {
        fine &= report_picture(report, metrics[i], NULL, i ? 0.04 : 0.15);
        fine &= report_picture(report, metrics[i], "inverted", i ? 0.03 : 0.12);
    }
    if (!fine) as_html_report_note(report, "flame graphs of some metrics of %s", as_view_input_name(input));
}

const as_endpoint as_endpoint_flame = {.path = "flame", .answer = answer_flame, .report = report_pictures};
