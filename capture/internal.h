/* Inside libassay-capture. Names that cross files begin with as_capture_.
 *
 *   measured threads                          background thread
 *   record.c: regions, sections  ── rings ──> writer.c: drains, samples ──> records.c: text ──> output.c: pages
 *   measures.c: what is read                  pauses.c: was the process stopped?
 *   threads.c: who has which ring
 *   control.c: start, stop, fork, tags        settings.c: environment, filter
 *   descriptors.c: what belongs to the program
 *
 * One mutex, as_capture.lock, guards everything that is not hot: settings, tags, the list of threads, labels. A ring
 * has one producer, the thread, and one consumer, the writer; they share only the positions `published` and
 * `consumed`. */
#ifndef ASSAY_CAPTURE_INTERNAL_H
#define ASSAY_CAPTURE_INTERNAL_H

#include "assay/capture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    AS_CAPTURE_PAGE = 4096,
    AS_CAPTURE_LABEL = 255, /* bytes of a label */
    AS_CAPTURE_TAGS = 1023, /* bytes of a set of tags */
    AS_CAPTURE_RUN_SHIFT =
        16, /* ids of runs have 48 bits: no two are the same by chance, and they are in every RegionStart */
    AS_CAPTURE_DEPTH = 512,
    AS_CAPTURE_THREADS = 4096,
    AS_CAPTURE_LARGE_RINGS = 64,     /* threads beyond have a 32nd */
    AS_CAPTURE_SMALLEST_RING = 2048, /* words */
    AS_CAPTURE_BLOCK = 32,           /* bytes that are copied at once: most texts of a record are no longer */
    AS_CAPTURE_BUILT_IN = 5,
    AS_CAPTURE_MEASURES = AS_CAPTURE_BUILT_IN + 16,
    AS_CAPTURE_MAX_WORDS = AS_CAPTURE_MEASURES * 4 /* of the values of one entry */
};

/* ---- settings.c -------------------------------------------------------------------------------------------------- */

/* A list of patterns. text owns what items point to. */
typedef struct as_capture_list {
    struct {
        const char *pattern;
        bool exclude;
        bool matched; /* anything so far; only where kinds are asked for */
        int kind;     /* an assay_measure_kind, or -1 */
    } items[64];
    int count;
    char text[2048];
} as_capture_list;

typedef struct as_capture_settings {
    as_capture_list filter, measures;
    uint64_t period;     /* ns; 0: no samples */
    uint64_t ring_words; /* a power of two */
} as_capture_settings;

void as_capture_settings_read(as_capture_settings *settings);
/* The tags of the environment, of AS_CAPTURE_TAGS + 1 bytes. */
void as_capture_settings_tags(char *tags);
/* Whether the list lets a text through; otherwise is the answer where no item without - is in the list. *kind: of the
 * item that matched, may be NULL. */
bool as_capture_list_allows(as_capture_list *list, const char *text, bool otherwise, int *kind);

/* Says, once in a process, which patterns matched no measure. quietly: takes it as said, in a child. */
void as_capture_settings_report(as_capture_settings *settings, bool quietly);

/* ---- descriptors.c ----------------------------------------------------------------------------------------------- */

typedef struct as_capture_file {
    dev_t device;
    ino_t inode;
    off_t size;
} as_capture_file;

/* The same open file under a number that programs do not come to, never 0 to 2; fd is closed. -1: no number left. */
int as_capture_descriptor_move(int fd);
bool as_capture_descriptor_file(int fd, as_capture_file *file);
/* Whether fd is open and still this file: programs close what they did not open, and then the number is another
 * file's. */
bool as_capture_descriptor_is(int fd, const as_capture_file *file);

/* Files of /proc. They are opened once, before the program goes on, and kept: an open() at any moment would take the
 * number that a close() and open() of the program are about. */
typedef enum as_capture_proc { AS_CAPTURE_STAT, AS_CAPTURE_STATM, AS_CAPTURE_SCHEDSTAT } as_capture_proc;

/* By the writer, whose schedstat it is. */
void as_capture_proc_open(void);
void as_capture_proc_close(void);
/* What it holds now, with a NUL behind. False: nothing to be had; text is empty. */
bool as_capture_proc_read(as_capture_proc which, char *text, size_t size);

typedef struct as_capture_signals {
    sigset_t before, ours;
} as_capture_signals;

/* Around writes on a thread of the program: SIGPIPE and SIGXFSZ that they cause do not reach it. */
void as_capture_signals_hold(as_capture_signals *signals);
void as_capture_signals_release(const as_capture_signals *signals);

