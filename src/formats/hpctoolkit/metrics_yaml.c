/* metrics/NAME.yaml: how HPCToolkit's own tools show metrics. Formulas become the text of formula/infix.h, in which $n
 * is a statistic of the summary profile. */
#include <stdio.h>
#include <stdlib.h>

#include "core/number.h"
#include "dataset/formulas.h"
#include "formats/hpctoolkit/formulas.h"
#include "formats/hpctoolkit/hpctoolkit.h"
#include "io/yaml.h"

/* Aliases make trees larger than their text: more than this is not looked at, in all files together. Steps: pairs of
 * mappings that are searched, metrics that are gone through. */
enum { MAX_FILES = 64, MAX_VISITS = 100000, MAX_STEPS = 10000000, MAX_BYTES = 8 << 20 };
enum { MAX_DEPTH = 100, MAX_NESTED_SUMS = 20, MAX_NAME = 4096 };

typedef struct limits {
    uint64_t visits, steps, bytes; /* that are left; bytes: of formulas */
} limits;
static const limits NO_LESS = {.visits = MAX_VISITS, .steps = MAX_STEPS, .bytes = MAX_BYTES};

typedef struct metrics_file {
    as_reader *reader;
    as_dataset *ds;
    const char *path;
    as_yaml yaml;
    as_hpc_formulas formulas;
    as_map named;    /* name -> first metric of that name */
    as_vec next;     /* assay_id: for each metric the next of its name, or ASSAY_NONE */
    as_map stored;   /* as_pair(metric, statistic) -> id in the summary profile */
    as_vec text;     /* char: a formula in the making */
    const char *why; /* it cannot be made; NULL with is_bad: memory is out */
    bool is_bad;
    as_map described; /* names that were seen */
    limits *left;
} metrics_file;

/* ---- what inputs stand for --------------------------------------------------------------------------------------- */

enum { STATISTIC_COUNT, STATISTIC_SUM, STATISTIC_SQUARES, STATISTIC_MINIMUM, STATISTIC_MAXIMUM, N_STATISTICS };
static const char *const statistic_names[N_STATISTICS] = {"count", "sum", "sumsq", "min", "max"};

static int statistic_named(const char *name) {
    int i = 0;
    while (i < N_STATISTICS && strcmp(statistic_names[i], name) != 0) i++;
    return i;
}

/* N_STATISTICS: another one. */
static int statistic_of(const char *formula, const char *combine) {
    if (strcmp(formula, "$$") == 0) {
        int named = statistic_named(combine);
        return named == STATISTIC_SUM || named == STATISTIC_MINIMUM || named == STATISTIC_MAXIMUM ? named
                                                                                                  : N_STATISTICS;
    }
    if (strcmp(combine, "sum") != 0) return N_STATISTICS;
    if (strcmp(formula, "1") == 0) return STATISTIC_COUNT;
    return strcmp(formula, "($$^2)") == 0 || strcmp(formula, "$$^2") == 0 ? STATISTIC_SQUARES : N_STATISTICS;
}

static bool has_scope(const as_dataset *ds, assay_id id, const char *scope) {
    switch (as_ds_metric(ds, id)->kind) {
    case AS_KIND_INCLUSIVE: return strcmp(scope, "execution") == 0;
    case AS_KIND_EXCLUSIVE: return strcmp(scope, "function") == 0;
    case AS_KIND_LEXICAL: return strcmp(scope, "lex_aware") == 0;
    case AS_KIND_POINT: return strcmp(scope, "point") == 0;
    default: return false;
    }
}

static assay_id first_named(const metrics_file *f, const char *name) {
    as_str id = name ? as_find(&f->ds->strings, name, strlen(name)) : AS_NO_STR;
    uint32_t found = id != AS_NO_STR ? as_map_get(&f->named, id) : AS_MAP_NONE;
    return found != AS_MAP_NONE ? found : ASSAY_NONE;
}

static assay_id next_named(const metrics_file *f, assay_id id) { return AS_AT(assay_id, &f->next, id); }

