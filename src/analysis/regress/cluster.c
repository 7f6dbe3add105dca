/* Clusterizer: resources with nearly the same amount get the same number. */
#include <math.h>
#include <stdlib.h>

#include "analysis/regress/regress.h"
#include "analysis/regress/row_words.h"
#include "core/error.h"

typedef struct clustered_row {
    double amount;
    uint32_t row, uid_rank;
    as_str type, subtype;
} clustered_row;

static int compare_rows(const void *a, const void *b) {
    const clustered_row *p = a, *q = b;
    if (p->uid_rank != q->uid_rank) return p->uid_rank < q->uid_rank ? -1 : 1;
    if (p->amount != q->amount) return p->amount < q->amount ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

typedef struct named_id {
    const char *text;
    as_str id;
} named_id;

static int compare_names(const void *a, const void *b) {
    return strcmp(((const named_id *)a)->text, ((const named_id *)b)->text);
}

/* Replaces ids by their places in the order of their texts. */
static bool rank_uids(clustered_row *rows, size_t n, const as_strings *strings, as_arena *arena) {
    size_t n_strings = strings->entries.count;
    named_id *names = as_arena_array(arena, n_strings, sizeof *names);
    uint32_t *ranks = as_arena_array(arena, n_strings, sizeof *ranks);
    if (names == NULL || ranks == NULL) return false;
    for (size_t i = 0; i < n_strings; i++) names[i] = (named_id){as_str_text(strings, (as_str)i), (as_str)i};
    qsort(names, n_strings, sizeof *names, compare_names);
    for (size_t i = 0; i < n_strings; i++) ranks[names[i].id] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) rows[i].uid_rank = ranks[rows[i].uid_rank];
    return true;
}

static bool is_same_group(const clustered_row *a, const clustered_row *b) {
    return a->uid_rank == b->uid_rank && a->type == b->type && a->subtype == b->subtype;
}

/* The amounts up to which a cluster that begins with this one goes. */
static double top_of(const as_cluster_options *options, double amount) {
    return options->height_is_absolute ? amount + options->height : amount * (1 + options->height);
}

static void number_group(const clustered_row *rows, size_t n, const as_cluster_options *options, uint64_t *out) {
    double width = options->width_is_absolute ? options->width : options->width * (double)n;
    double top = top_of(options, rows[0].amount), taken = 0;
    uint64_t cluster = 1;
    for (size_t i = 0; i < n; i++) {
        if (!options->is_sliding) {
            out[rows[i].row] = i + 1;
            continue;
        }
        if (taken >= width || rows[i].amount > top) {
            cluster++;
            top = top_of(options, rows[i].amount);
            taken = 0;
        }
        taken++;
        out[rows[i].row] = cluster;
    }
}

/* The rows whose amounts are numbers, and how many. */
static bool gather(const as_records *records, as_strings *strings, as_arena *arena, clustered_row **out,
                   size_t *count) {
    size_t n = as_records_rows(records);
    as_str none = as_intern(strings, "None", 4); /* as Perun sorts a row without uid */
    uint32_t amount = as_records_find_column(records, "amount");
    as_row_words uids, types, subtypes;
    clustered_row *rows = as_arena_array(arena, n, sizeof *rows);
    *count = 0;
    *out = rows;
    if (rows == NULL || none == AS_NO_STR || !as_row_words_init(&uids, records, "uid", strings, none, arena) ||
        !as_row_words_init(&types, records, "type", strings, AS_NO_STR, arena) ||
        !as_row_words_init(&subtypes, records, "subtype", strings, AS_NO_STR, arena))
        return false;
    if (amount == UINT32_MAX) return true;
    for (size_t row = 0; row < n; row++) {
        clustered_row new = {.row = (uint32_t)row};
        new.amount = as_records_number(records, row, amount, NULL);
        if (isnan(new.amount)) continue;
        if (!as_row_word(&uids, row, &new.uid_rank) || !as_row_word(&types, row, &new.type) ||
            !as_row_word(&subtypes, row, &new.subtype))
            return false;
        rows[(*count)++] = new;
    }
    return rank_uids(rows, *count, strings, arena);
}

assay_status as_clusterize(const as_dataset *ds, const as_cluster_options *options, uint64_t *out, assay_error *error) {
    const as_records *records = as_ds_shared_records(ds, "record");
    if (records == NULL)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing to clusterize: there are no resources");
    as_arena arena;
    as_strings strings;
    as_arena_init(&arena, as_ds_budget(ds));
    as_strings_init(&strings, &arena);
    clustered_row *rows;
    size_t n;
    bool is_fine = gather(records, &strings, &arena, &rows, &n);
    if (is_fine) {
        memset(out, 0, as_records_rows(records) * sizeof *out);
        qsort(rows, n, sizeof *rows, compare_rows);
        for (size_t begin = 0, end; begin < n; begin = end) {
            for (end = begin + 1; end < n && is_same_group(&rows[begin], &rows[end]);) end++;
            number_group(rows + begin, end - begin, options, out);
        }
    }
    as_strings_free(&strings);
    as_arena_free(&arena);
    return is_fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
