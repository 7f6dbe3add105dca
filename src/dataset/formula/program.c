#include "dataset/formula/program.h"

#include <stdlib.h>

/* ---- formulas and scopes ----------------------------------------------------------------------------------------- */

as_formula *as_formula_new(void) {
    as_formula *formula = calloc(1, sizeof *formula);
    if (!formula) return NULL;
    for (int i = 0; i < AS_FORMULA_PARTS; i++) as_vec_init(&formula->parts[i].code, sizeof(as_instruction), NULL);
    as_arena_init(&formula->arena, NULL);
    as_vec_init(&formula->numbers, sizeof(double), NULL);
    as_vec_init(&formula->texts, sizeof(as_formula_text), NULL);
    as_vec_init(&formula->patterns, sizeof(as_pattern *), NULL);
    as_vec_init(&formula->operands, sizeof(as_formula_operand), NULL);
    as_vec_init(&formula->locals, sizeof(as_local), NULL);
    as_vec_init(&formula->globals_set, sizeof(uint32_t), NULL);
    as_vec_init(&formula->globals_read, sizeof(uint32_t), NULL);
    return formula;
}

void as_formula_free(as_formula *formula) {
    if (!formula) return;
    for (size_t i = 0; i < formula->patterns.count; i++) as_pattern_free(AS_AT(as_pattern *, &formula->patterns, i));
    for (int i = 0; i < AS_FORMULA_PARTS; i++) as_vec_free(&formula->parts[i].code);
    as_vec_free(&formula->numbers);
    as_vec_free(&formula->texts);
    as_vec_free(&formula->patterns);
    as_vec_free(&formula->operands);
    as_vec_free(&formula->locals);
    as_vec_free(&formula->globals_set);
    as_vec_free(&formula->globals_read);
    as_arena_free(&formula->arena);
    free(formula);
}

static bool copy_vector(as_vec *to, const as_vec *from) {
    return !from->count || as_vec_append(to, from->data, from->count);
}

/* What those formulas have: numbers, metrics and one program. */
as_formula *as_formula_copy(const as_formula *formula, const uint32_t *new_ids) {
    as_formula *copy = as_formula_new();
    if (!copy) return NULL;
    const as_program *from = &formula->parts[AS_FORMULA_VALUE];
    as_program *to = &copy->parts[AS_FORMULA_VALUE];
    to->height = from->height;
    copy->can_be_empty = formula->can_be_empty;
    if (!copy_vector(&to->code, &from->code) || !copy_vector(&copy->numbers, &formula->numbers) ||
        !copy_vector(&copy->operands, &formula->operands)) {
        as_formula_free(copy);
        return NULL;
    }
    for (size_t i = 0; i < copy->operands.count; i++) {
        as_formula_operand *operand = &AS_AT(as_formula_operand, &copy->operands, i);
        operand->metric = new_ids[operand->metric];
    }
    return copy;
}

bool as_formula_has(const as_formula *formula, as_formula_part part) { return formula->parts[part].code.count > 0; }

bool as_formula_is_one_metric(const as_formula *formula) {
    const as_vec *code = &formula->parts[AS_FORMULA_VALUE].code;
    size_t n = 0;
    for (size_t i = 0; i < code->count; i++) {
        const as_instruction *instruction = &AS_AT(as_instruction, code, i);
        bool is_zero = instruction->kind == AS_DO_UNARY && instruction->b == AS_OR_ZERO;
        if (instruction->kind != AS_DO_METRIC && instruction->kind != AS_DO_END && !is_zero) return false;
        n += instruction->kind == AS_DO_METRIC;
    }
    return n == 1;
}

bool as_formula_can_be_empty(const as_formula *formula) { return formula->can_be_empty; }

size_t as_formula_operands(const as_formula *formula, const as_formula_operand **operands) {
    *operands = formula->operands.data;
    return formula->operands.count;
}

size_t as_formula_globals_set(const as_formula *formula, const uint32_t **globals) {
    *globals = formula->globals_set.data;
    return formula->globals_set.count;
}
size_t as_formula_globals_read(const as_formula *formula, const uint32_t **globals) {
    *globals = formula->globals_read.data;
    return formula->globals_read.count;
}