static bool map_metrics(metrics_file *f, const as_hpc_meaning *meaning) {
    size_t n = AS_COUNT(f->ds, metrics);
    if (!as_vec_reserve(&f->next, n)) return false;
    f->next.count = n;
    for (assay_id id = (assay_id)n; id-- > 0;) {
        as_str name = as_ds_metric(f->ds, id)->name;
        uint32_t known = name != AS_NO_STR ? as_map_get(&f->named, name) : AS_MAP_NONE;
        AS_AT(assay_id, &f->next, id) = known != AS_MAP_NONE ? known : ASSAY_NONE;
        if (name != AS_NO_STR && !as_map_put(&f->named, name, id)) return false;
    }
    for (size_t i = meaning->n_statistics; i-- > 0;) {
        const as_hpc_statistic *s = &meaning->statistics[i];
        if (!as_map_put(&f->stored, as_pair(s->metric, (uint32_t)statistic_named(s->name)), s->id)) return false;
    }
    return true;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool bad(metrics_file *f, const char *why) {
    if (!f->is_bad) f->why = why;
    f->is_bad = true;
    return false;
}

static bool take_steps(metrics_file *f, uint64_t n) {
    bool are_left = n <= f->left->steps;
    f->left->steps -= are_left ? n : f->left->steps;
    return are_left || bad(f, "descriptions of metrics are too large");
}

/* The value of a key of a mapping, at the cost of looking for it. NULL where there is none, and once all steps are used
 * up. */
static const as_yaml_node *get(metrics_file *f, const as_yaml_node *mapping, const char *key) {
    if (!take_steps(f, mapping ? 1 + (uint64_t)mapping->n : 1)) return NULL;
    return as_yaml_get(&f->yaml, mapping, key);
}

static bool put(metrics_file *f, const char *text) {
    if (f->is_bad) return false;
    size_t size = strlen(text);
    if (f->text.count + size > AS_INFIX_MAX_SIZE) return bad(f, "it is too long");
    if (size > f->left->bytes) return bad(f, "there are too many long formulas");
    f->left->bytes -= size;
    return as_vec_text(&f->text, text) || bad(f, NULL);
}

static bool put_input(metrics_file *f, const as_yaml_node *node) {
    const char *scope = as_yaml_text(get(f, node, "scope"));
    const char *formula = as_yaml_text(get(f, node, "formula"));
    const char *combine = as_yaml_text(get(f, node, "combine"));
    assay_id id = first_named(f, as_yaml_text(get(f, node, "metric")));
    int statistic = statistic_of(formula ? formula : "$$", combine ? combine : "sum");
    while (id != ASSAY_NONE && !(scope && has_scope(f->ds, id, scope)))
        id = take_steps(f, 1) ? next_named(f, id) : ASSAY_NONE;
    uint32_t stored = id != ASSAY_NONE && statistic < N_STATISTICS
                          ? as_map_get(&f->stored, as_pair(id, (uint32_t)statistic))
                          : AS_MAP_NONE;
    char text[AS_NUMBER_SIZE + 1] = "$";
    if (stored == AS_MAP_NONE) return bad(f, "it needs a statistic that meta.db does not have");
    as_uint_format(stored, text + 1);
    return put(f, text);
}

static bool put_expression(metrics_file *f, const as_yaml_node *node, unsigned depth);

/* The operands, one behind the other, with something between them. */
static bool put_items(metrics_file *f, const as_yaml_node *node, const char *between, unsigned depth) {
    if (node->kind != AS_YAML_SEQUENCE) return put_expression(f, node, depth + 1);
    for (uint32_t i = 0; i < node->n; i++) {
        if (i && !put(f, between)) return false;
        if (!put_expression(f, as_yaml_item(&f->yaml, node, i), depth + 1)) return false;
    }
    return true;
}

/* {name: [a, b]}: an operator between its operands (or before a single one), or a function. */
static bool put_call(metrics_file *f, const as_yaml_node *node, unsigned depth) {
    const char *name = as_yaml_text(as_yaml_key(&f->yaml, node, 0));
    const as_yaml_node *arguments = as_yaml_value(&f->yaml, node, 0);
    char word[32];
    size_t n = 0;
    if (!name) return bad(f, "the name of a function is missing");
    bool is_operator = strlen(name) == 1 && strchr("+-*/^", name[0]);
    bool is_single = arguments->kind != AS_YAML_SEQUENCE || arguments->n == 1;
    if (is_operator)
        return put(f, "(") && (!is_single || put(f, name)) && put_items(f, arguments, name, depth) && put(f, ")");
    for (const char *c = name; *c && n + 1 < sizeof word; c++) { /* "strict floor" has a blank */
        if (*c != ' ' && *c != '-' && *c != '_') word[n++] = *c;
    }
    word[n] = '\0';
    return put(f, word) && put(f, "(") && put_items(f, arguments, ",", depth) && put(f, ")");
}

static bool put_expression(metrics_file *f, const as_yaml_node *node, unsigned depth) {
    if (depth > MAX_DEPTH) return bad(f, "it is nested too deeply");
    switch (node->kind) {
    case AS_YAML_SCALAR: return put(f, " ") && put(f, node->text) && put(f, " ");
    case AS_YAML_SEQUENCE: return put(f, "(") && put_items(f, node, " ", depth) && put(f, ")");
    default: break;
    }
    if (get(f, node, "metric")) return put_input(f, node);
    return node->n == 1 ? put_call(f, node, depth) : bad(f, "it has a mapping that is neither an input nor a function");
}

/* ---- variants ---------------------------------------------------------------------------------------------------- */

static const as_yaml_node *side_of(metrics_file *f, const as_yaml_node *formula, bool exclusive) {
    return get(f, formula, exclusive ? "exclusive" : "inclusive");
}

/* One side of a variant of a metric, as text; "first" and "sum" are made of its children. level: 0 for custom and 1 for
 * standard, where they are told apart; the other one where only that is there. *is_there: false where there is none. */
static bool put_variant(metrics_file *f, const as_yaml_node *metric, const char *variant, bool exclusive, int level,
                        unsigned depth, bool *is_there) {
    static const char *const levels[] = {"custom", "standard"};
    const as_yaml_node *found = get(f, get(f, metric, "variants"), variant);
    const as_yaml_node *formula = get(f, found, "formula");
    const char *word = as_yaml_text(formula);
    *is_there = false;
    if (!formula || depth > MAX_NESTED_SUMS) return true;
    if (!word) {
        const as_yaml_node *side = side_of(f, formula, exclusive);
        const as_yaml_node *one = get(f, side, levels[level]);
        const as_yaml_node *other = get(f, side, levels[!level]);
        *is_there = side != NULL;
        return !side || put_expression(f, one ? one : other ? other : side, 0);
    }
    const char *below = as_yaml_text(get(f, found, "child variant"));
    const as_yaml_node *children = get(f, metric, "children");
    bool is_sum = strcmp(word, "sum") == 0, any = false;
    if (!is_sum && strcmp(word, "first") != 0) return bad(f, "it is neither an expression nor first or sum");
    for (uint32_t i = 0; children && children->kind == AS_YAML_SEQUENCE && i < children->n; i++) {
        bool has;
        size_t start = f->text.count;
        if (!put(f, any ? "+(" : "(") || !put_variant(f, as_yaml_item(&f->yaml, children, i), below ? below : variant,
                                                      exclusive, level, depth + 1, &has))
            return false;
        if (!has) f->text.count = start;
        if (has && !put(f, ")")) return false;
        any |= has;
        if (any && !is_sum) break;
    }
    *is_there = any;
    return true;
}

/* Formulas that are no statistic have a variant without a name. */
static bool is_sum_variant(const char *variant) { return !*variant || strcmp(variant, "Sum") == 0; }

/* "NAME" of the sum, "NAME:VARIANT" of others; both NUL-terminated in out. statistic: the variant in small letters. */
static bool name_variant(const char *name, const char *variant, as_vec *out, char statistic[64]) {
    size_t n = 0;
    for (; n < 63 && variant[n]; n++)
        statistic[n] = variant[n] >= 'A' && variant[n] <= 'Z' ? (char)(variant[n] + 32) : variant[n];
    statistic[n] = '\0';
    out->count = 0;
    bool fine = as_vec_text(out, name);
    if (fine && !is_sum_variant(variant)) fine = as_vec_text(out, ":") && as_vec_text(out, variant);
    return fine && as_vec_append(out, "", 1);
}

static assay_status add_side(metrics_file *f, const as_yaml_node *metric, const char *variant, as_hpc_formula *asked,
                             int level) {
    bool is_there;
    f->text.count = 0;
    f->is_bad = false;
    f->why = NULL;
    put_variant(f, metric, variant, asked->is_exclusive, level, 0, &is_there);
    if (f->is_bad && !f->why) return as_reader_memory(f->reader);
    if (f->is_bad)
        as_warn(f->reader, (as_place){.path = f->path, .offset = -1, .line = metric->line, .column = metric->column},
                "formula", "metric %s has no values: %s", asked->name, f->why);
    if (f->is_bad || !is_there) return ASSAY_OK;
    asked->text = f->text.data;
    asked->size = f->text.count;
    return as_hpc_formulas_add(&f->formulas, asked);
}

static assay_status add_variants(metrics_file *f, const as_yaml_node *metric, const char *name) {
    const as_yaml_node *variants = get(f, metric, "variants");
    as_vec full;
    as_vec_init(&full, 1, &f->ds->budget);
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; variants && variants->kind == AS_YAML_MAPPING && status == ASSAY_OK && i < variants->n; i++) {
        const char *variant = as_yaml_text(as_yaml_key(&f->yaml, variants, i));
        char statistic[64];
        if (!variant || strlen(variant) > MAX_NAME) continue;
        if (!take_steps(f, 1)) break;
        if (!name_variant(name, variant, &full, statistic)) {
            status = as_reader_memory(f->reader);
            break;
        }
        as_hpc_formula asked = {.name = full.data,
                                .statistic = statistic,
                                .description = as_yaml_text(get(f, metric, "description")),
                                .format = as_yaml_text(get(f, as_yaml_value(&f->yaml, variants, i), "format"))};
        /* Both levels of the exclusive side: they are statistics of two metrics, and one and the same derived
         * metric. */
        status = add_side(f, metric, variant, &asked, 1);
        asked.is_exclusive = true;
        for (int level = 0; level < 2 && status == ASSAY_OK; level++)
            status = add_side(f, metric, variant, &asked, level);
    }
    as_vec_free(&full);
    return status;
}

