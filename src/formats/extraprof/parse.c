/* The bytes of a profile, once through and without recursion: a node's own numbers come behind all that is below it, so
 * open nodes are on a stack. */
#include <math.h>

#include "core/number.h"
#include "formats/extraprof/extraprof.h"
#include "io/msgpack.h"

static const char MAGIC[] = "EXTRA PROF";
enum { MOST_GPU = 4096, MOST_EXTENDED = 64 }; /* metrics of a file; profilers write a few */
enum { NODE_FIELDS = 7, MOST_NODE_FIELDS = 9, FILE_FIELDS = 3, MOST_FILE_FIELDS = 5, PROGRESS_BYTES = 1 << 18 };
static const double EXACT = 9007199254740992.0; /* 2^53 */

typedef struct open_node {
    uint32_t node; /* AS_EP_TOP: the root */
    uint32_t fields, children;
    size_t offset;
} open_node;

typedef struct parser {
    as_msgpack in;
    const as_input *input;
    const as_ep_rules *rules;
    uint32_t max_depth;
    as_ep_file *file;
    as_vec open; /* open_node */
    as_reader *reader;
    size_t told; /* how far the reader knows */
    assay_error *error;
} parser;

void as_ep_file_init(as_ep_file *file, as_budget *budget) {
    *file = (as_ep_file){
        .has_whole_visits = true, .has_whole_bytes = true, .has_whole_extended = true, .remarks = {-1, -1, -1, -1}};
    as_vec_init(&file->nodes, sizeof(as_ep_node), budget);
    as_vec_init(&file->numbers, sizeof(double), budget);
    as_vec_init(&file->gpu, sizeof(as_ep_metric), budget);
    as_vec_init(&file->extended, sizeof(as_ep_metric), budget);
}

