/* Private to the readers of anchor.xml: the state while going through it. */
#ifndef AS_FORMATS_CUBE_ANCHOR_H
#define AS_FORMATS_CUBE_ANCHOR_H

#include "formats/cube/cube.h"
#include "io/xml.h"

typedef enum as_anchor_section {
    AS_ANCHOR_TOP,
    AS_ANCHOR_DOC,
    AS_ANCHOR_METRICS,
    AS_ANCHOR_PROGRAM,
    AS_ANCHOR_SYSTEM
} as_anchor_section;

/* Elements of text that end in a column or an attribute. */
typedef enum as_anchor_field {
    AS_FIELD_NONE,
    AS_FIELD_OTHER, /* an attribute of this name */
    AS_FIELD_MIRROR,
    AS_FIELD_DISPLAY_NAME,
    AS_FIELD_UNIQUE_NAME,
    AS_FIELD_DTYPE,
    AS_FIELD_UNIT,
    AS_FIELD_DESCRIPTION,
    AS_FIELD_AGGREGATION,
    AS_FIELD_NAME, /* of a region */
    AS_FIELD_MANGLED,
    AS_FIELD_ROLE,
    AS_FIELD_PLACE_NAME,
    AS_FIELD_PLACE_RANK,
    AS_FIELD_PLACE_KIND
} as_anchor_field;

/* A node of the system tree, in the order of the document. Leaves get their ids when all are known. */
typedef struct as_anchor_place {
    as_location location; /* parent: index of a place */
    uint64_t number;      /* Id of a leaf */
} as_anchor_place;

/* A context whose region comes later in the document. */
typedef struct as_anchor_pending {
    assay_id context;
    uint32_t line, column;
    uint64_t region;
} as_anchor_pending;

/* An element that is kept as text, or (owner_id ASSAY_NONE) stepped over. */
typedef struct as_anchor_capture {
    uint32_t depth; /* of elements open in it; 0: none is being kept */
    as_owner owner;
    assay_id owner_id;
    const char *key;
    bool tag_is_open;
    bool has_content; /* something inside its first tag */
    as_vec text;      /* char */
} as_anchor_capture;

typedef struct as_anchor {
    as_reader *reader;
    as_dataset *ds;
    as_cube *cube;
    as_vec *metrics; /* as_cube_metric */
    const char *path;
    size_t size; /* of the document */

    as_anchor_section section;
    as_anchor_field field;
    uint32_t field_depth; /* of elements open in the field's */
    as_str field_key;     /* of AS_FIELD_OTHER and AS_FIELD_AGGREGATION */
    as_vec text;          /* char: what the field holds so far */
    as_anchor_capture capture;
    as_vec key; /* char: scratch */

    assay_id metric, region, context, place; /* the innermost open ones */
    as_map metric_numbers, region_numbers;   /* number in the file -> id */
    as_vec pending;                          /* as_anchor_pending */
    as_vec places;                           /* as_anchor_place */
    as_vec context_ids;                      /* uint8_t by string: is the id of a context */
    uint32_t n_duplicate_contexts, n_unnumbered_contexts;
    uint32_t n_elements; /* since progress was last told */
    bool has_said;       /* an error of ours is in reader->error */
} as_anchor;

/* as_broken() at the element being read; where it lets it pass, the element is stepped over. */
assay_status as_anchor_broken(as_anchor *a, const as_xml *xml, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void as_anchor_warn(as_anchor *a, const as_xml *xml, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* The value of an attribute in a list of them, or NULL. */
const char *as_anchor_find(const char *const *attributes, const char *name);
/* Digits only, blanks around them allowed. */
bool as_anchor_number(const char *text, uint64_t *out);
/* A line: -1 for NULL, -1 and everything else that is none. */
int64_t as_anchor_line(const char *text);
/* Adds an attribute; prefix may be "". */
assay_status as_anchor_note(as_anchor *a, as_owner owner, assay_id id, const char *prefix, const char *key,
                            const char *value, size_t size);
/* Adds "@NAME" for each attribute that is not among known (separated by blanks). section: NULL, or the part of the
 * document it is of. */
assay_status as_anchor_note_others(as_anchor *a, as_owner owner, assay_id id, const char *section,
                                   const char *const *attributes, const char *known);
/* <attr key= value=>. */
assay_status as_anchor_note_attr(as_anchor *a, as_owner owner, assay_id id, const char *const *attributes);

/* Where attributes lack the quotes that XML wants, as CubeLib writes them: the document with quotes, into out, an empty
 * vector of char. Else out stays empty. */
assay_status as_anchor_quote(as_anchor *a, const char *data, size_t size, as_vec *out);

/* ---- elements kept as text --------------------------------------------------------------------------------------- */

/* Begins with the element being read. owner_id ASSAY_NONE: step over it. */
assay_status as_anchor_capture_start(as_anchor *a, as_owner owner, assay_id owner_id, const char *key, const char *name,
                                     const char *const *attributes);
assay_status as_anchor_capture_element(as_anchor *a, const char *name, const char *const *attributes);
assay_status as_anchor_capture_text(as_anchor *a, const char *data, size_t size);
assay_status as_anchor_capture_end(as_anchor *a, const char *name);

/* ---- fields ------------------------------------------------------------------------------------------------------ */

void as_anchor_field_start(as_anchor *a, as_anchor_field field);
/* One that becomes an attribute: prefix and name. */
assay_status as_anchor_field_other(as_anchor *a, const char *prefix, const char *name);
/* Interns the text of the field that ends; AS_NO_STR where it is empty. */
assay_status as_anchor_field_string(as_anchor *a, as_str *out);

/* ---- the system tree --------------------------------------------------------------------------------------------- */

assay_status as_anchor_system_start(as_anchor *a, const as_xml *xml, const char *name, const char *const *attributes);
assay_status as_anchor_system_field(as_anchor *a);
void as_anchor_system_end(as_anchor *a, const char *name);
/* Moves the places to the dataset's locations and makes the list of columns. */
assay_status as_anchor_system_finish(as_anchor *a);

#endif
