/* The machine: runs a program for the points of a batch together. */
#include <math.h>
#include <stdlib.h>

#include "core/number.h"
#include "dataset/formula/lists.h"
#include "dataset/formula/program.h"

/* What can be on the stack: one number or text for all points of the batch, or a number for each. */
typedef struct slot {
    as_cell_value value;
    const double *lanes; /* NULL: value, for all points */
    double *room;        /* for lanes of its own */
} slot;

/* Whether a text matches a pattern, by its address: the same names are asked for again and again. */
typedef struct remembered {
    const char *text;
    bool matches;
} remembered;
enum { N_REMEMBERED = 512 };

struct as_machine {
    const as_formula *formula;
    as_globals *globals;
    as_formula_source source;
    as_machine_limits limits;
    uint64_t steps_left;
    slot *stack;  /* of slots 1 …; 0 stands for the empty stack */
    slot *locals; /* their elements 0 */
    as_list *lists;
    as_cell_value *start; /* elements 0 as init left them, and the lists */
    as_list *start_lists;
    bool owns_start;
    double *rooms;
    remembered **remembered; /* of each pattern, NULL: not asked yet */
    size_t elements_left;
    as_arena scratch; /* texts made while evaluating */
    size_t scratch_left;
    /* of the evaluation that runs */
    const double *arguments[2];
    size_t first, n;
    uint64_t steps_of_run, max_steps;
    as_arena *made; /* where texts go, and how many bytes may still */
    size_t *made_left;
};

enum { MAX_SCRATCH = 16 << 20 };

/* What a step can end with, besides an as_run_result: the points of the batch go different ways. */
enum { DIVERGED = -1 };

