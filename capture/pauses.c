/* Was the process stopped (SIGSTOP, a debugger)? The writer sleeps for a tick at a time. Where it slept much longer and
 * did not wait for a processor meanwhile, as the scheduler tells, nothing of the process ran. Where its work took long,
 * it may have waited for a disk: then other threads ran. */
#include "internal.h"

#include <stdlib.h>
#include <time.h>

static const uint64_t shortest = 200000000; /* ns: what is shorter may be chance */

static const uint64_t fresh = 50000000; /* ns: so old may be what the scheduler told last */

static uint64_t waited;   /* of this thread for a processor, so far */
static uint64_t asked;    /* when */
static uint64_t computed; /* CPU time of the process so far */

/* The second number of schedstat: ns for which the thread was ready to run and did not. */
static bool read_waited(uint64_t *ns) {
    char text[128], *end;
    if (!as_capture_proc_read(AS_CAPTURE_SCHEDSTAT, text, sizeof text)) return false;
    strtoull(text, &end, 10);
    *ns = strtoull(end, NULL, 10);
    return true;
}

static uint64_t read_computed(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

void as_capture_pauses_begin(void) {
    read_waited(&waited);
    asked = as_capture_now();
    computed = read_computed();
}

bool as_capture_pauses_found(uint64_t before, uint64_t after, bool working) {
    uint64_t gap = after - before, ran = read_computed() - computed, waited_now = waited;
    computed += ran;
    if (gap <= shortest && after - asked < fresh) return false;
    bool known = read_waited(&waited_now);
    uint64_t queued = waited_now - waited;
    waited = waited_now;
    asked = after;
    /* where the scheduler does not tell, a process that computed was not stopped */
    if (known ? gap <= queued + shortest : gap <= shortest || ran > gap / 2) return false;
    return !working || ran < gap / 4;
}
