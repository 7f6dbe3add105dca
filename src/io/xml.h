/* Reading XML: a thin layer over expat, element by element, from bytes in memory. Memory is that of the open elements;
 * nothing is recursive. */
#ifndef AS_IO_XML_H
#define AS_IO_XML_H

#include "core/error.h"
#include "core/memory.h"

/* A document being read, as handlers see it. */
typedef struct as_xml {
    const char *path;               /* for messages */
    uint32_t depth;                 /* of open elements: the root's start and end see 1 */
    assay_error *error;             /* for handlers that stop the reading; may be NULL */
    struct as_xml_reading *reading; /* private */
} as_xml;

/* Any of them may be NULL. What is not ASSAY_OK ends the reading and becomes its status; *xml->error is the handler's
 * to fill then. Strings are UTF-8, whatever the document's encoding, and live until the handler returns. */
typedef struct as_xml_handler {
    /* attributes: name, value, name, value … NULL */
    assay_status (*start)(void *user, const as_xml *xml, const char *name, const char *const *attributes);
    assay_status (*end)(void *user, const as_xml *xml, const char *name);
    /* Text between two tags, not NUL-terminated. It may come in several pieces: at ends of lines and at &lt; and the
     * like. */
    assay_status (*text)(void *user, const as_xml *xml, const char *data, size_t size);
} as_xml_handler;

/* Reads one document. max_depth 0: none. Memory is counted against the budget (may be NULL).
 * ASSAY_E_FORMAT with the place in the document, line and column, and the rule xml-damaged (not well-formed, another
 * encoding than UTF-8, UTF-16, ISO-8859-1 and ASCII), xml-entities (the document declares entities, or uses unknown
 * ones), xml-depth. ASSAY_E_NOMEM. */
assay_status as_xml_read(const char *path, const char *data, size_t size, const as_xml_handler *handler, void *user,
                         uint32_t max_depth, as_budget *budget, assay_error *error);

/* The line and column of the event a handler is called for. Not cheap: for errors. */
as_place as_xml_place(const as_xml *xml);
/* Its byte offset in the document. Cheap. */
uint64_t as_xml_offset(const as_xml *xml);

#endif
