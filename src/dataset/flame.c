#include "dataset/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"

typedef struct amount {
    as_whole whole;
    double real, lost; /* lost: what the rounding of its sum lost */
    bool has_real;
} amount;

typedef struct frame {
    as_str name, module, kind;
    uint32_t parent, first, last, next; /* children, and the next sibling; AS_FLAME_ROOT: none */
    amount own[2];                      /* of each side */
} frame;

struct as_flame {
    as_budget *budget;
    as_arena arena;
    as_strings names;
    as_vec frames;        /* frame */
    as_map children;      /* as_pair(parent, name) -> frame */
    uint32_t first, last; /* of those at the bottom */
    as_vec name;          /* char: the one at hand */
    size_t side;          /* that amounts are added to */
};

as_flame *as_flame_new(as_budget *budget) {
    as_flame *flame = calloc(1, sizeof *flame);
    if (!flame) return NULL;
    flame->budget = budget;
    flame->first = flame->last = AS_FLAME_ROOT;
    as_arena_init(&flame->arena, budget);
    as_strings_init(&flame->names, &flame->arena);
    as_vec_init(&flame->frames, sizeof(frame), budget);
    as_map_init(&flame->children, budget);
    as_vec_init(&flame->name, 1, budget);
    return flame;
}

void as_flame_free(as_flame *flame) {
    if (!flame) return;
    as_strings_free(&flame->names);
    as_arena_free(&flame->arena);
    as_vec_free(&flame->frames);
    as_map_free(&flame->children);
    as_vec_free(&flame->name);
    free(flame);
}

static frame *frame_at(const as_flame *flame, uint32_t i) { return &AS_AT(frame, &flame->frames, i); }

static as_str intern_name(as_flame *flame, const char *name, size_t size) {
    flame->name.count = 0;
    if (!as_vec_append(&flame->name, name, size)) return AS_NO_STR;
    char *text = flame->name.data;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == ';') text[i] = ':';
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) text[i] = ' ';
    }
    return as_intern(&flame->names, size ? text : "", size);
}

/* What frames above one are told apart by: their names, followed by what names cannot have. */
static as_str key_of(as_flame *flame, as_str name, unsigned apart) {
    char mark = (char)apart;
    if (!apart) return name;
    return as_vec_append(&flame->name, &mark, 1) ? as_intern(&flame->names, flame->name.data, flame->name.count)
                                                 : AS_NO_STR;
}

uint32_t as_flame_frame(as_flame *flame, uint32_t parent, const char *name, size_t size, unsigned apart) {
    as_str known = intern_name(flame, name, size);
    as_str key = known == AS_NO_STR ? AS_NO_STR : key_of(flame, known, apart);
    if (key == AS_NO_STR) return AS_FLAME_ROOT;
    uint32_t found = as_map_get(&flame->children, as_pair(parent, key));
    if (found != AS_MAP_NONE) return found;
    frame added = {.name = known,
                   .module = AS_NO_STR,
                   .kind = AS_NO_STR,
                   .parent = parent,
                   .first = AS_FLAME_ROOT,
                   .last = AS_FLAME_ROOT,
                   .next = AS_FLAME_ROOT};
    uint32_t id = (uint32_t)flame->frames.count;
    if (id >= AS_FLAME_ROOT - 1 || !as_vec_append(&flame->frames, &added, 1)) return AS_FLAME_ROOT;
    if (!as_map_put(&flame->children, as_pair(parent, key), id)) return AS_FLAME_ROOT;
    uint32_t *first = parent == AS_FLAME_ROOT ? &flame->first : &frame_at(flame, parent)->first;
    uint32_t *last = parent == AS_FLAME_ROOT ? &flame->last : &frame_at(flame, parent)->last;
    if (*last == AS_FLAME_ROOT)
        *first = id;
    else
        frame_at(flame, *last)->next = id;
    *last = id;
    return id;
}

