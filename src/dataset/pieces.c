#include "dataset/pieces.h"

#include <stdlib.h>

static as_joining joining_of(const as_dataset *ds, assay_id id, as_str line, as_str instruction, bool has_inner) {
    const as_context *c = as_ds_context(ds, id);
    const as_region *region = c->region == ASSAY_NONE ? NULL : as_ds_region(ds, c->region);
    if (c->role == AS_ROLE_CALL_SITE) return c->subtree > 1 ? AS_JOINS_ALWAYS : AS_JOINS_NEVER;
    if (c->role != AS_ROLE_INNER || !region || region->kind == AS_NO_STR) return AS_JOINS_NEVER;
    bool is_line = region->kind == line;
    if (is_line && region->line_begin <= 0) return AS_JOINS_ALWAYS;
    bool calls = c->subtree > 1 && !has_inner;
    return calls && (is_line || region->kind == instruction) ? AS_JOINS_WHERE_IDLE : AS_JOINS_NEVER;
}

uint8_t *as_find_joinings(const as_dataset *ds) {
    size_t n = AS_COUNT(ds, contexts);
    as_str line = as_find(&ds->strings, "line", 4), instruction = as_find(&ds->strings, "instruction", 11);
    bool *has_inner = calloc(n + 1, sizeof *has_inner);
    uint8_t *joinings = calloc(n + 1, sizeof *joinings);
    for (assay_id id = (assay_id)n; has_inner && joinings && id-- > 0;) {
        const as_context *c = as_ds_context(ds, id);
        if (c->role != AS_ROLE_CALL && c->parent != ASSAY_NONE) has_inner[c->parent] = true;
        joinings[id] = (uint8_t)joining_of(ds, id, line, instruction, has_inner[id]);
    }
    if (!has_inner) {
        free(joinings);
        joinings = NULL;
    }
    free(has_inner);
    return joinings;
}
