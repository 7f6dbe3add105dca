/* assay/capture.h: a C or C++ program records where its time goes, in a file that `assay` opens (AFPerf, text).
 *
 *     #include <assay/capture.h>
 *
 *     void step(void) {
 *         ASSAY_REGION("step");                 // until the end of this scope, however it is left
 *         ASSAY_BEGIN("solve"); solve(); ASSAY_END("solve");
 *     }
 *
 *     cc program.c $(pkg-config --cflags --libs assay-capture)
 *     ASSAY_CAPTURE=out.afperf ./a.out && assay tree out.afperf
 *
 * The program's behaviour never depends on the capture: no call here fails, blocks for long, prints more than a line or
 * two on standard error, or changes errno. Capture is off until ASSAY_CAPTURE is set in the environment or
 * assay_capture_start() is called; a region then costs one predictable branch. With -DASSAY_CAPTURE_DISABLED everything
 * below is empty, and the library is not needed.
 *
 * The header stands alone. It needs GCC, Clang or a compiler with their attributes, and in C++ any standard since
 * C++98.
 *
 * What is recorded
 *   Regions nest strictly, each thread for itself: every thread that records is a run of its own in the file, with the
 *   tags process=PID, thread=NUMBER (0: the thread that started the capture, usually main's) and thread_name=NAME.
 *   Sections have any number of intervals, which may overlap and may end on another thread; they belong to run 0, which
 *   stands for the process. Timestamps are nanoseconds of CLOCK_MONOTONIC since the start of the capture.
 *
 * Cost and memory
 *   A thread writes to its own ring buffer, without a lock, a system call or memory allocation; a background thread
 *   formats and writes every 10 ms, or sooner, when a ring is half full: then, to wake it is a system call. Rings have
 *   1 MiB (ASSAY_CAPTURE_BUFFER) for the first 64 threads that live at once, a 32nd of that (16 KiB at least) for the
 *   next 4032; more are not recorded. Memory is only taken as far as a ring was ever filled. Where a ring is full, its
 *   thread waits until it is half empty, 0.1 s at most. After a vain wait it drops regions (with all that is in them,
 *   never a begin or an end alone) without waiting, until the ring is half empty. What was lost, and the time waited,
 *   is in the file and on standard error.
 *
 * When the process dies
 *   exit() and return from main write everything. A crash, abort(), _exit(), exec() and kill -9 lose what was recorded
 *   since the last 10 ms tick; the file is readable at every moment, for no record crosses a page (4096 bytes) of it.
 *   Call assay_capture_flush() before _exit() and exec(). No signal handler is installed; no call is a cancellation
 *   point; files that the program closes or opens are left alone. Regions may be used in signal handlers: those that
 *   interrupt the recording of another one are not recorded.
 *
 * Limits: a label has 255 bytes, a set of tags 1023, the rest is cut off; control characters become spaces, what is not
 * UTF-8 question marks. Regions deeper than 512 are dropped like those of a full ring.
 *
 * Misuse is harmless, counted, and reported at the end, in the file (measures of the run) and in one line on standard
 * error:
 *   an end without its begin is ignored; an end of a region that is not the innermost one ends those inside it, too;
 *   regions open when their thread ends, end there; a second end of an interval is ignored. Where longjmp() leaves
 *   regions, they end with the one around setjmp(), so have one there. A scope that is left on another thread (a
 *   coroutine) ends nothing there. */
#ifndef ASSAY_CAPTURE_H
#define ASSAY_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings -------------------------------------------------------------------------------------------------------
 *
 * ASSAY_CAPTURE=FILE           Turns it on and names the file; %p in it is the process id. A file of an earlier capture
 *                              is replaced, one that is no AFPerf is left alone (and capture is off). Every process has
 *                              a file of its own: where FILE is in use, and in a child after fork(), it is FILE.PID
 *                              (unless %p is in the name). After exec(), and for a second capture of a process, there
 *                              is a number more: FILE.PID, FILE.PID.2 …; nothing of one process is lost to itself.
 * ASSAY_CAPTURE_FILTER=LIST    Which regions and sections, by label: patterns (* ? [a-z]) with commas between; -PATTERN
 *                              leaves out. A label is recorded if it matches one of those without - (or there are none)
 *                              and none of those with it. What is inside a region left out counts for the region around
 *                              it.
 * ASSAY_CAPTURE_MEASURES=LIST  What is measured besides time at begin and end of regions and sections, as a list like
 *                              that of the filter: wall, cpu, memory, faults, switches, and those of
 *                              assay_measure_add(). Default: only the latter, "-wall,-cpu,…". wall:snapshot,
 *                              memory:duration … choose the other kind of measure: snapshots are written at begin and
 *                              end, durations as the difference, at the end. memory is a snapshot by default, the rest
 *                              durations.
 * ASSAY_CAPTURE_PERIOD=TIME    How often the process is sampled (CPU time, memory, page faults, context switches, as
 *                              points of run 0): 100ms by default; ms, s and us are understood, 0 is never. Ticks are
 *                              of 10 ms.
 * ASSAY_CAPTURE_TAGS=TAGS      Tags of all runs: "size=100;case=two".
 * ASSAY_CAPTURE_BUFFER=KIB     Size of a ring, 16 to 65536, a power of two: 1024 by default.
 * A setting that cannot be understood is reported on standard error in one line, and the default is used; a measure
 * that does not exist, at the end. */

