/* Makes the HPCToolkit database examples/heat-hpctoolkit: a made-up run of the program in its src/heat.c, on four MPI
 * processes of two threads each, the first of them with a GPU.
 *
 * usage: heat-database-example FOLDER OUT [FORMAT]     FOLDER has src/heat.c, OUT is the database to be made
 *
 * The one that lies in examples/ was made by
 *     build/examples/heat-database-example examples/heat-hpctoolkit /tmp/heat && cp -r /tmp/heat/.
 *     examples/heat-hpctoolkit
 *
 * The program is played step by step: who exchanges lines waits for both neighbours, a reduction for the slowest of
 * all. Rank 3 has half as much again to compute, where the plate is finer. Same numbers on every machine: nothing is
 * measured, chance is a formula. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/build.h"
#include "formats/format.h"

enum { RANKS = 4, THREADS = 2, LINES = RANKS * THREADS + 1, GPU = LINES - 1, STEPS = 6 };
enum { MOST_PIECES = 200, MOST_SAMPLES = 1000, MOST_DEPTH = 16 };
static const uint64_t began = 1700000000000000000u; /* ns since 1970 */
static const uint64_t ms = 1000000;                 /* ns */
static const uint64_t period = 4 * 1000000;

/* ---- the call tree ----------------------------------------------------------------------------------------------- */

#define APP  "/home/user/heat/heat"
#define MPI  "/usr/lib/libmpi.so.40"
#define GOMP "/usr/lib/libgomp.so.1"
#define CUDA "/usr/lib/libcudart.so.12"

enum context {
    ROOT,
    PROGRAM,
    MAIN,
    INIT,
    INPUT,
    SCAN,
    BCAST,
    FILL,
    FILL_Y,
    FILL_X,
    FILL_LINE,
    LOOP,
    EXCHANGE,
    SENDRECV,
    STEP,
    STENCIL,
    STENCIL_Y,
    STENCIL_X,
    STENCIL_LINE,
    JOIN,
    RESIDUAL,
    RESIDUAL_LOOP,
    RESIDUAL_LINE,
    ALLREDUCE,
    CHECKPOINT,
    COMPRESS,
    SYNCHRONIZE,
    COPY,
    KERNEL,
    BARRIER,
    FINALIZE,
    THREAD,
    START,
    OWN_STENCIL,
    OWN_Y,
    OWN_X,
    OWN_LINE,
    WAIT,
    N_CONTEXTS
};

static const struct node {
    int level;
    const char *kind, *name; /* of loops and lines made from their places */
    int line;                /* of src/heat.c, 0: none */
    const char *module;
} nodes[N_CONTEXTS] = {
    [ROOT] = {0, "root", "<root>", 0, NULL},
    [PROGRAM] = {1, "entry", "main thread", 0, NULL},
    [MAIN] = {2, "function", "main", 62, APP},
    [INIT] = {3, "function", "MPI_Init", 0, MPI},
    [INPUT] = {3, "function", "read_input", 12, APP},
    [SCAN] = {4, "line", NULL, 14, APP},
    [BCAST] = {4, "function", "MPI_Bcast", 0, MPI},
    [FILL] = {3, "function", "fill", 20, APP},
    [FILL_Y] = {4, "loop", NULL, 21, APP},
    [FILL_X] = {5, "loop", NULL, 22, APP},
    [FILL_LINE] = {6, "line", NULL, 22, APP},
    [LOOP] = {3, "loop", NULL, 71, APP},
    [EXCHANGE] = {4, "function", "exchange", 26, APP},
    [SENDRECV] = {5, "function", "MPI_Sendrecv", 0, MPI},
    [STEP] = {4, "function", "step", 40, APP},
    [STENCIL] = {5, "function", "stencil", 32, APP},
    [STENCIL_Y] = {6, "loop", NULL, 33, APP},
    [STENCIL_X] = {7, "loop", NULL, 34, APP},
    [STENCIL_LINE] = {8, "line", NULL, 36, APP},
    [JOIN] = {5, "function", "gomp_team_barrier_wait", 0, GOMP},
    [RESIDUAL] = {4, "function", "residual", 50, APP},
    [RESIDUAL_LOOP] = {5, "loop", NULL, 52, APP},
    [RESIDUAL_LINE] = {6, "line", NULL, 52, APP},
    [ALLREDUCE] = {5, "function", "MPI_Allreduce", 0, MPI},
    [CHECKPOINT] = {4, "function", "checkpoint", 57, APP},
    [COMPRESS] = {5, "function", "gpu_compress", 0, APP},
    [SYNCHRONIZE] = {6, "function", "cudaDeviceSynchronize", 0, CUDA},
    [COPY] = {6, "function", "<gpu copyin>", 0, CUDA},
    [KERNEL] = {6, "function", "compress_kernel", 0, APP},
    [BARRIER] = {5, "function", "MPI_Barrier", 0, MPI},
    [FINALIZE] = {3, "function", "MPI_Finalize", 0, MPI},
    [THREAD] = {1, "entry", "application thread", 0, NULL},
    [START] = {2, "function", "gomp_thread_start", 0, GOMP},
    [OWN_STENCIL] = {3, "function", "stencil", 32, APP},
    [OWN_Y] = {4, "loop", NULL, 33, APP},
    [OWN_X] = {5, "loop", NULL, 34, APP},
    [OWN_LINE] = {6, "line", NULL, 36, APP},
    [WAIT] = {3, "function", "gomp_team_barrier_wait", 0, GOMP},
};

