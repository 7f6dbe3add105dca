/* What the anchor says beyond the columns of the tables, kept as attributes; elements kept as text; fields. */
#include "formats/cube/anchor.h"

#include <stdio.h>

/* ---- errors ------------------------------------------------------------------------------------------------------ */

assay_status as_anchor_broken(as_anchor *a, const as_xml *xml, const char *rule, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    assay_status status = as_broken(a->reader, as_xml_place(xml), rule, "anchor.xml: %s", message);
    a->has_said = status != ASSAY_OK;
    AS_TRY(status);
    return as_anchor_capture_start(a, AS_OWNER_DATASET, ASSAY_NONE, NULL, NULL, NULL);
}

void as_anchor_warn(as_anchor *a, const as_xml *xml, const char *rule, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    as_warn(a->reader, as_xml_place(xml), rule, "anchor.xml: %s", message);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

const char *as_anchor_find(const char *const *attributes, const char *name) {
    for (; *attributes; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    }
    return NULL;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool as_anchor_number(const char *text, uint64_t *out) {
    uint64_t value = 0;
    if (!text) return false;
    while (is_blank(*text)) text++;
    if (*text < '0' || *text > '9') return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    while (is_blank(*text)) text++;
    *out = value;
    return !*text;
}

int64_t as_anchor_line(const char *text) {
    uint64_t line;
    return as_anchor_number(text, &line) && line <= INT64_MAX ? (int64_t)line : -1;
}

assay_status as_anchor_note(as_anchor *a, as_owner owner, assay_id id, const char *prefix, const char *key,
                            const char *value, size_t size) {
    as_attribute attribute = {.owner = owner, .owner_id = id};
    size_t prefix_size = strlen(prefix);
    if (prefix_size) {
        a->key.count = 0;
        if (!as_vec_append(&a->key, prefix, prefix_size) || !as_vec_text(&a->key, key))
            return as_reader_memory(a->reader);
        attribute.key = as_ds_intern(a->ds, a->key.data, a->key.count);
    } else
        attribute.key = as_ds_intern_text(a->ds, key);
    as_str text = attribute.key == AS_NO_STR || size > UINT32_MAX ? AS_NO_STR : as_ds_intern(a->ds, value, size);
    if (text == AS_NO_STR) return as_reader_memory(a->reader);
    attribute.value = as_cell_text_n(as_ds_text(a->ds, text), size);
    return as_vec_append(&a->ds->attributes, &attribute, 1) ? ASSAY_OK : as_reader_memory(a->reader);
}

/* Whether word is one of a list separated by blanks. */
static bool is_listed(const char *word, const char *list) {
    size_t size = strlen(word);
    for (const char *at = size ? list : NULL; at && (at = strstr(at, word)) != NULL; at += size) {
        if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' ')) return true;
    }
    return false;
}

assay_status as_anchor_note_others(as_anchor *a, as_owner owner, assay_id id, const char *section,
                                   const char *const *attributes, const char *known) {
    for (; *attributes; attributes += 2) {
        if (is_listed(attributes[0], known)) continue;
        char prefix[32];
        snprintf(prefix, sizeof prefix, "@%s%s", section ? section : "", section ? ":" : "");
        AS_TRY(as_anchor_note(a, owner, id, prefix, attributes[0], attributes[1], strlen(attributes[1])));
    }
    return ASSAY_OK;
}

/* Whether a key of the document would be mistaken for one of ours. */
static bool is_reserved(as_owner owner, const char *key) {
    static const char *const words[] = {
        [AS_OWNER_DATASET] = AS_CUBE_MIRROR " " AS_CUBE_TOPOLOGIES,
        [AS_OWNER_METRIC] = "url val " AS_CUBE_CUBEPL " " AS_CUBE_CUBEPL_INIT,
        [AS_OWNER_REGION] = "paradigm url descr",
        [AS_OWNER_LOCATION] = "descr rank",
    };
    static const char *const prefixes[] = {"@", AS_CUBE_ATTR, AS_CUBE_FILE, AS_CUBE_CUBEPL_AGGR, AS_CUBE_PARTYPE};
    if (owner == AS_OWNER_CONTEXT || is_listed(key, words[owner])) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0) return true;
    }
    return false;
}

assay_status as_anchor_note_attr(as_anchor *a, as_owner owner, assay_id id, const char *const *attributes) {
    const char *key = as_anchor_find(attributes, "key"), *value = as_anchor_find(attributes, "value");
    if (!key) return ASSAY_OK;
    if (!value) value = "";
    return as_anchor_note(a, owner, id, is_reserved(owner, key) ? AS_CUBE_ATTR : "", key, value, strlen(value));
}

/* ---- elements kept as text --------------------------------------------------------------------------------------- */

