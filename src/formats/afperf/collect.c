/* Items in the order of the file become intervals and records of data that know whom they belong to. See reading.h. */
#include "formats/afperf/reading.h"

/* ---- runs and sections ------------------------------------------------------------------------------------------- */

static void see_time(as_af_run *run, uint64_t time) {
    if (run->latest < time) run->latest = time;
}

/* Which run a section is of may come later. */
static void see_section_time(as_af_section *section, uint64_t time) {
    if (section->latest < time) section->latest = time;
}

/* The region records of a run that come in the order of time say by themselves which region is inside which. */
static void see_order(as_af_run *run, uint64_t time) {
    if (time < run->last_time) run->is_unordered = true;
    run->last_time = time;
}

static bool report_orphan(as_af_reading *reading, size_t offset, const char *what, const uint64_t *id) {
    as_af_problem problem = {.offset = offset,
                             .rule = AS_AF_ORPHAN,
                             .severity = AS_WARNING,
                             .text = what,
                             .number = id ? *id : 0,
                             .has_number = id != NULL};
    return as_af_report(&reading->problems, &problem);
}

static uint32_t section_of_item(as_af_reading *reading, const as_af_item *item) {
    if (item->flags & AS_AF_BLANK_ID) return reading->current_section;
    return as_af_section_named(reading, item->id, item->offset);
}

/* ---- stops before their starts ----------------------------------------------------------------------------------- */

/* Key of the map: nobody can choose ids whose keys are the same. */
static uint64_t pending_key(uint32_t section, uint64_t id) {
    uint64_t both[2] = {id, section};
    return as_hash(both, sizeof both);
}

static bool keep_stop(as_af_reading *reading, uint32_t section, const as_af_item *item) {
    as_af_pending stop = {.id = section == AS_AF_NONE ? item->id : item->interval,
                          .time = item->time,
                          .offset = item->offset,
                          .section = section,
                          .next = AS_AF_NONE};
    uint32_t index = (uint32_t)reading->pending.count;
    uint64_t key = pending_key(section, stop.id);
    uint32_t first = as_map_get(&reading->pending_of, key);
    if (reading->pending.count >= AS_AF_NONE) return false;
    if (first != AS_MAP_NONE) stop.next = first; /* the latest first: which one is meant nobody can say */
    reading->block = AS_AF_PENDING_BLOCK;
    reading->block_index = index;
    return as_vec_append(&reading->pending, &stop, 1) && as_map_put(&reading->pending_of, key, index);
}