/* ---- the tree of metrics ----------------------------------------------------------------------------------------- */

typedef struct visit {
    const as_yaml_node *metric;
    size_t group; /* bytes of the names above it */
} visit;

/* What is said of metrics by their name. */
static bool describe(metrics_file *f, const as_yaml_node *metric, const char *name, const as_vec *group) {
    assay_id first = first_named(f, name);
    if (first == ASSAY_NONE || as_map_get(&f->described, first) != AS_MAP_NONE) return true; /* the first one counts */
    if (!as_map_put(&f->described, first, 0)) return false;
    const char *description = as_yaml_text(get(f, metric, "description"));
    const char *brief = as_yaml_text(get(f, metric, "short description"));
    const char *visible = as_yaml_text(get(f, metric, "visible by default"));
    bool is_hidden = visible && strcmp(visible, "false") == 0, fine = true;
    for (assay_id id = first; id != ASSAY_NONE && fine; id = next_named(f, id)) {
        as_metric *target = &AS_AT(as_metric, &f->ds->metrics, id);
        if (description && target->description == AS_NO_STR) {
            target->description = as_ds_intern_text(f->ds, description);
            fine = target->description != AS_NO_STR;
        }
        if (target->part_of != ASSAY_NONE) continue;
        if (brief) fine &= as_add_attribute(f->ds, AS_OWNER_METRIC, id, "short description", as_cell_text(brief));
        if (is_hidden)
            fine &= as_add_attribute(f->ds, AS_OWNER_METRIC, id, "visible by default", as_cell_text("false"));
        if (group->count && group->count <= MAX_NAME)
            fine &= as_add_attribute(f->ds, AS_OWNER_METRIC, id, "group", as_cell_text_n(group->data, group->count));
    }
    return fine;
}

