/* A meta.db for tests, made byte by byte to the description of the format, and of its first draft. Include it behind
 * cmocka.h. */
#ifndef AS_TESTS_META_FILES_H
#define AS_TESTS_META_FILES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { META_ROOM = 8192 };

/* Where tests find what they change. */
typedef struct meta_file {
    unsigned char data[META_ROOM];
    size_t size;
    bool is_draft;
    uint64_t metrics, metric, instances, summaries, scopes; /* metrics: the section; metric: the first one */
    uint64_t contexts, entries, functions, files, modules;
    uint64_t context_at[10]; /* by context id */
} meta_file;

static inline void meta_put(meta_file *f, uint64_t at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) f->data[at + i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t meta_room(meta_file *f, size_t bytes) {
    f->size = (f->size + 7) / 8 * 8;
    uint64_t at = f->size;
    if (f->size + bytes > META_ROOM) abort();
    f->size += bytes;
    return at;
}

static inline uint64_t meta_text(meta_file *f, const char *text) {
    uint64_t at = f->size, n = strlen(text) + 1;
    if (f->size + n > META_ROOM) abort();
    memcpy(f->data + at, text, n);
    f->size += n;
    return at;
}

static inline void meta_section(meta_file *f, unsigned number, uint64_t at, uint64_t size) {
    meta_put(f, 0x10 + 16 * number, size, 8);
    meta_put(f, 0x18 + 16 * number, at, 8);
}

/* Metrics: "time (sec)" in point (id 0), function (1), lex_aware (2) and execution (3), with count and sum of execution
 * as statistics 3 and 7. */
static inline void meta_add_metrics(meta_file *f) {
    static const char *const names[] = {"point", "function", "lex_aware", "execution"};
    f->scopes = meta_room(f, 4 * 16);
    f->instances = meta_room(f, 4 * 16);
    f->summaries = meta_room(f, 2 * 24);
    f->metric = meta_room(f, 32);
    f->metrics = meta_room(f, 0x20);
    for (unsigned i = 0; i < 4; i++) {
        meta_put(f, f->scopes + 16 * i, meta_text(f, names[i]), 8);
        meta_put(f, f->instances + 16 * i, f->scopes + 16 * i, 8);
        meta_put(f, f->instances + 16 * i + 8, i, 2);
    }
    for (unsigned i = 0; i < 2; i++) {
        meta_put(f, f->summaries + 24 * i, f->scopes + 16 * 3, 8);
        meta_put(f, f->summaries + 24 * i + 8, meta_text(f, i ? "$$" : "1"), 8);
        meta_put(f, f->summaries + 24 * i + 0x12, i ? 7 : 3, 2);
    }
    meta_put(f, f->metric, meta_text(f, "time (sec)"), 8);
    meta_put(f, f->metric + 0x08, f->instances, 8);
    meta_put(f, f->metric + 0x10, f->summaries, 8);
    meta_put(f, f->metric + 0x18, 4, 2);
    meta_put(f, f->metric + 0x1a, 2, 2);
    meta_put(f, f->metrics, f->metric, 8);
    meta_put(f, f->metrics + 0x08, 1, 4);
    meta_put(f, f->metrics + 0x0c, 32, 1);
    meta_put(f, f->metrics + 0x0d, 16, 1);
    meta_put(f, f->metrics + 0x0e, 24, 1);
    meta_put(f, f->metrics + 0x10, f->scopes, 8);
    meta_put(f, f->metrics + 0x18, 4, 2);
    meta_put(f, f->metrics + 0x1a, 16, 1);
    meta_section(f, 2, f->metrics, 0x1b);
}

/* The draft's: function (id 1) and execution (3), the latter with its sum as statistic 7. */
static inline void meta_add_draft_metrics(meta_file *f) {
    f->instances = meta_room(f, 2 * 24);
    f->summaries = meta_room(f, 16);
    f->metric = meta_room(f, 24);
    f->metrics = meta_room(f, 0x10);
    meta_put(f, f->instances, meta_text(f, "function"), 8);
    meta_put(f, f->instances + 0x0a, 1, 2);
    meta_put(f, f->instances + 24, meta_text(f, "execution"), 8);
    meta_put(f, f->instances + 24 + 0x08, 1, 2);
    meta_put(f, f->instances + 24 + 0x0a, 3, 2);
    meta_put(f, f->instances + 24 + 0x10, f->summaries, 8);
    meta_put(f, f->summaries, meta_text(f, "$$"), 8);
    meta_put(f, f->summaries + 0x0a, 7, 2);
    meta_put(f, f->metric, meta_text(f, "time (sec)"), 8);
    meta_put(f, f->metric + 0x08, 2, 2);
    meta_put(f, f->metric + 0x10, f->instances, 8);
    meta_put(f, f->metrics, f->metric, 8);
    meta_put(f, f->metrics + 0x08, 1, 4);
    meta_put(f, f->metrics + 0x0c, 24, 1);
    meta_put(f, f->metrics + 0x0d, 24, 1);
    meta_put(f, f->metrics + 0x0e, 16, 1);
    meta_section(f, 2, f->metrics, 0x0f);
}

static inline uint64_t meta_add_table(meta_file *f, unsigned section, unsigned n, unsigned size) {
    uint64_t elements = meta_room(f, n * size), at = meta_room(f, 0x0e);
    meta_put(f, at, elements, 8);
    meta_put(f, at + 8, n, 4);
    meta_put(f, at + 0x0c, size, 2);
    meta_section(f, section, at, 0x0e);
    return elements;
}

/* One module, two files of which the first is copied, functions main (file, line 3), one without a name at 0x20, and
 * "<gpu kernel>" without a place. */
static inline void meta_add_names(meta_file *f) {
    f->modules = meta_add_table(f, 5, 1, 16);
    f->files = meta_add_table(f, 6, 2, 16);
    f->functions = meta_add_table(f, 7, 3, 40);
    meta_put(f, f->modules + 8, meta_text(f, "/bin/app"), 8);
    meta_put(f, f->files, 1, 4);
    meta_put(f, f->files + 8, meta_text(f, "src/a.c"), 8);
    meta_put(f, f->files + 16 + 8, meta_text(f, "b.c"), 8);
    meta_put(f, f->functions, meta_text(f, "main"), 8);
    meta_put(f, f->functions + 0x08, f->modules, 8);
    meta_put(f, f->functions + 0x10, 0x10, 8);
    meta_put(f, f->functions + 0x18, f->files, 8);
    meta_put(f, f->functions + 0x20, 3, 4);
    meta_put(f, f->functions + 40 + 0x08, f->modules, 8);
    meta_put(f, f->functions + 40 + 0x10, 0x20, 8);
    meta_put(f, f->functions + 80, meta_text(f, "<gpu kernel>"), 8);
}

/* A context behind those that are there. flags: 1 function, 2 file and line, 4 module and offset; the first number is
 * the function's or file's index. */
static inline void meta_add_context(meta_file *f, uint32_t id, unsigned relation, unsigned type, unsigned flags,
                                    unsigned index, uint64_t number) {
    unsigned words = (flags & 1 ? 1 : 0) + (flags & 2 ? 2 : 0) + (flags & 4 ? 2 : 0);
    uint64_t head = f->is_draft ? 0x18 : 0x20, at = meta_room(f, head + 8 * words), word = at + head;
    f->context_at[id] = at;
    meta_put(f, at + 0x10, id, 4);
    meta_put(f, at + 0x14, flags, 1);
    meta_put(f, at + 0x15, relation, 1);
    meta_put(f, at + 0x16, type, 1);
    meta_put(f, at + 0x17, words, 1);
    if (!f->is_draft) meta_put(f, at + 0x18, relation == 0, 2);
    if (flags & 1) meta_put(f, word, f->functions + 40 * index, 8), word += 8;
    if (flags & 2) meta_put(f, word, f->files + 16 * index, 8), meta_put(f, word + 8, number, 4), word += 16;
    if (flags & 4) meta_put(f, word, f->modules, 8), meta_put(f, word + 8, flags & 2 ? 0x40 : number, 8);
}

/* Says that the contexts from the one of `first` to the end of that of `last`, which lie side by side, are the children
 * of what stands at `parent`. */
static inline void meta_adopt(meta_file *f, uint64_t parent, uint32_t first, uint32_t last) {
    uint64_t end = f->context_at[last] + (f->is_draft ? 0x18 : 0x20) + 8ull * f->data[f->context_at[last] + 0x17];
    meta_put(f, parent, end - f->context_at[first], 8);
    meta_put(f, parent + 8, f->context_at[first], 8);
}

/* main thread (1) ( main (2) ( line src/a.c:5 (3) ( <anonymous app+0x20> (4) ) loop at b.c:7 (5) ( insn app+0x30 (6) )
 * ) <unknown function> (7) ( <gpu kernel> inlined (8) ) ) ; in a draft without the main thread. */
static inline void meta_add_contexts(meta_file *f) {
    f->entries = meta_room(f, 32);
    f->contexts = meta_room(f, 0x10);
    meta_add_context(f, 2, 1, 0, 1, 0, 0);
    meta_add_context(f, 7, 1, 0, 0, 0, 0);
    meta_add_context(f, 3, 0, 2, 2, 0, 5);
    meta_add_context(f, 5, 0, 1, 6, 1, 7);
    meta_add_context(f, 4, 1, 0, 1, 1, 0);
    meta_add_context(f, 6, 1, 3, 4, 0, 0x30);
    meta_add_context(f, 8, 2, 0, 1, 2, 0);
    meta_adopt(f, f->context_at[2], 3, 5);
    meta_adopt(f, f->context_at[3], 4, 4);
    meta_adopt(f, f->context_at[5], 6, 6);
    meta_adopt(f, f->context_at[7], 8, 8);
    if (f->is_draft) {
        meta_adopt(f, f->contexts, 2, 7);
        meta_section(f, 3, f->contexts, 0x10);
        return;
    }
    meta_adopt(f, f->entries, 2, 7);
    meta_put(f, f->entries + 0x10, 1, 4);
    meta_put(f, f->entries + 0x14, 1, 2);
    meta_put(f, f->entries + 0x18, meta_text(f, "main thread"), 8);
    meta_put(f, f->contexts, f->entries, 8);
    meta_put(f, f->contexts + 0x08, 1, 2);
    meta_put(f, f->contexts + 0x0a, 32, 1);
    meta_section(f, 3, f->contexts, 0x0b);
}

static inline void meta_end(meta_file *f) {
    memcpy(f->data + f->size, "_meta.db", 8);
    f->size += 8;
}

static inline void meta_make(meta_file *f, bool is_draft) {
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    *f = (meta_file){.size = 0x90, .is_draft = is_draft};
    memcpy(f->data, "HPCTOOLKITmeta\4", 15);
    uint64_t general = meta_room(f, 0x10), names = meta_room(f, 0x10), pointers = meta_room(f, 4 * 8);
    meta_put(f, general, meta_text(f, "the title"), 8);
    meta_put(f, general + 8, meta_text(f, "the description"), 8);
    meta_section(f, 0, general, 0x10);
    for (unsigned i = 0; i < 4; i++) meta_put(f, pointers + 8 * i, meta_text(f, kinds[i]), 8);
    meta_put(f, names, pointers, 8);
    meta_put(f, names + 8, 4, 1);
    meta_section(f, 1, names, 9);
    is_draft ? meta_add_draft_metrics(f) : meta_add_metrics(f);
    meta_add_names(f);
    meta_add_contexts(f);
    meta_room(f, 0);
    meta_end(f);
}

#endif
