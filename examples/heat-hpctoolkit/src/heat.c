/* Heat on a plate: MPI between strips of it, two threads in each. The program whose profile lies beside this folder. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"

static int width = 4096, height = 4096, n_steps = 6, rank, n_ranks;
static double *now, *next;

static void read_input(const char *name) {
    FILE *in = rank == 0 ? fopen(name, "r") : NULL;
    if (in && fscanf(in, "%d %d %d", &width, &height, &n_steps) != 3) MPI_Abort(MPI_COMM_WORLD, 1);
    if (in) fclose(in);
    int sizes[] = {width, height, n_steps};
    MPI_Bcast(sizes, 3, MPI_INT, 0, MPI_COMM_WORLD);
}

static void fill(void) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) now[y * width + x] = x == 0 ? 100.0 : 20.0;
}

/* The first and the last line of a strip are its neighbours'. */
static void exchange(void) {
    int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < n_ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(now + width, width, MPI_DOUBLE, up, 0, now + (height - 1) * width, width, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + (height - 2) * width, width, MPI_DOUBLE, down, 1, now, width, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stencil(int first, int last) {
    for (int y = first; y < last; y++)
        for (int x = 1; x < width - 1; x++) {
            int i = y * width + x;
            next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width]);
        }
}

static void step(void) {
#pragma omp parallel sections
    {
#pragma omp section
        stencil(1, height / 2);
#pragma omp section
        stencil(height / 2, height - 1);
    }
}

static double residual(void) {
    double sum = 0, all;
    for (int i = width; i < (height - 1) * width; i++) sum += fabs(next[i] - now[i]);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void checkpoint(int number) {
    if (rank == 0) gpu_compress(now, width, height, number);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    read_input(argv[1]);
    height = height / n_ranks + 2;
    now = malloc(sizeof *now * width * height);
    next = malloc(sizeof *next * width * height);
    fill();
    for (int i = 1; i <= n_steps; i++) {
        exchange();
        step();
        if (residual() < 1e-3) break;
        if (i % 3 == 0) checkpoint(i);
        double *old = now;
        now = next;
        next = old;
    }
    MPI_Finalize();
    return 0;
}
