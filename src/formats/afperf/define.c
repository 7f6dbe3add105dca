/* Records that define what others refer to: RunInfo, MeasurementType, SectionInfo; and records nobody knows. */
#include "formats/afperf/reading.h"

/* ---- texts and tags ---------------------------------------------------------------------------------------------- */

bool as_af_intern(as_af_reading *reading, const as_af_field *field, as_str *text) {
    if (!field->has_quotes) {
        *text = as_ds_intern(reading->ds, field->text, field->size);
    } else {
        reading->text.count = 0;
        if (!as_af_unquote(field, &reading->text)) return false;
        *text = as_ds_intern(reading->ds, reading->text.data, reading->text.count);
    }
    return *text != AS_NO_STR;
}

/* "NAME=VALUE", or a name alone. */
static bool add_tag(as_af_reading *reading, const char *text, size_t size) {
    as_dataset *ds = reading->ds;
    const char *equals = memchr(text, '=', size);
    size_t name = equals ? (size_t)(equals - text) : size;
    reading->text.count = 0;
    if (!as_vec_text(&reading->text, "tag:") || !as_vec_append(&reading->text, text, name)) return false;
    as_af_tag tag = {.key = as_ds_intern(ds, reading->text.data, reading->text.count),
                     .value = equals ? as_ds_intern(ds, equals + 1, size - name - 1) : as_ds_intern(ds, "", 0)};
    return tag.key != AS_NO_STR && tag.value != AS_NO_STR && as_vec_append(&reading->capture->tags, &tag, 1);
}

static bool add_tag_set(as_af_reading *reading, as_str text, uint32_t *set) {
    as_af_capture *capture = reading->capture;
    const char *at = as_ds_text(reading->ds, text), *end = at + as_str_size(&reading->ds->strings, text);
    size_t first = capture->tags.count;
    while (at < end) {
        const char *semicolon = memchr(at, ';', (size_t)(end - at)), *stop = semicolon ? semicolon : end;
        if (stop > at && !add_tag(reading, at, (size_t)(stop - at))) return false;
        at = stop + 1;
    }
    as_af_tag_set made = {(uint32_t)first, (uint32_t)(capture->tags.count - first), text};
    *set = (uint32_t)capture->tag_sets.count;
    return capture->tags.count < AS_AF_NONE && capture->tag_sets.count < AS_AF_NONE &&
           as_vec_append(&capture->tag_sets, &made, 1) && as_map_put(&capture->tag_set_of, text, *set);
}

bool as_af_tags_of(as_af_reading *reading, const as_af_field *field, uint32_t *set) {
    as_str text;
    *set = AS_AF_NONE;
    if (as_af_is_blank(field)) return true;
    if (!as_af_intern(reading, field, &text)) return false;
    *set = as_map_get(&reading->capture->tag_set_of, text);
    return *set != AS_MAP_NONE || add_tag_set(reading, text, set);
}

/* ---- runs and sections by id ------------------------------------------------------------------------------------- */

static uint32_t add_run(as_af_reading *reading, const uint64_t *id, size_t offset) {
    as_af_capture *capture = reading->capture;
    as_af_run run = {.id = id ? *id : 0, .has_id = id != NULL, .offset = offset, .wallclock = NAN, .per_second = 1};
    run.unit = run.version = run.application = run.application_version = AS_NO_STR;
    run.tags = run.open = AS_AF_NONE;
    run.final = ASSAY_NONE;
    as_map_init(&run.measures, &reading->ds->budget);
    if (capture->runs.count >= AS_AF_NONE || !as_vec_append(&capture->runs, &run, 1)) return AS_AF_NONE;
    uint32_t index = (uint32_t)capture->runs.count - 1;
    return !id || as_map_put(&capture->run_of, *id, index) ? index : AS_AF_NONE;
}

uint32_t as_af_run_named(as_af_reading *reading, uint64_t id, size_t offset) {
    if (reading->last_run.is_set && reading->last_run.id == id) return reading->last_run.run;
    uint32_t run = as_map_get(&reading->capture->run_of, id);
    if (run == AS_MAP_NONE) run = add_run(reading, &id, offset);
    reading->last_run.id = id;
    reading->last_run.run = run;
    reading->last_run.is_set = run != AS_AF_NONE;
    return run;
}

uint32_t as_af_run_before(as_af_reading *reading, size_t offset) {
    if (reading->current_run != AS_AF_NONE) return reading->current_run;
    if (reading->nobody == AS_AF_NONE) reading->nobody = add_run(reading, NULL, offset);
    return reading->nobody;
}

