/* What the viewer's page may ask: "tree?d=0&metric=time", behind a line the body of a POST. Over the examples, one of
 * each kind; answers must be JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "server/request.h"
#include "server/sql_limits.h"

static as_viewing *viewing;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const inputs[] = {"heat.cubex",  "heat-2.cubex",      "heat-hpctoolkit",  "kernels.txt",
                                     "sort-1.perf", "simulation.afperf", "gpu/filter.sqlite"};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    as_read_config config = {.memory_limit = (uint64_t)1 << 28};
    viewing = as_viewing_new(&config);
    for (size_t i = 0; viewing && i < sizeof inputs / sizeof *inputs; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", FUZZ_EXAMPLES, inputs[i]);
        if (!as_viewing_open(viewing, path, NULL) || !as_viewing_input(viewing, i)->ds) abort();
    }
    return viewing ? 0 : 1;
}

/* Ends the text at the first of these letters; what stands behind it. */
static char *cut(char *text, char letter) {
    char *at = strchr(text, letter);
    if (!at) return text + strlen(text);
    *at = '\0';
    return at + 1;
}

static void check_json(const char *text, size_t size) {
    as_json json;
    as_json_init(&json, "answer", text, size, (as_json_options){.max_depth = 64}, NULL);
    while (as_json_next(&json) != AS_JSON_END) {
        if (json.type == AS_JSON_ERROR) abort();
    }
    as_json_free(&json);
}

/* Statements may take longer than anybody here waits for. */
static bool is_tired(const void *begin) { return as_sql_now() - *(const double *)begin > 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double begin = as_sql_now();
    char *text = malloc(size + 1);
    as_output *out = as_output_to_memory();
    size_t answered;
    if (!text || !out) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    char *body = cut(text, '\n'), *query = cut(text, '?');
    as_request request = {.path = text,
                          .is_post = *body != '\0',
                          .body = body,
                          .body_size = strlen(body),
                          .is_gone = is_tired,
                          .connection = &begin};
    as_vec_init(&request.parameters, sizeof(as_parameter), NULL);
    for (char *next; *query; query = next) {
        next = cut(query, '&');
        as_parameter parameter = {query, cut(query, '=')};
        if (!as_vec_append(&request.parameters, &parameter, 1)) abort();
    }
    as_request_answer(viewing, &request, out, &(assay_error){0});
    const char *answer = as_output_memory(out, &answered);
    if (answer) check_json(answer, answered);
    as_output_discard(out);
    as_vec_free(&request.parameters);
    free(text);
    return 0;
}
