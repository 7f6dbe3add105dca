/* Which runs a series has, and in which order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/progress.h"
#include "cli/series_view.h"
#include "io/directory.h"
#include "io/input.h"

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* n digits of *text, which moves behind them; -1: there are others. */
static int read_digits(const char **text, int n) {
    int value = 0;
    for (int i = 0; i < n; i++, (*text)++) {
        if (**text < '0' || **text > '9') return -1;
        value = value * 10 + (**text - '0');
    }
    return value;
}

static bool skip(const char **text, const char *any_of) {
    if (!**text || !strchr(any_of, **text)) return false;
    (*text)++;
    return true;
}

/* Days since 1970 of a date of the Gregorian calendar. */
static double days_of(int year, int month, int day) {
    int y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int in_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097.0 + in_era - 719468;
}

double as_series_time(const char *text) {
    double seconds;
    if (as_real_parse(text, strlen(text), &seconds)) return isfinite(seconds) && seconds > 0 ? seconds : NAN;
    int year = read_digits(&text, 4), month = skip(&text, "-/") ? read_digits(&text, 2) : -1;
    int day = month > 0 && skip(&text, "-/") ? read_digits(&text, 2) : -1, hour = 0, minute = 0, second = 0;
    double fraction = 0, east = 0;
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31) return NAN;
    if (skip(&text, "T -_")) {
        hour = read_digits(&text, 2);
        minute = hour >= 0 && skip(&text, ":-") ? read_digits(&text, 2) : -1;
        second = minute >= 0 && skip(&text, ":-") ? read_digits(&text, 2) : 0;
        if (hour < 0 || minute < 0 || second < 0) return NAN;
        if (skip(&text, ".,")) {
            for (double unit = 0.1; *text >= '0' && *text <= '9'; text++, unit /= 10) fraction += unit * (*text - '0');
        }
        skip(&text, " ");
        if (!skip(&text, "Z") && (*text == '+' || *text == '-')) {
            double sign = *text++ == '+' ? 1 : -1;
            int hours = read_digits(&text, 2);
            skip(&text, ":");
            int minutes = hours >= 0 ? read_digits(&text, 2) : -1;
            if (minutes < 0) return NAN;
            east = sign * (hours * 3600 + minutes * 60);
        }
    }
    if (*text) return NAN;
    return days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second + fraction - east;
}

/* ---- what a dataset says of its run ------------------------------------------------------------------------------ */

/* Of a run, or (ASSAY_NONE) of any run or the dataset. */
static const char *find_attribute_of(const as_dataset *ds, assay_id run, const char *key, as_arena *arena) {
    as_str id = as_find(&ds->strings, key, strlen(key));
    for (size_t i = 0; id != AS_NO_STR && i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        bool is_of_run = attribute->owner == AS_OWNER_RUN && (run == ASSAY_NONE || attribute->owner_id == run);
        if (attribute->key != id || !(is_of_run || (run == ASSAY_NONE && attribute->owner == AS_OWNER_DATASET)))
            continue;
        char number[AS_NUMBER_SIZE];
        if (attribute->value.type == AS_CELL_TEXT)
            return as_arena_copy(arena, attribute->value.text, attribute->value.size);
        if (attribute->value.type == AS_CELL_INT)
            as_int_format(attribute->value.i, number);
        else if (attribute->value.type == AS_CELL_REAL)
            as_real_format(attribute->value.r, number);
        else
            continue;
        return as_arena_copy(arena, number, strlen(number));
    }
    return NULL;
}

static const char *find_attribute(const as_dataset *ds, const char *key, as_arena *arena) {
    return find_attribute_of(ds, ASSAY_NONE, key, arena);
}

