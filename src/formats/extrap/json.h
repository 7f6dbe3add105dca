/* The pieces of extrap-json: the document, its two layouts, and writing the newer one. */
#ifndef AS_FORMATS_EXTRAP_JSON_H
#define AS_FORMATS_EXTRAP_JSON_H

#include "formats/extrap/cursor.h"

/* The members of the top-level object that have a meaning in one of the layouts. */
enum { AS_DOC_PARAMETERS, AS_DOC_MEASUREMENTS, AS_DOC_CALLPATHS, AS_DOC_METRICS, AS_DOC_COORDINATES, AS_DOC_MEMBERS };

/* Where a member's value stands in the input. text NULL: the document has none. */
typedef struct as_doc_member {
    const char *text;
    size_t size;
} as_doc_member;

/* An unknown key of a metric or call path of the older layout; they have their final ids only when all is read. */
typedef struct as_doc_attribute {
    as_owner owner;
    assay_id id; /* metric, or tree id */
    as_str key;
    as_cell value; /* its text lies in the dataset's arena */
} as_doc_attribute;

typedef struct as_extrap_doc {
    as_cursor cursor;
    as_map keys; /* string id of an unknown top-level key -> 1 */
    as_doc_member members[AS_DOC_MEMBERS];
    as_vec attributes; /* as_doc_attribute */
} as_extrap_doc;

/* Moves the cursor to the first token of a member's value. */
assay_status as_doc_enter(as_extrap_doc *doc, int member);

/* The rest of a list of names; the cursor is at the first one, or at the end of the list. */
assay_status as_json_new_parameters(as_cursor *cursor);
/* The cursor is at the beginning of the object. */
assay_status as_json_new_measurements(as_cursor *cursor);

/* All members are there. */
assay_status as_json_old_read(as_extrap_doc *doc);

assay_status as_extrap_json_write(as_writer *writer);
void as_extrap_json_losses(const as_dataset *dataset, as_losses *losses);

#endif
