/* SQL over 10 million values: scans, lookups, joins, and the export. Prints CPU seconds and rows. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dataset/build.h"
#include "query/query.h"

enum { CONTEXTS = 10000, POINTS = 100, REPETITIONS = 5, METRICS = 2, RUNS = POINTS * REPETITIONS };

/* CPU seconds: what else the machine does must not matter. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "bench_sql: %s\n", what);
    exit(1);
}

static void add_contexts(as_dataset *ds) {
    as_tree tree;
    as_tree_init(&tree, ds);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        char path[64];
        int size = i % 100 == 0 ? snprintf(path, sizeof path, "main->phase %u", i / 100)
                                : snprintf(path, sizeof path, "main->phase %u->f%u", i / 100, i % 100);
        if (as_tree_path(&tree, path, (size_t)size) == ASSAY_NONE) die("memory");
    }
    const assay_id *ids;
    if (!as_tree_finish(&tree, &ids)) die("memory");
    as_tree_free(&tree);
}

/* All runs of one metric: context by context. */
static void add_values(as_dataset *ds, const char *name) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, name);
    as_block block = {
        .metric = as_add_metric(ds, &metric), .run = ASSAY_NONE, .n_contexts = CONTEXTS, .dtype = AS_DTYPE_DOUBLE};
    assay_id *contexts = as_arena_array(&ds->arena, CONTEXTS, sizeof *contexts);
    uint64_t *starts = as_arena_array(&ds->arena, CONTEXTS + 1, sizeof *starts);
    assay_id *runs = as_arena_array(&ds->arena, (size_t)CONTEXTS * RUNS, sizeof *runs);
    double *values = as_arena_array(&ds->arena, (size_t)CONTEXTS * RUNS, sizeof *values);
    if (!contexts || !starts || !runs || !values) die("memory");
    for (assay_id c = 0; c < CONTEXTS; c++) {
        contexts[c] = c + 1; /* 0 is main */
        starts[c + 1] = starts[c] + RUNS;
        for (assay_id r = 0; r < RUNS; r++) {
            runs[starts[c] + r] = r;
            values[starts[c] + r] = (double)(c % 97) + 0.25 * (double)r;
        }
        as_series *series = as_vec_push(&ds->series);
        if (!series) die("memory");
        *series = (as_series){.metric = block.metric, .context = contexts[c]};
    }
    block.contexts = contexts;
    block.starts = starts;
    block.runs = runs;
    block.values = values;
    if (!as_add_block(ds, &block)) die("memory");
}

static as_dataset *build(void) {
    as_dataset *ds = as_dataset_new(0);
    if (!ds) die("memory");
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    for (unsigned p = 0; p < POINTS; p++) {
        double coordinate = p + 1;
        if (!as_vec_append(&ds->coordinates, &coordinate, 1)) die("memory");
        ds->n_points++;
        for (unsigned r = 0; r < REPETITIONS; r++) {
            as_run run = AS_RUN_INIT;
            run.point = p;
            run.repetition = r;
            as_add_run(ds, &run);
        }
    }
    add_contexts(ds);
    add_values(ds, "time");
    add_values(ds, "visits");
    return ds;
}

/* Runs a statement to its end and prints the time; limit: seconds it may take, 0 for no limit. Returns false where it
 * took longer. */
static bool measure(sqlite3 *db, const char *sql, double limit) {
    double start = now();
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) die(sqlite3_errmsg(db));
    size_t rows = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) rows++;
    if (sqlite3_finalize(statement) != SQLITE_OK) die(sqlite3_errmsg(db));
    double seconds = now() - start;
    printf("%9.4f s %9zu rows  %s", seconds, rows, sql);
    if (limit > 0) printf("  (%.0f %% of the %g s allowed)", 100 * seconds / limit, limit);
    putchar('\n');
    return limit == 0 || seconds <= limit;
}

static void measure_export(const as_dataset *ds) {
    char path[] = P_tmpdir "/bench_sql.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) die("no temporary file");
    close(fd);
    assay_error error;
    double start = now();
    if (as_sql_export(ds, path, &error) != ASSAY_OK) die(error.message);
    printf("%9.4f s export of all tables\n", now() - start);
    unlink(path);
}

int main(int argc, char **argv) {
    as_dataset *ds = build();
    sqlite3 *db;
    assay_error error;
    double start = now();
    if (as_sql_open(&ds, NULL, 1, &db, &error) != ASSAY_OK) die(error.message);
    printf("%9.4f s open\n", now() - start);
    bool ok = measure(db, "select sum(value) from value", 1);
    ok &= measure(db, "select sum(value) from value where metric = 1 and context = 5000", 0.005);
    ok &= measure(db, "select value from value where metric = 0 and context = 4321 and run = 77", 0.005);
    measure(db, "select count(*) from value where run = 77", 0);
    measure(db, "select context, avg(value) from value where metric = 0 group by context", 0);
    measure(
        db,
        "select m.name, c.path, p.label, v.value from value v join run r on r.id = v.run join point p on p.id = "
        "r.point "
        "join metric m on m.id = v.metric join context c on c.id = v.context where v.metric = 0 and r.repetition = 0",
        0);
    measure(db,
            "select p.label, t.name, c.path, m.mean from measurement m join point p on p.id = m.point join metric t on "
            "t.id = m.metric "
            "join context c on c.id = m.context",
            0);
    measure(db, "select * from measurement where context = (select id from context where path = 'main->phase 7->f3')",
            0);
    measure(db, "select count(*), sum(inclusive) from node where run = 3", 0);
    measure(db,
            "select c.path, n.inclusive from context c join node n on n.context = c.id where n.run = 0 and n.metric = "
            "0 and c.depth = 1",
            0);
    sqlite3_close(db);
    if (argc > 1 && strcmp(argv[1], "--export") == 0) measure_export(ds);
    as_dataset_free(ds);
    return ok ? 0 : 1;
}
