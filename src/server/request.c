#include "server/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AS_ENDPOINT(name) extern const as_endpoint name;
#include "server/endpoints.def"
#undef AS_ENDPOINT

const as_endpoint *const as_endpoints[] = {
#define AS_ENDPOINT(name) &name,
#include "server/endpoints.def"
#undef AS_ENDPOINT
    NULL};

/* ---- answers ----------------------------------------------------------------------------------------------------- */

void as_answer_error(as_output *out, const assay_error *error) {
    as_builder builder = as_builder_of(out);
    builder.compact = true;
    as_build_object(&builder, NULL, false);
    as_build_text(&builder, "error", error->message);
    as_build_text(&builder, "rule", error->rule[0] ? error->rule : NULL);
    as_build_text(&builder, "file", error->path[0] ? error->path : NULL);
    as_build_known(&builder, "line", error->line, true);
    as_build_known(&builder, "column", error->column, true);
    as_build_known(&builder, "offset", error->offset, false);
    as_build_end(&builder);
}

static unsigned http_status_of(assay_status status) {
    return status == ASSAY_OK ? 200 : status == ASSAY_E_USAGE ? 400 : status == ASSAY_E_NOMEM ? 507 : 422;
}

/* Its formulas become metrics of the inputs. */
static assay_status derive(as_viewing *viewing, const as_request *request, assay_error *error) {
    const char *texts[AS_MOST_DERIVES + 1];
    size_t n = 0;
    for (size_t i = 0; i < request->parameters.count && n <= AS_MOST_DERIVES; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        if (strcmp(parameter->name, "derive") == 0 && *parameter->value) texts[n++] = parameter->value;
    }
    return as_viewing_derive(viewing, texts, n, error);
}

static assay_status answer(const as_endpoint *endpoint, as_viewing *viewing, const as_request *request, as_output *out,
                           assay_error *error) {
    size_t size;
    assay_error change;
    as_viewing_lock(viewing);
    unsigned n_lost = as_viewing_lose_changed(viewing, NULL);
    /* Who has left while others were answered gets nothing made. */
    bool is_gone = request->is_gone && request->is_gone(request->connection);
    assay_status status = is_gone ? as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "nobody waits for this")
                                  : derive(viewing, request, error);
    if (status == ASSAY_OK) status = endpoint->answer(viewing, request, out, error);
    if (as_viewing_lose_changed(viewing, &change) != n_lost) status = (*error = change).code;
    if (status != ASSAY_OK) as_viewing_hide_folder(viewing, error);
    as_viewing_unlock(viewing);
    if (status == ASSAY_OK && !as_output_memory(out, &size)) status = as_fail_memory(error, NULL);
    return status;
}

unsigned as_request_answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    unsigned status = 404;
    *error = (assay_error){.offset = -1};
    for (const as_endpoint *const *at = as_endpoints; *at; at++) {
        if (strcmp((*at)->path, request->path) != 0) continue;
        status = 405;
        if ((*at)->is_post != request->is_post) continue;
        status = http_status_of(answer(*at, viewing, request, out, error));
        break;
    }
    if (status == 404 || status == 405)
        as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                status == 404 ? "there is no '%s' here" : "'%s' is asked for in another way (GET or POST)",
                request->path);
    if (status == 200) return status;
    as_output_clear(out);
    as_answer_error(out, error);
    return status;
}

void as_answer_number(as_builder *builder, const char *key, as_number number) {
    const int64_t exact = (int64_t)1 << 53;
    char digits[AS_NUMBER_SIZE];
    if (number.kind == AS_REAL)
        as_build_real(builder, key, number.r);
    else if (number.kind == AS_INT && number.i >= -exact && number.i <= exact)
        as_build_int(builder, key, number.i);
    else if (number.kind == AS_UINT && number.u <= (uint64_t)exact)
        as_build_int(builder, key, (int64_t)number.u);
    else {
        as_number_format(number, digits);
        as_build_text(builder, key, digits);
    }
}

void as_answer_cell(as_builder *builder, const char *key, const as_cell *cell, size_t longest) {
    static const char end[] = "…";
    bool is_text = cell->type == AS_CELL_TEXT || cell->type == AS_CELL_JSON;
    char *cut = is_text && cell->size > longest ? malloc(longest + sizeof end) : NULL;
    if (!is_text || cell->size <= longest) {
        as_build_cell(builder, key, cell);
    } else if (cut) {
        while (longest > 0 && ((unsigned char)cell->text[longest] & 0xc0) == 0x80) longest--; /* whole characters */
        memcpy(cut, cell->text, longest);
        memcpy(cut + longest, end, sizeof end);
        as_build_text(builder, key, cut);
    } else {
        as_build_text(builder, key, end);
    }
    free(cut);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

const char *as_request_text(const as_request *request, const char *name) {
    for (size_t i = 0; i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        if (strcmp(parameter->name, name) == 0) return *parameter->value ? parameter->value : NULL;
    }
    return NULL;
}

assay_status as_request_number(const as_request *request, const char *name, int64_t low, int64_t high, int64_t usual,
                               int64_t *out, assay_error *error) {
    const char *text = as_request_text(request, name);
    as_number number;
    *out = usual;
    if (!text) return ASSAY_OK;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < low || number.i > high)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "'%s' cannot be '%.100s'; a whole number from %lld to %lld", name, text, (long long)low,
                       (long long)high);
    *out = number.i;
    return ASSAY_OK;
}

