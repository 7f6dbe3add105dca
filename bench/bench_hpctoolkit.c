/* Speed and memory of HPCToolkit databases, next to the targets and to the tools of the format.
 *
 * usage: bench_hpctoolkit [--huge] [DATABASE]      ASSAY names the command to time (its full path)
 *
 * The database is made here, in a temporary folder, and written by assay itself: 50,000 contexts x 256 threads x 4
 * metrics, 9 million values, a trace of 5,000 samples for each thread. DATABASE: that one is measured instead. What
 * must not grow with the number of values is also measured with 1/16 and 1/4 of the threads; with --huge instead with 4
 * and 16 times as many (this takes 10 GB of disk). Each measurement runs in a process of its own, and the best of
 * several counts, by the clock. The times of other tools are those of such a database, as they were measured
 * elsewhere. */
#include "measuring.h"

#include <math.h>

#include "analysis/nodes.h"
#include "core/parallel.h"
#include "formats/format.h"
#include "made_database.h"

enum { ROUNDS = 5 };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static double make_database(const void *given) {
    const made_shape *shape = given;
    char name[32];
    as_dataset *ds = made_dataset(shape);
    snprintf(name, sizeof name, "threads-%u", shape->n_profiles);
    made_write(ds, name);
    as_dataset_free(ds);
    return 0;
}