/* The stop that was waiting for this start, or NULL. */
static as_af_pending *take_stop(as_af_reading *reading, uint32_t section, uint64_t id) {
    if (!reading->pending.count) return NULL;
    uint64_t key = pending_key(section, id);
    uint32_t first = as_map_get(&reading->pending_of, key), at = first;
    while (at != AS_AF_NONE) {
        as_af_pending *stop = &AS_AT(as_af_pending, &reading->pending, at);
        if (!stop->is_taken && stop->id == id && stop->section == section) {
            stop->is_taken = true;
            if (at == first && stop->next != AS_AF_NONE) as_map_put(&reading->pending_of, key, stop->next);
            return stop;
        }
        at = stop->next;
    }
    return NULL;
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* The innermost open interval of a list; those that were closed meanwhile are taken off. */
static uint32_t innermost(as_af_capture *capture, uint32_t *head) {
    while (*head != AS_AF_NONE && !(AS_AF_INTERVAL(capture, *head)->offset & AS_AF_IS_OPEN))
        *head = AS_AF_INTERVAL(capture, *head)->cell;
    return *head;
}

static uint32_t latest_of_sections(as_af_reading *reading) {
    uint32_t *head = &reading->open_section_interval;
    while (*head != AS_AF_NONE && !(AS_AF_INTERVAL(reading->capture, *head)->offset & AS_AF_IS_OPEN))
        *head = AS_AF_INTERVAL(reading->capture, *head)->tags;
    return *head;
}

static bool report_duplicate(as_af_reading *reading, const as_af_interval *interval) {
    as_af_problem problem = {.offset = as_af_offset_of(interval->offset),
                             .rule = AS_AF_DUPLICATE,
                             .severity = AS_WARNING,
                             .text = as_af_kind_of(interval) == AS_AF_REGION ? "region" : "interval",
                             .number = interval->id,
                             .has_number = true};
    return as_af_report(&reading->problems, &problem);
}

/* An interval that begins; it is closed at once where its stop came before it. */
static bool open_interval(as_af_reading *reading, as_af_interval *interval, bool has_id) {
    as_af_capture *capture = reading->capture;
    uint32_t index = (uint32_t)capture->intervals.count, before = AS_AF_NONE;
    uint32_t section = as_af_kind_of(interval) == AS_AF_SECTION ? interval->what : AS_AF_NONE;
    interval->offset |= AS_AF_IS_OPEN | (has_id ? 0 : AS_AF_HAS_NO_ID);
    if (capture->intervals.count >= AS_AF_NONE - 1 || !as_vec_append(&capture->intervals, interval, 1)) return false;
    reading->block = AS_AF_INTERVAL_BLOCK;
    reading->block_index = index;
    if (!has_id) return true;
    as_af_pending *stop = take_stop(reading, section, interval->id);
    if (!as_af_index_put(&reading->ids, capture, index, &before)) return false;
    as_af_interval *own = AS_AF_INTERVAL(capture, index);
    if (stop) {
        own->end = stop->time;
        own->offset &= ~AS_AF_IS_OPEN;
        if (section == AS_AF_NONE) {
            AS_AF_RUN(capture, own->run)->is_unordered = true;
            see_time(AS_AF_RUN(capture, own->run), stop->time);
        } else {
            as_af_loose loose = {stop->offset, section};
            as_af_section *of = AS_AF_SECTION_AT(capture, section);
            see_section_time(of, stop->time);
            if (!of->is_defined && !as_vec_append(&reading->loose_stops, &loose, 1)) return false;
        }
    }
    /* An id that was used before is a riddle while that interval is open; else only the validator cares. */
    bool is_riddle = before != AS_AF_NONE && (AS_AF_INTERVAL(capture, before)->offset & AS_AF_IS_OPEN);
    return before == AS_AF_NONE || !(is_riddle || reading->reader->keep_going) || report_duplicate(reading, own);
}

static bool start_region(as_af_reading *reading, const as_af_item *item) {
    uint32_t run = item->flags & AS_AF_BLANK_RUN ? as_af_run_before(reading, item->offset)
                                                 : as_af_run_named(reading, item->run, item->offset);
    if (run == AS_AF_NONE) return false;
    as_af_run *of = AS_AF_RUN(reading->capture, run);
    see_time(of, item->time);
    see_order(of, item->time);
    uint32_t outer = innermost(reading->capture, &of->open);
    of->open = (uint32_t)reading->capture->intervals.count;
    reading->block_run = run;
    as_af_interval interval = {.start = item->time,
                               .id = item->id,
                               .offset = item->offset | (uint64_t)AS_AF_REGION << AS_AF_KIND_SHIFT,
                               .what = AS_AT(as_str, &reading->names, item->label),
                               .run = run,
                               .cell = outer,
                               .tags =
                                   item->tags == AS_AF_NONE ? AS_AF_NONE : AS_AT(uint32_t, &reading->sets, item->tags)};
    return open_interval(reading, &interval, !(item->flags & AS_AF_BLANK_ID));
}

static bool stop_region(as_af_reading *reading, const as_af_item *item) {
    as_af_capture *capture = reading->capture;
    bool is_blank = item->flags & AS_AF_BLANK_ID;
    uint32_t index = AS_AF_NONE;
    if (reading->block_run != AS_AF_NONE) {
        index = innermost(capture, &AS_AF_RUN(capture, reading->block_run)->open);
        if (!is_blank && index != AS_AF_NONE && AS_AF_INTERVAL(capture, index)->id != item->id) index = AS_AF_NONE;
        if (!is_blank && index != AS_AF_NONE && AS_AF_INTERVAL(capture, index)->offset & AS_AF_HAS_NO_ID)
            index = AS_AF_NONE;
    }
    if (is_blank && index == AS_AF_NONE) {
        reading->block = AS_AF_NO_BLOCK;
        return report_orphan(reading, item->offset, "open region to stop", NULL);
    }
    if (index == AS_AF_NONE) index = as_af_index_find(&reading->ids, capture, AS_AF_NONE, item->id);
    if (index == AS_AF_NONE || !(AS_AF_INTERVAL(capture, index)->offset & AS_AF_IS_OPEN))
        return keep_stop(reading, AS_AF_NONE, item);
    as_af_interval *interval = AS_AF_INTERVAL(capture, index);
    as_af_run *run = AS_AF_RUN(capture, interval->run);
    interval->end = item->time;
    interval->offset &= ~AS_AF_IS_OPEN;
    see_time(run, item->time);
    see_order(run, item->time);
    reading->block_run = interval->run;
    reading->block = AS_AF_INTERVAL_BLOCK;
    reading->block_index = index;
    return true;
}

static bool start_section_interval(as_af_reading *reading, const as_af_item *item) {
    uint32_t index = section_of_item(reading, item);
    if (index == AS_AF_NONE && !(item->flags & AS_AF_BLANK_ID)) return false;
    if (index == AS_AF_NONE) {
        reading->block = AS_AF_NO_BLOCK;
        return report_orphan(reading, item->offset, "section", NULL);
    }
    as_af_section *section = AS_AF_SECTION_AT(reading->capture, index);
    see_section_time(section, item->time);
    uint32_t outer = innermost(reading->capture, &section->open), latest = latest_of_sections(reading);
    section->open = reading->open_section_interval = (uint32_t)reading->capture->intervals.count;
    as_af_interval interval = {.start = item->time,
                               .id = item->interval,
                               .offset = item->offset | (uint64_t)AS_AF_SECTION << AS_AF_KIND_SHIFT,
                               .what = index,
                               .run = AS_AF_NONE,
                               .cell = outer,
                               .tags = latest};
    return open_interval(reading, &interval, !(item->flags & AS_AF_BLANK_INTERVAL));
}

static bool stop_section_interval(as_af_reading *reading, const as_af_item *item) {
    as_af_capture *capture = reading->capture;
    bool no_section = item->flags & AS_AF_BLANK_ID, no_interval = item->flags & AS_AF_BLANK_INTERVAL;
    uint32_t index, section = section_of_item(reading, item);
    if (section == AS_AF_NONE && !no_section) return false;
    if (no_section && no_interval)
        index = latest_of_sections(reading);
    else if (section == AS_AF_NONE)
        index = AS_AF_NONE;
    else if (no_interval)
        index = innermost(capture, &AS_AF_SECTION_AT(capture, section)->open);
    else
        index = as_af_index_find(&reading->ids, capture, section, item->interval);
    bool is_open = index != AS_AF_NONE && AS_AF_INTERVAL(capture, index)->offset & AS_AF_IS_OPEN;
    if (!is_open && (no_interval || section == AS_AF_NONE)) {
        reading->block = AS_AF_NO_BLOCK;
        return report_orphan(reading, item->offset, "open interval to stop", NULL);
    }
    if (!is_open) return keep_stop(reading, section, item);
    as_af_interval *interval = AS_AF_INTERVAL(capture, index);
    as_af_section *of = AS_AF_SECTION_AT(capture, interval->what);
    interval->end = item->time;
    interval->offset &= ~AS_AF_IS_OPEN;
    see_section_time(of, item->time);
    reading->block = AS_AF_INTERVAL_BLOCK;
    reading->block_index = index;
    if (of->is_defined) return true;
    as_af_loose loose = {item->offset, interval->what};
    return as_vec_append(&reading->loose_stops, &loose, 1);
}

static bool add_pause(as_af_reading *reading, const as_af_item *item) {
    uint32_t run = item->flags & AS_AF_BLANK_ID ? as_af_run_before(reading, item->offset)
                                                : as_af_run_named(reading, item->id, item->offset);
    if (run == AS_AF_NONE) return false;
    as_af_run *of = AS_AF_RUN(reading->capture, run);
    see_time(of, item->time);
    see_time(of, item->start);
    of->n_pauses++;
    as_af_interval interval = {.start = item->start,
                               .end = item->time,
                               .offset = item->offset | (uint64_t)AS_AF_PAUSE << AS_AF_KIND_SHIFT | AS_AF_HAS_NO_ID,
                               .what = AS_NO_STR,
                               .run = run,
                               .cell = AS_AF_NONE,
                               .tags = AS_AF_NONE};
    return reading->capture->intervals.count < AS_AF_NONE - 1 &&
           as_vec_append(&reading->capture->intervals, &interval, 1);
}

/* ---- records of data --------------------------------------------------------------------------------------------- */

static bool is_of_run(uint8_t type) { return type == AS_AF_RUN_POINT || type == AS_AF_RUN_AGGREGATE; }
static bool is_of_region(uint8_t type) { return type == AS_AF_REGION_POINT || type == AS_AF_REGION_AGGREGATE; }

static void own(as_af_reading *reading, as_af_datum *datum, uint64_t flag, uint32_t owner, uint64_t time) {
    as_af_capture *capture = reading->capture;
    datum->offset |= flag;
    datum->owner = owner;
    if (flag == AS_AF_OWNER_RUN) {
        see_time(AS_AF_RUN(capture, owner), time);
        return;
    }
    const as_af_interval *interval = AS_AF_INTERVAL(capture, owner);
    if (as_af_kind_of(interval) == AS_AF_REGION)
        see_time(AS_AF_RUN(capture, interval->run), time);
    else
        see_section_time(AS_AF_SECTION_AT(capture, interval->what), time);
}

/* A record that waits for its owner until all is read. */
static bool wait_for(as_af_reading *reading, as_af_datum *datum, const as_af_waiting *waiting) {
    datum->owner = AS_AF_NONE;
    return as_vec_append(&reading->waiting, waiting, 1);
}

/* A record of the run that the latest record which starts or stops something is of. */
static bool own_by_run_of_block(as_af_reading *reading, const as_af_item *item, as_af_datum *datum) {
    as_af_capture *capture = reading->capture;
    as_af_waiting waiting = {.time = item->time, .datum = (uint32_t)capture->data.count, .section = AS_AF_NONE};
    uint32_t run = reading->block_index;
    if (reading->block == AS_AF_NO_BLOCK) return report_orphan(reading, item->offset, "run", NULL);
    if (reading->block == AS_AF_PENDING_BLOCK) {
        const as_af_pending *stop = &AS_AT(as_af_pending, &reading->pending, reading->block_index);
        waiting.id = stop->id;
        waiting.section = stop->section;
        return wait_for(reading, datum, &waiting);
    }
    if (reading->block == AS_AF_INTERVAL_BLOCK) {
        const as_af_interval *interval = AS_AF_INTERVAL(capture, reading->block_index);
        waiting.section = as_af_kind_of(interval) == AS_AF_SECTION ? interval->what : AS_AF_NONE;
        if (waiting.section == AS_AF_NONE)
            run = interval->run;
        else if (AS_AF_SECTION_AT(capture, waiting.section)->is_defined)
            run = AS_AF_SECTION_AT(capture, waiting.section)->run;
        else
            return wait_for(reading, datum, &waiting);
    }
    own(reading, datum, AS_AF_OWNER_RUN, run, item->time);
    return true;
}

/* Block order: whom the latest record that starts or stops something is about. */
static bool own_by_block(as_af_reading *reading, const as_af_item *item, as_af_datum *datum) {
    as_af_capture *capture = reading->capture;
    if (is_of_run(item->type) && !(item->flags & AS_AF_PROCESSED)) return own_by_run_of_block(reading, item, datum);
    if (item->flags & AS_AF_PROCESSED) {
        uint32_t run = as_af_run_before(reading, item->offset);
        if (run == AS_AF_NONE) return false;
        own(reading, datum, AS_AF_OWNER_RUN, run, item->time);
        return true;
    }
    bool wants_region = is_of_region(item->type);
    if (reading->block == AS_AF_INTERVAL_BLOCK) {
        const as_af_interval *interval = AS_AF_INTERVAL(capture, reading->block_index);
        if ((as_af_kind_of(interval) == AS_AF_REGION) == wants_region) {
            own(reading, datum, AS_AF_OWNER_INTERVAL, reading->block_index, item->time);
            return true;
        }
    } else if (reading->block == AS_AF_PENDING_BLOCK) {
        const as_af_pending *stop = &AS_AT(as_af_pending, &reading->pending, reading->block_index);
        as_af_waiting waiting = {.id = stop->id,
                                 .interval = stop->id,
                                 .time = item->time,
                                 .datum = (uint32_t)capture->data.count,
                                 .section = stop->section};
        if ((stop->section == AS_AF_NONE) == wants_region) return wait_for(reading, datum, &waiting);
    }
    return report_orphan(reading, item->offset, wants_region ? "region" : "section interval", NULL);
}

/* The interval that a record of data names; AS_AF_NONE: not there so far. */
static uint32_t interval_named(as_af_reading *reading, const as_af_item *item, uint32_t section) {
    as_af_capture *capture = reading->capture;
    if (reading->block == AS_AF_INTERVAL_BLOCK) { /* mostly the one just started or stopped */
        const as_af_interval *near = AS_AF_INTERVAL(capture, reading->block_index);
        bool is_region = as_af_kind_of(near) == AS_AF_REGION;
        if (section == AS_AF_NONE ? is_region && near->id == item->id && !(near->offset & AS_AF_HAS_NO_ID)
                                  : !is_region && near->what == section &&
                                        (item->flags & AS_AF_BLANK_INTERVAL ||
                                         (near->id == item->interval && !(near->offset & AS_AF_HAS_NO_ID))))
            return reading->block_index;
    }
    if (section != AS_AF_NONE && item->flags & AS_AF_BLANK_INTERVAL) return AS_AF_NONE;
    return as_af_index_find(&reading->ids, capture, section, section == AS_AF_NONE ? item->id : item->interval);
}

static bool own_by_id(as_af_reading *reading, const as_af_item *item, as_af_datum *datum) {
    as_af_capture *capture = reading->capture;
    as_af_waiting waiting = {.id = item->id,
                             .interval = item->interval,
                             .time = item->time,
                             .datum = (uint32_t)capture->data.count,
                             .section = AS_AF_NONE};
    if (item->flags & AS_AF_PROCESSED &&
        !is_of_run(item->type)) { /* a run's, or against the rules a region's or section's */
        uint32_t run = as_map_get(&capture->run_of, item->id);
        if (run == AS_MAP_NONE) return wait_for(reading, datum, &waiting);
        own(reading, datum, AS_AF_OWNER_RUN, run, item->time);
        return true;
    }
    if (is_of_run(item->type)) {
        uint32_t run = as_af_run_named(reading, item->id, item->offset);
        if (run == AS_AF_NONE) return false;
        own(reading, datum, AS_AF_OWNER_RUN, run, item->time);
        return true;
    }
    if (!is_of_region(item->type)) {
        waiting.section = as_af_section_named(reading, item->id, item->offset);
        if (waiting.section == AS_AF_NONE) return false;
    }
    uint32_t index = interval_named(reading, item, waiting.section);
    if (index == AS_AF_NONE && waiting.section != AS_AF_NONE && item->flags & AS_AF_BLANK_INTERVAL) {
        index = innermost(capture, &AS_AF_SECTION_AT(capture, waiting.section)->open);
        if (index == AS_AF_NONE) return report_orphan(reading, item->offset, "open interval in section", &item->id);
    }
    if (index == AS_AF_NONE) return wait_for(reading, datum, &waiting);
    own(reading, datum, AS_AF_OWNER_INTERVAL, index, item->time);
    return true;
}

static bool add_datum(as_af_reading *reading, const as_af_item *item) {
    as_af_capture *capture = reading->capture;
    as_af_datum datum = {.offset = item->offset | (uint64_t)item->type << AS_AF_TYPE_SHIFT,
                         .owner = AS_AF_NONE,
                         .n_pairs = item->n_pairs};
    if (item->flags & AS_AF_PROCESSED) datum.offset |= AS_AF_IS_PROCESSED;
    bool is_blank = item->flags & AS_AF_BLANK_ID;
    if (!(is_blank ? own_by_block(reading, item, &datum) : own_by_id(reading, item, &datum))) return false;
    return capture->data.count < AS_AF_NONE - 1 && as_vec_append(&capture->data, &datum, 1);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static bool take_item(as_af_reading *reading, const as_af_item *item) {
    switch (item->type) {
    case AS_AF_REGION_START: return start_region(reading, item);
    case AS_AF_REGION_STOP: return stop_region(reading, item);
    case AS_AF_SECTION_START: return start_section_interval(reading, item);
    case AS_AF_SECTION_STOP: return stop_section_interval(reading, item);
    case AS_AF_PAUSE_RESUME: return add_pause(reading, item);
    case AS_AF_RUN_INFO:
    case AS_AF_MEASUREMENT_TYPE:
    case AS_AF_SECTION_INFO:
    case AS_AF_UNKNOWN: return as_af_define(reading, (as_af_type)item->type, item->offset);
    default: return add_datum(reading, item);
    }
}

/* Which texts of the piece are labels and which are tags only the items know. */
static bool name_texts(as_af_reading *reading, const as_af_piece *piece) {
    size_t n = piece->texts.count;
    reading->names.count = reading->sets.count = 0;
    if (!as_vec_reserve(&reading->names, n + 1) || !as_vec_reserve(&reading->sets, n + 1)) return false;
    for (size_t i = 0; i < n; i++) {
        AS_AT(as_str, &reading->names, i) = AS_NO_STR;
        AS_AT(uint32_t, &reading->sets, i) = AS_AF_NONE;
    }
    const as_af_item *items = piece->items.data;
    for (size_t i = 0; i < piece->items.count; i++) {
        if (items[i].type != AS_AF_REGION_START) continue;
        as_str *name = &AS_AT(as_str, &reading->names, items[i].label);
        if (*name == AS_NO_STR && !as_af_intern(reading, &AS_AT(as_af_text, &piece->texts, items[i].label).field, name))
            return false;
        if (items[i].tags == AS_AF_NONE) continue;
        uint32_t *set = &AS_AT(uint32_t, &reading->sets, items[i].tags);
        if (*set == AS_AF_NONE && !as_af_tags_of(reading, &AS_AT(as_af_text, &piece->texts, items[i].tags).field, set))
            return false;
    }
    return true;
}

bool as_af_collect(as_af_reading *reading, const as_af_piece *piece) {
    if (!name_texts(reading, piece)) return false;
    const as_af_item *items = piece->items.data;
    for (size_t i = 0; i < piece->items.count; i++) {
        if (!take_item(reading, &items[i])) return false;
    }
    for (int type = 0; type < AS_AF_N_TYPES; type++) {
        if (!piece->extra[type].count) continue;
        if (!reading->extra[type].count) reading->extra[type].offset = piece->extra[type].offset;
        reading->extra[type].count += piece->extra[type].count;
    }
    return as_af_problems_append(&reading->problems, &piece->problems);
}
