#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>

#include "helpers.h"
#include "msgpack_files.h"
#include "temporary.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static as_dataset *read_packed(packed file, const char *option) {
    const char *options[] = {option, NULL};
    as_read_config config = {.options = options};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", file.data, file.size, &config, &ds, &error) != ASSAY_OK)
        fail_msg("%lld: %s (%s)", (long long)error.offset, error.message, error.rule);
    assert_string_equal(ds->format, "extra-prof");
    free(file.data);
    return ds;
}

static as_dataset *read_json(const char *json, const char *option) { return read_packed(pack(json), option); }

#define HEAD "[\"EXTRA PROF\",\"1.0\","
/* A file with these calls below the root, of the second generation: one number each. */
#define PROFILE(calls) HEAD "[\"\",[" calls "],0,4,0,0,0]]"

static assay_id find_context(const as_dataset *ds, const char *path) {
    assay_id found = ASSAY_NONE;
    as_vec words;
    as_vec_init(&words, 1, NULL);
    for (assay_id c = 0; c < ds->contexts.count; c++) {
        as_context_path(ds, c, &words);
        if (strcmp(words.data, path) == 0) found = c;
    }
    as_vec_free(&words);
    return found;
}

/* The values of a metric at a path, "1 2"; "-" where there are none. The times are nanoseconds, rounded: so they are
 * easier to compare. */
static const char *values_at(const as_dataset *ds, const char *path, const char *metric) {
    static char text[256];
    text[0] = '\0';
    assay_id context = find_context(ds, path);
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        if (strcmp(as_ds_text(ds, as_ds_metric(ds, block->metric)->name), metric) != 0) continue;
        uint32_t at = as_block_find(block, context);
        for (uint64_t row = at == UINT32_MAX ? 0 : block->starts[at]; at != UINT32_MAX && row < block->starts[at + 1];
             row++) {
            double value = as_block_real(block, row) * (strcmp(metric, "time") == 0 ? 1e9 : 1);
            char number[AS_NUMBER_SIZE];
            as_real_format(as_real_round(value, 12), number);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "", number);
        }
    }
    return text[0] ? text : "-";
}

#define assert_values(ds, path, metric, expected) assert_string_equal(values_at(ds, path, metric), expected)

static const as_region *region_at(const as_dataset *ds, const char *path) {
    assay_id context = find_context(ds, path);
    if (context == ASSAY_NONE) fail_msg("there is no %s", path);
    return as_ds_region(ds, as_ds_context(ds, context)->region);
}

/* ---- generations ------------------------------------------------------------------------------------------------- */

