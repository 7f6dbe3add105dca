#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cube_files.h"
#include "dataset/formulas.h"

/* A file with nothing but this description. */
static as_dataset *read_anchor(const char *text) {
    archive file = begin_archive();
    add_text(&file, "anchor.xml", text);
    return read_archive(&file);
}

/* Frees text. */
static void assert_anchor_refused(char *text, const char *rule, uint32_t line, const char *words) {
    archive file = begin_archive();
    add_text(&file, "anchor.xml", text);
    size_t size;
    const char *bytes = end_archive(&file, &size);
    as_read_config config = {.format = "cube"};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", bytes, size, &config, &ds, &error) == ASSAY_OK) fail_msg("accepted: %s", text);
    assert_int_equal(error.code, ASSAY_E_FORMAT);
    if (strcmp(error.rule, rule) != 0 || error.line != line || !strstr(error.message, words) ||
        strncmp(error.message, "anchor.xml: ", 12) != 0)
        fail_msg("%s\nexpected %s in line %u, got %s in line %u: %s", text, rule, line, error.rule, error.line,
                 error.message);
    assert_string_equal(error.path, "input");
    /* Who wants to hear everything gets a dataset, with the error as a problem. */
    config.keep_going = true;
    assert_int_equal(as_read_memory("input", bytes, size, &config, &ds, &error), ASSAY_OK);
    assert_true(count_problems(ds, rule, NULL) >= 1);
    as_dataset_free(ds);
    as_output_discard(file.out);
    free(text);
}

static const char *text_of(const as_dataset *ds, as_str text) {
    return text == AS_NO_STR ? "NULL" : as_ds_text(ds, text);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

#define ALL_OF(metrics, program, system)                                                                               \
    "<?xml version=\"1.0\"?>\n<cube version=\"4.7\"><metrics>" metrics "</metrics><program>" program                   \
    "</program><system>" system "</system></cube>"

static void metrics_in_document_order(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF(
        "<metric id='3' type='INCLUSIVE' viztype='GHOST' convertible='false'><disp_name>Time &amp; more</disp_name>"
        "<uniq_name>time</uniq_name><dtype> DOUBLE\n</dtype><uom>sec</uom><url>@mirror@x#y</url><descr>Total</descr>"
        "<metric id='0'><disp_name></disp_name><uniq_name>mpi</uniq_name><dtype>INT64</dtype><url></url>"
        "<attr key='origin' value='here'/><attr key='url' value='there'/></metric></metric>"
        "<metric id='1' type='POSTDERIVED'><uniq_name>d</uniq_name><dtype>DOUBLE</dtype>"
        "<cubepl rowwise='false'>metric::time() &lt; 2</cubepl><cubeplinit>{ 1 }</cubeplinit>"
        "<cubeplaggr cubeplaggrtype='minus'>arg1</cubeplaggr></metric>"
        "<metric id='2' type='SIMPLE'><uniq_name>s</uniq_name><dtype>UINT8</dtype><val>7</val></metric>",
        "", ""));
    assert_int_equal(ds->metrics.count, 4);
    assert_string_equal(as_ds_text(ds, ds->format_version), "4.7");
    const as_metric *time = as_ds_metric(ds, 0), *mpi = as_ds_metric(ds, 1), *derived = as_ds_metric(ds, 2);
    assert_string_equal(text_of(ds, time->source_id), "3");
    assert_string_equal(text_of(ds, time->name), "time");
    assert_string_equal(text_of(ds, time->display_name), "Time & more");
    assert_string_equal(text_of(ds, time->dtype), "DOUBLE");
    assert_string_equal(text_of(ds, time->unit), "sec");
    assert_string_equal(text_of(ds, time->description), "Total");
    assert_int_equal(time->kind, AS_KIND_INCLUSIVE);
    assert_int_equal(time->parent, ASSAY_NONE);
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 0, "@viztype"), "GHOST");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 0, "@convertible"), "false");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 0, "url"), "@mirror@x#y");
    assert_null(find_attribute(ds, AS_OWNER_METRIC, 0, "@type"));
    assert_int_equal(mpi->parent, 0);
    assert_int_equal(mpi->kind, AS_KIND_EXCLUSIVE); /* no type says so */
    assert_string_equal(text_of(ds, mpi->display_name), "NULL");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 1, "origin"), "here");
    assert_null(find_attribute(ds, AS_OWNER_METRIC, 1, "url"));
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 1, "attr:url"), "there");
    assert_int_equal(derived->kind, AS_KIND_DERIVED);
    assert_int_equal(derived->parent, ASSAY_NONE);
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 2, "@type"), "POSTDERIVED");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 2, "cubepl"), "metric::time() < 2");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 2, "@cubepl:rowwise"), "false");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 2, "cubeplinit"), "{ 1 }");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 2, "cubeplaggr:minus"), "arg1");
    assert_int_equal(as_ds_metric(ds, 3)->kind, AS_KIND_INCLUSIVE); /* as CubeLib has it */
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 3, "@type"), "SIMPLE");
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 3, "val"), "7");
    as_dataset_free(ds);
}