assay_status as_request_real(const as_request *request, const char *name, double usual, double *out,
                             assay_error *error) {
    const char *text = as_request_text(request, name);
    as_number number;
    *out = usual;
    if (!text) return ASSAY_OK;
    if (!as_number_parse(text, strlen(text), &number) || !isfinite(as_number_real(number)))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'%s' cannot be '%.100s'; a number", name, text);
    *out = as_number_real(number);
    return ASSAY_OK;
}

bool as_request_flag(const as_request *request, const char *name) {
    const char *text = as_request_text(request, name);
    return text && (strcmp(text, "1") == 0 || strcmp(text, "true") == 0);
}

assay_status as_request_input(const as_viewing *viewing, const as_request *request, const char *name,
                              as_view_input **out, assay_error *error) {
    int64_t number;
    if (as_viewing_inputs(viewing) == 0)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "nothing is open; drop a file onto the page");
    AS_TRY(as_request_number(request, name, 0, (int64_t)as_viewing_inputs(viewing) - 1, 0, &number, error));
    *out = as_viewing_input(viewing, (size_t)number);
    if ((*out)->ds) return ASSAY_OK;
    *error = (*out)->error;
    return error->code;
}

assay_status as_request_input_alone(as_viewing *viewing, const as_request *request, const char *name,
                                    as_view_input **out, assay_error *error) {
    do {
        AS_TRY(derive(viewing, request, error));
        AS_TRY(as_request_input(viewing, request, name, out, error));
    } while (as_viewing_wait_alone(viewing, *out));
    return ASSAY_OK;
}

assay_status as_request_input_to_read(as_viewing *viewing, const as_request *request, const char *name,
                                      as_view_input **out, assay_error *error) {
    do {
        AS_TRY(derive(viewing, request, error));
        AS_TRY(as_request_input(viewing, request, name, out, error));
    } while (as_viewing_wait_turn(viewing));
    return ASSAY_OK;
}

/* ---- the words of the command ------------------------------------------------------------------------------------ */

static bool is_word_of(const char *word, const char *list) {
    size_t size = strlen(word);
    for (const char *at = list; size > 0 && (at = strstr(at, word)); at += size) {
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) return true;
    }
    return false;
}

bool as_request_words(const as_request *request, const char *takes, as_vec *out) {
    bool fine = true;
    for (size_t i = 0; fine && i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        char size[AS_NUMBER_SIZE];
        if (!is_word_of(parameter->name, takes) || !*parameter->value) continue;
        as_uint_format(strlen(parameter->value), size); /* a value may look like a parameter */
        fine = as_vec_text(out, "\n") && as_vec_text(out, parameter->name) && as_vec_text(out, " ") &&
               as_vec_text(out, size) && as_vec_text(out, "=") && as_vec_text(out, parameter->value);
    }
    return fine;
}

static void keep_message(void *user, const char *text) {
    as_request_cli *made = user;
    snprintf(made->message, sizeof made->message, "%s", text);
}

static bool is_flag_of(const as_verb *verb, const char *name) {
    for (const as_cli_option *option = verb->options; option && option->name; option++) {
        if (strcmp(option->name, name) == 0) return !option->argument;
    }
    return false;
}

static assay_status add_words(const as_request *request, const as_verb *verb, const char *takes, as_vec *words,
                              assay_error *error) {
    for (size_t i = 0; i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        bool is_flag = is_flag_of(verb, parameter->name);
        char *word = NULL;
        if (!is_word_of(parameter->name, takes) || !*parameter->value) continue;
        if (is_flag && !as_request_flag(request, parameter->name)) continue;
        if (asprintf(&word, "--%s%s%s", parameter->name, is_flag ? "" : "=", is_flag ? "" : parameter->value) < 0)
            return as_fail_memory(error, NULL);
        for (char *at = word + 2; *at && *at != '='; at++) *at = *at == '_' ? '-' : *at;
        if (!as_vec_append(words, &word, 1)) {
            free(word);
            return as_fail_memory(error, NULL);
        }
    }
    return ASSAY_OK;
}

assay_status as_request_cli_make(const as_request *request, const char *verb, const char *takes, as_output *out,
                                 as_request_cli *made, assay_error *error) {
    static const char *const no_options[] = {NULL};
    *made = (as_request_cli){.cli = {.verb = as_verb_find(verb), .out = out, .quiet = true, .options = no_options}};
    made->cli.style.mode = AS_PRINT_JSON;
    made->cli.tell = keep_message;
    made->cli.tell_user = made;
    as_vec_init(&made->words, sizeof(char *), NULL);
    AS_TRY(add_words(request, made->cli.verb, takes, &made->words, error));
    const as_cli_option *tables[] = {made->cli.verb->options};
    return as_arguments_parse(&made->cli.arguments, (int)made->words.count, made->words.data, tables, 1, 0, error);
}

void as_request_cli_free(as_request_cli *made) {
    as_arguments_free(&made->cli.arguments);
    for (size_t i = 0; i < made->words.count; i++) free(AS_AT(char *, &made->words, i));
    as_vec_free(&made->words);
}

assay_status as_request_cli_status(const as_request_cli *made, as_exit status, assay_error *error) {
    if (status == AS_EXIT_FINE) return ASSAY_OK;
    assay_status code = made->cli.failure != ASSAY_OK ? made->cli.failure
                        : status == AS_EXIT_USAGE     ? ASSAY_E_USAGE
                                                      : ASSAY_E_UNSUPPORTED;
    return as_fail(error, code, AS_NOWHERE, "", "%s", made->message[0] ? made->message : "this could not be done");
}