static bool is_call(enum context id) {
    return strcmp(nodes[id].kind, "loop") != 0 && strcmp(nodes[id].kind, "line") != 0;
}

/* ---- the play ---------------------------------------------------------------------------------------------------- */

/* What a location did: pieces of time, one after the other. */
typedef struct line {
    uint64_t start, now; /* ns since the program began */
    size_t n;
    struct piece {
        uint64_t end;
        enum context context;
    } pieces[MOST_PIECES];
    size_t n_samples;
    as_trace_sample samples[MOST_SAMPLES];
    uint32_t counts[N_CONTEXTS]; /* samples of each context */
    uint64_t spent[N_CONTEXTS];
} line;

static line lines[LINES];
static uint32_t chance = 12345;

/* 0.95 … 1.05 of it. */
static uint64_t about(uint64_t time) {
    chance = chance * 1103515245u + 12345u;
    return time * 95 / 100 + time / 10 * (chance >> 16) / 65536;
}

static line *thread(int rank, int number) { return &lines[rank * THREADS + number]; }

static void spend_until(line *l, enum context context, uint64_t end) {
    if (end <= l->now) return;
    if (l->n && l->pieces[l->n - 1].context == context) l->n--;
    if (l->n >= MOST_PIECES) abort();
    l->pieces[l->n++] = (struct piece){end, context};
    l->spent[context] += end - l->now;
    l->now = end;
}

static void spend(line *l, enum context context, uint64_t time) { spend_until(l, context, l->now + about(time)); }

static uint64_t latest_of_all(void) {
    uint64_t latest = 0;
    for (int r = 0; r < RANKS; r++) latest = thread(r, 0)->now > latest ? thread(r, 0)->now : latest;
    return latest;
}

static void wait_for_all(enum context context, uint64_t time) {
    uint64_t end = latest_of_all() + time;
    for (int r = 0; r < RANKS; r++) spend_until(thread(r, 0), context, end);
}

static void play_begin(void) {
    for (int r = 0; r < RANKS; r++) spend(thread(r, 0), INIT, 50 * ms);
    spend(thread(0, 0), SCAN, 70 * ms);
    wait_for_all(BCAST, 2 * ms);
    for (int r = 0; r < RANKS; r++) spend(thread(r, 0), FILL_LINE, (r == 3 ? 100 : 80) * ms);
    for (int r = 0; r < RANKS; r++) thread(r, 1)->start = thread(r, 1)->now = thread(r, 0)->now;
}

