/* experiment.xml of both generations, without the files beside it. What is expected follows from the description of the
 * formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments.h"

/* ---- documents --------------------------------------------------------------------------------------------------- */

#define TABLES                                                                                                         \
    "<LoadModuleTable><LoadModule i=\"0\" n=\"&lt;unknown&gt;\"/><LoadModule i=\"1\" "                                 \
    "n=\"/bin/app\"/></LoadModuleTable>\n"                                                                             \
    "<FileTable><File i=\"0\" n=\"./src/a.c\"/><File i=\"7\" n=\"/usr/b.h\"/></FileTable>\n"                           \
    "<ProcedureTable><Procedure i=\"2\" n=\"main\" v=\"0x10\"/><Procedure i=\"3\" n=\"f\" v=\"0\"/>"                   \
    "<Procedure i=\"4\" n=\"&lt;root&gt;\" v=\"0\" f=\"1\"/></ProcedureTable>\n"
#define DOCUMENT(version, tables, tree)                                                                                \
    "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"" version                                                \
    "\">\n<Header n=\"a title\"><Info/></Header>\n"                                                                    \
    "<SecCallPathProfile i=\"0\" n=\"a title\">\n<SecHeader>\n" tables "<Info/>\n</SecHeader>\n"                       \
    "<SecCallPathProfileData>\n" tree "</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n"
#define TREE_4(tree) DOCUMENT("4.0", TABLES, tree)
#define TREE_2(tree) DOCUMENT("2.2", TABLES, tree)

/* ---- what was read, in words ------------------------------------------------------------------------------------- */

static const char *text_of(const as_dataset *ds, as_str text) { return text == AS_NO_STR ? "-" : as_ds_text(ds, text); }

static const char *id_of(const as_dataset *ds, assay_id context, char digits[AS_NUMBER_SIZE]) {
    const char *id = as_context_source_id(ds, context, digits);
    return id ? id : "-";
}

/* "ID(PARENT) NAME" for each context; then '/' for call sites, '.' for pieces, '~' for what was inlined, and ":LINE"
 * where it was called. */
static void describe(const as_dataset *ds, char *out, size_t size) {
    size_t n = 0;
    out[0] = 0;
    for (assay_id i = 0; i < ds->contexts.count && n < size; i++) {
        const as_context *context = as_ds_context(ds, i);
        char digits[2][AS_NUMBER_SIZE];
        const char *parent = context->parent == ASSAY_NONE ? "" : id_of(ds, context->parent, digits[0]);
        n += (size_t)snprintf(out + n, size - n, "%s(%s) %s%s%s", id_of(ds, i, digits[1]), parent,
                              text_of(ds, context->name),
                              context->role == AS_ROLE_CALL_SITE ? "/"
                              : context->role == AS_ROLE_INNER   ? "."
                                                                 : "",
                              context->is_inlined ? "~" : "");
        if (context->line >= 0 && n < size) n += (size_t)snprintf(out + n, size - n, ":%d", (int)context->line);
        if (n < size) n += (size_t)snprintf(out + n, size - n, "\n");
    }
}

static void read_document(experiment *e, const char *document, bool is_2x) {
    if (open_experiment(e, document, strlen(document), is_2x, 0, false) != ASSAY_OK)
        fail_msg("%u:%u: %s (%s)", e->error.line, e->error.column, e->error.message, e->error.rule);
}

static void assert_tree(const char *document, bool is_2x, const char *expected) {
    experiment e;
    char words[4000];
    read_document(&e, document, is_2x);
    describe(e.ds, words, sizeof words);
    assert_string_equal(words, expected);
    close_experiment(&e);
}

static void assert_refused(const char *document, bool is_2x, const char *rule, const char *at) {
    experiment e;
    if (open_experiment(&e, document, strlen(document), is_2x, 0, false) == ASSAY_OK)
        fail_msg("accepted: %s", document);
    const char *place = strstr(document, at);
    uint32_t line = 1, column = 1;
    for (const char *c = document; c < place; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    if (strcmp(e.error.rule, rule) != 0 || e.error.line != line || e.error.column != column)
        fail_msg("%s\nexpected %s at %u:%u, got %s at %u:%u: %s", document, rule, line, column, e.error.rule,
                 e.error.line, e.error.column, e.error.message);
    close_experiment(&e);
}

static size_t count_problems(const as_dataset *ds, const char *rule) {
    size_t n = 0;
    for (size_t i = 0; i < ds->problems.count; i++) n += strcmp(as_ds_problem(ds, i)->rule, rule) == 0;
    return n;
}

/* The attribute's number, or -1; a text's first character. */
static int64_t attribute_of(const as_dataset *ds, as_owner owner, assay_id id, const char *key) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner != owner || attribute->owner_id != id || strcmp(as_ds_text(ds, attribute->key), key) != 0)
            continue;
        return attribute->value.type == AS_CELL_TEXT ? attribute->value.text[0] : attribute->value.i;
    }
    return -1;
}

