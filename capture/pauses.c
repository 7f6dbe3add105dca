/* Was the process stopped (SIGSTOP, a debugger)? The writer sleeps for a tick at a time. Where it slept much longer and did not wait for a processor
 * meanwhile, as the scheduler tells, nothing of the process ran. */
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const uint64_t shortest = 200000000; /* ns: what is shorter may be chance */

static int schedule_fd = -1;
static uint64_t waited;   /* of this thread for a processor, so far */
static uint64_t computed; /* CPU time of the process so far */

/* The second number of schedstat: ns for which the thread was ready to run and did not. */
static bool read_waited(uint64_t *ns) {
    char text[128], *end;
    ssize_t n = schedule_fd < 0 ? -1 : pread(schedule_fd, text, sizeof text - 1, 0);
    if (n <= 0) return false;
    text[n] = '\0';
    strtoull(text, &end, 10);
    *ns = strtoull(end, NULL, 10);
    return true;
}

static uint64_t read_computed(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

void as_capture_pauses_begin(void) {
    schedule_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    read_waited(&waited);
    computed = read_computed();
}

void as_capture_pauses_end(void) {
    if (schedule_fd >= 0) close(schedule_fd);
    schedule_fd = -1;
}

bool as_capture_pauses_found(uint64_t before, uint64_t after) {
    uint64_t gap = after - before, waited_now = waited, computed_now = read_computed();
    bool known = read_waited(&waited_now);
    /* where the scheduler does not tell, a process that computed was not stopped */
    uint64_t ran = known ? waited_now - waited : computed_now - computed;
    waited = waited_now;
    computed = computed_now;
    return gap > shortest && ran < gap / 2;
}
