/* Names that changed a little between versions: likeness as Python's difflib has it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"
#include "core/utf8.h"

enum { ALIKE_WORK = 50000000 }; /* steps for all names of a comparison: a fraction of a second */
static const double ALIKE_ENOUGH = 0.6;

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* A text's characters; bytes that are none are characters of their own. */
typedef struct letters {
    uint32_t *codes;
    size_t n;
} letters;

static size_t next_letter(const char *text, size_t room, uint32_t *code) {
    const unsigned char *s = (const unsigned char *)text;
    size_t n = as_utf8_length(text, room);
    if (n <= 1) {
        *code = n ? s[0] : 0x110000u + s[0];
        return 1;
    }
    *code = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) *code = *code << 6 | (s[i] & 0x3f);
    return n;
}

static bool read_letters(const char *text, letters *out) {
    size_t size = strlen(text);
    *out = (letters){.codes = malloc((size + 1) * sizeof *out->codes)};
    if (!out->codes) return false;
    for (size_t at = 0; at < size;) at += next_letter(text + at, size - at, &out->codes[out->n++]);
    return true;
}

/* ---- likeness ---------------------------------------------------------------------------------------------------- */

typedef struct place {
    uint32_t code, index;
} place;

typedef struct span {
    size_t a, a_end, b, b_end;
} span;

/* Where each letter of a word stands, and what a comparison with it needs. */
typedef struct matcher {
    letters a, b;
    /* of b's letters, by letter, then index; those too frequent to tell anything (difflib's autojunk) are left out */
    place *places;
    size_t n_places;
    uint32_t *lengths[2]; /* of matches that end at each place of b, of this row and the last one, */
    uint32_t *rows[2];    /* which these rows are of */
    uint64_t *work;
} matcher;

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void index_places(matcher *m) {
    for (size_t i = 0; i < m->b.n; i++) m->places[i] = (place){m->b.codes[i], (uint32_t)i};
    qsort(m->places, m->b.n, sizeof *m->places, compare_places);
    size_t frequent = m->b.n >= 200 ? m->b.n / 100 + 1 : SIZE_MAX;
    for (size_t i = 0, end; i < m->b.n; i = end) {
        for (end = i; end < m->b.n && m->places[end].code == m->places[i].code;) end++;
        if (end - i > frequent) continue;
        memmove(&m->places[m->n_places], &m->places[i], (end - i) * sizeof *m->places);
        m->n_places += end - i;
    }
}