as_formula_scope *as_formula_scope_new(void) {
    as_formula_scope *scope = calloc(1, sizeof *scope);
    if (!scope) return NULL;
    as_arena_init(&scope->arena, NULL);
    as_strings_init(&scope->names, &scope->arena);
    return scope;
}

void as_formula_scope_free(as_formula_scope *scope) {
    if (!scope) return;
    as_strings_free(&scope->names);
    as_arena_free(&scope->arena);
    free(scope);
}

size_t as_formula_scope_globals(const as_formula_scope *scope) { return scope->names.entries.count; }

/* AS_NO_STR: unknown. */
static as_str find_global(const as_formula_scope *scope, const char *name, size_t size) {
    return as_find(&scope->names, name, size);
}

bool as_scope_declare(as_formula_scope *scope, const char *name, size_t size) {
    if (find_global(scope, name, size) != AS_NO_STR) return true;
    return as_intern(&scope->names, name, size) != AS_NO_STR;
}

/* ---- writing a program ------------------------------------------------------------------------------------------- */

static bool fail(as_program_builder *builder, const char *why) {
    if (!builder->failed) builder->why = why;
    builder->failed = true;
    return false;
}

static as_program *program_of(const as_program_builder *builder) { return &builder->formula->parts[builder->part]; }

bool as_program_emit(as_program_builder *builder, as_instruction_kind kind, unsigned b, size_t a) {
    static const int8_t heights[] = {
#define HEIGHT(name, height) height,
        AS_INSTRUCTIONS(HEIGHT)
#undef HEIGHT
    };
    as_program *program = program_of(builder);
    as_instruction new = {(uint8_t)kind, (uint8_t)b, (uint32_t)a};
    if (builder->failed) return false;
    if (program->code.count >= AS_MAX_INSTRUCTIONS) return fail(builder, "it is too long");
    if (!as_vec_append(&program->code, &new, 1)) return fail(builder, NULL);
    builder->height += heights[kind] - (kind == AS_DO_DEVIATION ? (int)a : 0);
    if (builder->height > program->height) program->height = builder->height;
    return builder->height <= AS_MAX_HEIGHT || fail(builder, "it is nested too deeply");
}

bool as_program_number(as_program_builder *builder, double number) {
    as_vec *numbers = &builder->formula->numbers;
    if (!as_vec_append(numbers, &number, 1)) return fail(builder, NULL);
    return as_program_emit(builder, AS_DO_NUMBER, 0, numbers->count - 1);
}

bool as_program_text(as_program_builder *builder, const char *text, size_t size) {
    as_formula_text copy = {as_arena_copy(&builder->formula->arena, text, size), size};
    if (!copy.text || !as_vec_append(&builder->formula->texts, &copy, 1)) return fail(builder, NULL);
    return as_program_emit(builder, AS_DO_TEXT, 0, builder->formula->texts.count - 1);
}

bool as_program_match(as_program_builder *builder, as_pattern *pattern) {
    as_vec *patterns = &builder->formula->patterns;
    if (!as_vec_append(patterns, &pattern, 1)) {
        as_pattern_free(pattern);
        return fail(builder, NULL);
    }
    return as_program_emit(builder, AS_DO_MATCH, 0, patterns->count - 1);
}

bool as_program_metric(as_program_builder *builder, as_instruction_kind kind, as_formula_operand operand) {
    as_vec *operands = &builder->formula->operands;
    size_t i = 0;
    for (; i < operands->count; i++) {
        const as_formula_operand *known = &AS_AT(as_formula_operand, operands, i);
        if (known->metric == operand.metric && known->reach == operand.reach && known->flavour == operand.flavour)
            break;
    }
    if (i >= AS_MAX_OPERANDS) return fail(builder, "it uses too many metrics");
    if (i == operands->count && !as_vec_append(operands, &operand, 1)) return fail(builder, NULL);
    return as_program_emit(builder, kind, 0, i);
}

static size_t find_local(const as_program_builder *builder, const char *name, size_t size) {
    const as_vec *locals = &builder->formula->locals;
    size_t i = 0;
    for (; i < locals->count; i++) {
        const as_formula_text *known = &AS_AT(as_local, locals, i).name;
        if (known->size == size && memcmp(known->text, name, size) == 0) break;
    }
    return i;
}