#define DERIVED(id, type, formula)                                                                                     \
    "<metric id='" id "' type='" type "'><uniq_name>d" id "</uniq_name><dtype>DOUBLE</dtype><cubepl>" formula          \
    "</cubepl></metric>"

static void formulas_are_compiled(void **state) {
    (void)state;
    as_dataset *ds =
        read_anchor(ALL_OF(DERIVED("1", "POSTDERIVED", "2 * metric::d3()") DERIVED("2", "POSTDERIVED", "1 +")
                               DERIVED("3", "PREDERIVED_INCLUSIVE", "1") DERIVED("4", "PREDERIVED_EXCLUSIVE", "1"),
                           "", ""));
    static const as_derived_kind kinds[] = {AS_DERIVED_POST, AS_DERIVED_POST, AS_DERIVED_PRE_INCLUSIVE,
                                            AS_DERIVED_PRE_EXCLUSIVE};
    for (assay_id i = 0; i < 4; i++) {
        const as_derived *derived = as_ds_derived(ds, i);
        assert_non_null(derived);
        assert_int_equal(derived->kind, kinds[i]);
        assert_int_equal(derived->is_usable, i != 1);
    }
    assert_int_equal(count_problems(ds, "cubepl", NULL), 1);
    assert_non_null(strstr(as_ds_problem(ds, 0)->message, "1 +"));
    as_dataset_free(ds);
}

/* Values of unknown types are exclusive, as CubeLib takes them, and no formula gives them. */
static void types_of_metrics_that_nobody_knows(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF(DERIVED("1", "SIDEWAYS", "1") DERIVED("2", "PREDERIVED_UPWARDS", "1")
                                            DERIVED("3", "postderived", "1"),
                                        "", ""));
    assert_int_equal(as_ds_metric(ds, 0)->kind, AS_KIND_EXCLUSIVE);
    assert_int_equal(as_ds_metric(ds, 1)->kind, AS_KIND_EXCLUSIVE);
    assert_int_equal(as_ds_metric(ds, 2)->kind, AS_KIND_DERIVED);
    assert_string_equal(find_attribute(ds, AS_OWNER_METRIC, 1, "@type"), "PREDERIVED_UPWARDS");
    assert_int_equal(count_problems(ds, "metric-type", NULL), 2);
    assert_non_null(strstr(as_ds_problem(ds, 1)->message, "'PREDERIVED_UPWARDS'"));
    assert_null(as_ds_derived(ds, 1));
    assert_true(as_ds_derived(ds, 2)->is_usable);
    as_dataset_free(ds);
}

static void a_metric_without_a_name_gets_one(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF("<metric id='4'><disp_name>Time</disp_name><dtype>DOUBLE</dtype></metric>"
                                        "<metric id='5'><dtype>DOUBLE</dtype></metric>",
                                        "", ""));
    assert_string_equal(text_of(ds, as_ds_metric(ds, 0)->name), "Time");
    assert_string_equal(text_of(ds, as_ds_metric(ds, 1)->name), "5");
    assert_int_equal(count_problems(ds, "metric-name", NULL), 2);
    as_dataset_free(ds);
}

/* ---- program ----------------------------------------------------------------------------------------------------- */

