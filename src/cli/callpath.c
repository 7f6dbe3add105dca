#include "cli/callpath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/context_text.h"
#include "core/words.h"

/* How a call path may be named, the first that finds any. */
enum naming { WHOLE_PATH, END_OF_PATH, SHOWN_PATH, PART_OF_PATH, ANY_PATH };

enum { MOST_NAMED = 4, MOST_OFFERED = 100000 };

/* Where to look. */
struct candidates {
    const as_dataset *ds;
    const assay_id *contexts;
    size_t n;
};

/* What a search has found. */
struct found {
    size_t n;                      /* how many call paths fit */
    assay_id contexts[MOST_NAMED]; /* the first of them */
    as_nearest nearest;
    char word[256]; /* that nearest.word is copied to: paths are made one by one */
};

static bool ends_with(const char *path, size_t size, const char *end, size_t n) {
    return size > n + 2 && memcmp(path + size - n, end, n) == 0 && memcmp(path + size - n - 2, "->", 2) == 0;
}

/* By the end of the path, which tells it. */
static bool is_named(enum naming naming, const char *path, size_t size, bool is_whole, const char *name, size_t n) {
    switch (naming) {
    case WHOLE_PATH: return is_whole && size == n && memcmp(path, name, n) == 0;
    case END_OF_PATH: return n > 0 && ends_with(path, size, name, n);
    case PART_OF_PATH: return n > 0 && memmem(path, size, name, n) != NULL;
    case SHOWN_PATH:
    case ANY_PATH: break;
    }
    return true;
}

/* Which contexts of the dataset have name in their path: those below one that has it, and those in whose end it is.
 * Looking through whole paths would take as long as a deep tree's are long together. To be freed; NULL when memory is
 * out. */
static bool *find_parts(const as_dataset *ds, const char *name, size_t n, as_vec *path) {
    size_t n_contexts = AS_COUNT(ds, contexts);
    bool *has = calloc(n_contexts + 1, sizeof *has), fine = has != NULL;
    for (assay_id id = 0; fine && id < n_contexts; id++) {
        const as_context *context = as_ds_context(ds, id);
        has[id] = context->parent != ASSAY_NONE && has[context->parent];
        if (has[id]) continue;
        size_t most =
            n + 2 + as_str_size(&ds->strings, context->name); /* what is new, and the rest of what begins before it */
        fine = as_context_path_end(ds, id, most, path, NULL);
        has[id] = fine && is_named(PART_OF_PATH, path->data, path->count - 1, true, name, n);
    }
    if (fine) return has;
    free(has);
    return NULL;
}

static void offer_path(struct found *found, const char *path) {
    size_t before = found->nearest.distance;
    const char *word = found->nearest.word;
    as_nearest_offer(&found->nearest, path);
    if (found->nearest.word == word && found->nearest.distance == before) return;
    if (strlen(path) >= sizeof found->word) {
        found->nearest.word = word;
        return;
    }
    memcpy(found->word, path, strlen(path) + 1);
    found->nearest.word = found->word;
}

/* Texts to look a shown path up in. */
struct shown {
    as_text path;
    as_vec names;
};

/* Whether people see the context by this name, or by a path that ends in it: with or without loops and lines on the
 * way. */
static bool is_shown(const as_dataset *ds, assay_id context, const char *name, size_t n, struct shown *shown) {
    for (int with_places = 0; with_places < 2; with_places++) {
        as_path_style style = {.with_places = with_places, .ellipsis = "…"};
        as_text_clear(&shown->path);
        as_context_put_path(&shown->path, ds, context, &style, &shown->names);
        const char *path = as_text_data(&shown->path);
        size_t size = as_text_size(&shown->path);
        if (n && (is_named(WHOLE_PATH, path, size, true, name, n) || ends_with(path, size, name, n))) return true;
    }
    return false;
}

static bool search_shown(const struct candidates *all, const char *name, struct found *found) {
    struct shown shown;
    as_text_init(&shown.path);
    as_vec_init(&shown.names, sizeof(assay_id), NULL);
    *found = (struct found){.n = 0};
    for (size_t i = 0; i < all->n && !shown.path.failed; i++) {
        if (!is_shown(all->ds, all->contexts[i], name, strlen(name), &shown)) continue;
        if (found->n < MOST_NAMED) found->contexts[found->n] = all->contexts[i];
        found->n++;
    }
    bool fine = !shown.path.failed;
    as_text_free(&shown.path);
    as_vec_free(&shown.names);
    return fine;
}

