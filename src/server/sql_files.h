/* The files that SQLite sets things aside in while it sorts: nameless, in the temporary directory, gone with the
 * statement. A thread may write so much to them and no more. */
#ifndef AS_SERVER_SQL_FILES_H
#define AS_SERVER_SQL_FILES_H

#include <stdint.h>

/* From now on this thread may write `bytes` to such files of connections that are opened from now on; then SQLite says
 * that the disk is full. Threads that never called this have no limit. */
void as_sql_limit_files(uint64_t bytes);

#endif
