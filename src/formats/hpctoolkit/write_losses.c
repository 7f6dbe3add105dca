/* What a database cannot hold. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_plan.h"
#include "io/xml_write.h"

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static bool is_one_of(const char *key, const char *const *keys) {
    for (; *keys; keys++) {
        if (strcmp(key, *keys) == 0) return true;
    }
    return false;
}

static bool is_kept_2021(const as_dataset *ds, const as_attribute *attribute) {
    static const char *const keys[] = {"title",    "source",        "offset",     "static_id", "class",
                                       "wrapper",  "show",          "format",     "formula",   "trace_id",
                                       "id_tuple", "id_tuple_bits", "entry_type", NULL};
    return as_hpc_is_family(ds) && is_one_of(as_ds_text(ds, attribute->key), keys);
}

static bool is_kept_4(const as_dataset *ds, const as_attribute *attribute) {
    static const char *const keys[] = {"title",         "description", "source",   "offset",      "id_tuple",
                                       "id_tuple_bits", "entry_type",  "relation", "propagation", "scope",
                                       "formula",       "format",      NULL};
    return as_hpc_is_family(ds) && is_one_of(as_ds_text(ds, attribute->key), keys);
}

/* The descriptions of metrics are copied: so is what they say. */
static bool is_copied_4(const as_dataset *ds, const as_attribute *attribute) {
    return attribute->owner == AS_OWNER_METRIC || is_kept_4(ds, attribute);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Whether a double is not the same number. Counters that ran below zero are taken as 0. */
static bool is_rounded(as_number number) {
    if (number.kind == AS_UINT) return number.u <= AS_COUNTER_LIMIT && (as_whole)(double)number.u != (as_whole)number.u;
    return number.kind == AS_INT && (as_whole)(double)number.i != (as_whole)number.i;
}

static size_t count_large(const as_dataset *ds, assay_id metric, as_losses *losses) {
    size_t n = 0;
    for (assay_id run = 0; run < ds->runs.count; run++) {
        as_slice slice;
        assay_error error;
        if (as_slice_open_all(ds, metric, run, &slice, &error) == ASSAY_OK) {
            const as_profile *view = &slice.view;
            for (uint32_t i = 0; i < view->n_rows; i++) {
                const char *row = as_profile_row(view, i);
                for (uint32_t k = 0; k < view->n_columns; k++) {
                    as_number number = as_part_get(view->type, row + (size_t)k * view->type.size, 0);
                    n += is_rounded(number);
                }
            }
        } else {
            losses->failed |= error.code == ASSAY_E_NOMEM; /* writing will meet others again */
        }
        as_slice_close(&slice);
    }
    return n;
}

/* Derived metrics whose formula cannot be written. */
static size_t count_derived(const as_dataset *ds, as_hpc_form form, as_losses *losses) {
    char directory[PATH_MAX];
    as_hpc_plan plan;
    assay_error error;
    size_t n = 0;
    bool are_copied = form == AS_HPC_4 && as_hpc_metrics_directory(ds, directory);
    assay_status code = as_hpc_plan_outline(&plan, ds, form, &error);
    losses->failed |= code == ASSAY_E_NOMEM;
    for (assay_id i = 0; i < ds->metrics.count && code == ASSAY_OK; i++)
        n += as_ds_metric(ds, i)->kind == AS_KIND_DERIVED && !(are_copied && plan.kept.formula[i]) &&
             !as_hpc_is_written(&plan, i);
    as_hpc_plan_free(&plan);
    return n;
}

static void lose_metrics(const as_dataset *ds, bool is_2021, as_losses *losses) {
    size_t derived = count_derived(ds, is_2021 ? AS_HPC_2021 : AS_HPC_4, losses);
    size_t composite = 0, sides = 0, kinds = 0, large = 0, shown = 0, below = 0, units = 0;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        as_dtype dtype = as_ds_metric_type(ds, i).dtype;
        composite += metric->kind != AS_KIND_DERIVED && as_dtype_is_composite(dtype);
        if (!as_hpc_can_write(ds, i)) continue;
        bool is_side = metric->kind == AS_KIND_POINT || metric->kind == AS_KIND_LEXICAL;
        const char *unit = as_ds_text(ds, metric->unit);
        sides += is_2021 && is_side && metric->is_stored;
        kinds += metric->kind == AS_KIND_NONE || (is_side && !metric->is_stored);
        if (dtype == AS_DTYPE_INT64 || dtype == AS_DTYPE_UINT64) large += count_large(ds, i, losses);
        shown += metric->display_name != AS_NO_STR && metric->display_name != metric->name;
        below += metric->parent != ASSAY_NONE;
        units += !as_hpc_is_family(ds) && unit && strpbrk(unit, "()");
    }
    if (derived) as_lose(losses, "%zu derived metric%s, of which there are formulas only", derived, plural(derived));
    if (composite) as_lose(losses, "%zu metric%s whose values are more than one number", composite, plural(composite));
    if (sides) as_lose(losses, "point and lexical values (%zu metric%s)", sides, plural(sides));
    if (kinds)
        as_lose(losses, "that %zu metric%s neither inclusive nor exclusive (written as both)", kinds,
                kinds == 1 ? " is" : "s are");
    if (large) as_lose(losses, "the last digits of %zu value%s above 2^53", large, plural(large));
    if (shown) as_lose(losses, "the display name of %zu metric%s", shown, plural(shown));
    if (below) as_lose(losses, "the place of %zu metric%s below another", below, plural(below));
    if (units) as_lose(losses, "the unit of %zu metric%s, which has parentheses", units, plural(units));
}

