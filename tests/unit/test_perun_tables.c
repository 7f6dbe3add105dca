/* The tables frame, stored_model and field, over resources that are built by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/perun/tables.h"

typedef struct fixture {
    as_dataset *ds;
    as_input input;
    as_reader reader;
    assay_error error;
    as_perun perun;
    as_flattener *flattener;
    as_perun_tables *tables;
} fixture;

static void begin(fixture *f) {
    *f = (fixture){.ds = as_dataset_new(0), .input = {.path = "file"}};
    f->reader = (as_reader){.input = &f->input, .dataset = f->ds, .error = &f->error};
    f->perun.records = as_records_new(f->ds, "record");
    as_vec_init(&f->perun.kinds, sizeof(as_perun_kind), NULL);
    f->flattener = as_flattener_new(NULL);
    f->tables = as_perun_tables_new(&f->reader, &f->perun, f->flattener);
    assert_non_null(f->tables);
    assert_int_equal(as_add_run(f->ds, &AS_RUN_INIT), 0);
}

static void end(fixture *f) {
    as_flattener_free(f->flattener);
    as_vec_free(&f->perun.kinds);
    as_dataset_free(f->ds);
}

/* A table as text: "name,…\n" and a line for each row; null is empty. */
static char *table_text(const fixture *f, const char *name) {
    const as_table *table = as_ds_records(f->ds, name);
    assert_non_null(table);
    size_t size, n_columns = as_table_columns(table);
    char *text, number[AS_NUMBER_SIZE];
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < n_columns; i++) fprintf(out, "%s,", as_table_column_name(table, i));
    for (size_t row = 0; row < as_table_rows(table); row++) {
        fputc('\n', out);
        for (size_t i = 0; i < n_columns; i++) {
            as_cell cell = as_table_get(table, row, i);
            number[0] = '\0';
            if (cell.type == AS_CELL_INT) as_int_format(cell.i, number);
            if (cell.type == AS_CELL_REAL) as_real_format_python(cell.r, number);
            if (cell.type == AS_CELL_TEXT) fprintf(out, "%.*s", (int)cell.size, cell.text);
            fprintf(out, "%s,", number);
        }
    }
    fclose(out);
    return text;
}

static void check_table(const fixture *f, const char *name, const char *expected) {
    char *text = table_text(f, name);
    assert_string_equal(text, expected);
    free(text);
}

static as_raw_json raw(const char *text) { return (as_raw_json){text, strlen(text)}; }

/* A kind with this trace (NULL: none), and n rows of it. */
static uint32_t add_kind(fixture *f, const char *trace, const as_shared_cell *cells, size_t n_cells, size_t n) {
    as_perun_kind kind = {.trace = trace ? raw(trace) : (as_raw_json){0}};
    assert_true(as_vec_append(&f->perun.kinds, &kind, 1));
    uint32_t id = as_records_add_kind(f->perun.records, cells, n_cells);
    assert_true(as_records_add_rows(f->perun.records, 0, id, n));
    return id;
}

static void frames_are_found_by_resource(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    add_kind(&f, NULL, NULL, 0, 1);
    uint32_t two = add_kind(&f,
                            "[{\"function\":\"f\",\"line\":1}, {\"function\":\"main\",\"id\":7,\"position\":null,"
                            "\"at\":{\"line\":2,\"file\":\"a\"}}]",
                            NULL, 0, 1);
    add_kind(&f, "[]", NULL, 0, 1);
    add_kind(&f, "[\"text\", {\"function\":\"f\",\"line\":1}, 3]", NULL, 0, 1);
    add_kind(&f, "\"text\"", NULL, 0, 1);
    assert_true(as_records_add_rows(f.perun.records, 0, two, 1));
    assert_int_equal(as_perun_tables_finish(f.tables), ASSAY_OK);
    check_table(&f, "frame",
                "id,run,record,position,function,line,source:id,source:position,at:line,at:file,at,\n"
                "0,0,1,0,f,1,,,,,,\n"
                "1,0,1,1,main,,7,,2,a,a:2,\n"
                "2,0,3,0,f,1,,,,,,\n"
                "3,0,5,0,f,1,,,,,,\n"
                "4,0,5,1,main,,7,,2,a,a:2,");
    end(&f);
}

