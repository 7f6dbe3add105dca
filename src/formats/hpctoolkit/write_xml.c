/* experiment.xml of the 2021 form. A frame without a call site of its own stands in one that has the negated id of its
 * caller, or of itself where it was inlined. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_xml.h"
#include "io/xml_write.h"

/* ---- elements ---------------------------------------------------------------------------------------------------- */

typedef struct tree_writer {
    const as_hpc_plan *plan;
    const as_hpc_tables *tables;
    as_output *out;
    const uint8_t *sampled; /* a bit for each context that trace lines name */
} tree_writer;

/* What is to be closed behind the contexts before `end`. */
typedef struct open_element {
    assay_id end;
    const char *close;
} open_element;

static assay_id region_of(const tree_writer *w, assay_id context) {
    return as_ds_context(w->plan->ds, context)->region;
}

static uint32_t static_id(const tree_writer *w, assay_id context) {
    assay_id region = region_of(w, context);
    return region == ASSAY_NONE ? 0 : w->tables->static_ids[region];
}

static uint32_t file_of(const tree_writer *w, assay_id context) {
    assay_id region = region_of(w, context);
    return region == ASSAY_NONE ? AS_HPC_UNKNOWN_FILE : w->tables->file_of[region];
}

static long long line_of(const tree_writer *w, assay_id context) {
    assay_id region = region_of(w, context);
    int64_t line = region == ASSAY_NONE ? 0 : as_ds_region(w->plan->ds, region)->line_begin;
    return line > 0 ? line : 0;
}

static void put_offset(const tree_writer *w, assay_id context) {
    assay_id region = region_of(w, context);
    as_hpc_put_offset(w->out, region == ASSAY_NONE ? 0 : w->plan->kept.offset[region]);
}

/* <S> and <C>, without their ends; sign "-": the wrapper of a context that has an element of its own. */
static void put_point(const tree_writer *w, const char *tag, const char *sign, assay_id context) {
    as_output_printf(w->out, "<%s i=\"%s%u\" it=\"%u\" s=\"%u\"", tag, sign, w->plan->ids[context],
                     w->plan->trace_ids[context], static_id(w, context));
    put_offset(w, context);
    as_output_printf(w->out, " f=\"%u\" l=\"%lld\"", file_of(w, context), line_of(w, context));
}

/* The call site of a frame that has none: of its caller's id, or inlined of its own. */
static void put_wrapper(const tree_writer *w, assay_id context) {
    const as_context *c = as_ds_context(w->plan->ds, context);
    assay_id partner = c->is_inlined ? context : c->parent;
    as_output_printf(w->out, "<C i=\"-%u\" it=\"%u\" s=\"%u\" v=\"0\" f=\"%u\" l=\"%lld\">\n", w->plan->ids[partner],
                     w->plan->trace_ids[partner], static_id(w, partner), file_of(w, c->parent),
                     c->line > 0 ? (long long)c->line : 0);
}

/* Whether the call site of some frame below has the id of this context. */
static bool has_wrapped(const tree_writer *w, assay_id context) {
    const as_dataset *ds = w->plan->ds;
    assay_id end = context + as_ds_context(ds, context)->subtree;
    for (assay_id i = context + 1; i < end; i += as_ds_context(ds, i)->subtree) {
        if (as_hpc_is_frame(w->plan, i) && !as_ds_context(ds, i)->is_inlined) return true;
    }
    return false;
}

/* Samples are of statements and call sites: whatever else they name has one of the same id. Its tag, or 0 where none is
 * needed. */
static char inner_tag(const tree_writer *w, assay_id context, bool has_call) {
    char kept = w->plan->kept.wrapper[context];
    bool is_sampled = w->sampled[context / 8] >> (context % 8) & 1;
    if (kept || has_call || !is_sampled) return kept;
    return has_wrapped(w, context) ? 0 : 'S';
}

static void put_inner(const tree_writer *w, assay_id context, char tag) {
    const char name[2] = {tag, 0};
    put_point(w, name, "-", context);
    as_output_text(w->out, "/>\n");
}

