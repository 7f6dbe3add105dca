/* Names of directories of points, parsed by one rule or another, as a text. */
#ifndef AS_TESTS_POINT_NAMES_H
#define AS_TESTS_POINT_NAMES_H

#include <stdio.h>
#include <string.h>

#include "formats/points.h"

/* expected: "p=4 n=1.5 r2", or a part of what is wrong with it. */
static inline void assert_point_name(const char *(*parse)(const char *text, as_point_name *out), const char *name,
                                     const char *expected) {
    as_point_name parsed;
    const char *problem = parse(name, &parsed);
    char text[256] = "", *at = text;
    for (size_t i = 0; i < parsed.n && !problem; i++)
        at += sprintf(at, "%s%.*s=%g", i ? " " : "", (int)parsed.pairs[i].size, parsed.pairs[i].name,
                      parsed.pairs[i].value);
    if (!problem && parsed.repetition) sprintf(at, " r%d", (int)parsed.repetition);
    if (problem ? !strstr(problem, expected) : strcmp(text, expected) != 0)
        fail_msg("'%s': expected %s, got %s", name, expected, problem ? problem : text);
}

#endif