/* ---- measures ---------------------------------------------------------------------------------------------------- */

typedef enum assay_measure_kind {
    ASSAY_MEASURE_SNAPSHOT, /* a state: written at begin and end */
    ASSAY_MEASURE_DURATION  /* a running total that only grows: the difference is written at the end */
} assay_measure_kind;

typedef enum assay_measure_type {
    ASSAY_MEASURE_INT64,
    ASSAY_MEASURE_DOUBLE,
    ASSAY_MEASURE_BOOL, /* a snapshot, as the next ones are */
    ASSAY_MEASURE_STRING,
    ASSAY_MEASURE_ENUM /* a string of which there are few: statistics count how often each occurs */
} assay_measure_type;

/* What a measure's function fills in: the member of its type. */
typedef union assay_measure_value {
    int64_t integer; /* also of ASSAY_MEASURE_BOOL */
    double number;
    char text[32]; /* NUL-terminated */
} assay_measure_value;

/* Reads the measure now. Called by the thread at begin and end of every region and interval, so it should be quick;
 * several threads may be in it at once; it must not block. Regions inside it are not recorded. */
typedef void (*assay_measure_read)(void *context, assay_measure_value *value);

/* Where a measure is taken; add them up. */
enum {
    ASSAY_MEASURE_REGIONS = 1,
    ASSAY_MEASURE_SECTIONS = 2,
    ASSAY_MEASURE_RUN = 4 /* by the background thread, every ASSAY_CAPTURE_PERIOD */
};

typedef struct assay_measure {
    const char *name;    /* up to 63 bytes; ASSAY_CAPTURE_MEASURES selects by it */
    const char *units;   /* "count", "s", "ms", "us", "ns", "B", "KiB", …; "text" for strings; NULL: count or text */
    const char *summary; /* a sentence, or NULL */
    assay_measure_type type;
    assay_measure_kind kind;
    int where; /* ASSAY_MEASURE_REGIONS and others; 0: all three */
    assay_measure_read read;
    void *context; /* handed to read */
} assay_measure;

#ifndef ASSAY_CAPTURE_DISABLED

#define ASSAY_CAPTURE_API __attribute__((visibility("default")))

/* ---- control: for programs that do not leave it to the environment ----------------------------------------------- */

/* Starts capturing into a file, named as in ASSAY_CAPTURE; the other settings are those of the environment. 1: on now.
 * 0: it is not, and standard error says why; also 0 where it was on already. */
ASSAY_CAPTURE_API int assay_capture_start(const char *path);

/* Writes everything, and ends the capture. exit() does it. */
ASSAY_CAPTURE_API void assay_capture_stop(void);

/* Waits until all that was recorded before the call is in the file (1 s at most). 1: it is, or capture is off. */
ASSAY_CAPTURE_API int assay_capture_flush(void);

/* A tag of the process: of all runs of the file whose threads are alive, and of later ones. The same name again
 * replaces the value; ';' in either, and '=' in the name, become '_'. May be called at any time, also before capture
 * starts. 0: no room for it. */
ASSAY_CAPTURE_API int assay_capture_tag(const char *name, const char *value);

/* The name of the calling thread's run (tag thread_name) instead of that of pthread_setname_np(). */
ASSAY_CAPTURE_API void assay_capture_thread(const char *name);

/* What the file says about the program; by default the name it was started by, and version "". NULL leaves one as it
 * is. */
ASSAY_CAPTURE_API void assay_capture_application(const char *name, const char *version);

/* Adds a measure. All strings are copied. Before the first region or interval of the process. 0: too late, too many
 * (16), a name that is there already, or nonsense. */
