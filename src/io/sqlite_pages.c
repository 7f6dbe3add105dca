#include "io/sqlite_pages.h"

enum { LEAF = 0x0d, INNER = 0x05, FILE_HEADER = 100, WINDOW_BYTES = 1 << 22 };

static uint32_t u16(const unsigned char *at) { return (uint32_t)at[0] << 8 | at[1]; }

static bool damage(as_table_cursor *cursor, uint32_t page) {
    cursor->damaged = page ? page : 1;
    cursor->depth = 0;
    return false;
}

static const unsigned char *page_data(const as_table_cursor *cursor, uint32_t number) {
    return (const unsigned char *)cursor->input->data + (size_t)(number - 1) * cursor->header.page_size;
}

/* ---- down and up the tree ---------------------------------------------------------------------------------------- */

static void forget(as_table_cursor *cursor, uint32_t end) {
    size_t size = cursor->header.page_size;
    if (cursor->window && cursor->window < end)
        as_input_forget(cursor->input, (cursor->window - 1) * size, (end - 1) * size);
    cursor->window = end;
}

/* Leaves mostly lie one behind the other: those behind us are not needed again soon. */
static void let_go(as_table_cursor *cursor, uint32_t number) {
    uint32_t window = WINDOW_BYTES / cursor->header.page_size;
    if (number < cursor->window || number - cursor->window > 2 * window)
        cursor->window = number;
    else if (number - cursor->window >= window)
        forget(cursor, number);
    cursor->last_leaf = number;
}

void as_table_leave(as_table_cursor *cursor) {
    if (cursor->last_leaf >= cursor->window) forget(cursor, cursor->last_leaf + 1);
}

static bool enter(as_table_cursor *cursor, uint32_t number, uint32_t from) {
    if (number == 0 || number > cursor->header.n_pages || cursor->depth == AS_TREE_DEPTH ||
        ++cursor->n_visited > cursor->header.n_pages)
        return damage(cursor, from);
    as_tree_page *page = &cursor->pages[cursor->depth];
    uint32_t header = number == 1 ? FILE_HEADER : 0;
    page->data = page_data(cursor, number);
    page->number = number;
    unsigned char type = page->data[header];
    if (type != LEAF && type != INNER) return damage(cursor, number);
    page->is_leaf = type == LEAF;
    page->n = u16(page->data + header + 3);
    page->at = 0;
    page->first = header + (page->is_leaf ? 8 : 12);
    if (page->first + 2 * page->n > cursor->header.usable) return damage(cursor, number);
    cursor->depth++;
    if (page->is_leaf) let_go(cursor, number);
    return true;
}

static uint32_t cell_offset(const as_tree_page *page, uint32_t i) { return u16(page->data + page->first + 2 * i); }

/* The i-th child of an inner page, and the greatest rowid below it; the last child has none. */
static bool child_at(as_table_cursor *cursor, const as_tree_page *page, uint32_t i, uint32_t *child,
                     int64_t *greatest) {
    if (i == page->n) {
        *child = as_big_endian_32(page->data + page->first - 4);
        *greatest = INT64_MAX;
        return true;
    }
    uint32_t offset = cell_offset(page, i);
    if (offset < page->first + 2 * page->n || offset + 5 > cursor->header.usable) return damage(cursor, page->number);
    const unsigned char *at = page->data + offset + 4, *end = page->data + cursor->header.usable;
    uint64_t key;
    if (!as_varint(&at, end, &key)) return damage(cursor, page->number);
    *child = as_big_endian_32(page->data + offset);
    *greatest = (int64_t)key;
    return true;
}

/* To the next leaf below the pages that are entered; false at the end. */
static bool find_leaf(as_table_cursor *cursor) {
    while (cursor->depth) {
        as_tree_page *page = &cursor->pages[cursor->depth - 1];
        if (page->is_leaf) return true;
        if (page->at > page->n) {
            cursor->depth--;
            continue;
        }
        uint32_t child;
        int64_t greatest;
        if (!child_at(cursor, page, page->at++, &child, &greatest) || !enter(cursor, child, page->number)) return false;
    }
    return false;
}

