/* The inputs of compare: two files, directories of repetitions, or two lists. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/compare.h"
#include "io/directory.h"

bool as_part_parse(const char *text, double *out) {
    size_t size = strlen(text);
    bool is_percent = size && text[size - 1] == '%';
    double value;
    while (is_percent && size > 1 && text[size - 2] == ' ') size--;
    if (!as_real_parse(text, size - is_percent, &value) || !(value >= 0)) return false;
    if (is_percent) value /= 100;
    if (value > 10) return false;
    *out = value;
    return true;
}

static assay_status add_dataset(as_cli *cli, as_sides *sides, size_t side, const char *path, assay_error *error) {
    as_dataset **parts = realloc(sides->parts[side], (sides->n[side] + 1) * sizeof *parts);
    if (!parts) return as_fail_memory(error, path);
    sides->parts[side] = parts;
    assay_status status = as_cli_read(cli, path, false, NULL, &parts[sides->n[side]], error);
    if (status == ASSAY_OK) sides->n[side]++;
    return status;
}

/* Repetitions of one side must be of one format: else they are not repetitions, and somebody mixed something up. */
static as_exit check_formats(as_cli *cli, const as_sides *sides, size_t side) {
    for (size_t i = 1; i < sides->n[side]; i++) {
        const as_dataset *first = sides->parts[side][0], *ds = sides->parts[side][i];
        if (strcmp(first->format, ds->format) != 0)
            return as_cli_fail(cli, AS_EXIT_INPUT, "%s is %s, but %s is %s: repetitions are of one format",
                               as_ds_text(first, first->path), first->format, as_ds_text(ds, ds->path), ds->format);
    }
    return AS_EXIT_FINE;
}

/* What a directory holds. what: why it is no dataset itself. */
static as_exit add_directory(as_cli *cli, as_sides *sides, size_t side, const char *path, const assay_error *what) {
    as_directory directory;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    size_t before = sides->n[side], length = strlen(path);
    if (as_directory_list(path, NULL, &directory, &error) != ASSAY_OK) status = as_cli_error(cli, &error);
    for (size_t i = 0; status == AS_EXIT_FINE && i < directory.n_entries; i++) {
        char name[PATH_MAX];
        int size = snprintf(name, sizeof name, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/",
                            directory.entries[i].name);
        if (size < 0 || (size_t)size >= sizeof name) continue;
        if (add_dataset(cli, sides, side, name, &error) != ASSAY_OK) {
            if (strcmp(error.rule, "unknown-format") != 0)
                status = as_cli_error(cli, &error);
            else
                as_cli_note(cli, "%s is no measurement and left out", name);
        }
    }
    as_directory_free(&directory);
    if (status == AS_EXIT_FINE && sides->n[side] == before) return as_cli_error(cli, what);
    return status;
}

/* Nobody knows it, or it is a folder of a set's files, and not of sets. */
static bool is_no_dataset(const assay_error *error) {
    return strcmp(error->rule, "unknown-format") == 0 || strcmp(error->rule, "no-files") == 0;
}

static as_exit add_operand(as_cli *cli, as_sides *sides, size_t side, const char *path) {
    assay_error error, listed;
    as_directory directory;
    if (add_dataset(cli, sides, side, path, &error) == ASSAY_OK) return AS_EXIT_FINE;
    bool is_directory = is_no_dataset(&error) && strcmp(path, "-") != 0 &&
                        as_directory_list(path, NULL, &directory, &listed) == ASSAY_OK;
    if (!is_directory) return as_cli_error(cli, &error);
    as_directory_free(&directory);
    return add_directory(cli, sides, side, path, &error);
}

static void set_label(as_sides *sides, size_t side, const char *first, size_t n_operands) {
    size_t n = sides->n[side];
    const char *slash = strrchr(first, '/'), *name = slash && slash[1] ? slash + 1 : first;
    if (n == 1)
        snprintf(sides->label[side], sizeof sides->label[side], "%.200s", name);
    else if (n_operands == 1)
        snprintf(sides->label[side], sizeof sides->label[side], "%.200s (%zu repetitions)", name, n);
    else
        snprintf(sides->label[side], sizeof sides->label[side], "%.200s and %zu more", name, n - 1);
}

/* Two sides of one name are told apart by what is before it. */
static void tell_apart(as_sides *sides, const char *const *first) {
    if (strcmp(sides->label[0], sides->label[1]) != 0) return;
    for (size_t side = 0; side < 2; side++)
        snprintf(sides->label[side], sizeof sides->label[side], "%.200s", first[side]);
}

/* Not two files, and not two lists: what to do about it. */
static as_exit fail_operands(as_cli *cli, bool has_word) {
    size_t n = as_cli_operands(cli);
    const char *first = n ? as_cli_operand(cli, 0) : "BASE", *last = n ? as_cli_operand(cli, n - 1) : "TARGET";
    if (has_word)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "vs stands between two lists of files, and one is empty: assay compare BASE… vs TARGET…");
    if (n > 2)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "which of these %zu are the base, and which the target? Put vs between them: assay compare "
                           "%s … vs … %s; --series finds changes over many runs",
                           n, first, last);
    if (n == 1)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "what is %s to be compared with? assay compare BASE TARGET; --noise and --series take one "
                           "path",
                           first);
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "compare needs BASE and TARGET, or BASE… vs TARGET…; assay compare --help tells more");
}

as_exit as_sides_open(as_cli *cli, as_sides *out) {
    size_t n = as_cli_operands(cli), middle = SIZE_MAX;
    *out = (as_sides){0};
    for (size_t i = 0; i < n; i++) {
        bool is_file = n == 2 && access("vs", F_OK) == 0; /* of two names both are files */
        if (strcmp(as_cli_operand(cli, i), "vs") != 0 || is_file) continue;
        if (middle != SIZE_MAX) return as_cli_fail(cli, AS_EXIT_USAGE, "vs stands more than once; once is enough");
        middle = i;
    }
    bool has_word = middle != SIZE_MAX;
    if (has_word ? middle == 0 || middle == n - 1 : n != 2) return fail_operands(cli, has_word);
    if (!has_word) middle = 1;
    as_exit status = AS_EXIT_FINE;
    const char *first[2] = {as_cli_operand(cli, 0), as_cli_operand(cli, middle + has_word)};
    for (size_t i = 0; i < n && status == AS_EXIT_FINE; i++)
        if (!has_word || i != middle) status = add_operand(cli, out, i >= middle, as_cli_operand(cli, i));
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++) {
        status = check_formats(cli, out, side);
        size_t n_operands = side == 0 ? middle : n - middle - has_word;
        if (status == AS_EXIT_FINE) set_label(out, side, first[side], n_operands);
    }
    if (status == AS_EXIT_FINE) tell_apart(out, first);
    return status;
}

void as_sides_close(as_sides *sides) {
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < sides->n[side]; i++) as_dataset_free(sides->parts[side][i]);
        free(sides->parts[side]);
    }
}

as_exit as_sides_open_one(as_cli *cli, as_sides *out) {
    size_t n = as_cli_operands(cli);
    as_exit status = AS_EXIT_FINE;
    *out = (as_sides){0};
    if (!n)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--noise needs measurements: a file, several, or a directory of them");
    for (size_t i = 0; i < n && status == AS_EXIT_FINE; i++) status = add_operand(cli, out, 0, as_cli_operand(cli, i));
    if (status == AS_EXIT_FINE) status = check_formats(cli, out, 0);
    if (status == AS_EXIT_FINE) set_label(out, 0, as_cli_operand(cli, 0), n);
    return status;
}
