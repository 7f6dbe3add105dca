/* Speed and memory of Perun profiles, next to the targets.
 *
 * usage: bench_perun      ASSAY names the command to time (its full path)
 *
 * Inputs are made here, in a temporary folder: a million resources of 50 functions at 1,000 sizes, as snapshots and as
 * columns, with call paths and without; and 100,000 of one function. Each measurement runs in a process of its own and
 * the best of several counts: seconds are those of the clock. Perun itself takes 4.3 s and 744 MB to load the old
 * layout, 0.28 s and 249 MB for the new one, and 1.4 s and more to start. */
#include "measuring.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROUNDS = 5, FUNCTIONS = 50, SIZES = 1000, SNAPSHOTS = 10 };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct shape {
    const char *name;
    int n, n_functions;
    bool is_new, has_traces;
} shape;

static uint64_t random_state = 12345;

/* From 0 to 1. */
static double next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 33) / 2147483648.0;
}

static double amount_of(int function, int size) {
    double x = size;
    double costs[] = {100, 5 + 0.3 * x, 10 + 40 * log(x + 1), 3 + 0.002 * x * x, 2 * pow(x + 1, 1.5)};
    return costs[function % 5] * (0.9 + 0.2 * next_random());
}

static void write_place(FILE *out, const char *file, int number, const char *function, int which, int line) {
    fprintf(out, "{\"source\": \"src/%s%d.c\", \"function\": \"%s%03d\", \"line\": %d}", file, number, function, which,
            line);
}

/* What all resources of a function have in common. */
static void write_type(FILE *out, const shape *of, int function) {
    fputs("\"type\": \"mixed\", \"subtype\": \"time delta\", \"uid\": ", out);
    if (!of->has_traces) {
        fprintf(out, "\"func_%03d(Type*, int)\"", function);
        return;
    }
    write_place(out, "mod", function % 7, "func_", function, 10 + function);
    fputs(", \"trace\": [", out);
    for (int i = 0; i < function % 5; i++) {
        write_place(out, "lib", 0, "helper_", i, 100 + i);
        fputs(", ", out);
    }
    write_place(out, "mod", function % 7, "func_", function, 10 + function);
    fputs(", ", out);
    write_place(out, "main", 0, "main", 0, 3);
    fputs("]", out);
}

static void write_old(FILE *out, const shape *of) {
    fputs("\"snapshots\": [", out);
    for (int i = 0; i < of->n; i++) {
        int function = i % of->n_functions, size = 1 + i / of->n_functions % SIZES, part = of->n / SNAPSHOTS;
        if (i % part == 0)
            fprintf(out, "%s{\"time\": \"%.6f\", \"resources\": [", i ? "], \"models\": []}, " : "", i * 1e-6);
        fprintf(out, "%s{\"amount\": %.3f, \"structure-unit-size\": %d, ", i % part ? ", " : "",
                amount_of(function, size), size);
        write_type(out, of, function);
        fputs("}", out);
    }
    fputs("], \"models\": []}]", out);
}

static void write_new(FILE *out, const shape *of) {
    int n_each = of->n / of->n_functions;
    fputs("\"resources\": {", out);
    for (int function = 0; function < of->n_functions; function++) {
        fprintf(out, "%s\"f%d#0\": {\"amount\": [", function ? ", " : "", function);
        for (int i = 0; i < n_each; i++) fprintf(out, "%s%.3f", i ? ", " : "", amount_of(function, 1 + i % SIZES));
        fputs("], \"structure-unit-size\": [", out);
        for (int i = 0; i < n_each; i++) fprintf(out, "%s%d", i ? ", " : "", 1 + i % SIZES);
        fputs("]}", out);
    }
    fputs("}, \"resource_type_map\": {", out);
    for (int function = 0; function < of->n_functions; function++) {
        fprintf(out, "%s\"f%d#0\": {", function ? ", " : "", function);
        write_type(out, of, function);
        fputs("}", out);
    }
    fputs("}, \"models\": []", out);
}

