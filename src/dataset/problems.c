#include "dataset/problems.h"

enum { FIRST_CHUNK = 16 };

void as_problems_init(as_problems *problems, as_budget *budget) {
    *problems = (as_problems){0};
    as_arena_init(&problems->texts, budget);
    pthread_mutex_init(&problems->lock, NULL);
}

void as_problems_free(as_problems *problems) {
    as_arena_free(&problems->texts);
    pthread_mutex_destroy(&problems->lock);
}

/* Chunk k begins with number FIRST_CHUNK * (2^k - 1). */
static size_t chunk_of(size_t index, size_t *within) {
    size_t k = 0, first = 0;
    while (index - first >= (size_t)FIRST_CHUNK << k) first += (size_t)FIRST_CHUNK << k++;
    *within = index - first;
    return k;
}

as_problem *as_problems_at(const as_problems *problems, size_t index) {
    size_t within, k = chunk_of(index, &within);
    return problems->chunks[k] + within;
}

/* Rules and files are mostly those of the problem before. */
static const char *keep_text(as_problems *problems, const char *text, const char *last) {
    if (!text || (last && strcmp(last, text) == 0)) return text ? last : NULL;
    return as_arena_copy(&problems->texts, text, strlen(text));
}

/* False when memory is out. */
static bool add(as_problems *problems, const as_problem *problem) {
    size_t within, n = problems->count, k = chunk_of(n, &within);
    if (!problems->chunks[k])
        problems->chunks[k] = as_arena_array(&problems->texts, (size_t)FIRST_CHUNK << k, sizeof **problems->chunks);
    if (!problems->chunks[k]) return false;
    const as_problem *last = n ? as_problems_at(problems, n - 1) : NULL;
    as_problem *copy = problems->chunks[k] + within;
    *copy = *problem;
    copy->rule = keep_text(problems, problem->rule, last ? last->rule : NULL);
    copy->file = keep_text(problems, problem->file, last ? last->file : NULL);
    copy->message = keep_text(problems, problem->message, NULL);
    if (!copy->rule || !copy->message || (problem->file && !copy->file)) return false;
    __atomic_store_n(&problems->count, n + 1, __ATOMIC_RELEASE);
    return true;
}

void as_problems_add(as_problems *problems, const as_problem *problem) {
    pthread_mutex_lock(&problems->lock);
    if (problems->count >= AS_MAX_PROBLEMS || !add(problems, problem))
        __atomic_fetch_add(&problems->n_dropped, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&problems->lock);
}