static bool push_children(metrics_file *f, as_vec *waiting, const as_yaml_node *list, size_t group) {
    uint32_t n = list && list->kind == AS_YAML_SEQUENCE ? list->n : 0;
    if (!take_steps(f, n)) return true;
    for (uint32_t i = n; i-- > 0;) {
        visit next = {as_yaml_item(&f->yaml, list, i), group};
        if (!as_vec_append(waiting, &next, 1)) return false;
    }
    return true;
}

/* group: the names above a metric, joined with "->". */
static assay_status visit_metric(metrics_file *f, const as_yaml_node *metric, as_vec *group, as_vec *waiting) {
    const char *name = as_yaml_text(get(f, metric, "name"));
    const as_yaml_node *children = get(f, metric, "children");
    if (name && strlen(name) <= MAX_NAME) {
        if (!describe(f, metric, name, group)) return as_reader_memory(f->reader);
        AS_TRY(add_variants(f, metric, name));
        if (children && (!(group->count ? as_vec_text(group, "->") : true) || !as_vec_text(group, name)))
            return as_reader_memory(f->reader);
    }
    return push_children(f, waiting, children, group->count) ? ASSAY_OK : as_reader_memory(f->reader);
}

static assay_status visit_roots(metrics_file *f) {
    as_vec waiting, group;
    as_vec_init(&waiting, sizeof(visit), &f->ds->budget);
    as_vec_init(&group, 1, &f->ds->budget);
    const as_yaml_node *roots = get(f, as_yaml_root(&f->yaml), "roots");
    assay_status status = push_children(f, &waiting, roots, 0) ? ASSAY_OK : as_reader_memory(f->reader);
    while (status == ASSAY_OK && waiting.count && f->left->visits && f->left->steps) {
        visit next = AS_AT(visit, &waiting, --waiting.count);
        f->left->visits--;
        group.count = next.group;
        if (next.metric->kind == AS_YAML_MAPPING) status = visit_metric(f, next.metric, &group, &waiting);
    }
    if (status == ASSAY_OK && (waiting.count || !f->left->steps))
        as_warn(f->reader, as_place_file(f->path), "yaml-limit", "it has too many metrics; the rest is left out");
    as_vec_free(&waiting);
    as_vec_free(&group);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static as_hpc_reference *list_references(as_dataset *ds, const as_hpc_meaning *meaning) {
    as_hpc_reference *references = as_arena_array(&ds->arena, meaning->n_statistics, sizeof *references);
    for (size_t i = 0; references && i < meaning->n_statistics; i++) {
        const as_hpc_statistic *s = &meaning->statistics[i];
        references[i] = (as_hpc_reference){.id = s->id, .order = -1, .metric = s->metric, .statistic = s->name};
    }
    return references;
}

static assay_status read_document(metrics_file *f, as_hpc_meaning *meaning) {
    const as_yaml_node *root = as_yaml_root(&f->yaml);
    const char *version = as_yaml_text(get(f, root, "version"));
    if (root->kind != AS_YAML_MAPPING || !version || strcmp(version, "0") != 0) {
        as_warn(f->reader, as_place_file(f->path), "metrics-version",
                "this is no description of metrics of version 0; it is left out");
        return ASSAY_OK;
    }
    as_hpc_reference *references = list_references(f->ds, meaning);
    if (!references) return as_reader_memory(f->reader);
    assay_status status = as_hpc_formulas_init(&f->formulas, f->reader, f->path, references, meaning->n_statistics);
    if (status == ASSAY_OK) status = map_metrics(f, meaning) ? visit_roots(f) : as_reader_memory(f->reader);
    if (status == ASSAY_OK) status = as_hpc_formulas_finish(&f->formulas, meaning);
    as_hpc_formulas_free(&f->formulas);
    return status;
}

static assay_status read_text(as_reader *reader, const char *path, const char *data, size_t size,
                              as_hpc_meaning *meaning, limits *left) {
    assay_error error;
    metrics_file *f = calloc(1, sizeof *f);
    if (!f) return as_reader_memory(reader);
    *f = (metrics_file){.reader = reader, .ds = reader->dataset, .path = path, .left = left};
    as_map_init(&f->named, &f->ds->budget);
    as_map_init(&f->stored, &f->ds->budget);
    as_map_init(&f->described, &f->ds->budget);
    as_vec_init(&f->next, sizeof(assay_id), &f->ds->budget);
    as_vec_init(&f->text, 1, &f->ds->budget);
    assay_status status = as_yaml_read(path, data, size, &f->ds->budget, &f->yaml, &error);
    if (status == ASSAY_OK)
        status = read_document(f, meaning);
    else if (status == ASSAY_E_FORMAT) {
        as_warn(reader, (as_place){.path = path, .offset = error.offset, .line = error.line, .column = error.column},
                error.rule, "%s; formulas and descriptions of metrics are left out", error.message);
        status = ASSAY_OK;
    } else {
        status = as_reader_memory(reader);
    }
    as_yaml_free(&f->yaml);
    as_map_free(&f->named);
    as_map_free(&f->stored);
    as_map_free(&f->described);
    as_vec_free(&f->next);
    as_vec_free(&f->text);
    free(f);
    return status;
}

assay_status as_hpc_read_metrics_text(as_reader *reader, const char *path, const char *data, size_t size,
                                      as_hpc_meaning *meaning) {
    limits left = NO_LESS;
    return read_text(reader, path, data, size, meaning, &left);
}

static assay_status read_file(as_reader *reader, const char *path, as_hpc_meaning *meaning, limits *left) {
    as_input *input;
    assay_error error;
    if (as_hpc_check_file(path, &error) != ASSAY_OK ||
        as_input_open(path, &reader->dataset->budget, &input, &error) != ASSAY_OK) {
        if (error.code == ASSAY_E_NOMEM) return as_reader_memory(reader);
        as_warn(reader, as_place_file(path), "metrics-file", "%s; formulas and descriptions of metrics are left out",
                error.message);
        return ASSAY_OK;
    }
    assay_status status = read_text(reader, path, input->data, input->size, meaning, left);
    as_input_close(input);
    return status;
}

static assay_status read_files(as_reader *reader, const char *directory, const as_directory *list,
                               as_hpc_meaning *meaning) {
    limits left = NO_LESS;
    size_t n = 0;
    for (size_t i = 0; i < list->n_entries && n < MAX_FILES; i++) {
        char path[PATH_MAX];
        const as_directory_entry *entry = &list->entries[i];
        if (entry->is_directory || !as_has_ending(entry->name, ".yaml .yml")) continue;
        if (!as_hpc_path(directory, entry->name, path)) continue;
        n++;
        AS_TRY(read_file(reader, path, meaning, &left));
    }
    return ASSAY_OK;
}

assay_status as_hpc_read_metrics_yaml(as_reader *reader, const char *directory, as_hpc_meaning *meaning) {
    char path[PATH_MAX];
    as_directory list;
    assay_error error;
    if (!as_hpc_path(directory, "metrics", path) || !as_hpc_has(directory, "metrics")) return ASSAY_OK;
    assay_status status = as_directory_list(path, &reader->dataset->budget, &list, &error);
    if (status == ASSAY_OK)
        status = read_files(reader, path, &list, meaning);
    else if (status == ASSAY_E_NOMEM)
        status = as_reader_memory(reader);
    else {
        as_warn(reader, as_place_file(path), "metrics-file", "%s; descriptions of metrics are left out", error.message);
        status = ASSAY_OK;
    }
    as_directory_free(&list);
    return status;
}
