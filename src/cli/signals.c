#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"

static void die(int signal_number) {
    as_output_abandon_all();
    as_progress_erase();
    raise(signal_number); /* SA_RESETHAND has put the default back */
}

static void die_of_bus_error(int signal_number) {
    (void)signal_number;
    static const char line[] = "assay: an input changed while it was read; try again\n";
    as_output_abandon_all();
    as_progress_erase();
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(AS_EXIT_INPUT);
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(signal_number, &action, NULL);
}

void as_signals_install(void) {
    handle(SIGINT, die);
    handle(SIGTERM, die);
    handle(SIGHUP, die);
    handle(SIGBUS, die_of_bus_error);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
