/* What is measured besides time: built in, or by a function of the program. */
#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static as_capture_measure own[AS_CAPTURE_MEASURES - AS_CAPTURE_BUILT_IN]; /* the program's */
static int own_where[AS_CAPTURE_MEASURES - AS_CAPTURE_BUILT_IN];
static int own_count;

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

static void read_thread_cpu(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void read_process_cpu(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* The second number of statm: resident pages. */
static void read_memory(void *context, assay_measure_value *value) {
    (void)context;
    char text[128];
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    as_capture_proc_read(AS_CAPTURE_STATM, text, sizeof text);
    pthread_setcancelstate(cancellation, NULL);
    value->integer = 0;
    const char *s = strchr(text, ' ');
    for (s = s ? s + 1 : ""; *s >= '0' && *s <= '9'; s++) value->integer = value->integer * 10 + (*s - '0');
    value->integer *= sysconf(_SC_PAGESIZE);
}

static int64_t faults(int who) {
    struct rusage usage;
    return getrusage(who, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

static int64_t switches(int who) {
    struct rusage usage;
    return getrusage(who, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

static void read_thread_faults(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = faults(RUSAGE_THREAD);
}

static void read_process_faults(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = faults(RUSAGE_SELF);
}

static void read_thread_switches(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = switches(RUSAGE_THREAD);
}

static void read_process_switches(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = switches(RUSAGE_SELF);
}

/* Of regions, the thread is measured; of sections, which may end on another thread, and of the run, the process. */
static const struct {
    const char *word; /* in ASSAY_CAPTURE_MEASURES */
    assay_measure_kind kind;
    as_capture_measure thread, process;
} built_in[AS_CAPTURE_BUILT_IN] = {
    {"wall",
     ASSAY_MEASURE_DURATION,
     {.name = "wall time", .units = "ns", .summary = "time that passed"},
     {.name = "wall time", .units = "ns", .summary = "time that passed"}},
    {"cpu",
     ASSAY_MEASURE_DURATION,
     {.name = "cpu time", .units = "ns", .summary = "CPU time of the thread", .words = 1, .read = read_thread_cpu},
     {.name = "process cpu time",
      .units = "ns",
      .summary = "CPU time of all threads",
      .words = 1,
      .read = read_process_cpu}},
    {"memory",
     ASSAY_MEASURE_SNAPSHOT,
     {.name = "resident memory", .units = "B", .summary = "memory of the process", .words = 1, .read = read_memory},
     {.name = "resident memory", .units = "B", .summary = "memory of the process", .words = 1, .read = read_memory}},
    {"faults",
     ASSAY_MEASURE_DURATION,
     {.name = "page faults",
      .units = "count",
      .summary = "page faults of the thread",
      .words = 1,
      .read = read_thread_faults},
     {.name = "process page faults",
      .units = "count",
      .summary = "page faults of all threads",
      .words = 1,
      .read = read_process_faults}},
    {"switches",
     ASSAY_MEASURE_DURATION,
     {.name = "context switches",
      .units = "count",
      .summary = "context switches of the thread",
      .words = 1,
      .read = read_thread_switches},
     {.name = "process context switches",
      .units = "count",
      .summary = "context switches of all threads",
      .words = 1,
      .read = read_process_switches}},
};

static as_capture_measure chosen[3][AS_CAPTURE_MEASURES]; /* what the sets point to */
static bool are_chosen;

static void set_add(as_capture_set *set, as_capture_measure *room, const as_capture_measure *measure, int kind) {
    int n = atomic_load_explicit(&set->count, memory_order_relaxed);
    as_capture_measure *m = &room[n];
    *m = *measure;
    m->kind = (assay_measure_kind)kind;
    if (m->type >= ASSAY_MEASURE_BOOL) m->kind = ASSAY_MEASURE_SNAPSHOT;
    m->id = (uint32_t)as_capture_hash(m->name, strlen(m->name));
    set->measures[n] = m;
    set->words += m->words;
    atomic_store_explicit(&set->count, n + 1, memory_order_release);
}

static as_capture_set *const sets[3] = {&as_capture.regions, &as_capture.sections, &as_capture.samples};

static void choose_own(int i) {
    int kind = (int)own[i].kind;
    if (!as_capture_list_allows(&as_capture.settings.measures, own[i].name, true, &kind)) return;
    for (int s = 0; s < 3; s++)
        if (own_where[i] & (1 << s)) set_add(sets[s], chosen[s], &own[i], kind);
}

void as_capture_measures_choose(void) {
    if (are_chosen) return;
    are_chosen = true;
    for (int i = 0; i < AS_CAPTURE_BUILT_IN; i++) {
        int kind = (int)built_in[i].kind;
        bool wanted = as_capture_list_allows(&as_capture.settings.measures, built_in[i].word, false, &kind);
        if (wanted) set_add(sets[0], chosen[0], &built_in[i].thread, kind);
        if (wanted) set_add(sets[1], chosen[1], &built_in[i].process, kind);
        if (built_in[i].process.read) set_add(sets[2], chosen[2], &built_in[i].process, ASSAY_MEASURE_SNAPSHOT);
    }
    for (int i = 0; i < own_count; i++) choose_own(i);
}

void as_capture_measures_read(const as_capture_set *set, uint64_t *words) {
    int count = atomic_load_explicit(&set->count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        const as_capture_measure *m = set->measures[i];
        if (!m->words) continue;
        assay_measure_value value;
        memset(&value, 0, sizeof value);
        m->read(m->context, &value);
        memcpy(words, &value, (size_t)m->words * sizeof *words);
        words += m->words;
    }
}

static void copy(char *to, size_t size, const char *from) {
    size_t n = from ? as_capture_cut(from, size - 1) : 0;
    if (n) memcpy(to, from, n);
    to[n] = '\0';
}

static bool is_there(const char *name) {
    char cut[sizeof own[0].name];
    copy(cut, sizeof cut, name);
    for (int i = 0; i < AS_CAPTURE_BUILT_IN; i++)
        if (strcmp(built_in[i].thread.name, cut) == 0 || strcmp(built_in[i].process.name, cut) == 0) return true;
    for (int i = 0; i < own_count; i++)
        if (strcmp(own[i].name, cut) == 0) return true;
    return false;
}

int assay_measure_add(const assay_measure *measure) {
    if (!measure || !measure->read || !measure->name || !*measure->name || as_capture_me.busy) return 0;
    if ((unsigned)measure->type > ASSAY_MEASURE_ENUM || (unsigned)measure->kind > ASSAY_MEASURE_DURATION ||
        (measure->where & ~7))
        return 0;
    as_capture_me.busy = 1;
    pthread_mutex_lock(&as_capture.lock);
    int added =
        !atomic_load(&as_capture.frozen) && own_count < (int)(sizeof own / sizeof own[0]) && !is_there(measure->name);
    if (added) {
        as_capture_measure *m = &own[own_count];
        bool text = measure->type >= ASSAY_MEASURE_STRING;
        copy(m->name, sizeof m->name, measure->name);
        copy(m->units, sizeof m->units, measure->units ? measure->units : text ? "text" : "count");
        copy(m->summary, sizeof m->summary, measure->summary);
        m->type = measure->type;
        m->kind = measure->kind;
        m->words = text ? 4 : 1;
        m->read = measure->read;
        m->context = measure->context;
        own_where[own_count] = measure->where ? measure->where : 7;
        if (are_chosen) choose_own(own_count);
        own_count++;
    }
    pthread_mutex_unlock(&as_capture.lock);
    as_capture_me.busy = 0;
    return added;
}
