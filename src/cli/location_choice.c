/* Locations by rank, by name, or by the kinds of places they lie in. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/profile_choice.h"
#include "core/words.h"

/* ---- ranks and names --------------------------------------------------------------------------------------------- */

int64_t as_location_number(const as_dataset *ds, const as_location *location) {
    const char *name = as_ds_text(ds, location->name), *kind = as_ds_text(ds, location->kind);
    size_t size = kind ? strlen(kind) : 0;
    as_number number;
    if (name && size && strncasecmp(name, kind, size) == 0 && name[size] == ' ' &&
        as_number_parse(name + size + 1, strcspn(name + size + 1, " ,"), &number) && number.kind == AS_INT)
        return number.i;
    return location->rank;
}

/* "3" or "3.1": ranks of a process and a thread; *thread -1: all of them. False for anything else. */
static bool parse_ranks(const char *text, int64_t *process, int64_t *thread) {
    as_number number;
    size_t size = strlen(text), first = strspn(text, "0123456789");
    *thread = -1;
    if (first == 0 || !as_number_parse(text, first, &number) || number.kind != AS_INT) return false;
    *process = number.i;
    if (first == size) return true;
    size_t second = text[first] == '.' ? strspn(text + first + 1, "0123456789") : 0;
    if (second == 0 || first + 1 + second != size) return false;
    if (!as_number_parse(text + first + 1, second, &number) || number.kind != AS_INT) return false;
    *thread = number.i;
    return true;
}

/* Whether a leaf is a thread of a process: the place above it has a rank of its own. */
static bool has_process(const as_dataset *ds, const as_location *leaf) {
    return leaf->parent != ASSAY_NONE && as_ds_location(ds, leaf->parent)->rank >= 0;
}

/* The leaves of these ranks; where no process has a rank, the first one is the leaf's own. */
static void mark_ranks(const as_dataset *ds, int64_t process, int64_t thread, bool *wanted) {
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        const as_location *leaf = as_ds_location(ds, id);
        if (!leaf->leaf) continue;
        bool is_thread = has_process(ds, leaf);
        int64_t rank = is_thread ? as_ds_location(ds, leaf->parent)->rank : leaf->rank;
        wanted[id] |= rank == process && (thread < 0 || (is_thread && as_location_number(ds, leaf) == thread));
    }
}

/* "device 0 (A100)" and "stream 7, context 2" are device 0 and stream 7 as well. */
static bool is_called(const char *known, const char *asked, size_t size) {
    if (!known || strncmp(known, asked, size) != 0) return false;
    return !known[size] || strncmp(known + size, " (", 2) == 0 || strncmp(known + size, ", ", 2) == 0;
}

/* Places of this name, and what lies below; parents come before their children. */
static void mark_name(const as_dataset *ds, const char *name, bool *wanted) {
    size_t size = strlen(name);
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        const as_location *location = as_ds_location(ds, id);
        wanted[id] |= is_called(as_ds_text(ds, location->name), name, size) ||
                      (location->parent != ASSAY_NONE && wanted[location->parent]);
    }
}

/* ---- kinds of places --------------------------------------------------------------------------------------------- */

enum { MOST_TERMS = 32 };

/* A value of a term: numbers from … to, or a pattern for names. */
typedef struct some_places {
    bool is_number;
    int64_t from, to;
    const char *pattern;
} some_places;

/* "rank=0-3|8": places of this kind, and which of them; "gpustream": all of this kind. */
typedef struct term {
    char *kind;
    as_vec choices; /* some_places */
} term;

typedef struct selector {
    char *text; /* a copy that is cut into pieces */
    term terms[MOST_TERMS];
    size_t n;
} selector;

static void selector_free(selector *s) {
    for (size_t i = 0; i < s->n; i++) as_vec_free(&s->terms[i].choices);
    free(s->text);
}

/* "3", "0-3", "4-" */
static bool parse_range(const char *text, some_places *out) {
    as_number from, to = {.kind = AS_INT, .i = INT64_MAX};
    size_t first = strspn(text, "0123456789");
    if (!first || !as_number_parse(text, first, &from) || from.kind != AS_INT) return false;
    const char *rest = text + first;
    if (!*rest)
        to = from;
    else if (*rest != '-' || (rest[1] && (rest[1 + strspn(rest + 1, "0123456789")] ||
                                          !as_number_parse(rest + 1, strlen(rest + 1), &to) || to.kind != AS_INT)))
        return false;
    *out = (some_places){.is_number = true, .from = from.i, .to = to.i};
    return true;
}

