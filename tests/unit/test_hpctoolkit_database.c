/* profile.db, cct.db and trace.db of both forms: what is read from good ones, and that bad ones are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/stored_nodes.h"
#include "dataset/sparse.h"
#include "hpctoolkit_files.h"
#include "temporary.h"

static const shape SHAPES[] = {{.form = AS_HPC_2021, .big = true},
                               {.form = AS_HPC_2021, .big = false, .major = 4, .first = 201},
                               {.form = AS_HPC_4},
                               {.form = AS_HPC_4, .entry_size = 40},
                               {.form = AS_HPC_4, .entry_size = 56}};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

/* ---- what the tests share ---------------------------------------------------------------------------------------- */

static void write_file(const char *name, const as_vec *bytes) {
    write_temporary(name, bytes->count ? bytes->data : "", bytes->count);
}

static void write_files(const shape *how) {
    as_vec profile = make_profile(how, CELLS, N_CELLS), cct = make_cct(how, CELLS, N_CELLS), trace = make_trace(how);
    write_file("profile.db", &profile);
    write_file("cct.db", &cct);
    write_file("trace.db", &trace);
    as_vec_free(&profile);
    as_vec_free(&cct);
    as_vec_free(&trace);
}

static opened open_shape(const shape *how) { return open_files(temporary_folder, how->form, 0); }

static assay_id context_of(uint32_t id) { return N_CONTEXTS - 1 - id; }

/* Whether the dataset has a problem of this rule and severity, with these words in it. */
static bool has_problem(const opened *o, as_severity severity, const char *rule, const char *words) {
    for (size_t i = 0; i < AS_COUNT(o->ds, problems); i++) {
        const as_problem *problem = as_ds_problem(o->ds, i);
        if (problem->severity == severity && strcmp(problem->rule, rule) == 0 && strstr(problem->message, words))
            return true;
    }
    return false;
}

static const as_profile *profile_of(const opened *o, unsigned metric) {
    const as_profile *profile = as_ds_profile(o->ds, metric, 0);
    assert_non_null(profile);
    assert_true(as_profile_is_sparse(profile));
    return profile;
}

static double expected(uint32_t profile, uint32_t context, unsigned metric) {
    for (size_t i = 0; i < N_CELLS; i++) {
        if (CELLS[i].profile == profile && CELLS[i].context == context && CELLS[i].metric == metric)
            return CELLS[i].value;
    }
    return 0;
}

/* Each value, by row and by column, is that of CELLS. */
static void assert_all_values(const opened *o) {
    as_sparse_line line = {0};
    assay_error error;
    size_t n = 0;
    for (unsigned metric = 0; metric < N_METRICS; metric++) {
        const as_profile *profile = profile_of(o, metric);
        assert_int_equal(profile->n_columns, N_PROFILES - 1);
        for (uint32_t id = 0; id < N_CONTEXTS; id++) {
            assert_int_equal(profile->source->read_row(profile->source, profile, context_of(id), &line, &error),
                             ASSAY_OK);
            for (uint32_t i = 0; i < line.n; i++, n++) {
                assert_true(!i || line.at[i] > line.at[i - 1]);
                assert_true(line.values[i] == expected(line.at[i] + 1, id, metric + 1));
            }
        }
        for (uint32_t column = 0; column < profile->n_columns; column++) {
            assert_int_equal(profile->source->read_column(profile->source, profile, column, &line, &error), ASSAY_OK);
            for (uint32_t i = 0; i < line.n; i++, n++)
                assert_true(line.values[i] == expected(column + 1, N_CONTEXTS - 1 - line.at[i], metric + 1));
        }
    }
    assert_int_equal(n, 2 * 10); /* the cells of profiles 1 and 2, found twice */
    as_sparse_line_free(&line);
}

