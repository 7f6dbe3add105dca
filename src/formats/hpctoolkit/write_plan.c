/* The plan of a database: attributes that have a place in it, and the ids of its contexts. */
#include "formats/hpctoolkit/write_plan.h"

#include <stdlib.h>

const char *const as_hpc_statistic_names[AS_HPC_STATISTICS] = {"count", "sum", "sumsq", "min", "max"};

/* ---- attributes -------------------------------------------------------------------------------------------------- */

typedef enum kept_key {
    KEY_OFFSET,
    KEY_STATIC_ID,
    KEY_ENTRY_TYPE,
    KEY_CLASS,
    KEY_TRACE_ID,
    KEY_RELATION,
    KEY_PROPAGATION,
    KEY_TEXTS, /* from here on */
    KEY_TITLE = KEY_TEXTS,
    KEY_DESCRIPTION,
    KEY_WRAPPER,
    KEY_TUPLE,
    KEY_BITS,
    KEY_SCOPE,
    KEY_SHOW,
    KEY_FORMAT,
    KEY_FORMULA,
    N_KEYS
} kept_key;

static const struct {
    const char *name;
    as_owner owner;
} keys[N_KEYS] = {
    {"offset", AS_OWNER_REGION},       {"static_id", AS_OWNER_REGION},  {"entry_type", AS_OWNER_REGION},
    {"class", AS_OWNER_REGION},        {"trace_id", AS_OWNER_CONTEXT},  {"relation", AS_OWNER_CONTEXT},
    {"propagation", AS_OWNER_CONTEXT}, {"title", AS_OWNER_DATASET},     {"description", AS_OWNER_DATASET},
    {"wrapper", AS_OWNER_CONTEXT},     {"id_tuple", AS_OWNER_LOCATION}, {"id_tuple_bits", AS_OWNER_LOCATION},
    {"scope", AS_OWNER_METRIC},        {"show", AS_OWNER_METRIC},       {"format", AS_OWNER_METRIC},
    {"formula", AS_OWNER_METRIC}};

/* A whole number from 0 on, or false. */
static bool cell_number(as_cell cell, uint64_t *out) {
    as_number number;
    if (cell.type == AS_CELL_UINT) return *out = cell.u, true;
    if (cell.type == AS_CELL_INT) return *out = (uint64_t)cell.i, cell.i >= 0;
    if (cell.type != AS_CELL_TEXT || !as_number_parse(cell.text, cell.size, &number) || number.kind == AS_REAL)
        return false;
    *out = number.u;
    return number.kind == AS_UINT || number.i >= 0;
}

static void keep_number(as_hpc_kept *kept, kept_key key, assay_id owner, uint64_t number) {
    switch (key) {
    case KEY_OFFSET: kept->offset[owner] = number; break;
    case KEY_STATIC_ID:
        if (number == 0 || number > INT32_MAX) break;
        kept->static_id[owner] = (uint32_t)number;
        if (number > kept->max_static_id) kept->max_static_id = (uint32_t)number;
        break;
    case KEY_ENTRY_TYPE: kept->entry_type[owner] = number <= 2 ? (int8_t)number : -1; break;
    case KEY_CLASS: kept->class_of[owner] = number <= 9 ? (int8_t)number : -1; break;
    case KEY_RELATION: kept->relation[owner] = number <= AS_HPC_INLINED ? (int8_t)number : -1; break;
    case KEY_PROPAGATION: kept->propagation[owner] = (uint16_t)number; break;
    default: kept->trace_id[owner] = number < UINT32_MAX ? (uint32_t)number : 0;
    }
}

static void keep_text(as_hpc_kept *kept, kept_key key, assay_id owner, const char *text) {
    switch (key) {
    case KEY_TITLE: kept->title = text; break;
    case KEY_DESCRIPTION: kept->description = text; break;
    case KEY_WRAPPER: kept->wrapper[owner] = text[0] == 'S' || text[0] == 'C' ? text[0] : 0; break;
    case KEY_TUPLE: kept->tuple[owner] = text; break;
    case KEY_BITS: kept->tuple_bits[owner] = text; break;
    case KEY_SCOPE: kept->scope[owner] = text; break;
    case KEY_SHOW: kept->show[owner] = text; break;
    case KEY_FORMULA: kept->formula[owner] = text; break;
    default: kept->format[owner] = text;
    }
}

