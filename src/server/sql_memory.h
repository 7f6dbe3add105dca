/* The memory that SQLite takes for statements of the viewer: all of them together have AS_SQL_MEMORY (sql_limits.h),
 * then SQLite says that memory is out. Whoever else uses SQLite in this process, such as readers of files that are
 * databases, has no limit and never feels theirs. */
#ifndef AS_SERVER_SQL_MEMORY_H
#define AS_SERVER_SQL_MEMORY_H

/* Before anybody uses SQLite. May be called again. */
void as_sql_memory_install(void);

/* What SQLite takes in this thread counts from now on, */
void as_sql_memory_begin(void);
/* and no more. */
void as_sql_memory_end(void);

#endif
