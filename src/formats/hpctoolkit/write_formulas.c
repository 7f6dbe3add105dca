/* Metrics that are only a formula. The readers keep it as "('A (sec)')/('B')", with the names of metrics in quotes: in
 * a database the sums of the summary profile stand for them. */
#include <ctype.h>

#include "formats/hpctoolkit/write_meta.h"
#include "io/xml_write.h"

enum { MAX_DEPTH = 64, MAX_NAME = 1024 };

typedef struct formula_writer {
    const as_hpc_plan *plan;
    as_output *out;
    const char *at;
    bool is_exclusive;
    unsigned depth;
} formula_writer;

/* The group whose name stands in quotes, a quote in it being doubled; NULL: there is none. */
static const as_hpc_group *take_group(formula_writer *w, size_t *number) {
    char name[MAX_NAME] = {0};
    size_t n = 0;
    for (w->at++; *w->at && n < sizeof name; w->at++) {
        if (*w->at == '\'' && *++w->at != '\'') break;
        name[n++] = *w->at;
    }
    for (size_t i = 0; i < w->plan->groups.count; i++) {
        const as_hpc_group *group = as_hpc_group_at(w->plan, i);
        const char *text = as_ds_text(w->plan->ds, group->name);
        if (!text || strlen(text) != n || memcmp(text, name, n) != 0) continue;
        bool has_side = (w->is_exclusive ? group->exclusive : group->inclusive) != ASSAY_NONE;
        if (!has_side || !(group->statistics >> AS_HPC_SUM & 1)) continue;
        *number = i;
        return group;
    }
    return NULL;
}

static const as_hpc_side *side_of(const formula_writer *w, const as_hpc_group *group) {
    return as_hpc_side_at(w->plan, w->is_exclusive ? group->exclusive : group->inclusive);
}

static void put(const formula_writer *w, const char *text, size_t size) {
    if (w->out) as_output_write(w->out, text, size);
}

/* ---- 2021 -------------------------------------------------------------------------------------------------------- */

static bool put_2021(formula_writer *w) {
    while (*w->at) {
        if (*w->at == '\'') {
            size_t number;
            const as_hpc_group *group = take_group(w, &number);
            if (!group) return false;
            unsigned id = side_of(w, group)->summary_id + as_hpc_statistic_index(group->statistics, AS_HPC_SUM);
            if (w->out) as_output_printf(w->out, "$%u", id);
            continue;
        }
        if (strchr("$@#", *w->at)) return false; /* what it is of is not known here */
        if (w->out) as_xml_put_value(w->out, w->at, 1);
        w->at++;
    }
    return true;
}

bool as_hpc_put_formula_2021(const as_hpc_plan *plan, as_output *out, const char *text, bool is_exclusive) {
    formula_writer w = {.plan = plan, .out = out, .at = text, .is_exclusive = is_exclusive};
    return put_2021(&w);
}

/* ---- the released form ------------------------------------------------------------------------------------------- */

static bool put_sequence(formula_writer *w);

/* {min: [[…], […]]} */
static bool put_call(formula_writer *w, const char *name, size_t size) {
    put(w, "{", 1);
    put(w, name, size);
    put(w, ": [", 3);
    for (;;) {
        w->at++; /* the parenthesis, or a comma */
        if (!put_sequence(w)) return false;
        if (*w->at != ',') break;
        put(w, ", ", 2);
    }
    if (*w->at != ')') return false;
    w->at++;
    put(w, "]}", 2);
    return true;
}

static bool put_item(formula_writer *w) {
    const char *from = w->at;
    if (*from == '\'') {
        size_t number;
        if (!take_group(w, &number)) return false;
        if (w->out)
            as_output_printf(w->out, "*m%zu-%s-sum", number,
                             as_meta_out_scope_names[w->is_exclusive ? AS_META_OUT_FUNCTION : AS_META_OUT_EXECUTION]);
        return true;
    }
    if (*from == '(') {
        w->at++;
        if (!put_sequence(w) || *w->at != ')') return false;
        w->at++;
        return true;
    }
    if (strchr("+-*/^", *from)) {
        w->at++;
        if (w->out) as_output_printf(w->out, "\"%c\"", *from);
        return true;
    }
    while (isalnum((unsigned char)*w->at) || *w->at == '.' || *w->at == '_' ||
           ((*w->at == '+' || *w->at == '-') && w->at > from && isdigit((unsigned char)*from) &&
            (w->at[-1] == 'e' || w->at[-1] == 'E')))
        w->at++;
    size_t size = (size_t)(w->at - from);
    if (!size) return false;
    if (isalpha((unsigned char)*from)) return *w->at == '(' && put_call(w, from, size);
    put(w, from, size);
    return true;
}

/* [a, "+", b], up to what ends it. */
static bool put_sequence(formula_writer *w) {
    bool is_first = true;
    if (++w->depth > MAX_DEPTH) return false;
    put(w, "[", 1);
    while (*w->at && *w->at != ')' && *w->at != ',') {
        if (*w->at == ' ') {
            w->at++;
            continue;
        }
        if (!is_first) put(w, ", ", 2);
        is_first = false;
        if (!put_item(w)) return false;
    }
    put(w, "]", 1);
    w->depth--;
    return !is_first;
}

bool as_hpc_put_formula_4(const as_hpc_plan *plan, as_output *out, const char *text, bool is_exclusive) {
    formula_writer w = {.plan = plan, .out = out, .at = text, .is_exclusive = is_exclusive};
    return put_sequence(&w) && !*w.at;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

bool as_hpc_is_written(const as_hpc_plan *plan, assay_id metric) {
    const char *text = as_ds_metric(plan->ds, metric)->kind == AS_KIND_DERIVED ? plan->kept.formula[metric] : NULL;
    bool (*put_formula)(const as_hpc_plan *, as_output *, const char *, bool) =
        plan->form == AS_HPC_2021 ? as_hpc_put_formula_2021 : as_hpc_put_formula_4;
    return text && put_formula(plan, NULL, text, false) && put_formula(plan, NULL, text, true);
}
