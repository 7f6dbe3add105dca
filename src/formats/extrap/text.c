/* extrap-text: Extra-P's line-based input. One pass over the mapped bytes; lines and numbers are never copied.
 *
 *   PARAMETER p q                names of the parameters
 *   POINTS (1 2) (3 4)           where was measured; also ((1) (2)) ((3) (4)) and, for one parameter, 1 3
 *   METRIC time                  of the DATA that follow; without one: ''
 *   REGION main->solve           their call path; without one: ''
 *   DATA 1.5 1.6                 the repetitions at the next point; METRIC and REGION start again at the first one
 *   # five runs, idle machine    kept as the attribute "comment" of the dataset, a line each
 */
#include <math.h>

#include "core/number.h"
#include "core/utf8.h"
#include "dataset/experiment.h"
#include "formats/extrap/limits.h"
#include "formats/extrap/text.h"
#include "formats/format.h"

enum { PROGRESS_BYTES = 1 << 18 };

/* A broken rule was recorded as a problem (keep_going): the rest of the line is left, the next one is read. */
#define STEP_OVER ((assay_status)1)

typedef struct text_reader {
    as_reader *reader;
    as_experiment *experiment;
    const char *line, *end; /* the current line, without its end */
    uint32_t line_number;

    as_vec points;           /* assay_id as listed, repeated ones too */
    as_vec coordinates;      /* double: of the point being read */
    as_vec name;             /* char: a name whose blanks had to be changed */
    as_vec comment;          /* char: all comments so far, a line each */
    assay_id metric, region; /* ASSAY_NONE: none named yet */
    size_t next_point;       /* index into points: where the next DATA belongs */
    bool has_data, has_comment, points_are_faulty, no_points_was_said;
} text_reader;

static bool begins_digits(char c) { return (c >= '0' && c <= '9') || c == '.'; }
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at)) at++;
    return at;
}

static const char *skip_word(const char *at, const char *end) {
    while (at < end && !is_blank(*at)) at++;
    return at;
}

static as_place place_of(const text_reader *t, const char *at) {
    return (as_place){.path = t->reader->input->path,
                      .offset = at - t->reader->input->data,
                      .line = t->line_number,
                      .column = (uint32_t)(at - t->line) + 1};
}

/* as_broken() at a place of the current line. */
#define BROKEN(t, at, ...)                                                                                             \
    (as_broken((t)->reader, place_of(t, at), __VA_ARGS__) == ASSAY_OK ? STEP_OVER : ASSAY_E_FORMAT)

/* For messages: at most 40 bytes of a word. */
static int shown(const char *begin, const char *end) { return end - begin > 40 ? 40 : (int)(end - begin); }

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Copies begin…end to t->name, runs of blanks becoming one. */
static bool collapse_blanks(text_reader *t, const char *begin, const char *end) {
    t->name.count = 0;
    if (!as_vec_reserve(&t->name, (size_t)(end - begin))) return false;
    char *out = t->name.data;
    for (const char *at = begin; at < end;) {
        if (is_blank(*at)) {
            *out++ = ' ';
            at = skip_blanks(at, end);
        } else {
            *out++ = *at++;
        }
    }
    t->name.count = (size_t)(out - (char *)t->name.data);
    return true;
}

static assay_status check_text(text_reader *t, const char *begin, const char *end) {
    const char *nul = memchr(begin, '\0', (size_t)(end - begin));
    if (nul) return BROKEN(t, nul, "nul-byte", "a NUL byte in a name; this is no text file");
    const char *bad = as_utf8_invalid(begin, (size_t)(end - begin));
    if (!bad) return ASSAY_OK;
    return BROKEN(t, bad, "utf-8", "the name is not UTF-8 (byte 0x%02x); convert the file to UTF-8",
                  (unsigned char)*bad);
}

/* The rest of the line from at on as a name: without blanks around it, runs of them being one. Points into the line,
 * or to t->name. */
static assay_status read_name(text_reader *t, const char *at, const char **name, size_t *size) {
    const char *begin = skip_blanks(at, t->end), *end = t->end;
    while (end > begin && is_blank(end[-1])) end--;
    bool plain = true, ascii = true;
    for (const char *c = begin; c < end; c++) {
        if (is_blank(*c) && (*c != ' ' || is_blank(c[1]))) plain = false; /* c[1] is there: the last one is no blank */
        if ((signed char)*c <= 0) ascii = false;
    }
    if (!ascii) AS_TRY(check_text(t, begin, end));
    if (!plain && !collapse_blanks(t, begin, end)) return as_reader_memory(t->reader);
    *name = plain ? begin : t->name.data;
    *size = plain ? (size_t)(end - begin) : t->name.count;
    return ASSAY_OK;
}

