/* Speed and memory of Cube profiles, next to the targets and to the tools of the format.
 *
 * usage: bench_cube [--large]      ASSAY names the command to time (its full path)
 *
 * Inputs are made here, in a temporary folder: 2,000 call paths x 1,000 locations x 5 metrics, raw (80 MB) and compressed row by row, and a set of 12 files; with
 * --large also 1,000,000 call paths x 16 locations (250 MB). Each measurement runs in a process of its own and the best of several counts. The times of CubeLib,
 * pyCubexR and Extra-P are CPU seconds for such files, as they were measured elsewhere. */
#include "measuring.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "analysis/nodes.h"
#include "io/tar.h"

enum { ROUNDS = 5, MAX_DEPTH = 24, SET_POINTS = 6, SET_REPETITIONS = 2 };

/* ---- inputs ------------------------------------------------------------------------------------------------------------- */

typedef struct shape {
    uint32_t n_cnodes, n_locations;
    int n_metrics;
    bool is_compressed;
} shape;

static const struct {
    const char *name, *dtype, *kind, *unit;
} kinds[] = {{"visits", "UINT64", "EXCLUSIVE", "occ"},
             {"time", "DOUBLE", "INCLUSIVE", "sec"},
             {"bytes_sent", "UINT64", "EXCLUSIVE", "bytes"},
             {"max_time", "MAXDOUBLE", "EXCLUSIVE", "sec"},
             {"PAPI_TOT_INS", "UINT64", "INCLUSIVE", "#"}};

static uint64_t random_state;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double uniform(void) { return (double)(next_random() >> 11) * 0x1p-53; }

static void *room(size_t n, size_t size) {
    void *memory = calloc(n, size);
    if (!memory) fail("memory", NULL);
    return memory;
}

/* A random call tree in pre-order. */
typedef struct call_tree {
    uint32_t n;
    uint32_t *parents;
    uint32_t *
        wide; /* the order of rows of inclusive metrics: each cnode, from the root on, hands numbers to all its children */
} call_tree;

static uint32_t *number_widely(const uint32_t *parents, uint32_t n) {
    uint32_t *starts = room((size_t)n + 2, sizeof *starts), *children = room(n, sizeof *children),
             *wide = room(n, sizeof *wide), used = 1;
    for (uint32_t i = 1; i < n; i++) starts[parents[i] + 2]++;
    for (uint32_t i = 2; i < n + 2; i++) starts[i] += starts[i - 1];
    for (uint32_t i = 1; i < n; i++) children[starts[parents[i] + 1]++] = i;
    for (uint32_t i = 0; i < n; i++) { /* pre-order is the order of ids */
        for (uint32_t k = starts[i]; k < starts[i + 1]; k++) wide[used++] = children[k];
    }
    free(starts);
    free(children);
    return wide;
}

static call_tree make_tree(uint32_t n) {
    call_tree tree = {.n = n, .parents = room(n, sizeof *tree.parents)};
    uint32_t path[MAX_DEPTH + 2] = {0}, depth = 1;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t least = depth > 6 ? depth - 6 : 0;
        uint32_t at = depth > MAX_DEPTH ? (uint32_t)(next_random() % (MAX_DEPTH / 2))
                                        : least + (uint32_t)(next_random() % (depth - least));
        tree.parents[i] = path[at];
        path[at + 1] = i;
        depth = at + 2;
    }
    tree.wide = number_widely(tree.parents, n);
    return tree;
}

static void print_cnodes(as_output *out, const call_tree *tree, uint32_t n_regions) {
    uint32_t open[MAX_DEPTH + 2], depth = 0;
    for (uint32_t i = 0; i < tree->n; i++) {
        for (; depth && i && open[depth - 1] != tree->parents[i]; depth--) as_output_text(out, "</cnode>\n");
        as_output_printf(out, "<cnode id=\"%u\" calleeId=\"%u\">", i, i % n_regions);
        open[depth++] = i;
    }
    while (depth--) as_output_text(out, "</cnode>\n");
}

