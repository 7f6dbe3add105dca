/* Speed and memory of the viewer's server, next to the targets.
 *
 * usage: bench_view [PATH…] | --compare BASE TARGET      ASSAY names the command to time (its full path)
 *
 * Databases of 50,000 contexts x 64 threads, of 1,000,000 contexts x 8 threads (and slightly smaller ones to compare
 * with; one more whose functions are called by lines, and one where metrics are at other such lines, so that each has a
 * tree of its own) and of 2,000 contexts x 12,000 threads are made here, in a temporary folder, and written by assay
 * itself; a Cube file with values of 1,000,000 call paths x 16 locations, an export of five million intervals and an
 * experiment of 100,000 call paths are written by themselves. PATH: these are measured instead. The first times count
 * from the start of the process to the last byte of the answer; others are those of one request. Memory is what the
 * server has of its own beyond what it has with the dataset open: after the request that left most, and at the largest
 * moment while requests were answered (looked at every 2 ms); beside the peak of `assay tree` of the same input. */
#include "measuring.h"

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "made_cube.h"
#include "made_database.h"
#include "made_export.h"

static const char *command = "assay";

/* ---- the server -------------------------------------------------------------------------------------------------- */

typedef struct server {
    pid_t process;
    double start;
    uint16_t port;
    char path[128]; /* "/TOKEN/" */
} server;

/* other: NULL, or a second input. */
static server start_server_of(const char *input, const char *other) {
    server s = {.start = wall_seconds()};
    int ends[2];
    char line[400];
    if (pipe(ends) != 0) fail("pipe", NULL);
    s.process = fork();
    if (s.process < 0) fail("fork", NULL);
    if (s.process == 0) {
        if (dup2(ends[1], STDOUT_FILENO) < 0) _exit(1);
        close(ends[0]);
        execlp(command, command, "view", "--no-open", "--quiet", input, other, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    unsigned port;
    if (!from || !fgets(line, sizeof line, from) || sscanf(line, "http://127.0.0.1:%u%127[^\n]", &port, s.path) != 2)
        fail("the server did not start", NULL);
    s.port = (uint16_t)port;
    return s; /* the pipe stays open: closing it would end the server */
}

static server start_server(const char *input) { return start_server_of(input, NULL); }

/* What the server has itself: pages of mapped files are the system's, and go when they are needed. */
static double own_memory(pid_t process) {
    char path[64], line[200];
    double kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "RssAnon: %lf", &kilobytes);
    if (file) fclose(file);
    return kilobytes / 1024;
}

static void stop_server(const server *s) {
    kill(s->process, SIGINT);
    waitpid(s->process, NULL, 0);
}

static double most_memory, largest_moment;

/* Looks at the server's memory until there is something to read. */
static void wait_for(const server *s, int from) {
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    while (poll(&waiting, 1, 2) == 0) {
        double memory = own_memory(s->process);
        if (memory > largest_moment) largest_moment = memory;
    }
}

/* Seconds until the last byte of the answer; its size in *size. */
static double ask(const server *s, const char *request, size_t *size) {
    double start = wall_seconds();
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(s->port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof address) != 0) fail("connect", NULL);
    char text[1000], buffer[1 << 16];
    int n = snprintf(text, sizeof text, "GET %sapi/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
                     s->path, request, (unsigned)s->port);
    if (write(to, text, (size_t)n) != n) fail("write", NULL);
    ssize_t got;
    bool is_first = true;
    *size = 0;
    while (wait_for(s, to), (got = read(to, buffer, sizeof buffer)) > 0) {
        if (is_first && (got < 12 || memcmp(buffer + 9, "200", 3) != 0)) fail(request, NULL);
        is_first = false;
        *size += (size_t)got;
    }
    close(to);
    return wall_seconds() - start;
}

