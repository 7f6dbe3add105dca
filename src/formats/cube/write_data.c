/* N.index and N.data: which contexts have a row, and the rows, as they are or each packed by zlib. Numbers are in the
 * order of bytes of this machine, which the index says. */
#include <libdeflate.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/cube/write.h"

enum { LEVEL = 1, PIECE = 1 << 20 }; /* PIECE: about so many bytes are packed in one go */

/* The rows of one metric, in the order of their numbers. */
typedef struct rows {
    const as_cube_file *file;
    const as_profile *view;
    uint32_t *numbers; /* for each row, ascending */
    uint32_t *order;   /* for each row its place in the view; NULL: the same */
    uint32_t *columns; /* for each column of the view its place in the file; NULL: the same, and none is missing */
    size_t row_size;
} rows;

/* ---- which row where --------------------------------------------------------------------------------------------- */

static bool order_rows(rows *r, bool is_wide) {
    const as_profile *view = r->view;
    uint32_t n = view->n_rows;
    r->numbers = malloc((n + 1) * sizeof *r->numbers);
    if (!r->numbers) return false;
    if (!is_wide) {
        memcpy(r->numbers, view->contexts, n * sizeof *r->numbers);
        return true;
    }
    const as_cube_source *source = r->file->source;
    size_t n_contexts = r->file->ds->contexts.count;
    uint32_t *place = malloc((n_contexts + 1) * sizeof *place); /* of each context in the view */
    r->order = malloc((n + 1) * sizeof *r->order);
    if (place && r->order) {
        for (size_t i = 0; i < n_contexts; i++) place[i] = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) place[view->contexts[i]] = i;
        uint32_t k = 0;
        for (uint32_t number = 0; number < n_contexts; number++) {
            uint32_t at = place[source->by_wide[number]];
            if (at == UINT32_MAX) continue;
            r->numbers[k] = number;
            r->order[k++] = at;
        }
    }
    free(place);
    return place && r->order;
}

static bool place_columns(rows *r) {
    const as_cube_file *file = r->file;
    const as_profile *view = r->view;
    if (!file->columns || !view->columns) { /* values without a place are the first location's */
        if (file->n_columns == 1) return true;
        r->columns = calloc(1, sizeof *r->columns);
        return r->columns != NULL;
    }
    if (view->n_columns == file->n_columns &&
        memcmp(view->columns, file->columns, file->n_columns * sizeof *file->columns) == 0)
        return true;
    r->columns = malloc((view->n_columns + 1) * sizeof *r->columns);
    for (uint32_t i = 0, k = 0; r->columns && i < view->n_columns; i++) { /* both ascend */
        while (k < file->n_columns && file->columns[k] < view->columns[i]) k++;
        r->columns[i] = k < file->n_columns && file->columns[k] == view->columns[i] ? k : UINT32_MAX;
    }
    return r->columns != NULL;
}

