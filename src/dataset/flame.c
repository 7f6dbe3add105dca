#include "dataset/flame.h"

#include <math.h>
#include <stdlib.h>

#include "core/map.h"

typedef struct frame {
    as_str name;
    uint32_t first, last, next; /* children, and the next sibling; AS_FLAME_ROOT: none */
    bool has_real;
    as_whole whole;
    double real, lost; /* lost: what the rounding of its sum lost */
} frame;

struct as_flame {
    as_budget *budget;
    as_arena arena;
    as_strings names;
    as_vec frames;        /* frame */
    as_map children;      /* as_pair(parent, name) -> frame */
    uint32_t first, last; /* of those at the bottom */
    as_vec name;          /* char: the one at hand */
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

uint32_t as_flame_frame(as_flame *flame, uint32_t parent, const char *name, size_t size) {
    as_str known = intern_name(flame, name, size);
    if (known == AS_NO_STR) return AS_FLAME_ROOT;
    uint32_t found = as_map_get(&flame->children, as_pair(parent, known));
    if (found != AS_MAP_NONE) return found;
    frame added = {.name = known, .first = AS_FLAME_ROOT, .last = AS_FLAME_ROOT, .next = AS_FLAME_ROOT};
    uint32_t id = (uint32_t)flame->frames.count;
    if (id >= AS_FLAME_ROOT - 1 || !as_vec_append(&flame->frames, &added, 1)) return AS_FLAME_ROOT;
    if (!as_map_put(&flame->children, as_pair(parent, known), id)) return AS_FLAME_ROOT;
    uint32_t *first = parent == AS_FLAME_ROOT ? &flame->first : &frame_at(flame, parent)->first;
    uint32_t *last = parent == AS_FLAME_ROOT ? &flame->last : &frame_at(flame, parent)->last;
    if (*last == AS_FLAME_ROOT)
        *first = id;
    else
        frame_at(flame, *last)->next = id;
    *last = id;
    return id;
}

void as_flame_add(as_flame *flame, uint32_t id, as_number amount) {
    frame *f = frame_at(flame, id);
    if (amount.kind == AS_INT) f->whole += amount.i;
    if (amount.kind == AS_UINT) f->whole += amount.u;
    if (amount.kind != AS_REAL) return;
    double sum = f->real + amount.r;
    f->lost += fabs(f->real) >= fabs(amount.r) ? (f->real - sum) + amount.r : (amount.r - sum) + f->real;
    f->real = sum;
    f->has_real = true;
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

static void write_amount(const frame *f, as_output *out) {
    char text[AS_WHOLE_SIZE];
    if (!f->has_real) {
        as_output_write(out, text, as_whole_format(f->whole, text));
        return;
    }
    double real = isfinite(f->real) ? f->real + f->lost : f->real;
    as_output_real(out, real + (double)f->whole);
}

static bool is_zero(const frame *f) { return f->has_real ? f->real + f->lost + (double)f->whole == 0 : f->whole == 0; }

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
        fine = (!stack.count || as_vec_text(&stack, ";")) &&
               as_vec_append(&stack, as_str_text(&flame->names, f->name), as_str_size(&flame->names, f->name)) &&
               as_vec_append(&open, &here, 1);
        if (fine && !is_zero(f)) {
            as_output_write(out, stack.data, stack.count);
            as_output_char(out, ' ');
            write_amount(f, out);
            as_output_char(out, '\n');
        }
        at = f->first;
    }
    as_vec_free(&stack);
    as_vec_free(&open);
    return fine;
}
