/* Pairs of profiles made from the bytes: metrics of all types and kinds, derived ones too, call trees, locations and
 * odd numbers. Each must be read and obey what profile.h asks of one; together they must have differences, mergers and
 * means, and the difference of whole numbers adds up to that of the sums. */
#include <stdio.h>

#include "io/tar.h"
#include "profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Zeros when they are used up. */
typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static unsigned take(bytes *b, unsigned below) { return b->at < b->end ? *b->at++ % below : 0; }

#define CHOOSE(b, list) ((list)[take(b, sizeof(list) / sizeof *(list))])

static const char *const DTYPES[] = {"DOUBLE", "UINT64",     "INT64",       "INT8",        "UINT8",     "INT16",
                                     "UINT16", "INT32",      "UINT32",      "MINDOUBLE",   "MAXDOUBLE", "COMPLEX",
                                     "RATE",   "TAU_ATOMIC", "NDOUBLES(2)", "HISTOGRAM(2)"};
static const char *const KINDS[] = {"EXCLUSIVE", "INCLUSIVE", "POSTDERIVED", "PREDERIVED_EXCLUSIVE",
                                    "PREDERIVED_INCLUSIVE"};
enum { MOST_METRICS = 5, MOST_CONTEXTS = 16, MOST_LOCATIONS = 6, MOST_DEPTH = 4 };

typedef struct metric {
    as_value_type type;
    bool is_derived;
} metric;

typedef struct profile {
    metric metrics[MOST_METRICS];
    unsigned n_metrics, n_contexts, n_locations;
} profile;

/* ---- the description --------------------------------------------------------------------------------------------- */

/* An expression in prefix order, as deep as depth. */
static void write_expression(bytes *b, as_output *out, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " / ", " ^ ", " &lt; ", " == ", " and "};
    static const char *const functions[] = {"sqrt", "log", "exp", "abs", "pos", "neg", "floor", "ceil", "sgn", "not "};
    static const char *const values[] = {
        "1", "0", "-2.5", "1e300", "metric::m0()", "metric::m1()", "metric::m2(e)", "metric::m3(i)", "metric::m4(*,*)"};
    unsigned what = depth ? take(b, 8) : 7;
    if (what < 4) {
        as_output_text(out, "(");
        write_expression(b, out, depth - 1);
        as_output_text(out, CHOOSE(b, operators));
        write_expression(b, out, depth - 1);
        as_output_text(out, ")");
    } else if (what < 6) {
        as_output_printf(out, "%s(", CHOOSE(b, functions));
        write_expression(b, out, depth - 1);
        as_output_text(out, ")");
    } else if (what == 6) {
        as_output_text(out, "max(");
        write_expression(b, out, depth - 1);
        as_output_text(out, ", ");
        write_expression(b, out, depth - 1);
        as_output_text(out, ")");
    } else
        as_output_text(out, CHOOSE(b, values));
}

static void write_formula(bytes *b, as_output *out) {
    static const char *const sums[] = {"arg1 + arg2", "max(arg1, arg2)", "arg1 * arg2"};
    unsigned form = take(b, 4);
    as_output_text(out, "<cubepl>");
    if (form == 1) as_output_text(out, "{ ${a} = metric::m0(); if (${a} &gt; 1) { ${a} = 2; }; return ");
    if (form == 2) as_output_text(out, "{ ${i} = 0; while (${i} &lt; 5) { ${i} = ${i} + 1; }; return ${i} + ");
    write_expression(b, out, MOST_DEPTH);
    as_output_text(out, form == 1 || form == 2 ? "; }</cubepl>" : "</cubepl>");
    if (form == 3)
        as_output_printf(out, "<cubeplaggr cubeplaggrtype=\"%s\">%s</cubeplaggr>", take(b, 2) ? "aggr" : "plus",
                         CHOOSE(b, sums));
}

static void write_metrics(bytes *b, as_output *out, profile *p) {
    unsigned open = 0, first = take(b, MOST_METRICS);
    p->n_metrics = 1 + take(b, MOST_METRICS);
    as_output_text(out, "<metrics>");
    for (unsigned i = 0; i < p->n_metrics; i++) {
        const char *dtype = CHOOSE(b, DTYPES);
        unsigned kind = take(b, 5), form = take(b, 4);
        p->metrics[i].is_derived = kind >= 2;
        if (!as_value_type_parse(dtype, strlen(dtype), &p->metrics[i].type)) abort();
        as_output_printf(out, "<metric id='%u' type='%s'%s><uniq_name>m%u</uniq_name><dtype>%s</dtype>", i, KINDS[kind],
                         form & 1 ? " viztype='GHOST'" : "", (i + first) % MOST_METRICS, dtype);
        if (p->metrics[i].is_derived) write_formula(b, out);
        if (form == 2)
            open++;
        else
            as_output_text(out, "</metric>");
    }
    while (open--) as_output_text(out, "</metric>");
    as_output_text(out, "</metrics>");
}

