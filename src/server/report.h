/* The viewer's page as one file: the page itself, and inside it the answers to what its screens ask for (docs/viewer-api.md), packed.
 *
 * What a report has of a screen is decided by the screen's endpoints: as_endpoint.report asks for answers, the most telling first, as long as there is room. Nothing in the file depends on when or
 * where it was made. */
#ifndef AS_SERVER_REPORT_H
#define AS_SERVER_REPORT_H

#include "server/request.h"

typedef struct as_html_report as_html_report;

/* limit: bytes of the whole file. NULL when memory is out. The viewing must last. */
as_html_report *as_html_report_new(as_viewing *viewing, uint64_t limit);
void as_html_report_free(as_html_report *report);

typedef enum as_html_report_kept {
    AS_REPORT_KEPT,
    AS_REPORT_TOO_LARGE, /* for what is left: nothing was kept; ask for less */
    AS_REPORT_REFUSED    /* there is no such answer: nothing was kept */
} as_html_report_kept;

/* Keeps the answer to a request of n parameters, under the name by which the page asks for it: parameters by name, those of one name as they are given. Asking again changes nothing. */
as_html_report_kept as_html_report_keep(as_html_report *report, const char *path, const as_parameter *parameters,
                                        size_t n);
/* The same with no more than this part of what is left. */
as_html_report_kept as_html_report_keep_part(as_html_report *report, const char *path, const as_parameter *parameters,
                                             size_t n, double part);

/* A sentence for the reader about what was left out: "call paths under 0.1 % of the time". */
void as_html_report_note(as_html_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes that are left for what is to be kept, unpacked about ten times as much. */
uint64_t as_html_report_left(const as_html_report *report);

/* Asks every endpoint what to keep. False when memory is out. */
bool as_html_report_gather(as_html_report *report);
/* The notes so far, ended by NULL; borrowed. */
const char *const *as_html_report_notes(const as_html_report *report);
/* Writes the page. title: of the page; NULL: made of the names of the inputs. False when memory is out. */
bool as_html_report_write(as_html_report *report, const char *title, as_output *out);

#endif