static char *make_profile(const char *folder, const shape *of) {
    char *path = malloc(strlen(folder) + strlen(of->name) + 10);
    if (!path) fail("memory", NULL);
    sprintf(path, "%s/%s.perf", folder, of->name);
    FILE *out = fopen(path, "w");
    if (!out) fail(path, NULL);
    fputs("{\"header\": {\"type\": \"mixed\", \"units\": {\"mixed(time delta)\": \"us\"}, \"cmd\": \"./bench\", "
          "\"workload\": \"wl\"}, "
          "\"collector_info\": {\"name\": \"trace\", \"params\": {}}, \"postprocessors\": [], ",
          out);
    if (of->is_new)
        write_new(out, of);
    else
        write_old(out, of);
    fputs("}\n", out);
    if (fclose(out) != 0) fail(path, NULL);
    return path;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static const char *command;

static cost time_of(const char *verb, const char *const *options, const char *path, const char *last) {
    const char *arguments[12] = {command, verb};
    size_t n = 2;
    for (; options && *options; options++) arguments[n++] = *options;
    if (path) arguments[n++] = path;
    if (last) arguments[n++] = last;
    return measure_command(arguments, ROUNDS);
}

static void report_load(const char *what, const char *path, double seconds, double megabytes) {
    char text[100];
    cost load = time_of("info", NULL, path, NULL);
    report(what, load.seconds, "s", seconds, false);
    snprintf(text, sizeof text, "%s, memory", what);
    report(text, load.peak / 1e6, "MB", megabytes, false);
}

/* What a command takes beyond `without`. */
static void report_beyond(const char *what, cost with, cost without, double seconds) {
    report(what, with.seconds - without.seconds, "s", seconds, false);
}

int main(void) {
    static const shape shapes[] = {
        {"old", 1000000, FUNCTIONS, false, false},      {"new", 1000000, FUNCTIONS, true, false},
        {"old-trace", 1000000, FUNCTIONS, false, true}, {"new-trace", 1000000, FUNCTIONS, true, true},
        {"many", 100000, FUNCTIONS, true, false},       {"one", 100000, 1, true, false}};
    enum { OLD, NEW, OLD_TRACE, NEW_TRACE, MANY, ONE, N };
    char folder[] = "/tmp/bench_perun_XXXXXX", *paths[N];
    command = getenv("ASSAY");
    if (!command) {
        puts("  ASSAY is not set: nothing is measured");
        return 0;
    }
    if (!mkdtemp(folder)) fail("mkdtemp", NULL);
    for (int i = 0; i < N; i++) paths[i] = make_profile(folder, &shapes[i]);
    report("start-up", time_of("--version", NULL, NULL, NULL).seconds, "s", 0.005, false);
    report_load("load, old layout", paths[OLD], 0.4, 250);
    report_load("load, new layout", paths[NEW], 0.05, 60);
    report_load("load, old layout with traces", paths[OLD_TRACE], 1.4, 250);
    cost load = time_of("info", NULL, paths[NEW], NULL), load_many = time_of("info", NULL, paths[MANY], NULL);
    const char *full[] = {"--json", "--method", "full", NULL}, *bisection[] = {"--json", "--method", "bisection", NULL};
    const char *kernel[] = {"--json", "--kernel", "smoothing", "--smoothing", "local-polynomial", NULL};
    const char *folded[] = {"--folded", NULL}, *json[] = {"--json", NULL};
    report_beyond("regression, full, beyond loading", time_of("regress", full, paths[NEW], NULL), load, 0.05);
    report_beyond("regression, bisection, beyond loading", time_of("regress", bisection, paths[NEW], NULL), load, 0.2);
    report("flame graph lines", time_of("flame", folded, paths[NEW_TRACE], NULL).seconds, "s", 0.3, false);
    report("numerical fields, with traces",
           time_of("sql", json, paths[NEW_TRACE], "select name from field where numbers > 0").seconds, "s", 0.4, false);
    report_beyond("unique values of amount, as they come, 100,000 rows, beyond loading",
                  time_of("sql", json, paths[MANY],
                          "select amount from record where amount is not null group by amount order by min(id)"),
                  load_many, 0.1);
    report_beyond("unique values of amount, in any order, 100,000 rows, beyond loading",
                  time_of("sql", json, paths[MANY], "select distinct amount from record where amount is not null"),
                  load_many, 0.05);
    report("kernel regression, local polynomial, 100,000 rows", time_of("regress", kernel, paths[ONE], NULL).seconds,
           "s", 2, false);
    for (int i = 0; i < N; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(folder);
    return 0;
}
