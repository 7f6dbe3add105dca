/* Raw values of a .extra-p file: numpy arrays in values/N.vals, found through values/N.indx. */
#include "formats/extrap/experiment.h"

#include "io/bytes.h"

/* ---- the header of an array -------------------------------------------------------------------------------------- */

typedef struct header_text {
    const char *at, *end;
} header_text;

/* Moves behind "'name':" and blanks. */
static bool find_field(header_text *text, const char *name) {
    const char *at = memmem(text->at, (size_t)(text->end - text->at), name, strlen(name));
    if (!at) return false;
    text->at = at + strlen(name);
    while (text->at < text->end && *text->at == ' ') text->at++;
    return text->at < text->end;
}

static bool starts_with(const header_text *text, const char *word) {
    return (size_t)(text->end - text->at) >= strlen(word) && memcmp(text->at, word, strlen(word)) == 0;
}

/* '<f8' */
static bool read_type(header_text text, as_xp_array *array) {
    if (!find_field(&text, "'descr':") || text.end - text.at < 5 || text.at[0] != '\'' || text.at[4] != '\'')
        return false;
    char order = text.at[1], kind = text.at[2], digit = text.at[3];
    array->big_endian = order == '>';
    array->kind = kind == 'b' ? 'u' : kind;
    array->item_size = (unsigned)(digit - '0');
    if (!memchr("<>|=", order, 4)) return false;
    if (kind == 'f') return digit == '4' || digit == '8';
    return ((kind == 'i' || kind == 'u') && memchr("1248", digit, 4)) || (kind == 'b' && digit == '1');
}

/* (5,), (2, 3), () */
static bool read_shape(header_text text, as_xp_array *array) {
    if (!find_field(&text, "'shape':") || *text.at++ != '(') return false;
    array->repetitions = array->columns = 1;
    size_t dimensions = 0;
    while (text.at < text.end && *text.at != ')') {
        uint64_t length = 0, *target = dimensions ? &array->columns : &array->repetitions;
        const char *first = text.at;
        for (; text.at < text.end && *text.at >= '0' && *text.at <= '9'; text.at++) {
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, (uint64_t)(*text.at - '0'), &length))
                return false;
        }
        if (text.at == first || __builtin_mul_overflow(*target, length, target)) return false;
        dimensions++;
        while (text.at < text.end && (*text.at == ',' || *text.at == ' ')) text.at++;
    }
    array->is_flat = dimensions < 2;
    return text.at < text.end;
}

static bool read_header(const char *data, size_t size, as_xp_array *array) {
    header_text text = {data, data + size}, order = text;
    if (!find_field(&order, "'fortran_order':")) return false;
    array->column_major = starts_with(&order, "True");
    return (array->column_major || starts_with(&order, "False")) && read_type(text, array) && read_shape(text, array);
}

/* ---- its numbers ------------------------------------------------------------------------------------------------- */

static uint64_t load_bits(const unsigned char *at, unsigned size, bool big_endian) {
    uint64_t bits = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == sizeof bits && !big_endian) { /* what nearly all arrays hold */
        memcpy(&bits, at, sizeof bits);
        return bits;
    }
#endif
    for (unsigned i = 0; i < size; i++) bits |= (uint64_t)at[i] << 8 * (big_endian ? size - 1 - i : i);
    return bits;
}

static as_number load_number(const as_xp_array *array, const unsigned char *at) {
    uint64_t bits = load_bits(at, array->item_size, array->big_endian);
    as_number number = {.kind = AS_REAL};
    if (array->kind == 'f' && array->item_size == 8) {
        memcpy(&number.r, &bits, sizeof number.r);
    } else if (array->kind == 'f') {
        uint32_t half = (uint32_t)bits;
        float single;
        memcpy(&single, &half, sizeof single);
        number.r = single;
    } else if (array->kind == 'u') {
        number = (as_number){.kind = bits > INT64_MAX ? AS_UINT : AS_INT, .u = bits};
    } else {
        unsigned unused = 64 - 8 * array->item_size;
        number = (as_number){.kind = AS_INT, .i = (int64_t)(bits << unused) >> unused};
    }
    return number;
}

/* In arrays of several dimensions NaN fills up rows that are shorter than others; the first cell of a row begins a
 * repetition. */
