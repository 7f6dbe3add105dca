#include "cli/sarif.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *rule_name(const as_finding *f) { return f->rule && *f->rule ? f->rule : "unnamed"; }

void as_sarif_begin(as_sarif *sarif, as_output *out) {
    sarif->builder = as_builder_of(out);
    sarif->failed = false;
    as_arena_init(&sarif->arena, NULL);
    as_strings_init(&sarif->rules, &sarif->arena);
    as_builder *b = &sarif->builder;
    as_build_object(b, NULL, true);
    as_build_text(b, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    as_build_text(b, "version", "2.1.0");
    as_build_array(b, "runs", true);
    as_build_object(b, NULL, true);
    as_build_object(b, "tool", true);
    as_build_object(b, "driver", true);
    as_build_text(b, "name", "assay");
    as_build_text(b, "version", assay_version());
    as_build_array(b, "rules", true);
}

void as_sarif_rule(as_sarif *sarif, const as_finding *f) {
    const char *name = rule_name(f);
    if (as_find(&sarif->rules, name, strlen(name)) != AS_NO_STR) return;
    sarif->failed |= as_intern(&sarif->rules, name, strlen(name)) == AS_NO_STR;
    as_build_object(&sarif->builder, NULL, false);
    as_build_text(&sarif->builder, "id", name);
    as_build_end(&sarif->builder);
}

void as_sarif_begin_results(as_sarif *sarif, bool all_read) {
    as_builder *b = &sarif->builder;
    as_build_end(b); /* rules */
    as_build_end(b); /* driver */
    as_build_end(b); /* tool */
    as_build_array(b, "invocations", false);
    as_build_object(b, NULL, false);
    as_build_bool(b, "executionSuccessful", all_read);
    as_build_end(b);
    as_build_end(b);
    as_build_text(b, "columnKind", "unicodeCodePoints");
    as_build_array(b, "results", true);
}

/* A path as a relative or file: URI. */
static void build_uri(as_sarif *sarif, const char *path) {
    as_output *uri = as_output_to_memory();
    if (!uri) {
        sarif->failed = true;
        return;
    }
    if (*path == '/') as_output_text(uri, "file://");
    for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                     strchr("-._~/", *at);
        if (plain)
            as_output_char(uri, (char)*at);
        else
            as_output_printf(uri, "%%%02X", *at);
    }
    size_t size;
    const char *text = as_output_memory(uri, &size);
    sarif->failed |= !text;
    as_build_text(&sarif->builder, "uri", text);
    as_output_discard(uri);
}

/* SARIF counts characters, readers count bytes: the part of the line before the place tells the difference. Where it
 * cannot be had, bytes it is. */
static uint32_t character_column(const as_finding *f) {
    enum { LONGEST = 1 << 20 };
    uint32_t before = f->column - 1, column = 1;
    if (f->offset < before || before > LONGEST) return f->column;
    char *bytes = malloc((size_t)before + 1);
    int fd = bytes ? open(f->file, O_RDONLY | O_CLOEXEC) : -1;
    bool has_line = fd >= 0 && pread(fd, bytes, before, (off_t)(f->offset - before)) == (ssize_t)before;
    for (uint32_t i = 0; has_line && i < before; i++)
        column += (bytes[i] & 0xc0) != 0x80; /* not those inside a character */
    if (fd >= 0) close(fd);
    free(bytes);
    return has_line ? column : f->column;
}

static void build_location(as_sarif *sarif, const as_finding *f) {
    as_builder *b = &sarif->builder;
    as_build_array(b, "locations", false);
    as_build_object(b, NULL, false);
    as_build_object(b, "physicalLocation", false);
    as_build_object(b, "artifactLocation", false);
    build_uri(sarif, f->file);
    as_build_end(b);
    if (f->line || f->offset >= 0) {
        as_build_object(b, "region", false);
        if (f->line) as_build_int(b, "startLine", f->line);
        if (f->line && f->column) as_build_int(b, "startColumn", character_column(f));
        if (f->offset >= 0) as_build_int(b, "byteOffset", f->offset);
        as_build_end(b);
    }
    as_build_end(b);
    as_build_end(b);
    as_build_end(b);
}

void as_sarif_result(as_sarif *sarif, const as_finding *f) {
    as_builder *b = &sarif->builder;
    const char *name = rule_name(f);
    as_build_object(b, NULL, false);
    as_build_text(b, "ruleId", name);
    as_build_int(b, "ruleIndex", as_find(&sarif->rules, name, strlen(name)));
    as_build_text(b, "level", f->severity);
    as_build_object(b, "message", false);
    as_build_text(b, "text", f->message);
    as_build_end(b);
    if (f->file) build_location(sarif, f);
    as_build_end(b);
}

bool as_sarif_end(as_sarif *sarif) {
    while (sarif->builder.depth) as_build_end(&sarif->builder);
    as_strings_free(&sarif->rules);
    as_arena_free(&sarif->arena);
    return !sarif->failed;
}
