/* The files of one point, taken together: each is a sample, and a node that a file does not have took no time in it.
 * Whether the children of a node take longer than itself is decided over all of them. */
#include <stdlib.h>

#include "formats/extraprof/extraprof.h"

static const double NANOSECONDS = 1e9;
#define NOWHERE SIZE_MAX

/* A call path of this point. */
typedef struct path {
    uint32_t parent; /* before it; AS_EP_TOP: none */
    as_str name, mangled;
    uint8_t type, flags; /* of the first node that has it */
    bool is_timed;       /* in a file with times */
    bool is_named;       /* in a file without */
    bool loses_all;      /* what is below it takes longer than itself, and is left out */
    bool is_counted;     /* among those that do */
    bool is_dropped;     /* it is what is left out */
    size_t extended;     /* where its values begin in `extended`; NOWHERE: it has none */
    assay_id context;
} path;

/* A value of a GPU metric: there may be several of one path in one file. */
typedef struct gpu_value {
    uint32_t path, column;
    assay_id run;
    bool is_timed; /* of a file with times */
    size_t order;  /* in which they come */
    double value;
} gpu_value;

typedef struct point {
    as_ep_builder *builder;
    const as_ep_file *files;
    size_t n_files, n_slots; /* slots: files with times */
    assay_id first_run;
    as_vec paths;   /* path */
    as_map by_name; /* (parent + 1, name) -> path */
    as_vec values;  /* double: for each path and slot the duration, then the visits, then the bytes */
    /* double: of each path that has them, for each extended metric and slot, then whether any file says the metric */
    as_vec extended;
    as_vec columns;    /* uint32_t: the column of each extended metric of the point */
    as_map by_column;  /* column -> its number among them */
    as_vec gpu_values; /* gpu_value */
    as_vec places;     /* uint32_t: for each node of the current file its path */
    double *below;     /* for each path and slot what is subtracted from it */
} point;

static double *values_of(const point *p, uint32_t path_id, int column) {
    return (double *)p->values.data + ((size_t)path_id * AS_EP_FIXED + (size_t)column) * p->n_slots;
}

/* NULL: it has none. */
static double *extended_of(const point *p, uint32_t path_id, size_t metric) {
    size_t begin = AS_AT(path, &p->paths, path_id).extended;
    return begin == NOWHERE ? NULL : (double *)p->extended.data + begin + metric * p->n_slots;
}

/* Not 0 where some file says the metric. */
static double *says_extended(const point *p, uint32_t path_id, size_t metric) {
    double *all = extended_of(p, path_id, 0);
    return all ? all + p->columns.count * p->n_slots + metric : NULL;
}

bool as_ep_stands_beside(uint8_t type, uint8_t flags) {
    if (flags & AS_EP_OVERLAPS) return type != AS_EP_OVERLAP;
    return type == AS_EP_KERNEL || ((type == AS_EP_MEMCPY || type == AS_EP_MEMSET) && flags & AS_EP_ASYNC);
}

/* ---- from nodes to paths ----------------------------------------------------------------------------------------- */

static bool push_zeros(as_vec *vec, size_t n) {
    if (!as_vec_reserve(vec, n)) return false;
    if (n) memset((char *)vec->data + vec->count * vec->size, 0, n * vec->size);
    vec->count += n;
    return true;
}

/* The path of a node below that of its parent, made if new; UINT32_MAX when memory is out. */
static uint32_t path_of(point *p, uint32_t parent, const as_ep_node *node) {
    as_str mangled, name = as_ep_name(&p->builder->names, node, &mangled);
    if (name == AS_NO_STR) return UINT32_MAX;
    uint64_t key = as_pair(parent + 1, name);
    uint32_t known = as_map_get(&p->by_name, key), id = (uint32_t)p->paths.count;
    if (known != AS_MAP_NONE) return known;
    path *made = as_vec_push(&p->paths);
    if (!made) return UINT32_MAX;
    *made = (path){.parent = parent,
                   .name = name,
                   .mangled = mangled,
                   .type = node->type,
                   .flags = node->flags,
                   .extended = NOWHERE,
                   .context = ASSAY_NONE};
    bool fine = push_zeros(&p->values, AS_EP_FIXED * p->n_slots) && as_map_put(&p->by_name, key, id);
    return fine ? id : UINT32_MAX;
}

static bool keep_gpu_values(point *p, const as_ep_file *file, const as_ep_node *node, uint32_t path_id, assay_id run) {
    size_t n = node->n_gpu < file->gpu.count ? node->n_gpu : file->gpu.count;
    for (size_t i = 0; i < n; i++) {
        uint32_t column = as_ep_column_of(p->builder, &AS_AT(as_ep_metric, &file->gpu, i), true);
        gpu_value value = {.path = path_id,
                           .column = column,
                           .run = run,
                           .is_timed = file->is_timed,
                           .order = p->gpu_values.count,
                           .value = AS_AT(double, &file->numbers, node->first_number + i)};
        if (column == UINT32_MAX || !as_vec_append(&p->gpu_values, &value, 1)) return false;
    }
    return true;
}

