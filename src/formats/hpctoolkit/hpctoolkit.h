/* What the readers of HPCToolkit databases share: whose generation an input is, where its directory lies, and opening
 * the files in it. */
#ifndef AS_FORMATS_HPCTOOLKIT_HPCTOOLKIT_H
#define AS_FORMATS_HPCTOOLKIT_HPCTOOLKIT_H

#include <limits.h>

#include "formats/format.h"

typedef enum as_hpc_generation {
    AS_HPC_NO_DATABASE,
    AS_HPC_GENERATION_XML,   /* experiment.xml below version 3, with values in it or in .metric-db files */
    AS_HPC_GENERATION_2021,  /* experiment.xml 4.0 with profile.db */
    AS_HPC_GENERATION_DRAFT, /* meta.db with metrics of 24 bytes, or with profile entries of 40 */
    AS_HPC_GENERATION_4      /* meta.db as released */
} as_hpc_generation;

/* For as_format.bid: the bits that speak for this generation, and 0 where another one has more of them. Looks at the
 * beginnings of the files of a directory, or of the directory that the file lies in; nothing else. */
int as_hpc_bid(const as_probe *probe, as_hpc_generation generation);

/* The directory of the database that the input is, or is a file of; "" for the current one. An error where the input
 * has no place, like standard input. */
assay_status as_hpc_directory(as_reader *reader, char directory[PATH_MAX]);

/* DIRECTORY/NAME. False where it is too long. */
bool as_hpc_path(const char *directory, const char *name, char path[PATH_MAX]);
/* Whether there is something of that name. */
bool as_hpc_has(const char *directory, const char *name);
/* An error where there is something else than a file: opening a pipe would wait for somebody to write. */
assay_status as_hpc_check_file(const char *path, assay_error *error);
/* Opens a file of the database, which stays open (and mapped, where it can be) as long as the dataset. Its size is
 * added to ds->input_size, unless it is the input itself. error: the reader's, or another where the file is not
 * needed. */
assay_status as_hpc_open_file(const as_reader *reader, const char *directory, const char *name, as_input **out,
                              assay_error *error);

/* Names are made of the paths of files and modules, one path being in many of them: all together may have only so many
 * bytes. */
typedef struct as_hpc_name_room {
    uint64_t left;
    bool was_too_small;
} as_hpc_name_room;

/* 64 MiB, and eight times the size of the metadata. */
static inline as_hpc_name_room as_hpc_name_room_of(size_t metadata_size) {
    return (as_hpc_name_room){.left = ((uint64_t)64 << 20) + 8 * (uint64_t)metadata_size};
}
/* False where a name has no room. */
static inline bool as_hpc_name_room_take(as_hpc_name_room *room, size_t size) {
    bool fits = size <= room->left;
    room->was_too_small |= !fits;
    if (fits) room->left -= size;
    return fits;
}
/* No name could be made: there was no room for it, or else memory is out. */
assay_status as_hpc_fail_name(const as_hpc_name_room *room, const char *path, assay_error *error);

#endif
