/* What Perun's checks found at a commit: objects/XX/YYYY.changes, a line each:
 * LOCATION PerformanceChange.RESULT TYPE FROM TO RATE CONFIDENCE-TYPE CONFIDENCE RELATIVE-RATE BASELINE CMD WORKLOAD
 * There are blanks in some of these, so they are found by the two that have a shape: the result, and the baseline, a
 * hash. */
#include "formats/perun/store.h"

enum { BETWEEN = 7 }; /* from the type to the relative rate */

/* A change as texts in its line. */
typedef struct change {
    as_raw_json location, result, between[BETWEEN], baseline, cmd;
} change;

static as_raw_json span(const char *from, const char *to) { return (as_raw_json){from, (size_t)(to - from)}; }

/* The first " HASH" in the text, or NULL. */
static const char *find_hash(const char *from, const char *end) {
    for (const char *at = from; (at = memchr(at, ' ', (size_t)(end - at))); at++) {
        const char *hash = at + 1;
        if (end - hash < AS_PERUN_HEX || (end - hash > AS_PERUN_HEX && hash[AS_PERUN_HEX] != ' ')) continue;
        size_t n = 0;
        while (n < AS_PERUN_HEX && memchr("0123456789abcdef", hash[n], 16)) n++;
        if (n == AS_PERUN_HEX) return at;
    }
    return NULL;
}

static bool parse_change(const char *line, const char *end, change *out) {
    static const char WORD[] = " PerformanceChange.";
    const char *word = memmem(line, (size_t)(end - line), WORD, sizeof WORD - 1);
    const char *hash = word ? find_hash(word + 1, end) : NULL;
    if (!hash) return false;
    const char *result = word + sizeof WORD - 1, *at = hash, *begin = memchr(result, ' ', (size_t)(hash - result));
    if (!begin) return false;
    out->location = span(line, word);
    out->result = span(result, begin++);
    for (int i = BETWEEN; i-- > 0;) { /* from the last on, since the type may have blanks */
        const char *blank = i ? memrchr(begin, ' ', (size_t)(at - begin)) : begin - 1;
        if (!blank) return false;
        out->between[i] = span(blank + 1, at);
        at = blank;
    }
    out->baseline = (as_raw_json){hash + 1, AS_PERUN_HEX};
    const char *behind = hash + 1 + AS_PERUN_HEX;
    out->cmd = behind < end ? span(behind + 1, end) : span(end, end);
    return true;
}

static as_cell text_cell(as_raw_json text) { return as_cell_text_n(text.text, text.size); }

/* Numbers are numbers, other texts ("12.5ms") stay as they are. */
static as_cell number_cell(as_raw_json text) {
    as_number number;
    return as_number_parse(text.text, text.size, &number) ? as_cell_number(number) : text_cell(text);
}

static as_table *change_table(as_dataset *ds) {
    static const char *const COLUMNS[] = {"commit",   "location", "result",          "type",       "from",
                                          "to",       "rate",     "confidence_type", "confidence", "rate_relative",
                                          "baseline", "cmd"};
    as_table *table = as_add_record_table(ds, "change");
    for (size_t i = 0; table && i < sizeof COLUMNS / sizeof *COLUMNS; i++) {
        if (as_table_add_column(table, COLUMNS[i]) == SIZE_MAX) return NULL;
    }
    return table;
}

static bool add_change(as_table *table, const char *commit, const change *it) {
    const as_raw_json *between = it->between;
    as_cell cells[] = {as_cell_int((int64_t)as_table_rows(table)),
                       as_cell_null(),
                       as_cell_text(commit),
                       text_cell(it->location),
                       text_cell(it->result),
                       text_cell(between[0]),
                       number_cell(between[1]),
                       number_cell(between[2]),
                       number_cell(between[3]),
                       text_cell(between[4]),
                       number_cell(between[5]),
                       number_cell(between[6]),
                       text_cell(it->baseline),
                       text_cell(it->cmd)};
    return as_table_append(table, cells);
}

static assay_status read_lines(as_perun_store *store, as_table *table, const char *path, const char *commit,
                               const as_input *input) {
    const char *end = input->data + input->size;
    uint32_t line = 1;
    for (const char *at = input->data; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        change it;
        if (stop > at && !parse_change(at, stop, &it))
            as_leave_out(store->reader, as_place_line(path, line, 1), "store-changes", "is no change; left out");
        else if (stop > at && !add_change(table, commit, &it))
            return as_reader_memory(store->reader);
        at = newline ? newline + 1 : end;
    }
    return ASSAY_OK;
}

assay_status as_perun_read_changes(as_perun_store *store) {
    as_table *table = NULL;
    for (size_t i = 0; i < store->files.count; i++) {
        const as_perun_file *file = &AS_AT(as_perun_file, &store->files, i);
        if (file->type != AS_PERUN_FILE_CHANGES) continue;
        const char *path = as_perun_object_path(store, store->root, file->hex, ".changes");
        if (!table) table = change_table(store->ds);
        if (!path || !table) return as_reader_memory(store->reader);
        as_input *input;
        assay_error error;
        assay_status status = as_input_open(path, &store->ds->budget, &input, &error);
        if (as_perun_is_partial(status)) {
            as_perun_leave_out(store, &error);
            continue;
        }
        if (status != ASSAY_OK) return as_reader_memory(store->reader);
        store->ds->input_size += input->size;
        status = read_lines(store, table, path, file->hex, input);
        as_input_close(input);
        AS_TRY(status);
    }
    return ASSAY_OK;
}
