#include "formats/hpctoolkit/formulas.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/number.h"
#include "dataset/formulas.h"
#include "formats/hpctoolkit/metrics.h"

/* What is computed for each context must not be many times what is stored there. SPELLED: bytes of the names in
 * formulas. */
enum { MOST_COMPUTED = 16, MOST_SPELLED = 16 << 20 };

/* A derived metric: its two sides, as far as there are. */
typedef struct derived {
    as_str name;
    const char *description, *format;
    as_formula *formulas[2]; /* inclusive, exclusive; metrics are references */
    as_formula_text texts[2];
} derived;

static derived *derived_at(const as_hpc_formulas *f, size_t i) { return &AS_AT(derived, &f->derived, i); }

/* Where several have an id, the first one counts. */
static bool put_new(as_map *map, uint64_t key, uint32_t value) {
    return as_map_get(map, key) != AS_MAP_NONE || as_map_put(map, key, value);
}

assay_status as_hpc_formulas_init(as_hpc_formulas *f, as_reader *reader, const char *path,
                                  const as_hpc_reference *references, size_t n_references) {
    as_budget *budget = as_ds_budget(reader->dataset);
    *f = (as_hpc_formulas){.reader = reader,
                           .path = path,
                           .references = references,
                           .n_references = n_references,
                           .spelled_left = MOST_SPELLED};
    as_vec_init(&f->derived, sizeof(derived), budget);
    as_vec_init(&f->computed, sizeof(as_hpc_computed), budget);
    as_map_init(&f->by_id, budget);
    as_map_init(&f->by_order, budget);
    as_map_init(&f->by_name, budget);
    as_map_init(&f->n_computed, budget);
    f->ids = calloc(n_references + 1, sizeof *f->ids);
    if (!f->ids) return as_reader_memory(reader);
    for (uint32_t i = 0; i < n_references; i++) {
        f->ids[i] = (uint32_t)references[i].id;
        if (!put_new(&f->by_id, (uint64_t)references[i].id, i)) return as_reader_memory(reader);
        if (references[i].order >= 0 && !put_new(&f->by_order, (uint64_t)references[i].order, i))
            return as_reader_memory(reader);
    }
    return ASSAY_OK;
}

