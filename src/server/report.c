#include "server/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base64.h"
#include "io/gzip.h"
#include "io/json.h"
#include "render/plot_text.h"
#include "server/web.h"

enum {
    FRAME_SIZE = 8192,     /* what is around the page's own parts and the data */
    MOST_KEPT = 512 << 20, /* bytes of tables and columns meanwhile */
    /* Levels of packing: to see how much it is, and to write it, which of much data takes longer than all else */
    QUICK = 6,
    BETTER = 7,
    SMALL = 10,
    MUCH = 4 << 20,
    LITTLE_ROOM = 1 << 20, /* packed: then it is worth to know at once how small it will be */
    FEW = 16               /* answers that are not worth being packed together to see how much they are */
};

/* An answer that is there: what was asked for, or that there is no such thing. */
typedef struct answered {
    char *request;
    bool is_refused;
} answered;

struct as_html_report {
    as_viewing *viewing;
    uint64_t most;    /* packed bytes that there is room for */
    uint64_t limit;   /* of the answers, as they are counted: a little less */
    uint64_t packed;  /* of the answers so far, each on its own: together they take less */
    uint64_t until;   /* of them, with what is kept of the input at hand */
    uint64_t room;    /* that there was for it */
    size_t input;     /* at hand; the number of inputs: several are */
    as_output *data;  /* "request":answer,… */
    as_vec page_data; /* char: all of it, packed */
    as_vec kept;      /* answered: what is there */
    as_vec notes;     /* char *, ended by NULL */
    as_output *has;   /* {…},…: what the page is told of the inputs */
    as_output *text;  /* the summary for who has no script */
    as_output *title;
    as_output *last; /* the answer last asked for, what for, and how much it takes packed; NULL: there was none */
    char *last_name;
    size_t last_size;
    bool last_refused;
    assay_error failure; /* the first; its code is ASSAY_OK where there was none */
};

/* The title of the page; NULL: nobody gave one, and it is "a.cubex, b.cubex". */
static void add_title(as_output *out, const as_viewing *viewing, const char *title) {
    enum { MOST_NAMES = 8 };
    if (title) return as_svg_escape(out, title, strlen(title));
    size_t n = as_viewing_inputs(viewing);
    for (size_t i = 0; i < n && i < MOST_NAMES; i++) {
        const char *name = as_view_input_name(as_viewing_input(viewing, i));
        if (i) as_output_text(out, ", ");
        as_svg_escape(out, name, strlen(name));
    }
    if (n > MOST_NAMES) as_output_printf(out, " and %zu more", n - MOST_NAMES);
}

/* What the page says without its script. */
static bool add_summary(as_output *out, const as_viewing *viewing) {
    enum { MOST_SUMMARIES = 8 };
    size_t n = as_viewing_inputs(viewing);
    bool fine = true;
    for (size_t i = 0; fine && i < n && i < MOST_SUMMARIES; i++)
        fine = as_html_report_text(as_viewing_input(viewing, i), out);
    if (n > MOST_SUMMARIES) as_output_printf(out, "<p>And %zu more inputs.</p>\n", n - MOST_SUMMARIES);
    return fine;
}

as_html_report *as_html_report_new(as_viewing *viewing, const char *title, uint64_t limit) {
    as_html_report *report = calloc(1, sizeof *report);
    if (!report) return NULL;
    report->viewing = viewing;
    as_viewing_spend(viewing, MOST_KEPT);
    report->data = as_output_to_memory();
    report->has = as_output_to_memory();
    report->text = as_output_to_memory();
    report->title = as_output_to_memory();
    as_vec_init(&report->page_data, sizeof(char), NULL);
    as_vec_init(&report->kept, sizeof(answered), NULL);
    as_vec_init(&report->notes, sizeof(char *), NULL);
    if (!report->data || !report->has || !report->text || !report->title || !as_vec_push(&report->notes) ||
        !add_summary(report->text, viewing)) {
        as_html_report_free(report);
        return NULL;
    }
    add_title(report->title, viewing, title);
    uint64_t fixed = as_web_report_js.size + as_web_css.size + 2 * as_output_size(report->title) + FRAME_SIZE;
    if (fixed + 2 * as_output_size(report->text) > limit) as_output_clear(report->text); /* the data says it all */
    fixed += as_output_size(report->text);
    report->most = limit > fixed ? (limit - fixed) / 4 * 3 : 0; /* base64 takes four bytes for three */
    report->until = report->limit = report->most - report->most / 64;
    return report;
}

bool as_html_report_has_room(const as_html_report *report) { return report->limit > 0; }

/* Nothing is kept or noted. */
static void forget(as_html_report *report) {
    for (size_t i = 0; i < report->kept.count; i++) free(AS_AT(answered, &report->kept, i).request);
    for (size_t i = 0; i < report->notes.count; i++) free(AS_AT(char *, &report->notes, i));
    report->kept.count = report->notes.count = 0;
    report->packed = 0;
}