static const char *make(uint32_t n_profiles, uint32_t n_samples) {
    static char names[8][32];
    static int n;
    made_shape shape = {.n_contexts = 50000, .n_profiles = n_profiles, .n_samples = n_samples, .density = 0.05};
    measure(make_database, &shape, 1); /* in a process of its own: its memory is not that of what is measured */
    snprintf(names[n], sizeof names[n], "threads-%u", n_profiles);
    return names[n++];
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

typedef struct bench_task {
    const char *input;
    const char *sql; /* asked after opening */
    assay_id context, location;
} bench_task;

static as_dataset *open_it(const bench_task *task) {
    assay_error error;
    assay_dataset *ds;
    if (assay_open(task->input, NULL, &ds, &error) != ASSAY_OK) fail(task->input, &error);
    return ds;
}

static double only_open(const void *given) {
    double start = wall_seconds();
    as_dataset *ds = open_it(given);
    double used = wall_seconds() - start;
    assay_close(ds);
    return used;
}

/* The child with the largest inclusive value, as long as it has half of its parent's. */
static size_t hot_path(const as_dataset *ds, const as_node_list *nodes) {
    size_t length = 1, at = 0;
    for (bool goes_on = true; goes_on; length++) {
        const as_node *node = as_node_at(nodes, at);
        assay_id end = node->context + as_ds_context(ds, node->context)->subtree;
        double half = as_number_real(node->inclusive) / 2, most = half;
        goes_on = false;
        for (size_t i = at + 1; i < as_node_count(nodes) && as_node_at(nodes, i)->context < end; i++) {
            const as_node *child = as_node_at(nodes, i);
            if (as_ds_context(ds, child->context)->parent != node->context || as_number_real(child->inclusive) < most)
                continue;
            most = as_number_real(child->inclusive);
            at = i;
            goes_on = true;
        }
    }
    return length;
}

/* Opens it, and sums inclusive and exclusive values of all metrics over all threads. */
static double totals(const void *given) {
    double start = wall_seconds(), total = 0;
    as_dataset *ds = open_it(given);
    as_node_list nodes;
    assay_error error;
    size_t length = 0;
    as_node_list_init(&nodes);
    for (assay_id metric = 0; metric < AS_COUNT(ds, metrics); metric++) {
        if (as_ds_metric(ds, metric)->part_of != ASSAY_NONE) continue;
        if (as_nodes_find(ds, 0, metric, ASSAY_NONE, &nodes, &error) != ASSAY_OK) fail("nodes", &error);
        if (!as_node_count(&nodes)) continue;
        total += as_number_real(as_node_at(&nodes, 0)->inclusive);
        length += hot_path(ds, &nodes);
    }
    double used = wall_seconds() - start;
    if (!(total > 0) || !length) fail("no totals", NULL);
    as_node_list_free(&nodes);
    assay_close(ds);
    return used;
}

/* ---- every value ------------------------------------------------------------------------------------------------- */

enum { PIECE = 512 };

typedef struct reading {
    const as_dataset *ds;
    uint64_t counts[4096]; /* of each piece */
} reading;

static void read_piece(void *user, size_t piece) {
    reading *r = user;
    as_sparse_line line = {0};
    double sum = 0;
    assay_id first = (assay_id)piece * PIECE, n = (assay_id)AS_COUNT(r->ds, contexts);
    for (assay_id context = first; context < first + PIECE && context < n; context++) {
        for (size_t i = 0; i < AS_COUNT(r->ds, profiles); i++) {
            const as_profile *profile = &AS_AT(as_profile, &r->ds->profiles, i);
            assay_error error;
            if (!as_profile_is_sparse(profile)) continue;
            if (profile->source->read_row(profile->source, profile, context, &line, &error) != ASSAY_OK)
                fail("row", &error);
            for (uint32_t k = 0; k < line.n; k++) sum += line.values[k];
            r->counts[piece] += line.n;
        }
    }
    if (isnan(sum)) fail("not a number", NULL);
    as_sparse_line_free(&line);
}

static double read_all(const void *given) {
    static reading r;
    as_dataset *ds = open_it(given);
    double start = wall_seconds();
    uint64_t n = 0;
    size_t n_pieces = (AS_COUNT(ds, contexts) + PIECE - 1) / PIECE;
    r.ds = ds;
    if (n_pieces > sizeof r.counts / sizeof *r.counts) fail("too many contexts", NULL);
    as_parallel(n_pieces, 0, read_piece, &r);
    for (size_t i = 0; i < n_pieces; i++) n += r.counts[i];
    double used = wall_seconds() - start;
    if (n != as_ds_values(ds)) fail("values are missing", NULL);
    assay_close(ds);
    return used;
}

/* ---- one question ------------------------------------------------------------------------------------------------ */

static double ask(const void *given) {
    const bench_task *task = given;
    as_dataset *ds = open_it(task);
    assay_error error;
    assay_query *query;
    bool row;
    double start = wall_seconds();
    if (assay_query_open(ds, task->sql, &query, &error) != ASSAY_OK) fail(task->sql, &error);
    do {
        if (assay_query_next(query, &row, &error) != ASSAY_OK) fail(task->sql, &error);
    } while (row);
    assay_query_close(query);
    double used = wall_seconds() - start;
    assay_close(ds);
    return used;
}

/* The same without SQL: what all threads have of a context, metric by metric. */
static double read_context(const void *given) {
    const bench_task *task = given;
    as_dataset *ds = open_it(task);
    as_sparse_line line = {0};
    assay_error error;
    uint64_t n = 0;
    double start = wall_seconds();
    for (size_t i = 0; i < AS_COUNT(ds, profiles); i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (!as_profile_is_sparse(profile)) continue;
        if (profile->source->read_row(profile->source, profile, task->context, &line, &error) != ASSAY_OK)
            fail("row", &error);
        n += line.n;
    }
    double used = wall_seconds() - start;
    if (!n) fail("a context without values", NULL);
    as_sparse_line_free(&line);
    assay_close(ds);
    return used;
}

static double write_again(const void *given) {
    as_dataset *ds = open_it(given);
    double start = wall_seconds();
    made_write(ds, "written");
    double used = wall_seconds() - start;
    remove_all("written");
    assay_close(ds);
    return used;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const char *command; /* NULL: not known */

/* ---- the report -------------------------------------------------------------------------------------------------- */

/* theirs 0: nobody else was measured. On a busy machine the CPU seconds of the whole process say more than the
 * clock. */
static void compare(const char *tool, double theirs, cost ours) {
    printf("    CPU %.3f s", ours.cpu);
    if (theirs > 0) printf("; %s: %.2f s, %.0f times as much", tool, theirs, theirs / ours.seconds);
    printf("\n");
}

static void bench_commands(const char *input) {
    if (!command) {
        printf("commands: not measured; set ASSAY to the full path of assay\n");
        return;
    }
    const char *const info[] = {command, "info", input, NULL},
                      *const hot[] = {command, "tree", "--hot-path", input, NULL},
                      *const flat[] = {command, "tree", "--flat", input, NULL};
    cost c = measure_command(info, ROUNDS);
    report("assay info", c.seconds, "s", 0.05, false);
    compare("hpcviewer's data layer", 0.40, c);
    c = measure_command(hot, ROUNDS);
    report("assay tree --hot-path, all threads", c.seconds, "s", 0.3, false);
    compare(NULL, 0, c);
    report("    its memory, with what is mapped", c.peak * 1e-6, "MB", 200, false);
    c = measure_command(flat, ROUNDS);
    report("assay tree --flat, all threads", c.seconds, "s", 0.3, false);
    compare("hpcviewer's data layer", 1.7, c);
}

/* A context of which many threads have something, and a thread. */
static bench_task choose(const char *input) {
    bench_task task = {.input = input};
    as_dataset *ds = open_it(&task);
    task.context = AS_COUNT(ds, contexts) > 1 ? 1 : 0;
    while (task.location + 1 < AS_COUNT(ds, locations) && !as_ds_location(ds, task.location)->leaf) task.location++;
    assay_close(ds);
    return task;
}

static void bench_reading(const char *input) {
    bench_task task = choose(input);
    char of_context[128], of_thread[128];
    cost c = measure(totals, &task, ROUNDS);
    report("totals of all metrics and their hot paths, all threads", c.seconds, "s", 0.3, false);
    report("    its memory, with what is mapped", c.peak * 1e-6, "MB", 200, false);
    compare("Hatchet (15.4 GB)", 198, c);
    c = measure(read_all, &task, ROUNDS);
    report("every value once, after opening", c.seconds, "s", 0.15, false);
    compare("hpcproftt", 3.6, c);
    snprintf(of_context, sizeof of_context, "select metric, location, value from value where context = %u",
             task.context);
    snprintf(of_thread, sizeof of_thread, "select metric, context, value from value where location = %u",
             task.location);
    report("one context in all threads, after opening", measure(read_context, &task, 4 * ROUNDS).seconds * 1e3, "ms", 1,
           false);
    task.sql = of_context;
    report("    by SQL, its tables set up with it", measure(ask, &task, 4 * ROUNDS).seconds * 1e3, "ms", 1, false);
    task.sql = of_thread;
    printf("  one thread in all contexts, after opening: %.2f ms\n", measure(ask, &task, ROUNDS).seconds * 1e3);
    task.sql = "select count(*), sum(value) from value";
    printf("  all values by SQL, counted and added up: %.2f s\n", measure(ask, &task, 2).seconds);
}

static void bench_writing(const char *input) {
    bench_task task = {.input = input};
    cost c = measure(write_again, &task, 3);
    report("written as hpctoolkit-2021", c.seconds, "s", 2, false);
    printf("    CPU %.3f s; its memory, with what is mapped: %.0f MB\n", c.cpu, c.peak * 1e-6);
}

/* What is asked of a context is as long in each of the databases, though the context has more values where there are
 * more threads. */
static void bench_growth(const char *const *inputs, size_t n) {
    printf("what must not grow with the number of values: opened; 8 values of a context; a thread (ms)\n");
    for (size_t i = 0; i < n; i++) {
        bench_task task = choose(inputs[i]);
        char of_context[128], of_thread[128];
        as_dataset *ds = open_it(&task);
        double n_values = (double)as_ds_values(ds);
        snprintf(of_context, sizeof of_context,
                 "select location, value from value where metric = 0 and context = %zu limit 8",
                 AS_COUNT(ds, contexts) / 2);
        snprintf(of_thread, sizeof of_thread, "select count(*), sum(value) from value where location = %u",
                 task.location);
        assay_close(ds);
        double opened = measure(only_open, &task, ROUNDS).seconds;
        task.sql = of_context;
        double context = measure(ask, &task, ROUNDS).seconds;
        task.sql = of_thread;
        double thread = measure(ask, &task, ROUNDS).seconds;
        printf("  %10.1f million values: %8.1f  %8.3f  %8.2f\n", n_values * 1e-6, opened * 1e3, context * 1e3,
               thread * 1e3);
    }
}

int main(int argc, char **argv) {
    const char *given = getenv("ASSAY"), *input = NULL;
    bool huge = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--huge") == 0)
            huge = true;
        else if (!(input = realpath(argv[i], NULL)))
            fail(argv[i], NULL);
    }
    if (given && *given == '/' && access(given, X_OK) == 0) command = given;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    bool is_made = input == NULL;
    if (is_made) input = make(256, 5000);
    bench_commands(input);
    bench_reading(input);
    bench_writing(input);
    if (is_made) {
        const char *few[] = {make(huge ? 1024 : 16, 0), make(huge ? 4096 : 64, 0)};
        bench_growth((const char *[]){huge ? input : few[0], huge ? few[0] : few[1], huge ? few[1] : input}, 3);
    }
    if (chdir("/") != 0) return 1;
    remove_all(folder);
    return 0;
}
