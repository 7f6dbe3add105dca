/* One line on stderr while something takes over half a second, if that is a terminal; gone when it is over. There is
 * one such line, so there is one state for the whole command. */
#ifndef AS_CLI_PROGRESS_H
#define AS_CLI_PROGRESS_H

#include <stdbool.h>

/* Work begins: "reading", "big.txt". Nested calls are not meant. */
void as_progress_begin(const char *doing, const char *what);
/* How far it is, 0 to 1; gives true. A progress function for assay_config and as_read_config. Work that never says so
 * shows its time instead. */
bool as_progress_step(void *unused, const char *stage, double fraction);
/* It is over, or something else is to be printed. Does nothing where nothing was begun. */
void as_progress_end(void);
/* Takes the line away. Async-signal-safe. */
void as_progress_erase(void);

#endif