static assay_id context_of(const as_dataset *ds, const char *source_id) {
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        char digits[AS_NUMBER_SIZE];
        if (strcmp(id_of(ds, i, digits), source_id) == 0) return i;
    }
    return ASSAY_NONE;
}

/* ---- trees of 4.0 ------------------------------------------------------------------------------------------------ */

static void wrappers_of_late_2021_have_negated_ids(void **state) {
    (void)state;
    assert_tree(
        TREE_4("<PF i=\"1\" n=\"4\" s=\"4\" f=\"7\" l=\"0\">\n<C i=\"-1\" s=\"4\" v=\"0\" f=\"7\" l=\"0\" it=\"1\">\n"
               "<PF i=\"2\" s=\"2\" n=\"2\" v=\"0x10\" f=\"0\" l=\"5\" lm=\"1\">\n"
               "<L i=\"3\" s=\"6\" v=\"0\" f=\"0\" l=\"30\">\n<S i=\"4\" it=\"4\" f=\"0\" l=\"31\" s=\"7\" v=\"0\"/>\n"
               "<C i=\"-5\" it=\"5\" s=\"19\" v=\"0\" f=\"0\" l=\"33\">\n<PF i=\"5\" s=\"3\" n=\"3\" v=\"0\" f=\"7\" "
               "l=\"10\" lm=\"1\">\n"
               "<S i=\"6\" it=\"6\" l=\"11\" s=\"22\" v=\"0\"/>\n</PF>\n</C>\n</L>\n"
               "<C i=\"8\" s=\"39\"  f=\"0\" l=\"40\" v=\"0x1651e\" it=\"8\">\n<PF i=\"9\" s=\"3\" n=\"3\" v=\"0\" "
               "f=\"7\" l=\"10\" lm=\"1\"/>\n</C>\n"
               "</PF>\n</C>\n</PF>\n"),
        false,
        "0() <root>\n1(0) <root>\n2(1) main\n3(2) loop at ./src/a.c:30.\n4(3) line ./src/a.c:31.\n5(3) f~:33\n"
        "6(5) line /usr/b.h:11.\n8(2) call ./src/a.c:40/:40\n9(8) f:40\n");
}

static void early_2021_repeats_ids(void **state) {
    (void)state;
    /* <PF i=k><C i=k>; a call from a line has the line's id; inlined calls <C i=k><PF i=k> */
    assert_tree(TREE_4("<PF i=\"1\" n=\"4\" s=\"4\" f=\"7\" l=\"0\"><C i=\"1\" it=\"1\" l=\"0\"><PF i=\"2\" n=\"2\" "
                       "s=\"2\" f=\"0\" l=\"5\">"
                       "<S i=\"3\" it=\"3\" l=\"6\" s=\"9\"/><C i=\"3\" it=\"30\" l=\"6\" s=\"9\"><PF i=\"4\" n=\"3\" "
                       "s=\"3\" f=\"0\" l=\"10\"/></C>"
                       "<C i=\"5\" v=\"0\" l=\"8\"><PF i=\"5\" n=\"3\" s=\"3\" f=\"0\" l=\"10\"/></C></PF></C></PF>"),
                false, "0() <root>\n1(0) <root>\n2(1) main\n3(2) line ./src/a.c:6.\n4(3) f:6\n5(2) f~:8\n");
}

