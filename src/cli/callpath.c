#include "cli/callpath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/words.h"

/* How a call path may be named, the first that finds any. */
enum naming { WHOLE_PATH, END_OF_PATH, PART_OF_PATH, ANY_PATH };

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

static bool is_named(enum naming naming, const char *path, size_t size, const char *name, size_t n) {
    switch (naming) {
    case WHOLE_PATH: return size == n && memcmp(path, name, n) == 0;
    case END_OF_PATH: return n > 0 && ends_with(path, size, name, n);
    case PART_OF_PATH: return n > 0 && memmem(path, size, name, n) != NULL;
    case ANY_PATH: break;
    }
    return true;
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

/* False when memory is out. */
static bool search(const struct candidates *all, const char *name, enum naming naming, struct found *found) {
    size_t n = strlen(name);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    *found = (struct found){.nearest = as_nearest_start(name, n)};
    bool fine = true;
    for (size_t i = 0; i < all->n && fine; i++) {
        if (!(fine = as_context_path(all->ds, all->contexts[i], &path))) break;
        if (is_named(naming, path.data, path.count - 1, name, n)) {
            if (found->n < MOST_NAMED) found->contexts[found->n] = all->contexts[i];
            found->n++;
        } else if (naming == WHOLE_PATH && i < MOST_OFFERED) {
            offer_path(found, path.data);
        }
    }
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
        if (!as_context_path(ds, found->contexts[named], &path) || used + path.count + 24 > room) break;
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
    static const char *const verbs[] = {"are", "end in", "have"};
    struct candidates all = {ds, contexts, n};
    struct found whole, other, *found = &whole;
    enum naming naming = WHOLE_PATH;
    if (!search(&all, name, naming, &whole)) return as_cli_memory(cli);
    while (!found->n && ++naming <= PART_OF_PATH) {
        if (!search(&all, name, naming, &other)) return as_cli_memory(cli);
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

as_exit as_callpath_regex(as_cli *cli, regex_t *regex, bool *has) {
    const char *text = as_cli_value(cli, "match");
    *has = false;
    if (!text) return AS_EXIT_FINE;
    int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        char why[200];
        regerror(code, regex, why, sizeof why);
        return as_cli_fail(cli, AS_EXIT_USAGE, "--match '%s' is no regular expression: %s", text, why);
    }
    *has = true;
    return AS_EXIT_FINE;
}