static bool begin(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root) {
    *cursor = (as_table_cursor){.input = input, .header = *header, .rowid = INT64_MIN};
    return enter(cursor, root, root);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* How much of a record of so many bytes a leaf has. */
static size_t local_size(const as_table_cursor *cursor, uint64_t size) {
    uint64_t usable = cursor->header.usable, most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
    if (size <= most) return (size_t)size;
    uint64_t fitting = least + (size - least) % (usable - 4);
    return (size_t)(fitting <= most ? fitting : least);
}

static bool take_cell(as_table_cursor *cursor, const as_tree_page *page, uint32_t i) {
    uint32_t offset = cell_offset(page, i);
    const unsigned char *at = page->data + offset, *end = page->data + cursor->header.usable;
    uint64_t size, rowid;
    if (offset < page->first + 2 * page->n || at >= end || !as_varint(&at, end, &size) ||
        !as_varint(&at, end, &rowid) || size > (uint64_t)cursor->header.n_pages * cursor->header.usable)
        return damage(cursor, page->number);
    cursor->size = (size_t)size;
    cursor->there = local_size(cursor, size);
    cursor->record = at;
    bool is_whole = cursor->there == cursor->size;
    if ((size_t)(end - at) < cursor->there + (is_whole ? 0 : 4)) return damage(cursor, page->number);
    cursor->overflow = is_whole ? 0 : as_big_endian_32(at + cursor->there);
    if (cursor->has_row && (int64_t)rowid <= cursor->rowid) return damage(cursor, page->number);
    cursor->has_row = true;
    cursor->rowid = (int64_t)rowid;
    return true;
}

bool as_table_next(as_table_cursor *cursor) {
    while (find_leaf(cursor)) {
        as_tree_page *page = &cursor->pages[cursor->depth - 1];
        if (page->at < page->n) return take_cell(cursor, page, page->at++);
        cursor->depth--;
    }
    return false;
}

/* The first of n cells whose rowid is not below `first`, by halves. */
static bool skip_children(as_table_cursor *cursor, as_tree_page *page, int64_t first) {
    uint32_t low = 0, high = page->n, child;
    int64_t greatest;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!child_at(cursor, page, middle, &child, &greatest)) return false;
        if (greatest < first)
            low = middle + 1;
        else
            high = middle;
    }
    page->at = low;
    return true;
}

static bool skip_rows(as_table_cursor *cursor, as_tree_page *page, int64_t first) {
    for (; page->at < page->n; page->at++) {
        if (!take_cell(cursor, page, page->at)) return false;
        if (cursor->rowid >= first) break;
    }
    cursor->has_row = false;
    return true;
}

void as_table_seek(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                   int64_t first) {
    if (!begin(cursor, input, header, root) || first == INT64_MIN) return;
    for (;;) {
        as_tree_page *page = &cursor->pages[cursor->depth - 1];
        if (page->is_leaf) {
            skip_rows(cursor, page, first);
            return;
        }
        uint32_t child;
        int64_t greatest;
        if (!skip_children(cursor, page, first) || !child_at(cursor, page, page->at++, &child, &greatest) ||
            !enter(cursor, child, page->number))
            return;
    }
}

bool as_table_assemble(as_table_cursor *cursor, unsigned char *out) {
    memcpy(out, cursor->record, cursor->there);
    size_t done = cursor->there, room = cursor->header.usable - 4;
    for (uint32_t number = cursor->overflow, from = cursor->pages[cursor->depth - 1].number; done < cursor->size;) {
        if (number == 0 || number > cursor->header.n_pages || ++cursor->n_visited > cursor->header.n_pages)
            return damage(cursor, from);
        const unsigned char *page = page_data(cursor, number);
        size_t n = cursor->size - done < room ? cursor->size - done : room;
        memcpy(out + done, page + 4, n);
        done += n;
        from = number;
        number = as_big_endian_32(page);
    }
    return true;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

bool as_table_count(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                    uint64_t *n) {
    *n = 0;
    begin(cursor, input, header, root);
    for (; find_leaf(cursor); cursor->depth--) *n += cursor->pages[cursor->depth - 1].n;
    as_table_leave(cursor);
    return !cursor->damaged;
}

bool as_table_greatest(as_table_cursor *cursor, const as_input *input, const as_database_header *header, uint32_t root,
                       int64_t *rowid) {
    if (!begin(cursor, input, header, root)) return false;
    for (;;) {
        as_tree_page *page = &cursor->pages[cursor->depth - 1];
        uint32_t child;
        int64_t greatest;
        if (!page->is_leaf) {
            page->at = page->n + 1;
            if (!child_at(cursor, page, page->n, &child, &greatest) || !enter(cursor, child, page->number))
                return false;
            continue;
        }
        if (page->n == 0 || !take_cell(cursor, page, page->n - 1)) return false;
        *rowid = cursor->rowid;
        return true;
    }
}