static uint32_t add_section(as_af_reading *reading, const uint64_t *id, size_t offset) {
    as_af_capture *capture = reading->capture;
    as_af_section section = {.id = id ? *id : 0, .has_id = id != NULL, .offset = offset, .label = AS_NO_STR};
    section.run = section.tags = section.open = AS_AF_NONE;
    if (capture->sections.count >= AS_AF_NONE || !as_vec_append(&capture->sections, &section, 1)) return AS_AF_NONE;
    uint32_t index = (uint32_t)capture->sections.count - 1;
    return !id || as_map_put(&capture->section_of, *id, index) ? index : AS_AF_NONE;
}

uint32_t as_af_section_named(as_af_reading *reading, uint64_t id, size_t offset) {
    uint32_t section = as_map_get(&reading->capture->section_of, id);
    return section != AS_MAP_NONE ? section : add_section(reading, &id, offset);
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

/* A record that is being read: field i of the format's, wherever it stands. */
typedef struct definition {
    as_af_reading *reading;
    const as_af_record *record;
    size_t omitted; /* 0: none */
    as_af_field none;
} definition;

static const as_af_field *field_at(const definition *d, size_t i) {
    if (d->omitted && i == d->omitted) return &d->none;
    if (d->omitted && i > d->omitted) i--;
    return i < d->record->n_fields ? &d->record->fields[i] : &d->none;
}

static bool complain(const definition *d, as_af_rule rule, as_severity severity, size_t field) {
    const as_af_field *at = field_at(d, field);
    bool has_place = rule == AS_AF_NUMBER && at != &d->none;
    as_af_problem problem = {.offset = has_place ? (size_t)(at->text - d->reading->data) : d->record->offset,
                             .rule = rule,
                             .severity = severity,
                             .type = (uint8_t)d->record->type,
                             .field = (uint8_t)field};
    return as_af_report(&d->reading->problems, &problem);
}

/* What the text says of a field, which is used all the same. */
static bool warn(const definition *d, size_t field, const char *rule, const char *text) {
    as_af_problem problem = {.offset = (size_t)(field_at(d, field)->text - d->reading->data),
                             .rule = AS_AF_CHECK,
                             .severity = AS_WARNING,
                             .check = rule,
                             .text = text};
    return as_af_report(&d->reading->problems, &problem);
}

/* The numbers of the record, by the kinds of its fields. is_good: the record can be used. */
static bool read_numbers(const definition *d, uint64_t numbers[AS_AF_MOST_FIELDS], bool is_blank[AS_AF_MOST_FIELDS],
                         double *decimal, bool *is_good) {
    const as_af_layout *layout = &as_af_layouts[d->record->type];
    *is_good = false;
    if (d->record->n_fields + (d->omitted != 0) < layout->n_required)
        return complain(d, AS_AF_MISSING, AS_ERROR, d->record->n_fields + (d->omitted != 0));
    for (size_t i = 1; i < layout->n_fields; i++) {
        const as_af_field *field = field_at(d, i);
        as_af_field_kind kind = layout->fields[i].kind;
        is_blank[i] = as_af_is_blank(field);
        if (kind != AS_AF_TIME && kind != AS_AF_ID && kind != AS_AF_DECIMAL) continue;
        if (is_blank[i] && (layout->fields[i].can_be_blank || i == d->omitted)) continue;
        if (is_blank[i]) return complain(d, AS_AF_MISSING, AS_ERROR, i);
        bool fits = kind == AS_AF_DECIMAL ? as_af_real(field, decimal) : as_af_integer(field, &numbers[i]);
        if (!fits) return complain(d, AS_AF_NUMBER, AS_ERROR, i);
    }
    if (d->omitted && !complain(d, AS_AF_OMITTED, AS_WARNING, d->omitted)) return false;
    if (d->record->n_fields + (d->omitted != 0) > layout->n_fields && !d->reading->extra[d->record->type].count++)
        d->reading->extra[d->record->type].offset = d->record->offset;
    *is_good = true;
    return true;
}

static double units_per_second(const char *unit) {
    static const struct {
        const char *name;
        double per_second;
    } known[] = {{"seconds", 1},     {"milliseconds", 1e3}, {"microseconds", 1e6}, {"nanoseconds", 1e9},
                 {"s", 1},           {"ms", 1e3},           {"us", 1e6},           {"ns", 1e9},
                 {"\xc2\xb5s", 1e6}, {"\xce\xbcs", 1e6}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(unit, known[i].name) == 0) return known[i].per_second;
    }
    return NAN;
}

static bool report_duplicate(const definition *d, const char *what, uint64_t id) {
    as_af_problem problem = {.offset = d->record->offset,
                             .rule = AS_AF_DUPLICATE,
                             .severity = AS_WARNING,
                             .text = what,
                             .number = id,
                             .has_number = true};
    return as_af_report(&d->reading->problems, &problem);
}