static void samples_name_contexts_by_it(void **state) {
    (void)state;
    experiment e;
    read_document(&e,
                  TREE_4("<PF i=\"2\" n=\"2\" s=\"2\" f=\"0\"><S i=\"3\" it=\"30\" l=\"6\"/><S i=\"4\" it=\"30\" "
                         "l=\"7\"/><S i=\"5\" it=\"5\" l=\"8\"/>"
                         "<S i=\"6\" it=\"4000000000\" l=\"9\"/></PF>"),
                  false);
    const as_hpc_ids *ids = &e.xml->contexts;
    assert_int_equal(e.new_ids[as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, 30)],
                     context_of(e.ds, "3")); /* the first that says so */
    assert_int_equal(e.new_ids[as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, 5)], context_of(e.ds, "5"));
    assert_int_equal(e.new_ids[as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, 4000000000)], context_of(e.ds, "6"));
    assert_int_equal(as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, 3), ASSAY_NONE);
    assert_int_equal(as_hpc_ids_get(ids, AS_HPC_OF_SAMPLES, 3999999999), ASSAY_NONE);
    assert_int_equal(attribute_of(e.ds, AS_OWNER_CONTEXT, context_of(e.ds, "3"), "trace_id"), 30);
    assert_int_equal(attribute_of(e.ds, AS_OWNER_CONTEXT, context_of(e.ds, "5"), "trace_id"), -1);
    close_experiment(&e);
}

static void regions_are_shared_and_keep_what_the_writer_needs(void **state) {
    (void)state;
    experiment e;
    read_document(&e,
                  TREE_4("<PF i=\"1\" n=\"4\" s=\"4\" f=\"7\" l=\"0\"><S i=\"-1\" s=\"4\" it=\"1\"/></PF>"
                         "<PF i=\"2\" n=\"2\" s=\"2\" v=\"0x10\" f=\"0\" l=\"5\" lm=\"1\"><S i=\"3\" s=\"9\" "
                         "l=\"6\"/><C i=\"-2\" s=\"2\" l=\"0\"/></PF>"
                         "<PF i=\"4\" n=\"2\" s=\"2\" v=\"0x10\" f=\"0\" l=\"5\" lm=\"1\"><S i=\"5\" s=\"9\" "
                         "l=\"6\"/><S i=\"6\" s=\"10\" l=\"6\"/></PF>"),
                  false);
    const as_dataset *ds = e.ds;
    const as_context *first = as_ds_context(ds, context_of(ds, "2")), *again = as_ds_context(ds, context_of(ds, "4"));
    assert_int_equal(first->region, again->region);
    assert_int_equal(as_ds_context(ds, context_of(ds, "3"))->region, as_ds_context(ds, context_of(ds, "5"))->region);
    assert_int_not_equal(as_ds_context(ds, context_of(ds, "6"))->region,
                         as_ds_context(ds, context_of(ds, "5"))->region);
    const as_region *region = as_ds_region(ds, first->region);
    assert_string_equal(text_of(ds, region->kind), "function");
    assert_string_equal(text_of(ds, region->file), "./src/a.c");
    assert_string_equal(text_of(ds, region->module), "/bin/app");
    assert_int_equal(region->line_begin, 5);
    assert_int_equal(attribute_of(ds, AS_OWNER_REGION, first->region, "offset"), 16);
    assert_int_equal(attribute_of(ds, AS_OWNER_REGION, first->region, "static_id"), 2);
    assert_int_equal(attribute_of(ds, AS_OWNER_REGION, first->region, "class"), -1);
    assert_int_equal(attribute_of(ds, AS_OWNER_REGION, as_ds_context(ds, context_of(ds, "1"))->region, "class"), 1);
    assert_int_equal(attribute_of(ds, AS_OWNER_CONTEXT, context_of(ds, "1"), "wrapper"), 'S');
    assert_int_equal(attribute_of(ds, AS_OWNER_CONTEXT, context_of(ds, "2"), "wrapper"), 'C');
    assert_int_equal(attribute_of(ds, AS_OWNER_CONTEXT, context_of(ds, "4"), "wrapper"), -1);
    assert_int_equal(attribute_of(ds, AS_OWNER_DATASET, 0, "title"), 'a');
    assert_int_equal(attribute_of(ds, AS_OWNER_DATASET, 0, "source"), '.');
    close_experiment(&e);
}

