/* `assay stat` over occurrences: what is asked, and the answer in its shapes. */
#ifndef AS_CLI_OCCURRENCE_VIEW_H
#define AS_CLI_OCCURRENCE_VIEW_H

#include "analysis/occurrences.h"
#include "cli/answers.h"
#include "cli/group_by.h"
#include "cli/profile_choice.h"

typedef struct as_occurrence_view {
    as_cli *cli;
    const as_dataset *ds;
    const as_dataset *names; /* of the contexts of subjects: ds, or the groups */
    as_grouping grouping;
    as_pauses pauses;
    as_run_choice choice;
    bool *runs; /* that are looked at */
    size_t n_runs;
    as_occurrences found;
    assay_id context;    /* of --context; ASSAY_NONE: all */
    uint32_t *rows;      /* subjects, in the order in which they are shown */
    size_t n_rows;       /* that match */
    size_t limit;        /* rows to show; SIZE_MAX: all */
    size_t n_worst;      /* to show; 0: none but the time of the longest */
    bool shows_time;     /* --metric does not leave it out */
    bool *shows_measure; /* for each measure */
    bool is_exclusive, is_ascii;
    bool has_begun; /* something was printed */
    as_vec tags;    /* struct as_worst_tag: of all events in found.worst, by event */
} as_occurrence_view;

/* An attribute of an event; those of one are in the order of the source. */
typedef struct as_worst_tag {
    uint64_t event, attribute; /* attribute: of as_ds_any_attribute() */
} as_worst_tag;

/* Whether stat is about occurrences for this file: --over, else what it has. *over is set; a failure has its line. */
as_exit as_occurrences_chosen(as_cli *cli, const as_dataset *ds, bool *over);
/* The answer for one file. */
as_exit as_occurrences_answer(as_cli *cli, as_answers *answers, const as_dataset *ds, const char *path);
/* The columns of its rows (CSV, JSON Lines, Markdown), the first of which, "file", is left out where there is one file
 * only. */
const as_column *as_occurrence_columns(const as_cli *cli, size_t *n);

/* ---- inside ------------------------------------------------------------------------------------------------------ */

static inline const as_subject *as_occurrence_row(const as_occurrence_view *view, size_t row) {
    return &AS_AT(as_subject, &view->found.subjects, view->rows[row]);
}
static inline size_t as_occurrence_shown(const as_occurrence_view *view) {
    return view->n_rows < view->limit ? view->n_rows : view->limit;
}
/* "s", or the unit of the measure's metric; NULL: none. */
const char *as_measure_unit(const as_occurrence_view *view, uint32_t measure);
/* Its tags: *n of view->tags. */
const as_worst_tag *as_tags_of_worst(const as_occurrence_view *view, uint64_t event, size_t *n);
/* "2023-11-14T22:13:20.750000Z" of seconds since 1970; "" where they are not known. */
enum { AS_UTC_SIZE = 40 };
void as_utc_format(double seconds, char out[AS_UTC_SIZE]);
/* The call path of a subject, or its name, for programs; NULL where it is too long. text: to work with. *fine is
 * cleared when memory is out. */
const char *as_subject_path(const as_occurrence_view *view, const as_subject *subject, as_vec *text, bool *fine);
/* The name of the tag, or of the attribute; *is_tag says which. */
const char *as_tag_name(const as_dataset *ds, const as_attribute *attribute, bool *is_tag);

/* False when memory is out. */
bool as_occurrence_text(as_occurrence_view *view);
bool as_occurrence_json(as_builder *builder, const as_occurrence_view *view);
bool as_occurrence_rows(as_printer *printer, as_table *batch, const as_occurrence_view *view, const char *file);

#endif