static void play_exchange(void) {
    uint64_t before[RANKS];
    for (int r = 0; r < RANKS; r++) before[r] = thread(r, 0)->now;
    for (int r = 0; r < RANKS; r++) {
        uint64_t end = before[r];
        if (r > 0 && before[r - 1] > end) end = before[r - 1];
        if (r + 1 < RANKS && before[r + 1] > end) end = before[r + 1];
        spend_until(thread(r, 0), SENDRECV, end + about(8 * ms));
    }
}

static void play_stencil(void) {
    for (int r = 0; r < RANKS; r++) {
        line *first = thread(r, 0), *second = thread(r, 1);
        spend_until(second, WAIT, first->now);
        spend(first, STENCIL_LINE, (r == 3 ? 135 : 90) * ms);
        spend(second, OWN_LINE, (r == 3 ? 130 : 88) * ms);
        uint64_t end = first->now > second->now ? first->now : second->now;
        spend_until(first, JOIN, end);
        spend_until(second, WAIT, end);
    }
}

static void play_checkpoint(void) {
    line *first = thread(0, 0), *gpu = &lines[GPU];
    if (gpu->n == 0) gpu->start = gpu->now = first->now;
    spend_until(gpu, ROOT, first->now);
    spend(gpu, COPY, 15 * ms);
    spend(gpu, KERNEL, 50 * ms);
    spend_until(first, SYNCHRONIZE, gpu->now);
    spend(first, COMPRESS, 6 * ms);
    wait_for_all(BARRIER, ms);
}

static void play(void) {
    play_begin();
    for (int step = 1; step <= STEPS; step++) {
        play_exchange();
        play_stencil();
        for (int r = 0; r < RANKS; r++) spend(thread(r, 0), RESIDUAL_LINE, 12 * ms);
        wait_for_all(ALLREDUCE, ms);
        if (step % 3 == 0) play_checkpoint();
    }
    for (int r = 0; r < RANKS; r++) spend_until(thread(r, 1), WAIT, thread(r, 0)->now);
    wait_for_all(FINALIZE, 12 * ms);
}

static void add_sample(line *l, uint64_t time, enum context context) {
    if (l->n_samples >= MOST_SAMPLES) abort();
    l->samples[l->n_samples++] = (as_trace_sample){began + time, context};
}

/* A thread is looked at once in a period; of a GPU each piece is known. */
static void take_samples(void) {
    for (int i = 0; i < LINES; i++) {
        line *l = &lines[i];
        uint64_t begin = l->start, time = l->start + about(period) / 2;
        for (size_t p = 0; p < l->n; begin = l->pieces[p++].end) {
            if (i == GPU) add_sample(l, begin, l->pieces[p].context);
            for (; i != GPU && time < l->pieces[p].end; time += period) {
                l->counts[l->pieces[p].context]++;
                add_sample(l, time, l->pieces[p].context);
            }
        }
        add_sample(l, begin, ROOT); /* it is over */
    }
}

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

static as_dataset *ds;
static assay_id leaves[LINES];

static as_str text(const char *value) { return value ? as_ds_intern_text(ds, value) : AS_NO_STR; }

static assay_id add_place(assay_id parent, const char *kind, int number, bool is_leaf, int rank) {
    char name[64];
    as_location place = AS_LOCATION_INIT;
    snprintf(name, sizeof name, "%s %d", kind, number);
    place.kind = text(kind);
    place.name = text(name);
    place.parent = parent;
    place.rank = rank;
    place.leaf = is_leaf;
    return as_add_location(ds, &place);
}

static void add_places(void) {
    assay_id node = add_place(ASSAY_NONE, "node", 0, false, -1);
    for (int r = 0; r < RANKS; r++) {
        assay_id rank = add_place(node, "rank", r, false, r);
        for (int t = 0; t < THREADS; t++) leaves[r * THREADS + t] = add_place(rank, "thread", t, true, r);
        if (r > 0) continue;
        assay_id device = add_place(rank, "gpudevice", 0, false, r),
                 context = add_place(device, "gpucontext", 0, false, r);
        leaves[GPU] = add_place(context, "gpustream", 0, true, r);
    }
}

