/* Speed and memory of exports of Nsight Systems, next to the targets.
 *
 * usage: bench_nsight [KERNELS]      ASSAY names the command to time (its full path)
 *
 * An export of a million kernels and more than a million API calls is made here, in a temporary folder, or of as many
 * as said; and one of a few thousand. Each measurement runs in a process of its own, with the file in the page cache;
 * the best of the rounds counts. The targets of loading are for 10 million kernels and scaled with the size; that of
 * `info` is for any size.
 *
 * The last line holds assay against the way of joining tables in SQL, where every segment of time meets every activity:
 * the same questions (which call is in which range, how busy are the devices, what does every kernel, copy and
 * synchronisation overlap with) on the small export, where that ends. */
#include <signal.h>
#include <string.h>

#include "made_export.h"
#include "measuring.h"

enum { ROUNDS = 2, FEW = 3000 };

static const char *command;

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/bench_nsight_XXXXXX";
enum { LARGE, SMALL, N_FILES };
static char paths[N_FILES][sizeof folder + 20];

static void name_files(void) {
    static const char *const names[] = {"large", "small"};
    if (!mkdtemp(folder)) fail("mkdtemp", NULL);
    for (int i = 0; i < N_FILES; i++) snprintf(paths[i], sizeof paths[i], "%s/%s.sqlite", folder, names[i]);
}

static void remove_files(void) {
    for (int i = 0; i < N_FILES; i++) unlink(paths[i]);
    rmdir(folder);
}

/* Nobody wants gigabytes left behind by a benchmark that took too long. */
static void stop(int number) {
    remove_files();
    _exit(128 + number);
}

static made_export make(const char *path, uint64_t kernels) {
    made_export made;
    if (!make_export(&made, path, kernels)) {
        fprintf(stderr, "bench: %s: %s\n", path, made.db ? sqlite3_errmsg(made.db) : "no memory");
        remove_files();
        exit(1);
    }
    made_close(&made);
    return made;
}

/* ---- assay ------------------------------------------------------------------------------------------------------- */

static double load(const void *path) {
    assay_dataset *ds = NULL;
    assay_error error;
    double start = wall_seconds();
    if (assay_open(path, NULL, &ds, &error) != ASSAY_OK) fail(path, &error);
    return wall_seconds() - start; /* the process ends: nothing is freed */
}

static void bench_load(const made_export *made, double scale) {
    cost it = measure(load, paths[LARGE], ROUNDS);
    printf("  %" PRIu64 " kernels, %" PRIu64 " calls, %" PRIu64 " copies, %" PRIu64 " memsets, %" PRIu64
           " synchronisations, %" PRIu64 " ranges\n",
           made->kernels, made->calls, made->copies, made->sets, made->syncs, made->ranges);
    report("load, with overlaps and idle times", it.seconds, "s", 20 * scale, false);
    report("load, seconds of processors", it.cpu, "s", 40 * scale, false);
    report("load, memory", it.peak / 1e6, "MB", 3000 * scale, false);
}

