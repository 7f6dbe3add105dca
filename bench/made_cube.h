/* Cube files as large as they are asked for: a random call tree, and values of all its call paths at all locations.
 * Include it behind measuring.h. */
#ifndef AS_BENCH_MADE_CUBE_H
#define AS_BENCH_MADE_CUBE_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "io/tar.h"

enum { CUBE_DEPTH = 24 };

typedef struct cube_shape {
    uint32_t n_cnodes, n_locations;
    int n_metrics;
    bool is_compressed;
} cube_shape;

static const struct {
    const char *name, *dtype, *kind, *unit;
} cube_kinds[] = {{"visits", "UINT64", "EXCLUSIVE", "occ"},
                  {"time", "DOUBLE", "INCLUSIVE", "sec"},
                  {"bytes_sent", "UINT64", "EXCLUSIVE", "bytes"},
                  {"max_time", "MAXDOUBLE", "EXCLUSIVE", "sec"},
                  {"PAPI_TOT_INS", "UINT64", "INCLUSIVE", "#"}};

static uint64_t cube_random_state;

static inline uint64_t cube_random(void) {
    cube_random_state ^= cube_random_state << 13;
    cube_random_state ^= cube_random_state >> 7;
    cube_random_state ^= cube_random_state << 17;
    return cube_random_state;
}

static inline double cube_uniform(void) { return (double)(cube_random() >> 11) * 0x1p-53; }

static inline void *cube_room(size_t n, size_t size) {
    void *memory = calloc(n, size);
    if (!memory) fail("memory", NULL);
    return memory;
}

/* A random call tree in pre-order. */
typedef struct cube_tree {
    uint32_t n;
    uint32_t *parents;
    /* the order of rows of inclusive metrics: each cnode, from the root on, hands numbers to all its children */
    uint32_t *wide;
} cube_tree;

static inline uint32_t *cube_number_widely(const uint32_t *parents, uint32_t n) {
    uint32_t *starts = cube_room((size_t)n + 2, sizeof *starts), *children = cube_room(n, sizeof *children),
             *wide = cube_room(n, sizeof *wide), used = 1;
    for (uint32_t i = 1; i < n; i++) starts[parents[i] + 2]++;
    for (uint32_t i = 2; i < n + 2; i++) starts[i] += starts[i - 1];
    for (uint32_t i = 1; i < n; i++) children[starts[parents[i] + 1]++] = i;
    for (uint32_t i = 0; i < n; i++) { /* pre-order is the order of ids */
        for (uint32_t k = starts[i]; k < starts[i + 1]; k++) wide[used++] = children[k];
    }
    free(starts);
    free(children);
    return wide;
}

static inline cube_tree make_cube_tree(uint32_t n) {
    cube_tree tree = {.n = n, .parents = cube_room(n, sizeof *tree.parents)};
    uint32_t path[CUBE_DEPTH + 2] = {0}, depth = 1;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t least = depth > 6 ? depth - 6 : 0;
        uint32_t at = depth > CUBE_DEPTH ? (uint32_t)(cube_random() % (CUBE_DEPTH / 2))
                                         : least + (uint32_t)(cube_random() % (depth - least));
        tree.parents[i] = path[at];
        path[at + 1] = i;
        depth = at + 2;
    }
    tree.wide = cube_number_widely(tree.parents, n);
    return tree;
}

static inline void cube_print_nodes(as_output *out, const cube_tree *tree, uint32_t n_regions) {
    uint32_t open[CUBE_DEPTH + 2], depth = 0;
    for (uint32_t i = 0; i < tree->n; i++) {
        for (; depth && i && open[depth - 1] != tree->parents[i]; depth--) as_output_text(out, "</cnode>\n");
        as_output_printf(out, "<cnode id=\"%u\" calleeId=\"%u\">", i, i % n_regions);
        open[depth++] = i;
    }
    while (depth--) as_output_text(out, "</cnode>\n");
}

static inline as_output *make_cube_anchor(const cube_shape *s, const cube_tree *tree) {
    as_output *out = as_output_to_memory();
    if (!out) fail("memory", NULL);
    as_output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n<metrics>\n");
    for (int i = 0; i < s->n_metrics; i++)
        as_output_printf(out,
                         "<metric id=\"%d\" type=\"%s\"><disp_name>%s</disp_name><uniq_name>%s</uniq_name><dtype>%s"
                         "</dtype><uom>%s</uom><url></url><descr></descr></metric>\n",
                         i, cube_kinds[i].kind, cube_kinds[i].name, cube_kinds[i].name, cube_kinds[i].dtype,
                         cube_kinds[i].unit);
    as_output_text(out, "</metrics>\n<program>\n");
    uint32_t n_regions = s->n_cnodes / 4;
    for (uint32_t i = 0; i < n_regions; i++)
        as_output_printf(out,
                         "<region id=\"%u\" mod=\"file%u.c\" begin=\"%u\" end=\"%u\"><name>fn_%04u</name><mangled_name>"
                         "fn_%04u</mangled_name><paradigm>compiler</paradigm><role>function</role><url></url><descr>"
                         "</descr></region>\n",
                         i, i % 17, i, i + 5, i, i);
    cube_print_nodes(out, tree, n_regions);
    as_output_text(out, "</program>\n<system>\n<systemtreenode Id=\"0\"><name>machine</name><class>machine</class>\n");
    for (uint32_t i = 0; i < s->n_locations; i++)
        as_output_printf(out,
                         "<locationgroup Id=\"%u\"><name>MPI Rank %u</name><rank>%u</rank><type>process</type>"
                         "<location Id=\"%u\"><name>Master thread</name><rank>0</rank><type>thread</type></location>"
                         "</locationgroup>\n",
                         i, i, i, i);
    as_output_text(out, "</systemtreenode>\n</system>\n</cube>\n");
    return out;
}

