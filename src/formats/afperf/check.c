/* Rules that only the validator cares for. */
#include "core/words.h"
#include "formats/afperf/reading.h"

static bool tell(as_af_reading *reading, as_severity severity, size_t offset, const char *rule, const char *text) {
    as_af_problem problem = {.offset = offset, .rule = AS_AF_CHECK, .severity = severity, .check = rule, .text = text};
    return as_af_report(&reading->problems, &problem);
}

static bool report(as_af_reading *reading, size_t offset, const char *rule, const char *text) {
    return tell(reading, AS_WARNING, offset, rule, text);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* What a machine is belongs into measurements: the tags of a run are the user's. */
static bool check_run_tags(as_af_reading *reading, const as_af_run *run) {
    const as_af_capture *capture = reading->capture;
    if (run->tags == AS_AF_NONE) return true;
    const as_af_tag_set *set = &AS_AT(as_af_tag_set, &capture->tag_sets, run->tags);
    for (uint32_t i = 0; i < set->n; i++) {
        const char *name =
            as_ds_text(reading->ds, AS_AT(as_af_tag, &capture->tags, set->first + i).key) + strlen("tag:");
        if (as_is_choice("hostname|cpu|cpu model|cpu_model|cores|os|operating system|operating_system|ram", name))
            return tell(reading, AS_NOTE, run->offset, "afperf-tags",
                        "tags of a run are for what users say of it; what a system is should be a measurement");
    }
    return true;
}

/* Runs name their unit in full, and have the major version of the file. */
static bool check_run(as_af_reading *reading, const as_af_run *run) {
    const char *version = as_ds_text(reading->ds, run->version);
    bool fine = true;
    if (as_is_choice("s|ms|us|ns|\xc2\xb5s|\xce\xbcs", as_ds_text(reading->ds, run->unit)))
        fine = report(reading, run->offset, "afperf-units",
                      "the unit of the timestamps must be seconds, milliseconds, microseconds or nanoseconds, in full");
    if (version[strspn(version, " \t0")] != '1' || version[strspn(version, " \t0") + 1] != '.')
        fine = fine &&
               report(reading, run->offset, "afperf-version", "the run has another major version than the file, 1");
    return fine;
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

/* Words for times that are not those of the format: s, ms, us and ns. */
static bool is_other_time(const char *unit) {
    return as_is_choice("sec|secs|second|msec|usec|nsec|min|minute|minutes|h|hour|hours|day|days|ps|picoseconds", unit);
}

/* bit or B, and before it a prefix of ISO 80000-13 (IEC 60027-2): decimal or binary. */
static bool is_amount_of_data(const char *unit) {
    size_t n = strlen(unit), of = n >= 3 && strcmp(unit + n - 3, "bit") == 0 ? 3 : 1;
    if (n < of || (of == 1 && unit[n - 1] != 'B')) return false;
    n -= of;
    return n == 0 || (n == 1 && strchr("kMGTPEZY", unit[0])) ||
           (n == 2 && strchr("KMGTPEZY", unit[0]) && unit[1] == 'i');
}

static bool is_other_amount(const char *unit) {
    return as_is_choice("KB|Kb|kb|mb|Mb|gb|Gb|tb|b|KBit|byte|bytes|Byte|Bytes|octet|octets|bits|kilobyte|kilobytes|"
                        "megabyte|megabytes|gigabyte|gigabytes|kbyte|Kbyte|kbytes|Kbytes|mbyte|mbytes|kib|mib|gib|kiB",
                        unit);
}

static bool check_units(as_af_reading *reading, const as_af_measure *measure) {
    const char *unit = as_ds_text(reading->ds, measure->unit), *text = NULL;
    as_severity severity = AS_WARNING;
    if (unit[strspn(unit, " \t")] == '\0')
        text = "a measurement must have units";
    else if (strcmp(unit, "text") == 0)
        text = measure->type == AS_AF_STRING ? NULL : "the units 'text' are only for the datatype string";
    else if (strcmp(unit, "count") == 0)
        text = as_af_is_numeric(measure->type) ? NULL : "the units 'count' are only for numeric datatypes";
    else if (is_other_time(unit))
        text = "an unknown unit of time; use s, ms, us or ns";
    else if (is_other_amount(unit))
        text = "no standard unit of an amount of data; use bit or B with k, M, G … (powers of 1000) or Ki, Mi, Gi …";
    else if (!as_is_choice("s|ms|us|ns", unit) && !is_amount_of_data(unit)) {
        severity = AS_NOTE;
        text = "units should be text, count, a unit of time or of an amount of data";
    }
    return !text || tell(reading, severity, measure->offset, "afperf-units", text);
}

static bool check_measure(as_af_reading *reading, const as_af_measure *measure) {
    if (!check_units(reading, measure)) return false;
    return measure->type != AS_AF_OTHER ||
           report(reading, measure->offset, "afperf-datatype",
                  "the datatype is none of double, int32, int64, bool, string and enum; values are taken as text");
}

/* ---- aggregates -------------------------------------------------------------------------------------------------- */

/* What is wrong with whom it belongs to. */
static const char *fault_of_owner(const as_af_datum *datum, bool has_id, bool has_interval) {
    bool is_processed = datum->offset & AS_AF_IS_PROCESSED;
    if (!is_processed)
        return has_id ? NULL
                      : "an aggregate without an aggregation type must have a record id; that of the block is taken";
    if (datum->offset & AS_AF_OWNER_INTERVAL)
        return "an aggregate with an aggregation type must have the id of its run, not of a region or section";
    return !has_id && has_interval ? "an aggregate without a record id should have no section interval id" : NULL;
}

static bool check_datum(as_af_reading *reading, const as_af_datum *datum) {
    as_af_type type = as_af_datum_type(datum);
    const as_af_layout *layout = &as_af_layouts[type];
    if (layout->fields[2].kind != AS_AF_TIME) return true; /* a point */
    as_af_field fields[AS_AF_MOST_FIELDS];
    size_t offset = as_af_offset_of(datum->offset);
    as_af_walker walker = as_af_walk(reading->data, reading->size, offset);
    for (uint8_t i = 0; i < layout->n_fields; i++) as_af_walk_next(&walker, &fields[i]);
    uint64_t start = 0, end = 0;
    as_af_integer(&fields[1], &end);
    as_af_integer(&fields[2], &start);
    bool has_interval = type == AS_AF_SECTION_AGGREGATE && !as_af_is_blank(&fields[4]);
    const char *fault = fault_of_owner(datum, !as_af_is_blank(&fields[3]), has_interval);
    /* Captures may do without ids altogether. */
    as_severity severity = datum->offset & AS_AF_IS_PROCESSED ? AS_WARNING : AS_NOTE;
    if (fault && !tell(reading, severity, offset, "afperf-aggregate", fault)) return false;
    return start <= end || tell(reading, AS_ERROR, offset, "afperf-backwards", "the aggregate ends before it starts");
}

bool as_af_check(as_af_reading *reading) {
    bool fine = true;
    for (size_t i = 0; fine && i < reading->capture->measures.count; i++)
        fine = check_measure(reading, AS_AF_MEASURE(reading->capture, i));
    for (size_t i = 0; fine && i < reading->capture->runs.count; i++) {
        const as_af_run *run = AS_AF_RUN(reading->capture, i);
        if (run->is_defined) fine = check_run(reading, run) && check_run_tags(reading, run);
    }
    for (size_t i = 0; fine && i < reading->capture->data.count; i++)
        fine = check_datum(reading, AS_AF_DATUM(reading->capture, i));
    return fine;
}