/* main takes 1000 ns, f in it 400: main itself has 600. */
static void all_generations(void **state) {
    (void)state;
    static const struct {
        const char *json, *version;
    } all[] = {
        {"[\"\",[[\"main\",[[\"f\",[],0,0,400,2,0]],0,0,1000,1,0]],0,4,0,0,0]", NULL},
        {PROFILE("[\"main\",[[\"f\",[],0,0,400,2,0]],0,0,1000,1,0]"), "1.0"},
        {HEAD "[\"\",[[\"main\",[[\"f\",[],0,0,[400],[2],[0]]],0,0,[1000],[1],[0]]],0,4,[],[],[]],[]]", "1.0"},
        {HEAD "[\"\",[[\"main\",[[\"f\",[],0,0,[400],[2],[0],[],[[7],[0]]]],0,0,[1000],[1],[0],[],[[9],[0]]]],0,4,[],[]"
              ",[],[],[[0],[0]]],"
              "[],[[\"energy_cpu\",1],[\"energy_gpu\",2]]]",
         "1.0"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        as_dataset *ds = read_json(all[i].json, NULL);
        assert_values(ds, "main", "time", "600");
        assert_values(ds, "main->f", "time", "400");
        assert_values(ds, "main->f", "visits", "2");
        assert_values(ds, "main", "bytes", "-");
        assert_values(ds, "main", "energy_cpu", i == 3 ? "2" : "-");
        assert_int_equal(ds->runs.count, 1);
        assert_int_equal(ds->contexts.count, 2);
        assert_int_equal(ds->problems.count, 0);
        const char *version = as_ds_text(ds, ds->format_version);
        assert_true(version ? all[i].version && strcmp(version, all[i].version) == 0 : !all[i].version);
        as_dataset_free(ds);
    }
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* What a profiler writes: a launch with its kernel, copies of both kinds, a wait; each with its overlap. */
static const char GPU_PROFILE[] = PROFILE(
    "[\"main\",["
    "[\"_Z4axpyIdEvPT_i\",[[\"_Z4axpyIdEvPT_i\",[[\"OVERLAP\",[[\"HtoD\",[],3,2,25,0,0]],7,2,30,0,0]],2,1,900,2,0]],1,"
    "0,50,2,0],"
    "[\"cudaMemcpy\",[[\"HtoD\",[],3,0,30,1,4096]],0,0,40,1,0],"
    "[\"cudaMemcpyAsync\",[[\"DtoH\",[],3,1,80,1,8192]],0,0,5,1,0],"
    "[\"cudaMemsetAsync\",[[\"MEMSET\",[],4,1,9,1,512]],0,0,4,1,0],"
    "[\"wait\",[[\"CONTEXT\",[[\"OVERLAP\",[[\"_Z4axpyIdEvPT_i\",[],2,2,40,0,0]],7,2,40,0,0]],5,0,70,1,0]],0,0,75,1,0],"
    "[\"cudaMalloc\",[],8,0,11,1,0],[\"FLUSH\",[],6,0,2,1,0]"
    "],0,0,1000,1,0]");

static void types_and_flags(void **state) {
    (void)state;
    as_dataset *ds = read_json(GPU_PROFILE, NULL);
    assert_values(ds, "main", "time", "813");                                /* 1000 - 50 - 40 - 5 - 4 - 75 - 11 - 2 */
    assert_values(ds, "main->LAUNCH void axpy(double*, int)", "time", "50"); /* the kernel runs beside it */
    assert_values(ds, "main->LAUNCH void axpy(double*, int)->GPU void axpy(double*, int)", "time", "870");
    assert_values(ds, "main->LAUNCH void axpy(double*, int)->GPU void axpy(double*, int)->OVERLAP", "time", "30");
    assert_values(ds, "main->LAUNCH void axpy(double*, int)->GPU void axpy(double*, int)->OVERLAP->GPU HtoD", "time",
                  "25");
    assert_values(ds, "main->cudaMemcpy", "time", "10"); /* waits for the copy */
    assert_values(ds, "main->cudaMemcpy->GPU HtoD", "bytes", "4096");
    assert_values(ds, "main->cudaMemcpyAsync", "time", "5");
    assert_values(ds, "main->cudaMemsetAsync", "time", "4");
    assert_values(ds, "main->wait", "time", "5");
    assert_values(ds, "main->wait->CONTEXT", "time", "30");
    assert_values(ds, "main->wait->CONTEXT->OVERLAP", "time", "40");
    static const struct {
        const char *path, *kind;
    } kinds[] = {{"main", "function"},
                 {"main->LAUNCH void axpy(double*, int)", "launch"},
                 {"main->LAUNCH void axpy(double*, int)->GPU void axpy(double*, int)", "kernel"},
                 {"main->cudaMemcpy->GPU HtoD", "memcpy"},
                 {"main->cudaMemsetAsync->GPU MEMSET", "memset"},
                 {"main->wait->CONTEXT", "sync"},
                 {"main->FLUSH", "overhead"},
                 {"main->wait->CONTEXT->OVERLAP", "overlap"},
                 {"main->cudaMalloc", "memory"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_string_equal(as_ds_text(ds, region_at(ds, kinds[i].path)->kind), kinds[i].kind);
    assert_string_equal(as_ds_text(ds, region_at(ds, kinds[2].path)->mangled), "_Z4axpyIdEvPT_i");
    assert_int_equal(region_at(ds, "main")->mangled, AS_NO_STR);
    for (assay_id c = 0; c < ds->contexts.count; c++) { /* only named partners stand aside */
        assay_id parent = as_ds_context(ds, c)->parent;
        bool is_partner =
            parent != ASSAY_NONE && strcmp(as_ds_text(ds, as_ds_context(ds, parent)->name), "OVERLAP") == 0;
        assert_true(as_ds_context(ds, c)->is_aside == is_partner);
    }
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void units_and_kinds_of_metrics(void **state) {
    (void)state;
    static const char json[] = HEAD "[\"\",[[\"main\",[],0,0,[4],[1],[6],[1.5,2],[[3],[4],[5]]]],0,4,[],[],[]],[\"a\","
                                    "\"b\"],[[\"energy_cpu\",1],[\"energy_gpu\",2],[\"other\",0]]]";
    as_dataset *ds = read_json(json, NULL);
    static const struct {
        const char *name, *unit, *kind, *dtype;
    } all[] = {{"time", "s", "exclusive", "DOUBLE"},
               {"visits", NULL, "exclusive", "INT64"},
               {"bytes", "B", "exclusive", "INT64"},
               {"energy_cpu", "uJ", "exclusive", "INT64"},
               {"energy_gpu", "uJ", "exclusive", "INT64"},
               {"other", NULL, "exclusive", "INT64"},
               {"a", NULL, "none", "DOUBLE"},
               {"b", NULL, "none", "DOUBLE"}};
    assert_int_equal(ds->metrics.count, 8);
    for (assay_id i = 0; i < 8; i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        assert_string_equal(as_ds_text(ds, metric->name), all[i].name);
        assert_string_equal(as_kind_name(metric->kind), all[i].kind);
        assert_string_equal(as_ds_text(ds, metric->dtype), all[i].dtype);
        const char *unit = as_ds_text(ds, metric->unit);
        assert_true(unit ? all[i].unit && strcmp(unit, all[i].unit) == 0 : !all[i].unit);
    }
    as_dataset_free(ds);
    ds = read_json(json, "inclusive=yes");
    assert_true(as_ds_metric(ds, 0)->kind == AS_KIND_INCLUSIVE && as_ds_metric(ds, 0)->is_stored);
    assert_true(as_ds_metric(ds, 3)->kind == AS_KIND_EXCLUSIVE);
    as_dataset_free(ds);
    ds = read_json(PROFILE("[\"main\",[],0,0,4,1,0]"), NULL); /* what nobody has is no metric */
    assert_int_equal(ds->metrics.count, 2);
    as_dataset_free(ds);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void assert_name(const char *type, const char *name, const char *expected) {
    char json[512];
    snprintf(json, sizeof json, PROFILE("[\"%s\",[],%s,0,1,1,0]"), name, type);
    as_dataset *ds = read_json(json, NULL);
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 0)->name), expected);
    as_dataset_free(ds);
}

static void names_of_calls(void **state) {
    (void)state;
    assert_name("0", "solve<double, std::vector<int>>(int)", "solve(int)");
    assert_name("0", "std::vector<A<B<C>>, D>::f<E>()", "std::vector::f()");
    assert_name("0", "broken<int", "broken<int"); /* neither template nor pair */
    assert_name("0", "broken<a<b>::f", "broken"); /* open to the end */
    assert_name("0", "A<int>::operator<(B<C>)", "A::operator<(B)");
    assert_name("0", "A::operator< <int>(B)", "A::operator< (B)");
    assert_name("0", "A<int>::operator<<(B)", "A::operator<<(B)");
    assert_name("0", "A<int>::operator<=>(B)", "A::operator<=>(B)");
    assert_name("0", "A<int>::operator>>=(B)", "A::operator>>=(B)");
    assert_name("0", "P<int>::operator->()", "P::operator- >()");
    assert_name("0", "P<int>::operator->*(B)", "P::operator- >*(B)");
    assert_name("0", "f<&A::operator> >(int)", "f(int)");
    assert_name("0", "my_operator<int>(int)", "my_operator(int)");
    assert_name("0", "a->b->c", "a- >b- >c");
    assert_name("0", "tab\\tand\\u0001", "tab?and?");
    assert_name("0", "", "");
    assert_name("1", "_Z5test0Pdmm", "LAUNCH test0(double*, unsigned long, unsigned long)");
    assert_name("2", "_Z6kernelIdEvPT_i", "GPU void kernel(double*, int)");
    assert_name("2", "_Zbroken", "GPU _Zbroken");
    assert_name("2", "f", "GPU f");     /* a kernel of C: no type */
    assert_name("0", "_Z1fv", "_Z1fv"); /* functions have readable names already */
    assert_name("3", "Memcpy HtoD", "GPU Memcpy HtoD");
    assert_name("4", "Memset", "GPU Memset");
    assert_name("5", "CONTEXT", "CONTEXT");
}

static void text_that_is_none(void **state) {
    (void)state;
    packed file = pack(PROFILE("[\"xy\",[],0,0,1,1,0]"));
    *(char *)memmem(file.data, file.size, "xy", 2) = (char)0xff;
    as_dataset *ds = read_packed(file, NULL);
    assert_string_equal(as_ds_text(ds, as_ds_context(ds, 0)->name), "?y");
    as_dataset_free(ds);
}

/* Instances of a template, and whatever else is called the same, are one: numbers are added, children united. */
static void equal_names_are_one(void **state) {
    (void)state;
    as_dataset *ds = read_json(PROFILE("[\"main\",["
                                       "[\"f<int>()\",[[\"g\",[],0,0,10,1,0]],0,0,100,1,7],"
                                       "[\"h\",[],0,0,5,1,0],"
                                       "[\"f<double>()\",[[\"g\",[],0,0,20,2,0],[\"k\",[],0,0,1,1,0]],0,0,200,3,1]"
                                       "],0,0,1000,1,0]"),
                               NULL);
    assert_int_equal(ds->contexts.count, 5);
    assert_values(ds, "main", "time", "695");
    assert_values(ds, "main->f()", "time", "269"); /* 300 - 10 - 20 - 1 */
    assert_values(ds, "main->f()", "visits", "4");
    assert_values(ds, "main->f()", "bytes", "8");
    assert_values(ds, "main->f()->g", "time", "30");
    assert_values(ds, "main->f()->k", "time", "1");
    as_dataset_free(ds);
}

/* ---- threads, times that contradict one another ------------------------------------------------------------------ */

/* Three threads in main, one of them in f; kernels and overlaps of two. */
static const char THREADS[] =
    HEAD "[\"\",[[\"main\",[[\"f\",[],0,0,[60],[4],[0]],"
         "[\"k\",[[\"k\",[[\"OVERLAP\",[],7,2,[10,30],[0,0],[0,0]]],2,1,[100,300],[1,2],[0,0]]],1,0,[6,8],[1,2],[0,0]],"
         "[\"none\",[],0,0,[],[],[]]],0,0,[300,100,200],[1,1,2],[0,0,0]]],0,4,[],[],[]],[]]";

static void threads(void **state) {
    (void)state;
    as_dataset *ds = read_json(THREADS, NULL); /* means */
    assert_values(ds, "main", "time", "133");  /* 200 - 60 - 7 */
    assert_values(ds, "main", "visits", "1.33333333333");
    assert_values(ds, "main->f", "time", "60");
    assert_values(ds, "main->none", "time", "0"); /* nobody was there */
    assert_values(ds, "main->LAUNCH k->GPU k", "time", "180");
    assert_values(ds, "main->LAUNCH k->GPU k->OVERLAP", "time", "20");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 1)->dtype), "DOUBLE");
    as_dataset_free(ds);
    ds = read_json(THREADS, "scaling=strong"); /* sums */
    assert_values(ds, "main", "time", "526");  /* 600 - 60 - 14 */
    assert_values(ds, "main", "visits", "4");
    assert_values(ds, "main->none", "visits", "0");
    assert_values(ds, "main->LAUNCH k->GPU k", "time", "360");
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 1)->dtype), "INT64");
    as_dataset_free(ds);
    ds = read_json(THREADS, "sum_gpu=yes"); /* sums of kernels and overlaps, means of the rest */
    assert_values(ds, "main", "time", "133");
    assert_values(ds, "main->LAUNCH k->GPU k", "time", "360");
    assert_values(ds, "main->LAUNCH k->GPU k->OVERLAP", "time", "40");
    assert_values(ds, "main->LAUNCH k->GPU k", "visits", "1.5");
    as_dataset_free(ds);
}