void as_flame_add(as_flame *flame, uint32_t id, as_number number) {
    amount *own = &frame_at(flame, id)->own[flame->side];
    if (number.kind == AS_INT) own->whole += number.i;
    if (number.kind == AS_UINT) own->whole += number.u;
    if (number.kind != AS_REAL) return;
    double sum = own->real + number.r;
    own->lost += fabs(own->real) >= fabs(number.r) ? (own->real - sum) + number.r : (number.r - sum) + own->real;
    own->real = sum;
    own->has_real = true;
}

static bool describe(as_flame *flame, as_str *known, const char *text) {
    if (*known != AS_NO_STR || !text || !*text) return true;
    *known = as_intern(&flame->names, text, strlen(text));
    return *known != AS_NO_STR;
}

bool as_flame_describe(as_flame *flame, uint32_t id, const char *module, const char *kind) {
    frame *f = frame_at(flame, id);
    return describe(flame, &f->module, module) && describe(flame, &f->kind, kind);
}

void as_flame_turn(as_flame *flame) { flame->side = 1; }
size_t as_flame_sides(const as_flame *flame) { return flame->side + 1; }

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

static double real_of(const amount *own) {
    double real = isfinite(own->real) ? own->real + own->lost : own->real;
    return real + (double)own->whole;
}

size_t as_flame_count(const as_flame *flame) { return flame->frames.count; }

as_flame_frame_info as_flame_look(const as_flame *flame, uint32_t id) {
    const frame *f = frame_at(flame, id);
    return (as_flame_frame_info){f->parent, f->name, f->module, f->kind, {real_of(&f->own[0]), real_of(&f->own[1])}};
}

const as_strings *as_flame_names(const as_flame *flame) { return &flame->names; }

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* flamegraph.pl and others that draw such lines know no exponents. */
static void write_amount(const amount *own, as_output *out) {
    char text[AS_PLAIN_NUMBER_SIZE];
    as_output_char(out, ' ');
    as_output_write(out, text,
                    own->has_real ? as_real_format_plain(real_of(own), text) : as_whole_format(own->whole, text));
}

static bool is_zero(const amount *own) { return own->has_real ? real_of(own) == 0 : own->whole == 0; }

/* Whether lines have numbers for its amounts. */
static bool is_finite(const frame *f) { return isfinite(real_of(&f->own[0])) && isfinite(real_of(&f->own[1])); }

size_t as_flame_unwritten(const as_flame *flame) {
    size_t n = 0;
    for (uint32_t id = 0; id < flame->frames.count; id++) n += !is_finite(frame_at(flame, id));
    return n;
}

/* A frame whose children are still to come. */
typedef struct open_frame {
    uint32_t next; /* sibling */
    size_t size;   /* of the stack below it */
} open_frame;

bool as_flame_fold(const as_flame *flame, as_output *out) {
    as_vec stack, open; /* char; open_frame */
    as_vec_init(&stack, 1, flame->budget);
    as_vec_init(&open, sizeof(open_frame), flame->budget);
    bool fine = true;
    for (uint32_t at = flame->first; fine && (at != AS_FLAME_ROOT || open.count);) {
        if (at == AS_FLAME_ROOT) {
            open_frame below = AS_AT(open_frame, &open, --open.count);
            stack.count = below.size;
            at = below.next;
            continue;
        }
        const frame *f = frame_at(flame, at);
        open_frame here = {f->next, stack.count};
        fine = (!open.count || as_vec_text(&stack, ";")) &&
               as_vec_append(&stack, as_str_text(&flame->names, f->name), as_str_size(&flame->names, f->name)) &&
               as_vec_append(&open, &here, 1);
        char *text = stack.data;
        if (fine && stack.count > 1 && text[0] == '#' && text[1] == ' ') text[1] = '_'; /* it is no comment */
        if (fine && is_finite(f) && !(is_zero(&f->own[0]) && is_zero(&f->own[1]))) {
            as_output_write(out, stack.data, stack.count);
            for (size_t side = 0; side <= flame->side; side++) write_amount(&f->own[side], out);
            as_output_char(out, '\n');
        }
        at = f->first;
    }
    as_vec_free(&stack);
    as_vec_free(&open);
    return fine;
}
