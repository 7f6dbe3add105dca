/* Amounts: sums by call path. */
#include "formats/perun/read.h"

#include <stdlib.h>

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* Adds n numbers. The sum is in variables of its own, as one in memory is waited for. */
static void add_reals(as_perun_sum *sum, const as_own_value *values, size_t n) {
    double real = sum->real, lost = sum->lost;
    for (size_t i = 0; i < n; i++) {
        double value = values[i].r, next = real + value;
        lost += fabs(real) >= fabs(value) ? (real - next) + value : (value - next) + real;
        real = next;
    }
    sum->real = real;
    sum->lost = lost;
    sum->n_real += (uint32_t)n;
}

static void add_real(as_perun_sum *sum, double value) { add_reals(sum, &(as_own_value){.r = value}, 1); }

/* A number that all rows of a kind share, or that a row has. False: it is none. */
static bool add_cell(as_perun_sum *sum, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_INT: sum->whole += cell.i, sum->n_whole++; return true;
    case AS_CELL_UINT: sum->whole += cell.u, sum->n_whole++; return true;
    case AS_CELL_REAL: add_real(sum, cell.r); return true;
    default: return false;
    }
}

/* How many rows from `row` on, before `end`, have numbers with a fraction. */
static size_t count_reals(as_own_column own, size_t row, size_t end) {
    size_t first = row;
    if (end > own.count) end = own.count;
    while (row < end && own.types[row] == AS_OWN_REAL) row++;
    return row - first;
}

static bool add_amount(const as_records *records, as_own_column amounts, uint32_t column, size_t row,
                       as_perun_sum *sum) {
    as_own_type type = row < amounts.count ? amounts.types[row] : AS_OWN_ABSENT;
    if (type == AS_OWN_DIGITS) return add_real(sum, as_records_number(records, row, column, NULL)), true;
    bool is_number = type == AS_OWN_INT || type == AS_OWN_UINT || type == AS_OWN_ABSENT;
    return is_number && add_cell(sum, as_records_cell(records, row, column));
}

static bool is_measured_at(const as_records *records, uint32_t size, size_t row) {
    bool has_size;
    return isfinite(as_records_number(records, row, size, &has_size)) && has_size;
}

/* The amounts of rows of one kind that stand together; draft->is_measured becomes true where one of them has a size
 * too. size: that column, UINT32_MAX for none. */
static void add_amounts(const as_records *records, uint32_t column, uint32_t size, size_t row, size_t end,
                        as_perun_sum *sum, as_perun_draft *draft) {
    as_own_column amounts = as_records_own(records, column);
    while (row < end) {
        size_t n = count_reals(amounts, row, end), first = row;
        if (n)
            add_reals(sum, amounts.values + row, n);
        else
            n = add_amount(records, amounts, column, row, sum);
        row += n ? n : 1;
        for (size_t i = first; i < first + n && !draft->is_measured && size != UINT32_MAX; i++)
            draft->is_measured = is_measured_at(records, size, i);
    }
}

static assay_id metric_of(as_perun_reading *reading, const as_perun_draft *draft) {
    uint64_t key = as_pair(draft->metric, draft->unit);
    uint32_t known = as_map_get(&reading->metrics, key);
    if (known != AS_MAP_NONE) return known;
    as_metric metric = AS_METRIC_INIT;
    metric.name = draft->metric;
    metric.unit = draft->unit;
    metric.kind = AS_KIND_EXCLUSIVE;
    assay_id id = as_add_metric(reading->ds, &metric);
    return id != ASSAY_NONE && as_map_put(&reading->metrics, key, id) ? id : ASSAY_NONE;
}

/* The root that a kind's measurements are of: its uid, whatever its call path. */
static bool add_root(as_perun_reading *reading, as_perun_kind *kind) {
    as_str name = kind->flat_uid == AS_NO_STR ? as_ds_intern_text(reading->ds, "None") : kind->flat_uid;
    assay_id region = as_tree_region(&reading->tree, name);
    kind->uid_context = region == ASSAY_NONE ? ASSAY_NONE : as_tree_child(&reading->tree, ASSAY_NONE, region);
    if (kind->uid_context == ASSAY_NONE) return false;
    as_tree_mark_callpath(&reading->tree, kind->uid_context);
    return true;
}