void as_html_report_free(as_html_report *report) {
    if (!report) return;
    as_output_discard(report->data);
    as_output_discard(report->has);
    as_output_discard(report->text);
    as_output_discard(report->title);
    as_output_discard(report->last);
    free(report->last_name);
    forget(report);
    as_vec_free(&report->page_data);
    as_vec_free(&report->kept);
    as_vec_free(&report->notes);
    free(report);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* As encodeURIComponent() of the page does it. */
static void add_encoded(as_output *out, const char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-_.!~*'()", c);
        if (is_plain)
            as_output_char(out, (char)c);
        else
            as_output_printf(out, "%%%02X", c);
    }
}

/* "tree?d=0&view=flat": what the page calls the request, to be freed; NULL when memory is out. sorted has the
 * parameters by name. */
static char *canonical(const char *path, const as_vec *sorted) {
    as_output *out = as_output_to_memory();
    size_t size;
    if (!out) return NULL;
    as_output_printf(out, "%s?", path);
    for (size_t i = 0; i < sorted->count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, sorted, i);
        if (i) as_output_char(out, '&');
        add_encoded(out, parameter->name);
        as_output_char(out, '=');
        add_encoded(out, parameter->value);
    }
    const char *text = as_output_memory(out, &size);
    char *copy = text ? strdup(text) : NULL;
    as_output_discard(out);
    return copy;
}

/* By name; those of one name stay in their order. The first input has no number. */
static bool sort_parameters(const as_parameter *parameters, size_t n, as_vec *out) {
    as_vec_init(out, sizeof(as_parameter), NULL);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(parameters[i].name, "d") == 0 && strcmp(parameters[i].value, "0") == 0) continue;
        if (!as_vec_append(out, &parameters[i], 1)) return false;
        for (size_t k = out->count - 1; k > 0; k--) {
            as_parameter *a = &AS_AT(as_parameter, out, k - 1), *b = &AS_AT(as_parameter, out, k), swap = *a;
            if (strcmp(a->name, b->name) <= 0) break;
            *a = *b;
            *b = swap;
        }
    }
    return true;
}

static const answered *find_kept(const as_html_report *report, const char *request) {
    for (size_t i = 0; i < report->kept.count; i++) {
        const answered *at = &AS_AT(answered, &report->kept, i);
        if (strcmp(at->request, request) == 0) return at;
    }
    return NULL;
}

static bool does_not_apply(const assay_error *error) {
    return error && (error->code == ASSAY_E_USAGE || error->code == ASSAY_E_UNSUPPORTED);
}

void as_html_report_fail(as_html_report *report, const assay_error *error) {
    if (does_not_apply(error) || report->failure.code != ASSAY_OK) return;
    if (error)
        report->failure = *error;
    else
        as_fail_memory(&report->failure, NULL);
}

/* How much a text takes packed; 0 when memory is out. */
static size_t packed_size(const as_html_report *report, const char *text, size_t size) {
    as_vec packed;
    as_vec_init(&packed, sizeof(char), NULL);
    size_t n = as_gzip(text, size, report->limit < LITTLE_ROOM ? SMALL : QUICK, &packed) ? packed.count : 0;
    as_vec_free(&packed);
    return n;
}

/* The answer last asked for, under the request's name, which it takes over. */
static void add_last(as_html_report *report, char *name) {
    answered added = {name, report->last_refused};
    size_t size;
    const char *answer = as_output_memory(report->last, &size);
    if (!answer || !as_vec_append(&report->kept, &added, 1)) {
        free(name);
        return as_html_report_fail(report, NULL);
    }
    if (as_output_size(report->data)) as_output_char(report->data, ',');
    as_json_write_string(report->data, name, strlen(name));
    as_output_char(report->data, ':');
    as_output_write(report->data, answer, size);
    report->packed += report->last_size;
}

/* The answer and how much it takes packed; false: there is none, and there will be no report. What was just asked is
 * not asked again. */
static bool ask(as_html_report *report, const char *name, const as_request *request) {
    size_t size;
    if (report->last_name && report->last_size && strcmp(report->last_name, name) == 0) return true;
    free(report->last_name);
    report->last_name = strdup(name);
    as_output_discard(report->last);
    report->last_size = 0;
    report->last_refused = false;
    report->last = as_output_to_memory();
    assay_error error = {.code = ASSAY_OK};
    if (report->last && as_request_answer(report->viewing, request, report->last, &error) != 200) {
        report->last_refused = does_not_apply(&error);
        as_html_report_fail(report, &error);
        if (!report->last_refused) return false;
    }
    const char *answer = report->last ? as_output_memory(report->last, &size) : NULL;
    report->last_size = answer ? packed_size(report, answer, size) : 0;
    if (report->last_size == 0) as_html_report_fail(report, NULL);
    return report->last_size > 0;
}

