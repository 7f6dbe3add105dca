/* Names of directories: parameters and points. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/cube/set.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_of_number(char c) { return is_digit(c) || c == '.' || c == ','; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* ---- one name -------------------------------------------------------------------------------------------------------- */

/* Where ".r3" begins that ends the name or has a dot behind it; else the end. */
static const char *find_repetition(const char *text, uint64_t *repetition) {
    for (const char *at = text; (at = strstr(at, ".r")) != NULL; at++) {
        const char *digit = at + 2;
        for (*repetition = 0; is_digit(*digit); digit++) {
            if (*repetition < UINT64_MAX / 100) *repetition = *repetition * 10 + (uint64_t)(*digit - '0');
        }
        if (digit > at + 2 && (!*digit || *digit == '.')) return at;
    }
    *repetition = 0;
    return text + strlen(text);
}

/* "21,5," and "21.5." are 21.5. */
static bool parse_value(const char *text, size_t size, double *out) {
    char number[64];
    if (size >= sizeof number) return false;
    for (size_t i = 0; i < size; i++) number[i] = text[i] == ',' ? '.' : text[i];
    while (size && number[size - 1] == '.') size--;
    return size && is_digit(number[0]) && as_real_parse(number, size, out);
}

static const char *add_pair(as_set_name *out, const char *word, const char *word_end, const char *number,
                            const char *number_end) {
    while (word < word_end && is_blank(*word)) word++;
    while (word < word_end && is_blank(word_end[-1])) word_end--;
    if (word == word_end) return "a number has no name before it";
    if (out->n == AS_SET_MAX_PAIRS) return "it has too many parameters";
    as_set_pair *pair = &out->pairs[out->n++];
    *pair = (as_set_pair){.name = word, .size = (size_t)(word_end - word)};
    return parse_value(number, (size_t)(number_end - number), &pair->value) ? NULL : "a value in it is no number";
}

const char *as_set_parse_name(const char *text, as_set_name *out) {
    const char *end = find_repetition(text, &out->repetition), *dot = memchr(text, '.', (size_t)(end - text));
    const char *at = dot && !(dot + 1 < end && is_digit(dot[1])) ? dot + 1 : text;
    out->n = 0;
    while (at < end) {
        const char *word = at, *number, *problem;
        bool has_digit = false;
        while (at < end && !is_of_number(*at)) at++;
        for (number = at; at < end && is_of_number(*at); at++) has_digit |= is_digit(*at);
        if (number == end && out->n) return "there is text behind its last number";
        if (!has_digit) continue; /* a part of the prefix */
        problem = add_pair(out, word, number, number, at);
        if (problem) return problem;
    }
    return out->n ? NULL : "there is no parameter with a number in it";
}

/* ---- all names ------------------------------------------------------------------------------------------------------- */

static as_set_file *file_at(const as_set *set, size_t i) { return &AS_AT(as_set_file, &set->files, i); }

static assay_status fail(const as_set *set, const char *rule, const char *what) {
    return as_fail(set->reader->error, ASSAY_E_FORMAT, as_place_file(set->reader->input->path), rule, "%s", what);
}

static assay_status fail_name(const as_set *set, const as_set_file *file, const char *what) {
    return as_fail(set->reader->error, ASSAY_E_FORMAT, as_place_file(set->reader->input->path), "point-name",
                   "the directory '%s' names no point: %s; names are like app.p16.n200.r1", file->directory, what);
}

