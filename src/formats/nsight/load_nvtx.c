/* NVTX: ranges and marks, and what their rows say of domains and threads. */
#include "formats/nsight/load.h"

enum {
    MARK = 34,
    THREAD_NAME = 39,
    PUSH_POP = 59,
    START_END = 60,
    TEXT_PUSH_POP = 70,
    TEXT_START_END = 71,
    DOMAIN = 75
};
enum { BY_ID, BY_TEXT }; /* the first word of a name; the second: an id of StringIds, or of the part's texts */

static const char *const columns[] = {"start", "end", "eventType", "globalTid", "domainId", "textId", "text"};
enum { START, END, TYPE, THREAD, NUMBER, TEXT_ID, N_INTS, TEXT = N_INTS };

/* The number of the row's text among the part's names; AS_NS_NONE: it has none. */
static as_ns_taken take_text(as_ns_part *part, const as_scan *scan, int64_t id, uint32_t *out) {
    as_scan_type type = as_scan_type_of(scan, TEXT);
    int64_t key[] = {BY_ID, id};
    *out = AS_NS_NONE;
    if (type == AS_SCAN_TEXT || type == AS_SCAN_BLOB) {
        if (!part->texts.arena) as_strings_init(&part->texts, &part->arena);
        size_t size;
        const char *text = as_scan_text(scan, TEXT, &size);
        as_str stored = as_intern(&part->texts, text, size);
        if (stored == AS_NO_STR) return AS_NS_MEMORY;
        key[0] = BY_TEXT;
        key[1] = stored;
    } else if (type != AS_SCAN_NULL) {
        return AS_NS_WRONG;
    } else if (id == AS_NS_NULL) {
        return AS_NS_TAKEN;
    }
    *out = as_ns_keys_number(&part->names, key);
    return *out == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static as_ns_taken declare(as_ns_part *part, const int64_t *cells, uint32_t name) {
    as_ns_declared *declared = as_vec_push(&part->declared);
    if (!declared) return AS_NS_MEMORY;
    *declared = (as_ns_declared){cells[TYPE], cells[THREAD], cells[NUMBER], name};
    return AS_NS_OTHER;
}

static as_ns_taken take_range(as_ns_part *part, const as_scan *scan, void *row) {
    as_ns_range *range = row;
    int64_t cells[N_INTS], type;
    if (!as_ns_ints(scan, 0, N_INTS, cells) || (type = cells[TYPE]) == AS_NS_NULL) return AS_NS_WRONG;
    bool is_range = type == PUSH_POP || type == START_END || type == TEXT_PUSH_POP || type == TEXT_START_END;
    if (!is_range && type != MARK && type != THREAD_NAME && type != DOMAIN) return AS_NS_OTHER;
    as_ns_taken taken = take_text(part, scan, cells[TEXT_ID], &range->name);
    if (taken != AS_NS_TAKEN) return taken;
    if (range->name == AS_NS_NONE) {
        part->n_unnamed += is_range || type == MARK;
        return AS_NS_OTHER;
    }
    if (!is_range && type != MARK) return declare(part, cells, range->name);
    if (!as_ns_take_span(part, cells[START], type == MARK ? AS_NS_OPEN : cells[END], &range->span)) return AS_NS_WRONG;
    part->n_open += is_range && range->span.end == AS_NS_OPEN;
    range->type = (uint32_t)type;
    range->thread = as_ns_keys_number(&part->places, &cells[THREAD]);
    range->domain = as_ns_keys_number(&part->shapes, (int64_t[]){cells[THREAD], cells[NUMBER]});
    range->context = ASSAY_NONE;
    return range->thread == AS_NS_NONE || range->domain == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *stored_text(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, size_t *size) {
    if (key[0] == BY_ID) return as_ns_stored_string(loading->x, key[1], size);
    *size = as_str_size(&part->texts, (as_str)key[1]);
    return as_str_text(&part->texts, (as_str)key[1]);
}

static bool number_text(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    as_ns_export *x = loading->x;
    size_t size;
    const char *text = stored_text(loading, part, key, &size);
    as_ns_range_text *range = as_vec_push(&loading->range_texts);
    if (!range) return false;
    bool is_encoded = text && size && text[0] == '\x1f';
    range->name = !text        ? as_ns_string(x, key[1]) /* that it is missing */
                  : is_encoded ? as_ns_path_text(x, text, size)
                               : as_ns_fit_name(x, text, size, false);
    const char *path = text ? text : as_ds_text(x->ds, range->name);
    range->path = path ? as_intern(&x->symbols.stored, path, text ? size : strlen(path)) : AS_NO_STR;
    *out = (uint32_t)(loading->range_texts.count - 1);
    return range->name != AS_NO_STR && range->path != AS_NO_STR;
}

/* ---- domains ----------------------------------------------------------------------------------------------------- */

/* Of which process: row + 1; 0: the export does not say. */
static bool process_number(as_ns_export *x, int64_t thread, uint32_t *out) {
    *out = 0;
    if (thread == AS_NS_NULL || thread == 0) return true;
    uint32_t process = as_ns_process_of(x, (uint64_t)thread);
    *out = process + 1;
    return process != AS_NS_NONE;
}

static uint32_t find_domain(const as_ns_loading *loading, uint32_t process, int64_t number) {
    if (number < 0 || number > UINT32_MAX) return AS_NS_NONE;
    uint32_t row = as_map_get(&loading->domains, as_pair(process, (uint32_t)number));
    return row != AS_MAP_NONE || !process ? row : as_map_get(&loading->domains, as_pair(0, (uint32_t)number));
}

/* The first one of a number counts. */
static bool add_domain(as_ns_loading *loading, const as_ns_declared *declared, as_str name, as_str stored) {
    as_ns_export *x = loading->x;
    uint32_t process, number = (uint32_t)declared->domain;
    if (declared->domain < 0 || declared->domain > UINT32_MAX) return true;
    if (!process_number(x, declared->thread, &process)) return false;
    if (as_map_get(&loading->domains, as_pair(process, number)) != AS_MAP_NONE) return true;
    as_ns_domain *domain = as_vec_push(&x->domains);
    if (!domain) return false;
    *domain = (as_ns_domain){
        .process = process - 1,
        .id = number,
        .name = name,
        .is_extra_prof = strcmp(as_str_text(&x->symbols.stored, stored), "de.tu-darmstadt.parallel.extra_prof") == 0};
    return as_map_put(&loading->domains, as_pair(process, number), (uint32_t)(x->domains.count - 1));
}

static bool declare_all(as_ns_loading *loading, as_ns_part *part) {
    for (size_t i = 0; i < part->declared.count; i++) {
        const as_ns_declared *declared = &AS_AT(as_ns_declared, &part->declared, i);
        const as_ns_range_text *text = &AS_AT(as_ns_range_text, &loading->range_texts, part->name_of[declared->name]);
        bool fine = declared->type == DOMAIN
                        ? add_domain(loading, declared, text->name, text->path)
                        : declared->thread == AS_NS_NULL ||
                              as_map_put(&loading->thread_names, (uint64_t)declared->thread, text->name);
        if (!fine) return false;
    }
    return true;
}

static bool number_domain(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    (void)part;
    uint32_t process;
    if (!process_number(loading->x, key[0], &process)) return false;
    *out = find_domain(loading, process, key[1]);
    return true;
}

static void settle_range(const as_ns_part *part, void *row) {
    as_ns_range *range = row;
    const as_ns_loading *loading = part->loading;
    const as_ns_range_text *text = &AS_AT(as_ns_range_text, &loading->range_texts, part->name_of[range->name]);
    range->thread = part->place_of[range->thread];
    range->domain = part->shape_of[range->domain];
    range->name = text->name;
    bool is_region = range->type == PUSH_POP && range->domain != AS_NS_NONE &&
                     AS_NS_AT(as_ns_domain, loading->x, domains, range->domain)->is_extra_prof;
    range->path = is_region ? text->path : AS_NO_STR;
}

const as_ns_source as_ns_load_ranges = {.table = "NVTX_EVENTS",
                                        AS_NS_COLUMNS(columns),
                                        .rows = offsetof(as_ns_export, ranges),
                                        .name_words = 2,
                                        .shape_words = 2,
                                        .take = take_range,
                                        .settle = settle_range,
                                        .name = number_text,
                                        .shape = number_domain,
                                        .declare = declare_all};