/* metrics: for each extended metric of the file its number in the point. */
static bool add_values(point *p, const as_ep_file *file, const as_ep_node *node, uint32_t path_id, size_t slot,
                       const uint32_t *metrics) {
    values_of(p, path_id, AS_EP_TIME)[slot] += node->duration;
    values_of(p, path_id, AS_EP_VISITS)[slot] += node->visits;
    values_of(p, path_id, AS_EP_BYTES)[slot] += node->bytes;
    size_t n = node->n_extended < file->extended.count ? node->n_extended : file->extended.count;
    path *at = &AS_AT(path, &p->paths, path_id);
    if (n && at->extended == NOWHERE) {
        at->extended = p->extended.count;
        if (!push_zeros(&p->extended, p->columns.count * (p->n_slots + 1))) return false;
    }
    for (size_t i = 0; i < n; i++) {
        extended_of(p, path_id, metrics[i])[slot] +=
            AS_AT(double, &file->numbers, node->first_number + node->n_gpu + i);
        *says_extended(p, path_id, metrics[i]) = 1;
    }
    return true;
}

static bool add_nodes(point *p, const as_ep_file *file, assay_id run, size_t slot, const uint32_t *metrics) {
    p->places.count = 0;
    if (!push_zeros(&p->places, file->nodes.count)) return false;
    as_map_expect(&p->by_name, file->nodes.count);
    uint32_t *places = p->places.data;
    for (size_t i = 0; i < file->nodes.count; i++) {
        const as_ep_node *node = &AS_AT(as_ep_node, &file->nodes, i);
        uint32_t id = path_of(p, node->parent == AS_EP_TOP ? AS_EP_TOP : places[node->parent], node);
        if (id == UINT32_MAX || !keep_gpu_values(p, file, node, id, run)) return false;
        places[i] = id;
        path *at = &AS_AT(path, &p->paths, id);
        at->is_timed |= file->is_timed;
        at->is_named |= !file->is_timed;
        if (file->is_timed && !add_values(p, file, node, id, slot, metrics)) return false;
    }
    return true;
}

/* The number of a column among the point's extended metrics, listed if new; UINT32_MAX when memory is out. */
static uint32_t number_of(point *p, uint32_t column) {
    uint32_t known = column == UINT32_MAX ? UINT32_MAX : as_map_get(&p->by_column, column),
             number = (uint32_t)p->columns.count;
    if (known != AS_MAP_NONE || column == UINT32_MAX) return known;
    return as_vec_append(&p->columns, &column, 1) && as_map_put(&p->by_column, column, number) ? number : UINT32_MAX;
}

/* metrics: behind one another, those of all files. */
static bool list_metrics(point *p, as_vec *metrics) {
    for (size_t f = 0; f < p->n_files; f++) {
        const as_ep_file *file = &p->files[f];
        for (size_t i = 0; i < file->extended.count && file->is_timed; i++) {
            const as_ep_metric *metric = &AS_AT(as_ep_metric, &file->extended, i);
            uint32_t column = as_ep_column_of(p->builder, metric, false), number = number_of(p, column);
            if (number == UINT32_MAX || !as_vec_append(metrics, &number, 1)) return false;
            if (!file->has_whole_extended) AS_AT(as_ep_column, &p->builder->columns, column).is_whole = false;
        }
    }
    return true;
}

/* Those with times first: they say what a path is. */
static bool add_files(point *p) {
    as_vec metrics;
    as_vec_init(&metrics, sizeof(uint32_t), &p->builder->ds->budget);
    bool fine = list_metrics(p, &metrics);
    size_t slot = 0;
    const uint32_t *of_file = metrics.data;
    for (size_t f = 0; f < p->n_files && fine; f++) {
        if (!p->files[f].is_timed) continue;
        fine = add_nodes(p, &p->files[f], p->first_run + (assay_id)f, slot++, of_file);
        if (of_file) of_file += p->files[f].extended.count;
    }
    for (size_t f = 0; f < p->n_files && fine; f++) {
        if (!p->files[f].is_timed) fine = add_nodes(p, &p->files[f], p->first_run + (assay_id)f, 0, NULL);
    }
    as_vec_free(&metrics);
    return fine;
}

/* ---- exclusive values -------------------------------------------------------------------------------------------- */

