/* Sums over records by uid, or by uid and location. */
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks_private.h"
#include "dataset/records.h"

/* What is behind a table: the records themselves where rows share cells, so that a million rows cost a million
 * additions and not three million lookups. */
typedef struct source {
    const as_table *table;
    const as_records *records;    /* or NULL */
    size_t uid, location, number; /* columns of the table; SIZE_MAX: none */
    uint32_t *kind_groups;        /* of a kind whose uid and location are all its rows'; AS_MAP_NONE: not known yet */
} source;

typedef struct grouping {
    as_check_groups *out;
    as_strings strings; /* uids and locations */
    as_map group_of;    /* as_pair(uid, location) -> group */
    as_vec rests;       /* double: what the sum of each group lost by rounding */
    bool by_location;
} grouping;

static bool open_source(const as_dataset *ds, const char *column, bool by_location, source *s) {
    *s = (source){.table = as_ds_records(ds, "record")};
    if (!s->table) return false;
    s->records = as_ds_shared_records(ds, "record");
    s->uid = as_table_find_column(s->table, "uid");
    s->location = by_location ? as_table_find_column(s->table, "location") : SIZE_MAX;
    s->number = as_table_find_column(s->table, column);
    return s->uid != SIZE_MAX;
}

/* The id of a cell's text; AS_NO_STR for a null cell, or (*is_short) when memory is out. */
static as_str intern_cell(grouping *g, as_cell cell, bool *is_short) {
    char digits[AS_NUMBER_SIZE];
    const char *text = cell.text;
    size_t size = cell.size;
    if (cell.type == AS_CELL_NULL) return AS_NO_STR;
    if (cell.type != AS_CELL_TEXT && cell.type != AS_CELL_JSON) {
        as_number number = {.kind = AS_REAL, .r = cell.r};
        if (cell.type == AS_CELL_INT) number = (as_number){.kind = AS_INT, .i = cell.i};
        if (cell.type == AS_CELL_UINT) number = (as_number){.kind = AS_UINT, .u = cell.u};
        size = number.kind == AS_REAL ? as_real_format_python(number.r, digits) : as_number_format(number, digits);
        text = digits;
    }
    as_str id = as_intern(&g->strings, text, size);
    *is_short |= id == AS_NO_STR;
    return id;
}

static as_cell name_at(const source *s, size_t row, size_t column) {
    return s->records ? as_records_name(s->records, row, (uint32_t)(column - 2)) /* behind id and run */
                      : as_table_get(s->table, row, column);
}

/* The group of a row, new or known; AS_MAP_NONE: it has none, or (*is_short) memory is out. */
static uint32_t group_of_row(grouping *g, const source *s, size_t row, bool *is_short) {
    as_str uid = intern_cell(g, name_at(s, row, s->uid), is_short), location = 0;
    if (uid == AS_NO_STR) return AS_MAP_NONE;
    if (g->by_location) {
        location = intern_cell(g, name_at(s, row, s->location), is_short);
        if (location == AS_NO_STR) return AS_MAP_NONE;
    }
    uint64_t key = as_pair(uid, location);
    uint32_t known = as_map_get(&g->group_of, key), id = (uint32_t)g->out->groups.count;
    if (known != AS_MAP_NONE) return known;
    as_check_group *group = id < AS_MAP_NONE ? as_vec_push(&g->out->groups) : NULL;
    if (!group || !as_vec_push(&g->rests) || !as_map_put(&g->group_of, key, id)) {
        *is_short = true;
        return AS_MAP_NONE;
    }
    group->uid = as_str_text(&g->strings, uid);
    group->location = g->by_location ? as_str_text(&g->strings, location) : NULL;
    return id;
}

/* Kinds stand for their rows where no row has a uid or location of its own. */
static bool prepare_kinds(source *s, bool by_location) {
    if (!s->records || as_records_own(s->records, (uint32_t)(s->uid - 2)).count) return true;
    if (by_location && as_records_own(s->records, (uint32_t)(s->location - 2)).count) return true;
    size_t n = as_records_kinds(s->records);
    s->kind_groups = malloc((n ? n : 1) * sizeof *s->kind_groups);
    if (s->kind_groups) memset(s->kind_groups, 0xff, n * sizeof *s->kind_groups);
    return s->kind_groups != NULL;
}

