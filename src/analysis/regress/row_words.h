/* The texts of a column of records, such as uid and type, as ids. */
#ifndef AS_ANALYSIS_REGRESS_ROW_WORDS_H
#define AS_ANALYSIS_REGRESS_ROW_WORDS_H

#include "core/strings.h"
#include "dataset/records.h"

typedef struct as_row_words {
    const as_records *records;
    uint32_t column; /* UINT32_MAX: there is none, and all rows have nothing */
    as_strings *strings;
    as_str nothing; /* for rows without */
    as_own_column own;
    const uint32_t *kinds;
    as_str *of_kind; /* what kinds share */
} as_row_words;

/* nothing: the id for rows without. Everything lives in the arena. False when memory is out. */
bool as_row_words_init(as_row_words *words, const as_records *records, const char *column, as_strings *strings,
                       as_str nothing, as_arena *arena);
/* Numbers are what Python writes for them. False when memory is out. */
bool as_row_word(const as_row_words *words, size_t row, as_str *out);

#endif
