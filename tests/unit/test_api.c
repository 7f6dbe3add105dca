/* The public functions on a small file: opening, looking, saving, losses, merging, and what happens when something is
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "temporary.h"

static const char small[] = "PARAMETER p\nPOINTS 1 2 4\nMETRIC time\nREGION main->sort\nDATA 1 2\nDATA 3 4\nDATA 5 6\n";
static const char later[] = "PARAMETER p\nPOINTS 4 8\nMETRIC time\nREGION main->sort\nDATA 7\nDATA 8\n";
static const char other[] = "PARAMETER n\nPOINTS 1\nMETRIC time\nREGION main\nDATA 7\n";
static const char broken[] = "PARAMETER p\nPOINTS 1 2\nMETRIC time\nREGION main\nDATA one\nDATA two\n";
/* The second call path misses a point: text cannot say that. */
static const char sparse[] = "{\"params\":{\"p\":1},\"callpath\":\"a\",\"metric\":\"t\",\"value\":1}\n"
                             "{\"params\":{\"p\":2},\"callpath\":\"a\",\"metric\":\"t\",\"value\":2}\n"
                             "{\"params\":{\"p\":2},\"callpath\":\"b\",\"metric\":\"t\",\"value\":3}\n";

static const char *write_text(const char *name, const char *text) { return write_temporary(name, text, strlen(text)); }

static assay_dataset *open_text(const char *name, const char *text) {
    assay_dataset *ds;
    assay_error error;
    assert_int_equal(assay_open(write_text(name, text), NULL, &ds, &error), ASSAY_OK);
    return ds;
}