static as_output *make_anchor(const shape *s, const call_tree *tree) {
    as_output *out = as_output_to_memory();
    if (!out) fail("memory", NULL);
    as_output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n<metrics>\n");
    for (int i = 0; i < s->n_metrics; i++)
        as_output_printf(out,
                         "<metric id=\"%d\" type=\"%s\"><disp_name>%s</disp_name><uniq_name>%s</uniq_name><dtype>%s"
                         "</dtype><uom>%s</uom><url></url><descr></descr></metric>\n",
                         i, kinds[i].kind, kinds[i].name, kinds[i].name, kinds[i].dtype, kinds[i].unit);
    as_output_text(out, "</metrics>\n<program>\n");
    uint32_t n_regions = s->n_cnodes / 4;
    for (uint32_t i = 0; i < n_regions; i++)
        as_output_printf(out,
                         "<region id=\"%u\" mod=\"file%u.c\" begin=\"%u\" end=\"%u\"><name>func%u</name><mangled_name>"
                         "func%u</mangled_name><paradigm>compiler</paradigm><role>function</role><url></url><descr>"
                         "</descr></region>\n",
                         i, i % 17, i, i + 5, i, i);
    print_cnodes(out, tree, n_regions);
    as_output_text(out, "</program>\n<system>\n<systemtreenode Id=\"0\"><name>machine</name><class>machine</class>\n");
    for (uint32_t i = 0; i < s->n_locations; i++)
        as_output_printf(out,
                         "<locationgroup Id=\"%u\"><name>MPI Rank %u</name><rank>%u</rank><type>process</type>"
                         "<location Id=\"%u\"><name>Master thread</name><rank>0</rank><type>thread</type></location>"
                         "</locationgroup>\n",
                         i, i, i, i);
    as_output_text(out, "</systemtreenode>\n</system>\n</cube>\n");
    return out;
}

/* The rows of a metric in the order of the file: three in ten are zeros. */
static char *make_rows(const shape *s, const call_tree *tree, int metric) {
    bool is_real = strstr(kinds[metric].dtype, "DOUBLE"), is_inclusive = kinds[metric].kind[0] == 'I';
    size_t width = s->n_locations, n = (size_t)s->n_cnodes * width;
    double *values = room(n, sizeof *values);
    for (uint32_t c = 0; c < s->n_cnodes; c++) {
        bool is_zero = uniform() < 0.3;
        for (uint32_t l = 0; l < width && !is_zero; l++)
            values[c * width + l] =
                is_real ? -50 * log((1 - uniform()) * (1 - uniform())) : (double)(next_random() % 100000);
    }
    for (uint32_t c = s->n_cnodes; is_inclusive && c-- > 1;) {
        for (uint32_t l = 0; l < width; l++) values[tree->parents[c] * width + l] += values[c * width + l];
    }
    char *rows = room(n, 8);
    for (uint32_t r = 0; r < s->n_cnodes; r++) {
        const double *from = values + (is_inclusive ? tree->wide[r] : r) * width;
        for (uint32_t l = 0; l < width; l++) {
            uint64_t whole = (uint64_t)from[l];
            memcpy(rows + (r * width + l) * 8, is_real ? (const void *)&from[l] : &whole, 8);
        }
    }
    free(values);
    return rows;
}

static void add_index(as_tar_writer *tar, const char *name, uint32_t n) {
    size_t size = 22 + 4 * (size_t)n;
    char *index = room(size, 1);
    memcpy(index, "CUBEX.INDEX\1\0\0\0\0\0\1", 18);
    memcpy(index + 18, &n, 4);
    for (uint32_t i = 0; i < n; i++) memcpy(index + 22 + 4 * (size_t)i, &i, 4);
    as_tar_add(tar, name, index, size);
    free(index);
}

static void add_raw(as_tar_writer *tar, as_output *out, const char *name, const char *rows, size_t size) {
    assay_error error;
    as_tar_begin(tar, name, 10 + size);
    as_output_write(out, "CUBEX.DATA", 10);
    as_output_write(out, rows, size);
    if (as_tar_end(tar, &error) != ASSAY_OK) fail(name, &error);
}

