#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>

#include "point_names.h"
#include "temporary.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void assert_name(const char *name, const char *expected) { assert_point_name(as_point_parse, name, expected); }

static void names_as_extra_p_reads_them(void **state) {
    (void)state;
    assert_name("mm.x1y1z1", "x=1 y=1 z=1");
    assert_name("mm.x1.1,y1,1,z1.1.r1", "x=1.1 y=1.1 z=1.1 r1");
    assert_name("mm.p4.r10", "p=4 r10");
    assert_name("mm.p4.n16.rank2", "p=4 n=16"); /* any ".r" ends it */
    assert_name("mm.p1e3", "p=1 e=3");
    assert_name("mm.p-4", "p-=4");
    assert_name("mm.p,4", "p=0.4");
    assert_name("mm.p4.,", "p=4");
    assert_name("mm.P 4", "P =4");
    assert_name("p4", "p=4");
    assert_name("x1.5y1", "no name before");
    assert_name("my.app.p4", "no number");
    assert_name("mm.4", "no name before");
    assert_name("mm.p4x", "behind its last number");
    assert_name("mm.p1.2.3", "no number");
    assert_name("mm.p", "no number in it");
    assert_name("app", "no number in it");
    assert_name("app.", "no parameter");
    assert_name("app.r4", "no parameter"); /* a repetition of nothing */
    assert_name("", "no parameter");
    assert_name("mm.\tp4", "no text");
    assert_name("mm.\xff\xfe"
                "4",
                "no text");
    char number[80] = "mm.p";
    memset(number + 4, '1', 70);
    assert_name(number, "no number");
    char many[AS_POINT_MAX_PAIRS * 2 + 6] = "mm.";
    for (size_t i = 0; i <= AS_POINT_MAX_PAIRS; i++) memcpy(many + 3 + 2 * i, "a1", 2);
    assert_name(many, "too many");
}

/* ---- directories ------------------------------------------------------------------------------------------------- */

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

static void write_point(const char *directory, const char *name) {
    char path[300];
    mkdir(temporary_path(directory), 0700);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    write_temporary(path, "x", 1);
}

typedef struct found {
    as_input input;
    as_reader reader;
    as_point_set set;
    assay_error error;
    char text[1200];
} found;

static const as_point_rules STRICT = {
    .ending = ".x", .parse = as_point_parse, .takes_files = true, .takes_one_point = true, .counts_ranks = true};

static const as_option OPTIONS[] = {AS_POINTS_OPTION, {NULL, AS_OPTION_TEXT, NULL, NULL, NULL}};

/* given: NULL, or "points=…" and NULL. */
static assay_status find_some(found *f, const as_point_rules *rules, const char *const *given) {
    *f = (found){.input = {.path = temporary_folder, .is_directory = true}};
    f->reader =
        (as_reader){.input = &f->input, .dataset = as_dataset_new(0), .options = {OPTIONS, given}, .error = &f->error};
    return as_point_set_find(&f->reader, rules, &f->set);
}

static assay_status find(found *f, const as_point_rules *rules) { return find_some(f, rules, NULL); }

static void free_found(found *f) {
    as_point_set_free(&f->set);
    as_dataset_free(f->reader.dataset);
}

/* "p n: (1,2) (3,4)", or the error. */
static const char *describe_points(found *f, const as_point_rules *rules) {
    if (find(f, rules) != ASSAY_OK) {
        snprintf(f->text, sizeof f->text, "%s: %s", f->error.rule, f->error.message);
        return f->text;
    }
    const as_dataset *ds = f->reader.dataset;
    char *at = f->text;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) at += sprintf(at, "%s%s", i ? " " : "", as_ds_parameter(ds, i));
    at += sprintf(at, ":");
    for (assay_id p = 0; p < ds->n_points; p++) {
        for (size_t i = 0; i < as_ds_parameters(ds); i++)
            at += sprintf(at, "%s%g", i ? "," : " (", as_ds_point(ds, p)[i]);
        at += sprintf(at, ")");
    }
    return f->text;
}

static void assert_points(const char *first, const char *second, const char *expected) {
    found f;
    make_temporary_folder(NULL);
    write_point(first, "a.x");
    if (second) write_point(second, "a.x");
    const char *text = describe_points(&f, &STRICT);
    if (strcmp(text, expected) != 0 && !(strncmp(text, "point-name", 10) == 0 && strstr(text, expected)))
        fail_msg("'%s' and '%s': expected %s, got %s", first, second, expected, text);
    free_found(&f);
    remove_all(NULL);
}