/* Sums of many rows are those of the rows one by one, and an error where one of these is. */
static void assert_sums(const opened *o) {
    const as_profile *profiles[N_METRICS] = {profile_of(o, 0), profile_of(o, 1)};
    as_stored_sums both = {0};
    as_sparse_line line = {0};
    assay_error error;
    bool is_fine = true;
    assay_status status = as_sparse_sums(o->ds, profiles[0], profiles[1], NULL, &both, &error);
    const as_vec *sums[] = {&both.inclusive, &both.exclusive}, *has[] = {&both.has_inclusive, &both.has_exclusive};
    for (unsigned metric = 0; metric < N_METRICS; metric++) {
        const as_profile_source *source = profiles[metric]->source;
        for (assay_id context = 0; context < AS_COUNT(o->ds, contexts); context++) {
            double sum = 0;
            if (source->read_row(source, profiles[metric], context, &line, &error) != ASSAY_OK) is_fine = false;
            if (status != ASSAY_OK || !is_fine) continue;
            for (uint32_t i = 0; i < line.n; i++) sum += line.values[i];
            assert_int_equal(AS_AT(bool, has[metric], context), line.n > 0);
            assert_memory_equal(&AS_AT(double, sums[metric], context), &sum, sizeof sum); /* it may be no number */
        }
    }
    assert_int_equal(status == ASSAY_OK, is_fine);
    as_sparse_line_free(&line);
    as_stored_sums_free(&both);
}

/* ---- good files -------------------------------------------------------------------------------------------------- */

static void values_by_row_and_column(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(o.status, ASSAY_OK);
        assert_int_equal(AS_COUNT(o.ds, problems), 0);
        assert_int_equal(as_ds_values(o.ds), 10);
        assert_int_equal(as_hpc_context_limit(o.db), N_CONTEXTS);
        assert_true(as_hpc_context_has_values(o.db, 6));
        assert_false(as_hpc_context_has_values(o.db, 3));
        assert_false(as_hpc_context_has_values(o.db, N_CONTEXTS));
        assert_sums(&o);
        assert_all_values(&o);
        assert_sums(&o);
        close_files(&o);
    }
}

static void values_without_cct(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        unlink(temporary_path("cct.db"));
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(o.status, ASSAY_OK);
        assert_true(has_problem(&o, AS_WARNING, "cct-missing", "profile.db"));
        assert_int_equal(as_hpc_context_limit(o.db), N_CONTEXTS);
        assert_true(as_hpc_context_has_values(o.db, 6));
        assert_false(as_hpc_context_has_values(o.db, 3));
        assert_all_values(&o);
        close_files(&o);
    }
}

/* Writers of 2021 reserved the room and wrote nothing: entries are right, all behind them is zero. */
static void a_zeroed_cct_is_told(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        as_vec cct = make_cct(&SHAPES[i], CELLS, N_CELLS);
        size_t entries = SHAPES[i].form == AS_HPC_2021 ? (SHAPES[i].first ? SHAPES[i].first : 128) + N_CONTEXTS * 22
                                                       : 0x40 + N_CONTEXTS * 32;
        memset((char *)cct.data + entries, 0, cct.count - entries - 8);
        write_file("cct.db", &cct);
        as_vec_free(&cct);
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(o.status, ASSAY_OK);
        assert_true(has_problem(&o, AS_WARNING, "cct-empty", "zeros"));
        assert_string_equal(as_ds_problem(o.ds, 0)->file, temporary_path("cct.db"));
        assert_all_values(&o);
        close_files(&o);
    }
}