static void odd_ids_make_no_circle(void **state) {
    (void)state;
    /* A context below itself stays where it first was, and what hangs below it hangs there */
    assert_tree(
        TREE_4(
            "<PF i=\"1\" n=\"2\"><PF i=\"2\" n=\"3\"><PF i=\"1\" n=\"3\"><S i=\"9\" l=\"1\" "
            "f=\"0\"/></PF></PF></PF><PF i=\"2\" n=\"2\"><PF i=\"0\" n=\"2\"><S i=\"8\" l=\"2\" f=\"0\"/></PF></PF>"),
        false, "0() <root>\n1(0) main\n2(1) f\n9(1) line ./src/a.c:1.\n8(0) line ./src/a.c:2.\n");
    /* a wrapper whose partner never comes, and one whose partner comes late */
    assert_tree(TREE_4("<C i=\"-3\" l=\"4\" f=\"0\"><S i=\"4\" l=\"5\"/></C><C i=\"-5\" l=\"6\" f=\"0\"/><PF i=\"5\" "
                       "n=\"3\" f=\"0\"/>"),
                false, "0() <root>\n3(0) call ./src/a.c:4/:4\n4(3) line ./src/a.c:5.\n5(0) f\n");
    /* far apart */
    assert_tree(TREE_4("<PF i=\"4294967295\" n=\"2\"><PF i=\"77777777\" n=\"3\"/><C i=\"-4294967295\"/></PF>"), false,
                "0() <root>\n4294967295(0) main\n77777777(4294967295) f\n");
}

static void what_is_missing_is_named_by_its_number(void **state) {
    (void)state;
    assert_tree(TREE_4("<PF i=\"1\" n=\"99\"><L i=\"2\" l=\"3\" f=\"98\"><S i=\"3\" l=\"4\"/></L></PF><PF i=\"4\" "
                       "s=\"3\"/><PF i=\"5\"/>"),
                false, "0() <root>\n1(0) 99\n2(1) loop at 98:3.\n3(2) line 98:4.\n4(0) f\n5(0) <unknown procedure>\n");
}

static void bad_trees_are_refused_with_their_place(void **state) {
    (void)state;
    assert_refused(TREE_4("<PF i=\"1\" n=\"2\">\n<S i=\"one\"/></PF>"), false, "not-a-number", "one\"");
    assert_refused(TREE_4("<PF i=\"\" n=\"2\"/>"), false, "not-a-number", "\" n=\"2\"/>");
    assert_refused(TREE_4("<PF i=\"4294967296\" n=\"2\"/>"), false, "not-a-number", "4294967296");
    assert_refused(TREE_4("<PF i=\"99999999999999999999\" n=\"2\"/>"), false, "not-a-number", "99999999999999999999");
    assert_refused(TREE_4("<PF i=\"--1\" n=\"2\"/>"), false, "not-a-number", "--1");
    assert_refused(TREE_4("<PF i=\"1\" n=\"2\" it=\"-1\"/>"), false, "not-a-number", "-1");
    assert_refused(TREE_4("<PF i=\"1\" n=\"2\" l=\"x\"/>"), false, "not-a-number", "x\"/>");
    assert_refused(TREE_4("<PF n=\"2\"/>"), false, "no-id", "<PF n");
    assert_refused(TREE_4("<PF i=\"1\" n=\"2\"></C>"), false, "xml-damaged", "</C>");
    assert_refused(DOCUMENT("4.0", "<FileTable>\n<File i=\"1\"/></FileTable>", ""), false, "no-name", "<File i");
    assert_refused(DOCUMENT("5.0", TABLES, ""), false, "unknown-version", "5.0");
    assert_refused(DOCUMENT("3.0", TABLES, ""), false, "unknown-version", "3.0");
    assert_refused(DOCUMENT("2.2", TABLES, ""), false, "unknown-version", "2.2");
    assert_refused(DOCUMENT("4.0", TABLES, ""), true, "unknown-version", "4.0");
    assert_refused("<Other version=\"4.0\"/>", false, "root-element", "<Other");
    assert_refused("<HPCToolkitExperiment/>", false, "unknown-version", "<HPC");
    experiment e;
    static const char empty[] = "<HPCToolkitExperiment version=\"4.0\"><Header n=\"x\"/></HPCToolkitExperiment>";
    assert_int_equal(open_experiment(&e, empty, strlen(empty), false, 0, false), ASSAY_E_FORMAT);
    assert_string_equal(e.error.rule, "no-profile");
    close_experiment(&e);
}

static void all_that_is_bad_is_told_when_asked_to_go_on(void **state) {
    (void)state;
    experiment e;
    static const char document[] = TREE_4("<PF i=\"1\" n=\"2\"><S i=\"one\"/><S i=\"2\" l=\"two\" f=\"0\"/><Q "
                                          "i=\"3\"><S i=\"4\"/></Q><M n=\"1\" v=\"2\"/></PF>");
    assert_int_equal(open_experiment(&e, document, strlen(document), false, 0, true), ASSAY_OK);
    assert_int_equal(count_problems(e.ds, "not-a-number"), 2);
    assert_int_equal(count_problems(e.ds, "unknown-element"), 2);
    assert_int_equal(e.ds->contexts.count, 3); /* root, 1, 2 */
    close_experiment(&e);
}

