/* What makes the hash tables of this process its own: whoever writes a file cannot know which of its keys would collide
 * in them. */
#ifndef AS_CORE_SEED_H
#define AS_CORE_SEED_H

#include <stdint.h>

/* The same in all of a process, another one in each. Nothing that is shown or written may depend on it. */
uint64_t as_seed(void);

#endif