/* ---- regions and places ------------------------------------------------------------------------------------------ */

static void lose_regions(const as_dataset *ds, as_losses *losses) {
    size_t mangled = 0, ends = 0, kinds = 0;
    for (assay_id i = 0; i < ds->regions.count; i++) {
        const as_region *region = as_ds_region(ds, i);
        mangled += region->mangled != AS_NO_STR && region->mangled != region->name;
        ends += region->line_end > region->line_begin;
        kinds += !as_hpc_is_family(ds) && region->kind != AS_NO_STR && as_ds_text(ds, region->kind)[0];
    }
    if (mangled) as_lose(losses, "the mangled name of %zu region%s", mangled, plural(mangled));
    if (ends) as_lose(losses, "the last line of %zu region%s", ends, plural(ends));
    if (kinds) as_lose(losses, "the kind of %zu region%s", kinds, plural(kinds));
}

/* The released form has lines of calls as contexts around what is called. The older one has call sites of its own
 * around functions that others call. */
static void lose_calls(const as_dataset *ds, bool is_2021, as_losses *losses) {
    size_t n = 0;
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        const as_context *context = as_ds_context(ds, i);
        bool is_kept = is_2021 && context->parent != ASSAY_NONE && as_hpc_kind_of(ds, context) == AS_HPC_FUNCTION;
        as_hpc_kind above = is_kept ? as_hpc_kind_of(ds, as_ds_context(ds, context->parent)) : AS_HPC_ROOT;
        is_kept &= above == AS_HPC_FUNCTION || above == AS_HPC_LOOP || above == AS_HPC_ENTRY;
        n += !is_kept && as_has_call_line(ds, i);
    }
    if (n) as_lose(losses, "the line of the call of %zu context%s", n, plural(n));
}

static void lose_places(const as_dataset *ds, as_losses *losses) {
    size_t names = 0;
    if (as_hpc_is_family(ds)) return;
    for (assay_id i = 0; i < ds->locations.count; i++) {
        const char *name = as_ds_text(ds, as_ds_location(ds, i)->name);
        names += name && name[0];
    }
    if (names) as_lose(losses, "the name of %zu location%s", names, plural(names));
}