/* What Extra-P says of pairs of directories; what it fails at is an error that names one. */
static void pairs_of_directories(void **state) {
    (void)state;
    assert_points("mm.a1.1b1.1c1.1", "mm.a2.1b1.5c3", "a b c: (1.1,1.1,1.1) (2.1,1.5,3)");
    assert_points("mm.x1y1z1", "mm.x2y3z4", "x y z: (1,1,1) (2,3,4)");
    assert_points("mm.x1y1z1.r1", "mm.x2y1z1.r1", "x: (1) (2)");
    assert_points("mm.a1,1.b1,1.c1,1.r1", "mm.a2,1.b2,1.c3,1.r1", "a b c: (1.1,1.1,1.1) (2.1,2.1,3.1)");
    assert_points("mm.x1.1,y1,1,z1.1.r1", "mm.x2.1,y2,1,z2.1.r1", "x y z: (1.1,1.1,1.1) (2.1,2.1,2.1)");
    assert_points("mm.x1.1.y1.1.z1.1.r1", "mm.x2.1.y2.1.z2.1.r1", "x y z: (1.1,1.1,1.1) (2.1,2.1,2.1)");
    assert_points("mm.x1.y1.z1.r1", "mm.x2.y2.z2.r1", "x y z: (1,1,1) (2,2,2)");
    assert_points("x1y1z1", "x2y2z2", "x y z: (1,1,1) (2,2,2)");
    assert_points("x1.5y1", "x2.5y2", "'x1.5y1'");
    assert_points("mm.p4.r1", "mm.p8.r10", "p: (4) (8)");
    assert_points("mm.p4.n16.r1", "mm.p8.n16.r1", "p: (4) (8)");
    assert_points("mm.p4rest7", "mm.p8rest9", "p rest: (4,7) (8,9)");
    assert_points("run.p4.rank2", "run.p8.rank4", "p: (4) (8)");
    assert_points("p4", "p8", "p: (4) (8)");
    assert_points("my.app.p4", "my.app.p8", "'my.app.p4'");
    assert_points("lulesh2.p4", "lulesh2.p8", "p: (4) (8)");
    assert_points("mm.4", "mm.8", "'mm.4'");
    assert_points("mm.p4x", "mm.p8x", "'mm.p4x'");
    assert_points("mm.p-4", "mm.p-8", "p-: (4) (8)");
    assert_points("mm.p1e3", "mm.p2e3", "p: (1) (2)");
    assert_points("mm.p1.2.3", "mm.p4", "'mm.p1.2.3'");
    assert_points("mm.p4.r1", "mm.p4.r2", "p: (4)"); /* Extra-P refuses one point */
    assert_points("scorep-mm.p1", "scorep-mm.p2", "p: (1) (2)");
    assert_points("scorep-1", "scorep-2", "scorep-: (1) (2)");
    assert_points("mm.p,4", "mm.p,8", "p: (0.4) (0.8)");
    assert_points("mm.P 4", "mm.P 8", "P : (4) (8)");
}

static void points_of_one_kind(void **state) {
    (void)state;
    assert_points("mm.p16", "mm.p2", "p: (2) (16)"); /* as numbers, not as texts */
    assert_points("mm.p4.n16", NULL, "p n: (4,16)"); /* one point keeps all */
    assert_points("mm.p4", "mm.q4", "'mm.q4' has the parameters q, 'mm.p4' has p");
    assert_points("mm.p4n1", "mm.n1p4", "'mm.p4n1' has the parameters p, n, 'mm.n1p4' has n, p");
    assert_points("mm.p4p5", "mm.p5p6", "the parameter 'p' comes twice in 'mm.p4p5'");
    assert_points("mm.p4p5", "mm.p4p6", "p: (5) (6)"); /* one of them is dropped */
}

/* The directories of what is found with the option, or the error. */
static const char *describe_some(found *f, const char *option) {
    const char *given[] = {option, NULL};
    char *at = f->text;
    assay_status status = find_some(f, &STRICT, given);
    if (status != ASSAY_OK) {
        assert_int_equal(status, ASSAY_E_USAGE);
        snprintf(f->text, sizeof f->text, "%s", f->error.message);
        return f->text;
    }
    for (size_t i = 0; i < f->set.files.count; i++)
        at += sprintf(at, "%s%s", i ? " " : "", as_point_file_at(&f->set, i)->directory);
    return f->text;
}

