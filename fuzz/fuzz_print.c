/* FORMAT strings of Extra-P's --print, over models of one parameter, in two segments, and of two parameters. A string
 * that is refused writes nothing and says why. */
#include <stdlib.h>

#include "analysis/scaling/fit.h"
#include "formats/format.h"
#include "render/extrap_print.h"

enum { N_DATASETS = 3, MAX_FORMAT = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct {
    const char *text, *modeler;
} inputs[N_DATASETS] = {
    {"PARAMETER p\nPOINTS 1 2 4 8 16\nMETRIC time\nREGION main->f\nDATA 3\nDATA 5\nDATA 9\nDATA 17\nDATA 33\n"
     "REGION g\nDATA 1 2\nDATA 1 2\nDATA 1 2\nDATA 1 2\nDATA 1 2\nMETRIC bytes\nREGION g\nDATA 0\nDATA 0\nDATA 0\nDATA "
     "0\nDATA 0\n",
     "default"},
    {"PARAMETER p\nPOINTS 1 2 3 4 5 6 7 8 9 10\nMETRIC time\nREGION main\nDATA 1\nDATA 2\nDATA 3\nDATA 4\nDATA 5\nDATA "
     "36\nDATA 49\nDATA 64\nDATA 81\nDATA 100\n",
     "segmented"},
    {"PARAMETER p q\nPOINTS (1 1) (2 1) (4 1) (8 1) (16 1) (1 2) (1 3) (1 4) (1 5)\nMETRIC time\nREGION main\nDATA "
     "2\nDATA 3\nDATA 5\nDATA 9\nDATA 17\nDATA 5\nDATA 10\nDATA 17\nDATA 26\n",
     "default"},
};

static as_dataset *make(size_t which) {
    as_read_config config = {.format = "extrap-text"};
    as_fit_options options;
    as_dataset *ds;
    uint32_t *series;
    size_t n;
    as_fit fit;
    const char *text = inputs[which].text;
    if (as_read_memory("input", text, strlen(text), &config, &ds, NULL) != ASSAY_OK ||
        as_fit_options_parse(as_ds_parameters(ds), inputs[which].modeler, NULL, NULL, &options, NULL) != ASSAY_OK ||
        !as_choice_all(ds, &series, &n))
        abort();
    options.threads = 1;
    if (as_fit_models(ds, &options, (as_choice){series, n}, "set", NULL, NULL, NULL, &fit, NULL) != ASSAY_OK) abort();
    as_fit_free(&fit);
    free(series);
    return ds;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static as_dataset *datasets[N_DATASETS];
    if (size == 0 || size > MAX_FORMAT) return 0;
    size_t which = bytes[0] % N_DATASETS;
    if (!datasets[which]) datasets[which] = make(which);
    char format[MAX_FORMAT];
    memcpy(format, bytes + 1, size - 1);
    format[size - 1] = '\0';
    as_output *out = as_output_to_memory();
    assay_error error = {.code = ASSAY_OK};
    if (!out) abort();
    assay_status status = as_extrap_print(out, datasets[which], format, &error);
    if (status != ASSAY_OK && (as_output_size(out) || !error.message[0])) abort();
    as_output_discard(out);
    return 0;
}
