#include "formats/perun/flame.h"

#include <math.h>
#include <stdlib.h>

#include "formats/perun/write.h"

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void add_real(as_perun_amount *amount, double real) {
    double sum = amount->real + real;
    amount->lost += fabs(amount->real) >= fabs(real) ? (amount->real - sum) + real : (real - sum) + amount->real;
    amount->real = sum;
    amount->is_there = amount->has_real = true;
}

static void add_own(as_perun_amount *amount, as_own_type type, as_own_value value) {
    if (type == AS_OWN_REAL) {
        add_real(amount, value.r);
    } else if (type == AS_OWN_INT || type == AS_OWN_UINT) {
        amount->whole += type == AS_OWN_INT ? (as_whole)value.i : (as_whole)value.u;
        amount->is_there = true;
    }
}

void as_perun_add_amounts(const as_perun *perun, const bool *runs, as_perun_amount *out) {
    const as_records *records = perun->records;
    const uint32_t *kinds = as_records_row_kinds(records);
    uint32_t column = as_records_find_column(records, "amount");
    if (column == UINT32_MAX) return;
    as_own_column own = as_records_own(records, column);
    for (size_t p = 0; p < perun->profiles.count; p++) {
        const as_perun_profile *profile = &AS_AT(as_perun_profile, &perun->profiles, p);
        if (runs && !runs[profile->run]) continue;
        for (size_t row = profile->first_row; row < profile->first_row + profile->n_rows; row++) {
            as_perun_amount *amount = &out[kinds[row]];
            if (row < own.count && own.types[row] == AS_OWN_DIGITS) {
                add_real(amount, as_records_number(records, row, column, NULL));
                continue;
            }
            if (row < own.count && own.types[row] != AS_OWN_ABSENT) {
                add_own(amount, (as_own_type)own.types[row], own.values[row]);
                continue;
            }
            as_cell shared = as_records_shared(records, kinds[row], column);
            if (shared.type == AS_CELL_REAL) add_real(amount, shared.r);
            if (shared.type == AS_CELL_INT) add_own(amount, AS_OWN_INT, (as_own_value){.i = shared.i});
            if (shared.type == AS_CELL_UINT) add_own(amount, AS_OWN_UINT, (as_own_value){.u = shared.u});
        }
    }
}

/* ---- Perun's lines ----------------------------------------------------------------------------------------------- */

typedef struct liner {
    const as_dataset *ds;
    const as_perun *perun;
    as_output *out;
    as_budget *budget;
    as_vec stack;  /* char: what stands before the amount */
    as_vec frames; /* as_raw_json: of a trace */
    bool fine;
} liner;

static void add_text(liner *l, const char *text, size_t size) { l->fine &= as_vec_append(&l->stack, text, size); }

/* A scalar as Python's str() has it; nested values as they are. */
static void add_value(liner *l, as_raw_json value) {
    char text[AS_NUMBER_SIZE];
    as_json json;
    as_json_init(&json, NULL, value.text, value.size, (as_json_options){.nan_literals = true, .max_depth = UINT32_MAX},
                 l->budget);
    size_t size;
    const char *string;
    switch (as_json_next(&json)) {
    case AS_JSON_STRING:
        string = as_json_text(&json, &size);
        l->fine &= string && as_vec_append(&l->stack, string, size);
        break;
    case AS_JSON_NUMBER: add_text(l, text, as_python_number(as_json_number(&json), text)); break;
    case AS_JSON_NULL: add_text(l, "None", 4); break;
    case AS_JSON_TRUE: add_text(l, "True", 4); break;
    case AS_JSON_FALSE: add_text(l, "False", 5); break;
    default: add_text(l, value.text, value.size);
    }
    as_json_free(&json);
}

static void add_frame(liner *l, as_raw_json frame) {
    as_raw_json function = as_raw_member(frame, "function", l->budget, &l->fine);
    as_raw_json source = as_raw_member(frame, "source", l->budget, &l->fine);
    as_raw_json line = as_raw_member(frame, "line", l->budget, &l->fine);
    as_raw_json func = as_raw_member(frame, "func", l->budget, &l->fine);
    if (function.size && source.size && line.size) {
        add_value(l, function);
        add_text(l, "()~", 3);
        add_value(l, source);
        add_text(l, "~", 1);
        add_value(l, line);
    } else {
        add_value(l, func.size ? func : function.size ? function : frame);
    }
}