as_html_report_kept as_html_report_keep_part(as_html_report *report, const char *path, const as_parameter *parameters,
                                             size_t n, double part) {
    as_request request = {.path = path, .body = ""};
    as_html_report_kept result = AS_REPORT_REFUSED;
    char *name = sort_parameters(parameters, n, &request.parameters) ? canonical(path, &request.parameters) : NULL;
    const answered *kept = name ? find_kept(report, name) : NULL;
    if (!name) as_html_report_fail(report, NULL);
    if (kept) {
        as_output_discard(report->last); /* nobody takes another's answer for this one's */
        report->last = NULL;
        report->last_size = 0;
        report->last_refused = kept->is_refused;
        result = kept->is_refused ? AS_REPORT_REFUSED : AS_REPORT_KEPT;
    } else if (name && ask(report, name, &request)) {
        bool fits = (double)report->last_size <= floor((double)as_html_report_left(report) * part);
        result = report->last_refused ? AS_REPORT_REFUSED : fits ? AS_REPORT_KEPT : AS_REPORT_TOO_LARGE;
        if (fits) {
            add_last(report, name);
            name = NULL;
        }
    }
    free(name);
    as_vec_free(&request.parameters);
    return result;
}

as_html_report_kept as_html_report_keep(as_html_report *report, const char *path, const as_parameter *parameters,
                                        size_t n) {
    return as_html_report_keep_part(report, path, parameters, n, 1);
}

const char *as_html_report_keep_first(as_html_report *report, const char *path, const as_parameter *parameters,
                                      size_t n, const char *name, const char *const *values, double part) {
    as_vec all;
    as_html_report_kept kept = AS_REPORT_TOO_LARGE;
    as_parameter more = {name, NULL};
    as_vec_init(&all, sizeof(as_parameter), NULL);
    bool fine = as_vec_append(&all, parameters, n) && as_vec_append(&all, &more, 1);
    if (!fine) as_html_report_fail(report, NULL);
    for (; fine && *values && kept == AS_REPORT_TOO_LARGE; values++) {
        AS_AT(as_parameter, &all, n).value = *values;
        kept = as_html_report_keep_part(report, path, all.data, all.count, part);
    }
    as_vec_free(&all);
    return kept == AS_REPORT_KEPT ? values[-1] : NULL;
}

bool as_html_report_last_refused(const as_html_report *report) { return report->last_refused; }

uint64_t as_html_report_last_size(const as_html_report *report) { return report->last_size; }

double as_html_report_last_number(const as_html_report *report, const char *key) {
    char quoted[80];
    size_t size;
    const char *answer = report->last ? as_output_memory(report->last, &size) : NULL;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at =
        answer ? strstr(answer, quoted) : NULL; /* within texts its quotes would have a backslash before them */
    as_number number;
    if (!at) return NAN;
    at += strlen(quoted);
    at += *at == ' ';
    return as_number_parse(at, strspn(at, "0123456789+-.eE"), &number) ? as_number_real(number) : NAN;
}

void as_html_report_tell_metrics(as_html_report *report, const assay_id *metrics, size_t n) {
    as_output *out = report->has;
    as_output_printf(out, "%s{\"id\":%zu,\"metrics\":[", as_output_size(out) ? "," : "", report->input);
    for (size_t i = 0; i < n; i++) as_output_printf(out, "%s%u", i ? "," : "", metrics[i]);
    as_output_text(out, "]}");
}

uint64_t as_html_report_room(const as_html_report *report) { return report->room; }

