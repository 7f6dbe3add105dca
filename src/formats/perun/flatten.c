/* Flattening, by Perun's rules. The value is first taken apart into nodes, since a list has to be seen whole to know
 * what it is ({name, value} or not) and a key that comes twice counts once; then walked with a stack of its own. */
#include <stdlib.h>

#include "formats/perun/perun.h"
#include "formats/perun/rank.h"

/* Text in the input or, where `text` is NULL, in a buffer of the flattener. */
typedef struct span {
    const char *text;
    size_t at;
    uint32_t size;
} span;

/* A value; those inside of it follow it. */
typedef struct node {
    span key; /* of a member of an object */
    union {
        span text;  /* of a string (decoded) and of a number */
        size_t end; /* of an object or list: the node behind its last one */
    };
    as_json_type type;
} node;

/* A member of an object, or of a list of names and values. */
typedef struct member {
    span key;
    size_t value; /* its node */
} member;

/* What is there in the place of a flattened value. */
typedef struct item {
    span text;            /* of STRING and NUMBER; what is joined lies in `joined` */
    size_t key, key_size; /* in `keys`; of items of ranked objects */
    as_json_type type;
    bool is_joined;
    char separator; /* before it, in a list */
} item;

typedef enum level_kind {
    MEMBERS, /* the object of as_flatten_members(): only its parts count */
    RANKED,  /* an object with a name: joined by rank, and its parts have names of their own */
    ELEMENT, /* an object in a list: its values, in their order */
    LIST
} level_kind;

/* A container that is being walked. */
typedef struct level {
    level_kind kind;
    bool is_quiet;    /* inside of a list: its parts are not shown */
    size_t next, end; /* members, or nodes of a list, to come */
    size_t first_member;
    size_t first_item;
    size_t n_elements;  /* of a list, so far */
    size_t path_size;   /* of its own key */
    size_t joined_size; /* when it began */
} level;

typedef struct ordered_item {
    as_rank rank;
    size_t item;
} ordered_item;

struct as_flattener {
    as_vec nodes, members, levels, items, order;
    as_vec decoded; /* strings with escapes */
    as_vec path;    /* the key of the current level */
    as_vec keys, joined;
    as_json *json;
    const char *begin; /* of the value */
    size_t produced, limit, n_superseded;
    as_flat_visit *visit;
    void *user;
};

size_t as_flattener_superseded(const as_flattener *flattener) { return flattener->n_superseded; }

as_flattener *as_flattener_new(as_budget *budget) {
    as_flattener *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    as_vec_init(&f->nodes, sizeof(node), budget);
    as_vec_init(&f->members, sizeof(member), budget);
    as_vec_init(&f->levels, sizeof(level), budget);
    as_vec_init(&f->items, sizeof(item), budget);
    as_vec_init(&f->order, sizeof(ordered_item), budget);
    as_vec_init(&f->decoded, 1, budget);
    as_vec_init(&f->path, 1, budget);
    as_vec_init(&f->keys, 1, budget);
    as_vec_init(&f->joined, 1, budget);
    return f;
}

void as_flattener_free(as_flattener *f) {
    if (!f) return;
    as_vec *all[] = {&f->nodes,   &f->members, &f->levels, &f->items, &f->order,
                     &f->decoded, &f->path,    &f->keys,   &f->joined};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) as_vec_free(all[i]);
    free(f);
}

static const char *text_of(const as_flattener *f, const span *text) {
    return text->text ? text->text : (const char *)f->decoded.data + text->at;
}

static const char *item_text(const as_flattener *f, const item *it) {
    return it->is_joined ? (const char *)f->joined.data + it->text.at : text_of(f, &it->text);
}

/* ---- the value as nodes ------------------------------------------------------------------------------------------ */

/* The current string or key, which is copied where it has escapes. */
static bool take_text(as_flattener *f, span *out) {
    size_t size;
    const char *text = as_json_text(f->json, &size);
    if (!text) return false;
    if (size > UINT32_MAX) return as_json_refuse(f->json, f->json->token, "a text of over 4 GB"), false;
    *out = (span){.text = text, .size = (uint32_t)size};
    if (text >= f->json->begin && text <= f->json->end) return true;
    *out = (span){.at = f->decoded.count, .size = (uint32_t)size};
    return as_vec_append(&f->decoded, text, size);
}

