/* Writing AFPerf: captures that were read, one behind the other in a container, and datasets of other formats.
 *
 * A capture is written from its text: the same records in the same order, spelled as the project does it, whatever they
 * mean. Where several come together, or one comes behind a file that exists, ids of the later ones that others use as
 * well are replaced (as_af_renumbering). */
#ifndef AS_FORMATS_AFPERF_WRITE_H
#define AS_FORMATS_AFPERF_WRITE_H

#include "core/map.h"
#include "formats/afperf/scan.h"
#include "formats/format.h"

/* ---- the format's functions (write.c, write_container.c) --------------------------------------------------------- */

/* Any dataset; behind writer->existing where there is one. */
assay_status as_af_write(as_writer *writer);
void as_af_losses(const as_dataset *ds, as_losses *losses);
void as_af_remarks(const as_dataset *ds, const as_options *options, as_losses *remarks);
/* Captures that were read as one: a container of all their runs. */
assay_status as_af_merge(const as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error);

/* ---- captures as text -------------------------------------------------------------------------------------------- */

typedef struct as_af_part {
    const char *name; /* of its file, for messages */
    const char *data;
    size_t size;
    bool keeps_extra; /* some run has a later minor version: fields beyond the format are fields of that version */
} as_af_part;

/* The text of a capture that was read; false: the dataset is none. */
bool as_af_part_of(const as_dataset *ds, as_af_part *out);

/* Writes it behind writer->existing. */
assay_status as_af_append_part(as_writer *writer, const as_af_part *part);

/* ---- ids of several captures (write_ids.c) ----------------------------------------------------------------------- */

/* What a field's number is the id of. Those of measurements and intervals only mean something within their run or
 * section, and stay. */
typedef enum as_af_space { AS_AF_RUNS, AS_AF_REGIONS, AS_AF_SECTIONS, AS_AF_N_SPACES, AS_AF_NO_SPACE } as_af_space;
/* Field `field` of the record, counted as in its format. */
as_af_space as_af_space_of(as_af_type type, size_t field);
/* Whether it is an aggregate of many: its record id may be that of a run. */
bool as_af_is_processed(const as_af_record *record);

typedef struct as_af_renumbering {
    as_map owners[AS_AF_N_SPACES]; /* id -> the first part that has it */
    struct as_af_part_ids {
        as_map runs;                     /* that it defines */
        as_map replaced[AS_AF_N_SPACES]; /* id -> number of the new one */
    } * parts;
    size_t n_parts;
    uint32_t n_new;
    uint64_t first_new;
    uint64_t largest[64]; /* by the highest 6 bits of an id: the largest one, if any */
    uint64_t is_used;     /* a bit for each of them */
    as_budget *budget;
} as_af_renumbering;

/* Finds out which ids of which part must be replaced. existing: what is in the file already, and stays as it is; or
 * NULL. as_af_renumbering_free() in every case. */
assay_status as_af_renumber(as_af_renumbering *ids, const as_af_part *parts, size_t n, const as_af_part *existing,
                            as_budget *budget, assay_error *error);
void as_af_renumbering_free(as_af_renumbering *ids);
/* What stands for an id of a part. */
uint64_t as_af_id_of(const as_af_renumbering *ids, size_t part, as_af_space space, bool is_processed, uint64_t id);
/* An id that nobody defines, for those a part leaves blank before its first run: they must not become somebody
 * else's. */
uint64_t as_af_id_of_nobody(const as_af_renumbering *ids, size_t part);

/* ---- records (write_records.c) ----------------------------------------------------------------------------------- */

/* Writes the records of a part, without a signature. ids NULL: it stands alone, and ids stay; else it is part number
 * `part` of these, and where follows is set not the first in its file. */
assay_status as_af_write_records(const as_af_part *text, const as_af_renumbering *ids, size_t part, bool follows,
                                 as_output *out, as_budget *budget, assay_error *error);
/* The error of a text that cannot be scanned to its end. */
assay_status as_af_fail_scan(const as_af_part *text, as_af_step step, size_t fault, assay_error *error);

/* A field, in quotes where it needs them. */
void as_af_put_text(as_output *out, const char *text, size_t size);

/* ---- datasets of other formats (write_tree.c, write_events.c …) -------------------------------------------------- */

/* A whole file, signature included. */
assay_status as_af_write_foreign(as_writer *writer);
void as_af_foreign_losses(const as_dataset *ds, as_losses *losses);
void as_af_foreign_remarks(const as_dataset *ds, as_losses *remarks);

#endif
