#include "analysis/reports.h"

#include <ctype.h>
#include <float.h>
#include <stdlib.h>

#include "core/map.h"

/* ---- the reports ------------------------------------------------------------------------------------------------- */

/* Kinds of events. */
enum { KERNEL, COPY, SET, API, NVTX, OSRT, N_KINDS };
enum { PUSH_POP = 1, START_END = 2 };
enum { DEMANGLED, MANGLED, BYTES, DOMAIN_NAME, STYLE, N_KEYS };

#define BIT(kind) (1u << (kind))
#define MEMORY    (BIT(COPY) | BIT(SET))
#define GPU       (BIT(KERNEL) | MEMORY)

const as_report_kind as_report_kinds[] = {
    {.name = "cuda_gpu_kern_sum",
     .title = "CUDA GPU Kernel Summary",
     .subjects = "CUDA kernels",
     .count = "Instances",
     .label = "Name",
     .kinds = BIT(KERNEL),
     .has_kernels = true},
    {.name = "cuda_api_sum",
     .title = "CUDA API Summary",
     .subjects = "calls of the CUDA API",
     .count = "Num Calls",
     .label = "Name",
     .kinds = BIT(API)},
    {.name = "cuda_gpu_mem_time_sum",
     .title = "CUDA GPU MemOps Summary (by Time)",
     .subjects = "copies or memsets of GPU memory",
     .count = "Count",
     .label = "Operation",
     .kinds = MEMORY},
    {.name = "cuda_gpu_mem_size_sum",
     .title = "CUDA GPU MemOps Summary (by Size)",
     .subjects = "copies or memsets of GPU memory",
     .count = "Count",
     .label = "Operation",
     .kinds = MEMORY,
     .is_size = true},
    {.name = "cuda_gpu_sum",
     .title = "CUDA GPU Summary (Kernels/MemOps)",
     .subjects = "CUDA kernels, copies or memsets",
     .count = "Instances",
     .label = "Operation",
     .kinds = GPU,
     .has_kernels = true,
     .has_category = true},
    {.name = "cuda_api_gpu_sum",
     .title = "CUDA Summary (API/Kernels/MemOps)",
     .subjects = "calls of the CUDA API, kernels, copies or memsets",
     .count = "Instances",
     .label = "Operation",
     .kinds = GPU | BIT(API),
     .has_kernels = true,
     .has_category = true},
    {.name = "nvtx_sum",
     .title = "NVTX Range Summary",
     .subjects = "NVTX ranges",
     .count = "Instances",
     .label = "Range",
     .kinds = BIT(NVTX),
     .styles = PUSH_POP | START_END,
     .has_style = true},
    {.name = "nvtx_pushpop_sum",
     .title = "NVTX Push/Pop Range Summary",
     .subjects = "NVTX push/pop ranges",
     .count = "Instances",
     .label = "Range",
     .kinds = BIT(NVTX),
     .styles = PUSH_POP},
    {.name = "nvtx_startend_sum",
     .title = "NVTX Start/End Range Summary",
     .subjects = "NVTX start/end ranges",
     .count = "Instances",
     .label = "Range",
     .kinds = BIT(NVTX),
     .styles = START_END},
    {.name = "osrt_sum",
     .title = "OS Runtime Summary",
     .subjects = "calls of the OS runtime",
     .count = "Num Calls",
     .label = "Name",
     .kinds = BIT(OSRT)},
    {.name = NULL},
};

bool as_report_parse(const char *text, const as_report_kind **kind, as_report_names *names) {
    const char *colon = strchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : strlen(text);
    *names = AS_NAMES_DEMANGLED;
    for (*kind = as_report_kinds; (*kind)->name; ++*kind) {
        if (strlen((*kind)->name) != size || memcmp((*kind)->name, text, size) != 0) continue;
        if (!colon) return true;
        *names = strcmp(colon, ":base") == 0 ? AS_NAMES_BASE : AS_NAMES_MANGLED;
        return (*kind)->has_kernels && (*names == AS_NAMES_BASE || strcmp(colon, ":mangled") == 0);
    }
    return false;
}

/* ---- names of rows ----------------------------------------------------------------------------------------------- */

typedef struct reporter {
    const as_report_request *request;
    const as_dataset *ds;
    as_report *report;
    as_str kinds[N_KINDS]; /* of events; AS_NO_STR: there are none, or they are not asked for */
    as_event_values values;
    as_map row_of[N_KINDS];  /* what tells activities of one kind apart in the dataset -> row */
    as_map row_named;        /* name and what kind of thing it names -> row */
    as_map domains;          /* the address of a domain's name -> its number, from 1 */
    as_vec rows_of, amounts; /* uint32_t, double: of each activity */
    as_vec text;             /* char: a name that is put together */
} reporter;