static assay_id add_region(const struct node *node, const char *name) {
    for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
        const as_region *known = as_ds_region(ds, id);
        if (known->name == text(name) && known->kind == text(node->kind)) return id;
    }
    as_region region = AS_REGION_INIT;
    region.kind = text(node->kind);
    region.name = text(name);
    region.file = node->line ? text("src/heat.c") : AS_NO_STR;
    region.line_begin = node->line ? node->line : -1;
    region.module = text(node->module);
    return as_add_region(ds, &region);
}

static void add_contexts(void) {
    as_tree tree;
    assay_id above[MOST_DEPTH] = {0};
    const assay_id *ids;
    as_tree_init(&tree, ds);
    for (int i = 0; i < N_CONTEXTS; i++) {
        char name[64];
        const struct node *node = &nodes[i];
        if (node->name)
            snprintf(name, sizeof name, "%s", node->name);
        else
            snprintf(name, sizeof name, "%s%s src/heat.c:%d", node->kind, node->kind[1] == 'o' ? " at" : "",
                     node->line);
        as_context context = AS_CONTEXT_INIT;
        context.name = text(name);
        context.region = add_region(node, name);
        context.parent = node->level ? above[node->level - 1] : ASSAY_NONE;
        context.role = is_call((enum context)i) ? AS_ROLE_CALL : AS_ROLE_INNER;
        above[node->level] = as_tree_add(&tree, &context);
    }
    if (!as_tree_finish(&tree, &ids)) abort();
    as_tree_free(&tree);
    for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
        const char *kind = as_ds_text(ds, as_ds_region(ds, id)->kind),
                   *name = as_ds_text(ds, as_ds_region(ds, id)->name);
        if (strcmp(kind, "entry") == 0)
            as_add_attribute(ds, AS_OWNER_REGION, id, "entry_type",
                             as_cell_int(strcmp(name, "main thread") == 0 ? 1 : 2));
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What a location has right at a context: of processors a period for each sample, of the GPU what it took. */
static double cost_of(int place, enum context context, bool is_gpu) {
    if (is_gpu) return place == GPU && context != ROOT ? (double)lines[place].spent[context] * 1e-9 : 0;
    return (double)lines[place].counts[context] * ((double)period * 1e-9);
}

/* Inclusive: with all below; exclusive: with loops and lines below, as far as no call lies between. */
static void add_up(double values[N_CONTEXTS][LINES], bool is_gpu, bool is_exclusive) {
    memset(values, 0, sizeof(double[N_CONTEXTS][LINES]));
    for (int id = N_CONTEXTS - 1; id >= 0; id--) {
        int parent = id;
        while (parent > 0 && nodes[parent].level >= nodes[id].level) parent--;
        for (int place = 0; place < LINES; place++) {
            values[id][place] += cost_of(place, (enum context)id, is_gpu);
            if (id > 0 && !(is_exclusive && is_call((enum context)id))) values[parent][place] += values[id][place];
        }
    }
}

static assay_id add_metric(const char *name, bool is_gpu, bool is_exclusive) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = text(name);
    metric.unit = text("sec");
    metric.dtype = text("DOUBLE");
    metric.kind = is_exclusive ? AS_KIND_EXCLUSIVE : AS_KIND_INCLUSIVE;
    metric.is_stored = true;
    assay_id id = as_add_metric(ds, &metric);
    double(*values)[LINES] = as_arena_alloc(&ds->arena, sizeof(double[N_CONTEXTS][LINES]));
    assay_id *contexts = as_arena_array(&ds->arena, N_CONTEXTS, sizeof *contexts),
             *columns = as_arena_array(&ds->arena, LINES, sizeof *columns);
    if (!values || !contexts || !columns) abort();
    add_up(values, is_gpu, is_exclusive);
    /* Places came in another order than lines: the GPU's before those of the later ranks. */
    int line_of[LINES], n = 0;
    for (assay_id place = 0; place < AS_COUNT(ds, locations); place++)
        for (int i = 0; i < LINES; i++)
            if (leaves[i] == place) line_of[n++] = i;
    for (int i = 0; i < LINES; i++) columns[i] = leaves[line_of[i]];
    for (assay_id c = 0; c < N_CONTEXTS; c++) {
        double row[LINES];
        for (int i = 0; i < LINES; i++) row[i] = values[c][line_of[i]];
        memcpy(values[c], row, sizeof row);
        contexts[c] = c;
    }
    as_profile profile = {.metric = id,
                          .run = 0,
                          .type = as_value_type_of(AS_DTYPE_DOUBLE, 1),
                          .n_rows = N_CONTEXTS,
                          .n_columns = LINES,
                          .columns = columns,
                          .contexts = contexts,
                          .values = (const char *)values,
                          .is_loaded = true};
    if (!as_add_profile(ds, &profile)) abort();
    return id;
}