static double number_at(const source *s, size_t row, bool *is_number, bool *is_text) {
    if (s->records) {
        double number = as_records_number(s->records, row, (uint32_t)(s->number - 2), is_number);
        if (!*is_number) {
            as_cell_type type = as_records_cell(s->records, row, (uint32_t)(s->number - 2)).type;
            *is_text |= type == AS_CELL_TEXT || type == AS_CELL_JSON;
        }
        return number;
    }
    as_cell cell = as_table_get(s->table, row, s->number);
    *is_number = cell.type == AS_CELL_INT || cell.type == AS_CELL_UINT || cell.type == AS_CELL_REAL;
    *is_text |= !*is_number && cell.type != AS_CELL_NULL;
    if (cell.type == AS_CELL_INT) return (double)cell.i;
    if (cell.type == AS_CELL_UINT) return (double)cell.u;
    return *is_number ? cell.r : NAN;
}

/* Keeps what rounding takes away (Kahan), so that millions of small amounts beside a large one are not lost. */
static void add_number(grouping *g, uint32_t id, double number) {
    as_check_group *group = &AS_AT(as_check_group, &g->out->groups, id);
    double *rest = &AS_AT(double, &g->rests, id), term = number - *rest, sum = group->sum + term;
    *rest = isfinite(sum) ? (sum - group->sum) - term : 0;
    group->sum = sum;
    group->n++;
}

static bool add_rows(grouping *g, source *s) {
    const uint32_t *kinds = s->kind_groups ? as_records_row_kinds(s->records) : NULL;
    size_t n = as_table_rows(s->table);
    bool is_short = false;
    for (size_t row = 0; row < n && !is_short; row++) {
        uint32_t id = kinds ? s->kind_groups[kinds[row]] : AS_MAP_NONE;
        if (id == AS_MAP_NONE) {
            id = group_of_row(g, s, row, &is_short);
            if (kinds) s->kind_groups[kinds[row]] = id;
        }
        if (id == AS_MAP_NONE || s->number == SIZE_MAX) continue;
        bool is_number = false;
        double number = number_at(s, row, &is_number, &g->out->has_text);
        if (is_number && !isnan(number)) add_number(g, id, number);
    }
    return !is_short;
}

static int compare_groups(const void *a, const void *b) {
    const as_check_group *x = a, *y = b;
    int order = strcmp(x->uid, y->uid);
    return order || !x->location ? order : strcmp(x->location, y->location);
}

bool as_check_groups_find(const as_dataset *ds, const char *column, bool by_location, as_check_groups *out) {
    as_budget *budget = as_ds_budget(ds);
    *out = (as_check_groups){0};
    as_vec_init(&out->groups, sizeof(as_check_group), budget);
    as_arena_init(&out->arena, budget);
    source s;
    if (!open_source(ds, column, by_location, &s)) return true;
    out->has_column = s.number != SIZE_MAX;
    out->has_location = s.location != SIZE_MAX;
    if (by_location && !out->has_location) return true;

    grouping g = {.out = out, .by_location = by_location};
    as_strings_init(&g.strings, &out->arena);
    as_map_init(&g.group_of, budget);
    as_vec_init(&g.rests, sizeof(double), budget);
    bool is_done = prepare_kinds(&s, by_location) && add_rows(&g, &s);
    if (out->groups.count) qsort(out->groups.data, out->groups.count, sizeof(as_check_group), compare_groups);
    free(s.kind_groups);
    as_strings_free(&g.strings);
    as_map_free(&g.group_of);
    as_vec_free(&g.rests);
    return is_done;
}

void as_check_groups_free(as_check_groups *groups) {
    as_vec_free(&groups->groups);
    as_arena_free(&groups->arena);
}

const char *as_check_attribute(const as_dataset *ds, const char *key, bool is_prefix) {
    size_t n = strlen(key);
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        const char *name = as_ds_text(ds, attribute->key);
        if (attribute->owner != AS_OWNER_RUN || attribute->value.type != AS_CELL_TEXT || !name) continue;
        if (is_prefix ? strncmp(name, key, n) == 0 : strcmp(name, key) == 0) return attribute->value.text;
    }
    return NULL;
}
