/* What libassay-capture costs the measured program: nanoseconds for a begin/end pair. Every number is the best of
 * several rounds, each short enough for the ring, with a flush in between: the cost to the thread, while the writer
 * keeps up. "sustained" has no such pauses. */
#include "assay/capture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200, PAIRS = 3000, THREADS_MAX = 8 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static assay_section *section;

static void pairs_scope(int n) {
    for (int i = 0; i < n; i++) {
        ASSAY_REGION("pair");
        __asm__ volatile("" ::: "memory");
    }
}

static void pairs_by_hand(int n) {
    for (int i = 0; i < n; i++) {
        ASSAY_BEGIN("pair");
        __asm__ volatile("" ::: "memory");
        ASSAY_END("pair");
    }
}

static void pairs_text(int n) {
    for (int i = 0; i < n; i++) {
        assay_region_begin("pair", "case=one");
        assay_region_end("pair");
    }
}

static void pairs_interval(int n) {
    for (int i = 0; i < n; i++) {
        ASSAY_INTERVAL(section);
        __asm__ volatile("" ::: "memory");
    }
}

static void pairs_none(int n) {
    for (int i = 0; i < n; i++) __asm__ volatile("" ::: "memory");
}

typedef struct work {
    void (*pairs)(int n);
    int n;
    double best, median, mean;
} work;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *measure(void *argument) {
    work *w = argument;
    double total = 0, all[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        w->pairs(w->n);
        double ns = (now_ns() - begin) / w->n;
        total += ns;
        all[round] = ns;
        assay_capture_flush();
    }
    qsort(all, ROUNDS, sizeof all[0], compare);
    w->best = all[0];
    w->median = all[ROUNDS / 2];
    w->mean = total / ROUNDS;
    return NULL;
}

static void line(const char *what, void (*pairs)(int n), int n, int threads) {
    work works[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    double best = 0, median = 0, mean = 0;
    for (int i = 0; i < threads; i++) {
        works[i] = (work){pairs, n, 0, 0, 0};
        if (threads > 1) pthread_create(&ids[i], NULL, measure, &works[i]);
    }
    if (threads == 1) measure(&works[0]);
    for (int i = 0; i < threads; i++) {
        if (threads > 1) pthread_join(ids[i], NULL);
        best += works[i].best / threads;
        median += works[i].median / threads;
        mean += works[i].mean / threads;
    }
    printf("%-44s %8.1f ns best, %8.1f ns median, %8.1f ns mean\n", what, best, median, mean);
}

static double cpu_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Time for which this thread was ready, and others had the processors. */
static double crowded_ns(void) {
    double ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%lf %lf", &ran, &waited) != 2) waited = 0;
    if (file) fclose(file);
    return waited;
}

/* As fast as it goes, for a second: what reaches the file, and what it costs. */
static void sustained(const char *path) {
    double all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID), own = cpu_ns(CLOCK_THREAD_CPUTIME_ID), crowded = crowded_ns();
    double begin = now_ns(), pairs = 0;
    while (now_ns() - begin < 1e9) {
        pairs_scope(1000);
        pairs += 1000;
    }
    double ns = (now_ns() - begin) / pairs;
    crowded = (crowded_ns() - crowded) / pairs;
    own = (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - own) / pairs;
    assay_capture_stop();
    all = (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all) / pairs;
    FILE *file = fopen(path, "r");
    double in_file = 0, bytes = 0;
    for (char text[8192]; file && fgets(text, sizeof text, file);) {
        bytes += (double)strlen(text);
        in_file += strncmp(text, "6,", 2) == 0; /* RegionStop */
    }
    if (file) fclose(file);
    printf("%-44s %8.1f ns mean, %.1f million pairs, %.1f %% of them in the file (%.0f MB)\n", "on, sustained for 1 s",
           ns, pairs / 1e6, 100 * in_file / pairs, bytes / 1e6);
    printf("%-44s %8.1f ns waiting for a processor; of CPU time: %.1f ns the thread, %.1f ns the writer\n", "", crowded,
           own, all - own);
}

/* Settings are read once in a process: this program, again, with others. */
static void with_measures(const char *program, const char *path, const char *measures) {
    char what[64];
    snprintf(what, sizeof what, "on, with %s", measures);
    setenv("ASSAY_CAPTURE_MEASURES", measures, 1);
    setenv("ASSAY_CAPTURE", path, 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, what, (char *)NULL);
        _exit(1);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

int main(int count, char **arguments) {
    if (count > 1) {
        line(arguments[1], pairs_scope, PAIRS / 4, 1);
        return 0;
    }
    char path[] = "/tmp/bench-capture-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    section = assay_section_create("section", NULL);
    line("the empty loop", pairs_none, 10 * PAIRS, 1);
    line("off, ASSAY_REGION", pairs_scope, 10 * PAIRS, 1);
    line("off, ASSAY_BEGIN and ASSAY_END", pairs_by_hand, 10 * PAIRS, 1);
    line("off, ASSAY_INTERVAL", pairs_interval, 10 * PAIRS, 1);
    if (!assay_capture_start(path)) return 1;
    line("on, ASSAY_REGION", pairs_scope, PAIRS, 1);
    line("on, ASSAY_BEGIN and ASSAY_END", pairs_by_hand, PAIRS, 1);
    line("on, label and tags of run time", pairs_text, PAIRS, 1);
    line("on, ASSAY_INTERVAL of a section", pairs_interval, PAIRS / 2, 1);
    line("on, ASSAY_REGION on 2 threads", pairs_scope, PAIRS, 2);
    line("on, ASSAY_REGION on 8 threads", pairs_scope, PAIRS, 8);
    assay_capture_stop();
    unlink(path);
    if (!assay_capture_start(path)) return 1;
    sustained(path);
    static const char *const measures[] = {"wall",   "cpu",      "memory",
                                           "faults", "switches", "wall,cpu,memory,faults,switches"};
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) with_measures(arguments[0], path, measures[i]);
    unlink(path);
    assay_section_free(section);
    return 0;
}