static void other_minor_versions_are_read_with_a_note(void **state) {
    (void)state;
    experiment e;
    read_document(&e, DOCUMENT("4.3", TABLES, "<PF i=\"1\" n=\"2\"/>"), false);
    assert_int_equal(count_problems(e.ds, "unknown-version"), 1);
    assert_string_equal(text_of(e.ds, e.ds->format_version), "4.3");
    close_experiment(&e);
    read_document(&e, TREE_2(""), true);
    assert_int_equal(count_problems(e.ds, "unknown-version"), 0);
    close_experiment(&e);
}

static void cut_anywhere(void **state) {
    (void)state;
    static const char document[] = TREE_4("<PF i=\"1\" n=\"2\"><C i=\"-1\"><S i=\"2\" l=\"3\" f=\"0\"/></C></PF>\n");
    size_t whole = strlen(document) - 1; /* the last newline is not needed */
    for (size_t size = 0; size < whole; size++) {
        char *copy = malloc(size ? size : 1);
        experiment e;
        assert_non_null(copy);
        memcpy(copy, document, size);
        if (open_experiment(&e, copy, size, false, 0, false) != ASSAY_E_FORMAT) fail_msg("accepted %zu bytes", size);
        close_experiment(&e);
        free(copy);
    }
    experiment e;
    assert_int_equal(open_experiment(&e, document, whole, false, 0, false), ASSAY_OK);
    close_experiment(&e);
}

static void frames_a_million_deep(void **state) {
    (void)state;
    enum { DEPTH = 1000000 };
    static const char head[] = "<HPCToolkitExperiment version=\"4.0\"><SecCallPathProfile><SecCallPathProfileData>";
    static const char tail[] = "</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>";
    char *document = malloc(sizeof head + sizeof tail + (size_t)DEPTH * 32), *at = document;
    assert_non_null(document);
    at += sprintf(at, "%s", head);
    for (int i = 1; i <= DEPTH; i++) at += sprintf(at, "<PF i=\"%d\" n=\"f\">", i);
    for (int i = 0; i < DEPTH; i++) at += sprintf(at, "</PF>");
    at += sprintf(at, "%s", tail);
    experiment e;
    assert_int_equal(open_experiment(&e, document, (size_t)(at - document), false, 0, false), ASSAY_OK);
    assert_int_equal(e.ds->contexts.count, DEPTH + 1);
    assert_int_equal(as_ds_context(e.ds, DEPTH)->depth, DEPTH);
    assert_int_equal(e.ds->regions.count, 2);
    close_experiment(&e);
    assert_int_equal(open_experiment(&e, document, (size_t)(at - document), false, 1 << 20, false), ASSAY_E_NOMEM);
    close_experiment(&e);
    free(document);
}

/* ---- metrics of 4.0 ---------------------------------------------------------------------------------------------- */

#define VIEW(id, name, formula)                                                                                        \
    "<Metric i=\"" id "\" n=\"" name "\" md=\"what it is\" v=\"derived-incr\" t=\"inclusive\" show=\"1\">"             \
    "<MetricFormula t=\"view\" frm=\"" formula "\"/><Info><NV n=\"units\" v=\"events\"/></Info></Metric>\n"
#define METRICS_4(views, databases)                                                                                    \
    DOCUMENT("4.0", "<MetricTable>\n" views "</MetricTable><MetricDBTable>\n" databases "</MetricDBTable>\n", "")

static const as_hpc_statistic *statistic_of(const experiment *e, uint16_t id) {
    for (size_t i = 0; i < e->statistics.count; i++) {
        const as_hpc_statistic *statistic = &AS_AT(as_hpc_statistic, &e->statistics, i);
        if (statistic->id == id) return statistic;
    }
    return NULL;
}