/* "p, n" of a name, cut where there is no room. */
static void list_names(const as_set_name *name, char *out, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < name->n && at + 1 < size; i++) {
        int n = snprintf(out + at, size - at, "%s%.*s", i ? ", " : "", (int)name->pairs[i].size, name->pairs[i].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

static assay_status check_same(const as_set *set, const as_set_file *first, const as_set_file *file) {
    const as_set_name *a = first->name, *b = file->name;
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same =
            a->pairs[i].size == b->pairs[i].size && memcmp(a->pairs[i].name, b->pairs[i].name, a->pairs[i].size) == 0;
    if (same) return ASSAY_OK;
    char of_first[128], of_file[128];
    list_names(a, of_first, sizeof of_first);
    list_names(b, of_file, sizeof of_file);
    return as_fail(set->reader->error, ASSAY_E_FORMAT, as_place_file(set->reader->input->path), "point-name",
                   "the directory '%s' has the parameters %s, '%s' has %s; all must have the same in the same order",
                   file->directory, of_file, first->directory, of_first);
}

/* Files of one directory share its name. */
static assay_status parse_names(as_set *set) {
    for (size_t i = 0; i < set->files.count; i++) {
        as_set_file *file = file_at(set, i), *before = i ? file_at(set, i - 1) : NULL;
        if (before && before->directory == file->directory) {
            file->name = before->name;
            continue;
        }
        file->name = as_arena_alloc(&set->ds->arena, sizeof *file->name);
        if (!file->name) return as_reader_memory(set->reader);
        const char *problem = as_set_parse_name(file->directory, file->name);
        if (problem) return fail_name(set, file, problem);
        AS_TRY(check_same(set, file_at(set, 0), file));
    }
    return ASSAY_OK;
}

static bool varies(const as_set *set, size_t pair) {
    double first = file_at(set, 0)->name->pairs[pair].value;
    for (size_t i = 1; i < set->files.count; i++) {
        if (file_at(set, i)->name->pairs[pair].value != first) return true;
    }
    return false;
}

/* Parameters are those that vary. */
static assay_status add_parameters(as_set *set) {
    const as_set_name *name = file_at(set, 0)->name;
    size_t n = 0, kept[AS_SET_MAX_PAIRS];
    for (size_t i = 0; i < name->n; i++) {
        if (!varies(set, i)) continue;
        as_str text = as_ds_intern(set->ds, name->pairs[i].name, name->pairs[i].size);
        assay_id id = as_add_parameter(set->ds, text);
        if (id == ASSAY_NONE) return as_reader_memory(set->reader);
        if (id < n)
            return as_fail(set->reader->error, ASSAY_E_FORMAT, as_place_file(set->reader->input->path), "point-name",
                           "the parameter '%s' comes twice in '%s'", as_ds_text(set->ds, text),
                           file_at(set, 0)->directory);
        kept[n++] = i;
    }
    if (!n)
        return fail(set, "point-name",
                    "no parameter varies: a set needs directories of at least two points, named like app.p16.n200.r1");
    for (size_t i = 0; i < set->files.count; i++) {
        as_set_file *file = file_at(set, i);
        file->coordinates = as_arena_array(&set->ds->arena, n, sizeof(double));
        if (!file->coordinates) return as_reader_memory(set->reader);
        for (size_t k = 0; k < n; k++) file->coordinates[k] = file->name->pairs[kept[k]].value;
    }
    return ASSAY_OK;
}

static int compare_points(const as_set_file *a, const as_set_file *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a->coordinates[i] != b->coordinates[i]) return a->coordinates[i] < b->coordinates[i] ? -1 : 1;
    }
    return 0;
}

static int compare_files(const void *a, const void *b, void *n_parameters) {
    const as_set_file *x = a, *y = b;
    int order = compare_points(x, y, *(const size_t *)n_parameters);
    if (order) return order;
    if (x->name->repetition != y->name->repetition) return x->name->repetition < y->name->repetition ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Points in ascending order, and a run for each file; those of one point are its repetitions. */
static assay_status add_points(as_set *set) {
    size_t n = as_ds_parameters(set->ds);
    uint32_t repetition = 0;
    qsort_r(set->files.data, set->files.count, sizeof(as_set_file), compare_files, &n);
    for (size_t i = 0; i < set->files.count; i++) {
        const as_set_file *file = file_at(set, i);
        repetition++;
        if (!i || compare_points(file_at(set, i - 1), file, n) != 0) {
            if (!as_vec_append(&set->ds->coordinates, file->coordinates, n)) return as_reader_memory(set->reader);
            set->ds->n_points++;
            repetition = 0;
        }
        as_run run = AS_RUN_INIT;
        run.source = as_ds_intern_text(set->ds, file->path);
        run.point = (assay_id)(set->ds->n_points - 1);
        run.repetition = repetition;
        if (run.source == AS_NO_STR || as_add_run(set->ds, &run) == ASSAY_NONE) return as_reader_memory(set->reader);
    }
    return ASSAY_OK;
}

assay_status as_set_find_points(as_set *set) {
    AS_TRY(parse_names(set));
    AS_TRY(add_parameters(set));
    return add_points(set);
}