static void report_request(const server *s, const char *what, const char *request, double target) {
    size_t size;
    char text[100];
    double seconds = ask(s, request, &size);
    snprintf(text, sizeof text, "%s (%zu kB)", what, size / 1000);
    report(text, 1000 * seconds, "ms", target, false);
    double memory = own_memory(s->process);
    if (memory > most_memory) most_memory = memory;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static void bench_input(const char *input, double target) {
    const char *const tree[] = {command, "tree", input, NULL};
    size_t size;
    printf("%s\n", input);
    cost of_tree = measure_command(tree, 2);
    double opened = 0;
    server first = start_server(input);
    ask(&first, "inputs", &size);
    opened = own_memory(first.process);
    most_memory = largest_moment = 0;
    stop_server(&first);

    server s = start_server(input);
    ask(&s, "inputs", &size);
    ask(&s, "overview", &size);
    report("start to the overview", 1000 * (wall_seconds() - s.start), "ms", target, false);
    stop_server(&s);
    s = start_server(input);
    ask(&s, "inputs", &size);
    ask(&s, "tree", &size);
    report("start to the tree", 1000 * (wall_seconds() - s.start), "ms", target, false);
    report_request(&s, "a node opens", "tree?node=1", 100);
    report_request(&s, "sorted by exclusive values", "tree?sort=exclusive", 100);
    report_request(&s, "sorted by name", "tree?sort=name", 100);
    report_request(&s, "another metric", "tree?metrics=2", 100);
    report_request(&s, "and back", "tree", 100);
    report_request(&s, "search", "tree?match=fn_0042&find=next", 100);
    report_request(&s, "a name is hidden, first", "tree?hide=fn_0042", 500);
    report_request(&s, "the same, a node opens", "tree?hide=fn_0042&node=1", 100);
    report_request(&s, "another name is hidden", "tree?hide=fn_0042&hide=fn_0043", 100);
    report_request(&s, "subtrees are hidden", "tree?hide-subtree=fn_0044", 100);
    report_request(&s, "one location", "tree?location=0", 100);
    report_request(&s, "bottom-up, first", "tree?view=bottom-up", 1000);
    report_request(&s, "bottom-up, again", "tree?view=bottom-up&sort=name", 100);
    report_request(&s, "bottom-up, another metric", "tree?metrics=2&view=bottom-up", 100);
    report_request(&s, "bottom-up, a node opens", "tree?metrics=2&node=3&view=bottom-up", 100);
    report_request(&s, "bottom-up, a name is hidden", "tree?hide=fn_0042&view=bottom-up", 1000);
    report_request(&s, "functions, first", "tree?by=region&view=flat", 1000);
    report_request(&s, "functions, again", "tree?by=region&sort=name&view=flat", 100);
    report_request(&s, "functions, a name is hidden", "tree?by=region&hide=fn_0042&view=flat", 100);
    report_request(&s, "modules, files, functions, first", "tree?view=flat", 1000);
    report_request(&s, "modules, files, functions, again", "tree?sort=name&view=flat", 100);
    report_request(&s, "the same of another metric", "tree?metrics=2&view=flat", 100);
    report_request(&s, "the same, a name is hidden", "tree?hide=fn_0042&metrics=2&view=flat", 500);
    report_request(&s, "back to call paths", "tree", 500);
    report_request(&s, "details of a node", "node?context=1", 100);
    report_request(&s, "the same of a metric that is not loaded", "node?context=1&metrics=4", 100);
    report_request(&s, "functions, imbalance, totals", "findings", 1000);
    report("memory beyond the opened dataset", most_memory - opened, "MB", 100, false);
    report("the same at the largest moment", largest_moment - opened, "MB", 100, false);
    printf("  the server with the dataset open has %.0f MB of its own; assay tree: peak %.0f MB, %.0f ms\n", opened,
           of_tree.peak / (1 << 20), 1000 * of_tree.seconds);
    stop_server(&s);
}

/* Flame graphs and locations. The first answers make what the others take. other: the flame graph of another metric, or
 * NULL. */
static void bench_pictures(const char *input, const char *other) {
    size_t size;
    server s = start_server(input);
    printf("%s\n", input);
    ask(&s, "inputs", &size);
    report_request(&s, "locations of the whole program", "locations", 100);
    report_request(&s, "locations of a call path", "locations?context=5", 100);
    report_request(&s, "the same for some of them", "locations?context=5&location=rank%3D0-1", 100);
    report_request(&s, "tree of locations", "location_tree?context=5", 100);
    report_request(&s, "flame graph, first", "flame", 1000);
    report_request(&s, "flame graph, zoom", "flame?root=9", 100);
    report_request(&s, "flame graph, search", "flame?match=fn_0042", 100);
    report_request(&s, "flame graph, inverted", "flame?view=inverted", 1000);
    if (other) report_request(&s, "flame graph, another metric", other, 100);
    stop_server(&s);
}

/* ---- time line and Scale ----------------------------------------------------------------------------------------- */

/* Zooming from the whole run of some five seconds to microseconds. */
static void bench_timeline(const char *input) {
    size_t size;
    server s = start_server(input);
    printf("%s\n", input);
    ask(&s, "inputs", &size);
    double opened = own_memory(s.process);
    largest_moment = 0;
    report_request(&s, "time line, first", "timeline", 2000);
    report_request(&s, "its picture, first", "timeline_picture?columns=1200", 1000);
    report_request(&s, "the whole run", "timeline_picture?columns=1201", 100);
    report_request(&s, "half of it", "timeline_picture?columns=1200&from=1&to=3.5", 100);
    report_request(&s, "a fifth", "timeline_picture?columns=1200&from=1.5&to=2.5", 100);
    report_request(&s, "a hundredth", "timeline_picture?columns=1200&from=2&to=2.05", 100);
    report_request(&s, "microseconds", "timeline_picture?columns=1200&from=2&to=2.00005", 100);
    report_request(&s, "call paths of a row", "timeline_depths?columns=1200&row=0", 100);
    report_request(&s, "another depth", "timeline_picture?columns=1200&depth=1", 100);
    report_request(&s, "a single interval, first", "intervals?from=2&row=0&to=2", 200);
    report_request(&s, "a single interval", "intervals?from=2.1&row=0&to=2.1", 100);
    report("most memory beyond the opened dataset, at any time", largest_moment - opened, "MB", 100, false);
    stop_server(&s);
}

static double make_timeline(const void *path) {
    made_export made;
    if (!make_export(&made, path, 2200000)) fail(path, NULL);
    made_close(&made);
    return 0;
}

/* Two metrics of 100,000 call paths at six points, three times each. */
static double make_experiment(const void *path) {
    FILE *out = fopen(path, "w");
    if (!out) fail(path, NULL);
    fputs("PARAMETER p\nPOINTS (4) (8) (16) (32) (64) (128)\n", out);
    for (int metric = 0; metric < 2; metric++) {
        fprintf(out, "METRIC %s\n", metric ? "visits" : "time");
        for (int i = 0; i < 100000; i++) {
            fprintf(out, "REGION main->phase%d->linear::solver_%d<double>::apply(int)->kernel%d\n", i % 10, i % 997, i);
            for (int p = 4; p <= 128; p *= 2) {
                double value = 1 + i % 89 + (1 + i % 7) * pow(p, 0.25 * (i % 6)) * (i % 2 ? log2(p) : 1);
                fprintf(out, "DATA %.6g %.6g %.6g\n", value * 0.98, value * (1 + 1e-3 * (i % 13)), value * 1.02);
            }
        }
    }
    if (fclose(out) != 0) fail(path, NULL);
    return 0;
}

static void bench_scale(const char *input) {
    size_t size;
    server s = start_server(input);
    printf("%s\n", input);
    ask(&s, "inputs", &size);
    report_request(&s, "models of 100,000 call paths", "scale", 1000);
    report_request(&s, "the slider at another size", "scale?at=p%3D2000", 100);
    report_request(&s, "sorted by what they cost there", "scale?at=p%3D2000&sort=share", 100);
    report_request(&s, "sorted by change", "scale?at=p%3D3000&sort=change", 100);
    report_request(&s, "sorted by name", "scale?sort=name", 100);
    report_request(&s, "as the call tree", "scale?sort=tree", 100);
    report_request(&s, "search for a text", "scale?match=kernel99", 100);
    report_request(&s, "for an expression", "scale?match=solver_1%5B0-9%5D%2B.*kernel.*7%24", 100);
    report_request(&s, "for one of another kind", "scale?match=(phase3%7Csolver_77).*9", 100);
    report_request(&s, "the same, sorted", "scale?match=(phase3%7Csolver_77).*9&sort=share", 100);
    report_request(&s, "another metric, first", "scale?metric=visits", 1000);
    report_request(&s, "and back", "scale", 100);
    report_request(&s, "another metric", "scale?metric=visits&sort=share", 100);
    report_request(&s, "curves of four call paths", "curve?context=13,14,15,16", 100);
    report_request(&s, "functions that were tried", "why?context=13", 100);
    stop_server(&s);
}

static double make_database(const void *given) {
    const made_shape *shape = given;
    char name[32];
    as_dataset *ds = made_dataset(shape);
    snprintf(name, sizeof name, "contexts-%u", shape->n_contexts);
    made_write(ds, name);
    as_dataset_free(ds);
    return 0;
}

/* A profile that has values everywhere. */
static double make_dense(const void *path) {
    return make_cube(path, (cube_shape){.n_cnodes = 1000000, .n_locations = 16, .n_metrics = 5}, 1);
}

/* ---- two inputs -------------------------------------------------------------------------------------------------- */

static void report_watched(const server *s, const char *what, const char *request, double target, double opened) {
    char text[100];
    largest_moment = 0;
    report_request(s, what, request, target);
    snprintf(text, sizeof text, "%s: most memory meanwhile", what);
    report(text, fmax(0, largest_moment - opened), "MB", 100, false);
}

/* Two databases, one of which lacks some call paths of the other. */
static void bench_comparison(const char *base, const char *target) {
    size_t size;
    server s = start_server_of(base, target);
    printf("%s and %s\n", base, target);
    ask(&s, "inputs", &size);
    double opened = own_memory(s.process);
    report_watched(&s, "compared, first", "compare", 1000, opened);
    report_request(&s, "a node opens", "compare?node=1", 100);
    report_watched(&s, "another metric", "compare?metric=M1", 100, opened);
    report_request(&s, "and back", "compare", 100);
    report_request(&s, "and forth", "compare?metric=M1", 100);
    report_request(&s, "sorted by name", "compare?metric=M1&sort=name", 100);
    report_request(&s, "search", "compare?metric=M1&match=fn_0042", 100);
    report_request(&s, "only changes", "compare?metric=M1&min_change=1", 100);
    report_watched(&s, "flame graph of both, first", "compare_flame", 1000, opened);
    report_watched(&s, "flame graph of both, zoom", "compare_flame?root=9", 100, opened);
    report_watched(&s, "flame graph of both, another metric", "compare_flame?metric=M1", 100, opened);
    report_watched(&s, "A against B", "compare_scatter", 1000, opened);
    report_watched(&s, "A against B, another metric", "compare_scatter?metric=M1", 100, opened);
    report_watched(&s, "functions, first", "compare?view=flat", 1000, opened);
    report_request(&s, "functions, sorted by name", "compare?sort=name&view=flat", 100);
    report_watched(&s, "functions, another metric", "compare?metric=M1&view=flat", 100, opened);
    report_watched(&s, "back to call paths", "compare?metric=M1", 500, opened);
    report("memory kept beyond the datasets", own_memory(s.process) - opened, "MB", 100, false);
    stop_server(&s);
}

int main(int argc, char **argv) {
    const char *given = getenv("ASSAY");
    if (given && *given == '/' && access(given, X_OK) == 0) command = given;
    if (argc == 4 && strcmp(argv[1], "--compare") == 0) {
        bench_comparison(argv[2], argv[3]);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        bench_input(argv[i], 1500);
        bench_pictures(argv[i], NULL);
    }
    if (argc > 1) return 0;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    static const made_shape small = {.n_contexts = 50000, .n_profiles = 64, .density = 0.05, .says_kinds = true},
                            large = {.n_contexts = 1000000, .n_profiles = 8, .density = 0.2, .says_kinds = true},
                            calling = {.n_contexts = 1000001,
                                       .n_profiles = 8,
                                       .density = 0.2,
                                       .says_kinds = true,
                                       .calls_at_lines = true},
                            costly = {.n_contexts = 1000002,
                                      .n_profiles = 8,
                                      .density = 0.2,
                                      .says_kinds = true,
                                      .calls_at_lines = true,
                                      .sites_cost = true},
                            wide = {.n_contexts = 2000, .n_profiles = 12000, .density = 0.1, .says_kinds = true};
    measure(make_database, &small, 1); /* in a process of its own: its memory is not that of what is measured */
    bench_input("contexts-50000", 300);
    bench_pictures("contexts-50000", "flame?metric=M1");
    measure(make_database, &large, 1);
    bench_input("contexts-1000000", 1500);
    bench_pictures("contexts-1000000", "flame?metric=M1");
    measure(make_database, &calling, 1);
    bench_input("contexts-1000001", 1500);
    bench_pictures("contexts-1000001", "flame?metric=M1");
    measure(make_database, &costly, 1);
    bench_input("contexts-1000002", 1500);
    bench_pictures("contexts-1000002", "flame?metric=M1");
    measure(make_dense, "dense.cubex", 1);
    bench_input("dense.cubex", 3000);
    bench_pictures("dense.cubex", "flame?metric=visits");
    static const made_shape less = {.n_contexts = 49000, .n_profiles = 64, .density = 0.05, .says_kinds = true},
                            little_less = {.n_contexts = 990000, .n_profiles = 8, .density = 0.2, .says_kinds = true};
    measure(make_database, &less, 1);
    bench_comparison("contexts-50000", "contexts-49000");
    measure(make_database, &little_less, 1);
    bench_comparison("contexts-1000000", "contexts-990000");
    measure(make_database, &wide, 1);
    bench_pictures("contexts-2000", "flame?metric=M1");
    measure(make_timeline, "intervals.sqlite", 1);
    bench_timeline("intervals.sqlite");
    measure(make_experiment, "experiment.txt", 1);
    bench_scale("experiment.txt");
    if (chdir("/") != 0) return 1;
    remove_all(folder);
    return 0;
}
