/* Private to sqlite*.c: the pages of ordinary tables (those with rowids), read where they lie.
 *
 * A table is a tree of pages. Inner pages have the greatest rowid of each child, leaves have rows: a record each, whose
 * end may lie on a chain of overflow pages. Nothing here is believed; what does not fit makes the cursor fail, with the
 * page that is damaged. See "Database File Format" of SQLite's documentation. */
#ifndef AS_IO_SQLITE_PAGES_H
#define AS_IO_SQLITE_PAGES_H

#include "io/sqlite_private.h"

enum { AS_TREE_DEPTH = 20 }; /* what SQLite itself goes down at most */

/* A page of the tree, its header checked. */
typedef struct as_tree_page {
    const unsigned char *data;
    uint32_t number;
    uint32_t first; /* of its cell pointers */
    uint32_t n, at; /* cells, and the one to be looked at next; an inner page has one more child than cells */
    bool is_leaf;
} as_tree_page;

/* Goes through the leaves, or the rows, of a table in the order of rowids. */
typedef struct as_table_cursor {
    const as_input *input;
    as_database_header header;
    as_tree_page pages[AS_TREE_DEPTH];
    unsigned depth;     /* of pages; 0: at the end */
    uint32_t damaged;   /* the page that is; 0: none */
    uint32_t n_visited; /* pages: more than there are is a loop */
    uint32_t window;    /* pages from here on are kept in memory */
    uint32_t last_leaf;
    bool has_row;
    int64_t rowid; /* of the row, which is greater than that of the one before */
    /* the record: `size` bytes, of which the first `there` lie here, the others from page `overflow` on */
    const unsigned char *record;
    size_t size, there;
    uint32_t overflow;
} as_table_cursor;

/* At the first row whose rowid is not below `first`; as_table_next() gives it. */
void as_table_seek(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                   int64_t first);
/* The next row; false at the end, and where something is damaged. */
bool as_table_next(as_table_cursor *cursor);
/* The last pages it looked at are not needed again soon, either. */
void as_table_leave(as_table_cursor *cursor);
/* All of the record, cursor->size bytes, into out; false: a page of it is damaged. */
bool as_table_assemble(as_table_cursor *cursor, unsigned char *out);
/* How many rows the tree has, by the counts of its leaves; false: a page is damaged. */
bool as_table_count(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                    uint64_t *n);
/* The greatest rowid; false: there are no rows, or a page is damaged. */
bool as_table_greatest(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                       int64_t *rowid);

/* The number at *at, which moves behind it; false: it ends behind `end`. */
static inline bool as_varint(const unsigned char **at, const unsigned char *end, uint64_t *out) {
    const unsigned char *p = *at;
    if (p < end && *p < 0x80) { /* as nearly all are */
        *out = *p;
        *at = p + 1;
        return true;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (p >= end) return false;
        value = value << 7 | (*p & 0x7f);
        if (*p++ < 0x80) {
            *out = value;
            *at = p;
            return true;
        }
    }
    if (p >= end) return false;
    *out = value << 8 | *p; /* the ninth byte has all of its bits */
    *at = p + 1;
    return true;
}

#endif
