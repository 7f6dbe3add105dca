/* Rules that only the validator cares for. */
#include "formats/afperf/reading.h"

static bool report(as_af_reading *reading, size_t offset, const char *rule, const char *text) {
    as_af_problem problem = {
        .offset = offset, .rule = AS_AF_CHECK, .severity = AS_WARNING, .check = rule, .text = text};
    return as_af_report(&reading->problems, &problem);
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
    return fine;
}
