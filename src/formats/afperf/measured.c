/* What was measured, record by record, for those who ask for all of it: as the event source has it. The table `record`
 * has the same with more columns, row by row. */
#include "formats/afperf/reading.h"

/* The run of a record, and the interval it is of. False: it is an orphan, or comes from other records. */
static bool find_owner(const as_af_capture *capture, const as_af_datum *datum, const as_af_run **run, uint64_t *event) {
    uint32_t index = datum->owner;
    *event = AS_NO_EVENT;
    if (datum->offset & AS_AF_IS_PROCESSED || !(datum->offset & (AS_AF_OWNER_INTERVAL | AS_AF_OWNER_RUN))) return false;
    if (datum->offset & AS_AF_OWNER_INTERVAL) {
        *event = datum->owner;
        index = AS_AF_INTERVAL(capture, datum->owner)->run;
    }
    *run = index == AS_AF_NONE ? NULL : AS_AF_RUN(capture, index);
    return *run && (*run)->is_defined;
}

/* The text that a value means; text: of char, where it takes some making. */
static bool clean_text(const as_af_field *field, as_vec *text, as_cell *value) {
    if (value->type != AS_CELL_TEXT || !field->has_quotes) return true;
    text->count = 0;
    if (!as_af_unquote(field, text)) return false;
    *value = as_cell_text_n(text->data, text->count);
    return true;
}

bool as_af_recorded(const as_af_capture *capture, uint64_t record, as_recorded_taker take, void *user) {
    const as_af_datum *datum = AS_AF_DATUM(capture, record);
    const as_af_layout *layout = &as_af_layouts[as_af_datum_type(datum)];
    const as_af_run *run;
    as_recorded measured = {.is_aggregate = layout->fields[2].kind == AS_AF_TIME};
    if (!find_owner(capture, datum, &run, &measured.event)) return true;
    as_af_walker walker = as_af_walk(capture->file.data, capture->file.size, as_af_offset_of(datum->offset));
    as_af_field field, name;
    uint64_t number = 0;
    for (uint8_t i = 0; i < layout->n_fields; i++) {
        as_af_walk_next(&walker, &field);
        if (i == (measured.is_aggregate ? 2 : 1)) as_af_integer(&field, &number);
    }
    measured.run = run->final;
    measured.time = as_af_since_start(run, number);
    as_vec text;
    as_vec_init(&text, 1, as_ds_budget(capture->ds));
    bool fine = true;
    while (fine && as_af_walk_next(&walker, &name) && as_af_walk_next(&walker, &field)) {
        uint32_t index = as_af_integer(&name, &number) ? as_map_get(&run->measures, number) : AS_MAP_NONE;
        if (index == AS_MAP_NONE) continue;
        const as_af_measure *measure = AS_AF_MEASURE(capture, index);
        as_af_value value = as_af_value_of(&field, measure, false);
        if (!value.fits) continue;
        measured.measurement = measure->name;
        measured.value = value.cell;
        fine = clean_text(&field, &text, &measured.value) && take(user, &measured);
    }
    as_vec_free(&text);
    return fine;
}
