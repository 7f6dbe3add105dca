/* What the benchmarks of files share: work in a process of its own, its CPU seconds and peak of memory, and a line of
 * the report. */
#ifndef AS_BENCH_MEASURING_H
#define AS_BENCH_MEASURING_H

#include <assay/assay.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void fail(const char *what, const assay_error *error) {
    char text[2200] = "";
    fprintf(stderr, "bench: %s: %s\n", what, error ? assay_error_text(error, text, sizeof text) : "failed");
    exit(1);
}

static inline double seconds_of(const struct rusage *u) {
    return (double)u->ru_utime.tv_sec + (double)u->ru_stime.tv_sec +
           1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static inline double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return seconds_of(&u);
}

static inline double wall_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct cost {
    double seconds; /* of the part that counts */
    double peak;    /* bytes of the whole process */
    double cpu;     /* seconds of the whole process */
} cost;

/* The best of some rounds of work, each in a process of its own; work gives the seconds that count. */
static inline cost measure(double (*work)(const void *task), const void *task, int rounds) {
    cost best = {1e9, 1e18, 1e9};
    for (int i = 0; i < rounds; i++) {
        int ends[2];
        if (pipe(ends) != 0) fail("pipe", NULL);
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) fail("fork", NULL);
        if (child == 0) {
            double seconds = work(task);
            _exit(write(ends[1], &seconds, sizeof seconds) == (ssize_t)sizeof seconds ? 0 : 1);
        }
        close(ends[1]);
        double seconds = 0;
        bool told = read(ends[0], &seconds, sizeof seconds) == (ssize_t)sizeof seconds;
        close(ends[0]);
        int status;
        struct rusage usage;
        if (wait4(child, &status, 0, &usage) < 0 || status != 0 || !told) exit(1);
        if (seconds < best.seconds) best.seconds = seconds;
        if ((double)usage.ru_maxrss * 1024 < best.peak) best.peak = (double)usage.ru_maxrss * 1024;
        if (seconds_of(&usage) < best.cpu) best.cpu = seconds_of(&usage);
    }
    return best;
}

/* The best of some rounds of a command whose output nobody sees: seconds are those of the clock. */
static inline cost measure_command(const char *const *arguments, int rounds) {
    cost best = {1e9, 1e18, 1e9};
    for (int i = 0; i < rounds; i++) {
        double start = wall_seconds();
        pid_t child = fork();
        if (child < 0) fail("fork", NULL);
        if (child == 0) {
            int nowhere = open("/dev/null", O_WRONLY);
            if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) _exit(1);
            execvp(arguments[0], (char *const *)(uintptr_t)arguments);
            _exit(127);
        }
        int status;
        struct rusage usage;
        if (wait4(child, &status, 0, &usage) < 0 || status != 0) fail(arguments[1], NULL);
        double seconds = wall_seconds() - start;
        if (seconds < best.seconds) best.seconds = seconds;
        if (seconds_of(&usage) < best.cpu) best.cpu = seconds_of(&usage);
        if ((double)usage.ru_maxrss * 1024 < best.peak) best.peak = (double)usage.ru_maxrss * 1024;
    }
    return best;
}

/* of target: at most 1.00 is within it, whichever direction is better. */
static inline void report(const char *what, double measured, const char *unit, double target, bool more_is_better) {
    double ratio = more_is_better ? target / measured : measured / target;
    printf("  %-62s %9.3f %-5s %s %8.3f   %5.2f of target%s\n", what, measured, unit,
           more_is_better ? ">=" : "<=", target, ratio, ratio <= 1 ? "" : "  MISSED");
}

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

/* A folder with all that is in it. */
static inline void remove_all(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

#endif
