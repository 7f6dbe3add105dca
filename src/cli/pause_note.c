#include "cli/pause_note.h"

#include <string.h>

#include "core/search.h"
#include "core/words.h"
#include "render/quantity.h"

static double number_of(as_cell cell) {
    return cell.type == AS_CELL_UINT ? (double)cell.u : cell.type == AS_CELL_INT ? (double)cell.i : 0;
}

/* Whether all runs are meant, or the run is one of these, which ascend. */
static bool is_meant(const assay_id *runs, size_t n_runs, assay_id run) {
    size_t at = runs ? as_first_not_below(runs, n_runs, run) : 0;
    return !runs || (at < n_runs && runs[at] == run);
}

double as_runs_paused(const as_dataset *ds, const assay_id *runs, size_t n_runs) {
    double sum = 0, unit = 0;
    assay_id unit_of_run = ASSAY_NONE; /* whose unit it is: a run's attributes lie together, this one before */
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *key = as_ds_text(ds, attribute->key);
        if (attribute->owner != AS_OWNER_RUN || !key) continue;
        if (strcmp(key, "timestamp units") == 0) {
            unit = attribute->value.type == AS_CELL_TEXT ? as_unit_seconds(attribute->value.text) : 0;
            unit_of_run = attribute->owner_id;
        } else if (strcmp(key, "paused") == 0 && attribute->owner_id == unit_of_run &&
                   is_meant(runs, n_runs, unit_of_run)) {
            sum += number_of(attribute->value) * unit;
        }
    }
    return sum;
}

bool as_cli_deducts_pauses(const as_cli *cli) {
    static const as_option table[] = {{.name = "deduct_pauses", .type = AS_OPTION_BOOL, .fallback = "no"},
                                      {.name = NULL}};
    as_options given = {.table = table, .given = cli->options};
    return as_option_bool(&given, "deduct_pauses");
}

void as_pauses_print(const as_cli *cli, const as_dataset *ds, const assay_id *runs, size_t n_runs, bool is_mean) {
    size_t n = runs ? n_runs : AS_COUNT(ds, runs);
    double paused = as_runs_paused(ds, runs, n_runs) / (is_mean && n ? (double)n : 1);
    if (!(paused > 0)) return;
    as_quantity q = as_quantity_of("s", paused, false);
    char text[AS_QUANTITY_SIZE];
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = paused}, text);
    const char *dim = as_sgr(cli->style.colour, AS_DIM), *plain = as_sgr(cli->style.colour, AS_PLAIN);
    const char *unit = as_unit_shown(&q, as_cli_is_ascii(cli)), *each = is_mean && n > 1 ? " a run" : "";
    if (as_cli_deducts_pauses(cli))
        as_output_printf(cli->out, "%swithout pauses, %s %s%s%s\n", dim, text, unit, each, plain);
    else
        as_output_printf(cli->out, "%spaused for %s %s%s; -O deduct_pauses=yes deducts that%s\n", dim, text, unit, each,
                         plain);
}
