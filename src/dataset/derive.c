#include "dataset/derive.h"

#include <stdio.h>

#include "dataset/build.h"
#include "dataset/formulas.h"
#include "dataset/metric_names.h"

typedef struct definition {
    as_formula_text name, unit, expression;
} definition;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static as_formula_text trim(const char *text, size_t size) {
    while (size && is_blank(text[0])) text++, size--;
    while (size && is_blank(text[size - 1])) size--;
    return (as_formula_text){text, size};
}

static assay_status usage(assay_error *error, const char *text, const char *why) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "formula '%.200s': %s", text, why);
}

/* A name may stand in quotes, and have a = inside then. */
static assay_status split(const char *text, definition *out, assay_error *error) {
    size_t start = strspn(text, " \t"), equals;
    char quote = text[start];
    if (quote == '\'' || quote == '"' || quote == '`') {
        const char *end = strchr(text + start + 1, quote);
        if (!end) return usage(error, text, "the quote around the name does not end");
        out->name = (as_formula_text){text + start + 1, (size_t)(end - text) - start - 1};
        size_t behind = (size_t)(end - text) + 1;
        equals = behind + strcspn(text + behind, "=");
        out->unit = trim(text + behind, equals - behind);
        if (out->unit.size && out->unit.text[0] != '[') return usage(error, text, "= is missing behind the name");
    } else {
        equals = strcspn(text, "=");
        out->name = trim(text, equals);
        out->unit = (as_formula_text){text, 0};
        const char *bracket = out->name.size && out->name.text[out->name.size - 1] == ']'
                                  ? memchr(out->name.text, '[', out->name.size)
                                  : NULL;
        if (bracket) {
            out->unit = trim(bracket, (size_t)(out->name.text + out->name.size - bracket));
            out->name = trim(out->name.text, (size_t)(bracket - out->name.text));
        }
    }
    if (!text[equals]) return usage(error, text, "an expression is missing; write NAME=EXPRESSION");
    if (out->unit.size) {
        if (out->unit.text[out->unit.size - 1] != ']') return usage(error, text, "] is missing behind the unit");
        out->unit = trim(out->unit.text + 1, out->unit.size - 2);
    }
    out->expression = trim(text + equals + 1, strlen(text + equals + 1));
    return out->name.size ? ASSAY_OK : usage(error, text, "a name is missing; write NAME=EXPRESSION");
}

static bool find_metric(void *user, as_infix_reference kind, const char *name, size_t size, as_formula_operand *out,
                        char *why, size_t room) {
    const as_dataset *ds = user;
    if (kind == AS_INFIX_NAME) {
        out->metric = as_metric_by_name(ds, name, size, true, why, room);
        return out->metric != ASSAY_NONE;
    }
    if (kind == AS_INFIX_ORDER) {
        snprintf(why, room, "metrics have no order here; write $%.*s for the metric with that id", (int)size, name);
        return false;
    }
    out->metric = as_metric_by_number(ds, name, size);
    if (out->metric == ASSAY_NONE) {
        snprintf(why, room, "there is no metric with the id %.*s", (int)(size < 40 ? size : 40), name);
        return false;
    }
    const as_metric *metric = as_ds_metric(ds, out->metric);
    if (metric->part_of == ASSAY_NONE) return true;
    /* The other side of a pair. What is neither, as values at a point, stands for itself. */
    if (as_ds_metric(ds, metric->part_of)->exclusive != out->metric) return true;
    out->metric = metric->part_of;
    out->flavour = AS_FLAVOUR_EXCLUSIVE;
    return true;
}

static assay_status fail_expression(const assay_error *cause, const char *text, size_t at, assay_error *error) {
    char why[sizeof cause->message];
    if (cause->code != ASSAY_E_FORMAT) {
        *error = *cause;
        return cause->code;
    }
    snprintf(why, sizeof why, "%s", cause->message);
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "formula '%.200s': column %zu: %s", text, at + cause->column,
                   why);
}

static assay_status add_metric(as_dataset *ds, const definition *d, assay_id *id, assay_error *error) {
    as_metric metric = AS_METRIC_INIT;
    metric.kind = AS_KIND_DERIVED;
    metric.name = as_ds_intern(ds, d->name.text, d->name.size);
    metric.description = as_ds_intern(ds, d->expression.text, d->expression.size);
    metric.dtype = as_ds_intern_text(ds, "DOUBLE");
    if (d->unit.size) metric.unit = as_ds_intern(ds, d->unit.text, d->unit.size);
    bool fine = metric.name != AS_NO_STR && metric.description != AS_NO_STR && metric.dtype != AS_NO_STR &&
                (!d->unit.size || metric.unit != AS_NO_STR);
    *id = fine ? as_add_metric(ds, &metric) : ASSAY_NONE;
    return *id != ASSAY_NONE ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_derive_metric(as_dataset *ds, const char *text, assay_error *error) {
    definition d = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    as_infix_names names = {.user = ds, .metric = find_metric};
    as_formula *formula;
    assay_error cause;
    assay_id id;
    AS_TRY(split(text, &d, error));
    as_str name = as_find(&ds->strings, d.name.text, d.name.size);
    for (assay_id known = 0; name != AS_NO_STR && known < AS_COUNT(ds, metrics); known++) {
        if (as_ds_metric(ds, known)->name == name) return usage(error, text, "there is a metric of that name already");
    }
    if (as_infix_compile(&names, d.expression, &formula, &cause) != ASSAY_OK)
        return fail_expression(&cause, text, (size_t)(d.expression.text - text), error);
    as_unprepare_formulas(ds);
    assay_status status = add_metric(ds, &d, &id, error);
    if (status != ASSAY_OK) {
        as_formula_free(formula);
        return status;
    }
    if (!as_add_compiled_formula(ds, id, AS_SIDES_BOTH, formula, d.expression) || !as_compile_formulas(ds, NULL))
        return as_fail_memory(error, NULL);
    return ASSAY_OK;
}

void as_underive_metrics(as_dataset *ds, size_t n) {
    if (!n) return;
    as_unprepare_formulas(ds);
    ds->metrics.count -= n;
    as_remove_formulas(ds, (assay_id)ds->metrics.count);
}