static const char *put_frame(const tree_writer *w, assay_id context, bool needs_wrapper) {
    const as_context *c = as_ds_context(w->plan->ds, context);
    const as_hpc_entry *procedure = &AS_AT(as_hpc_entry, &w->tables->procedures, w->tables->procedure_of[context]);
    bool is_inlined = needs_wrapper && c->is_inlined;
    if (needs_wrapper) put_wrapper(w, context);
    uint32_t id = static_id(w, context);
    as_output_printf(w->out, "<PF i=\"%u\" s=\"%u\" n=\"%u\"", w->plan->ids[context], id ? id : procedure->id,
                     procedure->id);
    put_offset(w, context);
    as_output_printf(w->out, " f=\"%u\" l=\"%lld\" lm=\"%u\"", file_of(w, context), line_of(w, context),
                     c->region == ASSAY_NONE ? 0 : w->tables->module_of[c->region]);
    char inner = inner_tag(w, context, is_inlined);
    if (c->subtree == 1 && !inner) {
        as_output_text(w->out, needs_wrapper ? "/>\n</C>\n" : "/>\n");
        return NULL;
    }
    as_output_text(w->out, ">\n");
    if (inner) put_inner(w, context, inner);
    return needs_wrapper ? "</PF>\n</C>\n" : "</PF>\n";
}

static const char *put_loop(const tree_writer *w, assay_id context) {
    char inner = inner_tag(w, context, false);
    bool is_leaf = as_ds_context(w->plan->ds, context)->subtree == 1 && !inner;
    as_output_printf(w->out, "<L i=\"%u\" s=\"%u\"", w->plan->ids[context], static_id(w, context));
    put_offset(w, context);
    as_output_printf(w->out, " f=\"%u\" l=\"%lld\"%s", file_of(w, context), line_of(w, context),
                     is_leaf ? "/>\n" : ">\n");
    if (is_leaf) return NULL;
    if (inner) put_inner(w, context, inner);
    return "</L>\n";
}

/* A line or instruction that calls something is a call site; a line without an offset stays a statement, beside a call
 * site of its negated id. */
