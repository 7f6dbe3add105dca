/* What referred to something that came later, or never; intervals that are never closed. */
#include "formats/afperf/reading.h"

double as_af_since_start(const as_af_run *run, uint64_t time) {
    double units = time >= run->start ? (double)(time - run->start) : -(double)(run->start - time);
    return units / run->per_second;
}

static bool report(as_af_reading *reading, as_af_rule rule, size_t offset, const char *text, bool has_id, uint64_t id) {
    as_af_problem problem = {.offset = offset,
                             .rule = rule,
                             .severity = rule == AS_AF_BACKWARDS ? AS_ERROR : AS_WARNING,
                             .text = text,
                             .number = id,
                             .has_number = has_id};
    return as_af_report(&reading->problems, &problem);
}

static bool report_run(as_af_reading *reading, size_t offset, const as_af_run *run) {
    return report(reading, AS_AF_ORPHAN, offset, "run", run->has_id, run->id);
}

/* ---- records of data --------------------------------------------------------------------------------------------- */

static void see_time(as_af_capture *capture, uint32_t interval, uint64_t time) {
    const as_af_interval *of = AS_AF_INTERVAL(capture, interval);
    uint64_t *latest = as_af_kind_of(of) == AS_AF_REGION ? &AS_AF_RUN(capture, of->run)->latest
                                                         : &AS_AF_SECTION_AT(capture, of->what)->latest;
    if (*latest < time) *latest = time;
}

/* Of a run by the order of blocks. */
static bool resolve_run(as_af_reading *reading, const as_af_waiting *waiting, as_af_datum *datum) {
    as_af_capture *capture = reading->capture;
    uint32_t run = AS_AF_NONE, section = waiting->section;
    if (section != AS_AF_NONE) {
        if (AS_AF_SECTION_AT(capture, section)->is_defined) run = AS_AF_SECTION_AT(capture, section)->run;
    } else {
        uint32_t region = as_af_index_find(&reading->ids, capture, AS_AF_NONE, waiting->id);
        if (region != AS_AF_NONE) run = AS_AF_INTERVAL(capture, region)->run;
    }
    if (run == AS_AF_NONE) return report(reading, AS_AF_ORPHAN, as_af_offset_of(datum->offset), "run", false, 0);
    datum->offset |= AS_AF_OWNER_RUN;
    datum->owner = run;
    if (AS_AF_RUN(capture, run)->latest < waiting->time) AS_AF_RUN(capture, run)->latest = waiting->time;
    return true;
}

static bool resolve_waiting(as_af_reading *reading, const as_af_waiting *waiting) {
    as_af_capture *capture = reading->capture;
    as_af_datum *datum = AS_AF_DATUM(capture, waiting->datum);
    as_af_type type = as_af_datum_type(datum);
    size_t offset = as_af_offset_of(datum->offset);
    bool is_section = type == AS_AF_SECTION_AGGREGATE || type == AS_AF_SECTION_POINT;
    uint32_t section = waiting->section, owner;
    if (type == AS_AF_RUN_POINT || type == AS_AF_RUN_AGGREGATE) return resolve_run(reading, waiting, datum);
    if (datum->offset & AS_AF_IS_PROCESSED) {
        uint32_t run = as_map_get(&capture->run_of, waiting->id);
        if (run != AS_MAP_NONE) {
            datum->offset |= AS_AF_OWNER_RUN;
            datum->owner = run;
            if (AS_AF_RUN(capture, run)->latest < waiting->time) AS_AF_RUN(capture, run)->latest = waiting->time;
            return true;
        }
        if (is_section) section = as_map_get(&capture->section_of, waiting->id);
    }
    if (is_section && section == AS_AF_NONE)
        return report(reading, AS_AF_ORPHAN, offset, "run or section", true, waiting->id);
    owner = as_af_index_find(&reading->ids, capture, section, is_section ? waiting->interval : waiting->id);
    if (owner != AS_AF_NONE) {
        datum->offset |= AS_AF_OWNER_INTERVAL;
        datum->owner = owner;
        see_time(capture, owner, waiting->time);
        return true;
    }
    if (!is_section) return report(reading, AS_AF_ORPHAN, offset, "region", true, waiting->id);
    if (!AS_AF_SECTION_AT(capture, section)->is_defined)
        return report(reading, AS_AF_ORPHAN, offset, "section", true, waiting->id);
    return report(reading, AS_AF_ORPHAN, offset, "interval in the section,", true, waiting->interval);
}

