#include "formats/extrap/values.h"

#include "io/json.h"

void as_write_json_str(as_output *out, const as_dataset *ds, as_str text) {
    if (text == AS_NO_STR)
        as_output_text(out, "\"\"");
    else
        as_json_write_string(out, as_ds_text(ds, text), as_str_size(&ds->strings, text));
}

static void write_value(as_output *out, const as_series_walk *walk, uint64_t index) {
    as_write_json_number(out, as_block_value(walk->block, as_walk_row(walk, index)));
}

void as_write_json_values(as_output *out, const as_series_walk *walk, uint64_t first, uint64_t n, bool as_list) {
    bool alone = n == 1 && as_block_location(walk->block, as_walk_row(walk, first)) == ASSAY_NONE;
    if (alone && !as_list) {
        write_value(out, walk, first);
        return;
    }
    as_output_char(out, '[');
    for (uint64_t at = first; at < first + n;) {
        if (at > first) as_output_char(out, ',');
        uint64_t size = as_walk_repetition(walk, at);
        bool nested = size > 1 || as_block_location(walk->block, as_walk_row(walk, at)) != ASSAY_NONE;
        if (nested) as_output_char(out, '[');
        for (uint64_t i = 0; i < size; i++) {
            if (i) as_output_char(out, ',');
            write_value(out, walk, at + i);
        }
        if (nested) as_output_char(out, ']');
        at += size;
    }
    as_output_char(out, ']');
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

as_record_split as_record_split_begin(const as_series_walk *walk, const as_extras_index *extras,
                                      const as_series *series) {
    return (as_record_split){.walk = walk, .extras = extras, .series = series, .first = walk->first};
}

static size_t find_record(const as_record_split *split, uint64_t index, uint64_t *repetitions) {
    assay_id run = as_block_run(split->walk->block, as_walk_row(split->walk, index));
    return as_extras_find(split->extras, split->series->metric, split->series->context, run, repetitions);
}

bool as_record_split_next(as_record_split *split) {
    const as_series_walk *walk = split->walk;
    uint64_t end = walk->first + walk->n, repetitions = 0, ignored;
    split->first += split->n;
    if (split->first >= end) return false;
    split->row = find_record(split, split->first, &repetitions);
    if (!split->extras->rows.count) {
        split->n = walk->n;
        return true;
    }
    uint64_t at = split->first;
    for (uint64_t count = 0; at < end; count++) {
        bool is_over =
            split->row != SIZE_MAX ? count == repetitions : count && find_record(split, at, &ignored) != SIZE_MAX;
        if (count && is_over) break;
        at += as_walk_repetition(walk, at);
    }
    split->n = at - split->first;
    return true;
}

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

/* Whether every location is a leaf without parent whose id is its position: then lists say it all. */
static bool are_positions(const as_dataset *ds) {
    for (size_t i = 0; i < ds->locations.count; i++) {
        const as_location *location = as_ds_location(ds, (assay_id)i);
        const char *kind = as_ds_text(ds, location->kind);
        if (!location->leaf || location->parent != ASSAY_NONE || location->source_id != AS_NO_STR ||
            location->rank >= 0 || !kind || strcmp(kind, "location") != 0)
            return false;
    }
    return true;
}

/* Whether in every repetition the locations are 0, 1, 2, …. */
static bool are_consecutive(const as_block *block) {
    for (uint32_t i = 0; i < block->n_contexts && block->locations; i++) {
        assay_id run = ASSAY_NONE, expected = 0;
        for (uint64_t row = block->starts[i]; row < block->starts[i + 1]; row++) {
            assay_id here = as_block_run(block, row), location = block->locations[row];
            expected = here == run ? expected + 1 : 0;
            run = here;
            if (location != ASSAY_NONE && location != expected) return false;
        }
    }
    return true;
}

void as_lose_locations(const as_dataset *ds, as_losses *losses) {
    if (!ds->locations.count) return;
    if (!are_positions(ds)) as_lose(losses, "names and places of %zu locations (only their order)", as_ds_leaves(ds));
    for (size_t i = 0; i < ds->blocks.count; i++) {
        if (are_consecutive(as_ds_block(ds, i))) continue;
        as_lose(losses, "which location a value belongs to, where some have none");
        return;
    }
}