/* Reads from the current token, which opens a container, to its end. The levels' `next` are the open containers. */
static bool take_apart(as_flattener *f) {
    as_json *json = f->json;
    span key = {0};
    for (as_json_type type = json->type;; type = as_json_next(json)) {
        if (type == AS_JSON_ERROR || type == AS_JSON_END) return false;
        if (type == AS_JSON_KEY) {
            if (!take_text(f, &key)) return false;
            continue;
        }
        if (type == AS_JSON_OBJECT_END || type == AS_JSON_ARRAY_END) {
            size_t opened = AS_AT(level, &f->levels, --f->levels.count).next;
            AS_AT(node, &f->nodes, opened).end = f->nodes.count;
            if (f->levels.count == 0) return true;
            continue;
        }
        node *new = as_vec_push(&f->nodes);
        if (!new) return false;
        *new = (node){.key = key, .type = type};
        if (type == AS_JSON_OBJECT || type == AS_JSON_ARRAY) {
            level *open = as_vec_push(&f->levels);
            if (!open) return false;
            open->next = f->nodes.count - 1;
        } else if (type == AS_JSON_STRING) {
            if (!take_text(f, &new->text)) return false;
        } else if (type == AS_JSON_NUMBER)
            new->text = (span){.text = json->token, .size = (uint32_t)json->token_size};
    }
}

static inline bool is_container(as_json_type type) { return type == AS_JSON_OBJECT || type == AS_JSON_ARRAY; }

/* The node behind this one and what is inside of it. */
static inline size_t behind(const as_flattener *f, size_t index) {
    const node *it = &AS_AT(node, &f->nodes, index);
    return is_container(it->type) ? it->end : index + 1;
}

static bool is_text(const as_flattener *f, const span *text, const char *word) {
    return text->size == strlen(word) && memcmp(text_of(f, text), word, text->size) == 0;
}

/* Whether the node is an object with a name, a text, and a value, and nothing else; *name, *value: their nodes. */
static bool is_named(const as_flattener *f, size_t index, size_t *name, size_t *value) {
    const node *object = &AS_AT(node, &f->nodes, index);
    if (object->type != AS_JSON_OBJECT) return false;
    *name = *value = 0;
    for (size_t i = index + 1; i < object->end; i = behind(f, i)) {
        const span *key = &AS_AT(node, &f->nodes, i).key;
        if (is_text(f, key, "name"))
            *name = i;
        else if (is_text(f, key, "value"))
            *value = i;
        else
            return false;
    }
    return *name && *value && AS_AT(node, &f->nodes, *name).type == AS_JSON_STRING;
}

/* ---- members, each key once -------------------------------------------------------------------------------------- */

typedef struct sorted_member {
    const char *key;
    size_t size, index;
} sorted_member;

static int compare_members(const void *left, const void *right) {
    const sorted_member *a = left, *b = right;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    int order = memcmp(a->key, b->key, a->size);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Of members with the same key the last one's value counts, in the first one's place; the others are marked by the
 * value 0. */
static bool settle_many(as_flattener *f, size_t first, size_t n) {
    as_vec sorted;
    as_vec_init(&sorted, sizeof(sorted_member), f->members.budget);
    if (!as_vec_reserve(&sorted, n)) return false;
    member *members = &AS_AT(member, &f->members, first);
    sorted_member *all = sorted.data;
    for (size_t i = 0; i < n; i++)
        all[i] = (sorted_member){.key = text_of(f, &members[i].key), .size = members[i].key.size, .index = i};
    qsort(all, n, sizeof *all, compare_members);
    for (size_t i = 0, head = 0; i < n; i++) {
        if (i == head || all[i].size != all[head].size || memcmp(all[i].key, all[head].key, all[i].size) != 0) {
            head = i;
            continue;
        }
        members[all[head].index].value = members[all[i].index].value;
        members[all[i].index].value = 0;
    }
    as_vec_free(&sorted);
    return true;
}

static void settle_few(as_flattener *f, size_t first, size_t n) {
    member *members = &AS_AT(member, &f->members, first);
    for (size_t i = 1; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (members[i].key.size != members[j].key.size || !members[j].value) continue;
            if (memcmp(text_of(f, &members[i].key), text_of(f, &members[j].key), members[i].key.size) != 0) continue;
            members[j].value = members[i].value;
            members[i].value = 0;
            break;
        }
    }
}

