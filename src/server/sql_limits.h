/* What one statement of the viewer may take: time, memory, the sizes of values. Nobody else waits for it
 * (as_viewing_leave()), but it must end. */
#ifndef AS_SERVER_SQL_LIMITS_H
#define AS_SERVER_SQL_LIMITS_H

#include "query/query.h"
#include "server/request.h"

enum {
    AS_SQL_SECONDS = 20,
    AS_SQL_MEMORY = 64 << 20,   /* of all statements together */
    AS_SQL_FILES = 512 << 20,   /* bytes that one may write to temporary files, for sorting */
    AS_SQL_VALUE = 256 << 10,   /* bytes of one value, and of one row that is sorted */
    AS_SQL_STATEMENT = 64 << 10 /* bytes of its text */
};

/* A function that is called through the watch (sql_limits.c). */
typedef struct as_sql_guard {
    struct as_sql_watch *watch;
    sqlite3_stmt *call; /* SQLite's own */
    int n_arguments;    /* of the call */
} as_sql_guard;

enum { AS_SQL_GUARDS = 13 };

typedef struct as_sql_watch {
    const as_request *request;
    as_patience patience;               /* private: for tables */
    double begin, peeked;               /* seconds: when it began; when its client was last looked for */
    bool is_late, is_unwanted;          /* it was ended: it took too long; nobody waits for it */
    sqlite3 *plain;                     /* private: a connection whose functions are SQLite's own */
    as_sql_guard guards[AS_SQL_GUARDS]; /* private */
} as_sql_watch;

/* Seconds on a clock that only goes forward. */
double as_sql_now(void);

/* A connection of its own for one statement: what others do does not show in it, and nothing of it stays. The watch
 * must outlive it; as_sql_close_limited() in every case. */
assay_status as_sql_open_limited(as_dataset *ds, const as_request *request, as_sql_watch *watch, sqlite3 **out,
                                 assay_error *error);
void as_sql_close_limited(sqlite3 *db, as_sql_watch *watch);

#endif