static bool add_numbers(as_xp_file *file, const unsigned char *data, as_cell_key key) {
    const as_xp_array *array = &file->array;
    file->numbers.count = 0;
    if (!array->columns || array->columns > UINT32_MAX - 1) return !array->columns;
    if (!as_vec_reserve(&file->numbers, (size_t)(array->repetitions * array->columns))) return false;
    for (uint64_t row = 0; row < array->repetitions; row++) {
        for (uint64_t column = 0; column < array->columns; column++) {
            uint64_t index = array->column_major ? column * array->repetitions + row : row * array->columns + column;
            as_number number = load_number(array, data + index * array->item_size);
            bool is_nan = number.kind == AS_REAL && isnan(number.r);
            if (column && is_nan) continue;
            if (!is_nan || array->is_flat)
                AS_AT(double, &file->numbers, file->numbers.count++) = as_number_real(number);
            bool fine = array->is_flat ? as_experiment_value(file->experiment, key, number)
                                       : as_experiment_value_at(file->experiment, key, (uint32_t)column, number);
            if (!fine) return false;
        }
    }
    return true;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* The entry of a chunk, its magic checked; NULL where there is none. */
static const as_zip_entry *find_entry(const as_xp_file *file, const as_map *map, uint64_t chunk, const char *magic) {
    uint32_t index = as_map_get(map, chunk);
    if (index == AS_MAP_NONE) return NULL;
    const as_zip_entry *entry = &file->entries[index];
    return entry->size >= AS_XP_MAGIC_SIZE && memcmp(entry->data, magic, AS_XP_MAGIC_SIZE) == 0 ? entry : NULL;
}

/* Where array `index` begins in vals; false where the index has no such entry. */
static bool find_offset(const as_zip_entry *indx, uint64_t index, uint64_t *offset) {
    as_bytes bytes = as_bytes_of(indx->data, indx->size);
    bytes.at = AS_XP_MAGIC_SIZE;
    uint64_t count = as_bytes_u64(&bytes);
    if (bytes.failed || index >= count || index >= (indx->size - bytes.at) / sizeof(uint64_t)) return false;
    bytes.at += (size_t)index * sizeof(uint64_t);
    *offset = as_bytes_u64(&bytes);
    return !bytes.failed;
}

/* The array at bytes->at; bytes is left at its numbers. NULL when all is well, else what is wrong. */
static const char *read_array(as_bytes *bytes, as_xp_array *array) {
    static const char magic[] = "\x93NUMPY";
    const char *start = as_bytes_take(bytes, 8);
    if (!start || memcmp(start, magic, 6) != 0) return "is not a numpy array";
    size_t size = start[6] == 1 ? as_bytes_u16(bytes) : as_bytes_u32(bytes);
    const char *text = as_bytes_take(bytes, size);
    if (bytes->failed || start[6] < 1 || start[6] > 3) return "has a damaged numpy header";
    bool is_known = array->header && array->header_size == size && memcmp(array->header, text, size) == 0;
    if (!is_known) {
        array->header = NULL;
        if (!read_header(text, size, array)) return "has a numpy header that is not understood";
        array->header = (const unsigned char *)text;
        array->header_size = size;
    }
    uint64_t need;
    if (__builtin_mul_overflow(array->repetitions, array->columns, &need) ||
        __builtin_mul_overflow(need, array->item_size, &need) || need > bytes->size - bytes->at) {
        return "is larger than its file";
    }
    return NULL;
}

assay_status as_xp_read_values(as_xp_file *file, uint64_t chunk, uint64_t index, as_cell_key key,
                               int64_t *repetitions) {
    if (!file->chunk_vals || !file->chunk_indx || chunk != file->chunk) {
        file->chunk = chunk;
        file->chunk_vals = find_entry(file, &file->vals, chunk, AS_XP_VALUES_MAGIC);
        file->chunk_indx = find_entry(file, &file->indices, chunk, AS_XP_INDEX_MAGIC);
    }
    const as_zip_entry *vals = file->chunk_vals, *indx = file->chunk_indx;
    if (!vals || !indx) {
        return as_xp_broken(file, "missing-values", "values/%llu.%s is missing or not one of Extra-P's",
                            (unsigned long long)chunk, vals ? "indx" : "vals");
    }
    uint64_t offset;
    if (!find_offset(indx, index, &offset) || offset > vals->size) {
        return as_xp_broken(file, "bad-values-index", "values/%llu.indx has no valid entry %llu",
                            (unsigned long long)chunk, (unsigned long long)index);
    }
    as_bytes bytes = as_bytes_of(vals->data, vals->size);
    bytes.at = (size_t)offset;
    const char *wrong = read_array(&bytes, &file->array);
    if (wrong) {
        return as_xp_broken(file, "bad-values-array", "array %llu of values/%llu.vals, at byte %llu, %s",
                            (unsigned long long)index, (unsigned long long)chunk, (unsigned long long)offset, wrong);
    }
    *repetitions = (int64_t)file->array.repetitions;
    return add_numbers(file, bytes.data + bytes.at, key) ? ASSAY_OK : as_xp_no_memory(file);
}