static void chosen_points(void **state) {
    (void)state;
    static const struct {
        const char *option, *expected;
    } cases[] = {{"points=", "mm.p2 mm.p4 mm.p16"},
                 {"points=mm.p4:mm.p2", "mm.p2 mm.p4"},
                 {"points=mm.p4:mm.p16:mm.p4", "mm.p4 mm.p16"},
                 {"points=mm.p1", "has no directory 'mm.p1' with .x files, which -O points names"},
                 {"points=mm.p2:mm.p", "has no directory 'mm.p' with .x files, which -O points names"},
                 {"points=mm.p2:notes", "has no directory 'notes' with .x files, which -O points names"},
                 {"points=mm.p2:", "has no directory '' with .x files, which -O points names"}};
    make_temporary_folder(NULL);
    write_point("mm.p16", "a.x");
    write_point("mm.p2", "a.x");
    write_point("mm.p4", "a.x");
    write_point("notes", "a.txt");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        found f;
        assert_string_equal(describe_some(&f, cases[i].option), cases[i].expected);
        free_found(&f);
    }
    remove_all(NULL);
}

static void runs_of_files(void **state) {
    (void)state;
    make_temporary_folder(NULL);
    write_point("mm.p16.r1", "only.x");
    write_point("mm.p2.r10", "b.x");
    write_point("mm.p2.r9", "b.x");
    write_point("mm.p2.r9", "a.x");
    write_point("mm.p2.r9", ".hidden.x");
    write_point("mm.p2.r9", "a.y");
    write_point(".p3", "a.x");
    write_point("notes", "a.txt");
    mkdir(temporary_path("mm.p2.r9/c.x"), 0700);
    write_temporary("p7.x", "x", 1); /* not where directories have some */
    found f;
    assert_string_equal(describe_points(&f, &STRICT), "p: (2) (16)");
    static const struct {
        const char *file;
        assay_id point;
        uint32_t repetition;
        int64_t rank;
    } runs[] = {{"mm.p2.r9/a.x", 0, 0, 0},
                {"mm.p2.r9/b.x", 0, 1, 1},
                {"mm.p2.r10/b.x", 0, 2, 0},
                {"mm.p16.r1/only.x", 1, 0, 0}};
    const as_dataset *ds = f.reader.dataset;
    assert_int_equal(ds->runs.count, 4);
    assert_int_equal(ds->attributes.count, 4);
    for (assay_id i = 0; i < 4; i++) {
        const as_run *run = as_ds_run(ds, i);
        assert_string_equal(as_ds_text(ds, run->source), temporary_path(runs[i].file));
        assert_string_equal(as_point_file_at(&f.set, i)->path, temporary_path(runs[i].file));
        assert_int_equal(run->point, runs[i].point);
        assert_int_equal(run->repetition, runs[i].repetition);
        const as_attribute *attribute = as_ds_attribute(ds, i);
        assert_int_equal(attribute->owner, AS_OWNER_RUN);
        assert_int_equal(attribute->owner_id, i);
        assert_string_equal(as_ds_text(ds, attribute->key), "rank");
        assert_int_equal(attribute->value.i, runs[i].rank);
    }
    free_found(&f);
    assert_int_equal(as_point_set_look(temporary_folder, ".x"), AS_POINTS_DIRECTORIES);
    assert_int_equal(as_point_set_look(temporary_folder, ".y"), AS_POINTS_DIRECTORIES);
    assert_int_equal(as_point_set_look(temporary_folder, ".z"), AS_POINTS_NONE);
    assert_int_equal(as_point_set_look(temporary_path("mm.p2.r9"), ".y"), AS_POINTS_FILES);
    remove_all(NULL);
}

static void files_named_like_points(void **state) {
    (void)state;
    as_point_rules rules = STRICT;
    found f;
    make_temporary_folder(NULL);
    assert_string_equal(describe_points(&f, &STRICT), "no-files: there are no .x files in the directories of this one; "
                                                      "a set is DIR/POINT/FILE.x");
    free_found(&f);
    write_temporary("app.p8.r1.x", "x", 1);
    write_temporary("app.p4.X", "x", 1);
    write_temporary(".app.p2.x", "x", 1);
    assert_string_equal(describe_points(&f, &STRICT), "p: (4) (8)");
    assert_int_equal(f.set.files.count, 2);
    free_found(&f);
    rules.takes_files = false;
    assert_non_null(strstr(describe_points(&f, &rules), "but has app.p4.X; give that file"));
    free_found(&f);
    write_temporary("other.x", "x", 1);
    assert_non_null(strstr(describe_points(&f, &STRICT), "the file 'other' names no point"));
    free_found(&f);
    remove_all(NULL);
}