static const char *put_line(const tree_writer *w, assay_id context) {
    uint8_t kind = w->plan->kinds_of_contexts[context];
    assay_id region = region_of(w, context);
    bool is_leaf = as_ds_context(w->plan->ds, context)->subtree == 1;
    bool is_call = kind == AS_HPC_CALL ||
                   (!is_leaf && (kind == AS_HPC_INSTRUCTION || (region != ASSAY_NONE && w->plan->kept.offset[region])));
    if (!is_call) {
        put_point(w, "S", "", context);
        as_output_text(w->out, "/>\n");
        if (is_leaf) return NULL;
    }
    put_point(w, "C", is_call ? "" : "-", context);
    as_output_text(w->out, is_leaf ? "/>\n" : ">\n");
    return is_leaf ? NULL : "</C>\n";
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Whether what calls a frame is a call site already. */
static bool is_in_call(const tree_writer *w, assay_id parent) {
    uint8_t kind = w->plan->kinds_of_contexts[parent];
    return (kind == AS_HPC_CALL || kind == AS_HPC_LINE || kind == AS_HPC_INSTRUCTION) &&
           !as_hpc_is_frame(w->plan, parent);
}

/* What closes it once its children are through; NULL: nothing. */
static const char *put_context(const tree_writer *w, assay_id context) {
    const as_hpc_plan *plan = w->plan;
    if (as_hpc_is_frame(plan, context))
        return put_frame(w, context,
                         !as_hpc_is_top(plan, context) && !is_in_call(w, as_ds_context(plan->ds, context)->parent));
    if (plan->kinds_of_contexts[context] == AS_HPC_LOOP) return put_loop(w, context);
    return put_line(w, context);
}

static bool write_tree(const tree_writer *w) {
    const as_hpc_plan *plan = w->plan;
    as_vec open;
    as_vec_init(&open, sizeof(open_element), NULL);
    bool fine = true;
    for (assay_id i = 0; i <= plan->n_contexts && fine; i++) {
        while (open.count && AS_AT(open_element, &open, open.count - 1).end <= i)
            as_output_text(w->out, AS_AT(open_element, &open, --open.count).close);
        if (i == plan->n_contexts || i == plan->root || plan->kinds_of_contexts[i] == AS_HPC_PLACELESS) continue;
        const char *close = put_context(w, i);
        open_element element = {.end = i + as_ds_context(plan->ds, i)->subtree, .close = close};
        if (close) fine = as_vec_append(&open, &element, 1);
    }
    as_vec_free(&open);
    return fine;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static assay_status find_sampled(const as_hpc_plan *plan, uint8_t *sampled) {
    enum { STEP = 4096 };
    as_trace_sample samples[STEP];
    for (size_t i = 0; i < plan->profiles.count; i++) {
        as_hpc_line line = as_hpc_line_of(plan, i);
        for (uint64_t done = 0; done < line.n;) {
            size_t n = line.n - done < STEP ? (size_t)(line.n - done) : STEP;
            AS_TRY(as_hpc_line_read(plan, &line, done, n, samples));
            for (size_t k = 0; k < n; k++) {
                assay_id context = samples[k].context;
                if (context < plan->n_contexts) sampled[context / 8] |= (uint8_t)(1 << context % 8);
            }
            done += n;
        }
    }
    return ASSAY_OK;
}

static assay_status put_traces(const as_hpc_plan *plan, as_output *out) {
    uint64_t first, last;
    bool has_samples;
    AS_TRY(as_hpc_trace_range(plan, &first, &last, &has_samples));
    as_output_text(out, "<TraceDBTable>\n");
    if (has_samples) {
        as_output_printf(out, "<TraceDB i=\"0\" db-min-time=\"%llu\" db-max-time=\"%llu\" u=\"%llu\"/>\n",
                         (unsigned long long)first, (unsigned long long)last, (unsigned long long)as_hpc_ticks(plan));
    }
    as_output_text(out, "</TraceDBTable>\n");
    return ASSAY_OK;
}

static assay_status put_header(const as_hpc_plan *plan, const as_hpc_tables *tables, as_output *out) {
    const char *title = as_hpc_title(plan);
    as_output_text(out, "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"4.0\">\n<Header");
    as_xml_put_attribute(out, "n", title);
    as_output_text(out, ">\n<Info/>\n</Header>\n<SecCallPathProfile i=\"0\"");
    as_xml_put_attribute(out, "n", title);
    as_output_text(out, ">\n<SecHeader>\n<IdentifierNameTable>\n");
    for (size_t i = 0; i < plan->kinds.count; i++) {
        as_output_printf(out, "<Identifier i=\"%zu\"", i);
        as_xml_put_attribute(out, "n", AS_AT(const char *, &plan->kinds, i));
        as_output_text(out, "/>\n");
    }
    as_output_text(out, "</IdentifierNameTable>\n");
    if (!as_hpc_metric_tables_write(plan, out)) return as_fail_memory(plan->error, NULL);
    AS_TRY(put_traces(plan, out));
    as_hpc_tables_write(tables, out);
    as_output_text(out, "<Info/>\n</SecHeader>\n<SecCallPathProfileData>\n");
    return ASSAY_OK;
}

static assay_status write_document(as_hpc_plan *plan, as_output *out) {
    as_hpc_tables tables;
    uint8_t *sampled = calloc(plan->n_contexts / 8 + 1, 1);
    bool fine = as_hpc_tables_make(&tables, plan) && sampled;
    assay_status code = fine ? find_sampled(plan, sampled) : as_fail_memory(plan->error, NULL);
    if (code == ASSAY_OK) code = put_header(plan, &tables, out);
    tree_writer w = {.plan = plan, .tables = &tables, .out = out, .sampled = sampled};
    if (code == ASSAY_OK && !write_tree(&w)) code = as_fail_memory(plan->error, NULL);
    as_output_text(out, "</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n");
    as_hpc_tables_free(&tables);
    free(sampled);
    return code;
}

assay_status as_hpc_write_xml(as_hpc_plan *plan, as_output_directory *directory) {
    as_output *out = NULL;
    AS_TRY(as_output_directory_file(directory, "experiment.xml", &out, plan->error));
    assay_status code = write_document(plan, out);
    if (code == ASSAY_OK) return as_output_commit(out, plan->error);
    as_output_discard(out);
    return code;
}