uint64_t as_html_report_left(const as_html_report *report) {
    return report->packed < report->until ? report->until - report->packed : 0;
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

void as_html_report_note(as_html_report *report, const char *format, ...) {
    char *text = NULL, *none = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    if (!text) as_html_report_fail(report, NULL);
    if (!text || report->notes.count == 0) return;
    AS_AT(char *, &report->notes, report->notes.count - 1) = text;
    report->packed += strlen(text); /* at most: names from files may be long */
    if (!as_vec_append(&report->notes, &none, 1)) as_html_report_fail(report, NULL);
}

const char *const *as_html_report_notes(const as_html_report *report) { return report->notes.data; }

/* ---- all screens ------------------------------------------------------------------------------------------------- */

const as_view_input *as_html_report_input(const as_html_report *report, size_t *number) {
    *number = report->input;
    return report->input < as_viewing_inputs(report->viewing) ? as_viewing_input(report->viewing, report->input) : NULL;
}

/* Many small answers take less together than each by itself, in which all names and keys are new. */
static void count_together(as_html_report *report, uint64_t packed, size_t from, size_t n_kept) {
    size_t size;
    const char *data = as_output_memory(report->data, &size);
    if (!data || report->kept.count < n_kept + FEW) return;
    size_t together = packed_size(report, data + from, size - from);
    if (together == 0) return as_html_report_fail(report, NULL);
    if (packed + together < report->packed) report->packed = packed + together;
}

static void ask_endpoints(as_html_report *report) {
    for (const as_endpoint *const *at = as_endpoints; *at; at++) {
        uint64_t packed = report->packed;
        size_t from = as_output_size(report->data), n_kept = report->kept.count;
        if (!(*at)->report) continue;
        (*at)->report(report->viewing, report);
        count_together(report, packed, from, n_kept);
    }
}

static void gather_once(as_html_report *report) {
    size_t n = as_viewing_inputs(report->viewing), shares = n > 1;
    as_html_report_keep(report, "inputs", NULL, 0);
    for (size_t i = 0; i < n; i++) shares += as_viewing_input(report->viewing, i)->ds != NULL;
    for (report->input = 0; report->input < n; report->input++) {
        if (!as_viewing_input(report->viewing, report->input)->ds) continue;
        report->room = (report->limit > report->packed ? report->limit - report->packed : 0) / shares--;
        report->until = report->packed + report->room;
        ask_endpoints(report);
    }
    report->until = report->limit;
    if (n > 1) ask_endpoints(report);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* {"request":answer,…,"report?":{"notes":[…],"inputs":[…]}}, packed. False when memory is out. */
static bool pack(as_html_report *report) {
    as_output *all = as_output_to_memory();
    size_t size;
    if (!all) return false;
    const char *data = as_output_memory(report->data, &size);
    as_output_char(all, '{');
    if (data) as_output_write(all, data, size);
    as_output_text(all, size ? ",\"report?\":{\"notes\":[" : "\"report?\":{\"notes\":[");
    for (const char *const *note = as_html_report_notes(report); *note; note++) {
        if (note != as_html_report_notes(report)) as_output_char(all, ',');
        as_json_write_string(all, *note, strlen(*note));
    }
    const char *has = as_output_memory(report->has, &size);
    as_output_text(all, "],\"inputs\":[");
    if (has) as_output_write(all, has, size);
    as_output_text(all, "]}}");
    const char *text = as_output_memory(all, &size);
    int level = size < MUCH || report->limit < LITTLE_ROOM ? SMALL : BETTER;
    report->page_data.count = 0;
    bool fine = data && has && text && as_gzip(text, size, level, &report->page_data);
    as_output_discard(all);
    return fine;
}

/* Answers are counted one by one: all together they may take a little more than they were to, though they hardly ever
 * do. */
void as_html_report_gather(as_html_report *report) {
    enum { TRIES = 6 };
    for (int i = 0; i < TRIES; i++) {
        gather_once(report);
        if (!pack(report)) as_html_report_fail(report, NULL);
        if (report->failure.code != ASSAY_OK || report->page_data.count <= report->most) return;
        forget(report);
        as_output_clear(report->data);
        as_output_clear(report->has);
        if (!as_vec_push(&report->notes)) return as_html_report_fail(report, NULL);
        report->limit -= report->limit / 32 * (uint64_t)(i + 1);
        report->until = report->limit;
    }
    as_fail(&report->failure, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "the report has no room for its data");
}

assay_status as_html_report_write(as_html_report *report, as_output *out, assay_error *error) {
    size_t size, title_size;
    const char *text = as_output_memory(report->text, &size), *title = as_output_memory(report->title, &title_size);
    if (!text || !title) {
        as_html_report_fail(report, NULL);
        *error = report->failure;
        return error->code;
    }
    as_output_printf(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
        "style-src 'sha256-%s'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"assay %s\">\n<title>",
        as_web_report_js.sha256, as_web_css.sha256, assay_version());
    as_output_write(out, title, title_size);
    as_output_text(out, "</title>\n<style>");
    as_output_write(out, as_web_css.bytes, as_web_css.size);
    as_output_text(out, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n<noscript>\n<h1>");
    as_output_write(out, title, title_size);
    as_output_text(out, "</h1>\n");
    as_output_write(out, text, size);
    as_output_text(out, "<p>This is a summary: with a browser that may run its script the report has more.</p>\n"
                        "</noscript>\n<script type=\"application/gzip\" id=\"assay-data\">");
    as_base64(out, report->page_data.data, report->page_data.count);
    as_output_text(out, "</script>\n<script type=\"module\">");
    as_output_write(out, as_web_report_js.bytes, as_web_report_js.size);
    as_output_text(out, "</script>\n</body>\n</html>\n");
    *error = report->failure;
    return error->code;
}