static void tuples_are_locations(void **state) {
    (void)state;
    static const char *const kinds[] = {"node", "rank", "thread", "rank", "thread", "9"};
    static const uint32_t parents[] = {ASSAY_NONE, 0, 1, 0, 3, 3};
    static const char *const tuples[] = {"NODE:0:713047168 RANK:0:0 THREAD:0:0", "NODE:0:713047168 RANK:1:1 THREAD:0:0",
                                         "NODE:0:713047168 RANK:1:1 9:5:6"};
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(AS_COUNT(o.ds, locations), 6);
        for (uint32_t k = 0; k < 6; k++) {
            const as_location *location = as_ds_location(o.ds, k);
            assert_string_equal(as_ds_text(o.ds, location->kind), kinds[k]);
            assert_int_equal(location->parent, parents[k]);
            assert_int_equal(location->leaf, k == 2 || k >= 4);
        }
        assert_int_equal(as_ds_location(o.ds, 2)->rank, 0);
        assert_int_equal(as_ds_location(o.ds, 5)->rank, 1);
        assert_string_equal(as_ds_text(o.ds, as_ds_location(o.ds, 5)->source_id), "3");
        assert_string_equal(as_ds_text(o.ds, as_ds_location(o.ds, 3)->name), "rank 1");
        assert_int_equal(AS_COUNT(o.ds, attributes), 6);
        for (unsigned k = 0; k < 3; k++) {
            const as_attribute *tuple = as_ds_attribute(o.ds, 2 * k), *bits = as_ds_attribute(o.ds, 2 * k + 1);
            assert_string_equal(as_ds_text(o.ds, tuple->key), "id_tuple");
            assert_string_equal(tuple->value.text, tuples[k]);
            assert_string_equal(as_ds_text(o.ds, bits->key), "id_tuple_bits");
            assert_string_equal(bits->value.text, SHAPES[i].form == AS_HPC_2021 ? "0 3 3" : "1 0 0");
        }
        close_files(&o);
    }
}

static void summaries_are_profile_0(void **state) {
    (void)state;
    /* Contexts of the dataset ascend, so those of the file descend. */
    static const struct {
        uint32_t id, metric;
        double value;
    } sums[] = {{6, 1, 7}, {4, 0, 0.5}, {2, 0, 3}, {2, 1, 300}, {1, 0, 10.5}, {0, 0, 10.5}};
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        opened o = open_shape(&SHAPES[i]);
        const as_summary *summaries;
        size_t n;
        assert_int_equal(as_ds_summaries(o.ds, &summaries, &n, NULL), ASSAY_OK);
        assert_int_equal(n, 6);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(summaries[k].context, context_of(sums[k].id));
            assert_int_equal(summaries[k].metric, sums[k].metric);
            assert_string_equal(as_ds_text(o.ds, summaries[k].statistic), "sum");
            assert_true(summaries[k].value.r == sums[k].value);
        }
        close_files(&o);
    }
}

static void trace_lines_are_read_in_order(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        opened o = open_shape(&SHAPES[i]);
        as_trace_sample samples[3];
        assert_int_equal(as_trace_line_count(&o.ds->traces), 2); /* the third is empty */
        assert_int_equal(as_ds_events(o.ds), 6);
        const as_trace_line *line = as_trace_line_of(o.ds, 0, 2);
        assert_non_null(line);
        assert_int_equal(as_trace_read(o.ds, line, 0, 3, samples, NULL), ASSAY_OK);
        assert_true(samples[0].time == START && samples[2].time == START + 2000);
        assert_int_equal(samples[0].context, context_of(1));
        assert_int_equal(samples[2].context, context_of(0));
        line = as_trace_line_of(o.ds, 0, 4);
        assert_non_null(line);
        assert_int_equal(as_trace_read(o.ds, line, 0, 3, samples, NULL), ASSAY_OK);
        assert_true(samples[0].time == START + 400 && samples[1].time == START + 500);
        assert_int_equal(samples[0].context, context_of(1));
        assert_int_equal(samples[2].context, ASSAY_NONE); /* 99 is no context */
        /* Only form 4 says in trace.db when the run began. */
        double start = AS_AT(as_run, &o.ds->runs, 0).start_time;
        assert_true(SHAPES[i].form == AS_HPC_2021 ? start != start : start == 1699999999);
        close_files(&o);
    }
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

