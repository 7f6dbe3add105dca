/* Speed and memory of reading, writing and asking Extra-P experiments, next to the targets.
 *
 * usage: bench_extrap [--large]      ASSAY names the command to time the start of (its full path)
 *
 * Inputs are made here, in a temporary folder: 1 parameter x 10 points x 10,000 call paths x 5 repetitions; with
 * --large also 10 million values, a text of about 200 MB. Each measurement runs in a process of its own and the best of
 * several counts: CPU seconds, and the peak of memory beyond that of a process that loads a small file. */
#include <assay/assay.h>

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 10, REPETITIONS = 5, ROUNDS = 5, STARTS = 40 };

/* ---- measuring ---------------------------------------------------------------------------------------------------------- */

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double wall_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what, const assay_error *error) {
    char text[2200] = "";
    fprintf(stderr, "bench_extrap: %s: %s\n", what, error ? assay_error_text(error, text, sizeof text) : "failed");
    exit(1);
}

typedef struct bench_task {
    const char *input, *output, *sql;
} bench_task;

typedef struct cost {
    double cpu;  /* seconds of the part that counts */
    double peak; /* bytes of the whole process */
} cost;

/* Opens the input, then does the second half: what `only` says is what counts. */
typedef enum part { LOAD, SAVE, QUERY } part;

static double work(const bench_task *task, part only) {
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

/* The best of some rounds, each in a process of its own. */
static cost measure(const bench_task *task, part only, int rounds) {
    cost best = {1e9, 1e18};
    for (int i = 0; i < rounds; i++) {
        int ends[2];
        if (pipe(ends) != 0) fail("pipe", NULL);
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) fail("fork", NULL);
        if (child == 0) {
            double cpu = work(task, only);
            _exit(write(ends[1], &cpu, sizeof cpu) == (ssize_t)sizeof cpu ? 0 : 1);
        }
        close(ends[1]);
        double cpu = 0;
        bool told = read(ends[0], &cpu, sizeof cpu) == (ssize_t)sizeof cpu;
        close(ends[0]);
        int status;
        struct rusage usage;
        if (wait4(child, &status, 0, &usage) < 0 || status != 0 || !told) exit(1);
        if (cpu < best.cpu) best.cpu = cpu;
        if ((double)usage.ru_maxrss * 1024 < best.peak) best.peak = (double)usage.ru_maxrss * 1024;
    }
    return best;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of the time from start to end of the command, seconds. */
static double measure_command(char *const arguments[]) {
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

/* ---- inputs ------------------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

/* 16 significant digits, like most measured times. */
static void print_value(FILE *file, unsigned size) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    fprintf(file, "%u.%014llu", size + (unsigned)(random_state >> 60),
            (unsigned long long)((random_state >> 17) % 100000000000000u));
}

static void print_values(FILE *file, const char *between, unsigned size) {
    for (int i = 0; i < REPETITIONS; i++) {
        if (i > 0) fputs(between, file);
        print_value(file, size);
    }
}

static void make_text(FILE *file, int n_paths) {
    fputs("PARAMETER p\nPOINTS", file);
    for (int i = 0; i < POINTS; i++) fprintf(file, " (%d)", 4 << i);
    fputs("\nMETRIC time\n", file);
    for (int c = 0; c < n_paths; c++) {
        fprintf(file, "REGION main->phase%d->kernel%d\n", c % 10, c);
        for (int i = 0; i < POINTS; i++) {
            fputs("DATA ", file);
            print_values(file, " ", 10u << i);
            putc('\n', file);
        }
    }
}

static void make_records(FILE *file, int n_paths) {
    for (int c = 0; c < n_paths; c++) {
        for (int i = 0; i < POINTS; i++) {
            fprintf(file,
                    "{\"params\": {\"p\": %d.0}, \"callpath\": \"main->phase%d->kernel%d\", \"metric\": \"time\", "
                    "\"value\": [",
                    4 << i, c % 10, c);
            print_values(file, ", ", 10u << i);
            fputs("]}\n", file);
        }
    }
}

static double make(const char *path, void (*maker)(FILE *file, int n_paths), int n_paths) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path, NULL);
    random_state = 1;
    maker(file, n_paths);
    struct stat info;
    if (fclose(file) != 0 || stat(path, &info) != 0) fail(path, NULL);
    return (double)info.st_size;
}

