#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/hpctoolkit/meta.h"
#include "formats/hpctoolkit/metrics.h"
#include "helpers.h"
#include "meta_files.h"

enum { LIMIT = 6 }; /* some ids of contexts are below it, some are not */

typedef struct opened {
    as_dataset *ds;
    as_meta meta;
    assay_error error;
    assay_status status;
} opened;

static assay_status read_all(as_meta *meta, as_reader *reader, const void *data, size_t size) {
    AS_TRY(as_meta_open(meta, reader, "meta.db", data, size));
    AS_TRY(as_meta_read_names(meta));
    AS_TRY(as_meta_read_metrics(meta));
    AS_TRY(as_meta_read_contexts(meta, LIMIT));
    return as_meta_finish_contexts(meta);
}

static opened read_with(const void *data, size_t size, bool keep_going) {
    opened result = {.ds = as_dataset_new(0)};
    as_reader reader = {.dataset = result.ds, .error = &result.error, .keep_going = keep_going};
    result.status = read_all(&result.meta, &reader, data, size);
    return result;
}

static opened read_meta(const meta_file *file) { return read_with(file->data, file->size, false); }

static void close_meta(opened *result) {
    as_meta_free(&result->meta);
    as_dataset_free(result->ds);
}

static void assert_meta_refused(const meta_file *file, const char *rule, const char *words) {
    opened result = read_meta(file);
    if (result.status != ASSAY_E_FORMAT) fail_msg("accepted, or another error: %s", words);
    if (strcmp(result.error.rule, rule) != 0 || !strstr(result.error.message, words))
        fail_msg("expected %s (%s), got %s: %s", rule, words, result.error.rule, result.error.message);
    assert_string_equal(result.error.path, "meta.db");
    assert_true(result.error.offset >= 0);
    close_meta(&result);
}

static const char *text(const as_dataset *ds, as_str id) { return id == AS_NO_STR ? "-" : as_ds_text(ds, id); }

/* The attribute as text, "-" where there is none. */
static const char *attribute(const as_dataset *ds, as_owner owner, assay_id id, const char *key) {
    static char number[32];
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *a = as_ds_attribute(ds, i);
        if (a->owner != owner || a->owner_id != id || strcmp(as_ds_text(ds, a->key), key) != 0) continue;
        if (a->value.type == AS_CELL_TEXT) return a->value.text;
        snprintf(number, sizeof number, "%lld", (long long)a->value.i);
        return number;
    }
    return "-";
}

/* ---- what is read ------------------------------------------------------------------------------------------------ */

typedef struct expected_context {
    const char *source_id, *name, *kind, *file, *module, *parent;
    int64_t line;
    uint8_t role;
    bool is_inlined;
} expected_context;

static const expected_context EXPECTED[] = {
    {"0", "<root>", "root", "-", "-", "-", -1, AS_ROLE_CALL, false},
    {"1", "main thread", "entry", "-", "-", "0", -1, AS_ROLE_CALL, false},
    {"2", "main", "function", "src/a.c", "/bin/app", "1", 3, AS_ROLE_CALL, false},
    {"3", "line src/a.c:5", "line", "src/a.c", "-", "2", 5, AS_ROLE_INNER, false},
    {"4", "<anonymous app+0x20>", "function", "-", "/bin/app", "3", -1, AS_ROLE_CALL, false},
    {"5", "loop at b.c:7", "loop", "b.c", "/bin/app", "2", 7, AS_ROLE_INNER, false},
    {"6", "insn app+0x30", "instruction", "-", "/bin/app", "5", -1, AS_ROLE_INNER, false},
    {"7", "<unknown function>", "function", "-", "-", "1", -1, AS_ROLE_CALL, false},
    {"8", "<gpu kernel>", "function", "-", "-", "7", -1, AS_ROLE_CALL, true},
};
enum { N_EXPECTED = sizeof EXPECTED / sizeof *EXPECTED };

static void assert_context(const as_dataset *ds, assay_id id, const expected_context *expected) {
    const as_context *context = as_ds_context(ds, id);
    const as_region *region = as_ds_region(ds, context->region);
    char digits[AS_NUMBER_SIZE];
    assert_string_equal(as_context_source_id(ds, id, digits), expected->source_id);
    assert_string_equal(text(ds, context->name), expected->name);
    assert_string_equal(text(ds, region->kind), expected->kind);
    assert_string_equal(text(ds, region->file), expected->file);
    assert_string_equal(text(ds, region->module), expected->module);
    assert_int_equal(region->line_begin, expected->line);
    assert_int_equal(context->role, expected->role);
    assert_int_equal(context->is_inlined, expected->is_inlined);
    const char *parent = context->parent == ASSAY_NONE ? "-" : as_context_source_id(ds, context->parent, digits);
    /* A draft has no entry points: what they hold is below the root. */
    bool is_below_root = strcmp(expected->parent, "1") == 0 && strcmp(parent, "0") == 0;
    if (!is_below_root) assert_string_equal(parent, expected->parent);
}

