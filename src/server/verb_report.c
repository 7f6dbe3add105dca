/* The viewer's page with the data in it, as one file to send. */
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "server/open_inputs.h"
#include "server/report.h"
#include "server/web.h"

static const uint64_t usual_size = 5 * 1000 * 1000;
/* Less than this has no room for anything worth reading. */
static const uint64_t room_for_data = 50 * 1000;

static as_exit choose_size(as_cli *cli, uint64_t *out) {
    const char *given = as_cli_value(cli, "max-size");
    uint64_t least = as_web_report_js.size + as_web_css.size + room_for_data;
    *out = usual_size;
    if (given && !as_size_parse(given, out))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--max-size cannot be '%s'; give a size such as 2MB", given);
    if (*out < least)
        return as_cli_fail(
            cli, AS_EXIT_USAGE, "--max-size cannot be '%s'; the least is %llukB, of which the page itself takes %llu",
            given, (unsigned long long)((least + 999) / 1000), (unsigned long long)((least - room_for_data) / 1000));
    return AS_EXIT_FINE;
}

static as_exit write_report(as_cli *cli, as_viewing *viewing, uint64_t limit) {
    as_html_report *report = as_html_report_new(viewing, as_cli_value(cli, "title"), limit);
    as_exit status = AS_EXIT_FINE;
    if (!report) return as_cli_memory(cli);
    if (!as_html_report_has_room(report)) {
        as_html_report_free(report);
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "--max-size has no room for the page and its title; give a larger one, or a shorter title");
    }
    if (!cli->quiet) as_progress_begin("gathering", NULL);
    as_html_report_gather(report);
    assay_error error;
    bool fine = as_html_report_write(report, cli->out, &error) == ASSAY_OK;
    as_progress_end();
    if (!fine) status = as_cli_error(cli, &error);
    for (const char *const *note = as_html_report_notes(report); status == AS_EXIT_FINE && *note; note++)
        as_cli_note(cli, "left out: %s", *note);
    as_html_report_free(report);
    return status;
}

static as_exit run(as_cli *cli) {
    uint64_t limit;
    if (!as_web_is_built)
        return as_cli_fail(cli, AS_EXIT_INPUT, "this assay was built without its viewer; build it with -DASSAY_WEB=ON");
    if (as_cli_operands(cli) == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "name what to report; assay report --help");
    if (!cli->output && cli->is_terminal)
        return as_cli_fail(cli, AS_EXIT_USAGE, "a report is a page for the browser; -o report.html names its file");
    as_exit status = choose_size(cli, &limit);
    as_viewing *viewing = NULL;
    if (status == AS_EXIT_FINE) status = as_open_inputs(cli, true, &viewing);
    if (status == AS_EXIT_FINE) status = write_report(cli, viewing, limit);
    as_viewing_free(viewing);
    return status;
}

static const as_cli_option options[] = {
    {.name = "max-size",
     .argument = "SIZE",
     .help = "Let the file have at most this size, such as 2MB; what is small is left out, and the report says so. By "
             "default 5MB"},
    {.name = "title", .argument = "TEXT", .help = "The title of the page; by default the names of the inputs"},
    AS_DERIVE_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay report profile.cubex -o report.html", "A page to send to a colleague."},
    {"assay report before.cubex after.cubex -o change.html --title 'Before and after the new solver'",
     "What changed between two measurements."},
    {"assay report runs/ -o scaling.html --max-size 1MB", "How an experiment scales, in a small file."},
    {NULL, NULL},
};

const as_verb as_verb_report = {
    .name = "report",
    .summary = "One HTML file with all there is to see, to send or keep",
    .usage = "[options] PATH… -o report.html",
    .description =
        "Writes the page of `assay view` with the data inside: one file that opens in any browser, without a server or "
        "network, from a mail or a web page, and can be printed.\n\n"
        "Where the data would take more than --max-size, what matters least is left out: call paths with a small part "
        "of the whole first. The report says what it lacks, and so does a note here.",
    .takes = AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .joins_files_from = 3,
    .examples = examples,
    .run = run,
};