static double find_time(const as_dataset *ds, as_arena *arena) {
    static const char *const keys[] = {"time",       "timestamp",  "global:timestamp", "header:timestamp", "date",
                                       "start_time", "start-time", "Creation Time",    "datetime",         NULL};
    double earliest = NAN;
    for (assay_id i = 0; i < AS_COUNT(ds, runs); i++) earliest = fmin(earliest, as_ds_run(ds, i)->start_time);
    for (size_t i = 0; isnan(earliest) && keys[i]; i++) {
        const char *text = find_attribute(ds, keys[i], arena);
        if (text) earliest = as_series_time(text);
    }
    return earliest;
}

/* "cmd workload (collector)" of Perun's profiles. */
static const char *find_group(const as_dataset *ds, as_arena *arena) {
    const char *cmd = find_attribute(ds, "header:cmd", arena), *work = find_attribute(ds, "header:workload", arena);
    const char *collector = find_attribute(ds, "collector_info:name", arena);
    char text[512];
    if (!cmd && !work && !collector) return "";
    snprintf(text, sizeof text, "%.200s%s%.150s%s%.100s%s", cmd ? cmd : "", work && *work ? " " : "", work ? work : "",
             collector ? " (" : "", collector ? collector : "", collector ? ")" : "");
    return as_arena_copy(arena, text, strlen(text));
}

static void describe_run(as_series_view *view, const as_dataset *ds, as_series_run *run) {
    static const char *const commits[] = {"commit", "origin", "git_commit", "revision", NULL};
    if (isnan(run->time)) run->time = find_time(ds, &view->arena);
    for (size_t i = 0; !run->commit && commits[i]; i++) run->commit = find_attribute(ds, commits[i], &view->arena);
    run->group = find_group(ds, &view->arena);
}

/* ---- what the operands name -------------------------------------------------------------------------------------- */

static as_series_run *add_run(as_series_view *view, const char *path) {
    as_series_run *run = as_vec_push(&view->runs);
    if (!run) return NULL;
    *run = (as_series_run){
        .path = as_arena_copy(&view->arena, path, strlen(path)), .time = NAN, .commit_time = NAN, .group = ""};
    if (!run->path) return NULL;
    const char *slash = strrchr(run->path, '/');
    run->name = slash && slash[1] ? slash + 1 : run->path;
    run->given = view->runs.count - 1;
    run->place = SIZE_MAX;
    return run;
}

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static as_exit list_directory(as_series_view *view, const char *path) {
    as_directory directory;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    if (as_directory_list(path, NULL, &directory, &error) != ASSAY_OK) status = as_cli_error(view->cli, &error);
    for (size_t i = 0; i < directory.n_entries && status == AS_EXIT_FINE; i++) {
        char whole[4096];
        int size = snprintf(whole, sizeof whole, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                            directory.entries[i].name);
        if (size < 0 || (size_t)size >= sizeof whole) continue;
        if (!add_run(view, whole)) status = as_cli_memory(view->cli);
    }
    as_directory_free(&directory);
    return status;
}

/* A store's profiles: each is read again, as a file of its own. Those that no commit lists any more are left out. */
static as_exit list_store(as_series_view *view, const as_dataset *store) {
    for (assay_id i = 0; i < AS_COUNT(store, runs); i++) {
        const as_run *stored = as_ds_run(store, i);
        const char *path = as_ds_text(store, stored->source), *time;
        const char *state = find_attribute_of(store, i, "state", &view->arena);
        if (!path || (state && strcmp(state, "unlisted") == 0)) continue;
        as_series_run *run = add_run(view, path);
        if (!run) return as_cli_memory(view->cli);
        const char *name = find_attribute_of(store, i, "file", &view->arena);
        if (name) run->name = name;
        run->commit = find_attribute_of(store, i, "commit", &view->arena);
        run->time = stored->start_time;
        run->is_pending = state && strcmp(state, "pending") == 0;
        time = find_attribute_of(store, i, "commit_time", &view->arena);
        run->commit_time = time ? as_series_time(time) : NAN;
    }
    return AS_EXIT_FINE;
}