/* False when memory is out. */
static bool search(const struct candidates *all, const char *name, enum naming naming, struct found *found) {
    size_t n = strlen(name), most = n + 3 > sizeof found->word ? n + 3 : sizeof found->word;
    as_vec path;
    as_vec_init(&path, 1, NULL);
    *found = (struct found){.nearest = as_nearest_start(name, n)};
    bool *has_part = naming == PART_OF_PATH ? find_parts(all->ds, name, n, &path) : NULL, is_whole;
    bool fine = has_part || naming != PART_OF_PATH;
    for (size_t i = 0; i < all->n && fine; i++) {
        if (!(fine = as_context_path_end(all->ds, all->contexts[i], most, &path, &is_whole))) break;
        if (naming == ANY_PATH && path.count <= 1) continue; /* the root has none */
        if (has_part ? has_part[all->contexts[i]] : is_named(naming, path.data, path.count - 1, is_whole, name, n)) {
            if (found->n < MOST_NAMED) found->contexts[found->n] = all->contexts[i];
            found->n++;
        } else if (naming == WHOLE_PATH && i < MOST_OFFERED && is_whole) {
            const char *last = as_ds_text(all->ds, as_ds_context(all->ds, all->contexts[i])->name);
            offer_path(found, path.data);
            if (last) offer_path(found, last);
        }
    }
    free(has_part);
    as_vec_free(&path);
    return fine;
}

/* "a->b, a->c and 7 more". */
static void name_found(const as_dataset *ds, const struct found *found, char *text, size_t room) {
    size_t used = 0, named = 0;
    as_vec path;
    as_vec_init(&path, 1, NULL);
    text[0] = '\0';
    for (; named < found->n && named < MOST_NAMED; named++) {
        bool is_whole = false;
        if (!as_context_path_end(ds, found->contexts[named], room, &path, &is_whole) || !is_whole ||
            used + path.count + 24 > room)
            break;
        used += (size_t)snprintf(text + used, room - used, "%s'%s'", named ? ", " : "", (const char *)path.data);
    }
    if (named < found->n)
        snprintf(text + used, room - used, "%s%zu%s", named ? " and " : "", found->n - named,
                 named ? " more" : " in all");
    as_vec_free(&path);
}

static as_exit fail_unknown(as_cli *cli, const struct candidates *all, const char *name, const as_nearest *nearest) {
    char names[512];
    struct found others;
    if (nearest->word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no call path '%s'; did you mean '%s'?", name, nearest->word);
    if (!search(all, name, ANY_PATH, &others)) return as_cli_memory(cli);
    if (others.n == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "there is no call path '%s', nor any other", name);
    name_found(all->ds, &others, names, sizeof names);
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no call path '%s'; there %s %s", name,
                       others.n == 1 ? "is" : "are", names);
}

as_exit as_callpath_find(as_cli *cli, const as_dataset *ds, const assay_id *contexts, size_t n, const char *name,
                         assay_id *out) {
    static const char *const verbs[] = {"are", "end in", "look like", "have"};
    struct candidates all = {ds, contexts, n};
    struct found whole, other, *found = &whole;
    enum naming naming = WHOLE_PATH;
    if (!search(&all, name, naming, &whole)) return as_cli_memory(cli);
    while (!found->n && ++naming <= PART_OF_PATH) {
        if (!(naming == SHOWN_PATH ? search_shown(&all, name, &other) : search(&all, name, naming, &other)))
            return as_cli_memory(cli);
        found = &other;
    }
    if (!found->n) return fail_unknown(cli, &all, name, &whole.nearest);
    if (found->n > 1) {
        char names[512];
        name_found(ds, found, names, sizeof names);
        return as_cli_fail(cli, AS_EXIT_USAGE, "%zu call paths %s '%s': %s; give the whole path", found->n,
                           verbs[naming], name, names);
    }
    *out = found->contexts[0];
    return AS_EXIT_FINE;
}

as_exit as_callpath_pattern(as_cli *cli, const char *option, const char *text, as_pattern **out) {
    const char *why;
    size_t at;
    *out = as_pattern_new(text, strlen(text), &why, &at);
    if (*out) return AS_EXIT_FINE;
    if (!why) return as_cli_memory(cli);
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s '%s' is no regular expression: %s, at its byte %zu", option, text, why,
                       at + 1);
}

as_exit as_callpath_match(as_cli *cli, as_pattern **out) {
    const char *text = as_cli_value(cli, "match");
    *out = NULL;
    return text ? as_callpath_pattern(cli, "match", text, out) : AS_EXIT_FINE;
}