static void keep_attribute(as_hpc_kept *kept, kept_key key, const as_attribute *attribute) {
    uint64_t number;
    if (key < KEY_TEXTS) {
        if (cell_number(attribute->value, &number)) keep_number(kept, key, attribute->owner_id, number);
    } else if (attribute->value.type == AS_CELL_TEXT)
        keep_text(kept, key, attribute->owner_id, attribute->value.text);
}

static size_t owners(const as_dataset *ds, as_owner owner) {
    switch (owner) {
    case AS_OWNER_DATASET: return 1;
    case AS_OWNER_REGION: return ds->regions.count;
    case AS_OWNER_CONTEXT: return ds->contexts.count;
    case AS_OWNER_METRIC: return ds->metrics.count;
    default: return ds->locations.count;
    }
}

static bool make_kept(as_hpc_plan *plan) {
    const as_dataset *ds = plan->ds;
    as_hpc_kept *kept = &plan->kept;
    size_t regions = ds->regions.count, contexts = ds->contexts.count, locations = ds->locations.count,
           metrics = ds->metrics.count;
    kept->offset = as_arena_array(&plan->arena, regions, sizeof *kept->offset);
    kept->static_id = as_arena_array(&plan->arena, regions, sizeof *kept->static_id);
    kept->entry_type = as_arena_array(&plan->arena, regions, sizeof *kept->entry_type);
    kept->class_of = as_arena_array(&plan->arena, regions, sizeof *kept->class_of);
    kept->trace_id = as_arena_array(&plan->arena, contexts, sizeof *kept->trace_id);
    kept->relation = as_arena_array(&plan->arena, contexts, sizeof *kept->relation);
    kept->propagation = as_arena_array(&plan->arena, contexts, sizeof *kept->propagation);
    kept->wrapper = as_arena_array(&plan->arena, contexts, sizeof *kept->wrapper);
    kept->tuple = as_arena_array(&plan->arena, locations, sizeof *kept->tuple);
    kept->tuple_bits = as_arena_array(&plan->arena, locations, sizeof *kept->tuple_bits);
    kept->scope = as_arena_array(&plan->arena, metrics, sizeof *kept->scope);
    kept->show = as_arena_array(&plan->arena, metrics, sizeof *kept->show);
    kept->format = as_arena_array(&plan->arena, metrics, sizeof *kept->format);
    kept->formula = as_arena_array(&plan->arena, metrics, sizeof *kept->formula);
    if (!kept->formula || !kept->offset || !kept->static_id || !kept->entry_type || !kept->class_of ||
        !kept->trace_id || !kept->relation || !kept->propagation || !kept->wrapper || !kept->tuple ||
        !kept->tuple_bits || !kept->scope || !kept->show || !kept->format)
        return false;
    memset(kept->entry_type, -1, regions);
    memset(kept->class_of, -1, regions);
    memset(kept->relation, -1, contexts);
    return true;
}

static bool plan_kept(as_hpc_plan *plan) {
    const as_dataset *ds = plan->ds;
    as_hpc_kept *kept = &plan->kept;
    if (!make_kept(plan)) return false;
    if (!plan->is_family) return true;
    as_str names[N_KEYS];
    for (int k = 0; k < N_KEYS; k++) names[k] = as_find(&ds->strings, keys[k].name, strlen(keys[k].name));
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        for (kept_key k = 0; k < N_KEYS; k++) {
            if (attribute->key == names[k] && attribute->owner == keys[k].owner &&
                attribute->owner_id < owners(ds, attribute->owner))
                keep_attribute(kept, k, attribute);
        }
    }
    return true;
}

