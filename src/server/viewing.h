/* What one viewer looks at: the inputs it was given, those dropped onto it, and what was made of them on the way.
 *
 * Everything here but the drops (drop.h) is used by one request at a time: as_viewing_lock() is held while a request is
 * answered. What takes long and only reads a dataset can do without (as_viewing_leave()). */
#ifndef AS_SERVER_VIEWING_H
#define AS_SERVER_VIEWING_H

#include <pthread.h>

#include "analysis/algebra/algebra.h"
#include "formats/format.h"

/* A file or directory that was opened. */
typedef struct as_view_input {
    char *path;               /* as it was given; of a dropped one its name */
    char *file;               /* where it lies */
    char *real_path;          /* of one whose path has no name: "."; else NULL */
    bool is_dropped;          /* it lies in the viewing's own folder, and no command can name it */
    as_dataset *ds;           /* NULL: it could not be read, or its files have changed since */
    assay_error error;        /* why not */
    bool is_dismissed;        /* that was seen: it is in no list any more */
    as_vec derives;           /* const char *: texts of as_viewing.derives and .asked; its last metrics are of these */
    size_t n_given;           /* the first so many of them are of as_viewing.derives */
    as_dataset *regrouped[3]; /* private: as_view_input_regroup() */
    unsigned n_readers;       /* private: requests that read the dataset without the viewing's lock */
    as_dataset *lost;         /* private: what ds was before its files changed; some may still read it */
} as_view_input;

/* The call tree by one of as_regrouping, as a dataset of its own; made once, the input's. */
assay_status as_view_input_regroup(as_view_input *input, as_regrouping by, as_dataset **out, assay_error *error);

/* The last part of its path. */
const char *as_view_input_name(const as_view_input *input);

/* A metric of --derive, or of a request. */
typedef struct as_view_derive {
    const char *text;             /* must last */
    bool is_used;                 /* an input has it */
    assay_error error;            /* why those without it have it not; with their names, where the reasons differ */
    const as_view_input *refused; /* the first of them */
    bool names_inputs;
} as_view_derive;

/* What formulas of requests may be; and all that ever came, whose texts stay with the datasets. */
enum { AS_MOST_DERIVES = 16, AS_LONGEST_DERIVE = 1000, AS_DERIVED_BYTES = 16 << 20 };

typedef struct as_viewing {
    as_vec inputs;               /* as_view_input *: their number is their name; none is ever removed */
    as_read_config config;       /* how dropped files are read, too */
    as_vec derives;              /* as_view_derive: metrics that inputs get where they have what these are made of */
    as_vec asked;                /* as_view_derive: those of the request at hand, whose texts are the viewing's */
    char *asked_words;           /* these as one text; NULL: there are none */
    size_t derived_bytes;        /* private: of all that ever came */
    uint64_t max_drop;           /* bytes that dropped files may have, all together */
    struct as_drops *drops;      /* drop.h; NULL: none yet */
    struct as_cache_entry *kept; /* private: what as_viewing_keep() keeps, last used first */
    uint64_t n_tables;           /* that were made: so they are numbered (tables.h) */
    size_t kept_bytes;
    size_t most_kept;   /* private: as_viewing_spend() */
    bool keeps_columns; /* what was loaded of a metric is kept, too: who asks about all views needs it again */
    uint64_t request;   /* private: number of the request at hand */
    unsigned n_lost;    /* private: inputs whose files have changed */
    const as_view_input *last_lost; /* private */
    pthread_mutex_t lock;
    pthread_cond_t left; /* private: a reader has left its input, or who waited for that has been answered */
    unsigned n_waiting;  /* private: requests that wait until nobody reads an input */
} as_viewing;

/* NULL when memory is out. config is copied; what it points to must last. From now on large arrays of the process go
 * back to the system when they are freed. Before anybody uses SQLite: sql_memory.h. */
as_viewing *as_viewing_new(const as_read_config *config);
/* Also removes what was dropped. NULL is fine. */
void as_viewing_free(as_viewing *viewing);

/* One request begins, and ends. */
void as_viewing_lock(as_viewing *viewing);
void as_viewing_unlock(as_viewing *viewing);

/* Gives the lock up for as long as a request only reads the dataset of this input, so that nobody waits for it; and
 * takes it again. In between, nobody changes the dataset, and the request uses nothing else of the viewing. */
