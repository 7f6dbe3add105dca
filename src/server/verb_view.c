/* The viewer: a server on this machine, and the address to open. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "server/drop.h"
#include "server/http.h"
#include "server/open_inputs.h"
#include "server/web.h"

extern char **environ;

static const char usual_address[] = "127.0.0.1";
static const uint64_t usual_max_drop = (uint64_t)1 << 30;
enum { SECONDS_TO_END = 3 };

/* ---- the browser ------------------------------------------------------------------------------------------------- */

static bool has_screen(void) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY"), *ssh = getenv("SSH_CONNECTION");
    return ((x && *x) || (wayland && *wayland)) && !(ssh && *ssh);
}

/* Starts it in the background; whether there is one is not our business. */
static void open_browser(const char *url) {
    const char *chosen = getenv("BROWSER");
    char *const arguments[] = {(char *)(uintptr_t)(chosen && *chosen ? chosen : "xdg-open"), (char *)(uintptr_t)url,
                               NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 01, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

static void print_address(as_cli *cli, const as_server *server) {
    const char *ssh = getenv("SSH_CONNECTION");
    char host[256] = "HOST";
    as_output_printf(cli->out, "%s\n", as_server_url(server));
    as_output_flush(cli->out);
    if (ssh && *ssh) {
        gethostname(host, sizeof host - 1);
        as_cli_note(cli, "on your own machine run: ssh -N -L %u:127.0.0.1:%u %s, and open the address there",
                    as_server_port(server), as_server_port(server), host);
    }
    as_cli_note(cli, "the viewer is at this address until Ctrl-C");
}

/* Until SIGINT, SIGTERM or SIGHUP: then everything is put away in order. */
static void wait_for_end(const sigset_t *ends) {
    int number;
    while (sigwait(ends, &number) != 0) continue;
}

typedef struct ending {
    const as_viewing *viewing;
    const sigset_t *signals;
} ending;

/* Some work knows no end before its own, and nobody waits for it any more. After a while, or at a second signal, what
 * was dropped is removed, and that is all. */
static void *end_anyway(void *user) {
    const ending *e = user;
    const struct timespec patience = {.tv_sec = SECONDS_TO_END};
    while (sigtimedwait(e->signals, NULL, &patience) < 0 && errno == EINTR) continue;
    as_drops_remove(e->viewing->drops);
    _exit(AS_EXIT_FINE);
}

static void stop(as_server *server, ending *e) {
    pthread_t watch;
    bool is_watched = pthread_create(&watch, NULL, end_anyway, e) == 0;
    as_server_stop(server);
    if (!is_watched) return;
    pthread_cancel(watch);
    pthread_join(watch, NULL);
}

static as_exit serve(as_cli *cli, as_viewing *viewing, const as_server_config *config) {
    sigset_t ends;
    as_server *server;
    assay_error error;
    /* Blocked in all threads, so that only sigwait() sees them. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGCHLD, SIG_IGN);
    as_signals_outlive_inputs();
    if (as_server_start(viewing, config, &server, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    print_address(cli, server);
    if (!as_cli_has(cli, "no-open") && has_screen()) open_browser(as_server_url(server));
    wait_for_end(&ends);
    stop(server, &(ending){viewing, &ends});
    return AS_EXIT_FINE;
}

static as_exit choose_server(as_cli *cli, as_server_config *config, uint64_t *max_drop) {
    const char *port = as_cli_value(cli, "port"), *address = as_cli_value(cli, "listen");
    const char *drop = as_cli_value(cli, "max-drop");
    as_number number;
    config->address = address ? address : usual_address;
    if (port && (!as_number_parse(port, strlen(port), &number) || number.kind != AS_INT || number.i < 0 ||
                 number.i > UINT16_MAX))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--port cannot be '%s'; give a number up to 65535", port);
    config->port = port ? (uint16_t)number.i : 0;
    *max_drop = usual_max_drop;
    if (drop && !as_size_parse(drop, max_drop))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--max-drop cannot be '%s'; give a size such as 500M or 2G", drop);
    if (address && strcmp(address, usual_address) != 0 && strcmp(address, "::1") != 0)
        as_cli_note(cli, "whoever can reach %s and knows the token can look at these files", address);
    return AS_EXIT_FINE;
}

static as_exit run(as_cli *cli) {
    as_server_config config;
    uint64_t max_drop;
    as_viewing *viewing = NULL;
    if (!as_web_is_built)
        return as_cli_fail(cli, AS_EXIT_INPUT, "this assay was built without its viewer; build it with -DASSAY_WEB=ON");
    as_exit status = choose_server(cli, &config, &max_drop);
    if (status != AS_EXIT_FINE) return status;
    status = as_open_inputs(cli, false, &viewing);
    if (status == AS_EXIT_FINE) {
        viewing->max_drop = max_drop;
        status = serve(cli, viewing, &config);
    }
    as_viewing_free(viewing);
    return status;
}

static const as_cli_option options[] = {
    {.name = "port", .argument = "PORT", .help = "Listen at this port; by default at a free one"},
    {.name = "listen",
     .argument = "ADDRESS",
     .help = "Listen at this address of the machine, for others to see; by default 127.0.0.1, which only this machine "
             "can reach"},
    {.name = "no-open", .help = "Do not open the browser; by default it is opened where there is a screen"},
    {.name = "max-drop",
     .argument = "SIZE",
     .help = "Let files that are dropped onto the page have this size together, such as 500M; by default 1G"},
    AS_DERIVE_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay view profile.cubex", "Look at a profile in the browser."},
    {"assay view before.cubex after.cubex", "Two of them, and what changed."},
    {"assay view runs/", "How an experiment scales."},
    {"assay view profile.cubex --derive 'per call=time/visits'", "With a metric more."},
    {"assay view --no-open --port 8080 database", "On a machine far away: ssh -L 8080:127.0.0.1:8080 shows it here."},
    {NULL, NULL},
};

const as_verb as_verb_view = {
    .name = "view",
    .summary = "Look at it in the browser",
    .usage = "[options] [PATH…]",
    .description =
        "Starts the viewer and prints its address; the browser is opened where there is a screen. Ctrl-C ends it.\n\n"
        "The page shows what is in the inputs: an overview, the call tree, the flame graph, the locations, time "
        "lines, scaling models, what changed between two inputs, and SQL. More files can be dropped onto the page. "
        "Its address holds all that was chosen, and every screen says the command that prints the same.\n\n"
        "Only this machine can reach the server, and only who knows the token in the address is answered. It reads "
        "what was named and what was dropped, and nothing else.",
    .takes = AS_TAKES_INPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .joins_files_from = 3,
    .examples = examples,
    .run = run,
};