/* ---- the sections ------------------------------------------------------------------------------------------------ */

static assay_status read_parameters(text_reader *t, const char *keyword, const char *at) {
    as_dataset *ds = t->reader->dataset;
    const char *word = skip_blanks(at, t->end);
    if (word == t->end) return BROKEN(t, keyword, "no-parameters", "PARAMETER without a name");
    while (word < t->end) {
        const char *end = skip_word(word, t->end);
        AS_TRY(check_text(t, word, end));
        size_t before = as_ds_parameters(ds);
        if (before == AS_EXTRAP_MAX_PARAMETERS)
            return BROKEN(t, word, "too-many-parameters", "more than %d parameters", AS_EXTRAP_MAX_PARAMETERS);
        as_str name = as_ds_intern(ds, word, (size_t)(end - word));
        if (name == AS_NO_STR) return as_reader_memory(t->reader);
        if (t->points.count) {
            bool known = false;
            for (size_t i = 0; i < before; i++) known |= AS_AT(as_str, &ds->parameters, i) == name;
            if (!known)
                return BROKEN(t, word, "parameter-after-points",
                              "parameter '%.*s' after POINTS; name all parameters first", shown(word, end), word);
        } else if (as_add_parameter(ds, name) == ASSAY_NONE) {
            return as_reader_memory(t->reader);
        }
        word = skip_blanks(end, t->end);
    }
    return ASSAY_OK;
}

/* The point of t->coordinates goes to the list. */
static assay_status add_point(text_reader *t, const char *begin) {
    size_t n = as_ds_parameters(t->reader->dataset), known = t->reader->dataset->n_points;
    if (t->coordinates.count != n) {
        return BROKEN(t, begin, "coordinate-count", "a point with %zu coordinate%s, but there %s %zu parameter%s",
                      t->coordinates.count, t->coordinates.count == 1 ? "" : "s", n == 1 ? "is" : "are", n,
                      n == 1 ? "" : "s");
    }
    assay_id point = as_experiment_point(t->experiment, t->coordinates.data);
    if (point == ASSAY_NONE || !as_vec_append(&t->points, &point, 1)) return as_reader_memory(t->reader);
    if (point < known)
        as_warn(t->reader, place_of(t, begin), "repeated-point",
                "the point is listed twice; its values become further repetitions");
    t->coordinates.count = 0;
    return ASSAY_OK;
}

static assay_status read_coordinate(text_reader *t, const char *word, const char *end) {
    as_number number;
    if (!as_number_parse(word, (size_t)(end - word), &number)) {
        return BROKEN(t, word, "not-a-number", "'%.*s' is not a number", shown(word, end), word);
    }
    double real = as_number_real(number);
    if (!isfinite(real))
        return BROKEN(t, word, "not-finite", "the coordinate '%.*s' is not finite", shown(word, end), word);
    return as_vec_append(&t->coordinates, &real, 1) ? ASSAY_OK : as_reader_memory(t->reader);
}

/* Braces: depth 1 holds a point, depth 2 one coordinate of it. */
static assay_status read_point_list(text_reader *t, const char *keyword, const char *at) {
    size_t before = t->points.count, depth = 0, group = 0;
    const char *point = at;
    t->coordinates.count = 0;
    for (at = skip_blanks(at, t->end); at < t->end; at = skip_blanks(at, t->end)) {
        if (*at == '(') {
            if (depth == 0) point = at;
            if (depth == 2) return BROKEN(t, at, "braces", "braces inside a coordinate");
            depth++, at++;
            group = t->coordinates.count;
        } else if (*at == ')') {
            if (depth == 0) return BROKEN(t, at, "braces", "')' without '('");
            if (depth == 2 && t->coordinates.count != group + 1)
                return BROKEN(t, at, "braces", "inner braces must hold one coordinate");
            depth--, at++;
            if (depth == 0) AS_TRY(add_point(t, point));
        } else {
            const char *word = at;
            while (at < t->end && !is_blank(*at) && *at != '(' && *at != ')') at++;
            if (depth == 0 && as_ds_parameters(t->reader->dataset) != 1) {
                return BROKEN(t, word, "braces", "points of several parameters need braces, as in (1 2) (3 4)");
            }
            AS_TRY(read_coordinate(t, word, at));
            if (depth == 0) AS_TRY(add_point(t, word));
        }
    }
    if (depth) return BROKEN(t, point, "braces", "'(' without ')'");
    if (t->points.count == before) return BROKEN(t, keyword, "no-points", "POINTS without coordinates");
    return ASSAY_OK;
}