/* f takes 10, what is in it 50 and 3 within that; g is fine. */
static const char TOO_LONG[] = PROFILE(
    "[\"main\",[[\"f\",[[\"big\",[[\"deep\",[],0,0,3,1,0]],0,0,50,1,9],[\"kernel\",[],2,1,500,1,0]],0,0,10,1,0],"
    "[\"g\",[[\"h\",[],0,0,7,1,0]],0,0,7,1,0]],0,0,100,1,0]");

static void what_takes_longer_than_its_call(void **state) {
    (void)state;
    as_dataset *ds = read_json(TOO_LONG, NULL);
    assert_values(ds, "main", "time", "83");
    assert_values(ds, "main->f", "time", "10");
    assert_values(ds, "main->f->big", "time", "-");
    assert_values(ds, "main->f->big->deep", "visits", "-");
    assert_values(ds, "main->f->GPU kernel", "time", "-"); /* all that is below goes */
    assert_values(ds, "main->g", "time", "0");             /* as long as its child is not longer */
    assert_values(ds, "main->g->h", "time", "7");
    assert_int_equal(ds->contexts.count, 4);
    assert_int_equal(ds->problems.count, 1);
    assert_int_equal(count_problems(ds, "subtree-dropped", NULL), 1);
    const as_problem *problem = as_ds_problem(ds, 0);
    assert_int_equal(problem->severity, AS_WARNING);
    const char *message = problem->message;
    assert_true(strstr(message, "'main->f'") && strstr(message, "3 call paths are") &&
                strstr(message, "concurrent_threads=yes"));
    as_dataset_free(ds);
    ds = read_json(TOO_LONG, "concurrent_threads=yes");
    assert_values(ds, "main->f", "time", "10");
    assert_values(ds, "main->f->big", "time", "47");
    assert_values(ds, "main->f->GPU kernel", "time", "500");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
    ds = read_json(TOO_LONG, "inclusive=yes");
    assert_values(ds, "main", "time", "100");
    assert_values(ds, "main->f->big", "time", "50");
    assert_values(ds, "main->f->big", "bytes", "9");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

/* ---- extended and GPU metrics ------------------------------------------------------------------------------------ */

static void extended_metrics(void **state) {
    (void)state;
    static const char json[] = HEAD "[\"\",[[\"main\",["
                                    "[\"f\",[[\"g\",[],0,0,[1],[1],[0],[],[[30],[1]]]],0,0,[10],[1],[0],[],[[20],[5]]],"
                                    "[\"k\",[],2,1,[90],[1],[0],[],[[0],[40]]]," /* beside it */
                                    "[\"old\",[],0,0,[1],[1],[0]]],0,0,[100],[1],[0],[],[[100,300],[50]]]],0,4,[],[],[]"
                                    "],[],[[\"energy_cpu\",1],[\"energy_gpu\",2]]]";
    as_dataset *ds = read_json(json, NULL);
    assert_values(ds, "main", "energy_cpu", "180"); /* the mean of 100 and 300, without f */
    assert_values(ds, "main", "energy_gpu", "45");
    assert_values(ds, "main->f", "energy_cpu", "20");    /* g has more: it stays whole */
    assert_values(ds, "main->f->g", "energy_cpu", "30"); /* but nothing is left out */
    assert_values(ds, "main->f", "energy_gpu", "4");
    assert_values(ds, "main->old", "energy_cpu", "-");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
    ds = read_json(json, "inclusive=yes"); /* of times only */
    assert_values(ds, "main", "energy_gpu", "45");
    as_dataset_free(ds);
    ds = read_json(json, "scaling=strong");
    assert_values(ds, "main", "energy_cpu", "380");
    as_dataset_free(ds);
}

/* A file with counters only: two instances of a kernel are two values. */
static const char COUNTERS[] =
    HEAD "[\"\",[[\"main\",[[\"_Z1kIiEvv\",[],1,0,[],[],[],[7,0.5]],[\"_Z1kIdEvv\",[],1,0,[],[],[],[9,0.25]],[\"few\",["
         "],1,0,[],[],[],[1]],[\"many\",[],1,0,[],[],[],[1,2,3]]],"
         "0,0,[],[],[],[]]],0,4,[],[],[],[]],[\"inst\",\"rate\"]]";

static void hardware_counters(void **state) {
    (void)state;
    as_dataset *ds = read_json(COUNTERS, NULL);
    assert_values(ds, "main->LAUNCH void k()", "inst", "7 9");
    assert_values(ds, "main->LAUNCH void k()", "rate", "0.5 0.25");
    assert_values(ds, "main->LAUNCH few", "rate", "-");
    assert_values(ds, "main->LAUNCH many", "rate", "2"); /* the third has no name */
    assert_values(ds, "main", "time", "-");
    assert_values(ds, "main", "visits", "-");
    assert_int_equal(ds->contexts.count, 4);
    as_dataset_free(ds);
}

/* ---- odd and broken files ---------------------------------------------------------------------------------------- */

static void assert_odd(packed file, const char *rule, int64_t offset, as_severity severity) {
    as_dataset *ds = read_packed(file, NULL);
    assert_int_equal(ds->problems.count, 1);
    const as_problem *problem = as_ds_problem(ds, 0);
    assert_string_equal(problem->rule, rule);
    assert_int_equal(problem->offset, offset);
    assert_int_equal(problem->severity, severity);
    as_dataset_free(ds);
}

static void odd_files(void **state) {
    (void)state;
    packed file = pack(PROFILE("[\"m\",[],0,0,1,1,0]"));
    file.data = realloc(file.data, file.size + 3);
    memset(file.data + file.size, 0, 3);
    file.size += 3;
    assert_odd(file, "bytes-behind", (int64_t)file.size - 3, AS_NOTE);
    assert_odd(pack("[\"EXTRA PROF\",\"2.0\",[\"\",[[\"m\",[],0,0,1,1,0]],0,4,0,0,0]]"), "version", -1, AS_NOTE);
    assert_odd(pack(HEAD "[\"\",[[\"m\",[],0,0,1,1,0,[],[],[1,[2]]]],0,4,0,0,0]]"), "unknown-fields", 30, AS_NOTE);
    assert_odd(pack(HEAD "[\"\",[[\"m\",[],0,0,1,1,0]],0,4,0,0,0],[],[],7]"), "unknown-fields", 35, AS_NOTE);
    assert_odd(pack(PROFILE("[\"m\",[],0,0,-1,1,0]")), "negative-value", 25, AS_WARNING);
    assert_odd(pack(PROFILE("[\"m\",[],0,0,1,9007199254740995,0]")), "inexact-integer", 26, AS_NOTE);
    assert_odd(pack(PROFILE("")), "no-data", -1, AS_WARNING);
    as_dataset *ds = read_json(PROFILE("[\"m\",[],0,248,1,1,0]"), NULL); /* flags nobody knows */
    assert_values(ds, "m", "time", "1");
    assert_int_equal(ds->problems.count, 0);
    as_dataset_free(ds);
}

static void assert_packed_refused(packed file, const char *rule, int64_t offset) {
    as_read_config config = {.format = "extra-prof"};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read_memory("input", file.data, file.size, &config, &ds, &error) == ASSAY_OK)
        fail_msg("accepted, without %s", rule);
    if (error.code != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0 || error.offset != offset)
        fail_msg("expected %s at %lld, got %s at %lld: %s", rule, (long long)offset, error.rule,
                 (long long)error.offset, error.message);
    free(file.data);
}

