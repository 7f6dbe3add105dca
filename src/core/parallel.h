/* Independent pieces of work on several threads. */
#ifndef AS_CORE_PARALLEL_H
#define AS_CORE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

/* Cores this process may use, at least 1. */
unsigned as_core_count(void);

/* Calls work(user, i) for i = 0 … n - 1, each once, on up to `threads` threads (0: as many as there are cores) of which
 * the caller is one. Which thread does what is not fixed: work must write only to what belongs to its i. Returns when
 * all is done. Where no thread can be made the caller does it alone. */
void as_parallel(size_t n, unsigned threads, void (*work)(void *user, size_t i), void *user);

#endif
