/* Events that a source makes when they are asked for: the tables event and attribute over a million of them, what is
 * lost with them, and how few are made for an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "dataset/build.h"
#include "formats/format.h"
#include "query/query.h"
#include "temporary.h"

enum { N_EVENTS = 1000000, FIRST_NUMBER = 16 };

/* Event i is number 16 + i, begins at i / 2 and lasts 1/4; those of even number have two tags, size = i and half = i /
 * 2. */
typedef struct made_source {
    as_event_source base;
    as_str names[2], kind, size, half;
    uint64_t n_made;
} made_source;

static as_dataset *ds;
static sqlite3 *db;
static made_source *source;

static void make_event(const as_event_source *base, uint64_t event, as_event *out) {
    made_source *s = (made_source *)(uintptr_t)base;
    assert_true(event < N_EVENTS);
    s->n_made++;
    *out = (as_event){.source_id = AS_NO_STR,
                      .is_numbered = true,
                      .source_number = FIRST_NUMBER + event,
                      .name = s->names[event % 2],
                      .kind = s->kind,
                      .run = 0,
                      .location = ASSAY_NONE,
                      .context = (assay_id)(event % 2),
                      .start = (double)event / 2,
                      .end = (double)event / 2 + 0.25,
                      .start_raw = as_cell_uint(event * 500),
                      .end_raw = as_cell_uint(event * 500 + 250)};
}

static void make_attribute(const as_event_source *base, uint64_t attribute, as_attribute *out) {
    const made_source *s = (const made_source *)base;
    uint64_t event = attribute / 2 * 2;
    assert_true(attribute < N_EVENTS);
    *out = (as_attribute){.owner = AS_OWNER_EVENT,
                          .owner_id = (assay_id)event,
                          .key = attribute % 2 ? s->half : s->size,
                          .value = as_cell_uint(attribute % 2 ? event / 2 : event)};
}

static uint64_t find_first_attribute(const as_event_source *base, uint64_t event) {
    (void)base;
    assert_true(event <= N_EVENTS);
    return (event + 1) / 2 * 2;
}

static int make(void **state) {
    ds = as_dataset_new(0);
    as_run run = AS_RUN_INIT;
    as_add_run(ds, &run);
    as_tree tree;
    as_tree_init(&tree, ds);
    as_tree_path(&tree, "main", 4);
    as_tree_path(&tree, "main->f", 7);
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "title", as_cell_text("made"));
    as_add_attribute(ds, AS_OWNER_CONTEXT, 1, "tag:size", as_cell_int(7));
    source = as_arena_alloc(&ds->arena, sizeof *source);
    *source = (made_source){
        .base = {N_EVENTS, N_EVENTS, make_event, make_attribute, find_first_attribute},
        .names = {as_ds_intern_text(ds, "even"), as_ds_intern_text(ds, "odd")},
        .kind = as_ds_intern_text(ds, "region"),
        .size = as_ds_intern_text(ds, "tag:size"),
        .half = as_ds_intern_text(ds, "tag:half"),
    };
    ds->event_source = &source->base;
    assay_error error;
    if (as_sql_open(&ds, NULL, 1, &db, &error) != ASSAY_OK) return -1;
    return make_temporary_folder(state);
}

static int unmake(void **state) {
    int status = sqlite3_close(db) == SQLITE_OK ? 0 : -1;
    as_dataset_free(ds);
    return remove_temporary_folder(state) || status;
}

/* Compares rows, cells separated by blanks and rows by "; ". */
static void check(const char *sql, const char *expected) {
    char got[1024] = "";
    size_t size = 0;
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (status == SQLITE_OK || status == SQLITE_ROW) {
        status = sqlite3_step(statement);
        if (status != SQLITE_ROW) break;
        if (size) size += (size_t)snprintf(got + size, sizeof got - size, "; ");
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *cell = (const char *)sqlite3_column_text(statement, i);
            size += (size_t)snprintf(got + size, sizeof got - size, "%s%s", i ? " " : "", cell ? cell : "-");
        }
    }
    if (status != SQLITE_DONE) snprintf(got, sizeof got, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    if (strcmp(got, expected) != 0) fail_msg("%s\n  expected %s\n  got      %s", sql, expected, got);
}

static void events_are_rows(void **state) {
    (void)state;
    assert_int_equal(as_ds_events(ds), N_EVENTS);
    check("select * from event where id = 15", "15 0x1f 0 - 1 odd region 7.5 7.75 7500 7750");
    check("select count(*), count(distinct source_id), min(start), max(\"end\"), sum(context) from event",
          "1000000 1000000 0.0 499999.75 500000");
    check("select id from event where start > 499999", "999999");
    check("select id from event where start_raw between 1000 and 1999", "2; 3");
    check("select count(*) from event where context = 1", "500000");
    check("select count(*) from event where id = 1000000 or run = 1 or location = 0", "0");
}