static void broken_files(void **state) {
    (void)state;
    static const struct {
        const char *json, *rule;
        int64_t offset;
    } all[] = {
        {"\"EXTRA PROF\"", "magic", 0},
        {"[]", "msgpack", 1},
        {"[\"EXTRA PROG\",\"1.0\",[\"\",[],0,4,0,0,0]]", "magic", 1},
        {"[\"\",[],0,4,0,0]", "magic", 1},
        {"[\"x\",[],0,4,0,0,0]", "magic", 1},
        {"[\"EXTRA PROF\",\"1.0\"]", "file-fields", 0},
        {"[\"EXTRA PROF\",1,[\"\",[],0,4,0,0,0]]", "wrong-type", 12},
        {"[\"EXTRA PROF\",\"1.0\",7]", "wrong-type", 16},
        {HEAD "[\"x\",[],0,4,0,0,0]]", "root", 17},
        {HEAD "[\"\",[],0,4,5,0,0]]", "root", 21},
        {HEAD "[\"\",[],0,4,0,1,0]]", "root", 21},
        {HEAD "[\"\",[],0,4,[0,3],0,0]]", "root", 21},
        {HEAD "[\"\",[],0,4,0,0]]", "node-fields", 16},
        {PROFILE("7"), "wrong-type", 19},
        {PROFILE("[7,[],0,0,1,1,0]"), "wrong-type", 20},
        {PROFILE("[\"m\",7,0,0,1,1,0]"), "wrong-type", 22},
        {PROFILE("[\"m\",[],9,0,1,1,0]"), "node-type", 23},
        {PROFILE("[\"m\",[],-1,0,1,1,0]"), "wrong-type", 23},
        {PROFILE("[\"m\",[],0,\"\",1,1,0]"), "wrong-type", 24},
        {PROFILE("[\"m\",[],0,0,\"1\",1,0]"), "wrong-type", 25},
        {PROFILE("[\"m\",[],0,0,[1,[2]],1,0]"), "wrong-type", 27},
        {PROFILE("[\"m\",[],0,0,1,null,0]"), "wrong-type", 26},
        {PROFILE("[\"m\",[],0,0,1,1,true]"), "wrong-type", 27},
        {PROFILE("[\"m\",[],0,0,1,1]"), "node-fields", 19},
        {PROFILE("[\"m\",[],0,0,1,1,0,7]"), "wrong-type", 28},
        {PROFILE("[\"m\",[],0,0,1,1,0,[\"\"]]"), "wrong-type", 29},
        {PROFILE("[\"m\",[],0,0,1,1,0,[],7]"), "wrong-type", 29},
        {HEAD "[\"\",[],0,4,0,0,0],7]", "wrong-type", 24},
        {HEAD "[\"\",[],0,4,0,0,0],[7]]", "wrong-type", 25},
        {HEAD "[\"\",[],0,4,0,0,0],[],[7]]", "wrong-type", 26},
        {HEAD "[\"\",[],0,4,0,0,0],[],[[\"e\"]]]", "metric-fields", 26},
        {HEAD "[\"\",[],0,4,0,0,0],[],[[\"e\",-1]]]", "wrong-type", 29},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_packed_refused(pack(all[i].json), all[i].rule, all[i].offset);
    assert_packed_refused((packed){.data = calloc(1, 1)}, "empty", 0);
}

/* More metrics than any profiler has, each with a byte or two in the file: what is made of them would be large. */
static void too_many_metrics(void **state) {
    (void)state;
    static char json[40000];
    char *at = stpcpy(json, HEAD "[\"\",[],0,4,0,0,0],[");
    for (int i = 0; i < 4097; i++) at = stpcpy(at, i ? ",\"\"" : "\"\"");
    strcpy(at, "]]");
    assert_packed_refused(pack(json), "too-many-metrics", 24);
    at = stpcpy(json, HEAD "[\"\",[],0,4,0,0,0],[],[");
    for (int i = 0; i < 65; i++) at = stpcpy(at, i ? ",[\"\",0]" : "[\"\",0]");
    strcpy(at, "]]");
    assert_packed_refused(pack(json), "too-many-metrics", 25);
}

/* NaN and infinities, which JSON does not have. */
static void numbers_that_are_none(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        packed file = pack(PROFILE("[\"m\",[],0,0,1.5,1,0]"));
        memcpy(file.data + 26, i ? "\x7f\xf0" : "\x7f\xf8", 2);
        assert_packed_refused(file, "not-finite", 25);
    }
}

