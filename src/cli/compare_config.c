/* What is a degradation: thresholds, level and rules, of the command line and of a small file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/callpath.h"
#include "cli/compare_view.h"
#include "core/words.h"
#include "io/input.h"
#include "io/yaml.h"

typedef struct config_file {
    as_cli *cli;
    const char *path;
    as_yaml yaml;
    as_compare_config *out;
} config_file;

static as_exit fail_at(const config_file *f, const as_yaml_node *node, const char *what) {
    return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: %s", f->path, node->line, node->column, what);
}

/* what: what the value should be and is not. */
static as_exit fail_value(const config_file *f, const as_yaml_node *node, const char *what) {
    enum { SHOWN = 60 };
    const char *text = as_yaml_text(node);
    if (text && *text && strlen(text) <= SHOWN)
        return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: '%s' %s", f->path, node->line, node->column, text, what);
    const char *is = node->kind == AS_YAML_SEQUENCE  ? "a list"
                     : node->kind == AS_YAML_MAPPING ? "a mapping"
                     : text && *text                 ? "this long text"
                                                     : "nothing";
    return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: %s %s", f->path, node->line, node->column, is, what);
}

/* Keys of one mapping, each once. n: how many there are so far, of which the last is new. */
static as_exit check_key(const config_file *f, const as_yaml_node *mapping, uint32_t n) {
    const as_yaml_node *key = as_yaml_key(&f->yaml, mapping, n - 1);
    const char *name = as_yaml_text(key);
    if (!name) return fail_at(f, key, "is no key");
    for (uint32_t i = 0; i + 1 < n; i++) { /* there are few: unknown ones are refused before */
        const as_yaml_node *known = as_yaml_key(&f->yaml, mapping, i);
        if (strcmp(as_yaml_text(known), name) == 0)
            return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: the key '%s' is there before, in line %u", f->path,
                               key->line, key->column, name, known->line);
    }
    return AS_EXIT_FINE;
}

/* keys: those there are, "a|b". */
static as_exit fail_key(const config_file *f, const as_yaml_node *key, const char *keys) {
    const char *name = as_yaml_text(key);
    return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: there is no key '%.60s'; it is one of %s", f->path, key->line,
                       key->column, name ? name : "", keys);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static as_exit read_part(const config_file *f, const as_yaml_node *node, double *out) {
    const char *text = as_yaml_text(node);
    if (text && as_part_parse(text, out)) return AS_EXIT_FINE;
    return fail_value(f, node, "is no part such as 5% or 0.05");
}

static as_exit read_level(const config_file *f, const as_yaml_node *node, double *out) {
    as_exit status = read_part(f, node, out);
    if (status != AS_EXIT_FINE || (*out > 0 && *out < 1)) return status;
    return fail_value(f, node, "is no level: a part above 0 and below 1, such as 0.05");
}

static as_exit read_flag(const config_file *f, const as_yaml_node *node, bool *out) {
    const char *text = as_yaml_text(node);
    bool is_true = text && as_is_choice("true|yes|on", text);
    if (!is_true && !(text && as_is_choice("false|no|off", text)))
        return fail_value(f, node, "is neither true nor false");
    *out = is_true;
    return AS_EXIT_FINE;
}

static as_exit read_words(const config_file *f, const as_yaml_node *node, const char **out) {
    const char *text = as_yaml_text(node);
    if (!text || !*text) return fail_value(f, node, "is no text");
    *out = as_arena_copy(&f->out->arena, text, strlen(text));
    return *out ? AS_EXIT_FINE : as_cli_memory(f->cli);
}

/* Of a call path. What is no pattern is found here, where it has a place. */
static as_exit read_pattern(const config_file *f, const as_yaml_node *node, const char **out) {
    const char *why = NULL;
    size_t at;
    as_exit status = read_words(f, node, out);
    if (status != AS_EXIT_FINE) return status;
    as_pattern *pattern = as_pattern_new(*out, strlen(*out), &why, &at);
    if (!pattern && !why) return as_cli_memory(f->cli);
    as_pattern_free(pattern);
    if (!why) return AS_EXIT_FINE;
    return as_cli_fail(f->cli, AS_EXIT_USAGE, "%s:%u:%u: '%s' is no pattern: %s, at its byte %zu", f->path, node->line,
                       node->column, *out, why, at + 1);
}

static bool parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    as_number number;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT) return false;
    if (number.i < 0 || (uint64_t)number.i < least || (uint64_t)number.i > most) return false;
    *out = (uint64_t)number.i;
    return true;
}

enum { LEAST_RESAMPLES = 100, MOST_RESAMPLES = 1000000 };

