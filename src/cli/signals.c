#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "io/mapped.h"

static void die(int signal_number) {
    as_output_abandon_all();
    as_progress_erase();
    raise(signal_number); /* SA_RESETHAND has put the default back */
}

static atomic_bool outlives_inputs;

static void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* An input has less bytes than when it was mapped. */
static void see_bus_error(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)context;
    if (atomic_load(&outlives_inputs) && as_mapped_fill(info->si_addr)) return;
    const char *path = as_mapped_path_at(info->si_addr);
    as_output_abandon_all();
    as_progress_erase();
    say("assay: ");
    say(path ? path : "an input");
    say(path ? ": the file changed while it was read; try again\n" : " changed while it was read; try again\n");
    _exit(AS_EXIT_INPUT);
}

static void handle(int signal_number, const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(signal_number, action, NULL);
}

void as_signals_install(void) {
    const struct sigaction death = {.sa_handler = die, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    handle(SIGINT, &death);
    handle(SIGTERM, &death);
    handle(SIGHUP, &death);
    handle(SIGBUS, &(struct sigaction){.sa_sigaction = see_bus_error, .sa_flags = SA_SIGINFO});
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void as_signals_outlive_inputs(void) { atomic_store(&outlives_inputs, true); }
