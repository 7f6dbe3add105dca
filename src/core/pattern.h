/* Regular expressions that search a text in time proportional to its length times the pattern's, whatever they are: no
 * backtracking.
 *
 * As in ECMAScript: . [a-z] [^a-z] [[:alpha:]] \d \w \s \D \W \S \t \n \r \f \v \xHH ^ $ \b \B ( ) (?: ) | * + ? {m}
 * {m,} {m,n}, and a ? behind a quantifier, which changes nothing here. Not: what refers back to a group, looks ahead or
 * behind. Texts are bytes. */
#ifndef AS_CORE_PATTERN_H
#define AS_CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct as_pattern as_pattern;

/* NULL where the text is no pattern, or memory is out (*why is then NULL): *why is a sentence, *at the byte it is
 * about. */
as_pattern *as_pattern_new(const char *text, size_t size, const char **why, size_t *at);
void as_pattern_free(as_pattern *pattern);
/* Whether the pattern matches anywhere in the text. */
bool as_pattern_search(const as_pattern *pattern, const char *text, size_t size);

#endif
