/* Nested JSON, written as it is built: answers that are no table (info, SARIF). Keys are NULL inside arrays. */
#ifndef AS_RENDER_JSON_BUILDER_H
#define AS_RENDER_JSON_BUILDER_H

#include "core/table.h"
#include "io/output.h"

enum { AS_BUILDER_DEPTH = 32 };

typedef struct as_builder {
    as_output *out;
    bool compact; /* everything on one line */
    unsigned depth;
    struct {
        char close;
        bool filled, spread; /* spread: a line for each member */
    } levels[AS_BUILDER_DEPTH];
} as_builder;

static inline as_builder as_builder_of(as_output *out) { return (as_builder){.out = out}; }

/* Objects and arrays; spread ones take a line for each member, others stay on one. */
void as_build_object(as_builder *builder, const char *key, bool spread);
void as_build_array(as_builder *builder, const char *key, bool spread);
/* Ends the innermost open one; behind the outermost comes a newline. */
void as_build_end(as_builder *builder);

/* text NULL: null. */
void as_build_text(as_builder *builder, const char *key, const char *text);
void as_build_int(as_builder *builder, const char *key, int64_t value);
/* null if the number is negative (or, for lines, columns and the like, 0 where null_zero says so). */
void as_build_known(as_builder *builder, const char *key, int64_t value, bool null_zero);
void as_build_bool(as_builder *builder, const char *key, bool value);
void as_build_real(as_builder *builder, const char *key, double value);
/* null where it is not known: NAN. */
void as_build_number(as_builder *builder, const char *key, double value);
/* JSON text as it is. */
void as_build_json(as_builder *builder, const char *key, const char *json);
/* All its digits. */
void as_build_whole(as_builder *builder, const char *key, as_whole value);
/* A cell of a table, for scripts, whose numbers are doubles: integers beyond 2^53 are texts. */
void as_build_cell(as_builder *builder, const char *key, const as_cell *cell);

#endif