assay_status as_perun_add_up(as_perun_reading *reading) {
    as_perun *perun = reading->perun;
    const as_perun_profile *profile = &AS_AT(as_perun_profile, &perun->profiles, reading->profile);
    const uint32_t *kinds = as_records_row_kinds(perun->records);
    while (reading->sums.count < perun->kinds.count) {
        if (!as_vec_push(&reading->sums)) return as_reader_memory(reading->reader);
    }
    as_perun_sum *sums = reading->sums.data;
    for (size_t i = reading->first_kind; i < perun->kinds.count; i++) sums[i].run = reading->run;
    uint32_t column = as_records_find_column(perun->records, as_perun_dynamic_keys[AS_PERUN_AMOUNT]);
    if (column == UINT32_MAX) return ASSAY_OK;
    uint32_t size = as_records_find_column(perun->records, as_perun_dynamic_keys[AS_PERUN_SIZE]);
    size_t end = profile->first_row + profile->n_rows;
    for (size_t row = profile->first_row, next; row < end; row = next) {
        for (next = row + 1; next < end && kinds[next] == kinds[row];) next++;
        as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, kinds[row] - reading->first_kind);
        add_amounts(perun->records, column, size, row, next, &sums[kinds[row]], draft);
    }
    for (size_t i = reading->first_kind; i < perun->kinds.count; i++) {
        as_perun_kind *kind = &AS_AT(as_perun_kind, &perun->kinds, i);
        if (!sums[i].n_whole && !sums[i].n_real) continue;
        const as_perun_draft *draft = &AS_AT(as_perun_draft, &reading->drafts, i - reading->first_kind);
        kind->metric = metric_of(reading, draft);
        if (kind->metric == ASSAY_NONE || (draft->is_measured && !add_root(reading, kind)))
            return as_reader_memory(reading->reader);
    }
    return ASSAY_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A kind with amounts, where they go. */
typedef struct entry {
    assay_id run, metric, context;
    uint32_t kind;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Adds to the first of a context's sums those of its other kinds. */
static void merge_sum(as_perun_sum *into, const as_perun_sum *from) {
    into->whole += from->whole;
    into->n_whole += from->n_whole;
    if (!from->n_real) return;
    add_real(into, from->real);
    into->lost += from->lost;
}

static double real_sum(const as_perun_sum *sum) {
    double real = isfinite(sum->real) ? sum->real + sum->lost : sum->real;
    return sum->n_whole ? as_number_real(as_whole_number(sum->whole)) + real : real;
}

/* The values of n sums in the narrowest type that holds them all. */
static bool fill_values(as_dataset *ds, const as_perun_sum *sums, size_t n, as_block *block) {
    bool is_int = true, is_uint = true;
    for (size_t i = 0; i < n; i++) {
        is_int = is_int && !sums[i].n_real && sums[i].whole >= INT64_MIN && sums[i].whole <= INT64_MAX;
        is_uint = is_uint && !sums[i].n_real && sums[i].whole >= 0 && sums[i].whole <= UINT64_MAX;
    }
    uint64_t *values = as_arena_array(&ds->arena, n, sizeof *values);
    if (!values) return false;
    for (size_t i = 0; i < n; i++) {
        double real = real_sum(&sums[i]);
        if (is_int || is_uint)
            values[i] = (uint64_t)sums[i].whole;
        else
            memcpy(&values[i], &real, sizeof real);
    }
    block->dtype = is_int ? AS_DTYPE_INT64 : is_uint ? AS_DTYPE_UINT64 : AS_DTYPE_DOUBLE;
    block->values = values;
    return true;
}

/* The block of n entries of one metric and run. */
static bool make_block(as_perun_reading *reading, const entry *entries, size_t n) {
    as_dataset *ds = reading->ds;
    as_perun_sum *sums = malloc(n * sizeof *sums);
    assay_id *contexts = as_arena_array(&ds->arena, n, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, n + 1, sizeof *starts);
    size_t k = 0;
    for (size_t i = 0; i < n && sums && contexts; i++) {
        const as_perun_sum *sum = &AS_AT(as_perun_sum, &reading->sums, entries[i].kind);
        if (k && contexts[k - 1] == entries[i].context) {
            merge_sum(&sums[k - 1], sum);
            continue;
        }
        contexts[k] = entries[i].context;
        sums[k++] = *sum;
    }
    for (size_t i = 0; i <= k && starts; i++) starts[i] = i;
    as_block block = {.metric = entries->metric,
                      .run = entries->run,
                      .n_contexts = (uint32_t)k,
                      .contexts = contexts,
                      .starts = starts};
    bool fine = sums && contexts && starts && fill_values(ds, sums, k, &block) && as_add_block(ds, &block);
    free(sums);
    return fine;
}

bool as_perun_make_blocks(as_perun_reading *reading) {
    as_perun *perun = reading->perun;
    as_vec entries;
    as_vec_init(&entries, sizeof(entry), &reading->ds->budget);
    bool fine = true;
    for (size_t i = 0; i < perun->kinds.count && fine; i++) {
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &perun->kinds, i);
        entry next = {AS_AT(as_perun_sum, &reading->sums, i).run, kind->metric, kind->context, (uint32_t)i};
        if (kind->metric != ASSAY_NONE && kind->context != ASSAY_NONE) fine = as_vec_append(&entries, &next, 1);
    }
    if (entries.count > 1) qsort(entries.data, entries.count, entries.size, compare_entries);
    const entry *all = entries.data;
    for (size_t i = 0, end; i < entries.count && fine; i = end) {
        for (end = i + 1; end < entries.count && all[end].run == all[i].run && all[end].metric == all[i].metric;) end++;
        fine = make_block(reading, all + i, end - i);
    }
    as_vec_free(&entries);
    return fine;
}
