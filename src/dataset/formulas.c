#include "dataset/formulas.h"

#include <stdio.h>
#include <stdlib.h>

#include "dataset/build.h"

struct as_derivations {
    as_vec derived; /* as_derived, by metric once compiled */
    as_formula_scope *scope;
    const char *path;
    /* Once prepared */
    bool is_ready;
    as_facts *facts;
    as_globals *globals;
    bool *is_void; /* of each metric */
    uint64_t work_left;
    void *companion;
    void (*release_companion)(void *made);
};

/* Of all formulas together: seconds. Loops that never end would else take their time for each metric. */
#define MAX_WORK 2000000000u

static void free_derivations(void *object) {
    as_derivations *d = object;
    if (d->companion) d->release_companion(d->companion);
    for (size_t i = 0; i < d->derived.count; i++) {
        as_machine_free(AS_AT(as_derived, &d->derived, i).machine);
        as_formula_free(AS_AT(as_derived, &d->derived, i).formula);
    }
    as_vec_free(&d->derived);
    as_formula_scope_free(d->scope);
    as_facts_free(d->facts);
    as_globals_free(d->globals);
    free(d->is_void);
    free(d);
}

static as_derived *derived_at(const as_derivations *d, size_t i) { return &AS_AT(as_derived, &d->derived, i); }

/* Of zeros; NULL when memory is out. */
static as_derived *new_derived(as_dataset *ds, assay_id metric) {
    if (!ds->derivations) {
        as_derivations *new = calloc(1, sizeof *new);
        if (!new) return NULL;
        as_vec_init(&new->derived, sizeof(as_derived), &ds->budget);
        if (!as_ds_hold(ds, new, free_derivations)) return NULL;
        ds->derivations = new;
    }
    as_derived *derived = as_vec_push(&ds->derivations->derived);
    if (!derived) return NULL;
    *derived = (as_derived){.metric = metric};
    return derived;
}

bool as_add_formula(as_dataset *ds, assay_id metric, as_derived_kind kind,
                    const as_formula_text texts[AS_FORMULA_PARTS]) {
    as_derived *derived = new_derived(ds, metric);
    if (!derived) return false;
    derived->kind = kind;
    memcpy(derived->texts, texts, sizeof derived->texts);
    return true;
}