/* The rows of a metric in the order of the file: three in ten are zeros. */
static inline char *make_cube_rows(const cube_shape *s, const cube_tree *tree, int metric) {
    bool is_real = strstr(cube_kinds[metric].dtype, "DOUBLE"), is_inclusive = cube_kinds[metric].kind[0] == 'I';
    size_t width = s->n_locations, n = (size_t)s->n_cnodes * width;
    double *values = cube_room(n, sizeof *values);
    for (uint32_t c = 0; c < s->n_cnodes; c++) {
        bool is_zero = cube_uniform() < 0.3;
        for (uint32_t l = 0; l < width && !is_zero; l++)
            values[c * width + l] =
                is_real ? -50 * log((1 - cube_uniform()) * (1 - cube_uniform())) : (double)(cube_random() % 100000);
    }
    for (uint32_t c = s->n_cnodes; is_inclusive && c-- > 1;) {
        for (uint32_t l = 0; l < width; l++) values[tree->parents[c] * width + l] += values[c * width + l];
    }
    char *rows = cube_room(n, 8);
    for (uint32_t r = 0; r < s->n_cnodes; r++) {
        const double *from = values + (is_inclusive ? tree->wide[r] : r) * width;
        for (uint32_t l = 0; l < width; l++) {
            uint64_t whole = (uint64_t)from[l];
            memcpy(rows + (r * width + l) * 8, is_real ? (const void *)&from[l] : &whole, 8);
        }
    }
    free(values);
    return rows;
}

static inline void cube_add_index(as_tar_writer *tar, const char *name, uint32_t n) {
    size_t size = 22 + 4 * (size_t)n;
    char *index = cube_room(size, 1);
    memcpy(index, "CUBEX.INDEX\1\0\0\0\0\0\1", 18);
    memcpy(index + 18, &n, 4);
    for (uint32_t i = 0; i < n; i++) memcpy(index + 22 + 4 * (size_t)i, &i, 4);
    as_tar_add(tar, name, index, size);
    free(index);
}

static inline void cube_add_raw(as_tar_writer *tar, as_output *out, const char *name, const char *rows, size_t size) {
    assay_error error;
    as_tar_begin(tar, name, 10 + size);
    as_output_write(out, "CUBEX.DATA", 10);
    as_output_write(out, rows, size);
    if (as_tar_end(tar, &error) != ASSAY_OK) fail(name, &error);
}

/* Each row a stream of its own, as CubeLib writes them. */
static inline void cube_add_compressed(as_tar_writer *tar, const char *name, const char *rows, size_t row_size,
                                       uint32_t n) {
    size_t head = 19 + 24 * (size_t)n, used = head;
    char *data = cube_room(head + n * compressBound(row_size), 1);
    uint64_t count = n;
    memcpy(data, "ZCUBEX.DATA", 11);
    memcpy(data + 11, &count, 8);
    for (uint32_t i = 0; i < n; i++) {
        uLongf packed = compressBound(row_size);
        if (compress2((Bytef *)data + used, &packed, (const Bytef *)rows + i * row_size, row_size, 6) != Z_OK)
            fail("zlib", NULL);
        uint64_t entry[3] = {i * row_size, used - head, packed};
        memcpy(data + 19 + 24 * (size_t)i, entry, sizeof entry);
        used += packed;
    }
    as_tar_add(tar, name, data, used);
    free(data);
}

static inline double make_cube(const char *path, cube_shape s, uint64_t seed) {
    cube_random_state = 0x9e3779b97f4a7c15u * seed;
    cube_tree tree = make_cube_tree(s.n_cnodes);
    assay_error error;
    as_output *out, *anchor = make_cube_anchor(&s, &tree);
    if (as_output_open(path, &out, &error) != ASSAY_OK) fail(path, &error);
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!tar) fail("memory", NULL);
    for (int i = 0; i < s.n_metrics; i++) {
        char name[32], *rows = make_cube_rows(&s, &tree, i);
        size_t row_size = 8 * (size_t)s.n_locations;
        snprintf(name, sizeof name, "%d.data", i);
        if (s.is_compressed)
            cube_add_compressed(tar, name, rows, row_size, s.n_cnodes);
        else
            cube_add_raw(tar, out, name, rows, row_size * s.n_cnodes);
        snprintf(name, sizeof name, "%d.index", i);
        cube_add_index(tar, name, s.n_cnodes);
        free(rows);
    }
    size_t size;
    const char *text = as_output_memory(anchor, &size);
    as_tar_add(tar, "anchor.xml", text, size);
    as_tar_finish(tar);
    if (as_output_commit(out, &error) != ASSAY_OK) fail(path, &error);
    as_output_discard(anchor);
    free(tree.parents);
    free(tree.wide);
    struct stat info;
    if (stat(path, &info) != 0) fail(path, NULL);
    return (double)info.st_size;
}

#endif
