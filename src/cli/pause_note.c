#include "cli/pause_note.h"

#include <stdlib.h>
#include <string.h>

#include "render/quantity.h"

/* Of one run: "paused" is a number in the unit of its time stamps. */
typedef struct stop {
    double paused, unit;
} stop;

static double unit_of(as_cell cell) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"nanoseconds", 1e-9}, {"microseconds", 1e-6}, {"milliseconds", 1e-3}, {"seconds", 1}};
    for (size_t i = 0; cell.type == AS_CELL_TEXT && i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == cell.size && memcmp(units[i].name, cell.text, cell.size) == 0)
            return units[i].seconds;
    }
    return 0;
}

static double number_of(as_cell cell) {
    return cell.type == AS_CELL_UINT ? (double)cell.u : cell.type == AS_CELL_INT ? (double)cell.i : 0;
}

double as_runs_paused(const as_dataset *ds, const assay_id *runs, size_t n_runs) {
    stop *stops = calloc(AS_COUNT(ds, runs) + 1, sizeof *stops);
    double sum = 0;
    for (size_t i = 0; stops && i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *key = as_ds_text(ds, attribute->key);
        if (attribute->owner != AS_OWNER_RUN || !key || attribute->owner_id >= AS_COUNT(ds, runs)) continue;
        if (strcmp(key, "paused") == 0) stops[attribute->owner_id].paused = number_of(attribute->value);
        if (strcmp(key, "timestamp units") == 0) stops[attribute->owner_id].unit = unit_of(attribute->value);
    }
    size_t n = runs ? n_runs : AS_COUNT(ds, runs);
    for (size_t i = 0; stops && i < n; i++) {
        const stop *one = &stops[runs ? runs[i] : i];
        sum += one->paused * one->unit;
    }
    free(stops);
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
