#include "analysis/regress/row_words.h"

static bool cell_word(const as_row_words *words, as_cell cell, as_str *out) {
    char digits[AS_NUMBER_SIZE];
    size_t size = 0;
    switch (cell.type) {
    case AS_CELL_NULL: *out = words->nothing; return true;
    case AS_CELL_INT: size = as_int_format(cell.i, digits); break;
    case AS_CELL_UINT: size = as_uint_format(cell.u, digits); break;
    case AS_CELL_REAL: size = as_real_format_python(cell.r, digits); break;
    default: *out = as_intern(words->strings, cell.text, cell.size); return *out != AS_NO_STR;
    }
    *out = as_intern(words->strings, digits, size);
    return *out != AS_NO_STR;
}

bool as_row_words_init(as_row_words *words, const as_records *records, const char *column, as_strings *strings,
                       as_str nothing, as_arena *arena) {
    *words = (as_row_words){.records = records,
                            .column = as_records_find_column(records, column),
                            .strings = strings,
                            .nothing = nothing,
                            .kinds = as_records_row_kinds(records)};
    if (words->column == UINT32_MAX) return true;
    words->own = as_records_own(records, words->column);
    size_t n = as_records_kinds(records);
    words->of_kind = as_arena_array(arena, n, sizeof *words->of_kind);
    if (words->of_kind == NULL) return false;
    for (size_t kind = 0; kind < n; kind++)
        if (!cell_word(words, as_records_shared_name(records, (uint32_t)kind, words->column), &words->of_kind[kind]))
            return false;
    return true;
}

bool as_row_word(const as_row_words *words, size_t row, as_str *out) {
    if (words->column == UINT32_MAX) {
        *out = words->nothing;
        return true;
    }
    if (row < words->own.count && words->own.types[row] != AS_OWN_ABSENT)
        return cell_word(words, as_records_name(words->records, row, words->column), out);
    *out = words->of_kind[words->kinds[row]];
    return true;
}
