#include "dataset/formula/lists.h"

#include <stdlib.h>

#include "dataset/formula/program.h"

/* A number that no computation gives: nothing was stored here. */
static const uint64_t unset_bits = 0x7ff8a55a00000000;

static bool is_unset(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits == unset_bits;
}

size_t as_list_index(double number) { return number > -1 && number < 9007199254740992.0 ? (size_t)number : SIZE_MAX; }

as_cell_value as_list_get(const as_list *list, size_t index) {
    if (index >= list->count) return AS_UNSET;
    if (list->texts && list->texts[index].text)
        return (as_cell_value){.text = list->texts[index].text, .size = list->texts[index].size};
    return is_unset(list->numbers[index]) ? AS_UNSET : (as_cell_value){.number = list->numbers[index]};
}

/* Room for `capacity` elements. A text takes as much as two numbers. */
static as_run_result reserve(as_list *list, size_t capacity, bool texts, size_t *elements_left) {
    size_t room = list->capacity;
    if (capacity > room) room = capacity > room + room / 2 ? capacity : room + room / 2;
    if (room < 16) room = 16;
    size_t more = room - list->capacity;
    if (list->texts)
        more *= 3;
    else if (texts)
        more += 2 * room;
    if (room > SIZE_MAX / sizeof(as_formula_text) || more > *elements_left) return AS_RUN_TOO_LARGE;
    double *numbers = room > list->capacity ? realloc(list->numbers, room * sizeof *numbers) : list->numbers;
    if (!numbers) return AS_RUN_NO_MEMORY;
    list->numbers = numbers;
    if (list->texts || texts) {
        as_formula_text *new_texts = realloc(list->texts, room * sizeof *new_texts);
        if (!new_texts) return AS_RUN_NO_MEMORY;
        size_t known = list->texts ? list->count : 0;
        memset(new_texts + known, 0, (room - known) * sizeof *new_texts);
        list->texts = new_texts;
    }
    list->capacity = room;
    *elements_left -= more;
    return AS_RUN_OK;
}

as_run_result as_list_set(as_list *list, size_t index, as_cell_value value, size_t *elements_left) {
    bool needs_texts = value.text && !list->texts;
    if (index >= *elements_left + list->capacity) return AS_RUN_TOO_LARGE;
    if (index >= list->capacity || needs_texts) {
        as_run_result result = reserve(list, index + 1, needs_texts, elements_left);
        if (result != AS_RUN_OK) return result;
    }
    double unset;
    memcpy(&unset, &unset_bits, sizeof unset);
    for (; list->count <= index; list->count++) {
        list->numbers[list->count] = unset;
        if (list->texts) list->texts[list->count] = (as_formula_text){NULL, 0};
    }
    list->numbers[index] = value.unset ? unset : value.number;
    if (list->texts) list->texts[index] = (as_formula_text){value.text, value.size};
    return AS_RUN_OK;
}

as_run_result as_list_copy(as_list *to, const as_list *from, size_t *elements_left) {
    if (from->count > to->capacity || (from->texts && !to->texts)) {
        as_run_result result = reserve(to, from->count, from->texts != NULL, elements_left);
        if (result != AS_RUN_OK) return result;
    }
    to->count = from->count;
    if (from->count) memcpy(to->numbers, from->numbers, from->count * sizeof *to->numbers);
    if (from->texts && from->count) memcpy(to->texts, from->texts, from->count * sizeof *to->texts);
    if (!from->texts && to->texts && from->count) memset(to->texts, 0, from->count * sizeof *to->texts);
    return AS_RUN_OK;
}

void as_list_free(as_list *list) {
    free(list->numbers);
    free(list->texts);
}

/* ---- globals ----------------------------------------------------------------------------------------------------- */

enum { MAX_TEXTS = 64 << 20 };

as_globals *as_globals_new(const as_formula_scope *scope, size_t max_elements) {
    as_globals *globals = calloc(1, sizeof *globals);
    if (!globals) return NULL;
    globals->count = as_formula_scope_globals(scope);
    globals->elements_left = max_elements;
    globals->text_left = MAX_TEXTS;
    as_arena_init(&globals->texts, NULL);
    globals->lists = calloc(globals->count + 1, sizeof *globals->lists);
    if (globals->lists) return globals;
    as_globals_free(globals);
    return NULL;
}

void as_globals_free(as_globals *globals) {
    if (!globals) return;
    for (size_t i = 0; globals->lists && i < globals->count; i++) as_list_free(&globals->lists[i]);
    free(globals->lists);
    as_arena_free(&globals->texts);
    free(globals);
}

as_run_result as_globals_set(as_globals *globals, uint32_t which, size_t index, as_cell_value value) {
    return as_list_set(&globals->lists[which], index, value, &globals->elements_left);
}

const as_list *as_globals_list(const as_globals *globals, uint32_t which) { return &globals->lists[which]; }