/* Which file standard error is: lines go there as long as it is this one. */
void as_capture_say_begin(void);
/* One line on standard error: "assay-capture: " and the rest. */
void as_capture_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- texts.c ----------------------------------------------------------------------------------------------------- */

/* A label, ready to be written: the end of a RegionStart without tags, quoted as RFC 4180 wants it. Never freed: what
 * is on its way in a ring points to it. */
typedef struct as_capture_label {
    struct as_capture_label *next;
    uint64_t hash;
    uint32_t length, written_length;
    const char *written; /* behind text; a block at least can be read */
    char text[];
} as_capture_label;

/* The one label with this text (cut to its limit), made where there is none. Under the lock. NULL: no memory. */
const as_capture_label *as_capture_label_get(const char *text);
uint64_t as_capture_hash(const char *text, size_t length);
/* Copies the first `length` bytes to `out` as a field: quoted where needed, control characters and bad UTF-8 replaced.
 * Returns the bytes written, at most 2 * length + 2. */
size_t as_capture_field(char *out, const char *text, size_t length);
/* The length of a text cut to `limit` bytes, not inside a character. */
size_t as_capture_cut(const char *text, size_t limit);

/* ---- measures.c -------------------------------------------------------------------------------------------------- */

typedef struct as_capture_measure {
    char name[64], units[32], summary[256];
    uint32_t id; /* measurement type id */
    assay_measure_type type;
    assay_measure_kind kind;
    int words; /* in a ring: 0 for wall time, which is the timestamp; 1 for numbers; 4 for texts */
    assay_measure_read read;
    void *context;
} as_capture_measure;

/* What is taken at one kind of place, in the order of the values in the rings. */
typedef struct as_capture_set {
    const as_capture_measure *measures[AS_CAPTURE_MEASURES];
    _Atomic int count; /* of samples, it may grow while the writer reads */
    int words;
} as_capture_set;

/* Fills the sets from the settings. Under the lock, at the first start: they stay so. */
void as_capture_measures_choose(void);
/* The values of a set now, set->words of them. */
void as_capture_measures_read(const as_capture_set *set, uint64_t *words);

/* ---- threads.c --------------------------------------------------------------------------------------------------- */

/* An entry of a ring: words of 64 bits, the first of which is time << 8 | kind. */
enum {
    AS_CAPTURE_BEGIN,         /* as_capture_label *, values of regions */
    AS_CAPTURE_BEGIN_TEXT,    /* label length | tags length << 32, both texts as words, values */
    AS_CAPTURE_END,           /* the depth that is left, values */
    AS_CAPTURE_SECTION_INFO,  /* section id, label length | tags length << 32, both texts */
    AS_CAPTURE_SECTION_BEGIN, /* section id, interval, values of sections */
    AS_CAPTURE_SECTION_END
};

enum { AS_CAPTURE_FREE, AS_CAPTURE_ALIVE, AS_CAPTURE_ENDED };

typedef struct as_capture_level {
    uint64_t hash;  /* of the label */
    uint32_t depth; /* open regions in the file below it */
    bool dropped;
} as_capture_level;

/* A region the writer has seen begin. */
typedef struct as_capture_open {
    uint64_t id, begin;
    uint64_t values[]; /* of the set for regions */
} as_capture_open;

/* What one of the two writes all the time has cache lines of its own. */
typedef struct as_capture_thread {
    uint64_t *ring;
    uint64_t mask; /* words of the ring - 1 */
    /* the thread's own */
    _Alignas(64) uint64_t head;   /* where the next word goes */
    uint64_t free_until;          /* no look at `consumed` is needed before the head is here */
    uint32_t level_count, depth;  /* open regions; those of them that are in the file */
    uint32_t too_deep, inherited; /* begins beyond the limit; begun in an earlier capture */
    uint16_t index;               /* as_capture_thread_at() */
    bool dropping;
    as_capture_level levels[AS_CAPTURE_DEPTH];
    /* written by the thread, read by the writer */
    _Alignas(64) _Atomic uint64_t published;
    _Atomic uint64_t lost, misused, waited;
    _Alignas(64) _Atomic uint64_t consumed;
    /* set under the lock */
    _Alignas(64) _Atomic int life;
    _Atomic unsigned state; /* the capture it belongs to */
    uint32_t number;
    char name[64];
    uint64_t run, started;
    /* the writer's own */
    _Alignas(64) bool announced;
    uint32_t types[2 * AS_CAPTURE_MEASURES]; /* ids of the MeasurementTypes it has */
    int type_count;
    off_t run_offset; /* of its RunInfo, which is rewritten there when tags come */
    size_t run_room;
    unsigned tags_written;            /* as_capture.tags_version */
    char run_field[AS_CAPTURE_BLOCK]; /* the run id of records, with the comma before it */
    size_t run_field_length;
    uint32_t open_count;
    size_t open_size, open_room; /* bytes of one, of all */
    char *open;                  /* as_capture_open */
} as_capture_thread;

