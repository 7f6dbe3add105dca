/* The order of places in `assay trace`, and what they are called. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_view.h"

/* ---- the order of places ----------------------------------------------------------------------------------------- */

/* Compares names the way people count: digits as numbers. */
static int compare_names(const char *a, const char *b) {
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            while (*a == '0' && isdigit((unsigned char)a[1])) a++;
            while (*b == '0' && isdigit((unsigned char)b[1])) b++;
            size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
            int order = n != m ? (n < m ? -1 : 1) : memcmp(a, b, n);
            if (order) return order;
            a += n;
            b += m;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static assay_id above(const as_dataset *ds, assay_id location) { return as_ds_location(ds, location)->parent; }

static size_t level_of(const as_dataset *ds, assay_id location) {
    size_t level = 0;
    while ((location = above(ds, location)) != ASSAY_NONE) level++;
    return level;
}

static const char *location_name(const as_dataset *ds, assay_id location) {
    const char *name = as_ds_text(ds, as_ds_location(ds, location)->name);
    return name ? name : "";
}

/* Places in the order of what they are part of: that of the first level at which they differ. */
int as_trace_compare_places(const as_dataset *ds, assay_id a, assay_id b) {
    size_t x = level_of(ds, a), y = level_of(ds, b);
    int deeper = (x > y) - (x < y);
    for (; x > y; x--) a = above(ds, a);
    for (; y > x; y--) b = above(ds, b);
    if (a == b) return deeper;
    while (above(ds, a) != above(ds, b)) {
        a = above(ds, a);
        b = above(ds, b);
    }
    bool is_one_kind = as_ds_location(ds, a)->kind == as_ds_location(ds, b)->kind;
    int order = is_one_kind ? compare_names(location_name(ds, a), location_name(ds, b)) : 0;
    return order ? order : (a > b) - (a < b);
}

/* ---- what places are called -------------------------------------------------------------------------------------- */

enum { MOST_KINDS = 32 };

/* Kinds of places above those that are named, and which of them names tell. */
typedef struct naming {
    const assay_id *places;
    size_t n_places;
    as_str kinds[MOST_KINDS];
    bool is_named[MOST_KINDS];
    size_t n;
} naming;

static size_t kind_number(const naming *how, as_str kind) {
    size_t i = 0;
    while (i < how->n && how->kinds[i] != kind) i++;
    return i;
}

/* Whether names tell this place, which is above the one that is named. Kinds beyond MOST_KINDS are told. */
static bool is_named(const as_trace_view *view, const naming *how, assay_id place) {
    size_t kind = kind_number(how, as_ds_location(view->ds, place)->kind);
    return kind == how->n || how->is_named[kind];
}

/* "rank 3 thread 0": the names of what the place lies in, as far as they are told, and its own. */
static const char *make_label(as_trace_view *view, assay_id location, const naming *how) {
    size_t size = 0;
    for (assay_id id = location; id != ASSAY_NONE; id = above(view->ds, id))
        if (id == location || is_named(view, how, id)) size += strlen(location_name(view->ds, id)) + 1;
    char *label = as_arena_alloc(&view->texts, size);
    if (!label) return NULL;
    for (assay_id id = location; id != ASSAY_NONE; id = above(view->ds, id)) {
        if (id != location && !is_named(view, how, id)) continue;
        const char *name = location_name(view->ds, id);
        size_t length = strlen(name);
        label[size - 1] = id == location ? '\0' : ' ';
        size -= length + 1;
        memcpy(label + size, name, length);
    }
    return label;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Makes the names; *are_different: no two are alike. False when memory is out. */
static bool try_labels(as_trace_view *view, const naming *how, const char **labels, bool *are_different) {
    const char **sorted = malloc((how->n_places + 1) * sizeof *sorted);
    bool fine = sorted != NULL;
    for (size_t i = 0; i < how->n_places && fine; i++) {
        sorted[i] = labels[i] = make_label(view, how->places[i], how);
        fine = sorted[i] != NULL;
    }
    if (fine) qsort(sorted, how->n_places, sizeof *sorted, compare_texts);
    *are_different = true;
    for (size_t i = 1; i < how->n_places && fine; i++) *are_different &= strcmp(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return fine;
}

/* What a place lies in that is of this kind, or ASSAY_NONE. */
static assay_id place_of_kind(const as_trace_view *view, assay_id place, as_str kind) {
    assay_id id = above(view->ds, place);
    while (id != ASSAY_NONE && as_ds_location(view->ds, id)->kind != kind) id = above(view->ds, id);
    return id;
}

/* Whether those that lie in something of this kind lie in the same. */
static bool is_same_for_all(const as_trace_view *view, const naming *how, as_str kind) {
    assay_id first = ASSAY_NONE;
    for (size_t i = 0; i < how->n_places; i++) {
        assay_id place = place_of_kind(view, how->places[i], kind);
        if (first == ASSAY_NONE) first = place;
        if (place != ASSAY_NONE && place != first) return false;
    }
    return true;
}

static bool is_process(const as_trace_view *view, as_str kind) {
    const char *name = as_ds_text(view->ds, kind);
    return name && (strcmp(name, "rank") == 0 || strcmp(name, "process") == 0);
}

/* The kinds above the places, the outermost first. */
static void list_kinds(const as_trace_view *view, naming *out) {
    for (size_t i = 0; i < out->n_places; i++) {
        size_t at = out->n;
        for (assay_id id = above(view->ds, out->places[i]); id != ASSAY_NONE; id = above(view->ds, id)) {
            as_str kind = as_ds_location(view->ds, id)->kind;
            if (kind_number(out, kind) < out->n || out->n == MOST_KINDS) continue;
            memmove(out->kinds + at + 1, out->kinds + at, (out->n - at) * sizeof *out->kinds);
            out->kinds[at] = kind;
            out->is_named[out->n++] = true;
        }
    }
}

bool as_trace_name_places(as_trace_view *view, const assay_id *places, size_t n, const char **labels) {
    naming how = {.places = places, .n_places = n};
    bool are_different, could_be;
    list_kinds(view, &how);
    if (!try_labels(view, &how, labels, &could_be)) return false;
    for (size_t i = 0; i < how.n; i++) {
        bool is_same = is_same_for_all(view, &how, how.kinds[i]);
        if (!is_same && is_process(view, how.kinds[i])) continue;
        how.is_named[i] = false;
        if (!try_labels(view, &how, labels, &are_different)) return false;
        if (could_be ? !are_different : !is_same) how.is_named[i] = true;
    }
    return try_labels(view, &how, labels, &are_different);
}