/* A store, the directory that one is in, or a directory of files. */
static as_exit list_only(as_series_view *view, const char *path) {
    char beside[4096];
    struct stat status;
    int size = snprintf(beside, sizeof beside, "%s/.perun", path);
    bool has_store = size > 0 && (size_t)size < sizeof beside && stat(beside, &status) == 0 && S_ISDIR(status.st_mode);
    as_dataset *store = NULL;
    assay_error error;
    view->root = has_store ? path : NULL;
    if (as_cli_read(view->cli, has_store ? beside : path, false, NULL, &store, &error) != ASSAY_OK)
        return has_store ? as_cli_error(view->cli, &error) : list_directory(view, path);
    bool is_store = strcmp(store->format, "perun-store") == 0;
    as_exit result = is_store ? list_store(view, store) : list_directory(view, path);
    as_dataset_free(store);
    return result;
}

static as_exit list_operands(as_series_view *view, bool *is_listed) {
    size_t n = as_cli_operands(view->cli);
    const char *only = n == 1 ? as_cli_operand(view->cli, 0) : NULL;
    if (!n)
        return as_cli_fail(view->cli, AS_EXIT_USAGE, "--series needs runs: files, a directory of them, or a .perun");
    *is_listed = only && is_directory(only);
    if (*is_listed) return list_only(view, only);
    for (size_t i = 0; i < n; i++)
        if (!add_run(view, as_cli_operand(view->cli, i))) return as_cli_memory(view->cli);
    return AS_EXIT_FINE;
}

/* Opens them one after the other. In a directory there may be other files, which are left out; but one that is a
 * measurement and cannot be read is an error. */
static as_exit read_runs(as_series_view *view, bool is_listed, as_series_take *take) {
    size_t kept = 0;
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < view->runs.count && status == AS_EXIT_FINE; i++) {
        as_series_run *run = &AS_AT(as_series_run, &view->runs, i);
        as_dataset *ds = NULL;
        assay_error error;
        assay_status read = as_cli_read(view->cli, run->path, false, NULL, &ds, &error);
        if (read == ASSAY_E_AMBIGUOUS && is_listed && strcmp(error.rule, "unknown-format") == 0) {
            view->n_skipped++;
            continue;
        }
        if (read != ASSAY_OK) {
            status = as_cli_error(view->cli, &error);
            break;
        }
        describe_run(view, ds, run);
        AS_AT(as_series_run, &view->runs, kept) = *run;
        status = take(view, ds, kept++);
        as_dataset_free(ds);
    }
    view->runs.count = kept;
    return status;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int by_natural_name(const as_series_run *a, const as_series_run *b) {
    int order = strverscmp(a->name, b->name);
    return order ? order : strcmp(a->path, b->path);
}

static int by_given(const void *a, const void *b) {
    const as_series_run *x = *(as_series_run *const *)a, *y = *(as_series_run *const *)b;
    return x->given < y->given ? -1 : x->given > y->given;
}
static int by_name(const void *a, const void *b) {
    int order = by_natural_name(*(as_series_run *const *)a, *(as_series_run *const *)b);
    return order ? order : by_given(a, b);
}
static int by_time(const void *a, const void *b) {
    const as_series_run *x = *(as_series_run *const *)a, *y = *(as_series_run *const *)b;
    return x->time < y->time ? -1 : x->time > y->time ? 1 : by_name(a, b);
}
static int by_place(const void *a, const void *b) {
    const as_series_run *x = *(as_series_run *const *)a, *y = *(as_series_run *const *)b;
    if (x->is_pending != y->is_pending) return x->is_pending ? 1 : -1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->commit_time < y->commit_time ? -1 : x->commit_time > y->commit_time ? 1 : by_time(a, b);
}

/* A line of a list that runs are ordered by: a commit, or the name of a file. */
struct line {
    const char *text;
    size_t size, place;
};