void as_ep_file_free(as_ep_file *file) {
    as_vec_free(&file->nodes);
    as_vec_free(&file->numbers);
    as_vec_free(&file->gpu);
    as_vec_free(&file->extended);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static assay_status no_memory(parser *p) { return as_fail_memory(p->error, p->input->path); }

#define FAIL(p, offset, rule, ...)                                                                                     \
    as_fail((p)->error, ASSAY_E_FORMAT, as_place_offset((p)->input->path, offset), rule, __VA_ARGS__)

static void remark(int64_t *at, size_t offset) {
    if (*at < 0) *at = (int64_t)offset;
}

/* The next value, of which there must be one. */
static assay_status next(parser *p) {
    as_msgpack_type type = as_msgpack_next(&p->in);
    if (type == AS_MSGPACK_ERROR)
        return FAIL(p, p->in.offset, "msgpack", "%s: the file is cut, or no MessagePack", p->in.error);
    if (type == AS_MSGPACK_END) return FAIL(p, p->in.offset, "msgpack", "the file ends too soon: it is cut");
    return ASSAY_OK;
}

static assay_status expect(parser *p, as_msgpack_type type, const char *what) {
    AS_TRY(next(p));
    if (p->in.type == type) return ASSAY_OK;
    return FAIL(p, p->in.offset, "wrong-type", "%s must be %s, not %s", what, as_msgpack_noun(type),
                as_msgpack_noun(p->in.type));
}

/* Values of a later version that nobody knows. */
static assay_status skip_more(parser *p, uint32_t n) {
    for (; n > 0; n--) {
        AS_TRY(next(p));
        remark(&p->file->remarks.more_fields, p->in.offset);
        if (as_msgpack_skip(&p->in) == AS_MSGPACK_ERROR)
            return FAIL(p, p->in.offset, "msgpack", "%s: the file is cut, or no MessagePack", p->in.error);
    }
    return ASSAY_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* A number, or those of a list, while they are added up: integers exactly. */
typedef struct sum {
    as_whole whole;
    double real;
    size_t offset;
    uint32_t n; /* elements of a list; 1 of a number alone */
    bool is_list, has_real;
} sum;

static assay_status add_number(parser *p, sum *s, const char *what) {
    switch (p->in.type) {
    case AS_MSGPACK_UINT: s->whole += p->in.natural; break;
    case AS_MSGPACK_INT:
        s->whole += p->in.whole;
        remark(&p->file->remarks.negative, p->in.offset);
        break;
    case AS_MSGPACK_REAL:
        if (!isfinite(p->in.real)) return FAIL(p, p->in.offset, "not-finite", "%s are not finite", what);
        if (p->in.real < 0) remark(&p->file->remarks.negative, p->in.offset);
        s->real += p->in.real;
        s->has_real = true;
        break;
    default:
        return FAIL(p, p->in.offset, "wrong-type", "%s must be numbers, not %s", what, as_msgpack_noun(p->in.type));
    }
    s->n++;
    return ASSAY_OK;
}

static assay_status read_sum(parser *p, sum *s, const char *what) {
    AS_TRY(next(p));
    *s = (sum){.offset = p->in.offset};
    if (p->in.type != AS_MSGPACK_ARRAY) return add_number(p, s, what);
    s->is_list = true;
    for (uint32_t left = p->in.count; left > 0; left--) {
        AS_TRY(next(p));
        AS_TRY(add_number(p, s, what));
    }
    return ASSAY_OK;
}

/* What threads have together. *is_whole (may be NULL) is cleared where it need not be an integer. */
static double value_of(parser *p, const sum *s, bool is_sum, bool *is_whole) {
    double total = s->has_real ? (double)s->whole + s->real : (double)s->whole;
    if (fabs(total) > EXACT && !s->has_real) remark(&p->file->remarks.inexact, s->offset);
    bool is_mean = !is_sum && s->n > 1;
    if (is_whole && (is_mean || s->has_real || fabs(total) > EXACT)) *is_whole = false;
    return is_mean ? total / s->n : total;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static assay_status begin_node(parser *p, uint32_t parent, uint32_t fields, size_t offset) {
    if (fields < NODE_FIELDS)
        return FAIL(p, offset, "node-fields", "a node has %u fields, but needs %d at least", fields, NODE_FIELDS);
    if (p->open.count > p->max_depth)
        return FAIL(p, offset, "too-deep", "calls are nested more than %u levels deep", p->max_depth);
    AS_TRY(expect(p, AS_MSGPACK_TEXT, "the name of a node"));
    bool is_root = p->open.count == 0;
    if (is_root && p->in.length)
        return FAIL(p, p->in.offset, "root", "the root of the calls has the name '%.*s', but must have none",
                    (int)(p->in.length < 64 ? p->in.length : 64), p->in.text);
    open_node open = {.node = AS_EP_TOP, .fields = fields, .offset = offset};
    if (!is_root) {
        if (p->file->nodes.count >= AS_EP_TOP) return no_memory(p);
        as_ep_node *node = as_vec_push(&p->file->nodes);
        if (!node) return no_memory(p);
        if (p->in.length > UINT32_MAX) return FAIL(p, p->in.offset, "name", "a name has more than 4 GiB");
        node->name = p->in.text;
        node->name_size = (uint32_t)p->in.length;
        node->parent = parent;
        open.node = (uint32_t)(p->file->nodes.count - 1);
    }
    AS_TRY(expect(p, AS_MSGPACK_ARRAY, "the children of a node"));
    open.children = p->in.count;
    return as_vec_append(&p->open, &open, 1) ? ASSAY_OK : no_memory(p);
}

static assay_status read_type(parser *p, uint8_t *type, uint8_t *flags) {
    AS_TRY(expect(p, AS_MSGPACK_UINT, "the type of a node"));
    if (p->in.natural >= AS_EP_TYPES)
        return FAIL(p, p->in.offset, "node-type", "a node has the type %llu; those known are 0 to %d",
                    (unsigned long long)p->in.natural, AS_EP_TYPES - 1);
    *type = (uint8_t)p->in.natural;
    AS_TRY(expect(p, AS_MSGPACK_UINT, "the flags of a node"));
    *flags = (uint8_t)p->in.natural;
    return ASSAY_OK;
}

static assay_status count_numbers(parser *p, uint32_t n, uint16_t *out) {
    if (n > UINT16_MAX) return FAIL(p, p->in.offset, "node-metrics", "a node has the values of %u metrics", n);
    *out = (uint16_t)n;
    return as_vec_reserve(&p->file->numbers, n) ? ASSAY_OK : no_memory(p);
}

static assay_status read_gpu(parser *p, as_ep_node *node) {
    AS_TRY(expect(p, AS_MSGPACK_ARRAY, "the GPU metrics of a node"));
    uint32_t n = p->in.count;
    AS_TRY(count_numbers(p, n, &node->n_gpu));
    for (; n > 0; n--) {
        AS_TRY(next(p));
        sum s = {.offset = p->in.offset};
        AS_TRY(add_number(p, &s, "values of GPU metrics"));
        *(double *)as_vec_push(&p->file->numbers) = value_of(p, &s, true, NULL);
    }
    return ASSAY_OK;
}

static assay_status read_extended(parser *p, as_ep_node *node) {
    AS_TRY(expect(p, AS_MSGPACK_ARRAY, "the extended metrics of a node"));
    uint32_t n = p->in.count;
    AS_TRY(count_numbers(p, n, &node->n_extended));
    for (; n > 0; n--) {
        sum s;
        AS_TRY(read_sum(p, &s, "values of extended metrics"));
        *(double *)as_vec_push(&p->file->numbers) =
            value_of(p, &s, p->rules->sums_threads, &p->file->has_whole_extended);
    }
    return ASSAY_OK;
}

static assay_status read_values(parser *p, const open_node *open, as_ep_node *node) {
    sum durations, visits, bytes;
    AS_TRY(read_type(p, &node->type, &node->flags));
    size_t offset = p->in.at;
    AS_TRY(read_sum(p, &durations, "durations"));
    AS_TRY(read_sum(p, &visits, "visits"));
    AS_TRY(read_sum(p, &bytes, "bytes"));
    bool is_sum = p->rules->sums_threads, is_gpu = node->type == AS_EP_KERNEL || node->type == AS_EP_OVERLAP;
    node->duration = value_of(p, &durations, is_sum || (p->rules->sums_gpu && is_gpu), NULL);
    node->visits = value_of(p, &visits, is_sum, &p->file->has_whole_visits);
    node->bytes = value_of(p, &bytes, is_sum, &p->file->has_whole_bytes);
    if (open->node == AS_EP_TOP) {
        if (node->duration != 0 || node->visits != 0 || node->bytes != 0)
            return FAIL(p, offset, "root", "the root of the calls has a time, visits or bytes, but must have none");
    } else if (!durations.is_list || durations.n) {
        p->file->is_timed = true;
    }
    node->first_number = p->file->numbers.count;
    if (open->fields > NODE_FIELDS) AS_TRY(read_gpu(p, node));
    if (open->fields > NODE_FIELDS + 1) AS_TRY(read_extended(p, node));
    return open->fields > MOST_NODE_FIELDS ? skip_more(p, open->fields - MOST_NODE_FIELDS) : ASSAY_OK;
}

/* The root, of which its array's beginning was read, and all below it. */
static assay_status read_nodes(parser *p) {
    as_ep_node root;
    AS_TRY(begin_node(p, AS_EP_TOP, p->in.count, p->in.offset));
    while (p->open.count) {
        if (p->reader && p->in.at - p->told >= PROGRESS_BYTES) {
            p->told = p->in.at;
            AS_TRY(as_reader_progress(p->reader, p->told));
        }
        open_node *open = &AS_AT(open_node, &p->open, p->open.count - 1);
        if (open->children) {
            uint32_t parent = open->node;
            open->children--;
            AS_TRY(expect(p, AS_MSGPACK_ARRAY, "a node"));
            AS_TRY(begin_node(p, parent, p->in.count, p->in.offset));
            continue;
        }
        as_ep_node *node = open->node == AS_EP_TOP ? &root : &AS_AT(as_ep_node, &p->file->nodes, open->node);
        AS_TRY(read_values(p, open, node));
        p->open.count--;
    }
    return ASSAY_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static assay_status expect_metrics(parser *p, const char *what, uint32_t most) {
    AS_TRY(expect(p, AS_MSGPACK_ARRAY, what));
    if (p->in.count <= most) return ASSAY_OK;
    return FAIL(p, p->in.offset, "too-many-metrics", "%s has %u of them, more than %u", what, p->in.count, most);
}

static assay_status read_gpu_names(parser *p) {
    AS_TRY(expect_metrics(p, "the list of GPU metrics", MOST_GPU));
    for (uint32_t left = p->in.count; left > 0; left--) {
        AS_TRY(expect(p, AS_MSGPACK_TEXT, "the name of a GPU metric"));
        as_ep_metric metric = {.name = p->in.text, .size = p->in.length, .device = 2};
        if (!as_vec_append(&p->file->gpu, &metric, 1)) return no_memory(p);
    }
    return ASSAY_OK;
}

static assay_status read_metrics(parser *p) {
    AS_TRY(expect_metrics(p, "the list of extended metrics", MOST_EXTENDED));
    for (uint32_t left = p->in.count; left > 0; left--) {
        AS_TRY(expect(p, AS_MSGPACK_ARRAY, "an extended metric"));
        uint32_t fields = p->in.count;
        if (fields < 2)
            return FAIL(p, p->in.offset, "metric-fields", "an extended metric has %u fields, but needs 2", fields);
        AS_TRY(expect(p, AS_MSGPACK_TEXT, "the name of an extended metric"));
        as_ep_metric metric = {.name = p->in.text, .size = p->in.length};
        AS_TRY(expect(p, AS_MSGPACK_UINT, "the device of an extended metric"));
        metric.device = p->in.natural;
        if (!as_vec_append(&p->file->extended, &metric, 1)) return no_memory(p);
        AS_TRY(skip_more(p, fields - 2));
    }
    return ASSAY_OK;
}

static assay_status read_rest(parser *p, uint32_t fields) {
    AS_TRY(expect(p, AS_MSGPACK_TEXT, "the version"));
    p->file->version = p->in.text;
    p->file->version_size = p->in.length;
    AS_TRY(expect(p, AS_MSGPACK_ARRAY, "the root of the calls"));
    AS_TRY(read_nodes(p));
    if (fields > FILE_FIELDS) AS_TRY(read_gpu_names(p));
    if (fields > FILE_FIELDS + 1) AS_TRY(read_metrics(p));
    return fields > MOST_FILE_FIELDS ? skip_more(p, fields - MOST_FILE_FIELDS) : ASSAY_OK;
}

static assay_status not_mine(parser *p, size_t offset) {
    return FAIL(p, offset, "magic", "is no Extra-Prof profile: it does not begin with a list of '%s' and a version",
                MAGIC);
}

static assay_status read_file(parser *p) {
    if (!p->in.size) return FAIL(p, 0, "empty", "is empty");
    AS_TRY(next(p));
    if (p->in.type != AS_MSGPACK_ARRAY) return not_mine(p, 0);
    uint32_t fields = p->in.count;
    as_msgpack begin = p->in;
    AS_TRY(next(p));
    if (as_msgpack_is(&p->in, MAGIC)) {
        if (fields < FILE_FIELDS)
            return FAIL(p, 0, "file-fields", "the file has %u parts, but needs %d", fields, FILE_FIELDS);
        AS_TRY(read_rest(p, fields));
    } else if (as_msgpack_is(&p->in, "") && fields >= NODE_FIELDS) { /* the oldest: the root is the file */
        p->in = begin;
        AS_TRY(read_nodes(p));
    } else {
        return not_mine(p, p->in.offset);
    }
    if (p->in.at < p->in.size) remark(&p->file->remarks.behind, p->in.at);
    return ASSAY_OK;
}

assay_status as_ep_parse(const as_input *input, const as_ep_rules *rules, uint32_t max_depth, as_reader *reader,
                         as_ep_file *file, assay_error *error) {
    parser p = {.in = as_msgpack_of(input->data, input->size),
                .input = input,
                .rules = rules,
                .max_depth = max_depth,
                .reader = reader,
                .file = file,
                .error = error};
    as_vec_init(&p.open, sizeof(open_node), file->nodes.budget);
    assay_status status = read_file(&p);
    as_vec_free(&p.open);
    return status;
}