ASSAY_CAPTURE_API int assay_measure_add(const assay_measure *measure);

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* ASSAY_REGION(label): from here to the end of the scope; label is a string constant.
 * ASSAY_REGION_TAGGED(label, tags): the same with tags ("platform=F15;component=radar"), any string; it is copied. A
 * little slower. ASSAY_BEGIN(label), ASSAY_BEGIN_TAGGED(label, tags), ASSAY_END(label): the same by hand, on the same
 * thread; labels are string constants. */
#define ASSAY_REGION(label)              ASSAY_CAPTURE_SCOPE_(label, NULL, __COUNTER__)
#define ASSAY_REGION_TAGGED(label, tags) ASSAY_CAPTURE_SCOPE_(label, tags, __COUNTER__)
#define ASSAY_BEGIN(label)               ASSAY_BEGIN_TAGGED(label, NULL)
#define ASSAY_BEGIN_TAGGED(label, tags)                                                                                \
    do {                                                                                                               \
        static assay_capture_site assay_site_ = {"" label, 0, 0, NULL};                                                \
        if (ASSAY_CAPTURE_ON_()) (void)assay_capture_begin(&assay_site_, (tags));                                      \
    } while (0)
#define ASSAY_END(label)                                                                                               \
    do {                                                                                                               \
        static assay_capture_site assay_site_ = {"" label, 0, 0, NULL};                                                \
        if (ASSAY_CAPTURE_ON_()) assay_capture_end(&assay_site_);                                                      \
    } while (0)

/* The same for labels that are made at run time; they are copied. tags may be NULL. */
ASSAY_CAPTURE_API void assay_region_begin(const char *label, const char *tags);
ASSAY_CAPTURE_API void assay_region_end(const char *label);

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* A section: a kind of work whose intervals may overlap, as requests in flight do. All calls from any thread. */
typedef struct assay_section assay_section;
typedef uint64_t assay_interval; /* 0: not recorded */

/* tags may be NULL; label and tags are copied. May be called while capture is off, too. NULL where memory is out, which
 * the other calls accept. */
ASSAY_CAPTURE_API assay_section *assay_section_create(const char *label, const char *tags);

/* No call may use the section any more; intervals that are open stay unfinished in the file. */
ASSAY_CAPTURE_API void assay_section_free(assay_section *section);

ASSAY_CAPTURE_API assay_interval assay_section_begin(assay_section *section);
ASSAY_CAPTURE_API void assay_section_end(assay_section *section, assay_interval interval);

/* ASSAY_INTERVAL(section): an interval from here to the end of the scope. */
#define ASSAY_INTERVAL(section) ASSAY_CAPTURE_INTERVAL_(section, __COUNTER__)

/* ---- what the macros are made of: not to be used directly -------------------------------------------------------- */

typedef struct assay_capture_site {
    const char *label;
    unsigned state;   /* the value of assay_capture_state for which recorded holds */
    int recorded;     /* whether the filter lets it through */
    const void *name; /* the library's copy of the label */
} assay_capture_site;

/* A region in progress: which of the thread's open ones, of which capture. level 0: not recorded. */
typedef struct assay_capture_scope {
    uint16_t level, thread;
    unsigned state;
} assay_capture_scope;

typedef struct assay_capture_span {
    assay_section *section;
    assay_interval interval;
} assay_capture_span;

ASSAY_CAPTURE_API extern unsigned
    assay_capture_state; /* 0: off; otherwise a number that each start of a capture changes */
ASSAY_CAPTURE_API assay_capture_scope assay_capture_begin(assay_capture_site *site, const char *tags);
ASSAY_CAPTURE_API void assay_capture_end(assay_capture_site *site);
ASSAY_CAPTURE_API void assay_capture_leave(assay_capture_scope scope);

#define ASSAY_CAPTURE_ON_()         __builtin_expect(__atomic_load_n(&assay_capture_state, __ATOMIC_RELAXED) != 0, 0)
#define ASSAY_CAPTURE_JOIN_(a, b)   ASSAY_CAPTURE_JOIN_2_(a, b)
#define ASSAY_CAPTURE_JOIN_2_(a, b) a##b

#ifdef __cplusplus
} /* extern "C" */

class assay_capture_region_ {
  public:
    assay_capture_region_(assay_capture_site *site, const char *tags) : scope_() {
        if (ASSAY_CAPTURE_ON_()) scope_ = assay_capture_begin(site, tags);
    }
    ~assay_capture_region_() {
        if (__builtin_expect(scope_.level != 0, 0)) assay_capture_leave(scope_);
    }

  private:
    assay_capture_region_(const assay_capture_region_ &);
    assay_capture_region_ &operator=(const assay_capture_region_ &);
    assay_capture_scope scope_;
};