static assay_status read_points(text_reader *t, const char *keyword, const char *at) {
    if (!as_ds_parameters(t->reader->dataset)) {
        t->points_are_faulty = true;
        return BROKEN(t, keyword, "no-parameters", "POINTS before PARAMETER; name the parameters first");
    }
    assay_status status = read_point_list(t, keyword, at);
    if (status != ASSAY_OK) t->points_are_faulty = true;
    return status;
}

static assay_status read_metric(text_reader *t, const char *at) {
    const char *name;
    size_t size;
    AS_TRY(read_name(t, at, &name, &size));
    t->metric = as_experiment_metric(t->experiment, name, size);
    t->next_point = 0;
    return t->metric == ASSAY_NONE ? as_reader_memory(t->reader) : ASSAY_OK;
}

static assay_status read_region(text_reader *t, const char *at) {
    const char *name;
    size_t size;
    AS_TRY(read_name(t, at, &name, &size));
    t->region = as_experiment_callpath(t->experiment, name, size);
    t->next_point = 0;
    return t->region == ASSAY_NONE ? as_reader_memory(t->reader) : ASSAY_OK;
}

/* Whether DATA is possible here; also names what was not named. */
static assay_status begin_data(text_reader *t, const char *keyword) {
    bool no_parameters = !as_ds_parameters(t->reader->dataset);
    if (no_parameters || t->next_point >= t->points.count) {
        if (t->points_are_faulty || t->no_points_was_said)
            return STEP_OVER; /* only possible under keep_going; said already */
        t->no_points_was_said = !t->points.count;
        if (no_parameters)
            return BROKEN(t, keyword, "no-parameters", "DATA before PARAMETER; name the parameters first");
        return BROKEN(t, keyword, "too-many-data",
                      "more DATA lines than POINTS (%zu); METRIC or REGION starts the next series", t->points.count);
    }
    if (t->metric == ASSAY_NONE) t->metric = as_experiment_metric(t->experiment, "", 0);
    if (t->region == ASSAY_NONE) t->region = as_experiment_callpath(t->experiment, "", 0);
    if (t->metric == ASSAY_NONE || t->region == ASSAY_NONE) return as_reader_memory(t->reader);
    if (t->next_point == 0 && as_experiment_has_series(t->experiment, t->metric, t->region)) {
        as_warn(t->reader, place_of(t, keyword), "repeated-point",
                "the region has data of this metric already; these become further repetitions");
    }
    return ASSAY_OK;
}

static assay_status bad_number(text_reader *t, const char *word, const char *end) {
    if (*word == '#')
        return BROKEN(t, word, "not-a-number", "a comment behind DATA; comments take a line of their own");
    return BROKEN(t, word, "not-a-number", "'%.*s' is not a number", shown(word, end), word);
}