/* The lengths that the bytes claim, where the largest goes. */
static void hostile_lengths(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int64_t offset;
    } all[] = {
        {"\xdd\xff\xff\xff\xff", 5, 0},
        {"\x93\xaa"
         "EXTRA PROF\xa3"
         "1.0\x97\xdb\xff\xff\xff\xff"
         "abc",
         25, 17},
        {"\x93\xaa"
         "EXTRA PROF\xa3"
         "1.0\x97\xa0\xdd\xff\xff\xff\xff\0\0",
         25, 18},
        {"\x93\xaa"
         "EXTRA PROF\xa3"
         "1.0\x97\xa0\x90\0\4\xdd\xff\xff\xff\xff",
         26, 21},
        {"\x93\xaa"
         "EXTRA PROF\xa3"
         "1.0\xdd\xff\xff\xff\xff",
         21, 16},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        packed file = {malloc(all[i].size), all[i].size};
        memcpy(file.data, all[i].bytes, all[i].size);
        assert_packed_refused(file, "msgpack", all[i].offset);
    }
}

/* So many calls within one another, the outermost taking the longest. */
static packed nest(uint32_t depth) {
    static const char head[] = "\x93\xaa"
                               "EXTRA PROF\xa3"
                               "1.0\x97\xa0\x91";
    packed file = {malloc(sizeof head + depth * 24 + 16), 0};
    memcpy(file.data, head, sizeof head - 1);
    file.size = sizeof head - 1;
    for (uint32_t i = 0; i < depth; i++) {
        pack_byte(&file, 0x97);
        pack_text(&file, "f", 1);
        pack_byte(&file, i + 1 < depth ? 0x91 : 0x90);
    }
    for (uint32_t i = 0; i < depth; i++) {
        pack_bytes(&file, 0, 2);
        pack_number(&file, (as_number){.kind = AS_INT, .i = (int64_t)i + 1});
        pack_bytes(&file, 0x0100, 2);
    }
    pack_bytes(&file, 0x04000000, 5);
    return file;
}