/* The bytes of a row of the file; scratch has room for one. */
static const char *row_bytes(const rows *r, uint32_t i, char *scratch) {
    const as_profile *view = r->view;
    const char *row = as_profile_row(view, r->order ? r->order[i] : i);
    if (!r->columns) return row;
    size_t size = view->type.size;
    as_values_clear(view->type, scratch, r->file->n_columns);
    for (uint32_t k = 0; k < view->n_columns; k++) {
        if (r->columns[k] != UINT32_MAX) memcpy(scratch + r->columns[k] * size, row + k * size, size);
    }
    return scratch;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

static assay_status begin_member(const rows *r, struct as_tar_writer *tar, const char *ending, uint64_t size) {
    as_output *name = as_output_to_memory();
    size_t length;
    if (!name) return as_fail_memory(r->file->error, NULL);
    as_cube_write_metric_id(r->file->source, r->view->metric, name);
    as_output_text(name, ending);
    const char *text = as_output_memory(name, &length);
    if (text) as_tar_begin(tar, text, size);
    as_output_discard(name);
    return text ? ASSAY_OK : as_fail_memory(r->file->error, NULL);
}

static assay_status write_index(const rows *r, struct as_tar_writer *tar) {
    as_output *out = r->file->out;
    uint32_t mark = 1, n = r->view->n_rows;
    uint16_t version = 0;
    uint8_t sparse = 1;
    AS_TRY(begin_member(r, tar, ".index", 22 + 4 * (uint64_t)n));
    as_output_text(out, "CUBEX.INDEX");
    as_output_write(out, &mark, sizeof mark);
    as_output_write(out, &version, sizeof version);
    as_output_write(out, &sparse, sizeof sparse);
    as_output_write(out, &n, sizeof n);
    as_output_write(out, r->numbers, n * sizeof *r->numbers);
    return as_tar_end(tar, r->file->error);
}

static assay_status write_plain(const rows *r, struct as_tar_writer *tar) {
    as_output *out = r->file->out;
    const as_profile *view = r->view;
    AS_TRY(begin_member(r, tar, ".data", 10 + (uint64_t)view->n_rows * r->row_size));
    char *scratch = r->columns ? malloc(r->row_size) : NULL;
    if (r->columns && !scratch) return as_fail_memory(r->file->error, NULL);
    as_output_text(out, "CUBEX.DATA");
    if (!r->order && !r->columns && !view->rows) /* they lie there as they are to be */
        as_output_write(out, view->values, (size_t)view->n_rows * r->row_size);
    else {
        for (uint32_t i = 0; i < view->n_rows; i++) as_output_write(out, row_bytes(r, i, scratch), r->row_size);
    }
    free(scratch);
    return as_tar_end(tar, r->file->error);
}

/* ---- packed rows ------------------------------------------------------------------------------------------------- */

typedef struct packing {
    const rows *r;
    uint32_t rows_per_piece;
    as_vec *pieces;  /* char: the packed rows of each piece */
    uint64_t *sizes; /* of each packed row */
    bool *failed;    /* for each piece */
} packing;

static void pack_piece(void *user, size_t piece) {
    packing *p = user;
    const rows *r = p->r;
    as_vec *out = &p->pieces[piece];
    uint32_t first = (uint32_t)piece * p->rows_per_piece, n = r->view->n_rows - first;
    if (n > p->rows_per_piece) n = p->rows_per_piece;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    char *scratch = r->columns ? malloc(r->row_size) : NULL;
    bool fine = compressor && (!r->columns || scratch);
    size_t bound = fine ? libdeflate_zlib_compress_bound(compressor, r->row_size) : 0;
    for (uint32_t i = first; i < first + n && fine; i++) {
        fine = as_vec_reserve(out, bound);
        if (!fine) break;
        p->sizes[i] = libdeflate_zlib_compress(compressor, row_bytes(r, i, scratch), r->row_size,
                                               (char *)out->data + out->count, bound);
        out->count += p->sizes[i];
    }
    if (compressor) libdeflate_free_compressor(compressor);
    free(scratch);
    p->failed[piece] = !fine;
}

static assay_status write_pieces(const packing *p, size_t n_pieces, struct as_tar_writer *tar) {
    const rows *r = p->r;
    as_output *out = r->file->out;
    uint64_t n = r->view->n_rows, size = 0, position = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        if (p->failed[i]) return as_fail_memory(r->file->error, NULL);
        size += p->pieces[i].count;
    }
    AS_TRY(begin_member(r, tar, ".data", 19 + 24 * n + size));
    as_output_text(out, "ZCUBEX.DATA");
    as_output_write(out, &n, sizeof n);
    for (uint64_t i = 0; i < n; position += p->sizes[i++]) {
        uint64_t entry[] = {i * r->row_size, position, p->sizes[i]};
        as_output_write(out, entry, sizeof entry);
    }
    for (size_t i = 0; i < n_pieces; i++) as_output_write(out, p->pieces[i].data, p->pieces[i].count);
    return as_tar_end(tar, r->file->error);
}

static assay_status write_packed(const rows *r, struct as_tar_writer *tar) {
    uint32_t n = r->view->n_rows;
    packing p = {.r = r, .rows_per_piece = r->row_size < PIECE ? (uint32_t)(PIECE / r->row_size) : 1};
    size_t n_pieces = (n + p.rows_per_piece - 1) / p.rows_per_piece;
    p.pieces = calloc(n_pieces, sizeof *p.pieces);
    p.failed = calloc(n_pieces, sizeof *p.failed);
    p.sizes = calloc(n, sizeof *p.sizes);
    assay_status code = ASSAY_OK;
    if (p.pieces && p.failed && p.sizes) {
        for (size_t i = 0; i < n_pieces; i++) as_vec_init(&p.pieces[i], 1, NULL);
        as_parallel(n_pieces, r->file->threads, pack_piece, &p);
        code = write_pieces(&p, n_pieces, tar);
        for (size_t i = 0; i < n_pieces; i++) as_vec_free(&p.pieces[i]);
    } else
        code = as_fail_memory(r->file->error, NULL);
    free(p.pieces);
    free(p.failed);
    free(p.sizes);
    return code;
}

/* ---- a metric ---------------------------------------------------------------------------------------------------- */

static bool is_packed(const as_cube_file *file, const as_profile *view) {
    return file->compression == AS_CUBE_INHERIT ? view->is_packed : file->compression == AS_CUBE_ZLIB;
}

static assay_status write_rows(rows *r, struct as_tar_writer *tar) {
    const as_metric *metric = as_ds_metric(r->file->ds, r->view->metric);
    if (!as_mul_size(r->file->n_columns, r->view->type.size, &r->row_size) || r->row_size > SIZE_MAX / 2 / UINT32_MAX)
        return as_fail(r->file->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "the rows of metric %s are too long",
                       as_ds_text(r->file->ds, metric->name));
    if (!order_rows(r, metric->kind == AS_KIND_INCLUSIVE) || !place_columns(r))
        return as_fail_memory(r->file->error, NULL);
    AS_TRY(write_index(r, tar));
    return is_packed(r->file, r->view) ? write_packed(r, tar) : write_plain(r, tar);
}

assay_status as_cube_write_values(const as_cube_file *file, const as_profile *view, struct as_tar_writer *tar) {
    rows r = {.file = file, .view = view};
    assay_status code = write_rows(&r, tar);
    free(r.numbers);
    free(r.order);
    free(r.columns);
    return code;
}