/* The first of the letter's places that is not before `index`. */
static size_t find_place(const matcher *m, uint32_t code, size_t index) {
    size_t low = 0, high = m->n_places;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const place *p = &m->places[middle];
        if (p->code < code || (p->code == code && p->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest match within the span; of equal ones the first. Its length is 0 where nothing matches or *work ran
 * out. */
static span longest_match(matcher *m, span within) {
    span best = {within.a, within.a, within.b, within.b};
    size_t length = 0;
    for (size_t i = within.a; i < within.a_end && *m->work; i++) {
        uint32_t code = m->a.codes[i], row = (uint32_t)i + 1;
        uint32_t *now = m->lengths[i & 1], *before = m->lengths[~i & 1];
        for (size_t p = find_place(m, code, within.b); p < m->n_places; p++) {
            size_t j = m->places[p].index;
            if (m->places[p].code != code || j >= within.b_end) break;
            if (*m->work) --*m->work;
            bool goes_on = i > within.a && j > within.b && m->rows[~i & 1][j - 1] == row - 1;
            now[j] = (goes_on ? before[j - 1] : 0) + 1;
            m->rows[i & 1][j] = row;
            if (now[j] <= length) continue;
            length = now[j];
            best = (span){i + 1 - length, i + 1, j + 1 - length, j + 1};
        }
        if (*m->work) --*m->work;
    }
    while (best.a > within.a && best.b > within.b && m->a.codes[best.a - 1] == m->b.codes[best.b - 1]) {
        best.a--;
        best.b--;
    }
    while (best.a_end < within.a_end && best.b_end < within.b_end && m->a.codes[best.a_end] == m->b.codes[best.b_end]) {
        best.a_end++;
        best.b_end++;
    }
    return best;
}

/* Letters in matching blocks. False when memory is out. */
static bool count_matches(matcher *m, size_t *matches) {
    as_vec spans;
    as_vec_init(&spans, sizeof(span), NULL);
    span all = {0, m->a.n, 0, m->b.n};
    bool is_done = as_vec_append(&spans, &all, 1);
    while (is_done && spans.count) {
        span within = AS_AT(span, &spans, spans.count - 1), found;
        spans.count--;
        memset(m->rows[0] + within.b, 0, (within.b_end - within.b) * sizeof *m->rows[0]);
        memset(m->rows[1] + within.b, 0, (within.b_end - within.b) * sizeof *m->rows[1]);
        found = longest_match(m, within);
        if (found.a == found.a_end) continue;
        *matches += found.a_end - found.a;
        span left = {within.a, found.a, within.b, found.b},
             right = {found.a_end, within.a_end, found.b_end, within.b_end};
        if (left.a < left.a_end && left.b < left.b_end) is_done = as_vec_append(&spans, &left, 1);
        if (is_done && right.a < right.a_end && right.b < right.b_end) is_done = as_vec_append(&spans, &right, 1);
    }
    as_vec_free(&spans);
    return is_done;
}

static bool is_worth_it(const letters *a, const letters *b, uint64_t *work) {
    size_t least = a->n < b->n ? a->n : b->n;
    if (*work) --*work;
    return *work && a->n + b->n > 0 && 2.0 * (double)least / (double)(a->n + b->n) >= ALIKE_ENOUGH;
}

static bool match(matcher *m, double *out) {
    size_t n = m->b.n + 1, matches = 0;
    m->places = malloc(n * sizeof *m->places);
    bool is_done = m->places != NULL;
    for (int i = 0; i < 2; i++) {
        m->lengths[i] = malloc(n * sizeof *m->lengths[i]);
        m->rows[i] = calloc(n, sizeof *m->rows[i]);
        is_done = is_done && m->lengths[i] && m->rows[i];
    }
    if (is_done) index_places(m);
    is_done = is_done && count_matches(m, &matches);
    *out = *m->work ? 2.0 * (double)matches / (double)(m->a.n + m->b.n) : 0;
    free(m->places);
    for (int i = 0; i < 2; i++) {
        free(m->lengths[i]);
        free(m->rows[i]);
    }
    return is_done;
}

bool as_likeness(const char *text, const char *word, uint64_t *work, double *out) {
    matcher m = {.work = work};
    *out = 0;
    if (strcmp(text, word) == 0) {
        *out = 1;
        return true;
    }
    bool is_done = read_letters(text, &m.a) && read_letters(word, &m.b);
    if (is_done && m.a.n < UINT32_MAX && m.b.n < UINT32_MAX && is_worth_it(&m.a, &m.b, work)) is_done = match(&m, out);
    free(m.a.codes);
    free(m.b.codes);
    return is_done;
}

/* ---- common names ------------------------------------------------------------------------------------------------ */

/* Bytes up to the first letter that differs; as Perun reckons, up to the last one of those at the same place. */
static size_t common_size(const char *a, const char *b, bool is_compatible) {
    size_t n = strlen(a), m = strlen(b), i = 0, j = 0, size = n;
    while (i < n && j < m) {
        uint32_t x, y;
        size_t at = i;
        i += next_letter(a + i, n - i, &x);
        j += next_letter(b + j, m - j, &y);
        if (x == y) continue;
        size = at;
        if (!is_compatible) return size;
    }
    return is_compatible ? size : i < n ? i : n;
}

typedef struct pairing {
    const char *const *names[2];
    size_t n[2];
    const char **renamed[2];
    bool *is_taken; /* of the target's names */
    bool is_compatible;
    as_arena *arena;
} pairing;

static bool is_name(const pairing *naming, const char *name) {
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < naming->n[side]; i++) {
            const char *other = naming->renamed[side][i] ? naming->renamed[side][i] : naming->names[side][i];
            if (strcmp(other, name) == 0) return true;
        }
    }
    return false;
}

static bool rename_both(pairing *naming, size_t base, size_t target) {
    const char *a = naming->names[AS_SIDE_BASE][base], *b = naming->names[AS_SIDE_TARGET][target];
    naming->is_taken[target] = true;
    if (strcmp(a, b) == 0) return true;
    char *name = as_arena_copy(naming->arena, a, common_size(a, b, naming->is_compatible));
    if (!name) return false;
    /* what two pairs, or nothing at all, would have in common is no name for them */
    if (!naming->is_compatible && (!*name || is_name(naming, name))) name = as_arena_copy(naming->arena, b, strlen(b));
    naming->renamed[AS_SIDE_BASE][base] = naming->renamed[AS_SIDE_TARGET][target] = name;
    return name != NULL;
}

/* The name of the target that is most like this one, or SIZE_MAX. */
static bool find_alike(const pairing *naming, const char *name, uint64_t *work, size_t *out) {
    double best = 0;
    *out = SIZE_MAX;
    for (size_t i = 0; i < naming->n[AS_SIDE_TARGET] && *work; i++) {
        const char *other = naming->names[AS_SIDE_TARGET][i];
        double likeness;
        if (naming->is_taken[i]) continue;
        if (!as_likeness(other, name, work, &likeness)) return false;
        if (likeness < ALIKE_ENOUGH || likeness < best) continue;
        if (*out != SIZE_MAX && likeness == best && strcmp(other, naming->names[AS_SIDE_TARGET][*out]) < 0) continue;
        best = likeness;
        *out = i;
    }
    return true;
}

typedef struct named {
    const char *name;
    size_t index;
} named;

static int compare_named(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* Equal names belong together before any that are only alike. is_equal: of the base's names. */
static bool pair_equal(pairing *naming, bool *is_equal) {
    size_t n = naming->n[AS_SIDE_TARGET];
    named *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted) return false;
    for (size_t i = 0; i < n; i++) sorted[i] = (named){naming->names[AS_SIDE_TARGET][i], i};
    qsort(sorted, n, sizeof *sorted, compare_named);
    for (size_t i = 0; i < naming->n[AS_SIDE_BASE]; i++) {
        named key = {naming->names[AS_SIDE_BASE][i], 0};
        const named *found = bsearch(&key, sorted, n, sizeof *sorted, compare_named);
        is_equal[i] = found != NULL;
        if (found) naming->is_taken[found->index] = true;
    }
    free(sorted);
    return true;
}

bool as_match_names(const char *const *const names[2], const size_t n[2], bool is_compatible, as_arena *arena,
                    const char **const renamed[2]) {
    pairing naming = {.names = {names[0], names[1]},
                      .n = {n[0], n[1]},
                      .renamed = {renamed[0], renamed[1]},
                      .is_compatible = is_compatible,
                      .arena = arena};
    uint64_t work = ALIKE_WORK;
    bool *is_equal = calloc(n[AS_SIDE_BASE] + 1, sizeof *is_equal);
    naming.is_taken = calloc(n[AS_SIDE_TARGET] + 1, sizeof *naming.is_taken);
    bool is_done = is_equal && naming.is_taken && (is_compatible || pair_equal(&naming, is_equal));
    for (size_t i = 0; is_done && work && i < n[AS_SIDE_BASE]; i++) {
        size_t alike = SIZE_MAX;
        if (is_equal[i]) continue;
        is_done = find_alike(&naming, names[AS_SIDE_BASE][i], &work, &alike);
        if (is_done && alike != SIZE_MAX) is_done = rename_both(&naming, i, alike);
    }
    free(is_equal);
    free(naming.is_taken);
    return is_done;
}
