/* Several processes that carry out one command together (assay-mpi). All run the same verb with the same arguments; the
 * first one alone prints and writes. */
#ifndef AS_CLI_PEERS_H
#define AS_CLI_PEERS_H

#include "analysis/scaling/fit.h"

typedef struct as_peers {
    as_fit_share share; /* index 0: the first process */
    unsigned threads; /* that each process should use, so that those of one machine do not get into each other's way */
    char failure[2048]; /* what a process other than the first would have printed as its error */
} as_peers;

#endif