/* "uid;frame;…" of a kind, the trace from its end. */
static void begin_lines(liner *l, const as_perun_kind *kind) {
    as_raw_items items;
    l->stack.count = l->frames.count = 0;
    add_frame(l, kind->uid);
    bool is_list = as_raw_begins(kind->trace) == '[';
    for (bool more = is_list && as_raw_items_begin(&items, kind->trace, l->budget); more && as_raw_items_next(&items);)
        l->fine &= as_vec_append(&l->frames, &items.value, 1);
    if (is_list) l->fine &= !as_raw_items_end(&items);
    for (size_t i = l->frames.count; i-- > 0;) {
        add_text(l, ";", 1);
        add_frame(l, AS_AT(as_raw_json, &l->frames, i));
    }
    add_text(l, " ", 1);
}

/* False: the row has no amount. */
static bool write_amount(liner *l, uint32_t column, as_own_column own, size_t row) {
    char text[AS_NUMBER_SIZE];
    as_own_type type = row < own.count ? (as_own_type)own.types[row] : AS_OWN_ABSENT;
    if (type == AS_OWN_ABSENT && as_records_cell(l->perun->records, row, column).type == AS_CELL_NULL) return false;
    as_output_write(l->out, l->stack.data, l->stack.count);
    if (type == AS_OWN_NULL || type == AS_OWN_TRUE || type == AS_OWN_FALSE) {
        as_output_text(l->out, type == AS_OWN_NULL ? "None" : type == AS_OWN_TRUE ? "True" : "False");
        return true;
    }
    as_cell cell = as_records_cell(l->perun->records, row, column);
    if (cell.type == AS_CELL_TEXT || cell.type == AS_CELL_JSON)
        as_output_write(l->out, cell.text, cell.size);
    else if (cell.type == AS_CELL_REAL)
        as_output_write(l->out, text, as_python_number((as_number){.kind = AS_REAL, .r = cell.r}, text));
    else if (cell.type == AS_CELL_UINT)
        as_output_write(l->out, text, as_uint_format(cell.u, text));
    else
        as_output_write(l->out, text, as_int_format(cell.i, text));
    return true;
}

/* The kinds of a profile, snapshot by snapshot; where a resource has none it is the first. */
typedef struct kind_order {
    int64_t snapshot;
    uint32_t kind;
} kind_order;

static int compare_kinds(const void *a, const void *b) {
    const kind_order *x = a, *y = b;
    if (x->snapshot != y->snapshot) return x->snapshot < y->snapshot ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void write_lines(liner *l, const kind_order *order, const size_t *starts, const uint32_t *rows) {
    uint32_t column = as_records_find_column(l->perun->records, "amount");
    as_own_column own = as_records_own(l->perun->records, column);
    for (size_t i = 0; l->fine && i < l->perun->kinds.count; i++) {
        uint32_t id = order[i].kind;
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &l->perun->kinds, id);
        if (kind->is_free || !kind->uid.size || starts[id] == starts[id + 1]) continue;
        begin_lines(l, kind);
        for (size_t k = starts[id]; l->fine && k < starts[id + 1]; k++) {
            if (write_amount(l, column, own, rows[k])) as_output_char(l->out, '\n');
        }
    }
}

bool as_perun_flame_lines(const as_dataset *ds, as_output *out) {
    const as_perun *perun = as_perun_of(ds);
    size_t n_rows = as_records_rows(perun->records), n_kinds = perun->kinds.count;
    uint32_t snapshot = as_records_find_column(perun->records, "snapshot");
    const uint32_t *kinds = as_records_row_kinds(perun->records);
    if (as_records_find_column(perun->records, "amount") == UINT32_MAX) return true;
    liner l = {.ds = ds, .perun = perun, .out = out, .budget = as_ds_budget(ds), .fine = true};
    kind_order *order = malloc((n_kinds + 1) * sizeof *order);
    size_t *starts = calloc(n_kinds + 2, sizeof *starts);
    uint32_t *rows = malloc((n_rows + 1) * sizeof *rows);
    as_vec_init(&l.stack, 1, l.budget);
    as_vec_init(&l.frames, sizeof(as_raw_json), l.budget);
    if (order && starts && rows) {
        for (uint32_t i = 0; i < n_kinds; i++) {
            as_cell cell = snapshot == UINT32_MAX ? as_cell_null() : as_records_shared(perun->records, i, snapshot);
            order[i] = (kind_order){cell.type == AS_CELL_INT ? cell.i : 0, i};
        }
        qsort(order, n_kinds, sizeof *order, compare_kinds);
        for (size_t i = 0; i < n_rows; i++) starts[kinds[i] + 2]++;
        for (size_t i = 2; i <= n_kinds; i++) starts[i] += starts[i - 1];
        for (size_t i = 0; i < n_rows; i++) rows[starts[kinds[i] + 1]++] = (uint32_t)i;
        write_lines(&l, order, starts, rows);
    } else {
        l.fine = false;
    }
    as_vec_free(&l.stack);
    as_vec_free(&l.frames);
    free(order);
    free(starts);
    free(rows);
    return l.fine;
}