static bool settle(as_flattener *f, size_t first) {
    enum { FEW = 16 };
    size_t n = f->members.count - first;
    if (n > FEW && !settle_many(f, first, n)) return false;
    if (n > 1 && n <= FEW) settle_few(f, first, n);
    size_t kept = first;
    for (size_t i = first; i < first + n; i++) {
        if (AS_AT(member, &f->members, i).value) AS_AT(member, &f->members, kept++) = AS_AT(member, &f->members, i);
    }
    f->n_superseded += f->members.count - kept;
    f->members.count = kept;
    return true;
}

static bool add_member(as_flattener *f, const span *key, size_t value) {
    member *new = as_vec_push(&f->members);
    if (new) *new = (member){.key = *key, .value = value};
    return new;
}

/* Adds the members of an object or of a list of names and values; *is_list: it is another list. */
static bool add_members(as_flattener *f, size_t index, bool *is_list) {
    const node *container = &AS_AT(node, &f->nodes, index);
    size_t first = f->members.count, name, value;
    *is_list = container->type == AS_JSON_ARRAY && container->end == index + 1; /* empty */
    for (size_t i = index + 1; i < container->end; i = behind(f, i)) {
        if (container->type == AS_JSON_OBJECT) {
            if (!add_member(f, &AS_AT(node, &f->nodes, i).key, i)) return false;
        } else if (!is_named(f, i, &name, &value)) {
            f->members.count = first;
            *is_list = true;
            return true;
        } else if (!add_member(f, &AS_AT(node, &f->nodes, name).text, value))
            return false;
    }
    return settle(f, first);
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Counts what is made of the value: texts of nested objects double at each level, and nobody may fill the memory by a
 * few braces. */
static bool produce(as_flattener *f, size_t bytes) {
    f->produced += bytes;
    if (f->produced <= f->limit) return true;
    as_json_refuse(f->json, f->begin, "objects nested too deep: flattened they would be more than 64 times as long");
    return false;
}

static bool is_whole(const char *digits, size_t size) {
    for (size_t i = *digits == '-'; i < size; i++) {
        if ((unsigned char)(digits[i] - '0') > 9) return false;
    }
    return true;
}

size_t as_python_number(as_number number, char out[AS_NUMBER_SIZE]) {
    return number.kind == AS_REAL ? as_real_format_python(number.r, out) : as_number_format(number, out);
}

/* Appends an item as Python's str() has it. */
static bool join_item(as_flattener *f, const item *it) {
    char number[AS_NUMBER_SIZE];
    const char *text = "None";
    size_t size = 4;
    if (it->type == AS_JSON_STRING || it->type == AS_JSON_NUMBER) text = item_text(f, it), size = it->text.size;
    if (it->type == AS_JSON_TRUE) text = "True";
    if (it->type == AS_JSON_FALSE) text = "False", size = 5;
    as_number value;
    bool is_minus_zero = size == 2 && text[0] == '-' && text[1] == '0';
    if (it->type == AS_JSON_NUMBER && is_minus_zero) text++, size--;
    if (it->type == AS_JSON_NUMBER && !is_whole(text, size) && as_number_parse(text, size, &value)) {
        size = as_python_number(value, number);
        text = number;
    }
    if (!produce(f, size) || !as_vec_reserve(&f->joined, size)) return false;
    if (it->is_joined) text = item_text(f, it); /* it may have moved */
    return as_vec_append(&f->joined, text, size);
}

static int compare_ranks(const void *left, const void *right) {
    const ordered_item *a = left, *b = right;
    int order = as_rank_compare(&a->rank, &b->rank);
    return order ? order : (a->item > b->item) - (a->item < b->item);
}

/* Fills f->order with the items of a ranked level, whose keys are seen from it. */
static bool put_in_order(as_flattener *f, const level *it) {
    size_t n = f->items.count - it->first_item;
    f->order.count = 0;
    if (!as_vec_reserve(&f->order, n)) return false;
    bool is_ordered = true;
    for (size_t i = 0; i < n; i++) {
        const item *part = &AS_AT(item, &f->items, it->first_item + i);
        size_t before = it->path_size + 1; /* its own key and the colon */
        ordered_item *new = as_vec_push(&f->order);
        new->item = it->first_item + i;
        new->rank = as_rank_of((const char *)f->keys.data + part->key + before, part->key_size - before);
        if (i && is_ordered) is_ordered = as_rank_compare(&new[-1].rank, &new->rank) <= 0;
    }
    if (!is_ordered) qsort(f->order.data, n, sizeof(ordered_item), compare_ranks);
    return true;
}

static bool join_ranked(as_flattener *f, const level *it) {
    if (!put_in_order(f, it)) return false;
    for (size_t i = 0; i < f->order.count; i++) {
        if (i && (!produce(f, 1) || !as_vec_append(&f->joined, ":", 1))) return false;
        if (!join_item(f, &AS_AT(item, &f->items, AS_AT(ordered_item, &f->order, i).item))) return false;
    }
    return true;
}

static bool join_list(as_flattener *f, const level *it) {
    for (size_t i = it->first_item; i < f->items.count; i++) {
        const item *part = &AS_AT(item, &f->items, i);
        if (part->separator && (!produce(f, 1) || !as_vec_append(&f->joined, &part->separator, 1))) return false;
        if (!join_item(f, part)) return false;
    }
    return true;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static as_cell number_cell(const char *text, size_t size) {
    as_number number;
    if (!as_number_parse(text, size, &number)) return as_cell_null();
    if (number.kind == AS_REAL && is_whole(text, size)) {
        bool is_minus_zero = size == 2 && text[1] == '0';
        return is_minus_zero ? as_cell_int(0) : as_cell_text_n(text, size);
    }
    return as_cell_number(number);
}

static as_cell item_cell(const as_flattener *f, const item *it) {
    switch (it->type) {
    case AS_JSON_TRUE: return as_cell_int(1);
    case AS_JSON_FALSE: return as_cell_int(0);
    case AS_JSON_STRING: return as_cell_text_n(item_text(f, it), it->text.size);
    case AS_JSON_NUMBER: return number_cell(item_text(f, it), it->text.size);
    default: return as_cell_null();
    }
}

/* A further value in the level that is open last (none: of the whole), under the key that is the path now. */
static bool add_item(as_flattener *f, item new) {
    level *owner = f->levels.count ? &AS_AT(level, &f->levels, f->levels.count - 1) : NULL;
    if (!owner || !owner->is_quiet) {
        if (!produce(f, f->path.count)) return false;
        if (!f->visit(f->user, f->path.data, f->path.count, item_cell(f, &new))) return false;
    }
    if (!owner) return true;
    if (owner->kind == MEMBERS) { /* what it was made of is not needed any more */
        f->items.count = f->keys.count = f->joined.count = 0;
        return true;
    }
    if (owner->kind == RANKED) {
        if (!produce(f, f->path.count)) return false;
        new.key = f->keys.count;
        new.key_size = f->path.count;
        if (!as_vec_append(&f->keys, f->path.data, f->path.count)) return false;
    }
    new.separator = ':';
    if (owner->kind == LIST) new.separator = owner->n_elements++ ? ',' : 0;
    return as_vec_append(&f->items, &new, 1);
}

/* Opens the object or list of a node, whose key is the path. */
static bool open_level(as_flattener *f, size_t index) {
    const level *owner = f->levels.count ? &AS_AT(level, &f->levels, f->levels.count - 1) : NULL;
    level new = {.first_member = f->members.count,
                 .first_item = f->items.count,
                 .path_size = f->path.count,
                 .joined_size = f->joined.count,
                 .is_quiet = owner && owner->is_quiet};
    bool is_list;
    if (!add_members(f, index, &is_list)) return false;
    if (is_list) {
        new.kind = LIST;
        new.is_quiet = true;
        new.next = index + 1;
        new.end = AS_AT(node, &f->nodes, index).end;
    } else {
        new.kind = owner && owner->kind == LIST ? ELEMENT : RANKED;
        new.next = new.first_member;
        new.end = f->members.count;
    }
    return as_vec_append(&f->levels, &new, 1);
}

/* An object in a list has ended: its values stay as they are, the first with a comma before it. */
static bool close_element(as_flattener *f, const level *it) {
    level *list = &AS_AT(level, &f->levels, f->levels.count - 1);
    if (f->items.count == it->first_item) return add_item(f, (item){.type = AS_JSON_STRING, .is_joined = true});
    AS_AT(item, &f->items, it->first_item).separator = list->n_elements++ ? ',' : 0;
    return true;
}

static bool close_level(as_flattener *f) {
    level it = AS_AT(level, &f->levels, --f->levels.count);
    f->members.count = it.first_member;
    f->path.count = it.path_size;
    if (it.kind == MEMBERS) return true;
    if (it.kind == ELEMENT) return close_element(f, &it);
    size_t at = f->joined.count;
    if (!(it.kind == LIST ? join_list(f, &it) : join_ranked(f, &it))) return false;
    size_t size = f->joined.count - at;
    if (it.kind == LIST) { /* its parts are not needed any more */
        if (size) memmove((char *)f->joined.data + it.joined_size, (char *)f->joined.data + at, size);
        at = it.joined_size;
        f->joined.count = at + size;
        f->items.count = it.first_item;
    }
    if (size > UINT32_MAX) return as_json_refuse(f->json, f->begin, "a list that is over 4 GB when flattened"), false;
    return add_item(f, (item){.type = AS_JSON_STRING, .is_joined = true, .text = {.at = at, .size = (uint32_t)size}});
}

/* Takes the value of a node: its key is the path. */
static bool take_value(as_flattener *f, size_t index) {
    const node *value = &AS_AT(node, &f->nodes, index);
    if (is_container(value->type)) return open_level(f, index);
    return add_item(f, (item){.type = value->type, .text = value->text});
}

/* The next value of the level that is open last. */
static bool step(as_flattener *f) {
    level *it = &AS_AT(level, &f->levels, f->levels.count - 1);
    f->path.count = it->path_size;
    if (it->next == it->end) return close_level(f);
    if (it->kind == LIST) {
        size_t index = it->next;
        it->next = behind(f, index);
        return take_value(f, index);
    }
    member next = AS_AT(member, &f->members, it->next++);
    if (it->kind != MEMBERS && !as_vec_append(&f->path, ":", 1)) return false;
    if (!as_vec_append(&f->path, text_of(f, &next.key), next.key.size)) return false;
    return take_value(f, next.value);
}

/* Takes the container apart that the current token opens, and makes room for what comes of it. */
static bool begin_container(as_flattener *f, as_json *json, size_t key_size, as_flat_visit *visit, void *user) {
    enum { ALWAYS_FINE = 16384, RATIO = 64 };
    as_vec *all[] = {&f->nodes, &f->members, &f->levels, &f->items, &f->decoded, &f->path, &f->keys, &f->joined};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->count = 0;
    f->json = json;
    f->visit = visit;
    f->user = user;
    f->produced = 0;
    f->begin = json->token;
    if (!take_apart(f)) return false;
    size_t size = (size_t)(json->token - f->begin);
    if (!as_mul_size(size, RATIO, &f->limit) || !as_add_size(f->limit, ALWAYS_FINE + key_size, &f->limit))
        f->limit = SIZE_MAX;
    return as_vec_reserve(&f->path, key_size + 1) && as_vec_reserve(&f->joined, 1); /* never NULL */
}

static bool walk(as_flattener *f) {
    while (f->levels.count) {
        if (!step(f)) return false;
    }
    return true;
}

bool as_flatten(as_flattener *f, as_json *json, const char *key, size_t key_size, as_flat_visit *visit, void *user) {
    if (json->type == AS_JSON_STRING) {
        size_t size;
        const char *text = as_json_text(json, &size);
        if (text && size > UINT32_MAX) return as_json_refuse(json, json->token, "a text of over 4 GB"), false;
        return text && visit(user, key, key_size, as_cell_text_n(text, size));
    }
    if (json->type == AS_JSON_NUMBER) return visit(user, key, key_size, number_cell(json->token, json->token_size));
    if (!is_container(json->type)) {
        item scalar = {.type = json->type};
        return json->type >= AS_JSON_NULL && visit(user, key, key_size, item_cell(f, &scalar));
    }
    return begin_container(f, json, key_size, visit, user) && as_vec_append(&f->path, key, key_size) &&
           open_level(f, 0) && walk(f);
}

bool as_flatten_members(as_flattener *f, as_json *json, as_flat_visit *visit, void *user) {
    bool is_list;
    if (!begin_container(f, json, 0, visit, user) || !add_members(f, 0, &is_list)) return false;
    level members = {.kind = MEMBERS, .end = f->members.count};
    return as_vec_append(&f->levels, &members, 1) && walk(f);
}