static void statistics_are_what_the_formulas_say(void **state) {
    (void)state;
    experiment e;
    /* as writers of 2022 number them: the ids of the table repeat, formulas do not */
    read_document(&e,
                  METRICS_4(VIEW("2", "T (sec):PARTIAL:0 (I)", "") VIEW("-1", "T (sec):Sum (I)", "$5")
                                VIEW("-2", "T (sec):Sum (E)", "$4") VIEW("-3", "T (sec):Mean (I)", "($5/$2)")
                                    VIEW("-5", "T (sec):StdDev (I)", "sqrt((($8/$2)-(($5/$2)^2)))")
                                        VIEW("-7", "T (sec):CfVar (I)", "(sqrt((($8/$2)-(($5/$2)^2)))/($5/$2))")
                                            VIEW("-9", "T (sec):Min (I)", "$11") VIEW("-11", "T (sec):Max (I)", "$14")
                                                VIEW("-13", "Other:Sum (I)", "$20")
                                                    VIEW("-14", "T (sec):Max (E)", "$99999"),
                            "<MetricDB i=\"2\" n=\"T (sec) (I)\"/><MetricDB i=\"1\" n=\"T (sec) (E)\"/><MetricDB "
                            "i=\"7\" n=\"plain\"/>"),
                  false);
    const as_dataset *ds = e.ds;
    assert_int_equal(ds->metrics.count, 3);
    const as_metric *inclusive = as_ds_metric(ds, 0), *exclusive = as_ds_metric(ds, 1);
    assert_string_equal(text_of(ds, inclusive->name), "T (sec)");
    assert_string_equal(text_of(ds, inclusive->unit), "sec");
    assert_string_equal(text_of(ds, inclusive->source_id), "2");
    assert_string_equal(text_of(ds, inclusive->description), "what it is");
    assert_int_equal(inclusive->kind, AS_KIND_INCLUSIVE);
    assert_int_equal(inclusive->exclusive, 1);
    assert_true(inclusive->is_stored && exclusive->is_stored);
    assert_int_equal(exclusive->kind, AS_KIND_EXCLUSIVE);
    assert_int_equal(exclusive->part_of, 0);
    assert_int_equal(as_ds_metric(ds, 2)->part_of, ASSAY_NONE);
    assert_int_equal(e.statistics.count, 6);
    const struct {
        uint16_t id;
        assay_id metric;
        const char *name;
    } expected[] = {{5, 0, "sum"}, {4, 1, "sum"}, {2, 0, "count"}, {8, 0, "sumsq"}, {11, 0, "min"}, {14, 0, "max"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const as_hpc_statistic *statistic = statistic_of(&e, expected[i].id);
        assert_non_null(statistic);
        assert_int_equal(statistic->metric, expected[i].metric);
        assert_string_equal(statistic->name, expected[i].name);
    }
    close_experiment(&e);
}

static void shifted_ids_of_early_2021(void **state) {
    (void)state;
    experiment e;
    read_document(&e,
                  METRICS_4(VIEW("766", "T:Sum (I)", "$512") VIEW("767", "T:Mean (I)", "$512/$513")
                                VIEW("510", "T:Sum (E)", "$256"),
                            "<MetricDB i=\"2\" n=\"T (I)\"/><MetricDB i=\"1\" n=\"T (E)\"/>"),
                  false);
    assert_int_equal(e.statistics.count, 3);
    assert_string_equal(statistic_of(&e, 513)->name, "count");
    assert_int_equal(statistic_of(&e, 256)->metric, 1);
    assert_int_equal(AS_AT(as_hpc_metric, &e.metrics, 0).id, 2);
    close_experiment(&e);
}

static void an_id_for_two_metrics_is_one_metric(void **state) {
    (void)state;
    experiment e;
    read_document(
        &e,
        METRICS_4("", "<MetricDB i=\"2\" n=\"T (I)\"/><MetricDB i=\"2\" n=\"U (I)\"/><MetricDB i=\"3\" n=\"U (E)\"/>"),
        false);
    assert_int_equal(e.ds->metrics.count, 2);
    assert_int_equal(count_problems(e.ds, "metric-twice"), 1);
    assert_string_equal(text_of(e.ds, as_ds_metric(e.ds, 0)->name), "T");
    close_experiment(&e);
    assert_refused(METRICS_4("", "<MetricDB i=\"-1\" n=\"T (I)\"/>"), false, "metric-id", "<MetricDB i");
    assert_refused(METRICS_4("", "<MetricDB i=\"65536\" n=\"T (I)\"/>"), false, "metric-id", "<MetricDB i");
    assert_refused(METRICS_4("", "<MetricDB n=\"T (I)\"/>"), false, "no-name", "<MetricDB n");
}

/* ---- 2.x --------------------------------------------------------------------------------------------------------- */

static void trees_of_2x(void **state) {
    (void)state;
    assert_tree(TREE_2("<M n=\"0\" v=\"5\"/><PF i=\"2\" s=\"4\" l=\"0\" lm=\"1\" f=\"7\" n=\"4\"><C i=\"3\" s=\"500\" "
                       "l=\"27\"><PF i=\"4\" s=\"2\" l=\"19\" lm=\"1\" f=\"0\" n=\"2\">"
                       "<Pr i=\"5\" s=\"12\" l=\"9\" f=\"7\" n=\"3\" a=\"1\"><L i=\"6\" s=\"13\" l=\"10-14\"><S "
                       "i=\"7\" s=\"14\" l=\"11\" it=\"99\"/></L></Pr>"
                       "<Pr i=\"8\" s=\"15\" l=\"20\" f=\"0\" n=\"\" a=\"1\"><S i=\"9\" l=\"21\"/></Pr>"
                       "</PF></C></PF>"),
                true,
                "1() <root>\n2(1) <root>\n3(2) call /usr/b.h:27/:27\n4(3) main:27\n5(4) f.~\n6(5) loop at "
                "/usr/b.h:10-14.\n7(6) line /usr/b.h:11.\n"
                "8(4) .\n9(8) line ./src/a.c:21.\n");
    /* names instead of ids, and no ids at all */
    assert_tree("<HPCToolkitExperiment version=\"2.0\"><SecCallPathProfile n=\"t\"><SecHeader/><SecCallPathProfileData>"
                "<PF n=\"main\" f=\"m.c\" lm=\"app\" l=\"1\"><S "
                "l=\"3\"/></PF></SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>",
                true, "1() <root>\n-(1) main\n-(-) line m.c:3.\n");
}

static void flat_profiles_of_2x(void **state) {
    (void)state;
    experiment e;
    read_document(&e,
                  "<HPCToolkitExperiment version=\"2.1\"><SecFlatProfile i=\"1\" "
                  "n=\"t\"><SecHeader><MetricTable><Metric i=\"0\" n=\"CYC\"/></MetricTable></SecHeader>"
                  "<SecFlatProfileData><M n=\"0\" v=\"6\"/><LM i=\"2\" n=\"/bin/app\"><F i=\"3\" n=\"a.c\"><P i=\"4\" "
                  "n=\"main\" l=\"5\">"
                  "<A i=\"5\" n=\"inner\" f=\"b.h\" l=\"1\"><S i=\"6\" l=\"2\"><M n=\"0\" v=\"4\"/></S></A><S i=\"7\" "
                  "l=\"6\"><M n=\"0\" v=\"2\"/></S></P></F></LM>"
                  "</SecFlatProfileData></SecFlatProfile></HPCToolkitExperiment>",
                  true);
    char words[1000];
    describe(e.ds, words, sizeof words);
    assert_string_equal(
        words, "1() <root>\n2(1) /bin/app\n3(2) a.c\n4(3) main\n5(4) inner.~\n6(5) line b.h:2.\n7(4) line a.c:6.\n");
    assert_true(e.xml->is_flat);
    const as_region *region = as_ds_region(e.ds, as_ds_context(e.ds, context_of(e.ds, "4"))->region);
    assert_string_equal(text_of(e.ds, region->module), "/bin/app");
    assert_string_equal(text_of(e.ds, region->file), "a.c");
    assert_int_equal(e.xml->values.count, 3);
    close_experiment(&e);
}

static void metrics_of_2x(void **state) {
    (void)state;
    experiment e;
    read_document(
        &e,
        DOCUMENT("2.2",
                 "<MetricTable><Metric i=\"4\" n=\"cycles:Sum (I)\" v=\"derived-incr\" t=\"inclusive\" partner=\"5\"/>"
                 "<Metric i=\"5\" n=\"cycles:Sum (E)\" v=\"derived-incr\" t=\"exclusive\" partner=\"4\"/>"
                 "<Metric i=\"6\" n=\"x (usec) (I)\" v=\"final\"/><Metric i=\"7\" n=\"raw one\" v=\"raw\" t=\"nil\"/>"
                 "<Metric i=\"8\" n=\"shown\" v=\"final\"/><Metric i=\"8\" n=\"again\" v=\"final\"/></MetricTable>"
                 "<MetricDBTable><MetricDB i=\"0\" n=\"cycles (I)\" t=\"inclusive\" partner=\"1\" db-id=\"0\"/>"
                 "<MetricDB i=\"1\" n=\"cycles (E)\" t=\"exclusive\" partner=\"0\" db-id=\"1\"/><MetricDB i=\"9\" "
                 "n=\"lost\"/></MetricDBTable>"
                 "<TraceDBTable><TraceDB i=\"0\" db-min-time=\"123\" u=\"1000\"/></TraceDBTable>",
                 "<M n=\"4\" v=\"2.5\"/><M n=\"5\" v=\"0\"/><M n=\"99\" v=\"1\"/>"),
        true);
    const as_dataset *ds = e.ds;
    const struct {
        const char *name;
        as_metric_kind kind;
        assay_id part_of, exclusive;
        bool is_stored;
    } expected[] = {{"cycles:Sum", AS_KIND_INCLUSIVE, ASSAY_NONE, 1, true},
                    {"cycles:Sum", AS_KIND_EXCLUSIVE, 0, ASSAY_NONE, true},
                    {"x (usec)", AS_KIND_INCLUSIVE, ASSAY_NONE, ASSAY_NONE, true},
                    {"raw one", AS_KIND_EXCLUSIVE, ASSAY_NONE, ASSAY_NONE, false},
                    {"shown", AS_KIND_INCLUSIVE, ASSAY_NONE, ASSAY_NONE, true},
                    {"again", AS_KIND_INCLUSIVE, ASSAY_NONE, ASSAY_NONE, true},
                    {"cycles", AS_KIND_INCLUSIVE, ASSAY_NONE, 7, true},
                    {"cycles", AS_KIND_EXCLUSIVE, 6, ASSAY_NONE, true},
                    {"lost", AS_KIND_EXCLUSIVE, ASSAY_NONE, ASSAY_NONE, false}};
    assert_int_equal(ds->metrics.count, sizeof expected / sizeof *expected);
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        assert_string_equal(text_of(ds, metric->name), expected[i].name);
        assert_int_equal(metric->kind, expected[i].kind);
        assert_int_equal(metric->part_of, expected[i].part_of);
        assert_int_equal(metric->exclusive, expected[i].exclusive);
        assert_int_equal(metric->is_stored, expected[i].is_stored);
    }
    assert_int_equal(e.columns.count, 2);
    assert_int_equal(AS_AT(as_hpc_column, &e.columns, 1).metric, 7);
    assert_int_equal(count_problems(ds, "metric-twice"), 1);
    assert_int_equal(count_problems(ds, "no-column"), 1);
    assert_int_equal(e.xml->values.count, 2); /* zeros are none */
    assert_true(e.xml->ticks_per_second == 1000);
    assert_int_equal(e.xml->start, 123);
    close_experiment(&e);
}

