/* Speed and memory of reading, writing and asking Extra-P experiments, next to the targets.
 *
 * usage: bench_extrap [--large]      ASSAY names the command to time the start of (its full path)
 *
 * Inputs are made here, in a temporary folder: 1 parameter x 10 points x 10,000 call paths x 5 repetitions; with
 * --large also 10 million values, a text of about 200 MB. Each measurement runs in a process of its own and the best of
 * several counts: CPU seconds, and the peak of memory. */
#include "measuring.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>

enum { ROUNDS = 5, STARTS = 40 };

/* ---- measuring --------------------------------------------------------------------------------------------------- */

typedef enum part { LOAD, SAVE, QUERY } part;

typedef struct bench_task {
    part only;
    const char *input, *output, *sql;
} bench_task;

/* Opens the input, then does the second half: what `only` says is what counts. */
static double work(const void *given) {
    const bench_task *task = given;
    part only = task->only;
    assay_error error;
    assay_dataset *dataset;
    double start = cpu_seconds();
    if (assay_open(task->input, NULL, &dataset, &error) != ASSAY_OK) fail(task->input, &error);
    if (only != LOAD) start = cpu_seconds();
    if (only == SAVE && assay_save(dataset, task->output, NULL, &error) != ASSAY_OK) fail(task->output, &error);
    if (only == QUERY) {
        assay_query *query;
        bool row;
        if (assay_query_open(dataset, task->sql, &query, &error) != ASSAY_OK) fail(task->sql, &error);
        start = cpu_seconds();
        do {
            if (assay_query_next(query, &row, &error) != ASSAY_OK) fail(task->sql, &error);
        } while (row);
        assay_query_close(query);
    }
    double used = cpu_seconds() - start;
    assay_close(dataset);
    return used;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of the time from start to end of the command, seconds. */
static double median_start(char *const arguments[]) {
    double times[STARTS];
    posix_spawn_file_actions_t quiet;
    if (posix_spawn_file_actions_init(&quiet) != 0 ||
        posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) != 0)
        fail("posix_spawn", NULL);
    for (int i = 0; i < STARTS; i++) {
        double start = wall_seconds();
        pid_t child;
        int status;
        if (posix_spawn(&child, arguments[0], &quiet, NULL, arguments, environ) != 0 ||
            waitpid(child, &status, 0) < 0 || status != 0)
            fail(arguments[0], NULL);
        times[i] = wall_seconds() - start;
    }
    posix_spawn_file_actions_destroy(&quiet);
    qsort(times, STARTS, sizeof *times, by_size);
    return times[STARTS / 2];
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static uint64_t random_state;

/* 16 significant digits, like most measured times. */
static void print_value(FILE *file, unsigned size) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    fprintf(file, "%u.%014llu", size + (unsigned)(random_state >> 60),
            (unsigned long long)((random_state >> 17) % 100000000000000u));
}

typedef struct extent {
    int n_paths, n_points, n_repetitions;
} extent;

static void print_values(FILE *file, const char *between, int n, unsigned size) {
    for (int i = 0; i < n; i++) {
        if (i > 0) fputs(between, file);
        print_value(file, size);
    }
}

static void make_text(FILE *file, extent shape) {
    fputs("PARAMETER p\nPOINTS", file);
    for (int i = 0; i < shape.n_points; i++) fprintf(file, " (%d)", 4 << i);
    fputs("\nMETRIC time\n", file);
    for (int c = 0; c < shape.n_paths; c++) {
        fprintf(file, "REGION main->phase%d->kernel%d\n", c % 10, c);
        for (int i = 0; i < shape.n_points; i++) {
            fputs("DATA ", file);
            print_values(file, " ", shape.n_repetitions, 10u << i);
            putc('\n', file);
        }
    }
}