static void few_are_made(void **state) {
    (void)state;
    check("select source_id, name, start, \"end\" from event where id = 999999", "0xf424f odd 499999.5 499999.75");
    assert_in_range(source->n_made, 1, 2);
    source->n_made = 0;
    check("select id from event where source_id = '0x1f'", "15");
    check("select id from event where source_id = '0x10'", "0");
    check("select id from event where source_id in ('0x01f', '31', '0x1F', '0x', '', '0xf424f')", "999999");
    /* One for each index entry, and those that share a bucket. */
    assert_in_range(source->n_made, N_EVENTS, N_EVENTS + 1000);
}

static void attributes_follow_those_of_the_dataset(void **state) {
    (void)state;
    assert_int_equal(as_ds_attribute_count(ds), N_EVENTS + 2);
    check("select owner, count(*) from attribute group by owner order by owner", "context 1; dataset 1; event 1000000");
    check("select * from attribute limit 4", "dataset 0 title made; context 1 tag:size 7; event 0 tag:size 0; "
                                             "event 0 tag:half 0");
    check("select key, value from attribute where owner = 'event' and owner_id = 10", "tag:size 10; tag:half 5");
    check("select owner, value from attribute where owner_id = 1", "context 7");
    check("select owner, key from attribute where owner_id = 0", "dataset title; event tag:size; event tag:half");
    check("select count(*) from attribute where owner = 'event' and owner_id in (1, -1, 1000000, 'x', null)", "0");
    check("select owner from attribute where owner_id = 1.0", "context");
    check("select count(*), sum(owner = 'event') from attribute where key = 'tag:size'", "500001 500000");
    check("select value from attribute where key = 'tag:size' and owner = 'context'", "7");
    check("select count(*) from attribute where key = 'tag:none' or owner = 'nobody' or key = null", "0");
    check("select count(*) from attribute where key like 'TAG:HALF'", "500000");
}

/* Would be a million times a million rows where each tag were looked for among all. */
static void joins_are_linear(void **state) {
    (void)state;
    check("select count(*), sum(a.value = e.id) from event e join attribute a on a.owner = 'event' and "
          "a.owner_id = e.id and a.key = 'tag:size'",
          "500000 500000");
    check("select count(*) from attribute a join event e on e.id = a.owner_id where a.owner = 'event'", "1000000");
    check("select count(*) from event e join event f on f.source_id = e.source_id", "1000000");
    check("select a.value, count(*) from event e join attribute a on a.owner = 'context' and a.owner_id = e.context "
          "group by 1",
          "7 500000");
}

static bool is_lost(const as_losses *losses, const char *text) {
    for (size_t i = 0; i < losses->texts.count; i++) {
        if (strcmp(AS_AT(char *, &losses->texts, i), text) == 0) return true;
    }
    return false;
}

static void losses_count_them(void **state) {
    (void)state;
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find("cube"), &losses);
    assert_true(is_lost(&losses, "1000000 events"));
    assert_true(is_lost(&losses, "1000000 attributes (tag:size, tag:half)"));
    as_losses_free(&losses);
    as_losses_init(&losses);
    as_find_losses(ds, as_format_find("hpctoolkit-4"), &losses);
    for (size_t i = 0; i < losses.texts.count; i++) /* intervals of call paths are time lines there */
        assert_null(strstr(AS_AT(char *, &losses.texts, i), "event"));
    assert_false(losses.failed);
    as_losses_free(&losses);
}

static void a_real_database_has_them_too(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/out.sqlite", temporary_folder);
    assay_error error;
    assert_int_equal(as_sql_export(ds, path, &error), ASSAY_OK);
    sqlite3_close(db);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check("select count(*), sum(start_raw) from event", "1000000 249999750000000");
    check("select e.source_id, a.value from event e join attribute a on a.owner = 'event' and a.owner_id = e.id where "
          "e.id = 14",
          "0x1e 14; 0x1e 7");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_rows, make, unmake),
        cmocka_unit_test_setup_teardown(few_are_made, make, unmake),
        cmocka_unit_test_setup_teardown(attributes_follow_those_of_the_dataset, make, unmake),
        cmocka_unit_test_setup_teardown(joins_are_linear, make, unmake),
        cmocka_unit_test_setup_teardown(losses_count_them, make, unmake),
        cmocka_unit_test_setup_teardown(a_real_database_has_them_too, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