static bool define_run(const definition *d) {
    as_af_reading *reading = d->reading;
    uint64_t numbers[AS_AF_MOST_FIELDS] = {0}, major = 1, minor = 0;
    bool is_blank[AS_AF_MOST_FIELDS], is_good;
    double wallclock = NAN;
    if (!read_numbers(d, numbers, is_blank, &wallclock, &is_good)) return false;
    if (!is_good) return true;
    uint32_t index = is_blank[5] ? AS_MAP_NONE : as_map_get(&reading->capture->run_of, numbers[5]);
    if (index != AS_MAP_NONE && AS_AF_RUN(reading->capture, index)->is_defined) {
        if (!report_duplicate(d, "run", numbers[5])) return false;
        index = AS_MAP_NONE;
    }
    if (index == AS_MAP_NONE) index = add_run(reading, is_blank[5] ? NULL : &numbers[5], d->record->offset);
    if (index == AS_AF_NONE) return false;
    reading->last_run.is_set = false;
    as_af_run *run = AS_AF_RUN(reading->capture, index);
    run->is_defined = true;
    run->offset = d->record->offset;
    run->start = numbers[1];
    run->wallclock = wallclock;
    if (run->latest < numbers[1]) run->latest = numbers[1];
    bool has_version = as_af_version(field_at(d, 4), &major, &minor);
    run->minor = major == 1 ? minor : 0;
    if (!has_version && !d->omitted &&
        !warn(d, 4, "afperf-version", "the format version is not three numbers like 1.0.0, which is assumed"))
        return false;
    if (!as_af_intern(reading, field_at(d, 2), &run->unit) ||
        !as_af_intern(reading, field_at(d, 6), &run->application) ||
        !as_af_intern(reading, field_at(d, 7), &run->application_version))
        return false;
    if (has_version)
        as_af_intern(reading, field_at(d, 4), &run->version);
    else
        run->version = as_ds_intern_text(reading->ds, "1.0.0");
    run->per_second = units_per_second(as_ds_text(reading->ds, run->unit));
    if (isnan(run->per_second)) {
        run->per_second = 1;
        if (!warn(d, 2, "afperf-units",
                  "the unit of the timestamps is none of seconds, milliseconds, microseconds and nanoseconds; seconds "
                  "are assumed"))
            return false;
    }
    reading->current_run = reading->block_run = reading->block_index = index;
    reading->block = AS_AF_RUN_BLOCK;
    return run->version != AS_NO_STR && as_af_tags_of(reading, field_at(d, 8), &run->tags);
}

as_af_datatype as_af_datatype_of(const char *text, size_t size) {
    static const char *const names[] = {"double", "int32", "int64", "bool", "string", "enum"};
    for (int i = 0; i < AS_AF_OTHER; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0) return (as_af_datatype)i;
    }
    return AS_AF_OTHER;
}