/* ---- the report --------------------------------------------------------------------------------------------------------- */

/* of target: at most 1.00 is within it, whichever direction is better. */
static void report(const char *what, double measured, const char *unit, double target, bool more_is_better) {
    double ratio = more_is_better ? target / measured : measured / target;
    printf("  %-58s %9.3f %-5s %s %8.3f   %5.2f of target%s\n", what, measured, unit,
           more_is_better ? ">=" : "<=", target, ratio, ratio <= 1 ? "" : "  MISSED");
}

/* Three times the numbers, and the names once: a call path and its last part. */
static double allowed_memory(double n_values, double n_paths) { return 3 * 8 * n_values + n_paths * 40; }

static void bench_load(const char *title, const char *path, double bytes, int n_paths, double target_seconds,
                       double target_speed, double idle, int rounds) {
    double n_values = (double)n_paths * POINTS * REPETITIONS;
    cost load = measure(&(bench_task){.input = path}, LOAD, rounds);
    printf("%s: %.1f MB, %.0f values\n", title, bytes * 1e-6, n_values);
    if (target_seconds > 0) report("load, CPU", load.cpu, "s", target_seconds, false);
    report("load, speed", bytes * 1e-6 / load.cpu, "MB/s", target_speed, true);
    report("load, peak memory to (3 x numbers + names)", (load.peak - idle) / allowed_memory(n_values, n_paths), "x", 1,
           false);
    printf("  %-58s %9.3f x\n", "      peak memory to numbers alone", (load.peak - idle) / (8 * n_values));
}

int main(int argc, char **argv) {
    bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    enum { N_PATHS = 10000, N_PATHS_LARGE = 200000 };
    double text = make("paths.txt", make_text, N_PATHS), records = make("paths.jsonl", make_records, N_PATHS);
    make("small.txt", make_text, 10);
    double idle = measure(&(bench_task){.input = "small.txt"}, LOAD, 3).peak;

    bench_load("text", "paths.txt", text, N_PATHS, 0.1, 150, idle, ROUNDS);
    bench_load("JSON Lines", "paths.jsonl", records, N_PATHS, 0.15, 250, idle, ROUNDS);
    printf("experiment\n");
    report("write .extra-p, CPU",
           measure(&(bench_task){.input = "paths.txt", .output = "paths.extra-p"}, SAVE, ROUNDS).cpu, "s", 0.2, false);
    report("reload it, CPU", measure(&(bench_task){.input = "paths.extra-p"}, LOAD, ROUNDS).cpu, "s", 0.2, false);

    if (large) {
        double size = make("large.txt", make_text, N_PATHS_LARGE);
        bench_load("large text", "large.txt", size, N_PATHS_LARGE, 0, 150, idle, 2);
        bench_task all = {.input = "large.txt", .sql = "select sum(value) from value"};
        bench_task one = {.input = "large.txt",
                          .sql = "select sum(value) from value where metric = 0 and context = 777"};
        report("sum of 10 million values, CPU", measure(&all, QUERY, 2).cpu, "s", 1, false);
        report("the same with metric and context given, CPU", 1000 * measure(&one, QUERY, 2).cpu, "ms", 5, false);
    }

    char command[PATH_MAX];
    printf("start of the command\n");
    const char *given = getenv("ASSAY");
    if (given && *given == '/' && snprintf(command, sizeof command, "%s", given) < (int)sizeof command &&
        access(command, X_OK) == 0) {
        report("assay --version, wall", 1000 * measure_command((char *[]){command, "--version", NULL}), "ms", 5, false);
        report("assay info on a small file, wall",
               1000 * measure_command((char *[]){command, "info", "small.txt", NULL}), "ms", 10, false);
    } else {
        printf("  not measured: set ASSAY to the full path of the command\n");
    }
    const char *const files[] = {"paths.txt", "paths.jsonl", "small.txt", "paths.extra-p", "large.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