const char *as_hpc_title(const as_hpc_plan *plan) {
    if (plan->kept.title) return plan->kept.title;
    const char *path = as_ds_text(plan->ds, plan->ds->path);
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (slash && slash[1]) return slash + 1;
    return path ? path : "";
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

as_hpc_kind as_hpc_kind_of(const as_dataset *ds, const as_context *context) {
    static const struct {
        const char *name;
        as_hpc_kind kind;
    } kinds[] = {{"root", AS_HPC_ROOT},
                 {"entry", AS_HPC_ENTRY},
                 {"loop", AS_HPC_LOOP},
                 {"line", AS_HPC_LINE},
                 {"instruction", AS_HPC_INSTRUCTION},
                 {"call", AS_HPC_CALL}};
    if (context->role == AS_ROLE_PLACELESS) return AS_HPC_PLACELESS;
    const char *name = context->region == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_region(ds, context->region)->kind);
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
    }
    return AS_HPC_FUNCTION;
}

uint8_t as_hpc_relation(const as_hpc_plan *plan, assay_id context) {
    const as_context *c = as_ds_context(plan->ds, context);
    uint8_t kind = plan->kinds_of_contexts[context];
    if (plan->kept.relation[context] >= 0) return (uint8_t)plan->kept.relation[context];
    if (kind == AS_HPC_FUNCTION || kind == AS_HPC_ENTRY) return c->is_inlined ? AS_HPC_INLINED : AS_HPC_CALLED;
    return kind == AS_HPC_INSTRUCTION ? AS_HPC_CALLED : AS_HPC_NESTED;
}

const char *as_hpc_context_name(const as_hpc_plan *plan, assay_id id) {
    const as_context *context = as_ds_context(plan->ds, id);
    const char *name = as_ds_text(plan->ds, context->name);
    if (!name && context->region != ASSAY_NONE)
        name = as_ds_text(plan->ds, as_ds_region(plan->ds, context->region)->name);
    return name ? name : "";
}

/* 2.x has a procedure without a name around inlined ones, for the line they stand at. */
static bool is_inlined_call(const as_dataset *ds, assay_id id) {
    const as_context *context = as_ds_context(ds, id);
    if (context->role != AS_ROLE_INNER || context->region == ASSAY_NONE || context->subtree == 1) return false;
    const as_region *region = as_ds_region(ds, context->region);
    if (as_str_size(&ds->strings, region->name) || region->line_begin <= 0) return false;
    for (assay_id i = id + 1; i < id + context->subtree; i += as_ds_context(ds, i)->subtree) {
        if (!as_ds_context(ds, i)->is_inlined) return false;
    }
    return true;
}

static bool find_kinds(as_hpc_plan *plan) {
    plan->kinds_of_contexts = as_arena_array(&plan->arena, plan->n_contexts, sizeof *plan->kinds_of_contexts);
    if (!plan->kinds_of_contexts) return false;
    plan->root = ASSAY_NONE;
    for (assay_id i = 0; i < plan->n_contexts; i++) {
        const as_context *context = as_ds_context(plan->ds, i);
        as_hpc_kind kind = plan->is_family                      ? as_hpc_kind_of(plan->ds, context)
                           : context->role == AS_ROLE_PLACELESS ? AS_HPC_PLACELESS
                                                                : AS_HPC_FUNCTION;
        if (kind == AS_HPC_ROOT) {
            if (plan->root == ASSAY_NONE && context->parent == ASSAY_NONE)
                plan->root = i;
            else
                kind = AS_HPC_FUNCTION;
        }
        if (kind == AS_HPC_FUNCTION && is_inlined_call(plan->ds, i)) kind = AS_HPC_LINE;
        plan->kinds_of_contexts[i] = (uint8_t)kind;
    }
    return true;
}

/* The ids of the source, where they are numbers from 1 on that all differ and leave no great gaps. *used: one bit for
 * each id. */
static bool keep_ids(as_hpc_plan *plan, bool *fits) {
    const as_dataset *ds = plan->ds;
    uint64_t limit = (uint64_t)plan->n_contexts * 16 + (1 << 20);
    if (limit > INT32_MAX) limit = INT32_MAX;
    uint8_t *used = calloc(limit / 8 + 1, 1);
    if (!used) return false;
    *fits = plan->is_family;
    for (assay_id i = 0; i < plan->n_contexts && *fits; i++) {
        char digits[AS_NUMBER_SIZE];
        const char *text = as_context_source_id(ds, i, digits);
        as_number number = {.kind = AS_INT};
        if (i == plan->root) continue;
        *fits = text && as_number_parse(text, strlen(text), &number) && number.kind == AS_INT && number.i > 0 &&
                (uint64_t)number.i < limit && !(used[number.i / 8] >> (number.i % 8) & 1);
        if (!*fits) break;
        used[number.i / 8] |= (uint8_t)(1 << (number.i % 8));
        plan->ids[i] = (uint32_t)number.i;
    }
    free(used);
    return true;
}