/* ns us ms s, whatever other word says the same. */
static bool intern_unit(as_af_reading *reading, const as_af_field *field, as_str *unit) {
    static const char *const same[][2] = {{"nanoseconds", "ns"}, {"microseconds", "us"}, {"milliseconds", "ms"},
                                          {"seconds", "s"},      {"\xc2\xb5s", "us"},    {"\xce\xbcs", "us"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        size_t size = strlen(same[i][0]);
        if (field->size == size && memcmp(field->text, same[i][0], size) == 0) {
            *unit = as_ds_intern_text(reading->ds, same[i][1]);
            return *unit != AS_NO_STR;
        }
    }
    return as_af_intern(reading, field, unit);
}

static uint32_t run_of(const definition *d, bool is_blank, uint64_t id) {
    return is_blank ? as_af_run_before(d->reading, d->record->offset)
                    : as_af_run_named(d->reading, id, d->record->offset);
}

static bool define_measure(const definition *d) {
    as_af_reading *reading = d->reading;
    as_af_capture *capture = reading->capture;
    uint64_t numbers[AS_AF_MOST_FIELDS] = {0};
    bool is_blank[AS_AF_MOST_FIELDS], is_good;
    double unused;
    if (!read_numbers(d, numbers, is_blank, &unused, &is_good)) return false;
    if (!is_good) return true;
    const as_af_field *datatype = field_at(d, 5);
    as_af_measure measure = {.id = numbers[3],
                             .offset = d->record->offset,
                             .run = run_of(d, is_blank[2], numbers[2]),
                             .type = as_af_datatype_of(datatype->text, datatype->size),
                             .summary = AS_NO_STR,
                             .description = AS_NO_STR,
                             .metric = ASSAY_NONE};
    if (measure.run == AS_AF_NONE || !as_af_intern(reading, field_at(d, 4), &measure.name) ||
        !as_af_intern(reading, datatype, &measure.dtype) || !intern_unit(reading, field_at(d, 6), &measure.unit))
        return false;
    if (!is_blank[7] && !as_af_intern(reading, field_at(d, 7), &measure.summary)) return false;
    if (!is_blank[8] && !as_af_intern(reading, field_at(d, 8), &measure.description)) return false;
    as_af_run *run = AS_AF_RUN(capture, measure.run);
    if (run->latest < numbers[1]) run->latest = numbers[1];
    uint32_t known = as_map_get(&run->measures, measure.id);
    if (known != AS_MAP_NONE) {
        *AS_AF_MEASURE(capture, known) = measure;
        return true;
    }
    return capture->measures.count < AS_AF_NONE && as_vec_append(&capture->measures, &measure, 1) &&
           as_map_put(&run->measures, measure.id, (uint32_t)capture->measures.count - 1);
}

static bool define_section(const definition *d) {
    as_af_reading *reading = d->reading;
    as_af_capture *capture = reading->capture;
    uint64_t numbers[AS_AF_MOST_FIELDS] = {0};
    bool is_blank[AS_AF_MOST_FIELDS], is_good;
    double unused;
    if (!read_numbers(d, numbers, is_blank, &unused, &is_good)) return false;
    if (!is_good) return true;
    uint32_t run = run_of(d, is_blank[2], numbers[2]);
    if (run == AS_AF_NONE) return false;
    if (AS_AF_RUN(capture, run)->latest < numbers[1]) AS_AF_RUN(capture, run)->latest = numbers[1];
    uint32_t index = is_blank[3] ? AS_MAP_NONE : as_map_get(&capture->section_of, numbers[3]);
    if (index != AS_MAP_NONE && AS_AF_SECTION_AT(capture, index)->is_defined) {
        if (!report_duplicate(d, "section", numbers[3])) return false;
        index = AS_MAP_NONE;
    }
    if (index == AS_MAP_NONE) index = add_section(reading, is_blank[3] ? NULL : &numbers[3], d->record->offset);
    if (index == AS_AF_NONE) return false;
    as_af_section *section = AS_AF_SECTION_AT(capture, index);
    section->is_defined = true;
    section->offset = d->record->offset;
    section->run = run;
    reading->current_section = index;
    return as_af_intern(reading, field_at(d, 4), &section->label) &&
           as_af_tags_of(reading, field_at(d, 5), &section->tags);
}

/* ---- what nobody knows ------------------------------------------------------------------------------------------- */

static bool count_unknown(const definition *d) {
    enum { MOST = 200 };
    as_af_reading *reading = d->reading;
    as_af_field name = d->record->fields[0];
    if (name.size > MOST) name.size = MOST;
    name.has_quotes = false; /* it is only shown */
    as_str text;
    if (!as_af_intern(reading, &name, &text)) return false;
    uint32_t index = as_map_get(&reading->unknown_of, text);
    if (index == AS_MAP_NONE) {
        as_af_unknown_type unknown = {.name = text, .offset = d->record->offset};
        index = (uint32_t)reading->unknown.count;
        if (reading->unknown.count >= AS_AF_NONE || !as_vec_append(&reading->unknown, &unknown, 1) ||
            !as_map_put(&reading->unknown_of, text, index))
            return false;
    }
    as_af_unknown_type *type = &AS_AT(as_af_unknown_type, &reading->unknown, index);
    type->count++;
    if (reading->current_run == AS_AF_NONE)
        type->before_runs = true;
    else if (!AS_AF_RUN(reading->capture, reading->current_run)->minor)
        type->in_first_minor = true;
    return true;
}

bool as_af_define(as_af_reading *reading, as_af_type type, size_t offset) {
    as_af_scanner scanner;
    as_af_record record;
    as_af_scan(&scanner, reading->data, reading->size, offset, &reading->ds->budget);
    scanner.most_fields = AS_AF_MOST_FIELDS + 1;
    bool fine = as_af_next(&scanner, &record) == AS_AF_RECORD;
    if (fine) {
        definition d = {.reading = reading, .record = &record, .omitted = as_af_omitted(&record), .none = {.text = ""}};
        fine = type == AS_AF_RUN_INFO           ? define_run(&d)
               : type == AS_AF_MEASUREMENT_TYPE ? define_measure(&d)
               : type == AS_AF_SECTION_INFO     ? define_section(&d)
                                                : count_unknown(&d);
    }
    as_af_scan_end(&scanner);
    return fine;
}