const char *as_run_result_text(as_run_result result) {
    switch (result) {
    case AS_RUN_FAILED: return "a value it needs is not there";
    case AS_RUN_NO_MEMORY: return "memory is out";
    case AS_RUN_TOO_LARGE: return "its lists or texts grow too large";
    case AS_RUN_TOO_LONG: return "it takes too long";
    default: return "";
    }
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static as_machine *new_machine(const as_formula *formula, as_globals *globals, const as_formula_source *source,
                               as_machine_limits limits) {
    size_t height = 0, n_locals = formula->locals.count;
    for (int i = 0; i < AS_FORMULA_PARTS; i++) {
        if ((size_t)formula->parts[i].height > height) height = (size_t)formula->parts[i].height;
    }
    as_machine *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->formula = formula;
    m->globals = globals;
    m->source = *source;
    m->limits = limits;
    m->steps_left = limits.steps;
    m->elements_left = limits.max_elements;
    m->scratch_left = MAX_SCRATCH;
    as_arena_init(&m->scratch, NULL);
    m->stack = calloc(height + 1, sizeof *m->stack);
    m->locals = calloc(n_locals + 1, sizeof *m->locals);
    m->lists = calloc(n_locals + 1, sizeof *m->lists);
    m->rooms = malloc((height + n_locals + 1) * AS_LANES * sizeof *m->rooms);
    m->remembered = calloc(formula->patterns.count + 1, sizeof *m->remembered);
    if (!m->stack || !m->locals || !m->lists || !m->rooms || !m->remembered) {
        as_machine_free(m);
        return NULL;
    }
    for (size_t i = 0; i < height; i++) m->stack[i + 1].room = m->rooms + i * AS_LANES;
    for (size_t i = 0; i < n_locals; i++) m->locals[i].room = m->rooms + (height + i) * AS_LANES;
    return m;
}

as_machine *as_machine_new(const as_formula *formula, as_globals *globals, const as_formula_source *source,
                           as_machine_limits limits) {
    as_machine *m = new_machine(formula, globals, source, limits);
    if (!m) return NULL;
    m->owns_start = true;
    m->start = calloc(formula->locals.count + 1, sizeof *m->start);
    m->start_lists = calloc(formula->locals.count + 1, sizeof *m->start_lists);
    if (m->start && m->start_lists) return m;
    as_machine_free(m);
    return NULL;
}

void as_machine_free(as_machine *m) {
    if (!m) return;
    for (size_t i = 0; m->lists && i < m->formula->locals.count; i++) as_list_free(&m->lists[i]);
    for (size_t i = 0; m->owns_start && m->start_lists && i < m->formula->locals.count; i++)
        as_list_free(&m->start_lists[i]);
    for (size_t i = 0; m->remembered && i < m->formula->patterns.count; i++) free(m->remembered[i]);
    as_arena_free(&m->scratch);
    free(m->stack);
    free(m->locals);
    free(m->lists);
    if (m->owns_start) {
        free(m->start);
        free(m->start_lists);
    }
    free(m->rooms);
    free(m->remembered);
    free(m);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* A step is a turn of a loop, of the usual size: long bodies, long formulas and long texts count as several. */
enum { INSTRUCTIONS_OF_A_STEP = 64, BYTES_OF_A_STEP = 4096, MATCHED_BYTES_OF_A_STEP = 8 };

/* Takes work off what all machines together may do. */
static bool take_work(uint64_t *left, uint64_t work) {
    uint64_t now = __atomic_load_n(left, __ATOMIC_RELAXED);
    do {
        if (now < work) return false;
    } while (!__atomic_compare_exchange_n(left, &now, now - work, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* Steps at each of n points. */
static int count_steps(as_machine *m, uint64_t steps, size_t n) {
    if (!steps) return AS_RUN_OK;
    m->steps_of_run += steps;
    if (m->steps_of_run > m->max_steps || m->steps_left < steps * n) return AS_RUN_TOO_LONG;
    m->steps_left -= steps * n;
    if (m->limits.work_left && !take_work(m->limits.work_left, steps * (n + AS_TURN_WORK))) return AS_RUN_TOO_LONG;
    return AS_RUN_OK;
}

/* ---- numbers and texts ------------------------------------------------------------------------------------------- */

static void set_number(slot *s, double number) {
    s->lanes = NULL;
    s->value = (as_cell_value){.number = number};
}

/* The number a value stands for; a text that is none is 0. */
static double number_of(const as_cell_value *value) {
    double number;
    if (!value->text) return value->number;
    return as_real_parse(value->text, value->size, &number) ? number : 0;
}

/* Makes a slot a number, or numbers. */
static void to_number(slot *s) {
    if (!s->lanes && s->value.text) set_number(s, number_of(&s->value));
}

static bool is_true(double number) { return number != 0; }

/* The text a value stands for, in buffer where it has to be made. */
static as_formula_text text_of(const as_cell_value *value, char buffer[AS_NUMBER_SIZE]) {
    if (value->text) return (as_formula_text){value->text, value->size};
    if (value->unset) return (as_formula_text){"", 0};
    size_t size = as_real_format(as_real_round(value->number, 14), buffer);
    return (as_formula_text){buffer, size};
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool equal_texts(as_formula_text a, as_formula_text b, bool any_case) {
    if (a.size != b.size) return false;
    if (!any_case) return memcmp(a.text, b.text, a.size) == 0;
    for (size_t i = 0; i < a.size; i++) {
        if (lower(a.text[i]) != lower(b.text[i])) return false;
    }
    return true;
}

static int do_equal_text(as_machine *m, slot *l, const slot *r, bool any_case) {
    char left[AS_NUMBER_SIZE], right[AS_NUMBER_SIZE];
    if (l->lanes || r->lanes) return DIVERGED;
    as_formula_text text = text_of(&l->value, left);
    set_number(l, equal_texts(text, text_of(&r->value, right), any_case));
    return count_steps(m, text.size / BYTES_OF_A_STEP, 1);
}

static int do_match(as_machine *m, slot *s, uint32_t which) {
    const as_pattern *pattern = AS_AT(as_pattern *, &m->formula->patterns, which);
    char buffer[AS_NUMBER_SIZE];
    if (s->lanes) return DIVERGED;
    as_formula_text text = text_of(&s->value, buffer);
    if (!s->value.text || !s->value.lasting) {
        set_number(s, as_pattern_search(pattern, text.text, text.size));
        return count_steps(m, text.size / MATCHED_BYTES_OF_A_STEP, 1);
    }
    if (!m->remembered[which]) m->remembered[which] = calloc(N_REMEMBERED, sizeof(remembered));
    if (!m->remembered[which]) return AS_RUN_NO_MEMORY;
    remembered *known = &m->remembered[which][((uintptr_t)text.text >> 3) % N_REMEMBERED];
    bool is_new = known->text != text.text;
    if (is_new) *known = (remembered){text.text, as_pattern_search(pattern, text.text, text.size)};
    set_number(s, known->matches);
    return is_new ? count_steps(m, text.size / MATCHED_BYTES_OF_A_STEP, 1) : AS_RUN_OK;
}

enum { TEXT_COST = 16 }; /* besides its bytes */

static int do_change_case(as_machine *m, slot *s, bool upper) {
    char buffer[AS_NUMBER_SIZE];
    if (s->lanes) return DIVERGED;
    as_formula_text text = text_of(&s->value, buffer);
    if (text.size + TEXT_COST > *m->made_left) return AS_RUN_TOO_LARGE;
    *m->made_left -= text.size + TEXT_COST;
    char *copy = as_arena_copy(m->made, text.text, text.size);
    if (!copy) return AS_RUN_NO_MEMORY;
    for (size_t i = 0; i < text.size; i++) {
        char c = lower(copy[i]);
        copy[i] = upper && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    s->value = (as_cell_value){.text = copy, .size = text.size, .lasting = m->made != &m->scratch};
    return AS_RUN_OK;
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

/* Rounding alone makes no difference: what would be within two units in the last place of the sum is 0. */
static inline double subtract(double x, double y) {
    double difference = x - y;
    return fabs(difference) <= 2 * 2.220446049250313e-16 * fabs(x + y) ? 0 : difference;
}
static inline double multiply(double x, double y) { return x == 0 ? 0 : x * y; }
static inline double divide(double x, double y) { return x == 0 ? 0 : y == 0 ? NAN : x / y; }
static inline double logarithm(double x) { return x > 0 ? log(x) : x == 0 ? NAN : x < 0 ? 0 : x; }
static inline double root(double x) { return x < 0 ? 0 : sqrt(x); }
static inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static inline double real_log(double x) { return x > 0 ? log(x) : NAN; }
static inline double whole_below(double x) { return ceil(x) - 1; }
static inline double whole_above(double x) { return floor(x) + 1; }
static inline bool is_count(double x) { return x >= 0 && x == floor(x); }
static inline double factorial(double x) { return is_count(x) ? round(tgamma(x + 1)) : NAN; }

/* By the shorter way, each step of which is a whole number. */
static double combinations(double n, double k) {
    double result = 1;
    if (!is_count(n) || !is_count(k)) return NAN;
    if (k > n) return 0;
    if (n - k < k) k = n - k;
    for (double i = 1; i <= k && result < INFINITY; i++) result = result * (n - k + i) / i;
    return result;
}

#define EACH_BINARY(DO)                                                                                                \
    DO(AS_ADD, x + y)                                                                                                  \
    DO(AS_SUBTRACT, subtract(x, y))                                                                                    \
    DO(AS_MULTIPLY, multiply(x, y))                                                                                    \
    DO(AS_DIVIDE, divide(x, y))                                                                                        \
    DO(AS_POWER, pow(x, y))                                                                                            \
    DO(AS_MINIMUM, y < x ? y : x)                                                                                      \
    DO(AS_MAXIMUM, x < y ? y : x)                                                                                      \
    DO(AS_LESS, x < y)                                                                                                 \
    DO(AS_LESS_EQUAL, x <= y)                                                                                          \
    DO(AS_GREATER, x > y)                                                                                              \
    DO(AS_GREATER_EQUAL, x >= y)                                                                                       \
    DO(AS_EQUAL, x == y)                                                                                               \
    DO(AS_NOT_EQUAL, x != y)                                                                                           \
    DO(AS_AND, is_true(x) && is_true(y))                                                                               \
    DO(AS_OR, is_true(x) || is_true(y))                                                                                \
    DO(AS_XOR, is_true(x) != is_true(y))                                                                               \
    DO(AS_DIFFERENCE, x - y)                                                                                           \
    DO(AS_PRODUCT, x *y)                                                                                               \
    DO(AS_QUOTIENT, y == 0 ? NAN : x / y)                                                                              \
    DO(AS_REMAINDER, fmod(x, y))                                                                                       \
    DO(AS_LOGARITHM, real_log(x) / real_log(y))                                                                        \
    DO(AS_COMBINATIONS, combinations(x, y))

/* Those that take no longer than to choose them, and others. */
#define EACH_SHORT_UNARY(DO)                                                                                           \
    DO(AS_NEGATE, -x)                                                                                                  \
    DO(AS_NOT, !is_true(x))                                                                                            \
    DO(AS_ABS, fabs(x))                                                                                                \
    DO(AS_SQRT, root(x))                                                                                               \
    DO(AS_FLOOR, floor(x))                                                                                             \
    DO(AS_CEIL, ceil(x))                                                                                               \
    DO(AS_SIGN, sign(x))                                                                                               \
    DO(AS_POSITIVE, x > 0 ? x : 0)                                                                                     \
    DO(AS_NEGATIVE, x < 0 ? x : 0)                                                                                     \
    DO(AS_REAL_SQRT, sqrt(x))                                                                                          \
    DO(AS_OR_ZERO, isnan(x) ? 0 : x)
#define EACH_LONG_UNARY(DO)                                                                                            \
    DO(AS_LOG, logarithm(x))                                                                                           \
    DO(AS_EXP, exp(x))                                                                                                 \
    DO(AS_SIN, sin(x))                                                                                                 \
    DO(AS_COS, cos(x))                                                                                                 \
    DO(AS_TAN, tan(x))                                                                                                 \
    DO(AS_ASIN, asin(x))                                                                                               \
    DO(AS_ACOS, acos(x))                                                                                               \
    DO(AS_ATAN, atan(x))                                                                                               \
    DO(AS_REAL_LOG, real_log(x))                                                                                       \
    DO(AS_LOG2, x > 0 ? log2(x) : NAN)                                                                                 \
    DO(AS_LOG10, x > 0 ? log10(x) : NAN)                                                                               \
    DO(AS_SINH, sinh(x))                                                                                               \
    DO(AS_COSH, cosh(x))                                                                                               \
    DO(AS_TANH, tanh(x))                                                                                               \
    DO(AS_ASINH, asinh(x))                                                                                             \
    DO(AS_ACOSH, acosh(x))                                                                                             \
    DO(AS_ATANH, atanh(x))                                                                                             \
    DO(AS_ROUND, round(x))                                                                                             \
    DO(AS_BELOW, whole_below(x))                                                                                       \
    DO(AS_ABOVE, whole_above(x))                                                                                       \
    DO(AS_FACTORIAL, factorial(x))

static double unary(as_unary op, double x) {
    switch (op) {
#define ONE(name, value)                                                                                               \
    case name: return value;
        EACH_SHORT_UNARY(ONE)
        EACH_LONG_UNARY(ONE)
#undef ONE
    }
    return NAN;
}

static double binary(as_binary op, double x, double y) {
    switch (op) {
#define ONE(name, value)                                                                                               \
    case name: return value;
        EACH_BINARY(ONE)
#undef ONE
    }
    return NAN;
}

/* out may be in. */
static void unary_lanes(as_unary op, const double *in, double *out, size_t n) {
    switch (op) {
#define LOOP(name, result)                                                                                             \
    case name:                                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double x = in[i];                                                                                          \
            out[i] = result;                                                                                           \
        }                                                                                                              \
        break;
        EACH_SHORT_UNARY(LOOP)
#undef LOOP
    default:
        for (size_t i = 0; i < n; i++) out[i] = unary(op, in[i]);
    }
}

static void do_unary(as_unary op, slot *s, size_t n) {
    to_number(s);
    if (!s->lanes) {
        set_number(s, unary(op, s->value.number));
        return;
    }
    unary_lanes(op, s->lanes, s->room, n);
    s->lanes = s->room;
}

/* out may be one of the others; where both are lanes. */
static void binary_lanes(as_binary op, const double *left, const double *right, double *out, size_t n) {
    switch (op) {
#define LOOP(name, result)                                                                                             \
    case name:                                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double x = left[i], y = right[i];                                                                          \
            out[i] = result;                                                                                           \
        }                                                                                                              \
        break;
        EACH_BINARY(LOOP)
#undef LOOP
    }
}

static void spread(slot *s, size_t n) {
    if (s->lanes) return;
    for (size_t i = 0; i < n; i++) s->room[i] = s->value.number;
    s->lanes = s->room;
}

static void do_binary(as_binary op, slot *l, slot *r, size_t n) {
    to_number(l);
    to_number(r);
    if (!l->lanes && !r->lanes) {
        set_number(l, binary(op, l->value.number, r->value.number));
        return;
    }
    spread(l, n);
    spread(r, n);
    binary_lanes(op, l->lanes, r->lanes, l->room, n);
    l->lanes = l->room;
}

/* The standard deviation (divisor n) of slots[0 … n - 1] at each point, into the first. */
static void do_deviation(slot *slots, size_t n_slots, size_t n) {
    for (size_t k = 0; k < n_slots; k++) {
        to_number(&slots[k]);
        spread(&slots[k], n);
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0, squares = 0;
        for (size_t k = 0; k < n_slots; k++) sum += slots[k].lanes[i];
        for (size_t k = 0; k < n_slots; k++) {
            double distance = slots[k].lanes[i] - sum / (double)n_slots;
            squares += distance * distance;
        }
        slots[0].room[i] = sqrt(squares / (double)n_slots);
    }
    slots[0].lanes = slots[0].room;
}

/* ---- metrics and facts ------------------------------------------------------------------------------------------- */

/* Where all lanes are the same, one number says it. */
static void join_lanes(slot *s, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (s->lanes[i] != s->lanes[0]) return;
    }
    set_number(s, s->lanes[0]);
}

static int do_metric(as_machine *m, slot *s, uint32_t operand) {
    if (!m->source.metric) return AS_RUN_FAILED;
    const double *lanes = m->source.metric(m->source.user, operand, m->first, m->n, s->room);
    if (!lanes) return AS_RUN_FAILED;
    s->lanes = lanes;
    if (m->n == 1) set_number(s, lanes[0]);
    return AS_RUN_OK;
}

static double lane(const slot *s, size_t i) { return s->lanes ? s->lanes[i] : s->value.number; }

/* The context is in s, and the result. */
static int do_metric_call(as_machine *m, uint32_t operand, slot *s) {
    if (!m->source.metric_at) return AS_RUN_FAILED;
    to_number(s);
    size_t n = s->lanes ? m->n : 1;
    for (size_t i = 0; i < n; i++) {
        double result;
        if (!m->source.metric_at(m->source.user, operand, lane(s, i), &result)) return AS_RUN_FAILED;
        s->room[i] = result;
    }
    if (s->lanes)
        s->lanes = s->room;
    else
        set_number(s, s->room[0]);
    return AS_RUN_OK;
}

/* index NULL: of element 0. The result goes to s, which may be index. */
static int do_fact(as_machine *m, uint32_t fact, bool varies, slot *s, slot *index) {
    as_formula_value value = {0}, next;
    if (!m->source.fact) return AS_RUN_FAILED;
    if (index) to_number(index);
    if (varies && m->source.fact_is_same) varies = !m->source.fact_is_same(m->source.user, fact);
    size_t n = varies || (index && index->lanes) ? m->n : 1;
    for (size_t i = 0; i < n; i++) {
        if (!m->source.fact(m->source.user, fact, m->first + i, index ? lane(index, i) : 0, &next))
            return AS_RUN_FAILED;
        if (i == 0) value = next;
        if ((next.text != value.text || next.size != value.size) && (next.text || value.text)) return DIVERGED;
        s->room[i] = next.number;
    }
    s->lanes = NULL;
    s->value = (as_cell_value){value.number, value.text, value.size, true, value.is_nothing};
    if (n == 1 || value.text) return AS_RUN_OK;
    s->lanes = s->room;
    join_lanes(s, n);
    return AS_RUN_OK;
}

/* ---- variables --------------------------------------------------------------------------------------------------- */

/* Lanes are copied: what is on the stack must not change with the variable. */
static void copy_slot(slot *to, const slot *from, size_t n) {
    to->value = from->value;
    to->lanes = NULL;
    if (!from->lanes) return;
    memcpy(to->room, from->lanes, n * sizeof(double));
    to->lanes = to->room;
}

/* An element of a list whose element 0 is `zero`, which may have lanes. The index is in s, and the result. */
static int load_at(const as_machine *m, const slot *zero, const as_list *list, slot *s) {
    to_number(s);
    if (!s->lanes) {
        size_t index = as_list_index(s->value.number);
        s->value = as_list_get(list, index);
        if (index == 0) copy_slot(s, zero, m->n);
        return AS_RUN_OK;
    }
    for (size_t i = 0; i < m->n; i++) {
        size_t index = as_list_index(s->lanes[i]);
        as_cell_value value = index == 0 ? zero->value : as_list_get(list, index);
        if (value.text) return DIVERGED;
        s->room[i] = index == 0 ? lane(zero, i) : value.number;
    }
    s->lanes = s->room;
    join_lanes(s, m->n);
    return AS_RUN_OK;
}

static int store_at(as_machine *m, uint32_t which, slot *index, const slot *value) {
    to_number(index);
    if (index->lanes) return DIVERGED;
    size_t i = as_list_index(index->value.number);
    if (i == 0) {
        copy_slot(&m->locals[which], value, m->n);
        return AS_RUN_OK;
    }
    if (value->lanes) return DIVERGED;
    return (int)as_list_set(&m->lists[which], i, value->value, &m->elements_left);
}

/* Only in init, which has one point. */
static int store_global(as_machine *m, uint32_t which, double index, const slot *value) {
    return (int)as_globals_set(m->globals, which, as_list_index(index), value->value);
}

static int load_global(const as_machine *m, uint32_t which, slot *s) {
    slot zero = {.value = as_list_get(as_globals_list(m->globals, which), 0)};
    return load_at(m, &zero, as_globals_list(m->globals, which), s);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Whether the top of the stack is true: 1 or 0, or DIVERGED. */
static int truth(slot *s, size_t n) {
    to_number(s);
    if (!s->lanes) return is_true(s->value.number);
    bool first = is_true(s->lanes[0]);
    for (size_t i = 1; i < n; i++) {
        if (is_true(s->lanes[i]) != first) return DIVERGED;
    }
    return first;
}

/* What deals with variables and lists; s is the top of the stack before the instruction, whose height it does not
 * change. */
static int do_variable(as_machine *m, const as_instruction *i, slot *s) {
    const as_list *list;
    switch (i->kind) {
    case AS_DO_LOCAL: copy_slot(s + 1, &m->locals[i->a], m->n); return AS_RUN_OK;
    case AS_DO_LOCAL_AT: return load_at(m, &m->locals[i->a], &m->lists[i->a], s);
    case AS_DO_SET_LOCAL: copy_slot(&m->locals[i->a], s, m->n); return AS_RUN_OK;
    case AS_DO_SET_LOCAL_AT: return store_at(m, i->a, s - 1, s);
    case AS_DO_GLOBAL: set_number(s + 1, 0); return load_global(m, i->a, s + 1);
    case AS_DO_GLOBAL_AT: return load_global(m, i->a, s);
    case AS_DO_SET_GLOBAL: return store_global(m, i->a, 0, s);
    case AS_DO_SET_GLOBAL_AT: to_number(s - 1); return store_global(m, i->a, s[-1].value.number, s);
    case AS_DO_LOCAL_SIZE:
        list = &m->lists[i->a];
        set_number(s + 1, list->count ? (double)list->count : !m->locals[i->a].value.unset);
        return AS_RUN_OK;
    default: set_number(s + 1, (double)as_globals_list(m->globals, i->a)->count); return AS_RUN_OK;
    }
}

static int do_source(as_machine *m, const as_instruction *i, slot *s) {
    switch (i->kind) {
    case AS_DO_METRIC: return do_metric(m, s + 1, i->a);
    case AS_DO_METRIC_CALL: return do_metric_call(m, i->a, s);
    case AS_DO_FACT: return do_fact(m, i->a, i->b, s + 1, NULL);
    case AS_DO_FACT_AT: return do_fact(m, i->a, i->b, s, s);
    case AS_DO_FACT_SIZE:
        if (!m->source.fact_size) return AS_RUN_FAILED;
        set_number(s + 1, m->source.fact_size(m->source.user, i->a));
        return AS_RUN_OK;
    default: return m->source.set_void && m->source.set_void(m->source.user, i->a, i->b) ? AS_RUN_OK : AS_RUN_FAILED;
    }
}

static void push_argument(as_machine *m, slot *s, uint32_t which) {
    s->lanes = m->arguments[which] + m->first;
    if (m->n == 1) set_number(s, *s->lanes);
}

static void push_text(const as_machine *m, slot *s, uint32_t which) {
    as_formula_text text = AS_AT(as_formula_text, &m->formula->texts, which);
    s->lanes = NULL;
    s->value = (as_cell_value){.text = text.text, .size = text.size, .lasting = true};
}

/* From the end of a loop's body, where *next is what follows, to its beginning. */
static int end_turn(as_machine *m, const as_instruction *i, size_t *next) {
    size_t body = *next - i->a;
    *next = i->a;
    return count_steps(m, 1 + body / INSTRUCTIONS_OF_A_STEP, m->n);
}

/* Jumps; *next is the instruction that follows, s the top of the stack. */
static int do_jump(as_machine *m, const as_instruction *i, slot *s, size_t *next) {
    int is;
    switch (i->kind) {
    case AS_DO_LOOP: return end_turn(m, i, next);
    case AS_DO_JUMP: *next = i->a; return AS_RUN_OK;
    case AS_DO_SKIP_ZERO:
        to_number(s);
        if (!s->lanes && s->value.number == 0) *next = i->a;
        return AS_RUN_OK;
    case AS_DO_JUMP_FALSE:
        is = truth(s, m->n);
        if (is == 0) *next = i->a;
        return is == DIVERGED ? DIVERGED : AS_RUN_OK;
    default:
        is = truth(s, m->n);
        if (is == (i->kind == AS_DO_SKIP_TRUE)) {
            set_number(s, is);
            *next = i->a;
        }
        return AS_RUN_OK;
    }
}

/* Runs a part for the points m->first … m->first + m->n - 1; the result is slot 1. */
static int run(as_machine *m, as_formula_part part) {
    static const int8_t heights[] = {
#define HEIGHT(name, height) height,
        AS_INSTRUCTIONS(HEIGHT)
#undef HEIGHT
    };
    const as_instruction *code = m->formula->parts[part].code.data;
    slot *s = m->stack; /* the top */
    size_t at = 0;
    m->steps_of_run = 0;
    int counted = count_steps(m, m->formula->parts[part].code.count / INSTRUCTIONS_OF_A_STEP, m->n);
    if (counted != AS_RUN_OK) return counted;
    for (;;) {
        const as_instruction *i = &code[at++];
        int result = AS_RUN_OK;
        switch (i->kind) {
        case AS_DO_END: return AS_RUN_OK;
        case AS_DO_NUMBER: set_number(s + 1, AS_AT(double, &m->formula->numbers, i->a)); break;
        case AS_DO_TEXT: push_text(m, s + 1, i->a); break;
        case AS_DO_ARGUMENT: push_argument(m, s + 1, i->a); break;
        case AS_DO_UNARY: do_unary((as_unary)i->b, s, m->n); break;
        case AS_DO_BINARY: do_binary((as_binary)i->b, s - 1, s, m->n); break;
        case AS_DO_DEVIATION:
            s -= i->a;
            do_deviation(s + 1, i->a, m->n);
            break;
        case AS_DO_EQUAL_TEXT: result = do_equal_text(m, s - 1, s, i->b); break;
        case AS_DO_MATCH: result = do_match(m, s, i->a); break;
        case AS_DO_CHANGE_CASE: result = do_change_case(m, s, i->b); break;
        case AS_DO_JUMP:
        case AS_DO_JUMP_FALSE:
        case AS_DO_SKIP_FALSE:
        case AS_DO_SKIP_TRUE:
        case AS_DO_SKIP_ZERO:
        case AS_DO_LOOP: result = do_jump(m, i, s, &at); break;
        case AS_DO_METRIC:
        case AS_DO_METRIC_CALL:
        case AS_DO_FACT:
        case AS_DO_FACT_AT:
        case AS_DO_FACT_SIZE:
        case AS_DO_SET_VOID: result = do_source(m, i, s); break;
        default: result = do_variable(m, i, s);
        }
        if (result != AS_RUN_OK) return result;
        s += heights[i->kind];
    }
}

/* Makes variables what init left: of all, or of those that an evaluation changed. */
static as_run_result start_locals(as_machine *m, bool all) {
    as_run_result result = AS_RUN_OK;
    for (size_t i = 0; result == AS_RUN_OK && i < m->formula->locals.count; i++) {
        if (!all && !AS_AT(as_local, &m->formula->locals, i).set_by_value) continue;
        m->locals[i].value = m->start[i];
        m->locals[i].lanes = NULL;
        result = as_list_copy(&m->lists[i], &m->start_lists[i], &m->elements_left);
    }
    return result;
}

static as_run_result reset(as_machine *m) {
    if (m->scratch_left < MAX_SCRATCH) {
        as_arena_free(&m->scratch);
        as_arena_init(&m->scratch, NULL);
    }
    m->scratch_left = MAX_SCRATCH;
    return start_locals(m, false);
}

as_run_result as_machine_init(as_machine *m) {
    for (size_t i = 0; i < m->formula->locals.count; i++) m->start[i] = m->locals[i].value = AS_UNSET;
    if (!as_formula_has(m->formula, AS_FORMULA_INIT)) return AS_RUN_OK;
    m->first = 0;
    m->n = 1;
    m->max_steps = m->limits.steps_of_init;
    m->made = &m->globals->texts;
    m->made_left = &m->globals->text_left;
    int result = run(m, AS_FORMULA_INIT);
    if (result != AS_RUN_OK) return (as_run_result)result;
    for (size_t i = 0; i < m->formula->locals.count; i++) {
        m->start[i] = m->locals[i].value;
        as_run_result copied = as_list_copy(&m->start_lists[i], &m->lists[i], &m->elements_left);
        if (copied != AS_RUN_OK) return copied;
    }
    return AS_RUN_OK;
}

as_machine *as_machine_like(const as_machine *machine, const as_formula_source *source) {
    as_machine *m = new_machine(machine->formula, machine->globals, source, machine->limits);
    if (!m) return NULL;
    m->start = machine->start;
    m->start_lists = machine->start_lists;
    if (start_locals(m, true) == AS_RUN_OK) return m;
    as_machine_free(m);
    return NULL;
}

/* Makes values not a number where no metric has one. A formula that takes none at the point has the same value
 * everywhere. */
static as_run_result make_empty(as_machine *m, double *out) {
    const as_vec *operands = &m->formula->operands;
    bool has_value[AS_LANES] = {false}, takes_any = false;
    for (uint32_t k = 0; k < operands->count; k++) {
        if (AS_AT(as_formula_operand, operands, k).reach != AS_REACH_POINT) continue;
        const double *lanes = m->source.metric(m->source.user, k, m->first, m->n, m->stack[1].room);
        if (!lanes) return AS_RUN_FAILED;
        for (size_t i = 0; i < m->n; i++) has_value[i] |= lanes[i] != 0 && !isnan(lanes[i]);
        takes_any = true;
    }
    for (size_t i = 0; takes_any && i < m->n; i++) {
        if (!has_value[i]) out[i] = NAN;
    }
    return AS_RUN_OK;
}

static as_run_result evaluate(as_machine *m, as_formula_part part, size_t first, size_t n, double *out) {
    m->first = first;
    m->n = n;
    int result = (int)reset(m);
    if (result == AS_RUN_OK) result = run(m, part);
    if (result == DIVERGED) {
        for (size_t i = 0; i < n; i++) {
            as_run_result one = evaluate(m, part, first + i, 1, out + i);
            if (one != AS_RUN_OK) return one;
        }
        return AS_RUN_OK;
    }
    if (result != AS_RUN_OK) return (as_run_result)result;
    slot *s = &m->stack[1];
    to_number(s);
    for (size_t i = 0; i < n; i++) out[i] = lane(s, i);
    return m->formula->can_be_empty && part == AS_FORMULA_VALUE ? make_empty(m, out) : AS_RUN_OK;
}

static as_run_result evaluate_all(as_machine *m, as_formula_part part, size_t n, double *out) {
    as_run_result result = AS_RUN_OK;
    m->max_steps = m->limits.steps_of_point;
    m->made = &m->scratch;
    m->made_left = &m->scratch_left;
    for (size_t first = 0; result == AS_RUN_OK && first < n; first += AS_LANES)
        result = evaluate(m, part, first, n - first < AS_LANES ? n - first : AS_LANES, out + first);
    return result;
}

as_run_result as_machine_values(as_machine *m, size_t n, double *out) {
    return evaluate_all(m, AS_FORMULA_VALUE, n, out);
}

as_run_result as_machine_combine(as_machine *m, as_formula_part part, const double *a, const double *b, size_t n,
                                 double *out) {
    m->arguments[0] = a;
    m->arguments[1] = b;
    return evaluate_all(m, part, n, out);
}