static void contexts_of_the_tree(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    opened result = read_meta(&file);
    assert_int_equal(result.status, ASSAY_OK);
    assert_int_equal(result.ds->contexts.count, N_EXPECTED);
    for (assay_id i = 0; i < N_EXPECTED; i++) assert_context(result.ds, i, &EXPECTED[i]);
    assert_string_equal(attribute(result.ds, AS_OWNER_REGION, as_ds_context(result.ds, 1)->region, "entry_type"), "1");
    assert_string_equal(attribute(result.ds, AS_OWNER_REGION, as_ds_context(result.ds, 2)->region, "offset"), "16");
    assert_string_equal(attribute(result.ds, AS_OWNER_REGION, as_ds_context(result.ds, 5)->region, "offset"), "64");
    for (assay_id i = 0; i < N_EXPECTED; i++) {
        assert_string_equal(attribute(result.ds, AS_OWNER_CONTEXT, i, "relation"), "-");
        assert_string_equal(attribute(result.ds, AS_OWNER_CONTEXT, i, "propagation"), "-");
    }
    /* What profiles name a context by. */
    for (uint32_t id = 0; id < LIMIT; id++) assert_int_equal(result.meta.contexts[id], id);
    close_meta(&result);
}

static void contexts_of_a_draft(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, true);
    opened result = read_meta(&file);
    assert_int_equal(result.status, ASSAY_OK);
    assert_int_equal(result.ds->contexts.count, N_EXPECTED - 1);
    assert_context(result.ds, 0, &EXPECTED[0]);
    for (assay_id i = 1; i < N_EXPECTED - 1; i++) assert_context(result.ds, i, &EXPECTED[i + 1]);
    assert_int_equal(result.ds->metrics.count, 2);
    assert_int_equal(as_ds_metric(result.ds, 0)->kind, AS_KIND_EXCLUSIVE);
    assert_int_equal(as_ds_metric(result.ds, 0)->part_of, 1);
    assert_int_equal(as_ds_metric(result.ds, 1)->exclusive, 0);
    assert_int_equal(result.meta.statistics.count, 1);
    close_meta(&result);
}

static void metrics_and_their_sides(void **state) {
    (void)state;
    static const as_metric_kind kinds[] = {AS_KIND_POINT, AS_KIND_EXCLUSIVE, AS_KIND_LEXICAL, AS_KIND_INCLUSIVE};
    meta_file file;
    meta_make(&file, false);
    opened result = read_meta(&file);
    const as_dataset *ds = result.ds;
    assert_int_equal(ds->metrics.count, 4);
    for (assay_id i = 0; i < 4; i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        const as_hpc_metric *meaning = &AS_AT(as_hpc_metric, &result.meta.metrics, i);
        assert_string_equal(text(ds, metric->name), "time (sec)");
        assert_string_equal(text(ds, metric->unit), "sec");
        assert_int_equal(metric->kind, kinds[i]);
        assert_true(metric->is_stored);
        assert_int_equal(metric->part_of, i == 3 ? ASSAY_NONE : 3);
        assert_int_equal(metric->exclusive, i == 3 ? 2 : ASSAY_NONE);
        assert_int_equal(meaning->id, i);
        assert_int_equal(meaning->metric, i);
    }
    assert_int_equal(result.meta.statistics.count, 2);
    const as_hpc_statistic *statistics = result.meta.statistics.data;
    assert_int_equal(statistics[0].id, 3);
    assert_string_equal(statistics[0].name, "count");
    assert_int_equal(statistics[1].id, 7);
    assert_string_equal(statistics[1].name, "sum");
    assert_int_equal(statistics[1].metric, 3);
    close_meta(&result);
}

static void names_of_the_database(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    opened result = read_meta(&file);
    assert_string_equal(attribute(result.ds, AS_OWNER_DATASET, 0, "title"), "the title");
    assert_string_equal(attribute(result.ds, AS_OWNER_DATASET, 0, "description"), "the description");
    assert_string_equal(attribute(result.ds, AS_OWNER_DATASET, 0, "source"), "src/a.c");
    assert_true(result.meta.has_sources);
    assert_string_equal(text(result.ds, result.ds->format_version), "4.0");
    assert_int_equal(result.meta.kinds.count, 4);
    assert_string_equal(AS_AT(const char *, &result.meta.kinds, 2), "RANK");
    close_meta(&result);
}

