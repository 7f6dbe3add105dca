/* Which call paths a search means: found once for a pattern, on all cores. */
#include <stdlib.h>
#include <string.h>

#include "cli/callpath.h"
#include "core/parallel.h"
#include "server/scale.h"

enum { PIECE = 2048 };

typedef struct search {
    const as_scale_view *scale;
    const as_pattern *pattern;
    bool is_plain; /* it says nothing but itself */
    as_vec needed; /* char: texts, each ended by NUL, that come one after the other wherever the pattern matches */
    bool *matches;
    size_t n;
    bool failed; /* memory is out */
} search;

/* ---- what a pattern needs ---------------------------------------------------------------------------------------- */

/* Behind the "]" of a set that begins here; NULL where it has classes of its own. */
static const char *behind_set(const char *at) {
    at += at[1] == '^' ? 2 : 1;
    at += strcspn(at, "[]");
    return *at == ']' ? at + 1 : NULL;
}

/* Ends the text at hand; one that is empty says nothing. */
static bool end_text(as_vec *needed) {
    const char *texts = needed->data;
    return needed->count == 0 || texts[needed->count - 1] == '\0' || as_vec_append(needed, "", 1);
}

/* Plain texts of a pattern without groups and alternatives: to look for them is far quicker than to match it, and most
 * call paths do not have them. False when memory is out. */
static bool find_needed(const char *pattern, as_vec *needed) {
    if (strpbrk(pattern, "|(){}\\")) return true;
    for (const char *at = pattern; *at;) {
        const char *next = *at == '[' ? behind_set(at) : at + 1;
        if (!next) break;
        bool is_plain = !strchr(".[*+?^$", *at), is_repeated = *next == '+', is_optional = false;
        const char *last = next;
        while (*next && strchr("*+?", *next)) is_optional |= *next++ != '+';
        if (is_plain && !is_optional && !as_vec_append(needed, last - 1, 1)) return false;
        if ((!is_plain || is_optional || is_repeated) && !end_text(needed)) return false;
        at = next;
    }
    return end_text(needed);
}

static bool has_needed(const as_vec *needed, const char *text) {
    const char *texts = needed->data;
    for (size_t i = 0; i < needed->count && text; i += strlen(texts + i) + 1) {
        text = strstr(text, texts + i);
        if (text) text += strlen(texts + i);
    }
    return text != NULL;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

static void do_piece(void *user, size_t piece) {
    search *s = user;
    as_vec text;
    size_t end = (piece + 1) * PIECE < s->n ? (piece + 1) * PIECE : s->n;
    bool fine = true;
    as_vec_init(&text, 1, NULL);
    for (size_t i = piece * PIECE; i < end && fine; i++) {
        const as_model *model = as_scale_model(s->scale, (uint32_t)i);
        fine = as_context_path(as_scale_ds(s->scale), model->context, &text);
        if (!fine) break;
        s->matches[i] = has_needed(&s->needed, text.data) &&
                        (s->is_plain || as_pattern_search(s->pattern, text.data, strlen(text.data)));
    }
    if (!fine) __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    as_vec_free(&text);
}

static assay_status read_pattern(const as_request *request, as_pattern **out, assay_error *error) {
    as_request_cli made;
    assay_status status = as_request_cli_make(request, "predict", "match", NULL, &made, error);
    if (status == ASSAY_OK) status = as_request_cli_status(&made, as_callpath_match(&made.cli, out), error);
    as_request_cli_free(&made);
    return status;
}

/* Into matches; false when memory is out. */
static bool find_all(const as_scale_view *s, const char *text, const as_pattern *pattern, bool *matches) {
    search found = {.scale = s,
                    .pattern = pattern,
                    .is_plain = !strpbrk(text, ".[]()*+?{}|^$\\"),
                    .matches = matches,
                    .n = s->predictor.fit.n};
    as_vec_init(&found.needed, 1, NULL);
    found.failed = !find_needed(text, &found.needed);
    if (!found.failed) as_parallel((found.n + PIECE - 1) / PIECE, 0, do_piece, &found);
    as_vec_free(&found.needed);
    return !found.failed;
}

assay_status as_scale_matching(as_scale_view *s, const as_request *request, const bool **out, assay_error *error) {
    const char *text = as_request_text(request, "match");
    *out = NULL;
    if (!text) return ASSAY_OK;
    if (!s->pattern || strcmp(s->pattern, text) != 0) {
        as_pattern *pattern = NULL;
        AS_TRY(read_pattern(request, &pattern, error));
        char *kept = strdup(text);
        bool *matches = calloc(s->predictor.fit.n + 1, sizeof *matches);
        bool fine = kept && matches && find_all(s, text, pattern, matches);
        as_pattern_free(pattern);
        if (!fine) {
            free(kept);
            free(matches);
            return as_fail_memory(error, NULL);
        }
        free(s->pattern);
        free(s->matches);
        s->pattern = kept;
        s->matches = matches;
    }
    *out = s->matches;
    return ASSAY_OK;
}
