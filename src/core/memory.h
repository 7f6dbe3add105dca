/* Memory: a budget that everything a dataset owns is counted against, an arena, and a growable vector.
 * All allocations can fail and say so by NULL or false; nobody aborts. */
#ifndef AS_CORE_MEMORY_H
#define AS_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* limit 0: none. What a budget counts, its parent counts as well: so do several datasets keep to one limit together. */
typedef struct as_budget {
    uint64_t used, limit;     /* used: atomic */
    struct as_budget *parent; /* must live as long; may be NULL */
} as_budget;

/* False, and nothing counted, if that would exceed the limit. Safe from several threads; a budget that is NULL has no
 * limit. */
bool as_budget_take(as_budget *budget, uint64_t bytes);
void as_budget_give(as_budget *budget, uint64_t bytes);
/* Whether so much could be taken now: for what is needed for a moment only, and not counted. */
bool as_budget_allows(const as_budget *budget, uint64_t bytes);

/* Bump allocator; freed as a whole. Zero-initialise with as_arena_init. */
typedef struct as_arena {
    as_budget *budget; /* may be NULL */
    struct as_arena_chunk *chunk;
    char *next, *end;
} as_arena;

void as_arena_init(as_arena *arena, as_budget *budget);
void as_arena_free(as_arena *arena);
/* Zeroed, aligned for any type. NULL when memory or budget is out. size 0 gives a valid pointer. */
void *as_arena_alloc(as_arena *arena, size_t size);
/* count * size with overflow check. */
void *as_arena_array(as_arena *arena, size_t count, size_t size);
/* A copy of size bytes with a NUL behind it. */
char *as_arena_copy(as_arena *arena, const char *text, size_t size);

/* Growable array of elements of one size. Its memory comes from malloc and is counted in the budget (may be NULL).
 * Typed use: AS_AT(int, &v, 3) is the lvalue; `int *p = as_vec_push(&v)`. */
typedef struct as_vec {
    void *data;
    size_t count, capacity, size; /* size: bytes of one element */
    as_budget *budget;
} as_vec;

void as_vec_init(as_vec *vec, size_t element_size, as_budget *budget);
void as_vec_free(as_vec *vec);
/* Room for at least `extra` more elements; false when memory is out. */
bool as_vec_reserve(as_vec *vec, size_t extra);
/* Room for `total` elements in all, where it is known ahead that about so many will come, in large pages where it is
 * much: first touches cost less, and nothing moves. Where that is more than half of what the budget leaves, nothing
 * happens. What is not touched takes no memory but of the budget; as_vec_shrink() gives it back. */
void as_vec_expect(as_vec *vec, size_t total);
/* A new zeroed element at the end, or NULL. Pointers into the vector end their life here. */
void *as_vec_push(as_vec *vec);
/* Appends n elements copied from data. */
bool as_vec_append(as_vec *vec, const void *data, size_t n);
/* Appends a text without its NUL; the elements are char. */
static inline bool as_vec_text(as_vec *vec, const char *text) { return as_vec_append(vec, text, strlen(text)); }
/* Gives back what is not used. */
void as_vec_shrink(as_vec *vec);
/* Says that elements from … to - 1 will not be read again, so that their pages can go back to the system while the rest
 * is still needed. */
void as_vec_consumed(as_vec *vec, size_t from, size_t to);

#define AS_AT(type, vec, index) (((type *)(vec)->data)[index])

/* Checked arithmetic for sizes that come from files: false on overflow. */
static inline bool as_add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool as_mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }

#endif