static void odd_things_are_kept(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    file.data[15] = 3;                                /* a minor version */
    meta_put(&file, file.context_at[8] + 0x15, 0, 1); /* a function that is nested */
    meta_put(&file, file.context_at[7] + 0x18, 5, 2); /* further bits of propagation */
    meta_put(&file, file.context_at[3] + 0x16, 9, 1); /* a lexical type of the future */
    memcpy(file.data + as_meta_u64(&(as_meta){.data = file.data}, file.functions),
           "m\xff"
           "in",
           4);
    memcpy(memmem(file.data, file.size, "point", 5), "later", 5); /* a scope of the future */
    opened result = read_meta(&file);
    assert_int_equal(result.status, ASSAY_OK);
    const as_dataset *ds = result.ds;
    assert_string_equal(text(ds, ds->format_version), "4.3");
    assert_int_equal(count_problems(ds, "unknown-version", NULL), 1);
    assert_string_equal(attribute(ds, AS_OWNER_CONTEXT, 8, "relation"), "0");
    assert_string_equal(attribute(ds, AS_OWNER_CONTEXT, 8, "propagation"), "0");
    assert_string_equal(attribute(ds, AS_OWNER_CONTEXT, 7, "propagation"), "5");
    assert_string_equal(text(ds, as_ds_context(ds, 3)->name), "lex9");
    assert_string_equal(text(ds, as_ds_context(ds, 2)->name), "m\xef\xbf\xbdin");
    assert_int_equal(as_ds_metric(ds, 0)->kind, AS_KIND_NONE);
    assert_string_equal(attribute(ds, AS_OWNER_METRIC, 0, "scope"), "later");
    close_meta(&result);
}

static void an_id_of_two_metrics(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    meta_put(&file, file.instances + 8, 3, 2);
    opened result = read_meta(&file);
    assert_int_equal(result.status, ASSAY_OK);
    assert_int_equal(result.ds->metrics.count, 3);
    assert_int_equal(count_problems(result.ds, "metric-twice", NULL), 1);
    close_meta(&result);
}