/* Those that belong to a run nobody defines. */
static bool check_owners(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    for (size_t i = 0; i < capture->data.count; i++) {
        const as_af_datum *datum = AS_AF_DATUM(capture, i);
        if (!(datum->offset & AS_AF_OWNER_RUN)) continue;
        const as_af_run *run = AS_AF_RUN(capture, datum->owner);
        if (!run->is_defined && !report_run(reading, as_af_offset_of(datum->offset), run)) return false;
    }
    return true;
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

static bool check_definitions(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    for (size_t i = 0; i < capture->measures.count; i++) {
        const as_af_measure *measure = AS_AF_MEASURE(capture, i);
        const as_af_run *run = AS_AF_RUN(capture, measure->run);
        if (!run->is_defined && !report_run(reading, measure->offset, run)) return false;
    }
    for (size_t i = 0; i < capture->sections.count; i++) {
        const as_af_section *section = AS_AF_SECTION_AT(capture, i);
        if (!section->is_defined) continue;
        as_af_run *run = AS_AF_RUN(capture, section->run);
        if (run->latest < section->latest) run->latest = section->latest;
        if (!run->is_defined && !report_run(reading, section->offset, run)) return false;
    }
    for (size_t i = 0; i < reading->loose_stops.count; i++) {
        const as_af_loose *stop = &AS_AT(as_af_loose, &reading->loose_stops, i);
        const as_af_section *section = AS_AF_SECTION_AT(capture, stop->section);
        if (section->is_defined) continue;
        if (!report(reading, AS_AF_ORPHAN, stop->offset, "section", section->has_id, section->id)) return false;
    }
    for (size_t i = 0; i < reading->pending.count; i++) {
        const as_af_pending *stop = &AS_AT(as_af_pending, &reading->pending, i);
        if (stop->is_taken) continue;
        const as_af_section *section = stop->section == AS_AF_NONE ? NULL : AS_AF_SECTION_AT(capture, stop->section);
        bool names_section = section && !section->is_defined;
        const char *what = !section ? "open region" : names_section ? "section" : "open interval";
        if (!report(reading, AS_AF_ORPHAN, stop->offset, what, true, names_section ? section->id : stop->id))
            return false;
    }
    return true;
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* The run that an interval of a section belongs to, which is that of the section. */
static bool settle_section(as_af_reading *reading, as_af_interval *interval, uint64_t *latest) {
    const as_af_section *section = AS_AF_SECTION_AT(reading->capture, interval->what);
    interval->tags = section->tags;
    interval->run = section->run;
    *latest = section->latest;
    return section->is_defined ||
           report(reading, AS_AF_ORPHAN, as_af_offset_of(interval->offset), "section", section->has_id, section->id);
}

static bool settle_interval(as_af_reading *reading, as_af_interval *interval) {
    static const char *const names[] = {"region", "interval", "pause"};
    enum as_af_kind kind = as_af_kind_of(interval);
    size_t offset = as_af_offset_of(interval->offset);
    bool has_id = !(interval->offset & AS_AF_HAS_NO_ID);
    uint64_t latest = 0;
    if (kind == AS_AF_SECTION && !settle_section(reading, interval, &latest)) return false;
    if (interval->run != AS_AF_NONE) {
        const as_af_run *run = AS_AF_RUN(reading->capture, interval->run);
        latest = run->latest;
        /* Of a section the definition was reported already. */
        if (!run->is_defined && kind != AS_AF_SECTION && !report_run(reading, offset, run)) return false;
    }
    if (interval->offset & AS_AF_IS_OPEN) {
        interval->offset |= AS_AF_IS_CUT;
        interval->end = latest;
        return report(reading, AS_AF_UNFINISHED, offset, names[kind], has_id, interval->id);
    }
    return interval->end >= interval->start ||
           report(reading, AS_AF_BACKWARDS, offset, names[kind], has_id, interval->id);
}

assay_status as_af_resolve(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    bool fine = true;
    for (size_t i = 0; fine && i < reading->waiting.count; i++)
        fine = resolve_waiting(reading, &AS_AT(as_af_waiting, &reading->waiting, i));
    fine = fine && check_definitions(reading) && check_owners(reading);
    for (size_t i = 0; fine && i < capture->intervals.count; i++)
        fine = settle_interval(reading, AS_AF_INTERVAL(capture, i));
    as_vec_free(&reading->waiting);
    as_vec_free(&reading->pending);
    as_map_free(&reading->pending_of);
    as_vec_free(&reading->loose_stops);
    as_af_index_free(&reading->ids);
    return fine ? ASSAY_OK : as_reader_memory(reading->reader);
}
