/* The loss report: what a dataset has and a format cannot hold. */
#include "formats/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void as_losses_init(as_losses *losses) {
    losses->failed = false;
    as_vec_init(&losses->texts, sizeof(char *), NULL);
}

void as_losses_free(as_losses *losses) {
    for (size_t i = 0; i < losses->texts.count; i++) free(AS_AT(char *, &losses->texts, i));
    as_vec_free(&losses->texts);
}

void as_lose(as_losses *losses, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    if (text) as_one_line(text);
    if (text && as_vec_append(&losses->texts, &text, 1)) return;
    free(text);
    losses->failed = true;
}

static void lose_count(as_losses *losses, uint64_t n, const char *one, const char *many) {
    if (n) as_lose(losses, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* Series with statistics but no values: lost where only values can be written. */
static uint64_t statistics_only(const as_dataset *ds) {
    uint64_t n = 0;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        const as_block *block = as_ds_metric_block(ds, series->metric);
        n += !block || as_block_find(block, series->context) == UINT32_MAX;
    }
    return n;
}

void as_lose_records(as_losses *losses, const as_dataset *ds) {
    for (size_t i = 0; i < ds->records.count; i++) {
        const as_record_table *records = &AS_AT(as_record_table, &ds->records, i);
        const char *name = as_ds_text(ds, records->name);
        uint64_t n = records->meaning == AS_RECORDS_OWN ? as_table_rows(records->table) : 0;
        if (strcmp(name, "record") == 0)
            lose_count(losses, n, "record with further keys", "records with further keys");
        else if (n)
            as_lose(losses, "%llu row%s of the table %s", (unsigned long long)n, n == 1 ? "" : "s", name);
    }
}

void as_lose_attributes(as_losses *losses, const as_dataset *ds,
                        bool (*kept)(const as_dataset *dataset, const as_attribute *attribute)) {
    enum { NAMED = 3 };
    as_str named[NAMED];
    uint64_t n = 0;
    size_t n_named = 0;
    bool more = false;
    for (uint64_t i = 0; i < as_ds_attribute_count(ds); i++) {
        as_attribute attribute;
        as_ds_any_attribute(ds, i, &attribute);
        if (kept && kept(ds, &attribute)) continue;
        n++;
        size_t k = 0;
        while (k < n_named && named[k] != attribute.key) k++;
        if (k < n_named) continue;
        if (n_named < NAMED)
            named[n_named++] = attribute.key;
        else
            more = true;
    }
    if (!n) return;
    char keys[256] = "";
    size_t size = 0;
    for (size_t k = 0; k < n_named && size < sizeof keys; k++) {
        size += (size_t)snprintf(keys + size, sizeof keys - size, "%s%s", k ? ", " : "", as_ds_text(ds, named[k]));
    }
    as_lose(losses, "%llu attribute%s (%s%s)", (unsigned long long)n, n == 1 ? "" : "s", keys,
            more || size >= sizeof keys ? ", …" : "");
}

/* ---- details ----------------------------------------------------------------------------------------------------- */

static void lose_of(as_losses *losses, const char *what, uint64_t n, const char *whose) {
    if (n) as_lose(losses, "the %s of %llu %s%s", what, (unsigned long long)n, whose, n == 1 ? "" : "s");
}

/* Whether the kind of a region says more than that it is called, which every call tree says. */
static bool has_own_kind(const as_dataset *ds, const as_region *region) {
    static const char *const usual[] = {"", "function", "region", "root", NULL};
    const char *kind = as_ds_text(ds, region->kind);
    for (size_t i = 0; kind && usual[i]; i++) {
        if (strcmp(kind, usual[i]) == 0) return false;
    }
    return kind != NULL;
}

static void lose_of_regions(as_losses *losses, const as_dataset *ds, unsigned lacks) {
    uint64_t sources = 0, kinds = 0, mangled = 0, modules = 0, ends = 0;
    for (assay_id i = 0; i < AS_COUNT(ds, regions); i++) {
        const as_region *region = as_ds_region(ds, i);
        sources += region->file != AS_NO_STR;
        kinds += has_own_kind(ds, region);
        mangled += region->mangled != AS_NO_STR && region->mangled != region->name;
        modules += region->module != AS_NO_STR;
        ends += region->line_end > region->line_begin;
    }
    if (lacks & AS_HOLDS_SOURCE) lose_count(losses, sources, "source file of a region", "source files of regions");
    if (lacks & AS_HOLDS_KINDS) lose_of(losses, "kind", kinds, "region");
    if (lacks & AS_HOLDS_MANGLED) lose_of(losses, "mangled name", mangled, "region");
    if (lacks & AS_HOLDS_MODULES) lose_of(losses, "module", modules, "region");
    if (lacks & AS_HOLDS_ENDS && !(lacks & AS_HOLDS_SOURCE)) lose_of(losses, "last line", ends, "region");
}

static void lose_of_metrics(as_losses *losses, const as_dataset *ds, unsigned lacks) {
    uint64_t shown = 0, described = 0;
    for (assay_id i = 0; i < AS_COUNT(ds, metrics); i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        bool is_shown = metric->display_name != AS_NO_STR && metric->display_name != metric->name;
        shown += is_shown;
        described += metric->description != AS_NO_STR && metric->description != metric->name &&
                     !(is_shown && metric->description == metric->display_name);
    }
    if (lacks & AS_HOLDS_SHOWN) lose_of(losses, "display name", shown, "metric");
    if (lacks & AS_HOLDS_DESCRIBED) lose_of(losses, "description", described, "metric");
}

bool as_has_call_line(const as_dataset *ds, assay_id id) {
    const as_context *context = as_ds_context(ds, id), *above;
    if (context->line <= 0) return false;
    if (context->region != ASSAY_NONE && as_ds_region(ds, context->region)->line_begin == context->line) return false;
    above = context->parent == ASSAY_NONE ? NULL : as_ds_context(ds, context->parent);
    bool is_inside = above && above->role != AS_ROLE_CALL && above->region != ASSAY_NONE;
    return !is_inside || as_ds_region(ds, above->region)->line_begin != context->line;
}

void as_lose_details(as_losses *losses, const as_dataset *ds, unsigned lacks) {
    uint64_t times = 0, calls = 0;
    lose_of_regions(losses, ds, lacks);
    lose_of_metrics(losses, ds, lacks);
    for (assay_id i = 0; i < AS_COUNT(ds, runs); i++) times += isnan(as_ds_run(ds, i)->start_time) ? 0 : 1;
    for (assay_id i = 0; i < AS_COUNT(ds, contexts) && lacks & AS_HOLDS_CALLS; i++) calls += as_has_call_line(ds, i);
    lose_of(losses, "line of the call", calls, "context");
    if (lacks & AS_HOLDS_STARTS) lose_of(losses, "start time", times, "run");
    if (lacks & AS_HOLDS_SUMMARIES && ds->summary_source)
        as_lose(losses, "the stored statistics");
    else if (lacks & AS_HOLDS_SUMMARIES)
        lose_count(losses, ds->summaries.count, "stored statistic", "stored statistics");
}

void as_lose_placeless(as_losses *losses, const as_dataset *ds) {
    size_t n = 0;
    for (assay_id i = 0; i < AS_COUNT(ds, contexts); i++) n += as_ds_context(ds, i)->role == AS_ROLE_PLACELESS;
    if (n) as_lose(losses, "the values of %zu context%s without a place in the call tree", n, n == 1 ? "" : "s");
}

void as_lose_asides(as_losses *losses, const as_dataset *ds, bool are_left_out) {
    size_t n = as_ds_asides(ds);
    if (n && are_left_out)
        as_lose(losses, "%zu context%s aside, with what is below", n, n == 1 ? " that stands" : "s that stand");
    else if (n)
        as_lose(losses, "that %zu context%s aside (%s as %s there)", n, n == 1 ? " stands" : "s stand",
                n == 1 ? "it counts" : "they count", n == 1 ? "a part of its parent" : "parts of their parents");
}

static void lose_the_rest(const as_dataset *ds, const as_format *format, bool is_same_format, as_losses *losses) {
    unsigned holds = format->holds;
    uint64_t units = 0, profiles = 0;
    for (size_t i = 0; i < ds->metrics.count; i++) units += as_ds_metric(ds, (assay_id)i)->unit != AS_NO_STR;
    for (size_t i = 0; i < ds->runs.count; i++) profiles += as_ds_run(ds, (assay_id)i)->point == ASSAY_NONE;
    if (!(holds & AS_HOLDS_UNITS) && !is_same_format) lose_count(losses, units, "unit of a metric", "units of metrics");
    unsigned lacks = ~holds & (AS_HOLDS_SOURCE | (is_same_format ? 0 : AS_HOLDS_DETAILS));
    if (!(holds & AS_HOLDS_VALUES))
        lacks &= ~(unsigned)(AS_HOLDS_SHOWN | AS_HOLDS_DESCRIBED); /* with the values goes what they are */
    as_lose_details(losses, ds, lacks);
    size_t n_elsewhere = ds->n_left_out;
    bool holds_profiles = holds & AS_HOLDS_PROFILES;
    if (ds->measurement_source && (!holds_profiles || format->writes_points))
        n_elsewhere = ds->measurement_source->n_elsewhere;
    lose_count(losses, n_elsewhere, "value that is at no point", "values that are at no point");
    if (!holds_profiles && !ds->measurement_source)
        lose_count(losses, profiles, "run without parameters", "runs without parameters");
}

/* Of what is written as an experiment, whose runs are others. */
static bool outlives_its_run(const as_dataset *ds, const as_attribute *attribute) {
    (void)ds;
    return attribute->owner != AS_OWNER_RUN;
}

/* Whether the format is this one, or one that is made of its files: perun-store of perun. */
static bool is_of_family(const char *name, const char *format) {
    size_t size = strlen(format);
    return strncmp(name, format, size) == 0 && (!name[size] || name[size] == '-');
}

void as_find_losses(const as_dataset *ds, const as_format *format, as_losses *losses) {
    unsigned holds = format->holds;
    if (!(holds & AS_HOLDS_VALUES)) lose_count(losses, as_ds_values(ds), "value", "values");
    bool is_same_format = is_of_family(ds->format, format->name);
    /* Statistics that the reader worked out from records come back with these. */
    bool are_kept = ds->measurement_source && (is_same_format || !(holds & AS_HOLDS_PROFILES) || format->writes_points);
    if (!(holds & AS_HOLDS_STATISTICS) && !ds->profiles.count && !are_kept)
        lose_count(losses, statistics_only(ds), "series of statistics without values",
                   "series of statistics without values");
    if (!(holds & AS_HOLDS_MODELS)) lose_count(losses, ds->models.count, "model", "models");
    bool adds_up = holds & AS_HOLDS_PROFILES;
    if (!(holds & AS_HOLDS_LOCATIONS))
        lose_count(losses, as_ds_leaves(ds), adds_up ? "location" : "location (its values become repetitions)",
                   adds_up ? "locations (their values are added up)" : "locations (their values become repetitions)");
    if (!(holds & AS_HOLDS_EVENTS)) lose_count(losses, as_ds_events(ds), "event", "events");
    /* A format's own records and attributes go back where they came from. */
    bool same = (holds & AS_HOLDS_FOREIGN) || is_same_format;
    if (!(holds & AS_HOLDS_RECORDS) || !same) as_lose_records(losses, ds);
    if (!(holds & AS_HOLDS_ATTRIBUTES) || !same) as_lose_attributes(losses, ds, NULL);
    lose_the_rest(ds, format, is_same_format, losses);
    if (!(holds & AS_HOLDS_ASIDES)) as_lose_asides(losses, ds, false);
    if (!format->losses) return;
    as_dataset *written;
    assay_error error;
    if (as_writable_form(ds, format, &written, &error) != ASSAY_OK) {
        losses->failed |= error.code == ASSAY_E_NOMEM; /* writing will meet others again */
        return;
    }
    bool is_experiment = written && ds->measurement_source && same;
    if (is_experiment && holds & AS_HOLDS_RECORDS) as_lose_records(losses, ds);
    if (is_experiment && holds & AS_HOLDS_ATTRIBUTES) as_lose_attributes(losses, ds, outlives_its_run);
    format->losses(written ? written : ds, losses);
    as_dataset_free(written);
}
