/* Speed and memory of Cube profiles, next to the targets and to the tools of the format.
 *
 * usage: bench_cube [--large]      ASSAY names the command to time (its full path)
 *
 * Inputs are made here, in a temporary folder: 2,000 call paths x 1,000 locations x 5 metrics, raw (80 MB) and
 * compressed row by row, and a set of 12 files; with --large also 1,000,000 call paths x 16 locations (250 MB). Each
 * measurement runs in a process of its own and the best of several counts. The times of CubeLib, pyCubexR and Extra-P
 * are CPU seconds for such files, as they were measured elsewhere. */
#include "measuring.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/nodes.h"
#include "made_cube.h"

enum { ROUNDS = 5, SET_POINTS = 6, SET_REPETITIONS = 2 };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* 4 to 128 processes, twice each. make true: makes the files; else removes them. */
static double each_of_set(bool is_made) {
    double bytes = 0;
    if (is_made && mkdir("set", 0700) != 0) fail("set", NULL);
    for (uint32_t i = 0; i < SET_POINTS * SET_REPETITIONS; i++) {
        char folder[64], path[96];
        uint32_t processes = 4u << i / SET_REPETITIONS;
        snprintf(folder, sizeof folder, "set/app.p%u.r%u", processes, i % SET_REPETITIONS + 1);
        snprintf(path, sizeof path, "%s/profile.cubex", folder);
        if (is_made && mkdir(folder, 0700) != 0) fail(folder, NULL);
        if (is_made) {
            bytes += make_cube(path, (cube_shape){500, processes, 5, false}, i + 1);
        } else {
            unlink(path);
            rmdir(folder);
        }
    }
    if (!is_made) rmdir("set");
    return bytes;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

typedef struct bench_task {
    const char *input;
    double (*now)(void); /* the clock that counts */
    const char *sql;     /* asked instead of sums */
    int only;            /* the metric that is summed, -1: all */
} bench_task;

/* Opens the file, reads every value and adds up each call path with all below it. */
static double sum_nodes(const void *given) {
    const bench_task *task = given;
    assay_error error;
    assay_dataset *dataset;
    double start = task->now(), total = 0;
    if (assay_open(task->input, NULL, &dataset, &error) != ASSAY_OK) fail(task->input, &error);
    as_node_list nodes;
    as_node_list_init(&nodes);
    for (assay_id metric = 0; metric < AS_COUNT(dataset, metrics); metric++) {
        if (task->only >= 0 && metric != (assay_id)task->only) continue;
        if (as_nodes_find(dataset, 0, metric, ASSAY_NONE, &nodes, &error) != ASSAY_OK) fail(task->input, &error);
        for (size_t i = 0; i < as_node_count(&nodes); i++) total += as_number_real(as_node_at(&nodes, i)->inclusive);
    }
    as_node_list_free(&nodes);
    double used = task->now() - start;
    if (!(total > 0)) fail("no sums", NULL);
    assay_close(dataset);
    return used;
}

/* Opens the set and asks for all statistics: what a model is made from. */
static double load_set(const void *given) {
    const bench_task *task = given;
    assay_error error;
    assay_dataset *dataset;
    assay_query *query;
    bool row;
    double start = task->now();
    if (assay_open(task->input, NULL, &dataset, &error) != ASSAY_OK) fail(task->input, &error);
    if (assay_query_open(dataset, task->sql, &query, &error) != ASSAY_OK) fail(task->sql, &error);
    do {
        if (assay_query_next(query, &row, &error) != ASSAY_OK) fail(task->sql, &error);
    } while (row);
    assay_query_close(query);
    double used = task->now() - start;
    assay_close(dataset);
    return used;
}

static double only_open(const void *given) {
    const bench_task *task = given;
    assay_error error;
    assay_dataset *dataset;
    double start = task->now();
    if (assay_open(task->input, NULL, &dataset, &error) != ASSAY_OK) fail(task->input, &error);
    double used = task->now() - start;
    assay_close(dataset);
    return used;
}

static const char *command; /* NULL: not known */

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void compare(const char *tool, double theirs, double ours) {
    printf("    %s: %.2f s, %.0f times as much\n", tool, theirs, theirs / ours);
}

/* Memory may be the file, as it is mapped, and one and a half times what was decoded. */
static void report_memory(const char *what, double peak, double idle, double file, double decoded) {
    report(what, (peak - idle) * 1e-6, "MB", (file + 1.5 * decoded) * 1e-6, false);
}

static double idle_peak(void) {
    make_cube("idle.cubex", (cube_shape){8, 2, 1, false}, 1);
    double peak = measure(only_open, &(bench_task){.input = "idle.cubex", .now = cpu_seconds}, ROUNDS).peak;
    unlink("idle.cubex");
    return peak;
}

static void bench_sums(double idle) {
    const cube_shape usual = {2000, 1000, 5, false}, packed = {2000, 1000, 5, true};
    double metric_bytes = 8.0 * usual.n_cnodes * usual.n_locations;
    double bytes = make_cube("raw.cubex", usual, 1), packed_bytes = make_cube("packed.cubex", packed, 1);
    bench_task task = {.input = "raw.cubex", .now = cpu_seconds, .only = -1};
    printf("2,000 call paths x 1,000 locations x 5 metrics: %.1f MB raw, %.1f MB compressed\n", bytes * 1e-6,
           packed_bytes * 1e-6);
    cost raw = measure(sum_nodes, &task, ROUNDS);
    report("raw: every value read, inclusive sums, CPU", raw.seconds, "s", 0.04, false);
    compare("CubeLib (cube_dump)", 0.25, raw.seconds);
    compare("pyCubexR", 0.27, raw.seconds);
    report_memory("raw: peak memory", raw.peak, idle, bytes, metric_bytes);

    task = (bench_task){.input = "packed.cubex", .now = wall_seconds, .only = -1};
    cost zipped = measure(sum_nodes, &task, ROUNDS);
    report("compressed: the same, by the clock", zipped.seconds, "s", 0.10, false);
    task.now = cpu_seconds;
    double cpu = measure(sum_nodes, &task, ROUNDS).seconds;
    printf("    CPU %.3f s\n", cpu);
    compare("CubeLib (cube_dump), CPU", 0.50, cpu);
    compare("pyCubexR, CPU", 15.9, cpu);
    report_memory("compressed: peak memory", zipped.peak, idle, packed_bytes, 5 * metric_bytes);
    task.only = 1;
    report_memory("compressed, one metric: peak memory", measure(sum_nodes, &task, ROUNDS).peak, idle, packed_bytes,
                  metric_bytes);
    unlink("packed.cubex");
}

/* On raw.cubex. */
static void bench_commands(void) {
    if (!command) {
        printf("commands: not measured; set ASSAY to the full path of assay\n");
        return;
    }
    const char *const info[] = {command, "info", "raw.cubex", NULL};
    const char *const tree[] = {command, "tree", "--metric", "time", "raw.cubex", NULL};
    const char *const stat_all[] = {command, "stat", "--json", "raw.cubex", NULL};
    double seconds = measure_command(info, ROUNDS).cpu;
    report("assay info, CPU", seconds, "s", 0.02, false);
    compare("CubeLib (cube_info)", 2.0, seconds);
    seconds = measure_command(tree, ROUNDS).cpu;
    report("assay tree, inclusive and exclusive of one metric, CPU", seconds, "s", 0.02, false);
    compare("CubeLib (cube_calltree)", 0.05, seconds);
    seconds = measure_command(stat_all, ROUNDS).cpu;
    printf("  assay stat --json, 20,000 rows of 1,000 values, CPU: %.3f s\n", seconds);
}

static void bench_set(void) {
    double bytes = each_of_set(true);
    bench_task task = {
        .input = "set", .now = cpu_seconds, .sql = "select count(*), sum(mean), sum(median) from measurement"};
    printf("a set of %d files, 500 call paths x 4 to 128 locations x 5 metrics: %.1f MB\n",
           SET_POINTS * SET_REPETITIONS, bytes * 1e-6);
    double seconds = measure(only_open, &task, ROUNDS).seconds;
    printf("  opened, nothing decoded yet, CPU: %.3f s\n", seconds);
    seconds = measure(load_set, &task, ROUNDS).seconds;
    report("all decoded, statistics of every series, CPU", seconds, "s", 0.05, false);
    compare("Extra-P", 2.6, seconds);
    each_of_set(false);
}

/* By the clock and in CPU seconds: on a busy machine only the latter say much. */
static void bench_large(double idle) {
    const cube_shape s = {1000000, 16, 2, false};
    double bytes = make_cube("large.cubex", s, 1);
    printf("1,000,000 call paths x 16 locations x 2 metrics: %.1f MB\n", bytes * 1e-6);
    bench_task task = {.input = "large.cubex", .now = wall_seconds};
    double open_wall = measure(only_open, &task, 3).seconds;
    task.now = cpu_seconds;
    double open_cpu = measure(only_open, &task, 3).seconds;
    report("open, by the clock", open_wall, "s", 2, false);
    printf("    CPU %.3f s\n", open_cpu);
    if (command) {
        const char *const hot[] = {command, "tree", "--hot-path", "--metric", "time", "large.cubex", NULL};
        cost whole = measure_command(hot, 3);
        report("print its hot path, beyond opening, by the clock", fmax(whole.seconds - open_wall, 1e-3), "s", 0.5,
               false);
        printf("    CPU %.3f s\n", whole.cpu - open_cpu);
        report_memory("its peak memory", whole.peak, idle, bytes, 8.0 * s.n_cnodes * s.n_locations);
    }
    unlink("large.cubex");
}

int main(int argc, char **argv) {
    const char *given = getenv("ASSAY");
    if (given && *given == '/' && access(given, X_OK) == 0) command = given;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    double idle = idle_peak();
    bench_sums(idle);
    bench_commands();
    unlink("raw.cubex");
    bench_set();
    if (argc > 1 && strcmp(argv[1], "--large") == 0) bench_large(idle);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
