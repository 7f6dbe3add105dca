/* Normalizer: amounts as parts of the largest of their type. */
#include <math.h>

#include "analysis/regress/regress.h"
#include "analysis/regress/row_words.h"
#include "core/error.h"

/* Into out first the amounts, into types the ids of their types, of which 0 is for rows without. */
static bool gather(const as_records *records, as_strings *strings, as_arena *arena, double *out, as_str **types) {
    size_t n = as_records_rows(records);
    uint32_t amount = as_records_find_column(records, "amount");
    as_str none = as_intern(strings, "", 0);
    as_row_words words;
    *types = as_arena_array(arena, n, sizeof **types);
    if (*types == NULL || none == AS_NO_STR || !as_row_words_init(&words, records, "type", strings, none, arena))
        return false;
    for (size_t row = 0; row < n; row++) {
        out[row] = amount == UINT32_MAX ? NAN : as_records_number(records, row, amount, NULL);
        if (!as_row_word(&words, row, &(*types)[row])) return false;
    }
    return true;
}

static bool divide(double *out, const as_str *types, size_t n, size_t n_types, as_arena *arena) {
    double *largest = as_arena_array(arena, n_types, sizeof *largest);
    if (largest == NULL) return false;
    for (size_t i = 0; i < n_types; i++) largest[i] = -INFINITY;
    for (size_t row = 0; row < n; row++) largest[types[row]] = fmax(largest[types[row]], out[row]);
    for (size_t row = 0; row < n; row++) {
        if (isnan(out[row])) continue;
        out[row] = largest[types[row]] != 0 ? out[row] / largest[types[row]] : 1;
    }
    return true;
}

assay_status as_normalize(const as_dataset *ds, double *out, assay_error *error) {
    const as_records *records = as_ds_shared_records(ds, "record");
    if (records == NULL)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing to normalize: there are no resources");
    as_arena arena;
    as_strings strings;
    as_arena_init(&arena, as_ds_budget(ds));
    as_strings_init(&strings, &arena);
    as_str *types;
    bool is_fine = gather(records, &strings, &arena, out, &types) &&
                   divide(out, types, as_records_rows(records), strings.entries.count, &arena);
    as_strings_free(&strings);
    as_arena_free(&arena);
    return is_fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
