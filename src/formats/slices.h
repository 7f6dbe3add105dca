/* A dataset's time line as tools that draw time lines want it: slices on tracks. Slices of one track come in order of
 * time and nest: each begins and ends within the one that is open.
 *
 * Intervals of a run and location that nest (regions, API calls, kernels …) are one track. Each section has tracks of
 * its own, so have ranges that need not nest, calls of the OS runtime, samples, and the pauses of a run. Where slices
 * of a track overlap all the same, the later ones are in further lanes, each a track; so are those that nest deeper
 * than whoever reads them can take. Samples of trace lines (dataset/trace.h) are slices of the calls on their call
 * paths, for as long as the samples have them: between the mid-points to their neighbours, on GPUs until the next
 * sample, as `assay trace` shows them.
 *
 * Times are nanoseconds. All runs begin at the same time, which is 0 unless something happened before its run began. */
#ifndef AS_FORMATS_SLICES_H
#define AS_FORMATS_SLICES_H

#include "formats/event_order.h"
#include "formats/format.h"

typedef enum as_slice_kind {
    AS_SLICES_NESTED,
    AS_SLICES_OSRT,    /* events of the kind "osrt" */
    AS_SLICES_RANGES,  /* of the kind "nvtx" with the style StartEnd */
    AS_SLICES_SECTION, /* of the kind "section" */
    AS_SLICES_SAMPLES, /* of the kind "sample": moments */
    AS_SLICES_PAUSES,  /* of the kind "pause" */
    AS_SLICES_TRACE    /* a trace line */
} as_slice_kind;

/* Something that tracks belong to: a process, else the outermost location (a node, a GPU), else the run. */
typedef struct as_slice_process {
    assay_id run, location; /* location ASSAY_NONE: none */
} as_slice_process;

typedef struct as_slice_track {
    assay_id run, location; /* location ASSAY_NONE: none */
    as_slice_kind kind;
    assay_id section;  /* of AS_SLICES_SECTION: its context; ASSAY_NONE: several, or nobody said */
    uint32_t lane;     /* from 0 */
    uint32_t process;  /* index into processes */
    uint32_t pid, tid; /* numbers for tools that want such: different for all processes, and for all tracks */
    bool is_of_gpu;    /* its location is a GPU, or a stream of one */
    uint64_t n;        /* slices; of AS_SLICES_TRACE: samples */
    uint64_t first;    /* private: where they are; of events, until they are listed, their set */
} as_slice_track;

typedef struct as_time_slice {
    uint64_t start, end; /* end UINT64_MAX: not known yet, when one of a trace line begins */
    bool is_moment;      /* end is start, and nothing lies in it */
    uint64_t event;      /* number of the event; AS_NO_EVENT: it is made of samples */
    as_str name, kind;   /* AS_NO_STR: none; as_slice_name() is never NULL */
    assay_id context;    /* ASSAY_NONE: none */
} as_time_slice;

typedef struct as_slices {
    const as_dataset *ds;
    as_vec processes;    /* as_slice_process, by run and location */
    as_vec tracks;       /* as_slice_track: those of one process together, by location, kind, section and lane */
    uint64_t n_left_out; /* events of no run, without a time, or beyond 256 that overlap */
    uint64_t n_rounded;  /* events that begin or end between two nanoseconds */
    uint64_t n_too_late; /* events that begin or end later than nanoseconds can say */
    uint64_t n_cut;      /* call paths that samples may have whose innermost calls are left out, being too deep */
    uint32_t most_deep;
    /* Private */
    as_event_order order;
    struct as_slice_sets *sets; /* of events */
    as_vec listed;              /* uint64_t: numbers of events by tracks, where these can be walked one by one */
    as_vec attributes;          /* those of ds->attributes that are events', by events */
    double earliest;            /* seconds: time 0 */
} as_slices;

/* How many slices in each other the trace processor of Perfetto takes, from whatever format. It drops what is deeper,
 * and takes the ends of these for those of the slices around them. */
#define AS_SLICES_OF_PERFETTO 512

/* Finds the tracks. most_deep: at most so many slices of a track are in each other. by_track: those of events can be
 * walked one by one, for which 8 bytes of the dataset's budget are taken for each event; else nothing grows with events
 * and samples, but for sources that give their events in no order (see formats/event_order.h). as_slices_close() in
 * every case. */
assay_status as_slices_open(const as_dataset *ds, bool by_track, uint32_t most_deep, as_slices *out,
                            assay_error *error);
void as_slices_close(as_slices *slices);
/* Reports what no track has, or not as deep as it is. */
void as_lose_slices(const as_dataset *ds, uint32_t most_deep, as_losses *losses);
/* The same of AS_SLICES_OF_PERFETTO, and what traces have no place for: parameters, and attributes of anything but
 * events. */
void as_lose_beside_slices(const as_dataset *ds, as_losses *losses);

static inline size_t as_slice_track_count(const as_slices *slices) { return slices->tracks.count; }
static inline const as_slice_track *as_slice_track_at(const as_slices *slices, size_t i) {
    return &AS_AT(as_slice_track, &slices->tracks, i);
}
static inline const as_slice_process *as_slice_process_at(const as_slices *slices, size_t i) {
    return &AS_AT(as_slice_process, &slices->processes, i);
}
/* What people call them, NUL-terminated into out, a vector of char that is cleared first. False when memory is out. */
bool as_slice_process_name(const as_slices *slices, size_t process, as_vec *out);
bool as_slice_track_name(const as_slices *slices, const as_slice_track *track, as_vec *out);
/* The name of the event or of the context, else "<unknown>", and its size: there may be zero bytes in it. Lives as long
 * as the dataset. */
const char *as_slice_name(const as_dataset *ds, const as_time_slice *slice, size_t *size);

/* What is told of a track: begin and end of each slice, those in it in between, in order of time; of a moment begin
 * only. Both return false to stop. */
typedef struct as_slice_visitor {
    bool (*begin)(void *user, const as_slice_track *track, const as_time_slice *slice);
    bool (*end)(void *user, const as_slice_track *track, const as_time_slice *slice); /* may be NULL */
    void *user;
} as_slice_visitor;
/* All tracks: slices of events in order of time, whatever track they are on, then trace lines one by one; what is told
 * of each track is what as_slices_walk() tells. Both end early, with ASSAY_OK, when the visitor wants to stop. One walk
 * at a time. */
assay_status as_slices_walk_all(const as_slices *slices, const as_slice_visitor *visitor, assay_error *error);
assay_status as_slices_walk(const as_slices *slices, size_t track, const as_slice_visitor *visitor, assay_error *error);

/* Attribute k (from 0) of an event, as the source orders them; false: it has no more. The text lives as long as the
 * dataset. */
bool as_slice_attribute(const as_slices *slices, uint64_t event, size_t k, as_attribute *out);

#endif