static void deep_calls(void **state) {
    (void)state;
    as_dataset *ds = read_packed(nest(1024), NULL);
    assert_int_equal(ds->contexts.count, 1024);
    for (size_t i = 0; i < ds->blocks.count; i++) assert_true(as_block_real(as_ds_block(ds, i), 7) == (i ? 1 : 1e-9));
    as_dataset_free(ds);
    assert_packed_refused(nest(1025), "too-deep", 19 + 1024 * 4);
    assert_packed_refused(nest(100000), "too-deep", 19 + 1024 * 4);
}

/* Every beginning of every file, and each byte changed: no crash, and an error says something. */
static void every_cut_and_change(void **state) {
    (void)state;
    const char *all[] = {GPU_PROFILE, THREADS, COUNTERS};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        packed file = pack(all[i]);
        for (size_t size = 0; size < 2 * file.size; size++) {
            bool is_cut = size < file.size;
            size_t n = is_cut ? size : file.size;
            char *exact = malloc(n ? n : 1);
            memcpy(exact, file.data, n);
            if (!is_cut) exact[size - file.size] ^= (char)(size % 255 + 1);
            for (int keep_going = 0; keep_going < 2; keep_going++) {
                as_read_config config = {.format = "extra-prof", .keep_going = keep_going};
                as_dataset *ds = NULL;
                assay_error error = {0};
                assay_status status = as_read_memory("input", exact, n, &config, &ds, &error);
                if (status == ASSAY_OK) as_dataset_free(ds);
                if (is_cut) assert_int_equal(status, keep_going ? ASSAY_OK : ASSAY_E_FORMAT);
                assert_true(status == ASSAY_OK || error.message[0]);
            }
            free(exact);
        }
        free(file.data);
    }
}