static void write_program(bytes *b, as_output *out, profile *p) {
    static const char *const names[] = {"main", "a", "b", "a", "", "foo(int, std::vector&lt;int&gt;)"};
    unsigned open = 0;
    as_output_text(out, "<program>");
    for (unsigned i = 0; i < 6; i++)
        as_output_printf(out, "<region id='%u' mod='m%u' begin='%u' end='9'><name>%s</name></region>", i, i % 2, i,
                         names[i]);
    p->n_contexts = take(b, MOST_CONTEXTS + 1);
    for (unsigned i = 0; i < p->n_contexts; i++) {
        for (unsigned close = take(b, 4); close && open; close--, open--) as_output_text(out, "</cnode>");
        as_output_printf(out, "<cnode id='%u' calleeId='%u' line='%u'>", i, take(b, 6), take(b, 3));
        if (take(b, 4) == 3) as_output_text(out, "<parameter partype='numeric' parkey='n' parvalue='1'/>");
        open++;
    }
    while (open--) as_output_text(out, "</cnode>");
    as_output_text(out, "</program>");
}

static void write_system(bytes *b, as_output *out, profile *p) {
    p->n_locations = take(b, MOST_LOCATIONS + 1);
    bool reversed = take(b, 2);
    unsigned per_group = 1 + take(b, 3), rank = take(b, 2);
    as_output_text(out, "<system><systemtreenode Id='0'><name>machine</name><class>machine</class>");
    for (unsigned i = 0; i < p->n_locations; i++) {
        if (i % per_group == 0)
            as_output_printf(out, "<locationgroup Id='%u'><name>P</name><rank>%u</rank><type>process</type>",
                             i / per_group, i / per_group + rank);
        unsigned id = reversed ? p->n_locations - 1 - i : i;
        as_output_printf(out, "<location Id='%u'><name>T</name><rank>%u</rank><type>thread</type></location>", id,
                         i % per_group);
        if (i % per_group == per_group - 1 || i + 1 == p->n_locations) as_output_text(out, "</locationgroup>");
    }
    as_output_text(out, "</systemtreenode></system>");
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

static void write_number(bytes *b, size_t size, uint8_t *out) {
    static const uint64_t odd[] = {0,
                                   1,
                                   0x3FF8000000000000 /* 1.5 */,
                                   0x7FF0000000000000 /* inf */,
                                   0xFFF0000000000000,
                                   0x7FF8000000000000 /* NaN */,
                                   0x7FEFFFFFFFFFFFFF /* largest double */,
                                   0xFFEFFFFFFFFFFFFF,
                                   0x7FFFFFFFFFFFFFFF,
                                   0x8000000000000000,
                                   0xFFFFFFFFFFFFFFFF,
                                   0xFFFFFFFFFFFFFBFF,
                                   0xFFFFFFFFFFFFFC00,
                                   0x0020000000000001,
                                   0x4330000000000001,
                                   0x8080808080808080};
    uint64_t number = CHOOSE(b, odd);
    if (take(b, 3) == 2)
        for (unsigned i = 0; i < 8; i++) number = number << 8 | take(b, 256);
    memcpy(out, &number, size);
}

enum { INDEX_HEADER = 22, DATA_HEADER = 10, LARGEST_VALUE = 40 };

static void write_values(bytes *b, as_tar_writer *tar, const profile *p, unsigned m) {
    char index[INDEX_HEADER + 4 * MOST_CONTEXTS] = "CUBEX.INDEX\1\0\0\0\0\0\1", name[16];
    uint8_t values[DATA_HEADER + MOST_CONTEXTS * MOST_LOCATIONS * LARGEST_VALUE] = "CUBEX.DATA";
    uint32_t n = 0;
    size_t at = DATA_HEADER, row = (size_t)p->n_locations * p->metrics[m].type.size;
    for (uint32_t i = 0; i < p->n_contexts; i++) {
        if (take(b, 4) == 3) continue;
        memcpy(index + INDEX_HEADER + 4 * (size_t)n++, &i, sizeof i);
        for (size_t end = at + row; at < end;) {
            size_t step = p->metrics[m].type.size < 8 ? p->metrics[m].type.size : (end - at) % 8 ? 4 : 8;
            write_number(b, step, values + at);
            at += step;
        }
    }
    memcpy(index + INDEX_HEADER - 4, &n, sizeof n);
    snprintf(name, sizeof name, "%u.index", m);
    as_tar_add(tar, name, index, INDEX_HEADER + 4 * (size_t)n);
    snprintf(name, sizeof name, "%u.data", m);
    as_tar_add(tar, name, values, at);
}

static as_dataset *make_profile(bytes *b) {
    as_output *anchor = as_output_to_memory(), *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!anchor || !tar) abort();
    profile p = {.n_metrics = 0};
    as_output_text(anchor, "<cube version='4.4'>");
    write_metrics(b, anchor, &p);
    write_program(b, anchor, &p);
    write_system(b, anchor, &p);
    as_output_text(anchor, "</cube>");
    size_t n;
    const char *text = as_output_memory(anchor, &n);
    as_tar_add(tar, "anchor.xml", text, n);
    for (unsigned m = 0; m < p.n_metrics; m++)
        if (!p.metrics[m].is_derived) write_values(b, tar, &p, m);
    as_tar_finish(tar);
    const char *archive = as_output_memory(out, &n);
    as_read_config config = {.format = "cube", .memory_limit = AS_FUZZ_PROFILE_MEMORY};
    as_dataset *ds = NULL;
    if (as_read_memory("input", archive, n, &config, &ds, NULL) != ASSAY_OK) abort(); /* all of it is sound */
    as_output_discard(anchor);
    as_output_discard(out);
    return ds;
}