/* Each row a stream of its own, as CubeLib writes them. */
static void add_compressed(as_tar_writer *tar, const char *name, const char *rows, size_t row_size, uint32_t n) {
    size_t head = 19 + 24 * (size_t)n, used = head;
    char *data = room(head + n * compressBound(row_size), 1);
    uint64_t count = n;
    memcpy(data, "ZCUBEX.DATA", 11);
    memcpy(data + 11, &count, 8);
    for (uint32_t i = 0; i < n; i++) {
        uLongf packed = compressBound(row_size);
        if (compress2((Bytef *)data + used, &packed, (const Bytef *)rows + i * row_size, row_size, 6) != Z_OK)
            fail("zlib", NULL);
        uint64_t entry[3] = {i * row_size, used - head, packed};
        memcpy(data + 19 + 24 * (size_t)i, entry, sizeof entry);
        used += packed;
    }
    as_tar_add(tar, name, data, used);
    free(data);
}

static double make(const char *path, shape s, uint64_t seed) {
    random_state = 0x9e3779b97f4a7c15u * seed;
    call_tree tree = make_tree(s.n_cnodes);
    assay_error error;
    as_output *out, *anchor = make_anchor(&s, &tree);
    if (as_output_open(path, &out, &error) != ASSAY_OK) fail(path, &error);
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!tar) fail("memory", NULL);
    for (int i = 0; i < s.n_metrics; i++) {
        char name[32], *rows = make_rows(&s, &tree, i);
        size_t row_size = 8 * (size_t)s.n_locations;
        snprintf(name, sizeof name, "%d.data", i);
        if (s.is_compressed)
            add_compressed(tar, name, rows, row_size, s.n_cnodes);
        else
            add_raw(tar, out, name, rows, row_size * s.n_cnodes);
        snprintf(name, sizeof name, "%d.index", i);
        add_index(tar, name, s.n_cnodes);
        free(rows);
    }
    size_t size;
    const char *text = as_output_memory(anchor, &size);
    as_tar_add(tar, "anchor.xml", text, size);
    as_tar_finish(tar);
    if (as_output_commit(out, &error) != ASSAY_OK) fail(path, &error);
    as_output_discard(anchor);
    free(tree.parents);
    free(tree.wide);
    struct stat info;
    if (stat(path, &info) != 0) fail(path, NULL);
    return (double)info.st_size;
}

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
            bytes += make(path, (shape){500, processes, 5, false}, i + 1);
        } else {
            unlink(path);
            rmdir(folder);
        }
    }
    if (!is_made) rmdir("set");
    return bytes;
}

/* ---- measuring ---------------------------------------------------------------------------------------------------------- */

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

/* ---- the report --------------------------------------------------------------------------------------------------------- */

static void compare(const char *tool, double theirs, double ours) {
    printf("    %s: %.2f s, %.0f times as much\n", tool, theirs, theirs / ours);
}

/* Memory may be the file, as it is mapped, and one and a half times what was decoded. */
static void report_memory(const char *what, double peak, double idle, double file, double decoded) {
    report(what, (peak - idle) * 1e-6, "MB", (file + 1.5 * decoded) * 1e-6, false);
}

static double idle_peak(void) {
    make("idle.cubex", (shape){8, 2, 1, false}, 1);
    double peak = measure(only_open, &(bench_task){.input = "idle.cubex", .now = cpu_seconds}, ROUNDS).peak;
    unlink("idle.cubex");
    return peak;
}

static void bench_sums(double idle) {
    const shape usual = {2000, 1000, 5, false}, packed = {2000, 1000, 5, true};
    double metric_bytes = 8.0 * usual.n_cnodes * usual.n_locations;
    double bytes = make("raw.cubex", usual, 1), packed_bytes = make("packed.cubex", packed, 1);
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
    const shape s = {1000000, 16, 2, false};
    double bytes = make("large.cubex", s, 1);
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