/* Whether a context below the root is an entry point of the released form: it has a name, and nothing more to say. */
static bool is_entry(const as_hpc_plan *plan, assay_id id) {
    const as_context *context = as_ds_context(plan->ds, id);
    if (plan->kinds_of_contexts[id] == AS_HPC_ENTRY) return true;
    if (!plan->is_family || plan->kinds_of_contexts[id] != AS_HPC_FUNCTION) return false;
    if (context->region == ASSAY_NONE) return true;
    const as_region *region = as_ds_region(plan->ds, context->region);
    const char *module = as_ds_text(plan->ds, region->module), *file = as_ds_text(plan->ds, region->file);
    return region->line_begin <= 0 && !plan->kept.offset[context->region] && as_hpc_is_unknown(module) &&
           as_hpc_is_unknown(file);
}

bool as_hpc_is_unknown(const char *name) {
    static const char *const words[] = {"<unknown module>", "<no module>", "unknown module"};
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i]) == 0) return true;
    }
    return !name || strncmp(name, AS_HPC_UNKNOWN_FILE_NAME, strlen(AS_HPC_UNKNOWN_FILE_NAME)) == 0;
}

static assay_status count_entries(as_hpc_plan *plan) {
    size_t n = 0;
    for (assay_id i = 0; i < plan->n_contexts; i++) {
        if (!as_hpc_is_top(plan, i)) continue;
        if (is_entry(plan, i))
            n++;
        else
            plan->has_entry = true;
    }
    plan->has_only_entry = plan->has_entry && !n;
    if (n + plan->has_entry <= UINT16_MAX) return ASSAY_OK;
    return as_fail(plan->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "entry-points",
                   "there are %zu contexts below the root, and hpctoolkit-4 holds 65535; write hpctoolkit-2021", n);
}

bool as_hpc_is_entry(const as_hpc_plan *plan, assay_id context) {
    return as_hpc_is_top(plan, context) && is_entry(plan, context);
}

static bool index_ids(as_hpc_plan *plan) {
    plan->slot_of = as_arena_array(&plan->arena, plan->n_ids, sizeof *plan->slot_of);
    plan->trace_ids = as_arena_array(&plan->arena, plan->n_contexts, sizeof *plan->trace_ids);
    if (!plan->slot_of || !plan->trace_ids) return false;
    memset(plan->slot_of, 0xff, plan->n_ids * sizeof *plan->slot_of);
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        if (plan->ids[i] != UINT32_MAX) plan->slot_of[plan->ids[i]] = i;
    }
    bool keeps = plan->form == AS_HPC_2021 && plan->keeps_ids;
    for (assay_id i = 0; i < plan->n_contexts; i++)
        plan->trace_ids[i] = keeps && plan->kept.trace_id[i] ? plan->kept.trace_id[i] : plan->ids[i];
    return true;
}