static void bench_verbs(double scale) {
    const char *path = paths[LARGE];
    const struct {
        const char *what;
        double target;
        const char *arguments[6];
    } verbs[] = {
        {"info", 0.2, {command, "info", path}},
        {"tree", 22 * scale, {command, "tree", path}},
        {"stat --report cuda_gpu_kern_sum", 25 * scale, {command, "stat", "--report", "cuda_gpu_kern_sum", path}},
        {"stat --report cuda_api_sum", 25 * scale, {command, "stat", "--report", "cuda_api_sum", path}},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        report(verbs[i].what, measure_command(verbs[i].arguments, ROUNDS).seconds, "s", verbs[i].target, false);
}

/* ---- joins in SQL ------------------------------------------------------------------------------------------------ */

static const char *const joins[] = {
    "create temp table activity as select 'kernel' as kind, rowid as id, start, end, deviceId, correlationId, "
    "min(gridX * gridY * gridZ * blockX * blockY * blockZ, 221184) as threads from CUPTI_ACTIVITY_KIND_KERNEL "
    "union all select 'copy', rowid, start, end, deviceId, correlationId, 0 from CUPTI_ACTIVITY_KIND_MEMCPY union all "
    "select 'set', rowid, start, end, deviceId, correlationId, 0 from CUPTI_ACTIVITY_KIND_MEMSET",
    /* time cut at every start and end, and how many activities run in each segment */
    "create temp table cut as select distinct t from (select start as t from activity union all select end from "
    "activity) order by t",
    "create temp view piece as select t as start, lead(t) over (order by t) as end from cut",
    "create temp table busy as select p.start, p.end, count(*) as n, sum(a.kind = 'copy') as copies, sum(a.kind <> "
    "'copy') as kernels from piece p join activity a on a.start <= p.start and a.end >= p.end group by "
    "p.start, p.end",
    "create temp table share as select a.deviceId, p.start, p.end, sum(a.threads) as threads from piece p join "
    "activity a on a.kind = 'kernel' and a.start <= p.start and a.end >= p.end group by 1, 2, 3",
    /* calls in ranges */
    "create temp table path as select c.correlationId, c.end - c.start as duration, (select r.text from NVTX_EVENTS r "
    "where r.eventType = 59 and r.globalTid = c.globalTid and r.start < c.start and r.end > c.end order by "
    "r.start desc limit 1) as region from CUPTI_ACTIVITY_KIND_RUNTIME c",
    /* what overlaps */
    "create temp table kernel_overlap as select k.id, sum((s.end - s.start) * (s.threads - k.threads) * 1.0 / "
    "s.threads) as overlap from activity k join share s on k.kind = 'kernel' and s.deviceId = k.deviceId and "
    "s.start >= k.start and s.end <= k.end group by k.id",
    "create temp table copy_overlap as select c.id, sum(case when b.kernels then b.end - b.start else (b.end - "
    "b.start) * (b.copies - 1.0) / b.copies end) as overlap from activity c join busy b on c.kind = 'copy' and "
    "b.start >= c.start and b.end <= c.end group by c.id",
    "create temp table sync_overlap as select y.correlationId, sum(min(b.end, y.end) - max(b.start, y.start)) as "
    "overlap from CUPTI_ACTIVITY_KIND_SYNCHRONIZATION y join busy b on b.start < y.end and b.end > y.start group "
    "by y.correlationId",
    /* the sums of call paths */
    "select p.region, sum(p.duration), sum(a.end - a.start), sum(o.overlap) from path p left join activity a on "
    "a.correlationId = p.correlationId left join kernel_overlap o on a.kind = 'kernel' and o.id = a.id group by "
    "p.region",
};

static double join(const void *path) {
    sqlite3 *db = NULL;
    double start = wall_seconds();
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) fail(path, NULL);
    sqlite3_exec(db, "pragma temp_store = memory", NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
        if (sqlite3_exec(db, joins[i], NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(db), NULL);
    sqlite3_close(db);
    return wall_seconds() - start;
}

static void bench_joins(const made_export *made) {
    cost assay = measure(load, paths[SMALL], 2 * ROUNDS), sql = measure(join, paths[SMALL], 1);
    printf("  %" PRIu64 " kernels: %.3f s by joins in SQL, %.4f s by assay\n", made->kernels, sql.seconds,
           assay.seconds);
    report("times faster than joins", sql.seconds / assay.seconds, "x", 20, true);
}

int main(int argc, char **argv) {
    uint64_t kernels = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    command = getenv("ASSAY");
    if (!command) {
        puts("  ASSAY is not set: nothing is measured");
        return 0;
    }
    name_files();
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    made_export large = make(paths[LARGE], kernels), small = make(paths[SMALL], FEW);
    bench_load(&large, (double)kernels / 1e7);
    bench_verbs((double)kernels / 1e7);
    bench_joins(&small);
    remove_files();
    return 0;
}