static void regions_are_shared(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    meta_put(&file, file.context_at[8] + 0x20, file.functions, 8); /* main, once more */
    meta_put(&file, file.context_at[6] + 0x20, file.modules, 8);
    opened result = read_meta(&file);
    assert_int_equal(as_ds_context(result.ds, 8)->region, as_ds_context(result.ds, 2)->region);
    assert_int_equal(result.ds->regions.count, N_EXPECTED - 1);
    close_meta(&result);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

typedef struct damage {
    const char *rule, *words;
    uint64_t at, value;
    unsigned bytes;
} damage;

static void damages(void **state) {
    (void)state;
    meta_file whole;
    meta_make(&whole, false);
    uint64_t far = whole.size + 4096;
    const damage all[] = {
        {"wrong-magic", "HPCTOOLKITmeta", 0, 'X', 1},
        {"unknown-version", "version 5.0; version 4 is known", 14, 5, 1},
        {"file-cut", "cut off", whole.size - 1, 'X', 1},
        {"outside-file", "Context", 0x48, far, 8},
        {"outside-file", "General", 0x10, UINT64_MAX, 8},
        {"outside-file", "metrics", whole.metrics, far, 8},
        {"outside-file", "4294967295 metrics", whole.metrics + 8, UINT32_MAX, 4},
        {"entry-size", "metrics of 0 bytes", whole.metrics + 0x0c, 0, 1},
        {"outside-file", "text", whole.metric, far, 8},
        {"outside-file", "scopes of a metric", whole.metric + 0x08, far, 8},
        {"outside-file", "statistics of a metric", whole.metric + 0x10, UINT64_MAX - 7, 8},
        {"pointer", "no scope begins", whole.instances, whole.scopes + 1, 8},
        {"pointer", "no scope begins", whole.summaries, 0, 8},
        {"text-end", "does not end", whole.functions, whole.size - 1, 8},
        {"pointer", "no module", whole.functions + 0x08, whole.modules + 16, 8},
        {"pointer", "no file", whole.functions + 0x18, whole.files + 8, 8},
        {"entry-size", "entry points of 31 bytes", whole.contexts + 0x0a, 31, 1},
        {"outside-file", "children", whole.entries + 8, far, 8},
        {"outside-file", "children", whole.entries, 1ull << 63, 8},
        {"context-size", "beyond the end", whole.entries, 33, 8},
        {"context-size", "do not fit into its 2 words", whole.context_at[3] + 0x14, 6, 1},
        {"pointer", "no function", whole.context_at[2] + 0x20, whole.files, 8},
        {"context-id", "context 3 is in the tree already", whole.context_at[7] + 0x10, 3, 4},
        {"context-id", "context 0 is in the tree already", whole.entries + 0x10, 0, 4},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        meta_file file = whole;
        meta_put(&file, all[i].at, all[i].value, all[i].bytes);
        assert_meta_refused(&file, all[i].rule, all[i].words);
    }
}

static void circles(void **state) {
    (void)state;
    meta_file file;
    meta_make(&file, false);
    uint64_t line = file.context_at[3], at = as_meta_u64(&(as_meta){.data = file.data}, file.context_at[2] + 8),
             size = as_meta_u64(&(as_meta){.data = file.data}, file.context_at[2]);
    meta_put(&file, line, size, 8); /* the line is its own child */
    meta_put(&file, line + 8, at, 8);
    assert_meta_refused(&file, "context-id", "context 3 is in the tree already");
    /* Who wants to hear everything does not walk in the circle. */
    opened result = read_with(file.data, file.size, true);
    assert_int_equal(result.status, ASSAY_OK);
    assert_true(count_problems(result.ds, "context-id", NULL) >= 1);
    close_meta(&result);
    meta_make(&file, false);
    for (unsigned id = 2; id <= 8; id++) { /* all of it is each one's child */
        meta_put(&file, file.context_at[id], file.context_at[8] + 0x28 - file.context_at[2], 8);
        meta_put(&file, file.context_at[id] + 8, file.context_at[2], 8);
    }
    result = read_with(file.data, file.size, true);
    assert_int_equal(result.status, ASSAY_E_FORMAT);
    assert_string_equal(result.error.rule, "circle");
    close_meta(&result);
}

/* Whatever the length, it ends in an error; and with the footer in place, in an error as well, unless only padding is
 * missing. */
static void truncations(void **state) {
    (void)state;
    for (int draft = 0; draft < 2; draft++) {
        meta_file whole;
        meta_make(&whole, draft);
        for (size_t size = 0; size < whole.size; size++) {
            unsigned char *bytes = malloc(size + 8);
            memcpy(bytes, whole.data, size);
            memcpy(bytes + size, "_meta.db", 8);
            unsigned char *cut = malloc(size ? size : 1); /* exactly as long, so that reading on is noticed */
            memcpy(cut, whole.data, size);
            opened result = read_with(cut, size, false);
            assert_int_equal(result.status, ASSAY_E_FORMAT);
            close_meta(&result);
            unsigned char *footed = malloc(size + 8);
            memcpy(footed, bytes, size + 8);
            result = read_with(footed, size + 8, false);
            assert_true(result.status == ASSAY_E_FORMAT || size + 16 > whole.size);
            close_meta(&result);
            free(bytes);
            free(cut);
            free(footed);
        }
    }
}

/* ---- metrics.h --------------------------------------------------------------------------------------------------- */

static void units(void **state) {
    (void)state;
    static const struct {
        const char *name, *unit;
    } all[] = {{"CPUTIME (sec)", "sec"},
               {"CPUTIME (usec):Sum", "usec"},
               {"GMEM:UNK (B)", "B"},
               {"cycles", NULL},
               {"f(x)", NULL},
               {"a (b) c", NULL},
               {"a (b) (c)", "c"},
               {"(b)", NULL},
               {"a (b):Sum of", NULL},
               {"a ()", ""},
               {"a )", NULL},
               {"", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t size = 0;
        const char *unit = as_hpc_unit(all[i].name, &size);
        if (!all[i].unit)
            assert_null(unit);
        else if (!unit || size != strlen(all[i].unit) || memcmp(unit, all[i].unit, size) != 0)
            fail_msg("the unit of %s", all[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_of_the_tree),
        cmocka_unit_test(contexts_of_a_draft),
        cmocka_unit_test(metrics_and_their_sides),
        cmocka_unit_test(names_of_the_database),
        cmocka_unit_test(odd_things_are_kept),
        cmocka_unit_test(an_id_of_two_metrics),
        cmocka_unit_test(regions_are_shared),
        cmocka_unit_test(damages),
        cmocka_unit_test(circles),
        cmocka_unit_test(truncations),
        cmocka_unit_test(units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
