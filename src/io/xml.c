#include "io/xml.h"

#include <expat.h>
#include <stdlib.h>

/* Pieces that stay in the cache: expat copies what it is given. */
enum { PIECE = 1 << 17, LARGEST_PIECE = 1 << 29, MEMORY_HEADER = 16 };

struct as_xml_reading {
    as_xml xml;
    XML_Parser parser;
    const as_xml_handler *handler;
    void *user;
    uint32_t max_depth;
    assay_status code; /* of the handler that stopped it, or of ours */
};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* expat hands its memory functions nothing of ours: the budget of the document that this thread reads. */
static _Thread_local as_budget *current_budget;

/* The size stands before each piece. */
static void *allocate(size_t size) {
    if (size > SIZE_MAX - MEMORY_HEADER || !as_budget_take(current_budget, size + MEMORY_HEADER)) return NULL;
    char *memory = malloc(size + MEMORY_HEADER);
    if (!memory) {
        as_budget_give(current_budget, size + MEMORY_HEADER);
        return NULL;
    }
    memcpy(memory, &size, sizeof size);
    return memory + MEMORY_HEADER;
}

static void release(void *pointer) {
    if (!pointer) return;
    char *memory = (char *)pointer - MEMORY_HEADER;
    size_t size;
    memcpy(&size, memory, sizeof size);
    as_budget_give(current_budget, size + MEMORY_HEADER);
    free(memory);
}

static void *reallocate(void *pointer, size_t size) {
    if (!pointer) return allocate(size);
    char *memory = (char *)pointer - MEMORY_HEADER;
    size_t before;
    memcpy(&before, memory, sizeof before);
    if (size > SIZE_MAX - MEMORY_HEADER) return NULL;
    if (size > before && !as_budget_take(current_budget, size - before)) return NULL;
    char *moved = realloc(memory, size + MEMORY_HEADER);
    if (!moved) {
        if (size > before) as_budget_give(current_budget, size - before);
        return NULL;
    }
    if (size < before) as_budget_give(current_budget, before - size);
    memcpy(moved, &size, sizeof size);
    return moved + MEMORY_HEADER;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

as_place as_xml_place(const as_xml *xml) {
    XML_Parser parser = xml->reading->parser;
    return as_place_line(xml->path, (uint32_t)XML_GetCurrentLineNumber(parser),
                         (uint32_t)XML_GetCurrentColumnNumber(parser) + 1);
}

uint64_t as_xml_offset(const as_xml *xml) { return (uint64_t)XML_GetCurrentByteIndex(xml->reading->parser); }

static void stop(struct as_xml_reading *r, assay_status code) {
    r->code = code;
    XML_StopParser(r->parser, XML_FALSE);
}

static void fail(struct as_xml_reading *r, const char *rule, const char *what) {
    stop(r, as_fail(r->xml.error, ASSAY_E_FORMAT, as_xml_place(&r->xml), rule, "%s", what));
}

/* expat calls what is left of an event after a stop: hence the looks at code. */
static void on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
    struct as_xml_reading *r = user;
    if (r->code != ASSAY_OK) return;
    r->xml.depth++;
    if (r->max_depth && r->xml.depth > r->max_depth) {
        fail(r, "xml-depth", "elements are nested too deep");
        return;
    }
    if (!r->handler->start) return;
    assay_status code = r->handler->start(r->user, &r->xml, name, (const char *const *)attributes);
    if (code != ASSAY_OK) stop(r, code);
}

static void on_end(void *user, const XML_Char *name) {
    struct as_xml_reading *r = user;
    if (r->code != ASSAY_OK) return;
    assay_status code = r->handler->end ? r->handler->end(r->user, &r->xml, name) : ASSAY_OK;
    r->xml.depth--;
    if (code != ASSAY_OK) stop(r, code);
}

static void on_text(void *user, const XML_Char *data, int size) {
    struct as_xml_reading *r = user;
    if (r->code != ASSAY_OK) return;
    assay_status code = r->handler->text(r->user, &r->xml, data, (size_t)size);
    if (code != ASSAY_OK) stop(r, code);
}

static void on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                       int has_internal_subset) {
    (void)name;
    (void)system;
    (void)public;
    if (has_internal_subset)
        fail(user, "xml-entities", "the document declares entities in its DOCTYPE, which is not allowed here");
}

static void on_skipped_entity(void *user, const XML_Char *name, int is_parameter) {
    (void)name;
    (void)is_parameter;
    fail(user, "xml-entities", "an entity that is declared outside of the document, which is not allowed here");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static assay_status fail_parsing(struct as_xml_reading *r) {
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (r->code != ASSAY_OK) return r->code;
    if (code == XML_ERROR_NO_MEMORY) return as_fail_memory(r->xml.error, r->xml.path);
    return as_fail(r->xml.error, ASSAY_E_FORMAT, as_xml_place(&r->xml), "xml-damaged", "not well-formed XML: %s",
                   XML_ErrorString(code));
}

/* How much to hand over next. expat (before 2.6) begins a token anew with every piece until it is whole: as much again
 * as waits keeps that linear. */
static size_t next_piece(const struct as_xml_reading *r, size_t given, size_t left) {
    XML_Index taken = XML_GetCurrentByteIndex(r->parser);
    size_t waiting = taken < 0 || (size_t)taken > given ? 0 : given - (size_t)taken;
    size_t piece = waiting < PIECE ? PIECE : waiting < LARGEST_PIECE ? waiting : LARGEST_PIECE;
    return piece < left ? piece : left;
}

static assay_status read_pieces(struct as_xml_reading *r, const char *data, size_t size) {
    size_t given = 0;
    for (bool is_last = false; !is_last;) {
        size_t piece = next_piece(r, given, size - given);
        is_last = piece == size - given;
        void *buffer = XML_GetBuffer(r->parser, (int)piece);
        if (!buffer) return fail_parsing(r);
        memcpy(buffer, data + given, piece);
        if (XML_ParseBuffer(r->parser, (int)piece, is_last) != XML_STATUS_OK) return fail_parsing(r);
        given += piece;
    }
    return ASSAY_OK;
}

assay_status as_xml_read(const char *path, const char *data, size_t size, const as_xml_handler *handler, void *user,
                         uint32_t max_depth, as_budget *budget, assay_error *error) {
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, release};
    as_budget *budget_before = current_budget; /* a handler may read another document */
    current_budget = budget;
    struct as_xml_reading r = {
        .xml = {.path = path, .error = error}, .handler = handler, .user = user, .max_depth = max_depth};
    r.xml.reading = &r;
    r.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    assay_status code = ASSAY_E_NOMEM;
    if (r.parser) {
        XML_SetUserData(r.parser, &r);
        XML_SetElementHandler(r.parser, on_start, on_end);
        XML_SetCharacterDataHandler(r.parser, handler->text ? on_text : NULL);
        XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
        XML_SetSkippedEntityHandler(r.parser, on_skipped_entity);
        code = read_pieces(&r, data, size);
        XML_ParserFree(r.parser);
    } else
        as_fail_memory(error, path);
    current_budget = budget_before;
    return code;
}