static void regions_and_contexts(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF(
        "",
        "<region id='20' mod='a.c' begin='3' end='9'><name>main</name><mangled_name>_main</mangled_name>"
        "<paradigm>user</paradigm><role>function</role><url></url><descr>the one</descr><attr key='k' "
        "value='v'/></region>"
        "<region id='7' mod='' begin='-1' end='18446744073709551615'><name>f&lt;int&gt;</name></region>"
        "<cnode id='5' calleeId='20'><cnode id='2' calleeId='7' line='12' mod='b.c'>"
        "<parameter partype='numeric' parkey='i' parvalue='3'/><parameter partype='string' parkey='who' parvalue='me'/>"
        "<parameter parkey='@odd' parvalue='1'/><attr key='a' value='b'/></cnode>"
        "<cnode id='1' calleeId='7'/></cnode><cnode id='0' calleeId='20'></cnode>",
        ""));
    assert_int_equal(ds->regions.count, 2);
    const as_region *main_region = as_ds_region(ds, 0), *f = as_ds_region(ds, 1);
    assert_string_equal(text_of(ds, main_region->source_id), "20");
    assert_string_equal(text_of(ds, main_region->name), "main");
    assert_string_equal(text_of(ds, main_region->mangled), "_main");
    assert_string_equal(text_of(ds, main_region->kind), "function");
    assert_string_equal(text_of(ds, main_region->file), "a.c");
    assert_int_equal(main_region->line_begin, 3);
    assert_int_equal(main_region->line_end, 9);
    assert_string_equal(find_attribute(ds, AS_OWNER_REGION, 0, "paradigm"), "user");
    assert_string_equal(find_attribute(ds, AS_OWNER_REGION, 0, "descr"), "the one");
    assert_string_equal(find_attribute(ds, AS_OWNER_REGION, 0, "k"), "v");
    assert_null(find_attribute(ds, AS_OWNER_REGION, 0, "url"));
    assert_string_equal(text_of(ds, f->name), "f<int>");
    assert_string_equal(text_of(ds, f->file), "NULL");
    assert_int_equal(f->line_begin, -1);
    assert_int_equal(f->line_end, -1);
    static const struct {
        const char *id;
        assay_id parent;
        uint32_t subtree, depth;
        int64_t line;
    } expected[] = {{"5", ASSAY_NONE, 3, 0, -1}, {"2", 0, 1, 1, 12}, {"1", 0, 1, 1, -1}, {"0", ASSAY_NONE, 1, 0, -1}};
    assert_int_equal(ds->contexts.count, 4);
    for (assay_id i = 0; i < 4; i++) {
        const as_context *context = as_ds_context(ds, i);
        assert_string_equal(text_of(ds, context->source_id), expected[i].id);
        assert_int_equal(context->parent, expected[i].parent);
        assert_int_equal(context->subtree, expected[i].subtree);
        assert_int_equal(context->depth, expected[i].depth);
        assert_int_equal(context->line, expected[i].line);
        assert_string_equal(text_of(ds, context->name), i % 3 ? "f<int>" : "main");
    }
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "i"), "3");
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "partype:i"), "numeric");
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "who"), "me");
    assert_null(find_attribute(ds, AS_OWNER_CONTEXT, 1, "partype:who"));
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "parameter:@odd"), "1");
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "attr:a"), "b");
    assert_string_equal(find_attribute(ds, AS_OWNER_CONTEXT, 1, "@mod"), "b.c");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void regions_may_come_later(void **state) {
    (void)state;
    as_dataset *ds =
        read_anchor(ALL_OF("", "<cnode id='0' calleeId='1'/><region id='1'><name>late</name></region>", ""));
    assert_string_equal(text_of(ds, as_ds_context(ds, 0)->name), "late");
    assert_int_equal(as_ds_context(ds, 0)->region, 0);
    as_dataset_free(ds);
}

static void equal_ids_of_contexts_are_reported(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF(
        "", "<region id='1'><name>f</name></region><cnode id='0' calleeId='1'/><cnode id='0' calleeId='1'/>", ""));
    assert_int_equal(ds->contexts.count, 2);
    assert_int_equal(count_problems(ds, "cnode-id", NULL), 1);
    as_dataset_free(ds);
}

static void contexts_without_a_number_are_reported(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(ALL_OF("",
                                        "<region id='1'><name>f</name></region><cnode calleeId='1'/>"
                                        "<cnode id='one' calleeId='1'/><cnode id='-1' calleeId='1'/>",
                                        ""));
    assert_int_equal(ds->contexts.count, 3);
    assert_int_equal(as_ds_context(ds, 0)->source_id, AS_NO_STR);
    assert_string_equal(text_of(ds, as_ds_context(ds, 1)->source_id), "one");
    assert_int_equal(count_problems(ds, "cnode-id", NULL), 1);
    assert_non_null(strstr(as_ds_problem(ds, 0)->message, "3 cnodes have no number"));
    as_dataset_free(ds);
}