/* "cudaMalloc" of "cudaMalloc_v3020": the version of the API, where it has four digits. "_v2" is a part of the name,
 * and nsys stats leaves "_v10000" as well. */
static size_t without_version(const char *name, size_t size) {
    enum { SUFFIX = 6 };
    if (size <= SUFFIX || memcmp(name + size - SUFFIX, "_v", 2) != 0) return size;
    for (size_t i = size - 4; i < size; i++) {
        if (!isdigit((unsigned char)name[i])) return size;
    }
    return size - SUFFIX;
}

/* "Host-to-Device" of "HOST_TO_DEVICE". */
static bool name_copy(const char *name, as_vec *out) {
    static const char *const words[][2] = {{"UNKNOWN", "Unknown"},
                                           {"HOST_TO_DEVICE", "Host-to-Device"},
                                           {"DEVICE_TO_HOST", "Device-to-Host"},
                                           {"HOST_TO_DEVICE_ARRAY", "Host-to-Array"},
                                           {"DEVICE_ARRAY_TO_HOST", "Array-to-Host"},
                                           {"DEVICE_ARRAY_TO_DEVICE_ARRAY", "Array-to-Array"},
                                           {"DEVICE_ARRAY_TO_DEVICE", "Array-to-Device"},
                                           {"DEVICE_TO_DEVICE_ARRAY", "Device-to-Array"},
                                           {"DEVICE_TO_DEVICE", "Device-to-Device"},
                                           {"HOST_TO_HOST", "Host-to-Host"},
                                           {"PEER_TO_PEER", "Peer-to-Peer"},
                                           {"UMA_HOST_TO_DEVICE", "Unified Host-to-Device"},
                                           {"UMA_DEVICE_TO_HOST", "Unified Device-to-Host"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i][0]) == 0) name = words[i][1];
    }
    return as_vec_text(out, "[CUDA memcpy ") && as_vec_text(out, name) && as_vec_text(out, "]");
}

/* What a row of this activity is called, into r->text. */
static bool name_row(reporter *r, unsigned kind, const char *name, const char *domain) {
    r->text.count = 0;
    switch (kind) {
    case API: return as_vec_append(&r->text, name, without_version(name, strlen(name)));
    case COPY: return name_copy(name, &r->text);
    case SET: return as_vec_text(&r->text, "[CUDA memset]");
    case NVTX: return as_vec_text(&r->text, domain) && as_vec_text(&r->text, ":") && as_vec_text(&r->text, name);
    default: return as_vec_text(&r->text, name);
    }
}

/* The row of a name that is new to the dataset's side: one that another name led to already, or a new one. AS_MAP_NONE
 * when memory is out. */
static uint32_t add_row(reporter *r, unsigned kind, unsigned style, const char *name, const char *domain) {
    as_vec *rows = &r->report->rows;
    if (!name_row(r, kind, name, domain)) return AS_MAP_NONE;
    as_str named = as_intern(&r->report->names, r->text.data ? r->text.data : "", r->text.count);
    if (named == AS_NO_STR) return AS_MAP_NONE;
    unsigned category = kind == SET ? COPY : kind;
    uint64_t key = as_pair(category << 2 | style, named);
    uint32_t known = as_map_get(&r->row_named, key);
    if (known != AS_MAP_NONE) return known;
    static const char *const categories[N_KINDS] = {
        [KERNEL] = "CUDA_KERNEL", [COPY] = "MEMORY_OPER", [API] = "CUDA_API"};
    as_report_row row = {.name = as_str_text(&r->report->names, named)};
    if (r->request->kind->has_category) row.category = categories[category];
    if (r->request->kind->has_style) row.style = style == START_END ? "StartEnd" : "PushPop";
    uint32_t at = (uint32_t)rows->count;
    return as_vec_append(rows, &row, 1) && as_map_put(&r->row_named, key, at) ? at : AS_MAP_NONE;
}

/* ---- activities -------------------------------------------------------------------------------------------------- */

double as_event_nanoseconds(const as_event *event) {
    double seconds = event->end - event->start, length = seconds * 1e9;
    if (event->start_raw.type == AS_CELL_INT && event->end_raw.type == AS_CELL_INT) {
        as_whole raw = (as_whole)event->end_raw.i - event->start_raw.i;
        /* Seconds since a distant moment may be rounded by more than a ns: what is stored is ns where it is the same
         * but for that */
        double rounding = 4 * DBL_EPSILON * (fabs(event->start) + fabs(event->end)) * 1e9 + 0.5;
        if (fabs((double)raw - length) <= rounding) length = (double)raw;
    }
    return length > 0 ? length : 0;
}