static void add_pair(const char *name, bool is_gpu) {
    assay_id inclusive = add_metric(name, is_gpu, false), exclusive = add_metric(name, is_gpu, true);
    AS_AT(as_metric, &ds->metrics, inclusive).exclusive = exclusive;
    AS_AT(as_metric, &ds->metrics, exclusive).part_of = inclusive;
}

static assay_status read_samples(const as_trace_source *source, const as_trace_line *l, uint64_t first, size_t n,
                                 as_trace_sample *out, assay_error *error) {
    (void)source;
    (void)error;
    memcpy(out, lines[l->at].samples + first, n * sizeof *out);
    return ASSAY_OK;
}

static void add_traces(void) {
    static const as_trace_source source = {.read = read_samples};
    ds->traces.ticks_per_second = 1e9;
    ds->traces.has_start = true;
    ds->traces.start = began;
    for (assay_id place = 0; place < AS_COUNT(ds, locations); place++)
        for (int i = 0; i < LINES; i++)
            if (leaves[i] == place && !as_add_trace_line(ds, &(as_trace_line){.run = 0,
                                                                              .location = place,
                                                                              .n = lines[i].n_samples,
                                                                              .source = &source,
                                                                              .at = (uint64_t)i}))
                abort();
}

static void make_dataset(const char *folder) {
    ds = as_dataset_new(0);
    if (!ds) abort();
    as_run run = AS_RUN_INIT;
    as_add_run(ds, &run);
    ds->path = text("heat");
    ds->format = "hpctoolkit-4"; /* so that kinds of regions are what HPCToolkit calls so */
    ds->source_root = text(folder);
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "title", as_cell_text("heat"));
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "description",
                     as_cell_text("heat on a plate: 4 processes of 2 threads, and a GPU"));
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "source", as_cell_text("src/heat.c"));
    add_places();
    add_contexts();
    add_pair("CPUTIME (sec)", false);
    add_pair("GPUOP (sec)", true);
    add_traces();
}

int main(int argc, char **argv) {
    assay_error error;
    if (argc < 3) {
        fprintf(stderr, "usage: heat-database-example FOLDER OUT [FORMAT]\n");
        return 2;
    }
    play();
    take_samples();
    make_dataset(argv[1]);
    const as_format *format = as_format_find(argc > 3 ? argv[3] : "hpctoolkit-4");
    as_output_directory *out = NULL;
    if (!format) {
        fprintf(stderr, "no such format\n");
        return 2;
    }
    assay_status status = as_output_directory_open(argv[2], &out, &error);
    if (status == ASSAY_OK) {
        status = as_write_directory(ds, format, NULL, 0, out, &error);
        if (status == ASSAY_OK)
            status = as_output_directory_commit(out, &error);
        else
            as_output_directory_discard(out);
    }
    if (status != ASSAY_OK) fprintf(stderr, "%s\n", error.message);
    as_dataset_free(ds);
    return status == ASSAY_OK ? 0 : 3;
}