static as_exit read_count(const config_file *f, const as_yaml_node *node, uint64_t least, uint64_t most,
                          uint64_t *out) {
    const char *text = as_yaml_text(node);
    if (text && parse_count(text, least, most, out)) return AS_EXIT_FINE;
    char what[96];
    snprintf(what, sizeof what, "is no whole number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return fail_value(f, node, what);
}

static bool fail_on_of(const char *text, as_fail_on *out) {
    if (!text || !as_is_choice("maybe|degradation|never", text)) return false;
    *out = *text == 'm' ? AS_FAIL_MAYBE : *text == 'n' ? AS_FAIL_NEVER : AS_FAIL_DEGRADATION;
    return true;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static as_exit read_rule_key(const config_file *f, const as_yaml_node *key, const as_yaml_node *value,
                             as_threshold_rule *rule) {
    const char *name = as_yaml_text(key);
    if (strcmp(name, "metric") == 0) return read_words(f, value, &rule->metric);
    if (strcmp(name, "path") == 0) return read_pattern(f, value, &rule->path);
    if (strcmp(name, "threshold") == 0) return read_part(f, value, &rule->threshold);
    if (strcmp(name, "higher_is_better") == 0) return read_flag(f, value, &rule->higher_is_better);
    if (strcmp(name, "ignore") == 0) return read_flag(f, value, &rule->is_ignored);
    return fail_key(f, key, "metric|path|threshold|higher_is_better|ignore");
}

static as_exit read_rules(const config_file *f, const as_yaml_node *list) {
    if (list->kind != AS_YAML_SEQUENCE) return fail_value(f, list, "is no list of rules");
    for (uint32_t i = 0; i < list->n; i++) {
        const as_yaml_node *item = as_yaml_item(&f->yaml, list, i);
        as_threshold_rule *rule = as_vec_push(&f->out->rules);
        if (!rule) return as_cli_memory(f->cli);
        rule->threshold = NAN;
        bool says_something = false;
        if (item->kind != AS_YAML_MAPPING)
            return fail_value(f, item, "is no rule, such as {path: parse, threshold: 20%}");
        for (uint32_t k = 0; k < item->n; k++) {
            const as_yaml_node *key = as_yaml_key(&f->yaml, item, k);
            as_exit status = check_key(f, item, k + 1);
            if (status == AS_EXIT_FINE) status = read_rule_key(f, key, as_yaml_value(&f->yaml, item, k), rule);
            if (status != AS_EXIT_FINE) return status;
            const char *name = as_yaml_text(key);
            says_something |= strcmp(name, "metric") != 0 && strcmp(name, "path") != 0;
        }
        if (!says_something) return fail_at(f, item, "the rule has none of threshold, higher_is_better and ignore");
    }
    return AS_EXIT_FINE;
}

static as_exit read_metrics(const config_file *f, const as_yaml_node *list) {
    if (list->kind != AS_YAML_SEQUENCE) return fail_value(f, list, "is no list of metrics");
    for (uint32_t i = 0; i < list->n; i++) {
        const char **name = as_vec_push(&f->out->metrics);
        if (!name) return as_cli_memory(f->cli);
        as_exit status = read_words(f, as_yaml_item(&f->yaml, list, i), name);
        if (status != AS_EXIT_FINE) return status;
    }
    return AS_EXIT_FINE;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static as_exit read_key(const config_file *f, const as_yaml_node *key, const as_yaml_node *value) {
    as_compare_config *out = f->out;
    const char *name = as_yaml_text(key);
    uint64_t resamples = out->judge.resamples;
    as_exit status = AS_EXIT_FINE;
    if (strcmp(name, "threshold") == 0) return read_part(f, value, &out->judge.threshold);
    if (strcmp(name, "level") == 0) return read_level(f, value, &out->judge.level);
    if (strcmp(name, "floor") == 0) return read_part(f, value, &out->judge.floor);
    if (strcmp(name, "inclusive") == 0) return read_flag(f, value, &out->is_inclusive);
    if (strcmp(name, "rules") == 0) return read_rules(f, value);
    if (strcmp(name, "metrics") == 0) return read_metrics(f, value);
    if (strcmp(name, "seed") == 0) return read_count(f, value, 0, INT64_MAX, &out->judge.seed);
    if (strcmp(name, "resamples") == 0) {
        status = read_count(f, value, LEAST_RESAMPLES, MOST_RESAMPLES, &resamples);
        out->judge.resamples = (uint32_t)resamples;
        return status;
    }
    if (strcmp(name, "fail_on") == 0)
        return fail_on_of(as_yaml_text(value), &out->fail_on)
                   ? AS_EXIT_FINE
                   : fail_value(f, value, "is neither maybe, degradation nor never");
    return fail_key(f, key, "threshold|level|floor|metrics|inclusive|fail_on|resamples|seed|rules");
}

static as_exit read_file(as_cli *cli, const char *path, as_compare_config *out) {
    config_file f = {.cli = cli, .path = path, .out = out};
    as_input *input;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    if (as_input_open(path, NULL, &input, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (input->is_directory) {
        as_input_close(input);
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: is a directory, no file of thresholds", path);
    }
    if (as_yaml_read(path, input->data, input->size, NULL, &f.yaml, &error) != ASSAY_OK) {
        status = as_cli_error(cli, &error);
    } else {
        const as_yaml_node *root = as_yaml_root(&f.yaml);
        if (f.yaml.next_line)
            status = as_cli_fail(cli, AS_EXIT_USAGE, "%s:%u:1: a second document begins here; one is enough", path,
                                 f.yaml.next_line);
        bool is_empty = root->kind == AS_YAML_SCALAR && !*root->text;
        if (status == AS_EXIT_FINE && root->kind != AS_YAML_MAPPING && !is_empty)
            status = fail_value(&f, root, "is no mapping such as threshold: 5%");
        for (uint32_t i = 0; status == AS_EXIT_FINE && root->kind == AS_YAML_MAPPING && i < root->n; i++) {
            status = check_key(&f, root, i + 1);
            if (status == AS_EXIT_FINE)
                status = read_key(&f, as_yaml_key(&f.yaml, root, i), as_yaml_value(&f.yaml, root, i));
        }
    }
    as_yaml_free(&f.yaml);
    as_input_close(input);
    return status;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

static as_exit take_part(as_cli *cli, const char *name, double *out) {
    const char *text = as_cli_value(cli, name);
    if (!text || as_part_parse(text, out)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s %s is no part such as 5%% or 0.05", name, text);
}

static as_exit take_count(as_cli *cli, const char *name, uint64_t least, uint64_t most, uint64_t *out) {
    const char *text = as_cli_value(cli, name);
    if (!text || parse_count(text, least, most, out)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s %s is no whole number from %llu to %llu", name, text,
                       (unsigned long long)least, (unsigned long long)most);
}

/* Those of --metric instead of the file's. */
static bool take_metrics(as_cli *cli, as_compare_config *out) {
    if (as_cli_has(cli, "metric")) out->metrics.count = 0;
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        bool is_known = strcmp(given->option->name, "metric") != 0;
        for (size_t k = 0; !is_known && k < out->metrics.count; k++)
            is_known = strcmp(AS_AT(const char *, &out->metrics, k), given->value) == 0;
        if (!is_known && !as_vec_append(&out->metrics, &given->value, 1)) return false;
    }
    return !out->metrics.count || as_vec_push(&out->metrics) != NULL;
}

static as_exit take_options(as_cli *cli, as_compare_config *out) {
    uint64_t resamples = out->judge.resamples;
    as_exit status = take_part(cli, "threshold", &out->judge.threshold);
    if (status == AS_EXIT_FINE) status = take_part(cli, "level", &out->judge.level);
    if (status == AS_EXIT_FINE) status = take_part(cli, "floor", &out->judge.floor);
    if (status == AS_EXIT_FINE) status = take_count(cli, "seed", 0, INT64_MAX, &out->judge.seed);
    if (status == AS_EXIT_FINE) status = take_count(cli, "resamples", LEAST_RESAMPLES, MOST_RESAMPLES, &resamples);
    if (status != AS_EXIT_FINE) return status;
    out->judge.resamples = (uint32_t)resamples;
    if (!(out->judge.level > 0 && out->judge.level < 1))
        return as_cli_fail(cli, AS_EXIT_USAGE, "the level is a part above 0 and below 1, such as 0.05");
    if (as_cli_has(cli, "inclusive")) out->is_inclusive = true;
    if (as_cli_has(cli, "fail-on")) fail_on_of(as_cli_value(cli, "fail-on"), &out->fail_on);
    return take_metrics(cli, out) ? AS_EXIT_FINE : as_cli_memory(cli);
}

bool as_path_choice_keeps(void *choice, const char *metric, const char *path) {
    const as_path_choice *chosen = choice;
    const as_threshold_rule *rule = as_rules_find(chosen->rules, metric, path);
    if (rule && rule->is_ignored) return false;
    return !chosen->match || as_pattern_search(chosen->match, path, strlen(path));
}

as_exit as_compare_config_read(as_cli *cli, as_compare_config *out) {
    *out = (as_compare_config){.judge = AS_JUDGE_DEFAULTS};
    as_arena_init(&out->arena, NULL);
    as_vec_init(&out->rules, sizeof(as_threshold_rule), NULL);
    as_vec_init(&out->metrics, sizeof(const char *), NULL);
    const char *path = as_cli_value(cli, "config");
    as_exit status = path ? read_file(cli, path, out) : AS_EXIT_FINE;
    if (status == AS_EXIT_FINE) status = take_options(cli, out);
    if (status == AS_EXIT_FINE) status = as_callpath_match(cli, &out->match);
    out->judge.rules = out->rules.data;
    out->judge.n_rules = out->rules.count;
    return status;
}

void as_compare_config_free(as_compare_config *config) {
    as_pattern_free(config->match);
    as_vec_free(&config->rules);
    as_vec_free(&config->metrics);
    as_arena_free(&config->arena);
}
