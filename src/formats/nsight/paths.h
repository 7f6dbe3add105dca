/* Private to paths*.c and values*.c: the nodes of the tree of an export. */
#ifndef AS_FORMATS_NSIGHT_PATHS_H
#define AS_FORMATS_NSIGHT_PATHS_H

#include "formats/nsight/export.h"

/* What a context is: the kind of its region. */
typedef enum as_ns_node {
    AS_NS_NODE_PROCESS,
    AS_NS_NODE_THREAD,
    AS_NS_NODE_REGION, /* of Extra-Prof, or a frame of a chain */
    AS_NS_NODE_NVTX,
    AS_NS_NODE_API,
    AS_NS_NODE_LAUNCH, /* of a kernel, below its call */
    AS_NS_NODE_KERNEL,
    AS_NS_NODE_COPY,
    AS_NS_NODE_SET,
    AS_NS_NODE_GRAPH,
    AS_NS_NODE_SYNC,
    AS_NS_NODE_OSRT,
    AS_NS_NODE_FRAME,   /* of a sample */
    AS_NS_NODE_SAMPLES, /* the root of frames */
    AS_NS_NODE_SECTION, /* a root beside the call paths */
    AS_NS_NODE_OVERLAP,
    AS_NS_NODE_WAIT,
    AS_NS_NODE_IDLE,
    AS_NS_NODES
} as_ns_node;

enum { AS_NS_CACHE = 4096 };

/* A context that was asked for. */
typedef struct as_ns_known {
    assay_id parent, node;
    as_str name;
    assay_id id; /* ASSAY_NONE: nobody has asked yet */
} as_ns_known;

/* Makes contexts. */
typedef struct as_ns_builder {
    as_ns_export *x;
    as_str kinds[AS_NS_NODES];
    as_map regions;        /* as_pair(kind, name) -> region */
    as_map fit;            /* a name -> what it is in contexts */
    as_ns_known *known;    /* the last ones: most are asked for again and again */
    assay_id uncorrelated; /* the root of calls that are in no range; ASSAY_NONE: not made yet */
    assay_id *threads;     /* of each thread its root, the same */
    bool is_too_deep;      /* some paths have too many levels, which was told */
} as_ns_builder;

/* as_ns_builder_free() in any case. */
assay_status as_ns_builder_init(as_ns_builder *b, as_ns_export *x);
void as_ns_builder_free(as_ns_builder *b);
/* The context of this name below parent (ASSAY_NONE: a root), made when new; "->" in the name becomes "- >". ASSAY_NONE
 * when memory is out. */
assay_id as_ns_child(as_ns_builder *b, assay_id parent, as_ns_node node, as_str name);
assay_id as_ns_child_text(as_ns_builder *b, assay_id parent, as_ns_node node, const char *name);
/* The same for pieces of call paths, whose depth is limited. A status, since too many levels are an error. */
assay_status as_ns_inner_child(as_ns_builder *b, assay_id parent, as_ns_node node, as_str name, assay_id *out);
as_ns_node as_ns_node_of(const as_ns_builder *b, assay_id context);
static inline const as_context *as_ns_context(const as_ns_builder *b, assay_id context) {
    return &AS_AT(as_context, &b->x->tree.nodes, context);
}

/* "[Uncorrelated]", the root of what belongs nowhere. */
assay_id as_ns_uncorrelated(as_ns_builder *b);
/* Calls that take or give memory: cudaMalloc…, cudaFree…, cudaHostAlloc… */
bool as_ns_is_allocation(const char *name);

/* ---- which range a call is in (paths_ranges.c) ------------------------------------------------------------------- */

/* calls[…].context becomes the context of the call itself, by Extra-Prof's ranges or by NVTX nesting below processes
 * and threads. Contexts of the ranges, too. */
assay_status as_ns_paths_of_ranges(as_ns_builder *b);
assay_status as_ns_paths_of_nesting(as_ns_builder *b);
/* "[OS runtime]" -> thread -> function, one in the other. */
assay_status as_ns_paths_of_osrt(as_ns_builder *b);

/* ---- chains of frames (paths_chains.c) --------------------------------------------------------------------------- */

assay_status as_ns_paths_of_chains(as_ns_builder *b);
assay_status as_ns_paths_of_resolved(as_ns_builder *b);
/* "[Samples]" -> frames. Last of all: the root is a section only where there is nothing but sections. Samples are all
 * there is of their metric, so they are a whole, and have no time to disturb others with; but where OS runtime calls
 * have all the time there is, they are to be that, too. */
assay_status as_ns_paths_of_samples(as_ns_builder *b);

#endif