class assay_capture_interval_ {
  public:
    explicit assay_capture_interval_(assay_section *section)
        : section_(section), interval_(ASSAY_CAPTURE_ON_() ? assay_section_begin(section) : 0) {}
    ~assay_capture_interval_() {
        if (__builtin_expect(interval_ != 0, 0)) assay_section_end(section_, interval_);
    }

  private:
    assay_capture_interval_(const assay_capture_interval_ &);
    assay_capture_interval_ &operator=(const assay_capture_interval_ &);
    assay_section *section_;
    assay_interval interval_;
};

#define ASSAY_CAPTURE_SCOPE_(label, tags, number) ASSAY_CAPTURE_SCOPE_2_(label, tags, number)
#define ASSAY_CAPTURE_SCOPE_2_(label, tags, number)                                                                    \
    static assay_capture_site assay_site_##number = {"" label, 0, 0, NULL};                                            \
    const assay_capture_region_ assay_scope_##number(&assay_site_##number, (tags))
#define ASSAY_CAPTURE_INTERVAL_(section, number)                                                                       \
    const assay_capture_interval_ ASSAY_CAPTURE_JOIN_(assay_span_, number)(section)

extern "C" {
#else

static inline assay_capture_scope assay_capture_enter_(assay_capture_site *site, const char *tags) {
    assay_capture_scope scope = {0, 0, 0};
    if (ASSAY_CAPTURE_ON_()) scope = assay_capture_begin(site, tags);
    return scope;
}

static inline void assay_capture_leave_(const assay_capture_scope *scope) {
    if (__builtin_expect(scope->level != 0, 0)) assay_capture_leave(*scope);
}

static inline assay_capture_span assay_capture_open_(assay_section *section) {
    assay_capture_span span = {section, 0};
    if (ASSAY_CAPTURE_ON_()) span.interval = assay_section_begin(section);
    return span;
}

static inline void assay_capture_close_(const assay_capture_span *span) {
    if (__builtin_expect(span->interval != 0, 0)) assay_section_end(span->section, span->interval);
}

#define ASSAY_CAPTURE_SCOPE_(label, tags, number) ASSAY_CAPTURE_SCOPE_2_(label, tags, number)
#define ASSAY_CAPTURE_SCOPE_2_(label, tags, number)                                                                    \
    static assay_capture_site assay_site_##number = {"" label, 0, 0, NULL};                                            \
    const assay_capture_scope assay_scope_##number __attribute__((cleanup(assay_capture_leave_), unused)) =            \
        assay_capture_enter_(&assay_site_##number, (tags))
#define ASSAY_CAPTURE_INTERVAL_(section, number)                                                                       \
    const assay_capture_span ASSAY_CAPTURE_JOIN_(assay_span_, number)                                                  \
        __attribute__((cleanup(assay_capture_close_), unused)) = assay_capture_open_(section)

#endif

#else /* ASSAY_CAPTURE_DISABLED: nothing of it is left */

#define ASSAY_REGION(label)              ((void)0)
#define ASSAY_REGION_TAGGED(label, tags) ((void)sizeof(tags))
#define ASSAY_BEGIN(label)               ((void)0)
#define ASSAY_BEGIN_TAGGED(label, tags)  ((void)sizeof(tags))
#define ASSAY_END(label)                 ((void)0)
#define ASSAY_INTERVAL(section)          ((void)sizeof(section))

typedef struct assay_section assay_section;
typedef uint64_t assay_interval;

static inline int assay_capture_start(const char *path) { return (void)path, 0; }
static inline void assay_capture_stop(void) {}
static inline int assay_capture_flush(void) { return 1; }
static inline int assay_capture_tag(const char *name, const char *value) { return (void)name, (void)value, 1; }
static inline void assay_capture_thread(const char *name) { (void)name; }
static inline void assay_capture_application(const char *name, const char *version) { (void)name, (void)version; }
static inline int assay_measure_add(const assay_measure *measure) { return (void)measure, 1; }
static inline void assay_region_begin(const char *label, const char *tags) { (void)label, (void)tags; }
static inline void assay_region_end(const char *label) { (void)label; }
static inline assay_section *assay_section_create(const char *label, const char *tags) {
    return (void)label, (void)tags, (assay_section *)NULL;
}
static inline void assay_section_free(assay_section *section) { (void)section; }
static inline assay_interval assay_section_begin(assay_section *section) { return (void)section, (assay_interval)0; }
static inline void assay_section_end(assay_section *section, assay_interval interval) { (void)section, (void)interval; }

#endif

#ifdef __cplusplus
}
#endif

#endif