/* SIZE_MAX on failure. */
static size_t local_of(as_program_builder *builder, const char *name, size_t size) {
    as_vec *locals = &builder->formula->locals;
    size_t i = find_local(builder, name, size);
    if (i < locals->count) return i;
    as_local new = {.name = {as_arena_copy(&builder->formula->arena, name, size), size}};
    if (i >= AS_MAX_VARIABLES) {
        fail(builder, "it has too many variables");
        return SIZE_MAX;
    }
    if (new.name.text && as_vec_append(locals, &new, 1)) return i;
    fail(builder, NULL);
    return SIZE_MAX;
}

static bool has_number(const as_vec *numbers, uint32_t number) {
    for (size_t i = 0; i < numbers->count; i++) {
        if (AS_AT(uint32_t, numbers, i) == number) return true;
    }
    return false;
}

static bool note_global(as_program_builder *builder, as_vec *list, uint32_t global) {
    if (has_number(list, global)) return true;
    if (list->count >= AS_MAX_VARIABLES) return fail(builder, "it has too many variables");
    return as_vec_append(list, &global, 1) || fail(builder, NULL);
}

/* A global or local one, by the instruction for each. */
static bool build_by_kind(as_program_builder *builder, const char *name, size_t size, as_instruction_kind global_kind,
                          as_instruction_kind local_kind) {
    as_str global = find_global(builder->scope, name, size);
    if (global != AS_NO_STR)
        return note_global(builder, &builder->formula->globals_read, global) &&
               as_program_emit(builder, global_kind, 0, global);
    size_t local = local_of(builder, name, size);
    return local != SIZE_MAX && as_program_emit(builder, local_kind, 0, local);
}

bool as_program_variable(as_program_builder *builder, const char *name, size_t size, bool at) {
    return build_by_kind(builder, name, size, at ? AS_DO_GLOBAL_AT : AS_DO_GLOBAL, at ? AS_DO_LOCAL_AT : AS_DO_LOCAL);
}

bool as_program_variable_size(as_program_builder *builder, const char *name, size_t size) {
    return build_by_kind(builder, name, size, AS_DO_GLOBAL_SIZE, AS_DO_LOCAL_SIZE);
}

bool as_program_set_variable(as_program_builder *builder, const char *name, size_t size, bool at) {
    as_str global = find_global(builder->scope, name, size);
    if (global != AS_NO_STR) {
        if (builder->part != AS_FORMULA_INIT)
            return fail(
                builder,
                "it sets a global variable outside of the initialisation: what it gives would depend on the order "
                "of evaluation");
        return note_global(builder, &builder->formula->globals_set, global) &&
               as_program_emit(builder, at ? AS_DO_SET_GLOBAL_AT : AS_DO_SET_GLOBAL, 0, global);
    }
    size_t local = local_of(builder, name, size);
    if (local == SIZE_MAX) return false;
    if (builder->part != AS_FORMULA_INIT) AS_AT(as_local, &builder->formula->locals, local).set_by_value = true;
    return as_program_emit(builder, at ? AS_DO_SET_LOCAL_AT : AS_DO_SET_LOCAL, 0, local);
}

bool as_program_knows_variable(const as_program_builder *builder, const char *name, size_t size) {
    return find_global(builder->scope, name, size) != AS_NO_STR ||
           find_local(builder, name, size) < builder->formula->locals.count;
}

/* ---- jumps ------------------------------------------------------------------------------------------------------- */

uint32_t as_program_here(const as_program_builder *builder) { return (uint32_t)program_of(builder)->code.count; }

bool as_program_jump(as_program_builder *builder, as_instruction_kind kind, uint32_t *list) {
    uint32_t here = as_program_here(builder);
    if (!as_program_emit(builder, kind, 0, *list)) return false;
    *list = here;
    return true;
}

void as_program_land(as_program_builder *builder, uint32_t list) {
    if (builder->failed) return;
    as_program *program = program_of(builder);
    while (list != AS_NO_JUMP) {
        as_instruction *jump = &AS_AT(as_instruction, &program->code, list);
        list = jump->a;
        jump->a = (uint32_t)program->code.count;
    }
}