static assay_status plan_contexts(as_hpc_plan *plan) {
    plan->ids = as_arena_array(&plan->arena, plan->n_slots, sizeof *plan->ids);
    if (!plan->ids || !find_kinds(plan) || !keep_ids(plan, &plan->keeps_ids)) return as_fail_memory(plan->error, NULL);
    uint32_t next = 1, largest = 0;
    for (assay_id i = 0; i < plan->n_contexts; i++) {
        if (i == plan->root)
            plan->ids[i] = 0;
        else if (!plan->keeps_ids)
            plan->ids[i] = next++;
        if (plan->ids[i] > largest) largest = plan->ids[i];
    }
    if (plan->form == AS_HPC_4) AS_TRY(count_entries(plan));
    plan->ids[plan->n_contexts + AS_HPC_EXTRA_ROOT] = plan->root == ASSAY_NONE ? 0 : UINT32_MAX;
    plan->ids[plan->n_contexts + AS_HPC_EXTRA_ENTRY] = plan->has_entry ? ++largest : UINT32_MAX;
    plan->n_ids = largest + 1;
    return index_ids(plan) ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

const as_option as_hpc_write_options[] = {
    {"run", AS_OPTION_INT, "", NULL, "which run, by its id in the table run; a database holds one"}, {0}};

static assay_status choose_run(as_hpc_plan *plan, const as_writer *writer) {
    const as_dataset *ds = plan->ds;
    const char *text = as_option_text(&writer->options, "run");
    as_number number;
    if (!ds->contexts.count)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-call-tree",
                       "there is no call tree, and an HPCToolkit database is one");
    if (!ds->runs.count)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-values",
                       "there are no values of runs, only statistics; extrap-experiment holds those");
    if (!text[0] && ds->runs.count > 1)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "several-runs",
                       "an HPCToolkit database holds one run, and there are %zu; choose one with -O run=0 … %zu",
                       ds->runs.count, ds->runs.count - 1);
    plan->run = 0;
    if (!text[0]) return ASSAY_OK;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < 0 ||
        (uint64_t)number.i >= ds->runs.count)
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "run", "there is no run %s; they are 0 … %zu", text,
                       ds->runs.count - 1);
    plan->run = (assay_id)number.i;
    return ASSAY_OK;
}

static void init_plan(as_hpc_plan *plan, const as_dataset *ds, as_hpc_form form) {
    *plan = (as_hpc_plan){.ds = ds,
                          .form = form,
                          .is_family = as_hpc_is_family(ds),
                          .n_contexts = (uint32_t)ds->contexts.count,
                          .n_slots = (uint32_t)ds->contexts.count + AS_HPC_EXTRAS,
                          .placeless_profile = UINT32_MAX};
    as_arena_init(&plan->arena, as_ds_budget(ds));
    as_vec_init(&plan->sides, sizeof(as_hpc_side), as_ds_budget(ds));
    as_vec_init(&plan->groups, sizeof(as_hpc_group), as_ds_budget(ds));
    as_vec_init(&plan->totals, sizeof(as_hpc_total), as_ds_budget(ds));
    as_vec_init(&plan->kinds, sizeof(char *), as_ds_budget(ds));
    as_vec_init(&plan->profiles, sizeof(as_hpc_planned_profile), as_ds_budget(ds));
    as_vec_init(&plan->ids_of_places, sizeof(as_hpc_identifier), as_ds_budget(ds));
    as_vec_init(&plan->made_samples, sizeof(as_trace_sample), as_ds_budget(ds));
}

assay_status as_hpc_plan_make(as_hpc_plan *plan, const as_writer *writer, as_hpc_form form) {
    init_plan(plan, writer->dataset, form);
    plan->threads = writer->threads;
    plan->error = writer->error;
    AS_TRY(choose_run(plan, writer));
    if (!plan_kept(plan)) return as_fail_memory(plan->error, NULL);
    AS_TRY(plan_contexts(plan));
    AS_TRY(as_hpc_plan_metrics(plan));
    AS_TRY(as_hpc_plan_places(plan));
    AS_TRY(as_hpc_plan_intervals(plan));
    AS_TRY(as_hpc_plan_values(plan));
    return as_hpc_plan_totals(plan);
}

assay_status as_hpc_plan_outline(as_hpc_plan *plan, const as_dataset *ds, as_hpc_form form, assay_error *error) {
    init_plan(plan, ds, form);
    plan->error = error;
    if (!plan_kept(plan)) return as_fail_memory(error, NULL);
    AS_TRY(as_hpc_plan_metrics(plan));
    for (size_t i = 0; i < plan->groups.count; i++) as_hpc_group_at(plan, i)->statistics = 1u << AS_HPC_SUM;
    return ASSAY_OK;
}

void as_hpc_plan_free(as_hpc_plan *plan) {
    for (size_t i = 0; i < plan->sides.count; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        as_vec_free(&side->at);
        as_vec_free(&side->values);
    }
    as_vec_free(&plan->sides);
    as_vec_free(&plan->groups);
    as_vec_free(&plan->totals);
    as_vec_free(&plan->kinds);
    as_vec_free(&plan->profiles);
    as_vec_free(&plan->ids_of_places);
    as_vec_free(&plan->made_samples);
    as_arena_free(&plan->arena);
}