static void rows_of_frames_can_be_read_in_any_order(void **state) {
    (void)state;
    enum { N = 3000 };
    fixture f;
    begin(&f);
    /* resources have 0, 1, 2, 3, 0, 1 … frames */
    uint32_t kinds[4] = {add_kind(&f, NULL, NULL, 0, 0), add_kind(&f, "[{\"func\":0}]", NULL, 0, 0),
                         add_kind(&f, "[{\"func\":0},{\"func\":1}]", NULL, 0, 0),
                         add_kind(&f, "[{\"func\":0},{\"func\":1},{\"func\":2}]", NULL, 0, 0)};
    for (size_t i = 0; i < N; i++) assert_true(as_records_add_rows(f.perun.records, 0, kinds[i % 4], 1));
    assert_int_equal(as_perun_tables_finish(f.tables), ASSAY_OK);
    const as_table *table = as_ds_records(f.ds, "frame");
    assert_int_equal(as_table_rows(table), N / 4 * 6);
    for (size_t i = 0, step = 1, row = 0; i < 30000; i++, row = (row + step) % (N / 4 * 6)) {
        if (i % 5000 == 4999) step = i; /* forwards one by one, then in great steps */
        size_t record = row / 6 * 4 + (row % 6 == 0 ? 1 : row % 6 < 3 ? 2 : 3);
        size_t position = row % 6 == 0 ? 0 : row % 6 < 3 ? row % 6 - 1 : row % 6 - 3;
        assert_int_equal(as_table_get(table, row, 2).i, record);
        assert_int_equal(as_table_get(table, row, 3).i, position);
        assert_int_equal(as_table_get(table, row, 4).i, position);
    }
    end(&f);
}

static void models_are_in_the_order_of_their_places(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    static const char TEXT[] =
        "[{\"uid\":\"s1\",\"snapshot\":9}]\n[{\"uid\":\"top\",\"r_square\":0.5,\"id\":1,"
        "\"coeffs\":[{\"name\":\"b0\",\"value\":1.5},{\"name\":\"b1\",\"value\":2}]}, 7, {}]\n"
        "[{\"uid\":{\"line\":1,\"file\":\"g\"},\"bucket_stats\":[1,2.0],\"ok\":true,\"none\":null}]\nnull\n\"x\"";
    const char *s1 = TEXT, *top = strchr(s1, '\n') + 1, *global = strchr(top, '\n') + 1,
               *null = strchr(global, '\n') + 1, *text = strchr(null, '\n') + 1;
    as_raw_json raws[] = {{s1, (size_t)(top - s1)},
                          {top, (size_t)(global - top)},
                          {global, (size_t)(null - global)},
                          {null, (size_t)(text - null)},
                          {text, strlen(text)}};
    assert_true(as_perun_note_models(f.tables, AS_PERUN_SNAPSHOTS, 1, raws[1])); /* the next one counts instead */
    assert_true(as_perun_note_models(f.tables, AS_PERUN_SNAPSHOTS, 1, raws[0]));
    assert_true(as_perun_note_models(f.tables, AS_PERUN_TYPES, 0, raws[1]));
    assert_true(as_perun_note_models(f.tables, AS_PERUN_GLOBAL, 0, raws[2]));
    assert_true(as_perun_note_models(f.tables, AS_PERUN_SNAPSHOTS, 0, raws[3]));
    assert_true(as_perun_note_models(f.tables, AS_PERUN_SNAPSHOTS, 2, raws[4]));
    assert_int_equal(as_perun_settle_models(f.tables, 0, "file", TEXT, &(as_perun_note){0}), ASSAY_OK);
    assert_int_equal(as_perun_settle_models(f.tables, 0, "file", TEXT, &(as_perun_note){0}),
                     ASSAY_OK); /* nothing is left */
    assert_int_equal(as_perun_tables_finish(f.tables), ASSAY_OK);
    check_table(
        &f, "stored_model",
        "id,run,uid:line,uid:file,uid,bucket_stats,ok,none,r_square,source:id,coeffs:b0,coeffs:b1,coeffs,snapshot,\n"
        "0,0,1,g,g:1,1,2.0,1,,,,,,,,\n"
        "1,0,,,top,,,,0.5,1,1.5,2,1.5:2,,\n"
        "2,0,,,,,,,,,,,,,\n"
        "3,0,,,s1,,,,,,,,,1,");
    assert_int_equal(f.ds->problems.count, 2); /* what is no object, what is no list */
    const as_problem *problem = as_ds_problem(f.ds, 0);
    assert_int_equal(problem->line, 2);
    assert_string_equal(problem->rule, "model-not-object");
    problem = as_ds_problem(f.ds, 1);
    assert_int_equal(problem->line, 5);
    assert_string_equal(problem->rule, "models-not-list");
    end(&f);
}

