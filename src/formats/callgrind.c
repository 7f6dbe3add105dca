/* Profiles for KCachegrind, QCachegrind and callgrind_annotate, in the format of Callgrind:
 *
 *   # callgrind format
 *   version: 1
 *   positions: line
 *   events: time visits
 *   summary: 1200 4
 *
 *   ob=(1) a.out                   a function: the file it is in as machine code and as source, and its name
 *   fl=(1) main.c
 *   fn=(1) main
 *   12 100 1                       what its lines cost themselves
 *   cfn=(2) solve                  whom it calls
 *   calls=1 30
 *   14 1100 3                      from which line, and what that cost until it returned
 *
 * A name has a number when it comes first, and is that number from then on. The call tree becomes a graph of functions:
 * of a function that calls itself only the outermost calls count, so that nothing is counted twice. */
#include <ctype.h>
#include <stdlib.h>

#include "core/words.h"
#include "formats/costs.h"

enum { NO_LINE = 0, MOST_TYPES = 200 /* KCachegrind opens no file with more events */ };

/* The costs of a line of a function, or of the calls of one function from there. */
typedef struct row {
    uint32_t function, callee; /* callee UINT32_MAX: the line itself */
    uint32_t line;
    uint64_t calls;
    size_t amounts; /* where they begin */
} row;

/* A call that is under way, while one goes through the tree. */
typedef struct open_call {
    assay_id end; /* the first context behind it */
    uint32_t pair;
} open_call;

typedef struct writing {
    as_costs costs;
    const as_dataset *ds;
    as_output *out;
    size_t n_types;        /* those of costs, up to MOST_TYPES */
    size_t visits;         /* the type that counts calls; SIZE_MAX: there is none */
    as_vec totals;         /* int64_t: of each context with all below it */
    uint32_t *function_of; /* by context: of frames that are functions; UINT32_MAX: it is none */
    as_map functions;      /* name, region -> number */
    as_vec contexts;       /* assay_id: for each function a context of it */
    as_map lines;          /* function, line -> number */
    as_map rows_of;        /* that number, callee -> index into rows */
    as_vec rows;           /* row */
    as_vec amounts;        /* int64_t: of rows */
    as_map pairs;          /* caller, callee -> number */
    as_vec depths;         /* uint32_t: for each pair how many calls of it are under way */
    as_vec open;           /* open_call */
    as_map names[3];       /* of objects, files and functions: text of the dataset -> number */
} writing;

static int64_t add(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* The number a map has for the key, or the next one; UINT32_MAX when memory is out. */
static uint32_t number_of(as_map *map, uint64_t key) {
    uint32_t number = as_map_get(map, key);
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)map->count;
    return as_map_put(map, key, number) ? number : UINT32_MAX;
}

static const as_region *region_of(const as_dataset *ds, assay_id context) {
    assay_id region = as_ds_context(ds, context)->region;
    return region == ASSAY_NONE ? NULL : as_ds_region(ds, region);
}

static uint32_t line_of(int64_t line) { return line > 0 && line < UINT32_MAX ? (uint32_t)line : NO_LINE; }