static double total(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

/* What each path's children have together, of those that are a part of it. children: the values of a path; NULL:
 * none. */
static void add_up_children(point *p, const double *(*children)(const point *p, uint32_t id, size_t metric),
                            size_t metric, bool skips_lost) {
    memset(p->below, 0, p->paths.count * p->n_slots * sizeof *p->below);
    for (uint32_t id = 0; id < p->paths.count; id++) {
        const path *at = &AS_AT(path, &p->paths, id);
        if (at->parent == AS_EP_TOP || as_ep_stands_beside(at->type, at->flags)) continue;
        if (skips_lost && AS_AT(path, &p->paths, at->parent).loses_all) continue;
        const double *values = children(p, id, metric);
        if (!values) continue;
        double *sum = p->below + (size_t)at->parent * p->n_slots;
        for (size_t i = 0; i < p->n_slots; i++) sum[i] += values[i];
    }
}

static const double *durations(const point *p, uint32_t id, size_t metric) {
    (void)metric;
    return values_of(p, id, AS_EP_TIME);
}

static const double *extended(const point *p, uint32_t id, size_t metric) { return extended_of(p, id, metric); }

/* Whether what is below a path exceeds its own values. */
static bool is_exceeded(const point *p, uint32_t id, const double *own) {
    return total(p->below + (size_t)id * p->n_slots, p->n_slots) > total(own, p->n_slots);
}

/* Path names joined, of one that is no context yet. AS_NO_STR when memory is out. */
static as_str join(const point *p, uint32_t id) {
    as_vec ids, text;
    as_dataset *ds = p->builder->ds;
    as_vec_init(&ids, sizeof id, &ds->budget);
    as_vec_init(&text, 1, &ds->budget);
    bool fine = true;
    for (; id != AS_EP_TOP && fine; id = AS_AT(path, &p->paths, id).parent) fine = as_vec_append(&ids, &id, 1);
    for (size_t i = ids.count; i-- > 0 && fine;) {
        as_str name = AS_AT(path, &p->paths, AS_AT(uint32_t, &ids, i)).name;
        fine = as_vec_append(&text, as_ds_text(ds, name), as_str_size(&ds->strings, name)) &&
               (!i || as_vec_text(&text, "->"));
    }
    as_str joined = fine ? as_ds_intern(ds, text.data ? text.data : "", text.count) : AS_NO_STR;
    as_vec_free(&text);
    as_vec_free(&ids);
    return joined;
}

/* A path that is left out, of which the first below one that loses all tells about that one. */
static void count_dropped(point *p, const path *at) {
    as_ep_dropped *dropped = &p->builder->dropped;
    path *parent = &AS_AT(path, &p->paths, at->parent);
    dropped->n_contexts++;
    if (!parent->loses_all || parent->is_counted) return;
    parent->is_counted = true;
    if (dropped->n_nodes++) return;
    dropped->first = join(p, at->parent);
    dropped->first_run = p->first_run;
}

/* Where times contradict one another, only the outer one is kept. */
static void find_dropped(point *p) {
    uint64_t n_before = p->builder->dropped.n_nodes;
    for (uint32_t id = 0; id < p->paths.count; id++) {
        path *at = &AS_AT(path, &p->paths, id);
        const path *parent = at->parent == AS_EP_TOP ? NULL : &AS_AT(path, &p->paths, at->parent);
        at->is_dropped = parent && (parent->is_dropped || parent->loses_all);
        if (!at->is_timed) continue;
        if (at->is_dropped)
            count_dropped(p, at);
        else
            at->loses_all = is_exceeded(p, id, values_of(p, id, AS_EP_TIME));
    }
    p->builder->dropped.n_points += p->builder->dropped.n_nodes > n_before;
}

/* Makes durations exclusive times in seconds. */
static void settle_times(point *p) {
    if (!p->builder->rules.is_inclusive) {
        add_up_children(p, durations, 0, false);
        if (!p->builder->rules.keeps_all) find_dropped(p);
    }
    for (uint32_t id = 0; id < p->paths.count; id++) {
        double *own = values_of(p, id, AS_EP_TIME);
        const double *below = p->below + (size_t)id * p->n_slots;
        bool keeps = p->builder->rules.is_inclusive || is_exceeded(p, id, own);
        for (size_t i = 0; i < p->n_slots; i++) own[i] = (keeps ? own[i] : own[i] - below[i]) / NANOSECONDS;
    }
}

static void settle_extended(point *p, size_t metric) {
    add_up_children(p, extended, metric, true);
    for (uint32_t id = 0; id < p->paths.count; id++) {
        double *own = extended_of(p, id, metric);
        const double *below = p->below + (size_t)id * p->n_slots;
        if (!own || is_exceeded(p, id, own)) continue;
        for (size_t i = 0; i < p->n_slots; i++) own[i] -= below[i];
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static bool add_all(point *p, uint32_t column, assay_id context, const double *values) {
    bool fine = true;
    for (size_t f = 0, slot = 0; f < p->n_files && fine; f++) {
        if (p->files[f].is_timed)
            fine = as_ep_add(p->builder, column, context, p->first_run + (assay_id)f, values[slot++]);
    }
    return fine;
}

static bool has_any(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (values[i] != 0) return true;
    }
    return false;
}

static bool keep_values(point *p, uint32_t id, assay_id context) {
    bool fine = add_all(p, AS_EP_TIME, context, values_of(p, id, AS_EP_TIME)) &&
                add_all(p, AS_EP_VISITS, context, values_of(p, id, AS_EP_VISITS));
    if (has_any(values_of(p, id, AS_EP_BYTES), p->n_slots))
        fine = fine && add_all(p, AS_EP_BYTES, context, values_of(p, id, AS_EP_BYTES));
    for (size_t m = 0; m < p->columns.count && fine && extended_of(p, id, m); m++) {
        if (*says_extended(p, id, m) != 0)
            fine = add_all(p, AS_AT(uint32_t, &p->columns, m), context, extended_of(p, id, m));
    }
    return fine;
}

static int compare_gpu_values(const void *a, const void *b) {
    const gpu_value *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool keep_gpu(point *p) {
    if (p->gpu_values.count) qsort(p->gpu_values.data, p->gpu_values.count, sizeof(gpu_value), compare_gpu_values);
    for (size_t i = 0; i < p->gpu_values.count; i++) {
        const gpu_value *value = &AS_AT(gpu_value, &p->gpu_values, i);
        const path *at = &AS_AT(path, &p->paths, value->path);
        if (value->is_timed && at->is_dropped) continue;
        if (!as_ep_add(p->builder, value->column, at->context, value->run, value->value)) return false;
    }
    return true;
}

/* Contexts of what is not left out, with their values. */
static bool keep_paths(point *p) {
    for (uint32_t id = 0; id < p->paths.count; id++) {
        path *at = &AS_AT(path, &p->paths, id);
        bool has_times = at->is_timed && !at->is_dropped;
        if (!has_times && !at->is_named) continue;
        assay_id parent = at->parent == AS_EP_TOP ? ASSAY_NONE : AS_AT(path, &p->paths, at->parent).context;
        at->context = as_ep_context(p->builder, parent, at->name, at->mangled, at->type, at->flags);
        if (at->context == ASSAY_NONE || (has_times && !keep_values(p, id, at->context))) return false;
    }
    return true;
}

assay_status as_ep_add_point(as_ep_builder *builder, const as_ep_file *files, size_t n, assay_id first_run) {
    as_budget *budget = &builder->ds->budget;
    point p = {.builder = builder, .files = files, .n_files = n, .first_run = first_run};
    for (size_t i = 0; i < n; i++) {
        p.n_slots += files[i].is_timed;
        AS_AT(as_ep_column, &builder->columns, AS_EP_VISITS).is_whole &= files[i].has_whole_visits;
        AS_AT(as_ep_column, &builder->columns, AS_EP_BYTES).is_whole &= files[i].has_whole_bytes;
    }
    as_vec_init(&p.paths, sizeof(path), budget);
    as_map_init(&p.by_name, budget);
    as_vec_init(&p.values, sizeof(double), budget);
    as_vec_init(&p.extended, sizeof(double), budget);
    as_map_init(&p.by_column, budget);
    as_vec_init(&p.columns, sizeof(uint32_t), budget);
    as_vec_init(&p.gpu_values, sizeof(gpu_value), budget);
    as_vec_init(&p.places, sizeof(uint32_t), budget);
    as_vec below;
    as_vec_init(&below, sizeof(double), budget);
    bool fine = add_files(&p) && push_zeros(&below, p.paths.count * p.n_slots);
    p.below = below.data;
    if (fine && p.n_slots) settle_times(&p);
    for (size_t m = 0; m < p.columns.count && fine && p.n_slots; m++) settle_extended(&p, m);
    as_map_free(&p.by_name); /* before contexts have theirs */
    as_map_init(&p.by_name, budget);
    as_vec_free(&p.places);
    if (!builder->is_one_point) as_map_expect(&builder->contexts, p.paths.count);
    fine = fine && keep_paths(&p) && keep_gpu(&p);
    as_vec_free(&p.paths);
    as_map_free(&p.by_name);
    as_vec_free(&p.values);
    as_vec_free(&p.extended);
    as_map_free(&p.by_column);
    as_vec_free(&p.columns);
    as_vec_free(&p.gpu_values);
    as_vec_free(&p.places);
    as_vec_free(&below);
    return fine ? ASSAY_OK : as_reader_memory(builder->reader);
}
