/* What a report says without its script: the words of the command, as text. */
#include <string.h>

#include "cli/card.h"
#include "cli/tree_view.h"
#include "io/xml_write.h"
#include "render/plot_text.h"
#include "server/report.h"

enum { WIDTH = 110, FUNCTIONS = 20, LONGEST = 24000 };

/* <pre>, and what was printed; nothing where nothing was. False when memory is out. */
static bool add_printed(as_output *out, const as_output *printed) {
    size_t size;
    const char *text = as_output_memory((as_output *)(uintptr_t)printed, &size);
    if (!text || size == 0) return text != NULL;
    as_output_text(out, "<pre>");
    as_xml_put_text(out, text, size < LONGEST ? size : LONGEST);
    as_output_text(out, "</pre>\n");
    return true;
}

/* The hot path, then the functions that cost most, as tree and top print them. */
static bool add_views(as_dataset *ds, as_output *out) {
    static const as_tree_ask asks[] = {
        {.view = {.kind = AS_VIEW_TOP_DOWN, .order = AS_SORT_INCLUSIVE, .only_hot = true}},
        {.view = {.kind = AS_VIEW_FLAT, .order = AS_SORT_EXCLUSIVE, .max_levels = 2, .max_first = FUNCTIONS}},
    };
    static const char *const titles[] = {"Hot path", "Functions"};
    const as_request nothing = {.path = ""};
    for (size_t i = 0; i < 2; i++) {
        as_request_cli made;
        assay_error error;
        as_output *printed = as_output_to_memory();
        bool fine = printed && as_request_cli_make(&nothing, "tree", "", printed, &made, &error) == ASSAY_OK;
        if (!printed) return false;
        made.cli.style = (as_print_style){.mode = AS_PRINT_TEXT, .width = WIDTH};
        as_exit status = fine ? as_tree_show(&made.cli, &asks[i], ds) : AS_EXIT_INPUT;
        fine = fine && made.cli.failure != ASSAY_E_NOMEM;
        if (status == AS_EXIT_FINE) {
            as_output_printf(out, "<h3>%s</h3>\n", titles[i]);
            fine = add_printed(out, printed);
        }
        as_request_cli_free(&made);
        as_output_discard(printed);
        if (!fine) return false;
    }
    return true;
}

bool as_html_report_text(const as_view_input *input, as_output *out) {
    const char *name = as_view_input_name(input);
    as_output_text(out, "<h2>");
    as_svg_escape(out, name, strlen(name));
    as_output_text(out, "</h2>\n");
    if (!input->ds) {
        as_output_text(out, "<p>It could not be read: ");
        as_svg_escape(out, input->error.message, strlen(input->error.message));
        as_output_text(out, "</p>\n");
        return true;
    }
    const as_request nothing = {.path = ""};
    as_request_cli made;
    assay_error error;
    as_output *printed = as_output_to_memory();
    bool fine = printed && as_request_cli_make(&nothing, "info", "", printed, &made, &error) == ASSAY_OK;
    if (!printed) return false;
    made.cli.style = (as_print_style){.mode = AS_PRINT_TEXT, .width = WIDTH};
    fine = fine && as_card_print(&made.cli, input->ds, false);
    fine = fine && add_printed(out, printed);
    as_request_cli_free(&made);
    as_output_discard(printed);
    bool has_tree = AS_COUNT(input->ds, contexts) && AS_COUNT(input->ds, metrics);
    return fine && (!has_tree || add_views(input->ds, out));
}