void as_viewing_leave(as_viewing *viewing, as_view_input *input);
void as_viewing_return(as_viewing *viewing, as_view_input *input);
/* Who wants to leave lets those go first that wait until nobody reads a dataset: else they would wait as long as others
 * come. True: as of as_viewing_wait_alone(). Not between leaving and returning. */
bool as_viewing_wait_turn(as_viewing *viewing);
/* Waits until nobody reads the dataset that way: who changes it, if only for a while, asks for this first. True: others
 * were answered meanwhile, so that nothing found or kept before may be used behind it; the input may have other
 * formulas, or its files have changed. */
bool as_viewing_wait_alone(as_viewing *viewing, const as_view_input *input);

/* Reads `path` and adds it, whatever comes of it: what could not be read is an input with an error. name: what to call
 * it; NULL: its path. False when memory is out. */
bool as_viewing_open(as_viewing *viewing, const char *path, const char *name);

/* Of a dropped file an error says its name, not where it lies. */
void as_viewing_hide_folder(const as_viewing *viewing, assay_error *error);

/* Inputs whose files have changed while they were open are inputs with an error from now on. How many there have been:
 * who asked before looks again behind what it read, and believes it where the number is the same; else *error (may be
 * NULL) is that of the last one. */
unsigned as_viewing_lose_changed(as_viewing *viewing, assay_error *error);

/* From now on the inputs have metrics of these formulas behind those of as_viewing.derives, where they have what they
 * are made of, and none of others; as_viewing.asked says which have. Does nothing where that is so already; else waits
 * until nobody reads a dataset (as_viewing_wait_alone()). ASSAY_E_USAGE, ASSAY_E_UNSUPPORTED: there is more than there
 * may be. */
assay_status as_viewing_derive(as_viewing *viewing, const char *const *texts, size_t n, assay_error *error);
/* What belongs into the key of something made of a metric: "" of one that stays what it is; else all formulas that are
 * asked for, as its number may be that of another one tomorrow. */
const char *as_viewing_formulas_of(const as_viewing *viewing, const as_dataset *ds, assay_id metric);
/* The same of a name; NULL: the main one. */
const char *as_viewing_formulas_of_name(const as_viewing *viewing, const as_dataset *ds, const char *name);

static inline size_t as_viewing_inputs(const as_viewing *viewing) { return viewing->inputs.count; }
static inline as_view_input *as_viewing_input(const as_viewing *viewing, size_t i) {
    return AS_AT(as_view_input *, &viewing->inputs, i);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* Things that took a while to make (views, sums, fits) are kept under a text that says what they are, such as "tree 0
 * top-down 3 *", until all of them take more than AS_KEPT_LIMIT: then those not used for longest go. What the request
 * at hand found or kept stays until it ends; when it has ended, AS_LEFT_LIMIT is left at most. */
enum { AS_KEPT_LIMIT = 64 << 20, AS_LEFT_LIMIT = 90 << 20 };

/* For who asks many things in a row and then ends, as a report does: more is kept than AS_KEPT_LIMIT, and columns of
 * metrics with it. */
void as_viewing_spend(as_viewing *viewing, size_t bytes);

/* NULL: it is not there (any more). */
void *as_viewing_find(as_viewing *viewing, const char *key);
/* Says that something of about so many bytes is about to be made and kept: what would have to go then goes at once, and
 * does not take its room while it is made. */
void as_viewing_expect(as_viewing *viewing, size_t bytes);
/* The viewing owns object from now on, and calls release. False when memory is out: then it was released. */
bool as_viewing_keep(as_viewing *viewing, const char *key, void *object, size_t bytes, void (*release)(void *object));

/* What is kept under a key has grown to so many bytes. */
void as_viewing_resize(as_viewing *viewing, const char *key, size_t bytes);

/* The same as as_viewing_find(), and the caller owns it from now on: nobody else may use it any more. */
void *as_viewing_take(as_viewing *viewing, const char *key);

/* The same of the one used last among those whose keys begin so and that fit; fits: NULL: all do. */
void *as_viewing_take_like(as_viewing *viewing, const char *beginning,
                           bool (*fits)(const void *object, const void *user), const void *user);

/* Releases it at once, where it is there: nobody may use it any more. */
void as_viewing_forget(as_viewing *viewing, const char *key);

/* To the system what was freed: what is needed to make a table of a large tree is much more than the table, and nobody
 * needs it again soon. */
void as_give_back_memory(void);

#endif