static uint32_t first_line(const writing *w, assay_id context) {
    const as_region *region = region_of(w->ds, context);
    return region ? line_of(region->line_begin) : NO_LINE;
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

/* Callgrind's numbers have no sign. */
static int64_t natural(int64_t amount) { return amount > 0 ? amount : 0; }

static bool add_totals(writing *w) {
    size_t n = AS_COUNT(w->ds, contexts);
    if (!as_vec_reserve(&w->totals, n * w->n_types + 1)) return false;
    int64_t *totals = w->totals.data;
    for (assay_id id = 0; id < n; id++) {
        const int64_t *own = as_costs_of(&w->costs, id);
        for (size_t k = 0; k < w->n_types; k++) totals[id * w->n_types + k] = natural(own[k]);
    }
    for (assay_id id = (assay_id)n; id-- > 0;) {
        assay_id caller = w->costs.callers[id];
        if (w->costs.frames[id] != id || caller == ASSAY_NONE) continue;
        for (size_t k = 0; k < w->n_types; k++)
            totals[caller * w->n_types + k] = add(totals[caller * w->n_types + k], totals[id * w->n_types + k]);
    }
    return true;
}

static bool add_function(writing *w, assay_id context) {
    const as_context *c = as_ds_context(w->ds, context);
    uint32_t number = number_of(&w->functions, as_pair(c->name, c->region));
    w->function_of[context] = number;
    if (number == UINT32_MAX) return false;
    return number < w->contexts.count || as_vec_append(&w->contexts, &context, 1);
}

/* Adds amounts to those of a line of a function, or of calls from it. */
static bool add_row(writing *w, row added, const int64_t *amounts) {
    uint32_t line = number_of(&w->lines, as_pair(added.function, added.line));
    uint32_t index = line == UINT32_MAX ? UINT32_MAX : number_of(&w->rows_of, as_pair(line, added.callee));
    if (index == UINT32_MAX) return false;
    if (index == w->rows.count) {
        added.amounts = w->amounts.count;
        if (!as_vec_append(&w->rows, &added, 1)) return false;
        for (size_t k = 0; k < w->n_types; k++) {
            if (!as_vec_push(&w->amounts)) return false;
        }
        AS_AT(row, &w->rows, index).calls = 0;
    }
    row *known = &AS_AT(row, &w->rows, index);
    known->calls += added.calls;
    int64_t *sums = (int64_t *)w->amounts.data + known->amounts;
    for (size_t k = 0; k < w->n_types && amounts; k++) sums[k] = add(sums[k], natural(amounts[k]));
    return true;
}

/* A call of a function from another: the outermost one of those that are under way has the costs of all. */
static bool add_call(writing *w, assay_id context) {
    const as_context *c = as_ds_context(w->ds, context);
    as_cost_place from = as_cost_place_of(&w->costs, w->costs.callers[context]);
    row call = {.function = w->function_of[from.function], .callee = w->function_of[context]};
    call.line = c->line > 0 ? line_of(c->line) : from.line ? line_of(from.line) : first_line(w, from.function);
    int64_t visits = w->visits == SIZE_MAX ? 1 : as_costs_of(&w->costs, context)[w->visits];
    call.calls = visits > 0 ? (uint64_t)visits : 1;
    uint32_t pair = number_of(&w->pairs, as_pair(call.function, call.callee));
    if (pair == UINT32_MAX || (pair == w->depths.count && !as_vec_push(&w->depths))) return false;
    bool is_outermost = AS_AT(uint32_t, &w->depths, pair)++ == 0;
    open_call opened = {context + c->subtree, pair};
    const int64_t *totals = (const int64_t *)w->totals.data + (size_t)context * w->n_types;
    return as_vec_append(&w->open, &opened, 1) && add_row(w, call, is_outermost ? totals : NULL);
}

static void end_calls(writing *w, assay_id context) {
    while (w->open.count && AS_AT(open_call, &w->open, w->open.count - 1).end <= context) {
        AS_AT(uint32_t, &w->depths, AS_AT(open_call, &w->open, w->open.count - 1).pair)--;
        w->open.count--;
    }
}

static bool make_graph(writing *w) {
    size_t n = AS_COUNT(w->ds, contexts);
    w->function_of = malloc((n + 1) * sizeof *w->function_of);
    if (!w->function_of || !add_totals(w)) return false;
    for (assay_id id = 0; id < n; id++) {
        w->function_of[id] = UINT32_MAX;
        if (w->costs.frames[id] != id) continue;
        end_calls(w, id);
        as_cost_place at = as_cost_place_of(&w->costs, id);
        bool is_function = at.function == id;
        if (is_function && !add_function(w, id)) return false;
        row own = {.function = w->function_of[at.function], .callee = UINT32_MAX};
        own.line = at.line ? line_of(at.line) : first_line(w, at.function);
        if (as_costs_any(&w->costs, id) && !add_row(w, own, as_costs_of(&w->costs, id))) return false;
        if (is_function && w->costs.callers[id] != ASSAY_NONE && !add_call(w, id)) return false;
    }
    return true;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool is_blank(const char *text) { return !text[strspn(text, " \t\r\n")]; }

/* In one line; what is blank would be no name. */
static void put_text(writing *w, const char *text) {
    if (is_blank(text)) text = "???";
    for (const char *c = text; *c; c++) as_output_char(w->out, (unsigned char)*c < ' ' ? ' ' : *c);
}

/* "(3) name" when it comes first, "(3)" from then on. */
static bool put_name(writing *w, size_t kind, const char *key, as_str id, const char *text) {
    uint32_t number = as_map_get(&w->names[kind], id);
    bool is_new = number == AS_MAP_NONE;
    if (is_new) number = number_of(&w->names[kind], id);
    as_output_printf(w->out, "%s=(%u)", key, number + 1);
    if (is_new) as_output_char(w->out, ' ');
    if (is_new) put_text(w, text);
    as_output_char(w->out, '\n');
    return number != UINT32_MAX;
}

/* Each function has a name of its own here: those of one name may be in several files. */
static bool put_function(writing *w, uint32_t function, bool is_callee) {
    assay_id context = AS_AT(assay_id, &w->contexts, function);
    const as_region *region = region_of(w->ds, context);
    as_str module = region ? region->module : AS_NO_STR, file = region ? region->file : AS_NO_STR;
    const char *module_text = as_ds_text(w->ds, module), *file_text = as_ds_text(w->ds, file);
    return put_name(w, 0, is_callee ? "cob" : "ob", module, module_text ? module_text : "???") &&
           put_name(w, 1, is_callee ? "cfi" : "fl", file, file_text ? file_text : "???") &&
           put_name(w, 2, is_callee ? "cfn" : "fn", function, as_frame_name(w->ds, context, NULL));
}

static void put_amounts(writing *w, const int64_t *amounts) {
    for (size_t k = 0; k < w->n_types; k++) {
        as_output_char(w->out, ' ');
        as_output_int(w->out, amounts[k]);
    }
    as_output_char(w->out, '\n');
}

/* By function, its own lines before its calls. */
static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    bool calls = x->callee != UINT32_MAX, other_calls = y->callee != UINT32_MAX;
    if (calls != other_calls) return calls ? 1 : -1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static bool put_rows(writing *w) {
    row *rows = w->rows.data;
    if (w->rows.count) qsort(rows, w->rows.count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < w->rows.count; i++) {
        bool is_new = i == 0 || rows[i].function != rows[i - 1].function;
        if (is_new) as_output_char(w->out, '\n');
        if (is_new && !put_function(w, rows[i].function, false)) return false;
        if (rows[i].callee != UINT32_MAX) {
            if (!put_function(w, rows[i].callee, true)) return false;
            uint32_t line = first_line(w, AS_AT(assay_id, &w->contexts, rows[i].callee));
            as_output_printf(w->out, "calls=%llu %u\n", (unsigned long long)rows[i].calls, line);
        }
        as_output_printf(w->out, "%u", rows[i].line);
        put_amounts(w, (const int64_t *)w->amounts.data + rows[i].amounts);
    }
    return true;
}

/* Names of events are words: letters, digits and '_'. A second one of a name has its number behind it. */
static bool put_event_names(writing *w) {
    as_arena arena;
    as_strings seen;
    as_vec word;
    as_arena_init(&arena, NULL);
    as_strings_init(&seen, &arena);
    as_vec_init(&word, 1, NULL);
    bool fine = true;
    as_output_text(w->out, "events:");
    for (size_t k = 0; k < w->n_types && fine; k++) {
        const char *name = as_ds_text(w->ds, as_ds_metric(w->ds, AS_AT(as_cost_type, &w->costs.types, k).metric)->name);
        word.count = 0;
        if (!name || !isalpha((unsigned char)*name)) fine = as_vec_text(&word, "e");
        for (; name && *name && fine; name++) {
            bool is_kept = (unsigned char)*name < 0x80 && isalnum((unsigned char)*name);
            fine = as_vec_append(&word, is_kept ? name : "_", 1);
        }
        char number[AS_NUMBER_SIZE];
        as_uint_format(k + 1, number);
        if (fine && as_find(&seen, word.data, word.count) != AS_NO_STR)
            fine = as_vec_text(&word, "_") && as_vec_text(&word, number);
        fine = fine && as_intern(&seen, word.data, word.count) != AS_NO_STR;
        as_output_char(w->out, ' ');
        as_output_write(w->out, word.data, word.count);
    }
    as_output_char(w->out, '\n');
    as_strings_free(&seen);
    as_arena_free(&arena);
    as_vec_free(&word);
    return fine;
}

static void put_descriptions(writing *w) {
    for (size_t k = 0; k < w->n_types; k++) {
        const as_cost_type *type = &AS_AT(as_cost_type, &w->costs.types, k);
        const char *name = as_ds_text(w->ds, as_ds_metric(w->ds, type->metric)->name);
        as_output_printf(w->out, "desc: Event %zu: ", k + 1);
        put_text(w, name ? name : "");
        as_output_text(w->out, " [");
        put_text(w, type->unit);
        as_output_text(w->out, "]\n");
    }
}

static bool put_all(writing *w) {
    int64_t sums[1] = {0};
    as_vec total;
    as_vec_init(&total, sizeof(int64_t), NULL);
    for (size_t k = 0; k < w->n_types; k++) {
        if (!as_vec_append(&total, sums, 1)) return as_vec_free(&total), false;
    }
    for (size_t i = 0; i < w->rows.count; i++) {
        const row *r = &AS_AT(row, &w->rows, i);
        for (size_t k = 0; k < w->n_types && r->callee == UINT32_MAX; k++)
            AS_AT(int64_t, &total, k) = add(AS_AT(int64_t, &total, k), AS_AT(int64_t, &w->amounts, r->amounts + k));
    }
    as_output_text(w->out, "# callgrind format\nversion: 1\ncreator: assay\n");
    put_descriptions(w);
    as_output_text(w->out, "positions: line\n");
    bool fine = put_event_names(w);
    as_output_text(w->out, "summary:");
    put_amounts(w, total.data);
    fine = fine && put_rows(w);
    as_output_text(w->out, "\ntotals:");
    put_amounts(w, total.data);
    as_vec_free(&total);
    return fine;
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

static size_t find_visits(const as_costs *costs) {
    static const char *const names = "visits|calls|occurrences";
    for (size_t k = 0; k < costs->types.count; k++) {
        const char *name =
            as_ds_text(costs->ds, as_ds_metric(costs->ds, AS_AT(as_cost_type, &costs->types, k).metric)->name);
        if (name && as_is_choice(names, name)) return k;
    }
    return SIZE_MAX;
}

static assay_status write_callgrind(as_writer *writer) {
    writing w = {.ds = writer->dataset, .out = writer->out};
    as_budget *budget = as_ds_budget(w.ds);
    as_map *const maps[] = {&w.functions, &w.lines, &w.rows_of, &w.pairs, &w.names[0], &w.names[1], &w.names[2]};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_init(maps[i], budget);
    as_vec_init(&w.totals, sizeof(int64_t), budget);
    as_vec_init(&w.contexts, sizeof(assay_id), budget);
    as_vec_init(&w.rows, sizeof(row), budget);
    as_vec_init(&w.amounts, sizeof(int64_t), budget);
    as_vec_init(&w.depths, sizeof(uint32_t), budget);
    as_vec_init(&w.open, sizeof(open_call), budget);
    assay_status status = as_costs_open(w.ds, false, &w.costs, writer->error);
    w.n_types = w.costs.types.count < MOST_TYPES ? w.costs.types.count : MOST_TYPES;
    w.visits = find_visits(&w.costs);
    if (status == ASSAY_OK && (!make_graph(&w) || !put_all(&w))) status = as_fail_memory(writer->error, NULL);
    as_costs_close(&w.costs);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_free(maps[i]);
    as_vec *const vectors[] = {&w.totals, &w.contexts, &w.rows, &w.amounts, &w.depths, &w.open};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) as_vec_free(vectors[i]);
    free(w.function_of);
    return status;
}

/* Whether lines cannot have it as it is. */
static bool is_changed(const char *name) {
    const char *at = name;
    while ((unsigned char)*at >= ' ') at++;
    return *at || is_blank(name);
}

static void lose_names(const as_costs *costs, as_losses *losses) {
    const as_dataset *ds = costs->ds;
    as_map seen;
    as_map_init(&seen, as_ds_budget(ds));
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        const char *name = as_ds_text(ds, as_ds_context(ds, id)->name);
        if (costs->frames[id] == id && name && is_changed(name))
            losses->failed |= !as_map_put(&seen, as_ds_context(ds, id)->name, 0);
    }
    size_t n = seen.count;
    as_map_free(&seen);
    if (n) as_lose(losses, "control characters and blank names, of %zu (blanks and ??? stand there)", n);
}

/* Sums of functions and calls are part of the whole, so they fit where that does. */
static void lose_sums(const as_costs *costs, as_losses *losses) {
    for (size_t k = 0; k < costs->types.count; k++) {
        const as_metric *metric = as_ds_metric(costs->ds, AS_AT(as_cost_type, &costs->types, k).metric);
        const char *name = as_ds_text(costs->ds, metric->name);
        as_whole sum = 0;
        for (assay_id id = 0; id < AS_COUNT(costs->ds, contexts); id++) {
            if (costs->frames[id] == id) sum += natural(as_costs_of(costs, id)[k]);
        }
        if (sum > INT64_MAX)
            as_lose(losses, "sums of %s beyond 64 bits (they are the largest there is)", name ? name : "a metric");
    }
}

static void find_losses(const as_dataset *ds, as_losses *losses) {
    as_costs costs;
    assay_error error;
    size_t n = 0;
    assay_status status = as_costs_open(ds, false, &costs, &error);
    if (status == ASSAY_OK) {
        for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
            for (size_t k = 0; k < costs.types.count && costs.frames[id] == id; k++)
                n += as_costs_of(&costs, id)[k] < 0;
        }
        lose_names(&costs, losses);
        lose_sums(&costs, losses);
    }
    losses->failed |= status == ASSAY_E_NOMEM;
    size_t n_types = costs.types.count;
    as_costs_close(&costs);
    if (n) as_lose(losses, "%zu cost%s below 0 (%s 0 there)", n, n == 1 ? "" : "s", n == 1 ? "it is" : "they are");
    if (n_types > MOST_TYPES)
        as_lose(losses, "%zu metric%s beyond the %d that KCachegrind takes", n_types - MOST_TYPES,
                n_types == MOST_TYPES + 1 ? "" : "s", MOST_TYPES);
    as_lose(losses, "call paths (a function is one, whoever calls it)");
    as_lose_costs(ds, false, losses);
}

const struct assay_format as_format_callgrind = {
    .name = "callgrind",
    .title = "Callgrind profile",
    .extensions = ".callgrind .callgrind.out",
    .prefix = "callgrind.out",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | AS_HOLDS_PROFILES | AS_HOLDS_MODULES |
             AS_HOLDS_CALLS | AS_HOLDS_ASIDES, /* the losses name them */
    .write = write_callgrind,
    .losses = find_losses,
};
