#include "cli/run_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "render/display.h"

/* Attributes of runs that are shown, in this order. */
static const char *const KEYS[] = {"commit", "file", "state", "type", "collector", "cmd", "workload", "postprocessors"};
enum { COMMIT, FILE_NAME, N_KEYS = sizeof KEYS / sizeof *KEYS, COMMIT_SHOWN = 10 };

typedef struct run_facts {
    as_cell cells[N_KEYS];
} run_facts;

static bool is_key(const as_dataset *ds, const as_attribute *attribute, size_t key) {
    return attribute->owner == AS_OWNER_RUN && strcmp(as_ds_text(ds, attribute->key), KEYS[key]) == 0;
}

bool as_has_run_list(const as_dataset *ds) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (is_key(ds, attribute, COMMIT) || is_key(ds, attribute, FILE_NAME)) return true;
    }
    return false;
}

/* "" and the empty list of JSON. */
static bool is_nothing(const as_cell *cell) {
    bool is_text = cell->type == AS_CELL_TEXT || cell->type == AS_CELL_JSON;
    return is_text && (cell->size == 0 || (cell->size == 2 && memcmp(cell->text, "[]", 2) == 0));
}

/* One for each run; NULL when memory is out. */
static run_facts *gather(const as_dataset *ds) {
    run_facts *facts = calloc(ds->runs.count ? ds->runs.count : 1, sizeof *facts); /* AS_CELL_NULL is 0 */
    for (size_t i = 0; facts && i < ds->attributes.count; i++) {
        const as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        for (size_t key = 0; key < N_KEYS; key++) {
            if (is_key(ds, attribute, key) && attribute->owner_id < ds->runs.count && !is_nothing(&attribute->value))
                facts[attribute->owner_id].cells[key] = attribute->value;
        }
    }
    return facts;
}

/* "2026-11-16 03:41:00", in UTC. */
static void format_time(double seconds, char text[32]) {
    time_t whole = (time_t)seconds;
    struct tm parts;
    text[0] = '\0';
    if (fabs(seconds) < 1e11 && gmtime_r(&whole, &parts)) strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts);
}

