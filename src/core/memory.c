#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/large_pages.h"

static bool take_own(as_budget *budget, uint64_t bytes) {
    uint64_t used = __atomic_load_n(&budget->used, __ATOMIC_RELAXED);
    do {
        if (budget->limit && (bytes > budget->limit || used > budget->limit - bytes)) return false;
    } while (
        !__atomic_compare_exchange_n(&budget->used, &used, used + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

bool as_budget_take(as_budget *budget, uint64_t bytes) {
    for (as_budget *b = budget; b; b = b->parent) {
        if (take_own(b, bytes)) continue;
        for (; budget != b; budget = budget->parent) __atomic_fetch_sub(&budget->used, bytes, __ATOMIC_RELAXED);
        return false;
    }
    return true;
}

void as_budget_give(as_budget *budget, uint64_t bytes) {
    for (; budget; budget = budget->parent) __atomic_fetch_sub(&budget->used, bytes, __ATOMIC_RELAXED);
}

bool as_budget_allows(const as_budget *budget, uint64_t bytes) {
    for (; budget; budget = budget->parent) {
        uint64_t used = __atomic_load_n(&budget->used, __ATOMIC_RELAXED);
        if (budget->limit && (bytes > budget->limit || used > budget->limit - bytes)) return false;
    }
    return true;
}

/* ---- arena ------------------------------------------------------------------------------------------------------- */

enum { ALIGNMENT = 16, FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, HUGE_PAGE = 1 << 21 };

struct as_arena_chunk {
    struct as_arena_chunk *previous;
    size_t size;
    _Alignas(ALIGNMENT) char data[];
};

void as_arena_init(as_arena *arena, as_budget *budget) { *arena = (as_arena){.budget = budget}; }

void as_arena_free(as_arena *arena) {
    for (struct as_arena_chunk *chunk = arena->chunk, *previous; chunk; chunk = previous) {
        previous = chunk->previous;
        as_budget_give(arena->budget, chunk->size);
        free(chunk);
    }
    as_arena_init(arena, arena->budget);
}

/* The whole large pages in it: from *first on, up to what is returned. */
static uintptr_t whole_pages(const void *data, size_t size, uintptr_t *first) {
    uintptr_t page = HUGE_PAGE;
    *first = ((uintptr_t)data + page - 1) & ~(page - 1);
    return ((uintptr_t)data + size) & ~(page - 1);
}

void as_use_large_pages(void *data, size_t size) {
    uintptr_t first, end = whole_pages(data, size, &first);
    if (first < end) madvise((void *)first, end - first, MADV_HUGEPAGE);
}

void as_use_large_zeros(void *data, size_t size) {
    uintptr_t first, end = whole_pages(data, size, &first);
    as_use_large_pages(data, size);
    for (uintptr_t page = first; page < end; page += HUGE_PAGE) *(volatile char *)page = 0;
}

/* Large ones begin where a large page does: all but the rest behind the last one is then in such. */
static void *large_memory(size_t n, size_t size, size_t *bytes) {
    void *data;
    if (n == SIZE_MAX || !as_mul_size(n + 1, size, bytes)) return NULL;
    if (*bytes < HUGE_PAGE) return malloc(*bytes);
    if (posix_memalign(&data, HUGE_PAGE, *bytes) != 0) return NULL;
    as_use_large_pages(data, *bytes);
    return data;
}

void *as_large_array(size_t n, size_t size) {
    size_t bytes;
    return large_memory(n, size, &bytes);
}

void *as_large_zeros(size_t n, size_t size) {
    size_t bytes;
    void *data = large_memory(n, size, &bytes);
    return data ? memset(data, 0, bytes) : NULL;
}

static struct as_arena_chunk *new_chunk(as_arena *arena, size_t payload) {
    size_t size;
    if (!as_add_size(payload, sizeof(struct as_arena_chunk), &size) || !as_budget_take(arena->budget, size))
        return NULL;
    struct as_arena_chunk *chunk = calloc(1, size);
    if (!chunk) {
        as_budget_give(arena->budget, size);
        return NULL;
    }
    if (size >= 2 * HUGE_PAGE) as_use_large_pages(chunk, size);
    chunk->size = size;
    return chunk;
}

void *as_arena_alloc(as_arena *arena, size_t size) {
    if (size > SIZE_MAX - ALIGNMENT) return NULL;
    if (size == 0) size = 1; /* a pointer of its own, even from an arena without a chunk */
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    size_t padding = -(uintptr_t)arena->next & (ALIGNMENT - 1), left = (size_t)(arena->end - arena->next);
    if (padding <= left && size <= left - padding) {
        char *result = arena->next + padding;
        arena->next = result + size;
        return result;
    }
    size_t payload = arena->chunk ? arena->chunk->size * 2 : FIRST_CHUNK;
    if (payload > LARGEST_CHUNK) payload = LARGEST_CHUNK;
    bool own_chunk = size > payload / 4; /* large ones stand alone, so that the current chunk is not wasted */
    struct as_arena_chunk *chunk = new_chunk(arena, own_chunk ? size : payload);
    if (!chunk) return NULL;
    if (own_chunk && arena->chunk) {
        chunk->previous = arena->chunk->previous;
        arena->chunk->previous = chunk;
        return chunk->data;
    }
    chunk->previous = arena->chunk;
    arena->chunk = chunk;
    arena->next = chunk->data + size;
    arena->end = chunk->data + (own_chunk ? size : payload);
    return chunk->data;
}

void *as_arena_array(as_arena *arena, size_t count, size_t size) {
    size_t bytes;
    return as_mul_size(count, size, &bytes) ? as_arena_alloc(arena, bytes) : NULL;
}

char *as_arena_copy(as_arena *arena, const char *text, size_t size) {
    char *copy = NULL;
    if (size < (size_t)(arena->end - arena->next)) {
        copy = arena->next; /* text may stand anywhere */
        arena->next += size + 1;
    } else if (size < SIZE_MAX)
        copy = as_arena_alloc(arena, size + 1);
    if (copy && size) memcpy(copy, text, size);
    return copy;
}

/* ---- vector ------------------------------------------------------------------------------------------------------ */

void as_vec_init(as_vec *vec, size_t element_size, as_budget *budget) {
    *vec = (as_vec){.size = element_size, .budget = budget};
}

void as_vec_free(as_vec *vec) {
    as_budget_give(vec->budget, vec->capacity * vec->size);
    free(vec->data);
    as_vec_init(vec, vec->size, vec->budget);
}

static bool set_capacity(as_vec *vec, size_t capacity) {
    size_t bytes;
    if (!as_mul_size(capacity, vec->size, &bytes)) return false;
    size_t before = vec->capacity * vec->size;
    if (bytes > before && !as_budget_take(vec->budget, bytes - before)) return false;
    void *data = realloc(vec->data, bytes ? bytes : 1);
    if (!data) {
        if (bytes > before) as_budget_give(vec->budget, bytes - before);
        return false;
    }
    if (bytes < before) as_budget_give(vec->budget, before - bytes);
    vec->data = data;
    vec->capacity = capacity;
    return true;
}

bool as_vec_reserve(as_vec *vec, size_t extra) {
    size_t needed;
    if (!as_add_size(vec->count, extra, &needed)) return false;
    if (needed <= vec->capacity) return true;
    size_t capacity = vec->capacity + vec->capacity / 2 + 8;
    return set_capacity(vec, capacity > needed ? capacity : needed) || set_capacity(vec, needed);
}

/* Moves to new memory of whole large pages, whose first touch is not malloc's. */
static void move_to_huge_pages(as_vec *vec, size_t bytes) {
    size_t rounded, before = vec->capacity * vec->size;
    if (!as_add_size(bytes, HUGE_PAGE - 1, &rounded)) return;
    rounded = rounded / HUGE_PAGE * HUGE_PAGE;
    size_t capacity = rounded / vec->size, more = capacity * vec->size - before;
    if (!as_budget_allows(vec->budget, 2 * (uint64_t)more) || !as_budget_take(vec->budget, more)) return;
    void *data = aligned_alloc(HUGE_PAGE, rounded);
    if (!data) {
        as_budget_give(vec->budget, more);
        return;
    }
    as_use_large_pages(data, rounded);
    if (vec->count) memcpy(data, vec->data, vec->count * vec->size);
    free(vec->data);
    vec->data = data;
    vec->capacity = capacity;
}

void as_vec_expect(as_vec *vec, size_t total) {
    size_t bytes;
    if (total <= vec->capacity || !as_mul_size(total, vec->size, &bytes)) return;
    if (bytes >= HUGE_PAGE)
        move_to_huge_pages(vec, bytes);
    else if (as_budget_allows(vec->budget, 2 * (uint64_t)bytes))
        set_capacity(vec, total);
}

void *as_vec_push(as_vec *vec) {
    if (vec->count == vec->capacity && !as_vec_reserve(vec, 1)) return NULL;
    char *element = (char *)vec->data + vec->count++ * vec->size;
    memset(element, 0, vec->size);
    return element;
}

bool as_vec_append(as_vec *vec, const void *data, size_t n) {
    if (!as_vec_reserve(vec, n)) return false;
    if (n) memcpy((char *)vec->data + vec->count * vec->size, data, n * vec->size);
    vec->count += n;
    return true;
}

void as_vec_shrink(as_vec *vec) {
    if (vec->count < vec->capacity) set_capacity(vec, vec->count);
}

void as_vec_consumed(as_vec *vec, size_t from, size_t to) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), data = (uintptr_t)vec->data;
    uintptr_t first = (data + from * vec->size + page - 1) & ~(page - 1),
              end = (data + to * vec->size) & ~(page - 1); /* whole pages only */
    if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
}
