/* assay-mpi: mpirun -n 4 assay-mpi model big.jsonl -o out.extra-p. The command line of assay; scaling models are fitted
 * by all processes. */
#include <stdio.h>
#include <unistd.h>

#include "mpi/world.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    as_world world;
    if (!as_world_open(&world)) {
        dprintf(STDERR_FILENO, "assay: memory is out\n");
        MPI_Abort(MPI_COMM_WORLD, AS_EXIT_INPUT);
    }
    as_exit status = as_world_close(&world, as_command_run(argc, argv, &world.peers));
    MPI_Finalize();
    return (int)status;
}
