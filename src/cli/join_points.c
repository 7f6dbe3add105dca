#include "cli/join_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/points.h"
#include "io/directory.h"

typedef struct point_list {
    const as_point_rules *rules;
    char *directory; /* that all are in */
    as_vec names;    /* char *: the directory of each operand, then of each point, ascending */
    bool are_files;  /* the operands are, not the directories */
    bool failed;     /* memory was out */
} point_list;

static void free_list(point_list *list) {
    for (size_t i = 0; i < list->names.count; i++) free(AS_AT(char *, &list->names, i));
    as_vec_free(&list->names);
    free(list->directory);
}

static const char *name_at(const point_list *list, size_t i) { return AS_AT(char *, &list->names, i); }

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Cuts the last part off a path: "a/b" is "a" and "b", "b" is "." and "b". NULL: it has none that a set can have, or
 * memory is out. */
static char *cut_last(point_list *list, char *path) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') path[--size] = '\0';
    char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (*name == '\0' || *name == '.' || strchr(name, ':')) return NULL;
    char *last = strdup(name);
    list->failed |= !last;
    if (!slash)
        memcpy(path, ".", 2);
    else
        path[slash == path ? 1 : slash - path] = '\0';
    return last;
}

/* Whether the operand is a point beside those before it. */
static bool add_point(point_list *list, const char *operand) {
    char *path = strdup(operand), *file = NULL;
    bool is_first = list->names.count == 0, is_file = !is_directory(operand);
    bool is_point = path && (is_first || is_file == list->are_files);
    list->are_files = is_file;
    list->failed |= !path;
    if (is_point && is_file) {
        file = cut_last(list, path);
        is_point = file && as_has_ending(file, list->rules->ending) && strcmp(path, ".") != 0;
    } else if (is_point) {
        is_point = as_point_set_look(path, list->rules->ending) == AS_POINTS_FILES;
    }
    char *name = is_point ? cut_last(list, path) : NULL;
    is_point = name && (is_first || strcmp(path, list->directory) == 0);
    if (is_point && !as_vec_append(&list->names, &name, 1)) {
        list->failed = true;
        is_point = false;
    }
    if (!is_point) free(name);
    if (is_point && is_first)
        list->directory = path;
    else
        free(path);
    free(file);
    return is_point;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool list_directory(point_list *list, const char *path, as_directory *out) {
    assay_error error;
    assay_status status = as_directory_list(path, NULL, out, &error);
    list->failed |= status == ASSAY_E_NOMEM;
    if (status != ASSAY_OK) as_directory_free(out);
    return status == ASSAY_OK;
}

/* Adds a directory of the set to the points it has, and its files to those of the points that were given. */
static void count_point(point_list *list, const char *name, size_t *n_points, size_t *n_files) {
    char *path = NULL;
    as_directory directory;
    size_t n = 0;
    if (asprintf(&path, "%s/%s", list->directory, name) < 0) {
        list->failed = true;
        return;
    }
    if (list_directory(list, path, &directory)) {
        for (size_t i = 0; i < directory.n_entries; i++)
            n += !directory.entries[i].is_directory && as_has_ending(directory.entries[i].name, list->rules->ending);
        as_directory_free(&directory);
    }
    free(path);
    *n_points += n > 0;
    if (bsearch(&name, list->names.data, list->names.count, sizeof(char *), compare_names)) *n_files += n;
}

/* Each directory once. */
static void make_unique(point_list *list) {
    size_t n = 0;
    qsort(list->names.data, list->names.count, sizeof(char *), compare_names);
    for (size_t i = 0; i < list->names.count; i++) {
        char **at = &AS_AT(char *, &list->names, i);
        if (n && strcmp(name_at(list, n - 1), *at) == 0)
            free(*at);
        else
            AS_AT(char *, &list->names, n++) = *at;
    }
    list->names.count = n;
}

static bool are_same(const as_point_name *a, const as_point_name *b) {
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) same = a->pairs[i].value == b->pairs[i].value;
    return same;
}

/* Whether the names say so many different points. */
static bool has_different(point_list *list, size_t at_least) {
    as_point_name *seen = calloc(at_least + 1, sizeof *seen);
    size_t n = 0;
    list->failed |= !seen;
    for (size_t i = 0; seen && i < list->names.count && n < at_least; i++) {
        size_t k = 0;
        if (list->rules->parse(name_at(list, i), &seen[n])) break;
        while (k < n && !are_same(&seen[k], &seen[n])) k++;
        n += k == n;
    }
    free(seen);
    return n >= at_least;
}

/* "points=app.p4:app.p8" */
static char *points_option(const point_list *list) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool fine = as_vec_text(&text, "points=");
    for (size_t i = 0; fine && i < list->names.count; i++)
        fine = (i == 0 || as_vec_text(&text, ":")) && as_vec_text(&text, name_at(list, i));
    char *option = fine && as_vec_append(&text, "", 1) ? strdup(text.data) : NULL;
    as_vec_free(&text);
    return option;
}

/* The operands are these points: their directory instead. */
static bool replace(as_cli *cli, point_list *list, bool are_all, as_vec *options) {
    as_arguments *arguments = &cli->arguments;
    char *option = are_all ? NULL : points_option(list);
    if (!are_all && !option) return false;
    if (!as_vec_append(&arguments->joined, &option, 1)) {
        free(option);
        return false;
    }
    if (option && !as_vec_append(options, &option, 1)) return false;
    if (!as_vec_append(&arguments->joined, &list->directory, 1)) return false;
    AS_AT(const char *, &arguments->operands, 0) = list->directory;
    arguments->operands.count = 1;
    list->directory = NULL;
    return true;
}

/* How many points and files there are. */
static void count_points(point_list *list, size_t *n_points, size_t *n_files) {
    as_directory directory;
    *n_points = *n_files = 0;
    if (!list_directory(list, list->directory, &directory)) return;
    for (size_t i = 0; i < directory.n_entries; i++) {
        if (directory.entries[i].is_directory) count_point(list, directory.entries[i].name, n_points, n_files);
    }
    as_directory_free(&directory);
}

static bool join_as(as_cli *cli, const as_point_rules *rules, as_vec *options, bool *is_joined) {
    point_list list = {.rules = rules};
    size_t n = as_cli_operands(cli), n_points = 0, n_files = 0;
    bool are_points = true;
    as_vec_init(&list.names, sizeof(char *), NULL);
    for (size_t i = 0; i < n && are_points; i++) are_points = add_point(&list, as_cli_operand(cli, i));
    if (are_points) {
        make_unique(&list);
        count_points(&list, &n_points, &n_files);
        are_points = !list.are_files || (n_files == n && has_different(&list, cli->verb->joins_files_from));
    }
    *is_joined = are_points && !list.failed;
    if (*is_joined) list.failed = !replace(cli, &list, n_points == list.names.count, options);
    free_list(&list);
    return !list.failed;
}

bool as_join_points(as_cli *cli, as_vec *options) {
    bool fine = true, is_joined = false;
    if (!cli->verb || !cli->verb->joins_files_from || as_cli_operands(cli) < 2) return true;
    for (const as_format *const *format = as_formats; *format && fine && !is_joined; format++) {
        bool may_be = (*format)->points && (!cli->from || strcmp(cli->from, (*format)->name) == 0);
        if (may_be) fine = join_as(cli, (*format)->points, options, &is_joined);
    }
    return fine;
}