/* ---- laws of two ------------------------------------------------------------------------------------------------- */

/* All values of a metric of whole numbers; false where it is none. */
static bool add_up(const as_dataset *ds, assay_id m, as_whole *out) {
    as_slice slice;
    assay_error error = {.message = ""};
    *out = 0;
    if (!fine(as_slice_open_all(ds, m, 0, &slice, &error), &error)) abort();
    bool is_whole = as_dtype_is_integer(slice.view.type.dtype);
    for (uint32_t i = 0; is_whole && i < slice.view.n_rows; i++) {
        for (uint32_t c = 0; c < slice.view.n_columns; c++) {
            as_number number = cell(&slice.view, i, c, 0);
            *out += number.kind == AS_UINT ? (as_whole)number.u : number.i;
        }
    }
    as_slice_close(&slice);
    return is_whole;
}

static bool has_problem(const as_dataset *ds, const char *rule) {
    for (size_t i = 0; i < ds->problems.count; i++)
        if (strcmp(as_ds_problem(ds, i)->rule, rule) == 0) return true;
    return false;
}

static void check_differences(const as_dataset *base, const as_dataset *target, const as_dataset *result) {
    if (has_problem(result, "beyond-limit")) return;
    for (assay_id m = 0; m < result->metrics.count; m++) {
        const char *name = as_ds_text(result, as_ds_metric(result, m)->name);
        assay_id first = only_metric(base, name), second = only_metric(target, name);
        if (first == ASSAY_NONE || second == ASSAY_NONE || only_metric(result, name) == ASSAY_NONE ||
            as_ds_metric(base, first)->kind != as_ds_metric(target, second)->kind)
            continue;
        as_whole sums[3];
        if (add_up(result, m, &sums[2]) && add_up(base, first, &sums[0]) && add_up(target, second, &sums[1]) &&
            sums[1] - sums[0] != sums[2])
            abort();
    }
}

static void check_pair(const as_dataset *a, const as_dataset *b, as_matching matching) {
    const as_dataset *both[] = {a, b};
    as_dataset *result = NULL;
    assay_error error = {.message = ""};
    if (check_result(as_diff(a, b, matching, true, &result, &error), result, &error)) check_differences(a, b, result);
    as_dataset_free(result);
    result = NULL;
    check_result(as_mean(both, 2, matching, &result, &error), result, &error);
    as_dataset_free(result);
    result = NULL;
    check_result(as_merge_profiles(both, 2, matching, &result, &error), result, &error);
    as_dataset_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, data + size};
    as_dataset *first = make_profile(&b), *second = make_profile(&b);
    check_profile(first);
    check_pair(first, second, AS_MATCH_NAME);
    check_pair(second, first, AS_MATCH_EXACT);
    as_dataset_free(first);
    as_dataset_free(second);
    return 0;
}