/* Reads everything; errors must have words and a file. */
static void touch_all(opened *o) {
    as_sparse_line line = {0};
    assay_error error;
    const as_summary *summaries;
    size_t n;
    for (unsigned metric = 0; metric < N_METRICS; metric++) {
        const as_profile *profile = profile_of(o, metric);
        for (assay_id context = 0; context < AS_COUNT(o->ds, contexts); context++) {
            if (profile->source->read_row(profile->source, profile, context, &line, &error) == ASSAY_OK) continue;
            assert_true(error.message[0] && error.path[0]);
        }
        for (uint32_t column = 0; column < profile->n_columns; column++) {
            if (profile->source->read_column(profile->source, profile, column, &line, &error) == ASSAY_OK) continue;
            assert_true(error.message[0] && error.path[0]);
        }
    }
    assert_sums(o);
    as_ds_summaries(o->ds, &summaries, &n, NULL);
    assert_int_equal(as_trace_prepare(o->ds, NULL), ASSAY_OK);
    as_sparse_line_free(&line);
}

static const char *const NAMES[] = {"profile.db", "cct.db", "trace.db"};

static as_vec make_file(const shape *how, unsigned which) {
    return which == 0   ? make_profile(how, CELLS, N_CELLS)
           : which == 1 ? make_cct(how, CELLS, N_CELLS)
                        : make_trace(how);
}

/* profile.db cut anywhere is an error, cct.db a warning and the same values; of trace.db no line is left that is not
 * whole. */
static void files_cut_anywhere(void **state) {
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned which = 0; which < 3; which++) {
            as_vec bytes = make_file(&SHAPES[i], which);
            write_files(&SHAPES[i]);
            for (size_t n = 0; n < bytes.count; n++) {
                write_temporary(NAMES[which], bytes.data, n);
                opened o = open_shape(&SHAPES[i]);
                assert_int_equal(o.status, which ? ASSAY_OK : ASSAY_E_FORMAT);
                assert_string_equal(which ? temporary_path("profile.db") : o.error.path, temporary_path("profile.db"));
                if (which) assert_all_values(&o);
                if (which == 1) assert_true(has_problem(&o, AS_WARNING, "cct-damaged", "profile.db"));
                if (which == 2) assert_true(has_problem(&o, AS_WARNING, "trace-damaged", ""));
                if (which) touch_all(&o);
                close_files(&o);
            }
            as_vec_free(&bytes);
        }
    }
}

static void bytes_changed_anywhere(void **state) {
    (void)state;
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned which = 0; which < 3; which++) {
            as_vec bytes = make_file(&SHAPES[i], which);
            write_files(&SHAPES[i]);
            for (size_t at = 0; at < bytes.count; at++) {
                unsigned char *byte = (unsigned char *)bytes.data + at;
                *byte ^= changes[at % 3];
                write_temporary(NAMES[which], bytes.data, bytes.count);
                *byte ^= changes[at % 3];
                opened o = open_shape(&SHAPES[i]);
                if (o.status == ASSAY_OK)
                    touch_all(&o);
                else
                    assert_true(o.error.message[0] && o.error.path[0]);
                if (which) assert_int_equal(o.status, ASSAY_OK);
                close_files(&o);
            }
            as_vec_free(&bytes);
        }
    }
}

/* Puts a number into profile.db of form 2021, big-endian, and gives the rule that it breaks. */
static const char *rule_of_2021(size_t at, uint64_t value, unsigned n) {
    static char rule[48];
    as_vec bytes = make_profile(&SHAPES[0], CELLS, N_CELLS);
    put_at(&bytes, at, true, value, n);
    write_files(&SHAPES[0]);
    write_file("profile.db", &bytes);
    as_vec_free(&bytes);
    opened o = open_shape(&SHAPES[0]);
    assert_int_equal(o.status, ASSAY_E_FORMAT);
    snprintf(rule, sizeof rule, "%s", o.error.rule);
    close_files(&o);
    return rule;
}

