/* Large pages for large tables. */
#ifndef AS_CORE_LARGE_PAGES_H
#define AS_CORE_LARGE_PAGES_H

#include <stddef.h>

/* Asks for large pages for new memory, where it has some: the first touch of each of many small pages can cost more
 * than all that is done with them. Not for what realloc() may get, which then would copy it. */
void as_use_large_pages(void *data, size_t size);
/* The same for what calloc() gave, which is written here and there: each large page is had at once. What is read before
 * it is written would have a page of zeros that all share, and many small ones after it. */
void as_use_large_zeros(void *data, size_t size);

/* Arrays that have them, to be freed: n elements and one more, which nobody needs where there are some. NULL when
 * memory is out. */
void *as_large_array(size_t n, size_t size);
void *as_large_zeros(size_t n, size_t size);

#endif
