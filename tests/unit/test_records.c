/* Tables whose rows share cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset/records.h"

static as_own_value whole(int64_t i) { return (as_own_value){.i = i}; }

typedef struct fixture {
    as_dataset *ds;
    as_records *records;
    uint32_t a, b, name; /* columns */
} fixture;

/* Two kinds, "x" (with b = 7 for all) and "y"; rows x y x x. */
static void begin(fixture *f) {
    f->ds = as_dataset_new(0);
    f->records = as_records_new(f->ds, "record");
    assert_non_null(f->records);
    f->a = as_records_column(f->records, as_ds_intern_text(f->ds, "a"));
    f->b = as_records_column(f->records, as_ds_intern_text(f->ds, "b"));
    f->name = as_records_column(f->records, as_ds_intern_text(f->ds, "name"));
    as_shared_cell x[] = {{f->name, false, as_cell_text("x")}, {f->b, false, as_cell_int(7)}},
                   y[] = {{f->name, false, as_cell_text("y")}};
    assert_int_equal(as_records_add_kind(f->records, x, 2), 0);
    assert_int_equal(as_records_add_kind(f->records, y, 1), 1);
    assert_true(as_records_add_rows(f->records, 0, 0, 1));
    assert_true(as_records_add_rows(f->records, 0, 1, 1));
    assert_true(as_records_add_rows(f->records, 3, 0, 2));
}

static void rows_have_their_own_cells_and_those_of_their_kind(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_true(as_records_set(f.records, 1, f.a, AS_OWN_INT, whole(5)));
    assert_true(as_records_set(f.records, 2, f.b, AS_OWN_NULL, whole(0)));
    const as_table *table = as_ds_records(f.ds, "record");
    assert_int_equal(as_table_rows(table), 4);
    assert_int_equal(as_table_columns(table), 5);
    assert_string_equal(as_table_column_name(table, 2), "a");
    assert_int_equal(as_table_get(table, 3, 0).i, 3); /* id */
    assert_int_equal(as_table_get(table, 1, 1).i, 0); /* run */
    assert_int_equal(as_table_get(table, 2, 1).i, 3);
    assert_int_equal(as_table_get(table, 0, 2).type, AS_CELL_NULL);
    assert_int_equal(as_table_get(table, 1, 2).i, 5);
    assert_int_equal(as_table_get(table, 0, 3).i, 7);
    assert_int_equal(as_table_get(table, 1, 3).type, AS_CELL_NULL);
    assert_int_equal(as_table_get(table, 2, 3).type, AS_CELL_NULL); /* said so by the row */
    assert_int_equal(as_table_get(table, 3, 3).i, 7);
    assert_string_equal(as_table_get(table, 1, 4).text, "y");
    as_dataset_free(f.ds);
}

static void cells_can_be_set_again_and_in_any_order(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_true(as_records_set(f.records, 3, f.a, AS_OWN_INT, whole(1)));
    assert_true(as_records_set(f.records, 0, f.a, AS_OWN_INT, whole(2)));
    assert_true(as_records_set(f.records, 3, f.a, AS_OWN_ABSENT, whole(0)));
    as_own_column own = as_records_own(f.records, f.a);
    assert_int_equal(own.count, 4);
    assert_int_equal(own.values[0].i, 2);
    assert_int_equal(own.types[1], AS_OWN_ABSENT);
    assert_int_equal(own.types[3], AS_OWN_ABSENT);
    as_dataset_free(f.ds);
}

static void numbers_are_set_many_at_once(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    as_number numbers[] = {{.kind = AS_INT, .i = -4}, {.kind = AS_UINT, .u = UINT64_MAX}, {.kind = AS_REAL, .r = 0.5}};
    assert_true(as_records_set_numbers(f.records, 1, f.a, numbers, 3));
    assert_int_equal(as_records_cell(f.records, 0, f.a).type, AS_CELL_NULL);
    assert_int_equal(as_records_cell(f.records, 1, f.a).i, -4);
    assert_int_equal(as_records_cell(f.records, 2, f.a).type, AS_CELL_UINT);
    assert_true(as_records_cell(f.records, 2, f.a).u == UINT64_MAX);
    assert_true(as_records_cell(f.records, 3, f.a).r == 0.5);
    bool is_number;
    assert_true(as_records_number(f.records, 3, f.a, &is_number) == 0.5 && is_number);
    assert_true(as_records_number(f.records, 3, f.b, &is_number) == 7 && is_number);
    assert_true(isnan(as_records_number(f.records, 3, f.name, &is_number)) && !is_number);
    as_dataset_free(f.ds);
}

static void rows_can_be_expected(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    fixture f;
    begin(&f);
    as_number number = {.kind = AS_REAL, .r = 0.5};
    assert_true(as_records_set_numbers(f.records, 3, f.a, &number, 1));
    as_records_expect(f.records, MANY);
    assert_int_equal(as_records_rows(f.records), 4);
    const as_own_value *values = as_records_own(f.records, f.a).values;
    assert_true(as_records_add_rows(f.records, 3, 1, MANY - 4));
    for (size_t i = 4; i < MANY; i++) assert_true(as_records_set_numbers(f.records, i, f.a, &number, 1));
    assert_ptr_equal(as_records_own(f.records, f.a).values, values); /* nothing moved */
    assert_int_equal(as_records_own(f.records, f.b).count, 0);
    assert_true(as_records_number(f.records, 3, f.a, NULL) == 0.5);
    assert_int_equal(as_records_row_kinds(f.records)[2], 0);
    assert_int_equal(as_records_row_kinds(f.records)[MANY - 1], 1);
    as_dataset_free(f.ds);
}

static void text_keeps_its_length(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    as_own_value text = {.text = as_ds_intern(f.ds, "a\0b", 3)};
    assert_true(as_records_set(f.records, 0, f.a, AS_OWN_TEXT, text));
    as_cell cell = as_records_cell(f.records, 0, f.a);
    assert_int_equal(cell.size, 3);
    assert_memory_equal(cell.text, "a\0b", 3);
    assert_true(as_records_set(f.records, 1, f.a, AS_OWN_TRUE, whole(0)));
    assert_int_equal(as_records_cell(f.records, 1, f.a).i, 1);
    bool is_number = true;
    as_records_number(f.records, 1, f.a, &is_number);
    assert_false(is_number);
    as_dataset_free(f.ds);
}

static void columns_and_tables_are_found_by_name(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_ptr_equal(as_ds_shared_records(f.ds, "record"), f.records);
    assert_null(as_ds_shared_records(f.ds, "other"));
    assert_int_equal(as_records_find_column(f.records, "b"), f.b);
    assert_int_equal(as_records_find_column(f.records, "run"), UINT32_MAX);
    assert_int_equal(as_records_column(f.records, as_ds_intern_text(f.ds, "name")), f.name);
    size_t n;
    const as_shared_cell *cells = as_records_kind(f.records, 0, &n);
    assert_int_equal(n, 2);
    assert_int_equal(cells[0].column, f.b); /* in order of columns, however they were given */
    as_dataset_free(f.ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_own_cells_and_those_of_their_kind),
        cmocka_unit_test(cells_can_be_set_again_and_in_any_order),
        cmocka_unit_test(numbers_are_set_many_at_once),
        cmocka_unit_test(rows_can_be_expected),
        cmocka_unit_test(text_keeps_its_length),
        cmocka_unit_test(columns_and_tables_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