bool as_add_compiled_formula(as_dataset *ds, assay_id metric, as_derived_sides sides, as_formula *formula,
                             as_formula_text text) {
    as_str copy = as_ds_intern(ds, text.text, text.size);
    as_derived *derived = copy != AS_NO_STR ? new_derived(ds, metric) : NULL;
    if (!derived) {
        as_formula_free(formula);
        return false;
    }
    derived->kind = AS_DERIVED_POST;
    derived->texts[AS_FORMULA_VALUE] = (as_formula_text){as_ds_text(ds, copy), text.size};
    derived->formula = formula;
    derived->sides = sides;
    derived->is_infix = derived->is_compiled = derived->is_usable = true;
    return true;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

enum { QUOTE_SIZE = 96 };

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The text around byte `at` with its blanks made one, cut where it is long. */
static void quote(as_formula_text text, size_t at, char out[QUOTE_SIZE + 8]) {
    static const char cut[] = "\xe2\x80\xa6"; /* … */
    size_t start = at > QUOTE_SIZE / 2 && text.size > QUOTE_SIZE ? at - QUOTE_SIZE / 2 : 0, n = 0;
    while (start < text.size && ((unsigned char)text.text[start] & 0xc0) == 0x80)
        start++; /* not inside of a character */
    if (start) memcpy(out, cut, n = 3);
    for (size_t i = start; i < text.size; i++) {
        char c = is_blank(text.text[i]) ? ' ' : text.text[i];
        if (c == ' ' && (n == 0 || out[n - 1] == ' ' || i + 1 == text.size)) continue;
        if (n >= QUOTE_SIZE && ((unsigned char)c & 0xc0) != 0x80) {
            memcpy(out + n, cut, 3);
            n += 3;
            break;
        }
        out[n++] = c;
        if (n >= QUOTE_SIZE + 4) break;
    }
    out[n] = '\0';
}

static const char *metric_name(const as_dataset *ds, assay_id metric) {
    const char *name = as_ds_text(ds, as_ds_metric(ds, metric)->name);
    return name ? name : "?";
}

/* Byte of a line and column, both from 1. */
static size_t place_at(as_formula_text text, uint32_t line, uint32_t column) {
    size_t at = 0;
    for (; line > 1 && at < text.size; at++) line -= text.text[at] == '\n';
    return at + column - 1;
}

/* line 0: the whole text is meant, else a place in it. */
static void warn(as_dataset *ds, const as_derived *derived, as_formula_part part, uint32_t line, uint32_t column,
                 const char *why) {
    static const char *const words[AS_FORMULA_PARTS] = {[AS_FORMULA_VALUE] = "expression",
                                                        [AS_FORMULA_INIT] = "initialisation",
                                                        [AS_FORMULA_PLUS] = "way to add",
                                                        [AS_FORMULA_MINUS] = "way to subtract",
                                                        [AS_FORMULA_AGGR] = "way to put locations together"};
    char quoted[QUOTE_SIZE + 8], place[64] = "its ";
    if (line > 1)
        snprintf(place, sizeof place, "line %u, column %u of its ", line, column);
    else if (line)
        snprintf(place, sizeof place, "column %u of its ", column);
    quote(derived->texts[part], line ? place_at(derived->texts[part], line, column) : 0, quoted);
    as_add_problem(ds, AS_WARNING, as_place_file(ds->derivations->path), derived->is_infix ? "formula" : "cubepl",
                   "derived metric %s has no values: %s (%s%s%s \"%s\")", metric_name(ds, derived->metric), why, place,
                   words[part], line ? "" : " is", quoted);
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

typedef struct name_table {
    const as_dataset *ds;
    as_map metrics; /* string id of a name -> metric; the last of several counts */
} name_table;

static uint32_t find_metric(void *user, const char *name, size_t size) {
    const name_table *names = user;
    as_str id = as_find(&names->ds->strings, name, size);
    return id == AS_NO_STR ? AS_UNKNOWN_NAME : as_map_get(&names->metrics, id);
}

static uint32_t find_fact(void *user, const char *name, size_t size, bool *varies) {
    (void)user;
    return as_fact_find(name, size, varies);
}

static bool map_metrics(name_table *names) {
    for (size_t i = 0; i < AS_COUNT(names->ds, metrics); i++) {
        as_str name = as_ds_metric(names->ds, (assay_id)i)->name;
        if (name != AS_NO_STR && !as_map_put(&names->metrics, name, (uint32_t)i)) return false;
    }
    return true;
}

/* An init counts even if the rest cannot be used: it may set what others read. */
static bool compile(as_dataset *ds, const as_formula_names *names, as_derived *derived) {
    as_formula_text only_init[AS_FORMULA_PARTS] = {[AS_FORMULA_INIT] = derived->texts[AS_FORMULA_INIT]};
    as_formula_scope *scope = ds->derivations->scope;
    as_formula_part part = AS_FORMULA_VALUE;
    assay_error error;
    derived->is_compiled = true;
    assay_status status = as_cubepl_compile(scope, names, derived->texts, &derived->formula, &part, &error);
    derived->is_usable = status == ASSAY_OK;
    if (status == ASSAY_OK || status == ASSAY_E_NOMEM) return status == ASSAY_OK;
    warn(ds, derived, part, error.line, error.column, error.message);
    if (part == AS_FORMULA_INIT || !only_init[AS_FORMULA_INIT].text) return true;
    return as_cubepl_compile(scope, names, only_init, &derived->formula, NULL, NULL) != ASSAY_E_NOMEM;
}

static int by_metric(const void *a, const void *b) {
    const as_derived *left = a, *right = b;
    return (left->metric > right->metric) - (left->metric < right->metric);
}

/* ---- what needs what --------------------------------------------------------------------------------------------- */

static as_derived *find_derived(const as_derivations *d, assay_id metric) {
    size_t low = 0, high = d->derived.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        as_derived *derived = derived_at(d, middle);
        if (derived->metric == metric) return derived;
        if (derived->metric < metric)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const as_derived *as_ds_derived(const as_dataset *ds, assay_id metric) {
    return ds->derivations ? find_derived(ds->derivations, metric) : NULL;
}

/* A derived metric that it needs and that is not in order yet; NULL: there is none. */
static const as_derived *waits_for(const as_derivations *d, const as_derived *derived) {
    const as_formula_operand *operands;
    size_t n = as_formula_operands(derived->formula, &operands);
    for (size_t i = 0; i < n; i++) {
        const as_derived *other = find_derived(d, operands[i].metric);
        if (other && !(other->is_usable && other->order)) return other;
    }
    return NULL;
}

/* All it needs is in order. */
static bool has_exclusive(const as_dataset *ds, const as_derived *derived) {
    const as_formula_operand *operands;
    size_t n = as_formula_operands(derived->formula, &operands);
    bool has = !derived->is_infix || derived->sides == AS_SIDES_EXCLUSIVE;
    if (derived->sides == AS_SIDES_INCLUSIVE) return false;
    for (size_t i = 0; i < n && !has; i++) {
        const as_derived *other = find_derived(ds->derivations, operands[i].metric);
        as_metric_kind kind = as_ds_metric(ds, operands[i].metric)->kind;
        has = other ? other->has_exclusive : kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE;
    }
    return has;
}

/* Numbers formulas so that each comes behind those it needs. One that has to wait goes on the list of the one it waits
 * for, and is looked at again when that one has its number. next, first, ready: room for one number for each of
 * them. */
static void put_in_order(const as_dataset *ds, uint32_t *next, uint32_t *first, uint32_t *ready) {
    as_derivations *d = ds->derivations;
    size_t n = d->derived.count, n_ready = 0;
    uint32_t order = 0;
    for (size_t i = n; i-- > 0;) {
        first[i] = UINT32_MAX;
        if (derived_at(d, i)->is_usable) ready[n_ready++] = (uint32_t)i;
    }
    while (n_ready) {
        uint32_t i = ready[--n_ready];
        const as_derived *other = waits_for(d, derived_at(d, i));
        if (other) {
            size_t k = (size_t)(other - derived_at(d, 0));
            next[i] = first[k];
            first[k] = i;
            continue;
        }
        derived_at(d, i)->order = ++order;
        derived_at(d, i)->has_exclusive = has_exclusive(ds, derived_at(d, i));
        for (uint32_t k = first[i]; k != UINT32_MAX; k = next[k]) ready[n_ready++] = k;
        first[i] = UINT32_MAX;
    }
}

static void warn_needs(as_dataset *ds, const as_derived *derived, const char *format, const as_derived *other) {
    char why[128];
    snprintf(why, sizeof why, format, metric_name(ds, other->metric));
    warn(ds, derived, AS_FORMULA_VALUE, 0, 0, why);
}

/* What waits in the end waits for one that cannot be used, or is part of a circle. */
static void drop_waiting(as_dataset *ds, const uint32_t *next, const uint32_t *first, uint32_t *dropped) {
    as_derivations *d = ds->derivations;
    size_t n = d->derived.count, n_dropped = 0;
    for (size_t i = 0; i < n; i++) {
        if (!derived_at(d, i)->is_usable) dropped[n_dropped++] = (uint32_t)i;
    }
    while (n_dropped) {
        uint32_t k = dropped[--n_dropped];
        for (uint32_t i = first[k]; i != UINT32_MAX; i = next[i]) {
            derived_at(d, i)->is_usable = false;
            warn_needs(ds, derived_at(d, i), "it needs %s, which has none", derived_at(d, k));
            dropped[n_dropped++] = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const as_derived *derived = derived_at(d, i);
        if (derived->is_usable && !derived->order)
            warn_needs(ds, derived, "it needs %s, and so on in a circle", waits_for(d, derived));
    }
    for (size_t i = 0; i < n; i++) derived_at(d, i)->is_usable &= derived_at(d, i)->order != 0;
}

/* False when memory is out. */
static bool order_formulas(as_dataset *ds) {
    as_derivations *d = ds->derivations;
    size_t n = d->derived.count;
    uint32_t *room = calloc(3 * n, sizeof *room);
    if (!room) return false;
    for (size_t i = 0; i < n; i++) derived_at(d, i)->order = 0;
    put_in_order(ds, room, room + n, room + 2 * n);
    drop_waiting(ds, room, room + n, room + 2 * n);
    free(room);
    return true;
}

/* Where an init cannot be used (init_is_fine: by formula), what reads a variable that no other init sets has no value.
 * False when memory is out. */
static bool drop_unset(as_dataset *ds, const bool *init_is_fine) {
    as_derivations *d = ds->derivations;
    bool *is_set = calloc(as_formula_scope_globals(d->scope) + 1, sizeof *is_set), all_fine = true;
    const uint32_t *globals;
    if (!is_set) return false;
    for (size_t i = 0; i < d->derived.count; i++) {
        const as_derived *derived = derived_at(d, i);
        if (!derived->texts[AS_FORMULA_INIT].text) continue;
        all_fine &= init_is_fine[i];
        if (!init_is_fine[i]) continue;
        size_t n = as_formula_globals_set(derived->formula, &globals);
        for (size_t k = 0; k < n; k++) is_set[globals[k]] = true;
    }
    for (size_t i = 0; !all_fine && i < d->derived.count; i++) {
        as_derived *derived = derived_at(d, i);
        size_t n = derived->is_usable ? as_formula_globals_read(derived->formula, &globals) : 0, k = 0;
        while (k < n && is_set[globals[k]]) k++;
        if (k == n) continue;
        warn(ds, derived, AS_FORMULA_VALUE, 0, 0, "it needs a global variable whose initialisation cannot be used");
        derived->is_usable = false;
    }
    free(is_set);
    return true;
}

static bool check_formulas(as_dataset *ds) {
    as_derivations *d = ds->derivations;
    bool *init_is_fine = calloc(d->derived.count + 1, sizeof *init_is_fine);
    if (!init_is_fine) return false;
    for (size_t i = 0; i < d->derived.count; i++) init_is_fine[i] = derived_at(d, i)->formula != NULL;
    bool fine = drop_unset(ds, init_is_fine) && order_formulas(ds);
    free(init_is_fine);
    return fine;
}

bool as_compile_formulas(as_dataset *ds, const char *path) {
    as_derivations *d = ds->derivations;
    name_table table = {.ds = ds};
    as_formula_names names = {.user = &table, .metric = find_metric, .fact = find_fact};
    if (!d) return true;
    if (path && !d->path) d->path = as_arena_copy(&ds->arena, path, strlen(path));
    if (!d->scope) d->scope = as_formula_scope_new();
    if (!d->scope || (path && !d->path)) return false;
    qsort(d->derived.data, d->derived.count, sizeof(as_derived), by_metric);
    as_map_init(&table.metrics, NULL);
    bool fine = map_metrics(&table);
    for (size_t i = 0; fine && i < d->derived.count; i++) {
        if (!derived_at(d, i)->is_compiled)
            fine = as_cubepl_declare(d->scope, derived_at(d, i)->texts[AS_FORMULA_INIT]);
    }
    for (size_t i = 0; fine && i < d->derived.count; i++) {
        if (!derived_at(d, i)->is_compiled) fine = compile(ds, &names, derived_at(d, i));
    }
    as_map_free(&table.metrics);
    return fine && check_formulas(ds);
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

static bool init_fact(void *user, uint32_t fact, size_t point, double index, as_formula_value *out) {
    const as_derivations *d = user;
    static const as_fact_point nowhere = {ASSAY_NONE, ASSAY_NONE, ASSAY_NONE, false};
    (void)point;
    *out = as_facts_value(d->facts, fact, &nowhere, index);
    return true;
}

static double init_fact_size(void *user, uint32_t fact) {
    const as_derivations *d = user;
    return as_facts_size(d->facts, fact);
}

static bool init_set_void(void *user, uint32_t metric, bool is_void) {
    as_derivations *d = user;
    d->is_void[metric] = is_void;
    return true;
}

/* Loops may go through all that the dataset has. */
static as_machine_limits machine_limits(const as_dataset *ds) {
    as_machine_limits limits = AS_MACHINE_LIMITS;
    limits.work_left = &ds->derivations->work_left;
    uint64_t n = AS_COUNT(ds, contexts) + AS_COUNT(ds, regions) + AS_COUNT(ds, locations) + AS_COUNT(ds, metrics);
    if (limits.steps_of_init < 64 * n) limits.steps_of_init = 64 * n;
    if (limits.max_elements < n + n / 2) limits.max_elements = (size_t)(n + n / 2);
    return limits;
}

/* Lists of globals that have an element for each context are the usual thing. */
static size_t globals_limit(const as_dataset *ds) {
    size_t n, n_lists = as_formula_scope_globals(ds->derivations->scope) + 8;
    if (!as_mul_size(n_lists, AS_COUNT(ds, contexts) + AS_COUNT(ds, regions) + 1000, &n)) return SIZE_MAX / 64;
    return n < 1 << 27 ? n + n / 2 : 1 << 27;
}

/* False when memory is out. */
static bool run_init(as_dataset *ds, as_derived *derived, bool *is_fine) {
    as_derivations *d = ds->derivations;
    as_formula_source source = {.user = d, .fact = init_fact, .fact_size = init_fact_size, .set_void = init_set_void};
    if (!derived->formula) return true;
    derived->machine = as_machine_new(derived->formula, d->globals, &source, machine_limits(ds));
    if (!derived->machine) return false;
    as_run_result result = as_machine_init(derived->machine);
    *is_fine = result == AS_RUN_OK;
    if (*is_fine || result == AS_RUN_NO_MEMORY) return *is_fine;
    if (!derived->has_no_init) warn(ds, derived, AS_FORMULA_INIT, 0, 0, as_run_result_text(result));
    derived->has_no_init = true;
    derived->is_usable = false;
    return true;
}

/* What preparing made, when it did not come to its end. */
static void undo_prepare(as_derivations *d) {
    for (size_t i = 0; i < d->derived.count; i++) {
        as_machine_free(derived_at(d, i)->machine);
        derived_at(d, i)->machine = NULL;
    }
    as_facts_free(d->facts);
    as_globals_free(d->globals);
    free(d->is_void);
    d->facts = NULL;
    d->globals = NULL;
    d->is_void = NULL;
}

void as_unprepare_formulas(as_dataset *ds) {
    as_derivations *d = ds->derivations;
    if (!d) return;
    if (d->companion) d->release_companion(d->companion);
    d->companion = NULL;
    undo_prepare(d);
    d->is_ready = false;
}

void as_remove_formulas(as_dataset *ds, assay_id first) {
    as_derivations *d = ds->derivations;
    for (; d && d->derived.count && derived_at(d, d->derived.count - 1)->metric >= first; d->derived.count--)
        as_formula_free(derived_at(d, d->derived.count - 1)->formula);
}

static bool prepare(as_dataset *ds) {
    as_derivations *d = ds->derivations;
    size_t n = d->derived.count, n_failed = 0;
    bool *init_is_fine = calloc(n + 1, sizeof *init_is_fine);
    d->work_left = MAX_WORK;
    d->facts = as_facts_new(ds);
    d->globals = as_globals_new(d->scope, globals_limit(ds));
    d->is_void = calloc(AS_COUNT(ds, metrics) + 1, sizeof *d->is_void);
    bool fine = init_is_fine && d->facts && d->globals && d->is_void;
    for (size_t i = 0; fine && i < n; i++) {
        fine = run_init(ds, derived_at(d, i), &init_is_fine[i]);
        n_failed += derived_at(d, i)->formula && !init_is_fine[i];
    }
    if (fine && n_failed) fine = drop_unset(ds, init_is_fine) && order_formulas(ds);
    free(init_is_fine);
    if (!fine) undo_prepare(d);
    return fine;
}

bool as_ds_prepare_formulas(const as_dataset *ds) {
    as_derivations *d = ds->derivations;
    if (!d || __atomic_load_n(&d->is_ready, __ATOMIC_ACQUIRE)) return true;
    /* Nobody sees the difference: who holds a dataset for reading may cause it. */
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    pthread_mutex_lock(&mutable->loading);
    bool fine = d->is_ready || prepare(mutable);
    if (fine) __atomic_store_n(&d->is_ready, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutable->loading);
    return fine;
}

const as_facts *as_ds_facts(const as_dataset *ds) { return ds->derivations->facts; }

as_machine *as_derived_machine(const as_derived *derived, const as_formula_source *source) {
    return as_machine_like(derived->machine, source);
}

bool as_ds_metric_is_void(const as_dataset *ds, assay_id metric) {
    return ds->derivations && ds->derivations->is_void[metric];
}

void *as_ds_formula_companion(const as_dataset *ds, void *(*make)(const as_dataset *ds), void (*release)(void *made)) {
    as_derivations *d = ds->derivations;
    pthread_mutex_lock(&((as_dataset *)(uintptr_t)ds)->loading);
    d->release_companion = release;
    if (!d->companion) d->companion = make(ds);
    void *companion = d->companion;
    pthread_mutex_unlock(&((as_dataset *)(uintptr_t)ds)->loading);
    return companion;
}

assay_id as_ds_next_derived(const as_dataset *ds, assay_id metric) {
    const as_derivations *d = ds->derivations;
    size_t low = 0, high = d->derived.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (derived_at(d, middle)->metric <= metric)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->derived.count ? derived_at(d, low)->metric : ASSAY_NONE;
}

bool as_derived_has_values(const as_derived *derived) {
    return derived->is_usable && !__atomic_load_n(&derived->has_failed, __ATOMIC_RELAXED);
}

void as_ds_derived_failed(const as_dataset *ds, const as_derived *derived, const char *why) {
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    as_derived *target = (as_derived *)(uintptr_t)derived;
    pthread_mutex_lock(&mutable->loading);
    if (!target->has_failed) warn(mutable, derived, AS_FORMULA_VALUE, 0, 0, why);
    __atomic_store_n(&target->has_failed, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&mutable->loading);
}