static void little_memory(void **state) {
    (void)state;
    packed file = pack(GPU_PROFILE);
    size_t failed = 0;
    assay_status status = ASSAY_E_NOMEM;
    for (uint64_t limit = 1; status != ASSAY_OK; limit += 61, failed++) {
        as_read_config config = {.format = "extra-prof", .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error = {0};
        status = as_read_memory("input", file.data, file.size, &config, &ds, &error);
        assert_true(status == ASSAY_OK || status == ASSAY_E_NOMEM);
        if (status == ASSAY_OK) as_dataset_free(ds);
    }
    assert_true(failed > 10);
    free(file.data);
}

/* Whose they are is said by the content alone. */
static void bids(void **state) {
    (void)state;
    static const struct {
        const char *json;
        bool is_mine;
    } all[] = {{PROFILE(""), true},
               {"[\"\",[],0,4,0,0,0]", true},
               {"[\"\",[],0,4,0,0,1]", false},
               {"[\"EXTRA PROG\",\"1.0\",[]]", false},
               {"[1,2,3]", false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        packed file = pack(all[i].json);
        as_probe probe = {.path = "x",
                          .head = file.data,
                          .head_size = file.size,
                          .tail = file.data,
                          .tail_size = file.size,
                          .size = file.size};
        assert_true((as_format_find("extra-prof")->bid(&probe) > 8) == all[i].is_mine);
        probe.path = "profile.extra-prof.msgpack";
        assert_true(as_format_find("extra-prof")->bid(&probe) > 0); /* to be told what is wrong */
        free(file.data);
    }
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where) {
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static int remove_all(void **state) {
    (void)state;
    return nftw(temporary_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_packed(const char *directory, const char *name, const char *json) {
    char path[300];
    packed file = pack(json);
    mkdir(temporary_path(directory), 0700);
    snprintf(path, sizeof path, "%s/%s.extra-prof.msgpack", directory, name);
    write_temporary(path, file.data, file.size);
    free(file.data);
}

static as_dataset *read_set(const char *option) {
    const char *options[] = {option, NULL};
    as_read_config config = {.options = options};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read(temporary_folder, &config, &ds, &error) != ASSAY_OK) fail_msg("%s: %s", error.path, error.message);
    assert_string_equal(ds->format, "extra-prof-set");
    return ds;
}

#define CALL(name, time) "[\"" name "\",[],0,0," time ",1,0]"

/* Each file is a sample, what it does not have took no time; bytes are there where anything is not 0. */
static void files_are_samples(void **state) {
    (void)state;
    write_packed("app.p1.r1", "profile0", PROFILE("[\"main\",[" CALL("f", "1000000000") "],0,0,5000000000,1,0]"));
    write_packed("app.p1.r1", "profile1", PROFILE("[\"main\",[" CALL("g", "2000000000") "],0,0,6000000000,1,3]"));
    write_packed("app.p1.r1", ".hidden", "[7]");
    write_packed("app.p2.r1", "profile0", "[\"\",[[\"main\",[],0,0,7000000000,1,0]],0,4,0,0,0]"); /* of the oldest */
    as_dataset *ds = read_set(NULL);
    assert_described(ds, "main time (1): 4 4\n"
                         "main time (2): 7\n"
                         "main visits (1): 1 1\n"
                         "main visits (2): 1\n"
                         "main bytes (1): 0 3\n"
                         "main->f time (1): 1 0\n"
                         "main->f visits (1): 1 0\n"
                         "main->g time (1): 0 2\n"
                         "main->g visits (1): 0 1\n");
    assert_int_equal(ds->runs.count, 3);
    assert_int_equal(count_problems(ds, "missing-points", NULL), 1);
    as_dataset_free(ds);
}

/* What takes too long in one file is made up for by another: all files of a point are taken together. */
static void points_are_taken_as_a_whole(void **state) {
    (void)state;
    write_packed("app.p1.r1", "a", PROFILE("[\"main\",[" CALL("f", "3000000000") "],0,0,2000000000,1,0]"));
    write_packed("app.p1.r2", "a", PROFILE("[\"main\",[" CALL("f", "4000000000") "],0,0,6000000000,1,0]"));
    write_packed("app.p2.r1", "a", PROFILE("[\"main\",[" CALL("f", "3000000000") "],0,0,2000000000,1,0]"));
    write_packed("app.p2.r2", "a", PROFILE("[\"main\",[" CALL("f", "4000000000") "],0,0,4000000000,1,0]"));
    as_dataset *ds = read_set(NULL);
    assert_described(ds, "main time (1): -1 2\n"
                         "main time (2): 2 4\n"
                         "main visits (1): 1 1\n"
                         "main visits (2): 1 1\n"
                         "main->f time (1): 3 4\n"
                         "main->f visits (1): 1 1\n");
    assert_int_equal(count_problems(ds, "subtree-dropped", NULL), 1);
    as_dataset_free(ds);
    ds = read_set("concurrent_threads=yes");
    assert_described(ds, "main time (1): -1 2\n"
                         "main time (2): 2 4\n"
                         "main visits (1): 1 1\n"
                         "main visits (2): 1 1\n"
                         "main->f time (1): 3 4\n"
                         "main->f time (2): 3 4\n"
                         "main->f visits (1): 1 1\n"
                         "main->f visits (2): 1 1\n");
    as_dataset_free(ds);
}

/* Files without times are runs, but no samples of times. What they count stays where times are left out. */
static void counters_beside_times(void **state) {
    (void)state;
    static const char counters[] = HEAD "[\"\",[[\"main\",[[\"_Z1kIiEvv\",[],1,0,[],[],[],[7]],[\"_Z1kIdEvv\",[],1,0,[]"
                                        ",[],[],[9]]],0,0,[],[],[],[]]],0,4,[],[],[],[]],[\"inst\"]]";
    write_packed("app.p1", "profile-hwc", counters);
    write_packed("app.p1", "profile", PROFILE("[\"main\",[[\"_Z1kIiEvv\",[],1,0,1000000000,2,0]],0,0,3000000000,1,0]"));
    write_packed("app.p2", "profile", PROFILE("[\"main\",[[\"_Z1kIiEvv\",[],1,0,4000000000,2,0]],0,0,3000000000,1,0]"));
    write_packed("app.p2", "profile-hwc", counters);
    as_dataset *ds = read_set(NULL);
    assert_described(ds, "main time (1): 2\n"
                         "main time (2): 3\n"
                         "main visits (1): 1\n"
                         "main visits (2): 1\n"
                         "main->LAUNCH void k() time (1): 1\n"
                         "main->LAUNCH void k() visits (1): 2\n"
                         "main->LAUNCH void k() inst (1): 7 9\n"
                         "main->LAUNCH void k() inst (2): 7 9\n");
    assert_int_equal(ds->runs.count, 4);
    as_dataset_free(ds);
}

/* The first file in the order of points that is broken is named. */
static void a_broken_file_is_named(void **state) {
    (void)state;
    write_packed("app.p1", "good", PROFILE(CALL("main", "1")));
    write_packed("app.p2", "bad", PROFILE("7"));
    write_packed("app.p3", "worse", "[]");
    as_read_config config = {0};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read(temporary_folder, &config, &ds, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.path, "app.p2/bad.extra-prof.msgpack"));
    assert_int_equal(error.offset, 19);
}

static void sets_with_little_memory(void **state) {
    (void)state;
    write_packed("app.p1", "a", GPU_PROFILE);
    write_packed("app.p1", "b", THREADS);
    write_packed("app.p2", "a", COUNTERS);
    assay_status status = ASSAY_E_NOMEM;
    for (uint64_t limit = 1; status != ASSAY_OK; limit += 997) {
        as_read_config config = {.format = "extra-prof-set", .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error = {0};
        status = as_read(temporary_folder, &config, &ds, &error);
        assert_true(status == ASSAY_OK || status == ASSAY_E_NOMEM);
        if (status == ASSAY_OK) as_dataset_free(ds);
    }
}

#define set_test(test) cmocka_unit_test_setup_teardown(test, make_temporary_folder, remove_all)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_generations),
        cmocka_unit_test(types_and_flags),
        cmocka_unit_test(units_and_kinds_of_metrics),
        cmocka_unit_test(names_of_calls),
        cmocka_unit_test(text_that_is_none),
        cmocka_unit_test(equal_names_are_one),
        cmocka_unit_test(threads),
        cmocka_unit_test(what_takes_longer_than_its_call),
        cmocka_unit_test(extended_metrics),
        cmocka_unit_test(hardware_counters),
        cmocka_unit_test(odd_files),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(too_many_metrics),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(hostile_lengths),
        cmocka_unit_test(deep_calls),
        cmocka_unit_test(every_cut_and_change),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(bids),
        set_test(files_are_samples),
        set_test(points_are_taken_as_a_whole),
        set_test(counters_beside_times),
        set_test(a_broken_file_is_named),
        set_test(sets_with_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
