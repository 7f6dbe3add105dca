/* Rules that only the validator cares for. */
#include "core/words.h"
#include "formats/afperf/reading.h"

static bool report(as_af_reading *reading, size_t offset, const char *rule, const char *text) {
    as_af_problem problem = {
        .offset = offset, .rule = AS_AF_CHECK, .severity = AS_WARNING, .check = rule, .text = text};
    return as_af_report(&reading->problems, &problem);
}

/* Words for times that are not those of the format: s, ms, us and ns. */
static bool is_other_time(const char *unit) {
    return as_is_choice("sec|secs|second|msec|usec|nsec|min|minute|minutes|h|hour|hours|day|days|ps|picoseconds", unit);
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

/* A processed aggregate belongs to its run. */
static bool check_datum(as_af_reading *reading, const as_af_datum *datum) {
    if (!(datum->offset & AS_AF_IS_PROCESSED) || !(datum->offset & AS_AF_OWNER_INTERVAL)) return true;
    return report(reading, as_af_offset_of(datum->offset), "afperf-aggregate",
                  "an aggregate with an aggregation type must have the id of its run, not of a region or section");
}

static bool check_measure(as_af_reading *reading, const as_af_measure *measure) {
    const char *unit = as_ds_text(reading->ds, measure->unit);
    bool fine = true;
    if (!*unit) fine = report(reading, measure->offset, "afperf-units", "a measurement must have units");
    if (strcmp(unit, "text") == 0 && measure->type != AS_AF_STRING)
        fine = fine &&
               report(reading, measure->offset, "afperf-units", "the units 'text' are only for the datatype string");
    if (strcmp(unit, "count") == 0 && !as_af_is_numeric(measure->type))
        fine = fine &&
               report(reading, measure->offset, "afperf-units", "the units 'count' are only for numeric datatypes");
    if (is_other_time(unit))
        fine = fine && report(reading, measure->offset, "afperf-units", "an unknown unit of time; use s, ms, us or ns");
    if (measure->type == AS_AF_OTHER)
        fine = fine &&
               report(reading, measure->offset, "afperf-datatype",
                      "the datatype is none of double, int32, int64, bool, string and enum; values are taken as text");
    return fine;
}

bool as_af_check(as_af_reading *reading) {
    bool fine = true;
    for (size_t i = 0; fine && i < reading->capture->measures.count; i++)
        fine = check_measure(reading, AS_AF_MEASURE(reading->capture, i));
    for (size_t i = 0; fine && i < reading->capture->runs.count; i++) {
        const as_af_run *run = AS_AF_RUN(reading->capture, i);
        if (run->is_defined) fine = check_run(reading, run);
    }
    for (size_t i = 0; fine && i < reading->capture->data.count; i++)
        fine = check_datum(reading, AS_AF_DATUM(reading->capture, i));
    return fine;
}