/* A point of a set may be given alone: its files are its runs, not points of their own numbers. */
static void a_directory_of_a_point(void **state) {
    (void)state;
    found f;
    make_temporary_folder(NULL);
    write_point("mm.p4.n5", "rank0.x");
    write_point("mm.p4.n5", "rank1.x");
    write_point("runs.v2", "app.p4.x");
    write_point("runs.v2", "app.p8.x");
    strcat(temporary_folder, "/mm.p4.n5/");
    assert_string_equal(describe_points(&f, &STRICT), "p n: (4,5)");
    assert_int_equal(f.set.files.count, 2);
    assert_int_equal(as_point_file_at(&f.set, 1)->rank, 1);
    free_found(&f);
    strcpy(strrchr(temporary_folder, 'm') - 1, "runs.v2");
    assert_string_equal(describe_points(&f, &STRICT), "p: (4) (8)");
    free_found(&f);
    *strrchr(temporary_folder, '/') = 0;
    remove_all(NULL);
}

static void one_point_may_be_too_few(void **state) {
    (void)state;
    as_point_rules rules = STRICT;
    found f;
    rules.takes_one_point = false;
    make_temporary_folder(NULL);
    write_point("mm.p4.n5", "a.x");
    assert_non_null(strstr(describe_points(&f, &rules), "no parameter varies"));
    free_found(&f);
    remove_all(NULL);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reading {
    int calls[8];
    assay_status statuses[8]; /* of each file */
    int failures[8];          /* how often it fails; then it is fine */
} reading;

static assay_status read_file(void *user, size_t i, assay_error *error) {
    reading *r = user;
    r->calls[i]++;
    if (r->calls[i] > r->failures[i]) return ASSAY_OK;
    return as_fail(error, r->statuses[i], as_place_file("somewhere"), "test", "file %d", (int)i);
}

static void the_first_error_counts(void **state) {
    (void)state;
    found f;
    char name[16];
    make_temporary_folder(NULL);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "p%d", i + 1);
        write_point(name, "a.x");
    }
    assert_int_equal(find(&f, &STRICT), ASSAY_OK);
    reading fine = {{0}, {0}, {0}};
    assert_int_equal(as_point_set_read(&f.set, read_file, &fine), ASSAY_OK);
    for (int i = 0; i < 8; i++) assert_int_equal(fine.calls[i], 1);
    reading bad = {.statuses = {[3] = ASSAY_E_FORMAT, [6] = ASSAY_E_IO}, .failures = {[3] = 99, [6] = 99}};
    assert_int_equal(as_point_set_read(&f.set, read_file, &bad), ASSAY_E_FORMAT);
    assert_string_equal(f.error.message, "file 3");
    /* Memory may be out because several are read at once. */
    reading tight = {.statuses = {[2] = ASSAY_E_NOMEM}, .failures = {[2] = 1}};
    assert_int_equal(as_point_set_read(&f.set, read_file, &tight), ASSAY_OK);
    for (int i = 0; i < 8; i++) assert_int_equal(tight.calls[i], i == 2 ? 2 : 1);
    reading large = {.statuses = {[2] = ASSAY_E_NOMEM}, .failures = {[2] = 99}};
    assert_int_equal(as_point_set_read(&f.set, read_file, &large), ASSAY_E_NOMEM);
    free_found(&f);
    remove_all(NULL);
}

static bool stop(void *user, const char *stage, double fraction) {
    (void)stage;
    assert_true(fraction >= 0 && fraction <= 1);
    return --*(int *)user > 0;
}

static void reading_can_be_stopped(void **state) {
    (void)state;
    found f;
    int left = 1;
    make_temporary_folder(NULL);
    write_point("p1", "a.x");
    write_point("p2", "a.x");
    assert_int_equal(find(&f, &STRICT), ASSAY_OK);
    f.reader.progress = stop;
    f.reader.user = &left;
    f.reader.threads = 1;
    reading fine = {{0}, {0}, {0}};
    assert_int_equal(as_point_set_read(&f.set, read_file, &fine), ASSAY_E_CANCELLED);
    assert_int_equal(fine.calls[1], 0);
    free_found(&f);
    remove_all(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_as_extra_p_reads_them),
        cmocka_unit_test(pairs_of_directories),
        cmocka_unit_test(points_of_one_kind),
        cmocka_unit_test(chosen_points),
        cmocka_unit_test(runs_of_files),
        cmocka_unit_test(files_named_like_points),
        cmocka_unit_test(a_directory_of_a_point),
        cmocka_unit_test(one_point_may_be_too_few),
        cmocka_unit_test(the_first_error_counts),
        cmocka_unit_test(reading_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