static void looks_into_a_file(void **state) {
    (void)state;
    assay_dataset *ds = open_text("a.txt", small);
    assert_string_equal(assay_format_name(ds), "extrap-text");
    assert_null(assay_format_version(ds));
    static const struct {
        assay_kind kind;
        uint64_t count;
    } counts[] = {{ASSAY_PARAMETERS, 1}, {ASSAY_POINTS, 3},   {ASSAY_RUNS, 6},      {ASSAY_METRICS, 1},
                  {ASSAY_REGIONS, 2},    {ASSAY_CONTEXTS, 2}, {ASSAY_LOCATIONS, 0}, {ASSAY_VALUES, 6},
                  {ASSAY_EVENTS, 0},     {ASSAY_RECORDS, 0},  {ASSAY_MODELS, 0},    {ASSAY_PROBLEMS, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_int_equal(assay_count(ds, counts[i].kind), counts[i].count);
    assert_int_equal(assay_count(ds, (assay_kind)99), 0);
    assay_metric metric;
    assert_true(assay_metric_get(ds, 0, &metric));
    assert_string_equal(metric.name, "time");
    assert_null(metric.unit);
    assert_int_equal(metric.parent, ASSAY_NONE);
    assert_false(assay_metric_get(ds, 1, &metric));
    assay_problem problem;
    assert_false(assay_problem_get(ds, 0, &problem));
    assay_close(ds);
    assay_close(NULL);
}

static void asks_in_sql(void **state) {
    (void)state;
    assay_dataset *ds = open_text("a.txt", small);
    assay_query *query;
    assay_error error;
    bool row;
    assert_int_equal(assay_query_open(ds, "select sum(value) from value", &query, &error), ASSAY_OK);
    assert_int_equal(assay_query_next(query, &row, &error), ASSAY_OK);
    assert_true(row);
    assert_int_equal(assay_query_int(query, 0), 1 + 2 + 3 + 4 + 5 + 6);
    assay_query_close(query);
    assay_close(ds);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    assay_dataset *ds = (assay_dataset *)&ds;
    assay_error error;
    char text[256];
    assert_int_equal(assay_open(temporary_path("none.txt"), NULL, &ds, &error), ASSAY_E_IO);
    assert_null(ds);
    assert_int_equal(error.code, ASSAY_E_IO);
    assert_non_null(strstr(assay_error_text(&error, text, sizeof text), "none.txt: "));

    const char *path = write_text("broken.txt", broken);
    assert_int_equal(assay_open(path, NULL, &ds, &error), ASSAY_E_FORMAT);
    assert_int_equal(error.line, 5);
    assert_string_equal(error.path, path);
    assert_true(error.rule[0]);

    assay_config config = {.format = "extrap-txt"};
    assert_int_equal(assay_open(path, &config, &ds, &error), ASSAY_E_USAGE);
    assert_non_null(strstr(error.message, "extrap-text"));
    assert_int_equal(assay_open(write_text("x", "no measurement"), NULL, &ds, &error), ASSAY_E_AMBIGUOUS);
    /* Nobody needs to want the error. */
    assert_int_equal(assay_open(path, NULL, &ds, NULL), ASSAY_E_FORMAT);
    assert_int_equal(assay_open(path, &config, &ds, NULL), ASSAY_E_USAGE);
}

static void keeps_going(void **state) {
    (void)state;
    assay_config config = {.keep_going = true};
    assay_dataset *ds;
    assay_problem problem;
    assert_int_equal(assay_open(write_text("broken.txt", broken), &config, &ds, NULL), ASSAY_OK);
    unsigned errors = 0;
    for (assay_id i = 0; assay_problem_get(ds, i, &problem); i++) {
        if (strcmp(problem.severity, "error") != 0) continue;
        if (errors < 2)
            assert_int_equal(problem.line, 5 + errors); /* what is left without data may be said behind them */
        assert_true(problem.rule && problem.file && problem.message);
        errors++;
    }
    assert_true(errors >= 2);
    assay_close(ds);
}

static bool stop(void *user, const char *stage, double fraction) {
    assert_non_null(stage);
    assert_true(fraction >= 0 && fraction <= 1);
    ++*(int *)user;
    return false;
}

/* Large enough that a reader says how far it is. */
static void can_be_cancelled(void **state) {
    (void)state;
    size_t size = 0, capacity = 8u << 20;
    char *text = malloc(capacity + 64);
    size += (size_t)sprintf(text, "PARAMETER p\nPOINTS 1\nMETRIC time\n");
    for (int i = 0; size < capacity; i++) size += (size_t)snprintf(text + size, 64, "REGION r%d\nDATA 1 2 3 4\n", i);
    int calls = 0;
    assay_config config = {.progress = stop, .user = &calls};
    assay_dataset *ds;
    assay_error error;
    assert_int_equal(assay_open(write_temporary("big.txt", text, size), &config, &ds, &error), ASSAY_E_CANCELLED);
    assert_int_equal(calls, 1);
    assert_null(ds);
    free(text);
}

static void respects_the_memory_limit(void **state) {
    (void)state;
    assay_config config = {.memory_limit = 1024};
    assay_dataset *ds;
    assert_int_equal(assay_open(write_text("a.txt", small), &config, &ds, NULL), ASSAY_E_NOMEM);
    assert_null(ds);
}

static void saves_what_it_opened(void **state) {
    (void)state;
    assay_dataset *ds = open_text("a.txt", small), *again;
    assay_error error;
    static const char *const names[] = {"b.txt", "b.jsonl", "b.extra-p"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(assay_save(ds, temporary_path(names[i]), NULL, &error), ASSAY_OK);
        assert_int_equal(assay_open(temporary_path(names[i]), NULL, &again, &error), ASSAY_OK);
        assert_int_equal(assay_count(again, ASSAY_VALUES), 6);
        assert_int_equal(assay_count(again, ASSAY_POINTS), 3);
        assay_close(again);
    }
    assay_config sqlite = {.format = "sqlite"};
    char magic[16] = "";
    assert_int_equal(assay_save(ds, temporary_path("b"), &sqlite, &error), ASSAY_OK);
    FILE *file = fopen(temporary_path("b"), "rb");
    assert_int_equal(fread(magic, 1, 16, file), 16);
    fclose(file);
    assert_string_equal(magic, "SQLite format 3");
    assay_close(ds);
}

static void refuses_to_save(void **state) {
    (void)state;
    assay_dataset *ds = open_text("a.txt", small);
    assay_error error;
    assay_config unknown = {.format = "extrap-txt"};
    assert_int_equal(assay_save(ds, temporary_path("b"), &unknown, &error), ASSAY_E_USAGE);
    assert_int_equal(assay_save(ds, temporary_path("b.unknown"), NULL, &error), ASSAY_E_USAGE);
    assert_int_equal(assay_save(ds, temporary_path("none/b.txt"), NULL, NULL), ASSAY_E_IO);
    assert_int_equal(assay_save(ds, temporary_folder, &(assay_config){.format = "extrap-text"}, &error), ASSAY_E_IO);
    static const char *const options[] = {"nothing=1", NULL};
    assert_int_equal(assay_save(ds, temporary_path("b.txt"), &(assay_config){.options = options}, &error),
                     ASSAY_E_USAGE);
    assert_int_equal(for_each_temporary(NULL), 1); /* a.txt, and nothing else */
    assay_close(ds);
}

static void count_loss(void *user, const char *text) {
    assert_true(text && *text);
    ++*(int *)user;
}

static void tells_losses(void **state) {
    (void)state;
    assay_dataset *ds = open_text("a.jsonl", sparse);
    assay_error error;
    int losses = 0;
    assert_int_equal(assay_losses(ds, "extrap-text", count_loss, &losses, &error), ASSAY_OK);
    assert_true(losses >= 1);
    losses = 0;
    assert_int_equal(assay_losses(ds, "extrap-jsonl", count_loss, &losses, NULL), ASSAY_OK);
    assert_int_equal(assay_losses(ds, "sqlite", count_loss, &losses, NULL), ASSAY_OK);
    assert_int_equal(losses, 0);
    assert_int_equal(assay_losses(ds, "nothing", count_loss, &losses, &error), ASSAY_E_USAGE);
    assert_int_equal(assay_losses(ds, NULL, count_loss, &losses, NULL), ASSAY_E_USAGE);

    assay_config strict = {.strict = true};
    assert_int_equal(assay_save(ds, temporary_path("b.txt"), &strict, &error), ASSAY_E_UNSUPPORTED);
    assert_int_equal(for_each_temporary(NULL), 1);
    assert_int_equal(assay_save(ds, temporary_path("b.jsonl"), &strict, &error), ASSAY_OK);
    assay_close(ds);
}

static void merges(void **state) {
    (void)state;
    assay_dataset *parts[] = {open_text("a.txt", small), open_text("b.txt", later), open_text("c.txt", other)}, *merged;
    assay_error error;
    assert_int_equal(assay_merge(parts, 2, &merged, &error), ASSAY_OK);
    assert_int_equal(assay_count(merged, ASSAY_POINTS), 4);
    assert_int_equal(assay_count(merged, ASSAY_VALUES), 8);
    assert_int_equal(assay_count(merged, ASSAY_RUNS), 8); /* two for each of 1 and 2, three for 4, one for 8 */
    assay_close(merged);
    assert_int_equal(assay_merge(parts, 3, &merged, &error), ASSAY_E_UNSUPPORTED);
    assert_null(merged);
    assert_int_equal(assay_merge(parts, 3, &merged, NULL), ASSAY_E_UNSUPPORTED);
    for (size_t i = 0; i < 3; i++) assay_close(parts[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_temporary_folder, remove_temporary_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(looks_into_a_file),    TEST(asks_in_sql),
        TEST(says_what_is_wrong),   TEST(keeps_going),
        TEST(can_be_cancelled),     TEST(respects_the_memory_limit),
        TEST(saves_what_it_opened), TEST(refuses_to_save),
        TEST(tells_losses),         TEST(merges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