/* The calling thread's ring, and whether it is in the library just now: a signal handler, or the function of a measure,
 * may come in again. */
typedef struct as_capture_self {
    as_capture_thread *thread;
    unsigned refused; /* the capture in which there is no ring for it */
    int busy;         /* < 0: the thread is ending */
    bool ending;      /* in a call: what busy was */
    int cancellation; /* in a call: the thread's, which is off meanwhile */
} as_capture_self;

extern __thread as_capture_self as_capture_me __attribute__((tls_model("initial-exec")));

/* The calling thread, in the capture `state`; starts it in a child after fork. NULL: nothing can be recorded. Only
 * while busy. */
as_capture_thread *as_capture_thread_attach(unsigned state);
/* Under the lock: gives the calling thread a ring, number 0 where first is set. */
as_capture_thread *as_capture_thread_add(unsigned state, bool first);
/* The writer is done with it. */
void as_capture_thread_free(as_capture_thread *thread);
/* Asked by the writer: whether it is the last thread, for main's ended by pthread_exit(). The process ends when it
 * does. */
bool as_capture_threads_alone(void);
/* No thread's end is looked out for any more. */
void as_capture_threads_forget(void);
/* In the child after fork: only the calling thread is left. */
void as_capture_threads_forked(void);
as_capture_thread *as_capture_thread_at(unsigned index);
/* Zeroed memory from the kernel, NULL if there is none. Not malloc's: a handler that records may have interrupted
 * malloc, and what a child after fork cannot free is no leak of the program. */
void *as_capture_map(size_t size);

/* ---- record.c ---------------------------------------------------------------------------------------------------- */

/* Ends all regions of the calling thread that are open. */
void as_capture_record_close(as_capture_thread *thread);
/* A section's end for which a ring had no room. */
typedef struct as_capture_late_end {
    uint64_t time, section, interval;
} as_capture_late_end;

/* ---- output.c ---------------------------------------------------------------------------------------------------- */

/* A file whose records never cross a page. */
typedef struct as_capture_output {
    int fd;
    as_capture_file file; /* what fd was opened as */
    bool regular, failed;
    char *buffer;
    size_t used, written; /* of the buffer: bytes in it, bytes of them in the file */
    size_t page_end;      /* of the buffer: of the page that is being filled */
    off_t base;           /* where the buffer begins in the file: at a page */
    bool tags_missed;     /* said so */
    char path[4096];
} as_capture_output;

/* Opens the file of a pattern (with %p), see assay/capture.h. False: said why. own: with the process id in the name in
 * any case. */
bool as_capture_output_open(as_capture_output *output, const char *pattern, bool own);
/* Goes on to the next page. */
void as_capture_output_turn(as_capture_output *output);
/* Room for a record of at most `size` bytes (<= a page); as_capture_output_end says where it ended. Behind it, two
 * blocks more may be overwritten. */
static inline char *as_capture_output_begin(as_capture_output *output, size_t size) {
    if (__builtin_expect(output->used + size > output->page_end, 0)) as_capture_output_turn(output);
    return output->buffer + output->used;
}
static inline void as_capture_output_end(as_capture_output *output, const char *end) {
    output->used = (size_t)(end - output->buffer);
}
/* Where the next record of at most `size` bytes will be in the file. */
off_t as_capture_output_place(as_capture_output *output, size_t size);
void as_capture_output_write(as_capture_output *output);
/* Replaces what is in the file, within one page. */
void as_capture_output_replace(as_capture_output *output, off_t offset, const char *text, size_t size);
void as_capture_output_close(as_capture_output *output);

/* ---- records.c: all by the writer -------------------------------------------------------------------------------- */

/* Before all others. */
void as_capture_records_begin(void);
void as_capture_records_run(as_capture_thread *thread);
void as_capture_records_types(as_capture_thread *thread, const as_capture_set *set);
void as_capture_records_region_start(as_capture_thread *thread, uint64_t time, uint64_t id,
                                     const as_capture_label *label);