static void models_too_deep_are_an_error(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    static const char TEXT[] =
        "\n[{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
        "\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}}}}}}}}}}}}]";
    assert_true(as_perun_note_models(f.tables, AS_PERUN_LIST, 0, raw(TEXT + 1)));
    assert_int_equal(as_perun_settle_models(f.tables, 0, "file", TEXT, &(as_perun_note){0}), ASSAY_E_FORMAT);
    assert_int_equal(f.error.line, 2);
    assert_int_equal(f.error.column, 2);
    end(&f);
}

static void fields_are_counted(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    as_records *records = f.perun.records;
    uint32_t amount = as_records_column(records, as_ds_intern_text(f.ds, "amount"));
    uint32_t line = as_records_column(records, as_ds_intern_text(f.ds, "line"));
    uint32_t uid = as_records_column(records, as_ds_intern_text(f.ds, "uid"));
    uint32_t big = as_records_column(records, as_ds_intern_text(f.ds, "big"));
    as_records_column(records, as_ds_intern_text(f.ds, "none"));
    add_kind(&f, NULL, (as_shared_cell[]){{line, false, as_cell_int(3)}, {uid, false, as_cell_text("u")}}, 2, 3);
    add_kind(&f, NULL, (as_shared_cell[]){{line, false, as_cell_text("x")}, {uid, false, as_cell_null()}}, 2, 2);
    as_own_value text = {.text = as_ds_intern_text(f.ds, "12345678901234567890123")};
    assert_true(as_records_set(records, 0, amount, AS_OWN_INT, (as_own_value){.i = 1}));
    assert_true(as_records_set(records, 1, amount, AS_OWN_REAL, (as_own_value){.r = 1}));
    assert_true(as_records_set(records, 2, amount, AS_OWN_NULL, (as_own_value){0}));
    assert_true(as_records_set(records, 3, amount, AS_OWN_TEXT, text));
    assert_true(as_records_set(records, 4, big, AS_OWN_DIGITS, text));
    assert_true(as_records_set(records, 1, line, AS_OWN_NULL, (as_own_value){0}));
    assert_true(as_records_set(records, 2, line, AS_OWN_TEXT, text));
    assert_true(as_records_set(records, 4, line, AS_OWN_TRUE, (as_own_value){0}));
    assert_int_equal(as_perun_tables_finish(f.tables), ASSAY_OK);
    /* line: 3, null, text, "x", true: four values, of which the first and the last are numbers */
    check_table(&f, "field",
                "id,run,name,rows,numbers,whose,\n0,,amount,3,2,row,\n1,,line,4,2,both,\n2,,uid,3,0,type,\n"
                "3,,big,1,1,row,\n4,,none,0,0,,");
    end(&f);
}

static void tables_may_be_empty(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(as_perun_tables_finish(f.tables), ASSAY_OK);
    check_table(&f, "frame", "id,run,record,position,");
    check_table(&f, "stored_model", "id,run,");
    check_table(&f, "field", "id,run,name,rows,numbers,whose,");
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_found_by_resource),
        cmocka_unit_test(rows_of_frames_can_be_read_in_any_order),
        cmocka_unit_test(models_are_in_the_order_of_their_places),
        cmocka_unit_test(models_too_deep_are_an_error),
        cmocka_unit_test(fields_are_counted),
        cmocka_unit_test(tables_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