static void numbers_that_cannot_be(void **state) {
    (void)state;
    size_t entry = 128 + 52, block, index;
    as_vec bytes = make_profile(&SHAPES[0], CELLS, N_CELLS);
    const unsigned char *offset = (const unsigned char *)bytes.data + entry + 44 + 6; /* below 65536 */
    block = (size_t)offset[0] << 8 | offset[1];
    index = block + 5 * 10;
    as_vec_free(&bytes);
    assert_string_equal(rule_of_2021(16, 0x0200, 2), "unknown-version");
    assert_string_equal(rule_of_2021(18, UINT32_MAX, 4), "index-size");
    assert_string_equal(rule_of_2021(32, 1 << 20, 8), "outside-file");
    assert_string_equal(rule_of_2021(entry + 44, UINT64_MAX - 7, 8), "outside-file");
    assert_string_equal(rule_of_2021(entry + 32, UINT64_MAX / 10 + 2, 8), "outside-file");
    assert_string_equal(rule_of_2021(entry + 40, UINT32_MAX, 4), "outside-file");
    assert_string_equal(rule_of_2021(entry, 1 << 20, 8), "outside-file");
    assert_string_equal(rule_of_2021(index + 4, 1, 8), "index-damaged");         /* values before the first context */
    assert_string_equal(rule_of_2021(index + 12 + 4, 1000, 8), "index-damaged"); /* beyond the last value */
    assert_string_equal(rule_of_2021(index + 24 + 4, 0, 8), "index-damaged");    /* back */
    assert_string_equal(rule_of_2021(index + 12, 0, 4), "context-order");        /* the first context again */
    assert_string_equal(rule_of_2021(index + 3 * 12, N_CONTEXTS, 4), "context-order"); /* cct.db has no such context */
    assert_string_equal(rule_of_2021(index + 4 * 12, 0, 4), "index-damaged");          /* no end */
}

/* Where no cct.db says how many contexts there are, a single huge number does not make tables of that size. */
static void a_huge_context_is_refused(void **state) {
    (void)state;
    static const cell huge[] = {{1, 0, TIME, 1}, {1, UINT32_MAX - 1, TIME, 1}};
    for (unsigned i = 0; i < N_SHAPES; i++) {
        as_vec bytes = make_profile(&SHAPES[i], huge, 2);
        write_file("profile.db", &bytes);
        as_vec_free(&bytes);
        unlink(temporary_path("cct.db"));
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(o.status, ASSAY_E_FORMAT);
        assert_string_equal(o.error.rule, "context-id");
        close_files(&o);
    }
}

/* All profiles point to one block: the work would be that of a much larger file. */
static void shared_blocks_are_refused(void **state) {
    (void)state;
    static cell cells[200];
    for (uint32_t i = 0; i < 200; i++) cells[i] = (cell){.profile = 1, .context = i, .metric = TIME, .value = 1};
    as_vec bytes = make_profile(&SHAPES[2], cells, 200);
    for (unsigned i = 0; i < N_PROFILES; i++)
        memcpy((char *)bytes.data + 0x50 + i * 48, (char *)bytes.data + 0x50 + 48, 32);
    write_file("profile.db", &bytes);
    as_vec_free(&bytes);
    unlink(temporary_path("cct.db"));
    opened o = open_shape(&SHAPES[2]);
    assert_int_equal(o.status, ASSAY_E_FORMAT);
    assert_string_equal(o.error.rule, "overlap");
    close_files(&o);
}