/* The term of a kind; terms of the same kind are one. NULL where there are too many. */
static term *term_of(selector *s, char *kind) {
    for (size_t i = 0; i < s->n; i++) {
        if (strcasecmp(s->terms[i].kind, kind) == 0) return &s->terms[i];
    }
    if (s->n == MOST_TERMS) return NULL;
    term *t = &s->terms[s->n++];
    t->kind = kind;
    as_vec_init(&t->choices, sizeof(some_places), NULL);
    return t;
}

/* *is_well_formed: "kind=value|value,kind". False when memory is out. */
static bool parse_selector(const char *text, selector *s, bool *is_well_formed) {
    *s = (selector){.text = strdup(text)};
    *is_well_formed = false;
    if (!s->text) return false;
    for (char *next = s->text, *piece; (piece = strsep(&next, ",")) != NULL;) {
        char *values = strchr(piece, '=');
        if (!*piece || values == piece || (values && !values[1])) return true;
        if (values) *values++ = '\0';
        term *t = term_of(s, piece);
        if (!t) return true;
        if (!values && !as_vec_append(&t->choices, &(some_places){.pattern = "*"}, 1)) return false;
        for (char *value; values && (value = strsep(&values, "|")) != NULL;) {
            some_places c = {.pattern = value};
            if (!*value) return true;
            parse_range(value, &c);
            if (!as_vec_append(&t->choices, &c, 1)) return false;
        }
    }
    *is_well_formed = true;
    return true;
}

/* A process is a rank, whatever the source calls it. */
static bool is_kind(const char *asked, const char *known) {
    if (strcasecmp(asked, known) == 0) return true;
    return (strcasecmp(asked, "rank") == 0 && strcasecmp(known, "process") == 0) ||
           (strcasecmp(asked, "process") == 0 && strcasecmp(known, "rank") == 0);
}

static bool fits(const as_dataset *ds, const as_location *location, const term *t) {
    const char *kind = as_ds_text(ds, location->kind), *name = as_ds_text(ds, location->name);
    if (!kind || !is_kind(t->kind, kind)) return false;
    int64_t number = as_location_number(ds, location);
    char digits[AS_NUMBER_SIZE] = "";
    if (number >= 0) as_uint_format((uint64_t)number, digits);
    for (size_t i = 0; i < t->choices.count; i++) {
        const some_places *c = &AS_AT(some_places, &t->choices, i);
        if (c->is_number ? number >= c->from && number <= c->to
                         : (name && fnmatch(c->pattern, name, 0) == 0) || fnmatch(c->pattern, digits, 0) == 0)
            return true;
    }
    return false;
}

/* Places that lie in one of each kind. Parents come before their children. False when memory is out. */
static bool mark_selected(const as_dataset *ds, const selector *s, bool *wanted) {
    size_t n = AS_COUNT(ds, locations);
    uint32_t *met = calloc(n + 1, sizeof *met), all = s->n == 32 ? UINT32_MAX : (1u << s->n) - 1;
    for (assay_id id = 0; met && id < n; id++) {
        const as_location *location = as_ds_location(ds, id);
        if (location->parent != ASSAY_NONE) met[id] = met[location->parent];
        for (size_t i = 0; i < s->n; i++) met[id] |= fits(ds, location, &s->terms[i]) ? 1u << i : 0;
        wanted[id] |= met[id] == all;
    }
    free(met);
    return met != NULL;
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

/* "node, rank, thread": the kinds there are, or as many as have room. */
static void list_kinds(const as_dataset *ds, char *out, size_t room) {
    enum { MOST = 12 };
    as_str known[MOST];
    size_t n = 0, used = 0;
    out[0] = '\0';
    for (assay_id id = 0; id < AS_COUNT(ds, locations) && n < MOST && used < room; id++) {
        as_str kind = as_ds_location(ds, id)->kind;
        bool is_new = kind != AS_NO_STR;
        for (size_t i = 0; i < n; i++) is_new &= known[i] != kind;
        if (!is_new) continue;
        known[n++] = kind;
        used += (size_t)snprintf(out + used, room - used, "%s%s", used ? ", " : "", as_ds_text(ds, kind));
    }
}

static bool has_kind(const as_dataset *ds, const char *asked) {
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        const char *kind = as_ds_text(ds, as_ds_location(ds, id)->kind);
        if (kind && is_kind(asked, kind)) return true;
    }
    return false;
}

/* The first kind of a selector that no place has, or NULL. */
static const char *unknown_kind(const as_dataset *ds, const selector *s) {
    for (size_t i = 0; i < s->n; i++) {
        if (!has_kind(ds, s->terms[i].kind)) return s->terms[i].kind;
    }
    return NULL;
}