/* The text of an attribute, which has one address wherever it is the same; NULL: there is none. */
static const char *text_of(const reporter *r, uint64_t event, size_t key) {
    as_cell cell;
    return as_event_value(&r->values, event, key, &cell) && cell.type == AS_CELL_TEXT ? cell.text : NULL;
}

static const char *kernel_name(const reporter *r, uint64_t event, const as_event *about) {
    as_report_names names = r->request->names;
    const char *name = names == AS_NAMES_MANGLED ? text_of(r, event, MANGLED) : NULL;
    if (!name && names != AS_NAMES_BASE) name = text_of(r, event, DEMANGLED);
    return name ? name : as_ds_text(r->ds, about->name);
}

/* A small number for the address of a domain's name; 0: none, or memory is out. */
static uint32_t domain_number(reporter *r, const char *domain, bool *fine) {
    if (!domain) return 0;
    uint32_t known = as_map_get(&r->domains, (uintptr_t)domain);
    if (known != AS_MAP_NONE) return known;
    known = (uint32_t)r->domains.count + 1;
    *fine = as_map_put(&r->domains, (uintptr_t)domain, known);
    return known;
}

static unsigned style_of(const reporter *r, uint64_t event) {
    const char *style = text_of(r, event, STYLE);
    if (style && strcmp(style, "Mark") == 0) return 0;
    return style && strcmp(style, "StartEnd") == 0 ? START_END : PUSH_POP;
}

/* The row of an activity. AS_MAP_NONE: it is not asked for, or memory is out (*fine). */
static uint32_t find_row(reporter *r, unsigned kind, uint64_t event, const as_event *about, bool *fine) {
    unsigned style = 0;
    const char *name = as_ds_text(r->ds, about->name), *domain = NULL;
    uint64_t key = about->name;
    if (kind == KERNEL) {
        name = kernel_name(r, event, about);
        key = (uintptr_t)name;
    } else if (kind == NVTX) {
        style = style_of(r, event);
        if (!(style & r->request->kind->styles)) return AS_MAP_NONE;
        domain = text_of(r, event, DOMAIN_NAME);
        key = as_pair(domain_number(r, domain, fine) << 2 | style, about->name);
    }
    if (!*fine) return AS_MAP_NONE;
    uint32_t row = as_map_get(&r->row_of[kind], key);
    if (row != AS_MAP_NONE) return row;
    row = add_row(r, kind, style, name ? name : "", domain ? domain : "");
    *fine = row != AS_MAP_NONE && as_map_put(&r->row_of[kind], key, row);
    return row;
}

static bool is_wanted(const reporter *r, const as_event *event) {
    const as_report_request *request = r->request;
    if (isnan(event->start) || isnan(event->end)) return false;
    if (request->runs && (event->run == ASSAY_NONE || !request->runs[event->run])) return false;
    return !request->locations || (event->location != ASSAY_NONE && request->locations[event->location]);
}

