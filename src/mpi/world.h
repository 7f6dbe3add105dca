/* The processes of one mpirun: how they share the fits, and how they end together.
 *
 * A process may fail before the others do, or alone. So each meeting begins with everybody saying how it stands: those
 * that want to exchange results learn of one that has ended, and end as well. Nobody waits for a process that will not
 * come. A process that dies is mpirun's to notice. */
#ifndef AS_MPI_WORLD_H
#define AS_MPI_WORLD_H

#include <mpi.h>

#include "cli/cli.h"

/* What a process says of itself at a meeting. */
typedef struct as_standing {
    int32_t is_over; /* it has come to the end of its command; else it wants to exchange results */
    int32_t status;  /* as_exit */
} as_standing;

typedef struct as_world {
    as_peers peers;
    as_standing *standings; /* of all processes */
    uint64_t *sizes;        /* bytes each process has to send */
    bool is_settled;        /* how the command ends is known to all: no more meetings */
    as_exit status;         /* once settled */
} as_world;

/* After MPI_Init(). False when memory is out. */
bool as_world_open(as_world *world);
/* The command is over here: waits for the others, and gives the status all of them end with. The first process prints
 * the error of another one, if that is how it ended. */
as_exit as_world_close(as_world *world, as_exit status);

#endif
