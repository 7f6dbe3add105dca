#include "cli/progress.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"

enum { AFTER = 500000, EVERY = 100000, BAR = 20 }; /* microseconds; columns */

static char line[96];        /* "reading big.txt" */
static int64_t begun, drawn; /* microseconds; 0: never */
static volatile sig_atomic_t is_shown, seconds;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* What is lost when writing to a terminal fails is only progress. */
static void put(const char *text, size_t size) {
    ssize_t written = write(STDERR_FILENO, text, size);
    (void)written;
}

void as_progress_erase(void) {
    if (is_shown) put("\r\033[K", 4);
    is_shown = 0;
}

/* Work that does not say how far it is: its time, once a second. In a signal handler, so nothing but write() and our
 * own memory. */
static void tick(int signal_number) {
    (void)signal_number;
    char text[sizeof line + 32] = "\r\033[K", digits[12];
    size_t n = sizeof digits, at = 4, size = strlen(line);
    int count = seconds++;
    do digits[--n] = (char)('0' + count % 10), count /= 10;
    while (count);
    memcpy(text + at, line, size);
    at += size;
    text[at++] = ' ';
    memcpy(text + at, digits + n, sizeof digits - n);
    at += sizeof digits - n;
    text[at++] = ' ';
    text[at++] = 's';
    is_shown = 1;
    put(text, at);
}

static void set_timer(long first, long every) {
    struct itimerval timer = {.it_value = {0, first}, .it_interval = {every / 1000000, every % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void as_progress_begin(const char *doing, const char *what) {
    as_progress_end();
    if (!isatty(STDERR_FILENO)) return;
    size_t size = strlen(what), room = 48; /* of a long path the end says more */
    snprintf(line, sizeof line, "%s %s", doing, size <= room ? what : what + size - room);
    as_one_line(line);
    seconds = 0;
    drawn = 0;
    begun = now();
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = tick, .sa_flags = SA_RESTART}, NULL);
    set_timer(AFTER, 1000000);
}

bool as_progress_step(void *unused, const char *stage, double fraction) {
    (void)unused;
    (void)stage;
    int64_t time = now();
    if (!begun || time - begun < AFTER || time - drawn < EVERY) return true;
    if (!drawn) set_timer(0, 0); /* better than seconds */
    drawn = time;
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    char bar[BAR + 1] = "....................", text[sizeof line + BAR + 32];
    memset(bar, '=', (size_t)(fraction * BAR));
    int n = snprintf(text, sizeof text, "\r\033[K[%s] %3.0f %%  %s", bar, fraction * 100, line);
    is_shown = 1;
    put(text, (size_t)n);
    return true;
}

void as_progress_end(void) {
    if (!begun) return;
    set_timer(0, 0);
    begun = 0;
    as_progress_erase();
}