static as_exit fail_selector(as_cli *cli, const as_dataset *ds, const selector *s, const char *text) {
    char kinds[200];
    const char *kind = unknown_kind(ds, s);
    list_kinds(ds, kinds, sizeof kinds);
    if (kind) return as_cli_fail(cli, AS_EXIT_USAGE, "there is no kind of location '%s'; there are %s", kind, kinds);
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "no location is '%s'; assay sql FILE 'select kind, name from location' lists them", text);
}

static as_exit fail_location(as_cli *cli, const as_dataset *ds, const char *text) {
    as_nearest nearest = as_nearest_start(text, strlen(text));
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        const as_location *location = as_ds_location(ds, id);
        const char *known[] = {as_ds_text(ds, location->name), as_ds_text(ds, location->kind)};
        for (size_t i = 0; i < 2; i++)
            if (known[i]) as_nearest_offer(&nearest, known[i]);
    }
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no location '%s'; did you mean '%s'?", text, nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "there is no location '%s'; give the rank of a process (3), of its thread (3.0), a name, or "
                       "kinds (rank=0-3,thread=0)",
                       text);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static size_t count_leaves(const as_dataset *ds, const bool *wanted) {
    size_t n = 0;
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) n += wanted[id] && as_ds_location(ds, id)->leaf;
    return n;
}

static as_exit mark_kinds(as_cli *cli, const as_dataset *ds, const char *text, bool *wanted) {
    selector s;
    bool is_well_formed;
    as_exit status = AS_EXIT_FINE;
    bool fine = parse_selector(text, &s, &is_well_formed);
    if (fine && is_well_formed) fine = mark_selected(ds, &s, wanted);
    if (!fine)
        status = as_cli_memory(cli);
    else if (!is_well_formed)
        status = as_cli_fail(cli, AS_EXIT_USAGE,
                             "--location '%s' is not understood; it is like rank=0-3|8,thread=0 or node=nid00*", text);
    else if (!count_leaves(ds, wanted))
        status = fail_selector(cli, ds, &s, text);
    selector_free(&s);
    return status;
}

/* The places of one --location, in wanted, which is all false. */
static as_exit mark_one(as_cli *cli, const as_dataset *ds, const char *text, bool *wanted, as_location_choice *out) {
    int64_t process, thread;
    char label[sizeof out->label];
    snprintf(label, sizeof label, "%s", text);
    if (parse_ranks(text, &process, &thread)) {
        mark_ranks(ds, process, thread, wanted);
        if (count_leaves(ds, wanted)) snprintf(label, sizeof label, "%s %s", thread < 0 ? "process" : "thread", text);
    }
    if (!count_leaves(ds, wanted)) mark_name(ds, text, wanted);
    if (!count_leaves(ds, wanted) && !strpbrk(text, "=,") && !has_kind(ds, text)) return fail_location(cli, ds, text);
    if (!count_leaves(ds, wanted)) {
        as_exit status = mark_kinds(cli, ds, text, wanted);
        if (status != AS_EXIT_FINE) return status;
    }
    size_t used = strlen(out->label);
    snprintf(out->label + used, sizeof out->label - used, "%s%s", used ? " + " : "", label);
    return AS_EXIT_FINE;
}

/* What each --location names, with room for the marks of one of them. */
static as_exit mark_all(as_cli *cli, const as_dataset *ds, bool *one, as_location_choice *out) {
    size_t n = AS_COUNT(ds, locations);
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "location") != 0) continue;
        memset(one, 0, n * sizeof *one);
        as_exit status = mark_one(cli, ds, given->value, one, out);
        if (status != AS_EXIT_FINE) return status;
        for (size_t k = 0; k < n; k++) out->wanted[k] |= one[k];
    }
    out->n_leaves = count_leaves(ds, out->wanted);
    return AS_EXIT_FINE;
}

as_exit as_choose_locations(as_cli *cli, const as_dataset *ds, as_location_choice *out) {
    *out = (as_location_choice){.n_leaves = as_ds_leaves(ds)};
    size_t n = AS_COUNT(ds, locations);
    if (!as_cli_has(cli, "location")) return AS_EXIT_FINE;
    if (n == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "%s: has no locations to choose from", as_ds_text(ds, ds->path));
    out->wanted = calloc(n, sizeof *out->wanted);
    bool *one = calloc(n, sizeof *one);
    as_exit status = out->wanted && one ? mark_all(cli, ds, one, out) : as_cli_memory(cli);
    free(one);
    return status;
}

void as_location_choice_free(as_location_choice *choice) {
    free(choice->wanted);
    choice->wanted = NULL;
}