/* The numbers of a call path that other processes take care of: they look at them. */
static assay_status skip_data(text_reader *t, as_cell_key key) {
    t->has_data = true;
    bool fine = as_experiment_series(t->experiment, key.metric, key.context) != UINT32_MAX;
    return fine ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_data(text_reader *t, const char *keyword, const char *at) {
    AS_TRY(begin_data(t, keyword));
    as_cell_key key = {t->metric, t->region, AS_AT(assay_id, &t->points, t->next_point++)};
    const char *word = skip_blanks(at, t->end);
    if (word == t->end) return BROKEN(t, keyword, "no-values", "DATA without a value");
    if (!as_experiment_keeps(t->experiment, key.context)) return skip_data(t, key);
    while (word < t->end) {
        const char *end = skip_word(word, t->end);
        as_number number;
        if (!as_number_parse(word, (size_t)(end - word), &number)) return bad_number(t, word, end);
        if (number.kind == AS_REAL && isinf(number.r) && begins_digits(word[*word == '-' || *word == '+'])) {
            as_warn(t->reader, place_of(t, word), "huge-number",
                    "'%.*s' is beyond the largest number and read as infinity", shown(word, end), word);
        }
        if (!as_experiment_value(t->experiment, key, number)) return as_reader_memory(t->reader);
        word = skip_blanks(end, t->end);
    }
    t->has_data = true;
    return ASSAY_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool is_word(const char *begin, const char *end, const char *word) {
    size_t size = strlen(word);
    return (size_t)(end - begin) == size && memcmp(begin, word, size) == 0;
}

static assay_status read_comment(text_reader *t, const char *sign) {
    const char *begin = skip_blanks(sign + 1, t->end), *end = t->end;
    while (end > begin && is_blank(end[-1])) end--;
    const char *nul = memchr(begin, '\0', (size_t)(end - begin));
    if (nul) return BROKEN(t, nul, "nul-byte", "a NUL byte in a comment; this is no text file");
    if (as_utf8_invalid(begin, (size_t)(end - begin))) {
        as_warn(t->reader, place_of(t, sign), "utf-8",
                "the comment is not UTF-8 and left out; convert the file to UTF-8");
        return ASSAY_OK;
    }
    bool fine = (!t->has_comment || as_vec_append(&t->comment, "\n", 1)) &&
                as_vec_append(&t->comment, begin, (size_t)(end - begin));
    t->has_comment = true;
    return fine ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_line(text_reader *t) {
    const char *word = skip_blanks(t->line, t->end);
    if (word == t->end) return ASSAY_OK;
    if (*word == '#') return read_comment(t, word);
    const char *end = skip_word(word, t->end);
    if (is_word(word, end, "DATA")) return read_data(t, word, end);
    if (is_word(word, end, "REGION")) return read_region(t, end);
    if (is_word(word, end, "METRIC")) return read_metric(t, end);
    if (is_word(word, end, "POINTS")) return read_points(t, word, end);
    if (is_word(word, end, "PARAMETER")) return read_parameters(t, word, end);
    if (memchr(word, '\0', (size_t)(end - word)))
        return BROKEN(t, word, "nul-byte", "a NUL byte; this is no text file");
    return BROKEN(t, word, "keyword",
                  "unknown keyword '%.*s'; there are PARAMETER, POINTS, METRIC, REGION, DATA and # for comments",
                  shown(word, end), word);
}

static assay_status read_lines(text_reader *t) {
    const as_input *input = t->reader->input;
    const char *at = input->data, *end = at + input->size, *told = at;
    if (input->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        t->line = at;
        t->end = newline ? newline : end;
        t->line_number++;
        assay_status status = read_line(t);
        if (status != ASSAY_OK && status != STEP_OVER) return status;
        at = newline ? newline + 1 : end;
        if (at - told >= PROGRESS_BYTES) {
            AS_TRY(as_reader_progress(t->reader, (size_t)(at - input->data)));
            told = at;
        }
    }
    return ASSAY_OK;
}

static assay_status finish(text_reader *t) {
    as_place file = as_place_file(t->reader->input->path);
    if (t->reader->failed) { /* enough was said */
    } else if (!as_ds_parameters(t->reader->dataset)) {
        AS_TRY(as_broken(t->reader, file, "no-parameters", "no PARAMETER line"));
    } else if (!t->points.count) {
        AS_TRY(as_broken(t->reader, file, "no-points", "no POINTS line"));
    } else if (!t->has_data) {
        AS_TRY(as_broken(t->reader, file, "no-data", "no DATA line"));
    }
    bool fine = as_experiment_finish(t->experiment, file, NULL);
    if (fine && t->has_comment) {
        as_cell comment = as_cell_text_n(t->comment.data ? t->comment.data : "", t->comment.count);
        fine = as_add_attribute(t->reader->dataset, AS_OWNER_DATASET, 0, "comment", comment);
    }
    return fine ? ASSAY_OK : as_reader_memory(t->reader);
}

static assay_status read_text(as_reader *reader) {
    as_budget *budget = &reader->dataset->budget;
    text_reader t = {
        .reader = reader, .experiment = as_experiment_new(reader->dataset), .metric = ASSAY_NONE, .region = ASSAY_NONE};
    as_vec_init(&t.points, sizeof(assay_id), budget);
    as_vec_init(&t.coordinates, sizeof(double), budget);
    as_vec_init(&t.name, 1, budget);
    as_vec_init(&t.comment, 1, budget);
    assay_status status = t.experiment ? read_lines(&t) : as_reader_memory(reader);
    if (status == ASSAY_OK) status = finish(&t);
    as_vec_free(&t.points);
    as_vec_free(&t.coordinates);
    as_vec_free(&t.name);
    as_vec_free(&t.comment);
    as_experiment_free(t.experiment);
    return status;
}

/* A line that starts with PARAMETER, wherever it stands in the window. */
static int bid_text(const as_probe *probe) {
    static const char keyword[] = "PARAMETER";
    const size_t size = sizeof keyword - 1;
    if (probe->is_directory || !probe->head) return 0;
    const char *at = probe->head, *end = at + probe->head_size;
    if (probe->head_size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        if (memchr(at, '\0', (size_t)(line_end - at))) return 0;
        const char *word = skip_blanks(at, line_end);
        if (is_word(word, skip_word(word, line_end), keyword)) return 8 * (int)size;
        at = newline ? newline + 1 : end;
    }
    return 0;
}

const struct assay_format as_format_extrap_text = {
    .name = "extrap-text",
    .title = "Extra-P text",
    .extensions = ".txt",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_ATTRIBUTES | AS_HOLDS_FOREIGN, /* comments, whoever wrote them */
    .bid = bid_text,
    .read = read_text,
    .write = as_extrap_text_write,
    .losses = as_extrap_text_losses,
};