static int compare_texts(const char *a, size_t n, const char *b, size_t m) {
    int order = memcmp(a, b, n < m ? n : m);
    return order ? order : n < m ? -1 : n > m;
}

static int by_text(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    int order = compare_texts(x->text, x->size, y->text, y->size);
    return order ? order : x->place < y->place ? 1 : x->place > y->place ? -1 : 0;
}

/* The word number `word` of each line, sorted; of equal ones the last in the file comes first. */
static bool read_lines(const as_input *input, size_t word, as_vec *lines) {
    const char *at = input->data, *end = at + input->size;
    for (size_t place = 0; at < end; place++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        struct line line = {.place = place};
        for (size_t i = 0; i <= word; i++) {
            while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
            line.text = at;
            while (at < stop && *at != ' ' && *at != '\t' && *at != '\r') at++;
            line.size = (size_t)(at - line.text);
        }
        if (line.size && line.text[0] != '#' && !as_vec_append(lines, &line, 1)) return false;
        at = newline ? newline + 1 : end;
    }
    if (lines->count) qsort(lines->data, lines->count, sizeof(struct line), by_text);
    return true;
}

/* The first line that is not before the text. */
static size_t find_line(const as_vec *lines, const char *text, size_t size) {
    size_t low = 0, high = lines->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct line *line = &AS_AT(struct line, lines, middle);
        if (compare_texts(line->text, line->size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { SHORTEST_COMMIT = 7 };

/* Names are equal; of commits one may be the beginning of the other. */
static size_t place_of(const as_vec *lines, const char *text, bool is_commit) {
    size_t size = strlen(text), at = find_line(lines, text, size);
    const struct line *line = at < lines->count ? &AS_AT(struct line, lines, at) : NULL;
    if (line && line->size == size && memcmp(line->text, text, size) == 0) return line->place;
    if (!is_commit) return SIZE_MAX;
    if (line && size >= SHORTEST_COMMIT && line->size > size && memcmp(line->text, text, size) == 0) return line->place;
    if (!at) return SIZE_MAX;
    line = &AS_AT(struct line, lines, at - 1);
    bool begins = line->size >= SHORTEST_COMMIT && line->size < size && memcmp(line->text, text, line->size) == 0;
    return begins ? line->place : SIZE_MAX;
}

static size_t place_runs(as_series_view *view, const as_vec *lines) {
    size_t n = 0;
    for (size_t i = 0; i < view->runs.count; i++) {
        as_series_run *run = &AS_AT(as_series_run, &view->runs, i);
        run->place = place_of(lines, run->name, false);
        if (run->place == SIZE_MAX) run->place = place_of(lines, run->path, false);
        if (run->place == SIZE_MAX && run->commit) run->place = place_of(lines, run->commit, true);
        n += run->place != SIZE_MAX;
    }
    return n;
}

/* By the list in a file: word 0 of each line of --order's, word 1 of git's log of HEAD. Gives how many runs are in
 * it. */
static as_exit place_by(as_series_view *view, const char *path, size_t word, size_t *n_placed) {
    as_input *input = NULL;
    assay_error error;
    as_vec lines;
    as_vec_init(&lines, sizeof(struct line), NULL);
    as_exit status = AS_EXIT_FINE;
    if (as_input_open(path, NULL, &input, &error) != ASSAY_OK) return as_cli_error(view->cli, &error);
    if (input->is_directory)
        status = as_cli_fail(
            view->cli, AS_EXIT_USAGE,
            "--order %s is a directory; it takes a file with a commit or file name in each line, or time, name, given",
            path);
    else if (!read_lines(input, word, &lines))
        status = as_cli_memory(view->cli);
    else
        *n_placed = place_runs(view, &lines);
    as_vec_free(&lines);
    as_input_close(input);
    return status;
}

static size_t count_times(const as_series_view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->runs.count; i++) n += isnan(AS_AT(as_series_run, &view->runs, i).time) ? 0 : 1;
    return n;
}

/* By when the commits were made, where all are known; else by the log of the repository that the store belongs to. What
 * is pending comes last. */
static as_exit place_by_commit(as_series_view *view, size_t *n_placed) {
    char path[4096];
    const char *only = as_cli_operands(view->cli) == 1 ? as_cli_operand(view->cli, 0) : NULL;
    struct stat status;
    size_t n = view->runs.count, n_times = 0, n_pending = 0;
    *n_placed = 0;
    for (size_t i = 0; i < n; i++) {
        const as_series_run *run = &AS_AT(as_series_run, &view->runs, i);
        n_times += isnan(run->commit_time) ? 0 : 1;
        n_pending += run->is_pending;
    }
    if (!only || !is_directory(only) || n_pending == n) return AS_EXIT_FINE;
    if (n_times + n_pending == n) {
        *n_placed = n; /* all in one place: by_place() goes on by their times */
        return AS_EXIT_FINE;
    }
    int size = snprintf(path, sizeof path, "%s/%s.git/logs/HEAD", only, view->root ? "" : "../");
    if (size < 0 || (size_t)size >= sizeof path || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return AS_EXIT_FINE;
    as_exit result = place_by(view, path, 1, n_placed);
    *n_placed += n_pending;
    return result;
}

static as_exit choose_order(as_series_view *view) {
    const char *given = as_cli_value(view->cli, "order");
    size_t n = view->runs.count, n_placed = 0, n_times = count_times(view);
    as_exit status = AS_EXIT_FINE;
    if (given && (strcmp(given, "name") == 0 || strcmp(given, "given") == 0)) {
        view->order = given;
    } else if (given && strcmp(given, "time") == 0) {
        view->order = "time";
        if (n_times < n)
            return as_cli_fail(
                view->cli, AS_EXIT_USAGE,
                "--order time: of %zu runs %zu do not say when they were; --order name takes the order of their names",
                n, n - n_times);
    } else if (given) {
        view->order = "file";
        status = place_by(view, given, 0, &n_placed);
        if (status == AS_EXIT_FINE && n_placed < n)
            as_cli_note(view->cli, "%zu of %zu runs are not listed in %s and left out", n - n_placed, n, given);
    } else {
        status = place_by_commit(view, &n_placed);
        view->order = n && n_placed == n ? "commit" : n && n_times == n ? "time" : "name";
    }
    return status;
}

int as_series_compare_runs(const as_series_view *view, const as_series_run *const *a, const as_series_run *const *b) {
    switch (view->order[0]) {
    case 't': return by_time(a, b);
    case 'n': return by_name(a, b);
    case 'g': return by_given(a, b);
    default: return by_place(a, b);
    }
}

as_exit as_series_find_runs(as_series_view *view, as_series_take *take) {
    bool is_listed = false;
    as_exit status = list_operands(view, &is_listed);
    if (status == AS_EXIT_FINE) status = read_runs(view, is_listed, take);
    if (status == AS_EXIT_FINE) status = choose_order(view);
    if (status == AS_EXIT_FINE && view->n_skipped)
        as_cli_note(view->cli,
                    view->n_skipped == 1 ? "%zu file is no measurement and left out"
                                         : "%zu files are no measurements and left out",
                    view->n_skipped);
    return status;
}

as_exit as_series_add_open(as_series_view *view, as_dataset *const *parts, size_t n, as_series_take *take) {
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < n && status == AS_EXIT_FINE; i++) {
        const char *path = as_ds_text(parts[i], parts[i]->path);
        as_series_run *run = add_run(view, path ? path : "");
        if (!run) return as_cli_memory(view->cli);
        describe_run(view, parts[i], run);
        status = take(view, parts[i], i);
    }
    view->order = n && count_times(view) == n ? "time" : "name";
    return status;
}