/* Two metrics with one id: of the values that cannot be told apart the last counts, by row and by column. */
static void repeated_values(void **state) {
    (void)state;
    static const cell cells[] = {{1, 2, TIME, 1}, {1, 2, TIME, 3}, {2, 2, TIME, 5},
                                 {2, 2, TIME, 7}, {2, 2, TIME, 0}, {3, 2, TIME, 9}}; /* 0 is no value */
    for (unsigned i = 0; i < 2 * N_SHAPES; i++) {
        const shape *how = &SHAPES[i % N_SHAPES];
        as_vec profile = make_profile(how, cells, 6), cct = make_cct(how, cells, 6);
        write_file("profile.db", &profile);
        write_file("cct.db", &cct);
        if (i >= N_SHAPES) unlink(temporary_path("cct.db"));
        opened o = open_shape(how);
        assert_int_equal(o.status, ASSAY_OK);
        const as_profile *time = profile_of(&o, 0);
        as_sparse_line line = {0};
        uint32_t limit = as_hpc_context_limit(o.db);
        assert_int_equal(time->source->read_row(time->source, time, limit - 1 - 2, &line, NULL), ASSAY_OK);
        assert_int_equal(line.n, 3);
        assert_true(line.values[0] == 3 && line.values[1] == 7 && line.values[2] == 9);
        assert_int_equal(time->source->read_column(time->source, time, 1, &line, NULL), ASSAY_OK);
        assert_int_equal(line.n, 1);
        assert_true(line.values[0] == 7);
        as_stored_sums sums = {0};
        assert_int_equal(as_sparse_sums(o.ds, time, NULL, NULL, &sums, NULL), ASSAY_OK);
        assert_true(AS_AT(double, &sums.inclusive, limit - 1 - 2) == 3 + 7 + 9);
        as_stored_sums_free(&sums);
        as_sparse_line_free(&line);
        close_files(&o);
        as_vec_free(&profile);
        as_vec_free(&cct);
    }
}

/* A cct.db with other values than profile.db is not of this database. */
static void a_foreign_cct_is_told(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHAPES; i++) {
        write_files(&SHAPES[i]);
        as_vec cct = make_cct(&SHAPES[i], CELLS, N_CELLS - 1);
        write_file("cct.db", &cct);
        as_vec_free(&cct);
        opened o = open_shape(&SHAPES[i]);
        assert_int_equal(o.status, ASSAY_OK);
        assert_true(has_problem(&o, AS_WARNING, "cct-damaged", "9 values, and profile.db 10"));
        assert_all_values(&o);
        close_files(&o);
    }
}

static void versions(void **state) {
    (void)state;
    shape how = {.form = AS_HPC_4, .minor = 3};
    write_files(&how);
    opened o = open_shape(&how);
    assert_int_equal(o.status, ASSAY_OK);
    assert_true(has_problem(&o, AS_NOTE, "unknown-version", "4.3"));
    assert_all_values(&o);
    close_files(&o);
    how = (shape){.form = AS_HPC_4, .major = 5};
    write_files(&how);
    o = open_shape(&how);
    assert_int_equal(o.status, ASSAY_E_FORMAT);
    assert_string_equal(o.error.rule, "unknown-version");
    assert_non_null(strstr(o.error.message, "5.0"));
    close_files(&o);
}

static void another_generation(void **state) {
    (void)state;
    write_files(&SHAPES[0]);
    opened o = open_files(temporary_folder, AS_HPC_4, 0);
    assert_int_equal(o.status, ASSAY_E_FORMAT);
    assert_string_equal(o.error.rule, "other-generation");
    close_files(&o);
    as_vec cct = make_cct(&SHAPES[2], CELLS, N_CELLS);
    write_file("cct.db", &cct);
    as_vec_free(&cct);
    o = open_shape(&SHAPES[0]);
    assert_int_equal(o.status, ASSAY_OK);
    assert_true(has_problem(&o, AS_WARNING, "cct-damaged", "another generation"));
    assert_all_values(&o);
    close_files(&o);
}