/* ---- system ------------------------------------------------------------------------------------------------------ */

/* "id kind name rank parent" for each location; leaves with a star. The caller frees it. */
static char *describe_locations(const as_dataset *ds) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (assay_id i = 0; i < ds->locations.count; i++) {
        const as_location *l = as_ds_location(ds, i);
        fprintf(out, "%s%s %s %s %d", l->leaf ? "*" : "", text_of(ds, l->source_id), text_of(ds, l->kind),
                text_of(ds, l->name), (int)l->rank);
        if (l->parent == ASSAY_NONE)
            fputs("\n", out);
        else
            fprintf(out, " in %u\n", l->parent);
    }
    fclose(out);
    return text;
}

static void assert_locations(const as_dataset *ds, const char *expected) {
    char *text = describe_locations(ds);
    assert_string_equal(text, expected);
    free(text);
}

static void leaves_are_in_order_of_their_id(void **state) {
    (void)state;
    as_dataset *ds = read_anchor(
        ALL_OF("", "",
               "<systemtreenode Id='0'><name>M</name><class>machine</class><attr key='platform' value='Linux'/>"
               "<systemtreenode Id='1'><name>N</name><class>node</class>"
               "<locationgroup Id='0'><name>P 0</name><rank>0</rank><type>process</type>"
               "<location Id='7'><name>t</name><rank>1</rank><type>gpu</type><attr key='x' value='seven'/></location>"
               "<location Id='0'><name>s</name><rank>0</rank></location>"
               "<locationgroup Id='2'><name>inner</name><location Id='3'><rank>one</rank></location></locationgroup>"
               "</locationgroup></systemtreenode></systemtreenode>"
               "<systemtreenode Id='9'><name>Z</name></systemtreenode>"));
    assert_locations(ds, "0 machine M -1\n"
                         "1 node N -1 in 0\n"
                         "0 process P 0 0 in 1\n"
                         "2 process inner -1 in 2\n"
                         "9 NULL Z -1\n"
                         "*0 thread s 0 in 2\n"
                         "*3 thread  -1 in 3\n"
                         "*7 gpu t 1 in 2\n");
    assert_string_equal(find_attribute(ds, AS_OWNER_LOCATION, 0, "platform"), "Linux");
    assert_string_equal(find_attribute(ds, AS_OWNER_LOCATION, 7, "x"), "seven");
    assert_string_equal(find_attribute(ds, AS_OWNER_LOCATION, 6, "rank"), "one");
    as_dataset_free(ds);
}

static void old_words_for_the_system(void **state) {
    (void)state;
    as_dataset *ds =
        read_anchor(ALL_OF("", "",
                           "<machine Id='0'><name>M</name><descr>big</descr><node Id='0'><name>N</name>"
                           "<process Id='0'><name>P</name><rank>4</rank>"
                           "<thread Id='0'><name>T</name><rank>0</rank></thread></process></node></machine>"));
    assert_locations(ds, "0 machine M -1\n0 node N -1 in 0\n0 process P 4 in 1\n*0 thread T 0 in 2\n");
    assert_string_equal(find_attribute(ds, AS_OWNER_LOCATION, 0, "descr"), "big");
    as_dataset_free(ds);
}