static void bad_values_of_2x(void **state) {
    (void)state;
    assert_refused(TREE_2("<PF i=\"2\" n=\"2\"><M n=\"1\" v=\"much\"/></PF>"), true, "not-a-number", "much");
    assert_refused(TREE_2("<PF i=\"2\" n=\"2\"><M v=\"1\"/></PF>"), true, "no-value", "<M v");
    assert_refused(TREE_2("<PF i=\"2\" n=\"2\"><M n=\"1\"/></PF>"), true, "no-value", "<M n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrappers_of_late_2021_have_negated_ids),
        cmocka_unit_test(early_2021_repeats_ids),
        cmocka_unit_test(samples_name_contexts_by_it),
        cmocka_unit_test(regions_are_shared_and_keep_what_the_writer_needs),
        cmocka_unit_test(odd_ids_make_no_circle),
        cmocka_unit_test(what_is_missing_is_named_by_its_number),
        cmocka_unit_test(bad_trees_are_refused_with_their_place),
        cmocka_unit_test(all_that_is_bad_is_told_when_asked_to_go_on),
        cmocka_unit_test(other_minor_versions_are_read_with_a_note),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(frames_a_million_deep),
        cmocka_unit_test(statistics_are_what_the_formulas_say),
        cmocka_unit_test(shifted_ids_of_early_2021),
        cmocka_unit_test(an_id_for_two_metrics_is_one_metric),
        cmocka_unit_test(trees_of_2x),
        cmocka_unit_test(flat_profiles_of_2x),
        cmocka_unit_test(metrics_of_2x),
        cmocka_unit_test(bad_values_of_2x),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