static void broken_lines_are_left_out(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        unsigned n;
        const char *words;
    } damages[] = {{6, 1 << 20, 8, "ends before"}, {14, 1 << 20, 8, "beyond the end"}, {0, 9, 4, "not there"},
                   {0, 0, 4, "not there"},         {0, 2, 4, "another line"},          {4, 7, 2, "metric"}};
    for (unsigned i = 0; i < sizeof damages / sizeof *damages; i++) {
        write_files(&SHAPES[0]);
        as_vec trace = make_trace(&SHAPES[0]);
        put_at(&trace, 128 + damages[i].at, true, damages[i].value, damages[i].n);
        write_file("trace.db", &trace);
        as_vec_free(&trace);
        opened o = open_shape(&SHAPES[0]);
        assert_int_equal(o.status, ASSAY_OK);
        assert_true(has_problem(&o, AS_WARNING, "trace-damaged", damages[i].words));
        assert_int_equal(as_trace_line_count(&o.ds->traces), 1);
        close_files(&o);
    }
}

/* ---- which generation -------------------------------------------------------------------------------------------- */

static int bid(const char *path, bool is_directory, const char *head, as_hpc_generation generation) {
    as_probe probe = {.path = path, .is_directory = is_directory, .head = head, .head_size = strlen(head)};
    return as_hpc_bid(&probe, generation);
}

static void bids_for_directories_and_files(void **state) {
    (void)state;
    static const char old[] = "<?xml version='1.0'?><HPCToolkitExperiment version=\"2.2\">";
    static const char recent[] = "<?xml version='1.0'?>\n<HPCToolkitExperiment version=\"4.0\">";
    const char *directory = temporary_folder;
    for (unsigned i = 0; i < 3; i++) unlink(temporary_path(NAMES[i]));
    assert_int_equal(bid(directory, true, "", AS_HPC_GENERATION_4), 0);
    const char *xml = write_temporary("experiment.xml", old, sizeof old - 1);
    assert_true(bid(directory, true, "", AS_HPC_GENERATION_XML) > 0);
    assert_true(bid(xml, false, old, AS_HPC_GENERATION_XML) > 0);
    assert_int_equal(bid(directory, true, "", AS_HPC_GENERATION_2021), 0);
    write_temporary("experiment.xml", recent, sizeof recent - 1);
    assert_true(bid(directory, true, "", AS_HPC_GENERATION_2021) > 0);
    assert_true(bid(temporary_path("experiment.xml"), false, recent, AS_HPC_GENERATION_2021) > 0);
    unlink(temporary_path("experiment.xml"));
    write_files(&SHAPES[2]);
    assert_true(bid(directory, true, "", AS_HPC_GENERATION_4) > 0);
    write_files(&SHAPES[3]);
    assert_true(bid(directory, true, "", AS_HPC_GENERATION_DRAFT) > 0);
    assert_int_equal(bid(directory, true, "", AS_HPC_GENERATION_4), 0);
    assert_true(bid(temporary_path("profile.db"), false, "HPCPROF-profdb__", AS_HPC_GENERATION_2021) > 0);
    assert_int_equal(bid("<stdin>", false, "something else", AS_HPC_GENERATION_XML), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_row_and_column),
        cmocka_unit_test(values_without_cct),
        cmocka_unit_test(a_zeroed_cct_is_told),
        cmocka_unit_test(tuples_are_locations),
        cmocka_unit_test(summaries_are_profile_0),
        cmocka_unit_test(trace_lines_are_read_in_order),
        cmocka_unit_test(files_cut_anywhere),
        cmocka_unit_test(bytes_changed_anywhere),
        cmocka_unit_test(numbers_that_cannot_be),
        cmocka_unit_test(a_huge_context_is_refused),
        cmocka_unit_test(shared_blocks_are_refused),
        cmocka_unit_test(repeated_values),
        cmocka_unit_test(a_foreign_cct_is_told),
        cmocka_unit_test(versions),
        cmocka_unit_test(another_generation),
        cmocka_unit_test(broken_lines_are_left_out),
        cmocka_unit_test(bids_for_directories_and_files),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