/* Columns are the locations by their Id, gaps or not. */
static void columns_go_by_id(void **state) {
    (void)state;
    archive file = begin_archive();
    add_bytes(&file, "0.index", make_full_index(1));
    add_bytes(&file, "0.data", make_reals(false, 3, (double[]){1, 2, 3}));
    add_text(&file, "anchor.xml",
             ALL_OF(METRIC("0", "v", "DOUBLE", "EXCLUSIVE"),
                    "<region id='1'><name>f</name></region><cnode id='0' calleeId='1'/>",
                    "<systemtreenode Id='0'><locationgroup Id='0'><location Id='50'><name>c</name></location>"
                    "<location Id='4'><name>a</name></location><location Id='6'><name>b</name></location>"
                    "</locationgroup></systemtreenode>"));
    as_dataset *ds = read_archive(&file);
    as_slice slice;
    assert_int_equal(as_slice_open_all(ds, 0, 0, &slice, NULL), ASSAY_OK);
    assert_int_equal(slice.view.n_columns, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const as_location *location = as_ds_location(ds, slice.view.columns[i]);
        assert_string_equal(text_of(ds, location->name), ((const char *[]){"a", "b", "c"})[i]);
        assert_true(as_part_real(slice.view.type, slice.view.values + 8 * (size_t)i, 0) == i + 1);
    }
    as_slice_close(&slice);
    as_dataset_free(ds);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void nothing_is_lost(void **state) {
    (void)state;
    archive file = begin_archive();
    add_text(&file, "remapping.spec", "<metric/>\n");
    add_text(&file, "9.index", "");
    as_tar_add(file.tar, "core", "\0\1", 2);
    add_text(&file, "anchor.xml",
             "<cube version='4' more='yes'><attr key='Creator' value='me &amp; you'/><attr key='mirror' value='m'/>"
             "<doc><mirrors><murl>http://a</murl><murl>http://b</murl></mirrors><statistics name='x'>1 &lt; "
             "2</statistics></doc>"
             "<metrics title='Metrics'></metrics><program><hint a='1'><b/></hint></program>"
             "<system><topologies><cart name='c' ndims='1'><dim size='4' periodic='true'/><coord locId='0'>1</coord>"
             "</cart></topologies></system><future/></cube>");
    as_dataset *ds = read_archive(&file);
    static const struct {
        const char *key, *value;
    } expected[] = {
        {"@more", "yes"},
        {"Creator", "me & you"},
        {"attr:mirror", "m"},
        {"mirror", "http://a"},
        {"mirror", "http://b"},
        {"xml", "<statistics name=\"x\">1 &lt; 2</statistics>"},
        {"@metrics:title", "Metrics"},
        {"xml", "<hint a=\"1\"><b></b></hint>"},
        {"topologies", "<topologies><cart name=\"c\" ndims=\"1\"><dim size=\"4\" periodic=\"true\"/>"
                       "<coord locId=\"0\">1</coord></cart></topologies>"},
        {"xml", "<future></future>"},
        {"file:remapping.spec", "<metric/>\n"},
    };
    size_t n = sizeof expected / sizeof *expected;
    assert_int_equal(ds->attributes.count, n);
    for (size_t i = 0; i < n; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        assert_int_equal(attribute->owner, AS_OWNER_DATASET);
        assert_string_equal(as_ds_text(ds, attribute->key), expected[i].key);
        assert_string_equal(attribute->value.text, expected[i].value);
    }
    assert_int_equal(count_problems(ds, "other-file", NULL), 2); /* 9.index and core */
    as_dataset_free(ds);
}

static void a_document_packed_by_gzip(void **state) {
    (void)state;
    static const char text[] = ALL_OF("<metric id='1'><uniq_name>x</uniq_name><dtype>INT8</dtype></metric>", "", "");
    char packed[1000];
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(6);
    size_t size = libdeflate_gzip_compress(packer, text, sizeof text - 1, packed, sizeof packed);
    libdeflate_free_compressor(packer);
    archive file = begin_archive();
    as_tar_add(file.tar, "anchor.xml", packed, size);
    as_dataset *ds = read_archive(&file);
    assert_int_equal(ds->metrics.count, 1);
    as_dataset_free(ds);
    /* Cut off. */
    file = begin_archive();
    as_tar_add(file.tar, "anchor.xml", packed, size - 12);
    const char *bytes = end_archive(&file, &size);
    as_read_config config = {.format = "cube"};
    assay_error error;
    assert_int_equal(as_read_memory("input", bytes, size, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "gzip-damaged");
    assert_string_equal(error.path, "input");
    assert_string_equal(error.message, "anchor.xml: the gzip data is damaged: it is cut off");
    as_output_discard(file.out);
}

static void deep_trees_need_no_stack(void **state) {
    (void)state;
    enum { DEPTH = 60000 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("<cube><program><region id='0'><name>f</name></region>", out);
    for (unsigned i = 0; i < DEPTH; i++) fprintf(out, "<cnode id='%u' calleeId='0'>", i);
    for (unsigned i = 0; i < DEPTH; i++) fputs("</cnode>", out);
    fputs("</program></cube>", out);
    fclose(out);
    as_dataset *ds = read_anchor(text);
    assert_int_equal(ds->contexts.count, DEPTH);
    assert_int_equal(as_ds_context(ds, DEPTH - 1)->depth, DEPTH - 1);
    assert_int_equal(as_ds_context(ds, 0)->subtree, DEPTH);
    as_dataset_free(ds);
    free(text);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    assert_anchor_refused(strdup(""), "xml-damaged", 1, "not well-formed");
    assert_anchor_refused(strdup("<cube>\n<metrics></cube>"), "xml-damaged", 2, "mismatched");
    assert_anchor_refused(strdup("<html></html>"), "not-cube", 1, "<html>");
    assert_anchor_refused(strdup("<!DOCTYPE c [<!ENTITY a 'x'>]><cube>&a;</cube>"), "xml-entities", 1, "");
    assert_anchor_refused(strdup(ALL_OF("<metric id='x'/>", "", "")), "metric-id", 2, "'x'");
    assert_anchor_refused(strdup(ALL_OF("<metric/>", "", "")), "metric-id", 2, "no number");
    assert_anchor_refused(strdup(ALL_OF("<metric id='1'/><metric id='01'/>", "", "")), "metric-id", 2, "two metrics");
    assert_anchor_refused(strdup(ALL_OF("", "<region id='1'/><region id='1'/>", "")), "region-id", 2, "two regions");
    assert_anchor_refused(strdup(ALL_OF("", "<region/>", "")), "region-id", 2, "no number");
    assert_anchor_refused(strdup(ALL_OF("", "<region id='1'><cnode calleeId='1'/></region>", "")), "program", 2,
                          "inside a region");
    assert_anchor_refused(strdup(ALL_OF("", "<cnode id='4' calleeId='9'/>", "")), "unknown-region", 2,
                          "cnode 4 calls region 9");
    assert_anchor_refused(strdup(ALL_OF("", "<cnode id='4'/>", "")), "unknown-region", 2, "calleeId");
    assert_anchor_refused(strdup(ALL_OF("", "", "<location Id='0'/>")), "system-tree", 2, "belongs to nothing");
    assert_anchor_refused(strdup(ALL_OF("", "", "<machine><thread Id='0'><thread Id='1'/></thread></machine>")),
                          "system-tree", 2, "inside a location");
    assert_anchor_refused(strdup(ALL_OF("", "", "<machine><thread/></machine>")), "location-id", 2, "without an Id");
    assert_anchor_refused(strdup(ALL_OF("", "", "<machine><thread Id='1'/><thread Id='1'/></machine>")), "location-id",
                          0, "the Id 1");
}

/* More than the document can have and the memory should pay for. */
static void too_deep_trees_are_refused(void **state) {
    (void)state;
    enum { DEPTH = 70000 };
    char *text = malloc(40 + 20 * DEPTH), *at = stpcpy(text, "<cube><program><region id='0'/>");
    for (unsigned i = 0; i < DEPTH; i++) at = stpcpy(at, "<cnode calleeId='0'>");
    assert_anchor_refused(text, "xml-depth", 1, "too deep");
}

static void archives_without_a_description(void **state) {
    (void)state;
    static const struct {
        const char *member, *words;
    } cases[] = {{"0.index", "no anchor.xml"}, {"sub/anchor.xml", "below a directory"}};
    for (size_t i = 0; i < 2; i++) {
        archive file = begin_archive();
        add_text(&file, cases[i].member, "<cube/>");
        size_t size;
        const char *bytes = end_archive(&file, &size);
        as_read_config config = {.format = "cube"};
        as_dataset *ds = NULL;
        assay_error error;
        assert_int_equal(as_read_memory("input", bytes, size, &config, &ds, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, "no-anchor");
        assert_non_null(strstr(error.message, cases[i].words));
        as_output_discard(file.out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_in_document_order),
        cmocka_unit_test(formulas_are_compiled),
        cmocka_unit_test(types_of_metrics_that_nobody_knows),
        cmocka_unit_test(a_metric_without_a_name_gets_one),
        cmocka_unit_test(regions_and_contexts),
        cmocka_unit_test(regions_may_come_later),
        cmocka_unit_test(equal_ids_of_contexts_are_reported),
        cmocka_unit_test(contexts_without_a_number_are_reported),
        cmocka_unit_test(leaves_are_in_order_of_their_id),
        cmocka_unit_test(old_words_for_the_system),
        cmocka_unit_test(columns_go_by_id),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(a_document_packed_by_gzip),
        cmocka_unit_test(deep_trees_need_no_stack),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(too_deep_trees_are_refused),
        cmocka_unit_test(archives_without_a_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