void as_hpc_formulas_free(as_hpc_formulas *f) {
    for (size_t i = 0; i < f->derived.count; i++) {
        as_formula_free(derived_at(f, i)->formulas[0]);
        as_formula_free(derived_at(f, i)->formulas[1]);
    }
    for (size_t i = 0; i < f->computed.count; i++) as_formula_free(AS_AT(as_hpc_computed, &f->computed, i).formula);
    as_vec_free(&f->derived);
    as_vec_free(&f->computed);
    as_map_free(&f->by_id);
    as_map_free(&f->by_order);
    as_map_free(&f->by_name);
    as_map_free(&f->n_computed);
    free(f->ids);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Operands are numbers of references, until it is known what becomes of the formula. */
static bool find_reference(void *user, as_infix_reference kind, const char *name, size_t size, as_formula_operand *out,
                           char *why, size_t room) {
    const as_hpc_formulas *f = user;
    as_number number;
    bool is_number = kind != AS_INFIX_NAME && as_number_parse(name, size, &number) && number.kind == AS_INT;
    uint32_t found = is_number && (kind == AS_INFIX_NUMBER || number.i >= 0)
                         ? as_map_get(kind == AS_INFIX_ORDER ? &f->by_order : &f->by_id, (uint64_t)number.i)
                         : AS_MAP_NONE;
    if (found != AS_MAP_NONE) {
        out->metric = found;
        return true;
    }
    snprintf(why, room, "there is no metric %s%.*s",
             kind == AS_INFIX_NAME    ? ""
             : kind == AS_INFIX_ORDER ? "#"
                                      : "$",
             (int)(size < 40 ? size : 40), name);
    return false;
}

/* The inclusive metric that a reference's values belong to; the sums of others stand for themselves. */
static assay_id metric_of(const as_hpc_formulas *f, uint32_t reference) {
    assay_id metric = f->references[reference].metric;
    assay_id whole = as_ds_metric(f->reader->dataset, metric)->part_of;
    return whole != ASSAY_NONE ? whole : metric;
}

typedef enum outcome { OUTCOME_NONE, OUTCOME_DERIVED, OUTCOME_STATISTIC, OUTCOME_MIXED } outcome;

static outcome outcome_of(const as_hpc_formulas *f, const as_formula *formula, const as_hpc_formula *asked) {
    const as_formula_operand *operands;
    size_t n = as_formula_operands(formula, &operands);
    bool all_sums = true, one_metric = true;
    if (n == 0 || as_formula_is_one_metric(formula)) return OUTCOME_NONE;
    for (size_t i = 0; i < n; i++) {
        const as_hpc_reference *reference = &f->references[operands[i].metric];
        all_sums &= strcmp(reference->statistic, "sum") == 0;
        one_metric &=
            reference->metric == f->references[operands[0].metric].metric && operands[i].reach == AS_REACH_POINT;
    }
    if (all_sums) return OUTCOME_DERIVED;
    return one_metric && asked->statistic ? OUTCOME_STATISTIC : OUTCOME_MIXED;
}

static char *copy_text(as_hpc_formulas *f, const char *text, size_t size) {
    return as_arena_copy(&f->reader->dataset->arena, text, size);
}

/* The derived metric of this name, made if new. NULL when memory is out. */
static derived *find_derived(as_hpc_formulas *f, const char *name) {
    as_str id = as_ds_intern_text(f->reader->dataset, name);
    uint32_t known = id != AS_NO_STR ? as_map_get(&f->by_name, id) : AS_MAP_NONE;
    derived new = {.name = id};
    if (known != AS_MAP_NONE) return derived_at(f, known);
    if (id == AS_NO_STR || !as_map_put(&f->by_name, id, (uint32_t)f->derived.count) ||
        !as_vec_append(&f->derived, &new, 1))
        return NULL;
    return derived_at(f, f->derived.count - 1);
}

static bool add_derived(as_hpc_formulas *f, const as_hpc_formula *asked, as_formula *formula) {
    derived *d = find_derived(f, asked->name);
    char *text = copy_text(f, asked->text, asked->size);
    if (!d || !text || d->formulas[asked->is_exclusive]) { /* the first one counts */
        as_formula_free(formula);
        return d && text;
    }
    d->formulas[asked->is_exclusive] = formula;
    d->texts[asked->is_exclusive] = (as_formula_text){text, asked->size};
    if (asked->description && !d->description)
        d->description = copy_text(f, asked->description, strlen(asked->description));
    if (asked->format && !d->format) d->format = copy_text(f, asked->format, strlen(asked->format));
    return true;
}

static void warn(as_hpc_formulas *f, const as_hpc_formula *asked, const char *why) {
    as_warn(f->reader, as_place_file(f->path), "formula", "metric %s has no values: %s (its formula is \"%.*s\")",
            asked->name, why, (int)(asked->size < 100 ? asked->size : 100), asked->text);
}

/* Its operands are ids in the summary profile. */
static bool add_statistic(as_hpc_formulas *f, const as_hpc_formula *asked, as_formula *formula) {
    const as_formula_operand *operands;
    as_formula_operands(formula, &operands);
    as_hpc_computed new = {.metric = f->references[operands[0].metric].metric};
    uint32_t n = as_map_get(&f->n_computed, new.metric);
    n = n == AS_MAP_NONE ? 0 : n;
    if (n >= MOST_COMPUTED) {
        warn(f, asked, "its metric has too many statistics already");
        as_formula_free(formula);
        return true;
    }
    new.name = as_ds_intern_text(f->reader->dataset, asked->statistic);
    new.formula = as_formula_copy(formula, f->ids);
    as_formula_free(formula);
    if (new.formula &&new.name != AS_NO_STR && as_map_put(&f->n_computed, new.metric, n + 1) &&
        as_vec_append(&f->computed, &new, 1))
        return true;
    as_formula_free(new.formula);
    return false;
}

assay_status as_hpc_formulas_add(as_hpc_formulas *f, const as_hpc_formula *asked) {
    as_infix_names names = {.user = f, .metric = find_reference, .sqrt_rounds = true};
    as_formula *formula;
    assay_error error;
    bool fine = true;
    if (as_infix_compile(&names, (as_formula_text){asked->text, asked->size}, &formula, &error) != ASSAY_OK) {
        if (error.code != ASSAY_E_FORMAT) return as_reader_memory(f->reader);
        warn(f, asked, error.message);
        return ASSAY_OK;
    }
    switch (outcome_of(f, formula, asked)) {
    case OUTCOME_DERIVED: fine = add_derived(f, asked, formula); break;
    case OUTCOME_STATISTIC: fine = add_statistic(f, asked, formula); break;
    case OUTCOME_MIXED: warn(f, asked, "it is made of other statistics than sums, of several metrics");
    /* fall through */
    default: as_formula_free(formula);
    }
    return fine ? ASSAY_OK : as_reader_memory(f->reader);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* names: of the metrics that there were before. */
static as_str name_metric(as_dataset *ds, const as_map *names, as_str name) {
    static const char suffix[] = " (computed)";
    if (as_map_get(names, name) == AS_MAP_NONE) return name;
    size_t size = as_str_size(&ds->strings, name);
    char *longer = malloc(size + sizeof suffix);
    if (!longer) return AS_NO_STR;
    memcpy(longer, as_ds_text(ds, name), size);
    memcpy(longer + size, suffix, sizeof suffix);
    as_str result = as_ds_intern(ds, longer, size + sizeof suffix - 1);
    free(longer);
    return result;
}

/* The text with names instead of numbers: what people would write. Where that gets too long, the numbers stay. False
 * when memory is out. */
static bool spell(as_hpc_formulas *f, as_formula_text text, as_vec *out) {
    const as_dataset *ds = f->reader->dataset;
    bool fine = true;
    for (size_t i = 0; i < text.size && fine;) {
        size_t digits = i + 1;
        bool is_sign = text.text[i] == '$' || text.text[i] == '#';
        while (is_sign && digits < text.size && text.text[digits] >= '0' && text.text[digits] <= '9') digits++;
        as_formula_operand operand;
        char why[64];
        as_infix_reference kind = text.text[i] == '#' ? AS_INFIX_ORDER : AS_INFIX_NUMBER;
        if (digits == i + 1 || !find_reference(f, kind, text.text + i + 1, digits - i - 1, &operand, why, sizeof why)) {
            fine = as_vec_append(out, text.text + i++, 1);
            continue;
        }
        as_str known = as_ds_metric(ds, f->references[operand.metric].metric)->name;
        const char *name = as_ds_text(ds, known);
        size_t size = name ? as_str_size(&ds->strings, known) : 0;
        if (size > f->spelled_left) return as_vec_append(out, text.text + i, text.size - i);
        f->spelled_left -= size;
        i = digits;
        fine = as_vec_text(out, "'");
        for (; name && *name && fine; name++)
            fine = as_vec_append(out, *name == '\'' ? "''" : name, *name == '\'' ? 2 : 1);
        fine = fine && as_vec_text(out, "'");
    }
    return fine;
}

static assay_id add_metric(as_dataset *ds, const as_map *names, const derived *d, const as_vec *text) {
    as_metric metric = AS_METRIC_INIT;
    size_t unit_size;
    const char *unit = as_hpc_unit(as_ds_text(ds, d->name), &unit_size);
    metric.kind = AS_KIND_DERIVED;
    metric.name = name_metric(ds, names, d->name);
    metric.dtype = as_ds_intern_text(ds, "DOUBLE");
    if (d->description) metric.description = as_ds_intern_text(ds, d->description);
    if (unit) metric.unit = as_ds_intern(ds, unit, unit_size);
    if (metric.name == AS_NO_STR || metric.dtype == AS_NO_STR) return ASSAY_NONE;
    assay_id id = as_add_metric(ds, &metric);
    bool fine = id != ASSAY_NONE &&
                as_add_attribute(ds, AS_OWNER_METRIC, id, "formula", as_cell_text_n(text->data, text->count));
    if (fine && d->format) fine = as_add_attribute(ds, AS_OWNER_METRIC, id, "format", as_cell_text(d->format));
    return fine ? id : ASSAY_NONE;
}

/* The inclusive formula is that of both sides, whose metrics are the inclusive ones: the exclusive one says the same of
 * their other sides. */
static bool finish_derived(as_hpc_formulas *f, const as_map *names, const derived *d, const uint32_t *metrics) {
    as_dataset *ds = f->reader->dataset;
    bool has_inclusive = d->formulas[0] != NULL, has_exclusive = d->formulas[1] != NULL;
    as_vec text;
    as_vec_init(&text, 1, &ds->budget);
    assay_id id = spell(f, d->texts[!has_inclusive], &text) ? add_metric(ds, names, d, &text) : ASSAY_NONE;
    as_vec_free(&text);
    as_formula *formula = id != ASSAY_NONE ? as_formula_copy(d->formulas[!has_inclusive], metrics) : NULL;
    as_derived_sides sides = !has_inclusive ? AS_SIDES_EXCLUSIVE : !has_exclusive ? AS_SIDES_INCLUSIVE : AS_SIDES_BOTH;
    return formula && as_add_compiled_formula(ds, id, sides, formula, d->texts[!has_inclusive]);
}

static void free_computed(void *object) {
    as_vec *computed = object;
    for (size_t i = 0; i < computed->count; i++) as_formula_free(AS_AT(as_hpc_computed, computed, i).formula);
    as_vec_free(computed);
    free(computed);
}

/* The statistics become the dataset's, behind those that the meaning has. */
static bool finish_computed(as_hpc_formulas *f, as_hpc_meaning *meaning) {
    as_vec *kept = malloc(sizeof *kept);
    size_t n = meaning->n_computed + f->computed.count;
    as_hpc_computed *all = as_arena_array(&f->reader->dataset->arena, n, sizeof *all);
    if (!kept || !all) return free(kept), false;
    if (meaning->n_computed) memcpy(all, meaning->computed, meaning->n_computed * sizeof *all);
    memcpy(all + meaning->n_computed, f->computed.data, f->computed.count * sizeof *all);
    *kept = f->computed;
    as_vec_init(&f->computed, sizeof(as_hpc_computed), NULL);
    meaning->computed = all;
    meaning->n_computed = n;
    return as_ds_hold(f->reader->dataset, kept, free_computed);
}

static bool finish_all_derived(as_hpc_formulas *f) {
    as_dataset *ds = f->reader->dataset;
    uint32_t *metrics = calloc(f->n_references + 1, sizeof *metrics);
    as_map names;
    as_map_init(&names, &ds->budget);
    bool fine = metrics != NULL;
    for (assay_id id = 0; fine && id < AS_COUNT(ds, metrics); id++) {
        as_str name = as_ds_metric(ds, id)->name;
        fine = name == AS_NO_STR || as_map_put(&names, name, id);
    }
    for (uint32_t i = 0; fine && i < f->n_references; i++) metrics[i] = metric_of(f, i);
    for (size_t i = 0; fine && i < f->derived.count; i++) fine = finish_derived(f, &names, derived_at(f, i), metrics);
    as_map_free(&names);
    free(metrics);
    return fine && as_compile_formulas(ds, f->path);
}

assay_status as_hpc_formulas_finish(as_hpc_formulas *f, as_hpc_meaning *meaning) {
    bool fine = !f->derived.count || finish_all_derived(f);
    if (fine && meaning && f->computed.count) fine = finish_computed(f, meaning);
    return fine ? ASSAY_OK : as_reader_memory(f->reader);
}