void as_capture_records_region_start_text(as_capture_thread *thread, uint64_t time, uint64_t id, const char *label,
                                          size_t label_length, const char *tags, size_t tags_length);
void as_capture_records_region_stop(uint64_t time, uint64_t id);
void as_capture_records_section_info(uint64_t run, uint64_t time, uint64_t id, const char *label, size_t label_length,
                                     const char *tags, size_t tags_length);
void as_capture_records_interval_start(uint64_t time, uint64_t section, uint64_t interval);
void as_capture_records_interval_stop(uint64_t time, uint64_t section, uint64_t interval);
/* The snapshots of a set at one moment; interval 0: of a region. */
void as_capture_records_points(const as_capture_set *set, uint64_t time, uint64_t owner, uint64_t interval,
                               const uint64_t *values);
/* The durations of a set, from the values at both ends. */
void as_capture_records_aggregate(const as_capture_set *set, uint64_t end, uint64_t start, uint64_t owner,
                                  uint64_t interval, const uint64_t *first, const uint64_t *last);
void as_capture_records_run_points(const as_capture_set *set, uint64_t time, uint64_t run, const uint64_t *values);
/* One number about the capture itself, with its MeasurementType. */
void as_capture_records_count(uint64_t time, uint64_t run, const char *name, const char *units, const char *summary,
                              uint64_t value);
void as_capture_records_pause(uint64_t end, uint64_t start, uint64_t run);

/* ---- intervals.c ------------------------------------------------------------------------------------------------ */

/* Which intervals of sections are open, for the writer. An end may come before its begin, from another ring. */

void as_capture_interval_begin(uint64_t time, uint64_t section, uint64_t interval, const uint64_t *values);
/* values NULL: not known. */
void as_capture_interval_end(uint64_t time, uint64_t section, uint64_t interval, const uint64_t *values);
/* Forgets all; the number of ends that had no begin. forked: without a look at what another process's writer left. */
uint64_t as_capture_intervals_clear(bool forked);

/* ---- pauses.c ---------------------------------------------------------------------------------------------------- */

void as_capture_pauses_begin(void);
/* Whether the process was stopped between `before` and `after`, when the writer slept for a tick, or was working. */
bool as_capture_pauses_found(uint64_t before, uint64_t after, bool working);

/* ---- writer.c ---------------------------------------------------------------------------------------------------- */

/* Whether the last one is gone: it may hang in a write. */
bool as_capture_writer_gone(void);
bool as_capture_writer_start(void);
/* Asks the writer to write all there is, and to end if `stop`; waits for it, at most `limit` ns. */
bool as_capture_writer_ask(bool stop, uint64_t limit);
/* From a thread whose ring is more than half full. */
void as_capture_writer_wake(void);
void as_capture_writer_forked(void);

/* ---- control.c --------------------------------------------------------------------------------------------------- */

typedef struct as_capture_shared {
    pthread_mutex_t lock;
    /* under the lock */
    bool running, forked; /* forked: to be started by the first record of this process */
    char path[4096];
    char application[256], version[256];
    char tags[AS_CAPTURE_TAGS + 1];
    unsigned tags_version;
    unsigned generations;
    uint32_t next_number;
    bool settled; /* settings have been read */
    as_capture_settings settings;
    /* written by start only */
    _Atomic uint64_t base; /* CLOCK_MONOTONIC at its start; a thread may still be recording for the last one */
    int64_t wallclock_ns;  /* UTC at base */
    uint64_t run;          /* id of run 0 */
    _Atomic uint64_t next_section;
    _Atomic bool frozen; /* no more measures */
    as_capture_set regions, sections, samples;
    /* by anybody */
    _Atomic uint64_t lost, misused; /* besides those of the threads */
    pthread_mutex_t late_lock;
    as_capture_late_end late[1024];
    unsigned late_count;
    /* the writer's, in cache lines that measured threads do not look at */
    _Alignas(64) uint64_t next_id; /* of regions */
    as_capture_output output;
} as_capture_shared;

extern as_capture_shared as_capture;

uint64_t as_capture_now(void); /* since base */
uint64_t as_capture_mix(uint64_t x);
/* Starts the capture number as_capture.generations, for the calling thread. Under the lock. own: see
 * as_capture_output_open(). */
bool as_capture_start_locked(const char *path, bool own);

#endif
