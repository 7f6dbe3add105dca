/* FORMAT strings of Extra-P's --print, taken apart once and filled for each model: "{callpath}: {model:latex}
 * {rss:.2e}".
 *
 * The rules are those of Extra-P's docs/output-formatting.md. Its parser is copied in effect: which brace closes which,
 * what a quote ends. */
#ifndef AS_RENDER_EXTRAP_TEMPLATE_H
#define AS_RENDER_EXTRAP_TEMPLATE_H

#include "core/error.h"
#include "core/memory.h"
#include "render/extrap_function.h"
#include "render/python_format.h"

typedef enum as_field {
    AS_FIELD_LITERAL,
    AS_FIELD_CALLPATH,
    AS_FIELD_METRIC,
    AS_FIELD_MODEL,
    AS_FIELD_PARAMETERS,   /* a list: each is filled from `entry` */
    AS_FIELD_POINTS,       /* the same */
    AS_FIELD_MEASUREMENTS, /* the same */
    AS_FIELD_POINT,        /* a list of the coordinates, each filled from `entry` */
    AS_FIELD_PARAMETER,    /* a text */
    AS_FIELD_COORDINATE,   /* from here on numbers */
    AS_FIELD_SMAPE,
    AS_FIELD_RRSS,
    AS_FIELD_RSS,
    AS_FIELD_AR2,
    AS_FIELD_RE,
    AS_FIELD_MEAN,
    AS_FIELD_MEDIAN,
    AS_FIELD_STD,
    AS_FIELD_MIN,
    AS_FIELD_MAX
} as_field;

typedef struct as_template as_template;

/* A piece of a template. */
typedef struct as_part {
    as_field field;
    bool once;            /* "?": blanks where it was printed just before */
    char conversion;      /* of "!s", "!r", "!a": the value is formatted as a text; else 0 */
    as_notation notation; /* of a model */
    as_format_spec spec;  /* of numbers and texts */
    /* A literal, or what separates the entries of a list (NULL: the usual) */
    const char *text;
    size_t size;
    as_template *entry; /* how an entry of a list looks; NULL: the usual */
} as_part;

struct as_template {
    as_vec parts; /* as_part */
};

/* All memory comes from the arena, but for the vectors: free them with as_template_free(). ASSAY_E_USAGE with what is
 * wrong and where. */
assay_status as_template_parse(const char *format, as_arena *arena, as_template **out, assay_error *error);
void as_template_free(as_template *template);

#endif
