/* Writing profiles: what as_format_perun needs besides as_perun_write() (perun.h), and what the parts of the writer
 * share. */
#ifndef AS_FORMATS_PERUN_WRITE_H
#define AS_FORMATS_PERUN_WRITE_H

#include "formats/perun/perun.h"

/* ---- for as_format_perun ----------------------------------------------------------------------------------------- */

extern const as_option as_perun_write_options[];
enum {
    AS_PERUN_HOLDS = AS_HOLDS_VALUES | AS_HOLDS_MODELS | AS_HOLDS_RECORDS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS |
                     AS_HOLDS_SOURCE | AS_HOLDS_ENDS | AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN
};
void as_perun_losses(const as_dataset *ds, as_losses *losses);
void as_perun_remarks(const as_dataset *ds, const as_options *options, as_losses *remarks);

/* The profile that the dataset is, with all its regions; NULL: it was not read from one, and is written like that of
 * any other format. */
const as_perun_profile *as_perun_whole_profile(const as_dataset *ds);

/* ---- text (write_text.c) ----------------------------------------------------------------------------------------- */

/* As Python writes it: 2.0 stays a real, and NaN and Infinity are spelled so. */
void as_perun_write_real(as_output *out, double value);
void as_perun_write_number(as_output *out, as_number number);
void as_perun_write_cell(as_output *out, as_cell cell);
/* A string of the dataset in quotes. */
void as_perun_write_str(as_output *out, const as_dataset *ds, as_str text);
static inline void as_perun_write_raw(as_output *out, as_raw_json text) { as_output_write(out, text.text, text.size); }

/* Regions, a line each, in braces. */
typedef struct as_region_list {
    as_output *out;
    size_t n;
} as_region_list;
/* Begins the next one: its value is written then. */
void as_region_begin(as_region_list *list, const char *key, size_t size);
static inline void as_region_named(as_region_list *list, const char *key) { as_region_begin(list, key, strlen(key)); }
void as_region_end(as_region_list *list);

/* The members of an object, or the elements of an array, one after the other. The text was read once and is sound. */
typedef struct as_raw_items {
    as_json json;
    as_raw_json key; /* of the current member, without quotes, escapes resolved; valid until the next call */
    as_raw_json value;
} as_raw_items;
/* False: the text is neither. budget may be NULL. as_raw_items_end() in every case. */
bool as_raw_items_begin(as_raw_items *items, as_raw_json text, as_budget *budget);
bool as_raw_items_next(as_raw_items *items);
/* Whether memory was out on the way. */
bool as_raw_items_end(as_raw_items *items);
static inline bool as_raw_is(as_raw_json text, const char *known) {
    return text.size == strlen(known) && memcmp(text.text, known, text.size) == 0;
}
/* The member of this name of an object; size 0: none. *fine is cleared when memory is out. */
as_raw_json as_raw_member(as_raw_json object, const char *key, as_budget *budget, bool *fine);
/* '{', '[' or what else the value begins with; 0: there is none. */
static inline char as_raw_begins(as_raw_json text) { return text.size ? *text.text : 0; }

/* ---- the ways to write ------------------------------------------------------------------------------------------- */

/* The regions as they are, but for the edits (write_edit.c). */
assay_status as_perun_write_edited(as_writer *writer, const as_perun_profile *profile, const as_perun_edits *edits);
/* In the other layout (write_layout.c and its neighbours). */
assay_status as_perun_write_layout(as_writer *writer, const as_perun_profile *profile, bool is_new);
/* Whether rows change their places in the new layout. False when memory is out, too. */
bool as_perun_reorders(const as_dataset *ds, const as_perun_profile *profile);
/* A dataset of another format (write_foreign.c). */
assay_status as_perun_write_foreign(as_writer *writer, const as_perun_edits *edits, bool is_new);
void as_perun_foreign_losses(const as_dataset *ds, as_losses *losses);
void as_perun_foreign_remarks(const as_dataset *ds, as_losses *remarks);

/* Any dataset but a store's. */
assay_status as_perun_write_alone(as_writer *writer, const as_perun_edits *edits);
/* One profile of a store, the one of this run (text of an option; "": the only one), with all its regions
 * (write_stored.c). */
bool as_perun_is_store(const as_dataset *ds);
assay_status as_perun_write_stored(as_writer *writer, const char *run_text);
void as_perun_stored_losses(const as_dataset *store, as_losses *losses);

#endif