static void make_records(FILE *file, extent shape) {
    for (int c = 0; c < shape.n_paths; c++) {
        for (int i = 0; i < shape.n_points; i++) {
            fprintf(file,
                    "{\"params\": {\"p\": %d.0}, \"callpath\": \"main->phase%d->kernel%d\", \"metric\": \"time\", "
                    "\"value\": [",
                    4 << i, c % 10, c);
            print_values(file, ", ", shape.n_repetitions, 10u << i);
            fputs("]}\n", file);
        }
    }
}

typedef void maker(FILE *file, extent shape);

static double make(const char *path, maker *print, extent shape) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path, NULL);
    random_state = 1;
    print(file, shape);
    struct stat info;
    if (fclose(file) != 0 || stat(path, &info) != 0) fail(path, NULL);
    return (double)info.st_size;
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void bench_load(const char *title, const char *path, maker *print, extent shape, double target_seconds,
                       double target_speed, int rounds) {
    make("idle", print,
         (extent){1, 1, 1}); /* what the process takes anyway does not count, nor does the text of the names */
    double idle = measure(work, &(bench_task){.only = LOAD, .input = "idle"}, rounds).peak,
           name_bytes = 40.0 * shape.n_paths;
    unlink("idle");
    double bytes = make(path, print, shape), n_values = (double)shape.n_paths * shape.n_points * shape.n_repetitions;
    cost load = measure(work, &(bench_task){.only = LOAD, .input = path}, rounds);
    printf("%s: %.1f MB, %.0f values\n", title, bytes * 1e-6, n_values);
    if (target_seconds > 0) report("load, CPU", load.seconds, "s", target_seconds, false);
    report("load, speed", bytes * 1e-6 / load.seconds, "MB/s", target_speed, true);
    report("load, peak memory less the text of the names, to 8 B a value",
           (load.peak - idle - name_bytes) / (8 * n_values), "x", 3, false);
}

int main(int argc, char **argv) {
    bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    const extent usual = {10000, 10, 5}, large_shape = {200000, 10, 5};
    bench_load("text", "paths.txt", make_text, usual, 0.1, 150, ROUNDS);
    bench_load("JSON Lines", "paths.jsonl", make_records, usual, 0.15, 250, ROUNDS);
    printf("experiment\n");
    report("write .extra-p, CPU",
           measure(work, &(bench_task){.only = SAVE, .input = "paths.txt", .output = "paths.extra-p"}, ROUNDS).seconds,
           "s", 0.2, false);
    report("reload it, CPU", measure(work, &(bench_task){.only = LOAD, .input = "paths.extra-p"}, ROUNDS).seconds, "s",
           0.2, false);

    if (large) {
        bench_load("large text", "large.txt", make_text, large_shape, 0, 150, 2);
        bench_task all = {.only = QUERY, .input = "large.txt", .sql = "select sum(value) from value"};
        bench_task one = {.only = QUERY,
                          .input = "large.txt",
                          .sql = "select sum(value) from value where metric = 0 and context = 777"};
        report("sum of 10 million values, CPU", measure(work, &all, 2).seconds, "s", 1, false);
        report("the same with metric and context given, CPU", 1000 * measure(work, &one, 2).seconds, "ms", 5, false);
    }

    make("small.txt", make_text, (extent){10, 10, 5});
    char command[PATH_MAX];
    printf("start of the command\n");
    const char *given = getenv("ASSAY");
    if (given && *given == '/' && snprintf(command, sizeof command, "%s", given) < (int)sizeof command &&
        access(command, X_OK) == 0) {
        report("assay --version, wall", 1000 * median_start((char *[]){command, "--version", NULL}), "ms", 5, false);
        report("assay info on a small file, wall", 1000 * median_start((char *[]){command, "info", "small.txt", NULL}),
               "ms", 10, false);
    } else {
        printf("  not measured: set ASSAY to the full path of the command\n");
    }
    const char *const files[] = {"paths.txt", "paths.jsonl", "small.txt", "paths.extra-p", "large.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