/* Appends text with &, <, >, quotes and what is not to stand in an attribute's value written as XML wants it. */
static bool escape(as_vec *out, const char *text, size_t size) {
    const char *done = text, *end = text + size;
    for (const char *at = text; at < end; at++) {
        const char *entity = *at == '&'    ? "&amp;"
                             : *at == '<'  ? "&lt;"
                             : *at == '>'  ? "&gt;"
                             : *at == '"'  ? "&quot;"
                             : *at == '\t' ? "&#9;"
                             : *at == '\n' ? "&#10;"
                             : *at == '\r' ? "&#13;"
                                           : NULL;
        if (!entity) continue;
        if (!as_vec_append(out, done, (size_t)(at - done)) || !as_vec_text(out, entity)) return false;
        done = at + 1;
    }
    return as_vec_append(out, done, (size_t)(end - done));
}

/* Whether CubeLib's reader wants this element, when empty, as <name/> instead of <name></name>. */
static bool is_self_closed(const char *name) {
    return strcmp(name, "attr") == 0 || strcmp(name, "parameter") == 0 || strcmp(name, "dim") == 0;
}

assay_status as_anchor_capture_start(as_anchor *a, as_owner owner, assay_id owner_id, const char *key, const char *name,
                                     const char *const *attributes) {
    as_anchor_capture *c = &a->capture;
    c->owner = owner;
    c->owner_id = owner_id;
    c->key = key;
    c->text.count = 0;
    c->tag_is_open = c->has_content = false;
    if (owner_id != ASSAY_NONE) return as_anchor_capture_element(a, name, attributes);
    c->depth = 1;
    return ASSAY_OK;
}

/* Ends the start tag that is still open, because something follows inside. */
static bool close_tag(as_anchor_capture *c) {
    bool was_open = c->tag_is_open;
    c->tag_is_open = false;
    return !was_open || as_vec_text(&c->text, ">");
}

assay_status as_anchor_capture_element(as_anchor *a, const char *name, const char *const *attributes) {
    as_anchor_capture *c = &a->capture;
    c->has_content |= c->depth++ > 0;
    if (c->owner_id == ASSAY_NONE) return ASSAY_OK;
    bool fine = close_tag(c) && as_vec_text(&c->text, "<") && as_vec_text(&c->text, name);
    for (; *attributes && fine; attributes += 2) {
        fine = as_vec_text(&c->text, " ") && as_vec_text(&c->text, attributes[0]) && as_vec_text(&c->text, "=\"") &&
               escape(&c->text, attributes[1], strlen(attributes[1])) && as_vec_text(&c->text, "\"");
    }
    c->tag_is_open = true;
    return fine ? ASSAY_OK : as_reader_memory(a->reader);
}

assay_status as_anchor_capture_text(as_anchor *a, const char *data, size_t size) {
    as_anchor_capture *c = &a->capture;
    if (c->owner_id == ASSAY_NONE) return ASSAY_OK;
    bool is_line_end = size == 1 && *data == '\n'; /* more readable as it is */
    bool fine = close_tag(c) && (is_line_end ? as_vec_text(&c->text, "\n") : escape(&c->text, data, size));
    return fine ? ASSAY_OK : as_reader_memory(a->reader);
}

assay_status as_anchor_capture_end(as_anchor *a, const char *name) {
    as_anchor_capture *c = &a->capture;
    c->depth--;
    if (c->owner_id == ASSAY_NONE) return ASSAY_OK;
    bool fine, is_empty = c->tag_is_open && is_self_closed(name);
    if (is_empty)
        fine = as_vec_text(&c->text, "/>");
    else
        fine = close_tag(c) && as_vec_text(&c->text, "</") && as_vec_text(&c->text, name) && as_vec_text(&c->text, ">");
    c->tag_is_open = false;
    if (!fine) return as_reader_memory(a->reader);
    if (c->depth || (strcmp(c->key, AS_CUBE_TOPOLOGIES) == 0 && !c->has_content)) return ASSAY_OK;
    return as_anchor_note(a, c->owner, c->owner_id, "", c->key, c->text.data, c->text.count);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

void as_anchor_field_start(as_anchor *a, as_anchor_field field) {
    a->field = field;
    a->field_depth = 0;
    a->text.count = 0;
}

assay_status as_anchor_field_other(as_anchor *a, const char *prefix, const char *name) {
    as_anchor_field_start(a, AS_FIELD_OTHER);
    a->key.count = 0;
    if (!as_vec_text(&a->key, prefix) || !as_vec_text(&a->key, name)) return as_reader_memory(a->reader);
    a->field_key = as_ds_intern(a->ds, a->key.data, a->key.count);
    return a->field_key == AS_NO_STR ? as_reader_memory(a->reader) : ASSAY_OK;
}

assay_status as_anchor_field_string(as_anchor *a, as_str *out) {
    if (!a->text.count) return ASSAY_OK;
    *out = as_ds_intern(a->ds, a->text.data, a->text.count);
    return *out == AS_NO_STR ? as_reader_memory(a->reader) : ASSAY_OK;
}
