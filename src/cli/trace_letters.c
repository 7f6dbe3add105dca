/* Which letter and colour a procedure has in the pictures of `assay trace`. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_view.h"

enum { N_COLOURS = 12 };

/* Where the part of the name begins that tells most: behind namespaces, and behind the prefixes that all of MPI, of
 * CUDA, and what runs on GPUs have. */
static const char *telling_part(const char *name) {
    static const char *const prefixes[] = {"PMPI_", "MPI_", "GPU ", "cuda", "__", "_"};
    const char *end = name + strcspn(name, "(<"), *begin = name;
    if (end == name) return name;
    for (const char *at = name; at + 2 < end; at++) {
        if (at[0] == ':' && at[1] == ':') begin = at + 2;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (strncmp(begin, prefixes[i], n) == 0 && begin[n]) return begin + n;
    }
    return begin;
}

static char other_case(char c) {
    return (char)(islower((unsigned char)c) ? toupper((unsigned char)c) : tolower((unsigned char)c));
}

/* The first of these letters that is free; strict: in both cases, which look much alike. 0 where none is. */
static char first_free(const char *letters, const bool taken[128], bool is_strict, bool with_digits) {
    for (const char *c = letters; *c; c++) {
        if ((unsigned char)*c >= 128 || taken[(unsigned char)*c] ||
            !(with_digits ? isalnum((unsigned char)*c) : isalpha((unsigned char)*c)))
            continue;
        if (!is_strict || !taken[(unsigned char)other_case(*c)]) return *c;
    }
    return 0;
}

/* One that the name has, else any; 0 where none is left. */
static char free_letter(const char *name, const bool taken[128]) {
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char letter = first_free(telling_part(name), taken, true, false);
    if (!letter) letter = first_free(all, taken, true, true);
    return letter ? letter : first_free(all, taken, false, true);
}

bool as_trace_give_letters(as_trace_view *view) {
    const as_line_times *all = &view->times.all;
    bool taken[128] = {false};
    size_t n_coloured = 0;
    view->letters = malloc(view->frames.n_procedures + 1);
    view->colours = calloc(view->frames.n_procedures + 1, 1);
    if (!view->letters || !view->colours) return false;
    memset(view->letters, AS_LETTER_OTHER, view->frames.n_procedures);
    view->letters[AS_PROCEDURE_IDLE] = AS_LETTER_IDLE;
    view->letters[AS_PROCEDURE_UNKNOWN] = AS_LETTER_UNKNOWN;
    view->letters[AS_PROCEDURE_PAUSED] = AS_LETTER_PAUSED;
    for (size_t i = 0; i < all->n_procedures && i < view->limit; i++) {
        uint32_t procedure = all->procedures[i].procedure;
        if (procedure < AS_FIRST_PROCEDURE) continue;
        char letter = free_letter(as_trace_name(view, procedure), taken);
        if (!letter) break;
        taken[(unsigned char)letter] = true;
        view->letters[procedure] = letter;
        view->colours[procedure] = (unsigned char)(1 + n_coloured % N_COLOURS);
        n_coloured++;
    }
    view->n_letters = n_coloured;
    return true;
}