static void lose_runs(const as_dataset *ds, as_losses *losses) {
    size_t times = 0;
    /* That of a run with trace lines is told by them. */
    for (assay_id i = 0; i < ds->runs.count && !as_trace_line_count(&ds->traces) && !as_ds_intervals(ds); i++)
        times += isnan(as_ds_run(ds, i)->start_time) ? 0 : 1;
    if (ds->runs.count > 1)
        as_lose(losses, "%zu of %zu runs (all but the one of -O run=…)", ds->runs.count - 1, ds->runs.count);
    if (as_ds_parameters(ds)) as_lose(losses, "%zu parameter%s", as_ds_parameters(ds), plural(as_ds_parameters(ds)));
    if (times) as_lose(losses, "the start time of %zu run%s", times, plural(times));
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void lose_samples(const as_dataset *ds, as_losses *losses) {
    enum { STEP = 4096 };
    as_trace_sample samples[STEP];
    uint64_t lost = 0;
    for (size_t i = 0; i < as_trace_line_count(&ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        assay_status code = ASSAY_OK;
        for (uint64_t done = 0; done < line->n && code == ASSAY_OK;) {
            size_t n = line->n - done < STEP ? (size_t)(line->n - done) : STEP;
            code = as_trace_read(ds, line, done, n, samples, NULL);
            losses->failed |= code == ASSAY_E_NOMEM;
            for (size_t k = 0; k < n && code == ASSAY_OK; k++) lost += samples[k].context == ASSAY_NONE;
            done += n;
        }
    }
    if (lost)
        as_lose(losses, "the context of %llu sample%s, which is not in the tree (the root stands for it)",
                (unsigned long long)lost, plural(lost));
}

/* Intervals become samples of trace lines, where the dataset has no such lines itself. */
static void lose_intervals(const as_dataset *ds, as_losses *losses) {
    uint64_t n = as_ds_intervals(ds), lost = n;
    bool *in_section = n && !as_trace_line_count(&ds->traces) ? as_hpc_find_sections(ds) : NULL;
    losses->failed |= n && !as_trace_line_count(&ds->traces) && !in_section;
    for (uint64_t i = 0; in_section && i < n; i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        lost -= as_hpc_is_traceable(ds, &event, in_section);
    }
    free(in_section);
    if (lost)
        as_lose(losses, "%llu event%s that %s no part of a call path's time line (sections, moments)",
                (unsigned long long)lost, plural(lost), lost == 1 ? "is" : "are");
}

static void lose_common(const as_dataset *ds, bool is_2021, as_losses *losses) {
    lose_runs(ds, losses);
    lose_metrics(ds, is_2021, losses);
    lose_regions(ds, losses);
    lose_calls(ds, is_2021, losses);
    lose_places(ds, losses);
    lose_samples(ds, losses);
    lose_intervals(ds, losses);
}

void as_hpc_losses_2021(const as_dataset *ds, as_losses *losses) {
    size_t texts = 0, instructions = 0;
    lose_common(ds, true, losses);
    as_lose_attributes(losses, ds, is_kept_2021);
    for (as_str i = 0; i < ds->strings.entries.count; i++)
        texts += !as_xml_holds(as_ds_text(ds, i), as_str_size(&ds->strings, i));
    for (assay_id i = 0; i < ds->contexts.count && as_hpc_is_family(ds); i++)
        instructions += as_hpc_kind_of(ds, as_ds_context(ds, i)) == AS_HPC_INSTRUCTION;
    if (instructions) as_lose(losses, "the module of %zu instruction%s", instructions, plural(instructions));
    if (texts)
        as_lose(losses, "the control characters of %zu text%s (XML has none; U+FFFD stands for them)", texts,
                plural(texts));
}

void as_hpc_losses_4(const as_dataset *ds, as_losses *losses) {
    char directory[PATH_MAX];
    lose_common(ds, false, losses);
    as_lose_attributes(losses, ds, as_hpc_metrics_directory(ds, directory) ? is_copied_4 : is_kept_4);
}