static bool same_text(const as_cell *a, const as_cell *b) {
    if (a->type != b->type || (a->type != AS_CELL_TEXT && a->type != AS_CELL_JSON)) return false;
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* The columns that some run has something in; without those that all have alike, which are kept in `common`. */
static size_t choose_columns(const as_dataset *ds, const run_facts *facts, size_t columns[N_KEYS],
                             const as_cell *common[N_KEYS]) {
    size_t n = 0, n_runs = ds->runs.count;
    for (size_t key = 0; key < N_KEYS; key++) {
        size_t n_used = 0, n_same = 0;
        for (size_t run = 0; run < n_runs; run++) {
            n_used += facts[run].cells[key].type != AS_CELL_NULL;
            n_same += same_text(&facts[run].cells[key], &facts[0].cells[key]);
        }
        bool is_common = key > FILE_NAME && n_runs > 1 && n_same == n_runs;
        common[key] = is_common ? &facts[0].cells[key] : NULL;
        if (n_used && !is_common) columns[n++] = key;
    }
    return n;
}

/* "all: type mixed, cmd ./sort". False when memory is out. */
static bool print_common(as_cli *cli, const as_cell *const common[N_KEYS]) {
    as_output *line = as_output_to_memory();
    size_t size = 0;
    for (size_t key = 0; line && key < N_KEYS; key++) {
        if (!common[key]) continue;
        as_output_printf(line, "%s%s ", size++ ? ", " : "all: ", KEYS[key]);
        as_output_write(line, common[key]->text, common[key]->size);
    }
    const char *text = line ? as_output_memory(line, &size) : NULL;
    if (text && size) {
        as_display_write(cli->out, text, size, cli->style.width);
        as_output_char(cli->out, '\n');
    }
    as_output_discard(line);
    return text != NULL;
}

static int by_time(const void *a, const void *b) {
    const as_run *x = *(const as_run *const *)a, *y = *(const as_run *const *)b;
    if (isnan(x->start_time) != isnan(y->start_time)) return isnan(x->start_time) ? 1 : -1;
    if (!isnan(x->start_time) && x->start_time != y->start_time) return x->start_time < y->start_time ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* A row for each run, the oldest first; those that do not say when they were, last. NULL when memory is out. */
static as_table *list_table(const as_dataset *ds, const run_facts *facts, const size_t *columns, size_t n) {
    size_t n_runs = ds->runs.count;
    as_table *table = as_table_new(NULL, 0, NULL);
    const as_run **runs = calloc(n_runs + 1, sizeof *runs);
    bool fine = table && runs && as_table_add_column(table, "run") != SIZE_MAX;
    for (size_t i = 0; i < n && fine; i++) fine = as_table_add_column(table, KEYS[columns[i]]) != SIZE_MAX;
    fine = fine && as_table_add_column(table, "time (UTC)") != SIZE_MAX;
    for (size_t i = 0; i < n_runs && fine; i++) runs[i] = as_ds_run(ds, (assay_id)i);
    if (fine && n_runs) qsort(runs, n_runs, sizeof *runs, by_time);
    for (size_t run = 0; run < n_runs && fine; run++) {
        ptrdiff_t id = runs[run] - as_ds_run(ds, 0);
        const run_facts *of_run = &facts[id];
        as_cell cells[N_KEYS + 2] = {as_cell_int(id)};
        char time[32];
        for (size_t i = 0; i < n; i++) {
            as_cell *cell = &cells[i + 1];
            *cell = of_run->cells[columns[i]];
            if (columns[i] == COMMIT && cell->size > COMMIT_SHOWN) cell->size = COMMIT_SHOWN;
        }
        format_time(runs[run]->start_time, time);
        cells[n + 1] = time[0] ? as_cell_text(time) : as_cell_null();
        fine = as_table_append(table, cells);
    }
    free(runs);
    if (fine) return table;
    as_table_free(table);
    return NULL;
}

bool as_run_list_print(as_cli *cli, const as_dataset *ds) {
    enum { SHOWN = 50 }; /* on a terminal */
    size_t columns[N_KEYS], n = 0;
    const as_cell *common[N_KEYS];
    run_facts *facts = gather(ds);
    if (facts) n = choose_columns(ds, facts, columns, common);
    as_table *table = facts && print_common(cli, common) ? list_table(ds, facts, columns, n) : NULL;
    as_print_style style = cli->style;
    if (style.width && ds->runs.count > SHOWN) style.max_rows = SHOWN;
    bool fine = table && as_print_table(cli->out, table, style);
    as_table_free(table);
    free(facts);
    return fine;
}

bool as_run_list_build(as_builder *b, const as_dataset *ds) {
    run_facts *facts = gather(ds);
    if (!facts) return false;
    as_build_array(b, "profiles", true);
    for (size_t i = 0; i < ds->runs.count; i++) {
        const as_run *run = as_ds_run(ds, (assay_id)i);
        as_build_object(b, NULL, false);
        as_build_int(b, "run", (int64_t)i);
        as_build_text(b, "source_id", as_ds_text(ds, run->source_id));
        if (isnan(run->start_time))
            as_build_text(b, "start_time", NULL);
        else
            as_build_real(b, "start_time", run->start_time);
        for (size_t key = 0; key < N_KEYS; key++) {
            const as_cell *cell = &facts[i].cells[key];
            if (cell->type == AS_CELL_INT)
                as_build_int(b, KEYS[key], cell->i);
            else if (cell->type == AS_CELL_REAL)
                as_build_real(b, KEYS[key], cell->r);
            else
                as_build_text(b, KEYS[key],
                              cell->type == AS_CELL_TEXT || cell->type == AS_CELL_JSON ? cell->text : NULL);
        }
        as_build_end(b);
    }
    as_build_end(b);
    free(facts);
    return true;
}