static bool take_event(reporter *r, uint64_t id) {
    as_event event;
    as_ds_event(r->ds, id, &event);
    unsigned kind = 0;
    while (kind < N_KINDS && r->kinds[kind] != event.kind) kind++;
    if (kind == N_KINDS || !is_wanted(r, &event)) return true;
    double amount = as_event_nanoseconds(&event);
    if (r->request->kind->is_size) {
        as_cell bytes;
        if (!as_event_value(&r->values, id, BYTES, &bytes)) return true;
        amount = bytes.type == AS_CELL_INT ? (double)bytes.i : bytes.type == AS_CELL_UINT ? (double)bytes.u : 0;
    }
    bool fine = true;
    uint32_t row = find_row(r, kind, id, &event, &fine);
    if (!fine || row == AS_MAP_NONE) return fine;
    return as_vec_append(&r->rows_of, &row, 1) && as_vec_append(&r->amounts, &amount, 1);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static void describe(as_report_row *row, double *amounts) {
    as_measurement m;
    size_t n = row->n;
    row->total = 0;
    for (size_t i = 0; i < n; i++) row->total += amounts[i]; /* whole numbers: exact up to 2^53, 104 days of ns */
    as_statistics(amounts, n, &m);
    row->mean = row->total / (double)n;
    row->median = m.median;
    row->minimum = m.minimum;
    row->maximum = m.maximum;
    row->deviation = n > 1 ? m.std * sqrt((double)n / (double)(n - 1)) : 0;
}

/* Amounts sorted by row, by counting. */
static bool describe_all(reporter *r) {
    as_report_row *rows = r->report->rows.data;
    const uint32_t *row_of = r->rows_of.data;
    const double *amounts = r->amounts.data;
    size_t n = r->amounts.count, n_rows = r->report->rows.count;
    uint64_t bytes = n * sizeof(double) + (n_rows + 1) * sizeof(size_t);
    if (!as_budget_take(as_ds_budget(r->ds), bytes)) return false;
    double *sorted = malloc(n * sizeof *sorted + 1);
    size_t *next = calloc(n_rows + 1, sizeof *next);
    bool fine = sorted && next;
    for (size_t i = 0; fine && i < n; i++) rows[row_of[i]].n++;
    for (size_t i = 0; fine && i < n_rows; i++) next[i + 1] = next[i] + rows[i].n;
    for (size_t i = 0; fine && i < n; i++) sorted[next[row_of[i]]++] = amounts[i];
    double all = 0;
    for (size_t i = 0; fine && i < n_rows; i++) {
        describe(&rows[i], sorted + next[i] - rows[i].n);
        all += rows[i].total;
    }
    for (size_t i = 0; fine && i < n_rows; i++) rows[i].share = all > 0 ? rows[i].total / all : 0;
    free(sorted);
    free(next);
    as_budget_give(as_ds_budget(r->ds), bytes);
    return fine;
}

static int compare_rows(const void *a, const void *b) {
    const as_report_row *x = a, *y = b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (!order && x->category) order = strcmp(x->category, y->category);
    if (!order && x->style) order = strcmp(x->style, y->style);
    return order;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool open_reporter(reporter *r) {
    static const char *const kinds[N_KINDS] = {
        [KERNEL] = "kernel", [COPY] = "memcpy", [SET] = "memset", [API] = "api", [NVTX] = "nvtx", [OSRT] = "osrt"};
    static const char *const keys[N_KEYS] = {[DEMANGLED] = "demangled_name",
                                             [MANGLED] = "mangled_name",
                                             [BYTES] = "bytes",
                                             [DOMAIN_NAME] = "domain",
                                             [STYLE] = "style"};
    as_budget *budget = as_ds_budget(r->ds);
    for (unsigned i = 0; i < N_KINDS; i++) {
        bool is_asked = r->request->kind->kinds & BIT(i);
        r->kinds[i] = is_asked ? as_find(&r->ds->strings, kinds[i], strlen(kinds[i])) : AS_NO_STR;
    }
    for (unsigned i = 0; i < N_KINDS; i++) as_map_init(&r->row_of[i], budget);
    as_map_init(&r->row_named, budget);
    as_map_init(&r->domains, budget);
    as_vec_init(&r->rows_of, sizeof(uint32_t), budget);
    as_vec_init(&r->amounts, sizeof(double), budget);
    as_vec_init(&r->text, 1, NULL);
    return as_event_values_open(&r->values, r->ds, keys, N_KEYS);
}

static void close_reporter(reporter *r) {
    for (unsigned i = 0; i < N_KINDS; i++) as_map_free(&r->row_of[i]);
    as_map_free(&r->row_named);
    as_map_free(&r->domains);
    as_vec_free(&r->rows_of);
    as_vec_free(&r->amounts);
    as_vec_free(&r->text);
    as_event_values_close(&r->values);
}

assay_status as_report_make(const as_report_request *request, as_report *out, assay_error *error) {
    reporter r = {.request = request, .ds = request->ds, .report = out};
    as_arena_init(&out->arena, as_ds_budget(r.ds));
    as_strings_init(&out->names, &out->arena);
    as_vec_init(&out->rows, sizeof(as_report_row), as_ds_budget(r.ds));
    bool fine = open_reporter(&r);
    for (uint64_t i = 0, n = as_ds_intervals(r.ds); fine && i < n; i++) fine = take_event(&r, i);
    fine = fine && describe_all(&r);
    close_reporter(&r);
    if (!fine) return as_fail_memory(error, NULL);
    if (out->rows.count) qsort(out->rows.data, out->rows.count, sizeof(as_report_row), compare_rows);
    return ASSAY_OK;
}

void as_report_free(as_report *report) {
    as_vec_free(&report->rows);
    as_strings_free(&report->names);
    as_arena_free(&report->arena);
}
