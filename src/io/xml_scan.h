/* Scanning XML that lies in memory: a pull scanner for documents that are nothing but elements and attributes.
 *
 * It stands beside the expat of io/xml.h because of time: expat without any handler needs 51 ms for an experiment.xml
 * of 4.2 MB whose database has to be open in less, and refuses the \" that HPCToolkit writes for a quote inside a name.
 * Names and values are slices of the document; only values with entities, line ends or \" are copied. Nothing is
 * recursive, and memory is that of the names of open elements.
 *
 * Well-formed is checked as far as elements and attributes go: tags match, attributes have quotes, blanks between them
 * and no duplicates, entities are known, there is one root. Text, comments, processing instructions, CDATA and the
 * DOCTYPE with its internal subset are skipped; entities that it declares are not known. */
#ifndef AS_IO_XML_SCAN_H
#define AS_IO_XML_SCAN_H

#include "core/error.h"
#include "core/memory.h"

typedef struct as_xml_attribute {
    const char *name, *value; /* UTF-8, not NUL-terminated; valid until the next event */
    size_t name_size, value_size;
    const char *at;    /* where the value stands in the document: for as_xml_scan_place() */
    size_t decoded_at; /* private */
} as_xml_attribute;

enum { AS_XML_MAX_ATTRIBUTES = 64 };

typedef enum as_xml_event {
    AS_XML_START,
    AS_XML_END, /* of <a/> too, behind its start */
    AS_XML_DONE /* the document is over and well-formed */
} as_xml_event;

typedef struct as_xml_scan {
    const char *path;    /* for messages */
    const char *element; /* the '<' of the last start or end: for as_xml_scan_place() */
    const char *name;    /* of the last start or end */
    size_t name_size;
    uint32_t depth;        /* of open elements: the root's start and end see 1 */
    uint32_t n_attributes; /* of the last start */
    as_xml_attribute attributes[AS_XML_MAX_ATTRIBUTES];

    /* private */
    const char *data, *at, *end;
    uint32_t max_depth;
    bool is_empty, closes, has_root;
    as_vec open, decoded, transcoded;
    const char *counted_at; /* the last place that was asked for */
    uint64_t counted_line, counted_column;
    assay_error *error;
} as_xml_scan;

/* A document of size bytes, which must stay where they are. Its encoding is UTF-8, ASCII or ISO-8859-1. max_depth 0:
 * none. Memory is counted against the budget (may be NULL). ASSAY_E_FORMAT with line and column and the rule
 * xml-damaged, xml-entities or xml-depth; ASSAY_E_NOMEM. as_xml_scan_close() in every case. */
assay_status as_xml_scan_open(as_xml_scan *scan, const char *path, const char *data, size_t size, uint32_t max_depth,
                              as_budget *budget, assay_error *error);
void as_xml_scan_close(as_xml_scan *scan);

/* The next event; behind AS_XML_DONE or an error there is none. */
assay_status as_xml_scan_next(as_xml_scan *scan, as_xml_event *event);
/* Behind a start: goes to the end of that element, over all that is in it. The next event is the one behind its end. */
assay_status as_xml_scan_skip(as_xml_scan *scan);

/* Line and column (in characters) of `at`: scan->element, or an attribute's `at`. Counted from the place asked for
 * before: places near each other cost little, wherever they are. */
as_place as_xml_scan_place(as_xml_scan *scan, const char *at);

static inline bool as_xml_is(const as_xml_scan *scan, const char *name, size_t size) {
    return scan->name_size == size && memcmp(scan->name, name, size) == 0;
}
/* Whether the element has this name, a literal. */
#define AS_XML_IS(scan, literal) as_xml_is(scan, literal, sizeof(literal) - 1)

/* The attribute of this name, or NULL. */
const as_xml_attribute *as_xml_scan_attribute(const as_xml_scan *scan, const char *name);

#endif
