/* Speed and memory of AFPerf captures, next to the targets.
 *
 * usage: bench_afperf [MEGABYTES]      ASSAY names the command to time (its full path)
 *
 * A capture of 1,000 MB (15 million records) is made here, in a temporary folder, or of as many MB as said. What is
 * compared is measured in turns, each in a process of its own, and the best of the rounds counts: seconds are those of
 * the clock, with the file in the page cache; those of processors are there for machines that others use as well. The
 * targets of opening are for 1,000 MB and scaled with the size.
 *
 * Parsing: records, fields and numbers of the whole file, as the reader does it, from a mapped file. On one core it is
 * held against its target in MB/s, with as many threads as there are cores against `wc -l`. Memory: the peak of the
 * resident set of `assay info` beyond that of `assay info` on a capture without records, over the number of intervals;
 * pages of the mapped file count as long as they stay resident. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "core/parallel.h"
#include "formats/afperf/reading.h"
#include "made_capture.h"
#include "measuring.h"

enum { ROUNDS = 3, PIECE = 1 << 20 };

static const char *command;

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/bench_afperf_XXXXXX";
enum { CAPTURE, EMPTY, CONVERTED, N_FILES };
static char paths[N_FILES][sizeof folder + 20];

static void name_files(void) {
    static const char *const names[] = {"capture", "empty", "converted"};
    if (!mkdtemp(folder)) fail("mkdtemp", NULL);
    for (int i = 0; i < N_FILES; i++) snprintf(paths[i], sizeof paths[i], "%s/%s.afperf", folder, names[i]);
}

static void remove_files(void) {
    for (int i = 0; i < N_FILES; i++) unlink(paths[i]);
    rmdir(folder);
}

/* Nobody wants 1 GB left behind by a benchmark that took too long. */
static void stop(int number) {
    remove_files();
    _exit(128 + number);
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

typedef struct parse_task {
    const char *path;
    unsigned threads;
    size_t size, records;
} parse_task;

typedef struct parse_job {
    const char *data;
    size_t size, n_strips;
    size_t *records;
} parse_job;

static size_t line_after(const parse_job *job, size_t offset) {
    if (offset >= job->size) return job->size;
    const char *newline = memchr(job->data + offset, '\n', job->size - offset);
    return newline ? (size_t)(newline - job->data) + 1 : job->size;
}

/* One strip of the file, a piece after the other, as the reader cuts them. */
static void parse_strip(void *user, size_t i) {
    parse_job *job = user;
    as_af_piece piece;
    as_af_piece_init(&piece, NULL);
    size_t from = i ? line_after(job, job->size / job->n_strips * i) : 0;
    size_t end = i + 1 < job->n_strips ? line_after(job, job->size / job->n_strips * (i + 1)) : job->size;
    while (from < end) {
        piece.from = from;
        piece.end = from + PIECE < end ? line_after(job, from + PIECE) : end;
        as_af_tokenise(&piece, job->data, job->size, job->size, false);
        if (piece.failed || piece.stopped) fail("parsing", NULL);
        job->records[i] += piece.items.count;
        from = piece.next;
    }
    as_af_piece_free(&piece);
}

static double parse(const void *given) {
    const parse_task *task = given;
    double start = wall_seconds();
    int file = open(task->path, O_RDONLY);
    void *data = file < 0 ? MAP_FAILED : mmap(NULL, task->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) fail(task->path, NULL);
    madvise(data, task->size, MADV_SEQUENTIAL);
    parse_job job = {.data = data, .size = task->size, .n_strips = task->threads == 1 ? 1 : 64};
    job.records = calloc(job.n_strips, sizeof *job.records);
    if (!job.records) fail("memory", NULL);
    as_parallel(job.n_strips, task->threads, parse_strip, &job);
    double seconds = wall_seconds() - start;
    size_t records = 0;
    for (size_t i = 0; i < job.n_strips; i++) records += job.records[i];
    if (records != task->records) fail("number of records", NULL);
    return seconds;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static void keep_best(cost *best, cost now) {
    if (best->seconds <= 0 || now.seconds < best->seconds) best->seconds = now.seconds;
    if (best->peak <= 0 || now.peak < best->peak) best->peak = now.peak;
    if (best->cpu <= 0 || now.cpu < best->cpu) best->cpu = now.cpu;
}

/* What commands take beyond opening, measured in turns with it. */
static void bench_verbs(double scale) {
    enum { TURNS = 2 };
    const char *path = paths[CAPTURE], *converted = paths[CONVERTED];
    const char *info[] = {command, "info", path, NULL};
    const struct {
        const char *what;
        double target; /* for 1,000 MB */
        const char *arguments[8];
    } verbs[] = {
        {"tree, beyond opening", 0.1, {command, "tree", path}},
        {"tree --group-by, beyond opening", 2, {command, "tree", "--group-by", "platform,component", path}},
        {"stat over occurrences, beyond opening", 2, {command, "stat", path}},
        {"trace, beyond opening", 2, {command, "trace", "--rows", "0", path}},
        {"sql, counting events, beyond opening", 2, {command, "sql", path, "select count(*) from event"}},
        {"convert to AFPerf, beyond opening", 5, {command, "convert", path, converted}},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        cost opening = {0}, all = {0};
        for (int turn = 0; turn < TURNS; turn++) {
            keep_best(&opening, measure_command(info, 1));
            keep_best(&all, measure_command(verbs[i].arguments, 1));
            unlink(converted);
        }
        double beyond = all.seconds - opening.seconds;
        report(verbs[i].what, beyond > 0 ? beyond : 0, "s", verbs[i].target * scale, false);
    }
}

static void bench_capture(const made_capture *made, double scale) {
    const char *path = paths[CAPTURE], *empty = paths[EMPTY];
    const char *count[] = {"wc", "-l", path, NULL}, *info[] = {command, "info", path, NULL};
    const char *idle[] = {command, "info", empty, NULL};
    parse_task alone = {path, 1, made->bytes, made->records}, together = alone;
    together.threads = 0;
    cost counting = {0}, parsing = {0}, parsing_together = {0}, opening = {0}, nothing = {0};
    for (int i = 0; i < ROUNDS; i++) {
        keep_best(&counting, measure_command(count, 1));
        keep_best(&parsing, measure(parse, &alone, 1));
        keep_best(&parsing_together, measure(parse, &together, 1));
        keep_best(&opening, measure_command(info, 1));
        keep_best(&nothing, measure_command(idle, 1));
    }
    double size = (double)made->bytes / 1e6;
    char what[100];
    unsigned cores = as_core_count();
    printf("  wc -l: %.3f s, %.3f s of a processor\n", counting.seconds, counting.cpu);
    report("parsing on one core", size / parsing.seconds, "MB/s", 300, true);
    report("parsing, for each second of a processor", size / parsing.cpu, "MB/s", 300, true);
    snprintf(what, sizeof what, "parsing on %u cores, compared with wc -l", cores);
    report(what, parsing_together.seconds / counting.seconds, "x", 4, false);
    snprintf(what, sizeof what, "the same in seconds of processors, over %u cores", cores);
    report(what, parsing_together.cpu / cores / counting.cpu, "x", 4, false);
    report("opening", opening.seconds, "s", 5 * scale, false);
    snprintf(what, sizeof what, "opening, seconds of processors over %u cores", cores);
    report(what, opening.cpu / cores, "s", 5 * scale, false);
    report("peak of memory for each interval", (opening.peak - nothing.peak) / (double)made->intervals, "bytes", 120,
           false);
    bench_verbs(scale);
}

int main(int argc, char **argv) {
    double megabytes = argc > 1 ? strtod(argv[1], NULL) : 1000;
    command = getenv("ASSAY");
    if (!command) {
        puts("  ASSAY is not set: nothing is measured");
        return 0;
    }
    if (!(megabytes >= 1 && megabytes <= 1e6)) {
        fprintf(stderr, "usage: bench_afperf [MEGABYTES]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    name_files();
    atexit(remove_files);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    made_capture made, none;
    if (!make_capture(&none, paths[EMPTY], 0) || !make_capture(&made, paths[CAPTURE], (size_t)(megabytes * 1e6)))
        fail("capture", NULL);
    printf("  %.0f MB, %.2f million records, %.2f million intervals\n", (double)made.bytes / 1e6,
           (double)made.records / 1e6, (double)made.intervals / 1e6);
    bench_capture(&made, megabytes / 1000);
    return 0;
}
