/* A small simulation that records itself with libassay-capture: particles in a box attract each other.
 *
 *     ASSAY_CAPTURE=particles-%p.afperf build/examples/capture/particles-example 400
 *     assay tree particles-*.afperf
 *
 * Run at several sizes, the tag size=N of each run is a parameter: assay model -O parameter=tag:size particles-*.afperf
 *
 * Regions: simulate, and in it step (with its number as a tag), forces (all pairs: N^2), move (N), sort (N log N). The
 * section "near the wall" has an interval for every particle that comes close to a wall, until it leaves it: they
 * overlap. The measure "pairs" counts. */
#include <assay/capture.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20 };
static const double wall = 0.02, time_step = 1e-3;

typedef struct particle {
    double position[2], speed[2], force[2];
    assay_interval near_wall; /* 0: it is not */
} particle;

static int64_t pairs; /* looked at so far */

static void read_pairs(void *context, assay_measure_value *value) {
    (void)context;
    value->integer = pairs;
}

static double chance(void) {
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(1ull << 53);
}

static void forces(particle *all, int n) {
    ASSAY_REGION("forces");
    for (int i = 0; i < n; i++) {
        double x = 0, y = 0;
        for (int k = 0; k < n; k++) {
            double dx = all[k].position[0] - all[i].position[0], dy = all[k].position[1] - all[i].position[1];
            double square = dx * dx + dy * dy + 1e-4, strength = 1 / (square * sqrt(square));
            x += dx * strength;
            y += dy * strength;
        }
        all[i].force[0] = x / n;
        all[i].force[1] = y / n;
        pairs += n;
    }
}

static void move(particle *all, int n, assay_section *near_wall) {
    ASSAY_REGION("move");
    for (int i = 0; i < n; i++) {
        particle *p = &all[i];
        int near = 0;
        for (int d = 0; d < 2; d++) {
            p->speed[d] += p->force[d] * time_step;
            p->position[d] += p->speed[d] * time_step;
            if (p->position[d] < 0 || p->position[d] > 1) p->speed[d] = -p->speed[d];
            near |= p->position[d] < wall || p->position[d] > 1 - wall;
        }
        if (near && !p->near_wall) {
            p->near_wall = assay_section_begin(near_wall);
        } else if (!near && p->near_wall) {
            assay_section_end(near_wall, p->near_wall);
            p->near_wall = 0;
        }
    }
}

static int by_position(const void *a, const void *b) {
    double x = ((const particle *)a)->position[0], y = ((const particle *)b)->position[0];
    return (x > y) - (x < y);
}

/* Neighbours in the box are neighbours in memory. */
static void sort(particle *all, int n) {
    ASSAY_REGION("sort");
    qsort(all, (size_t)n, sizeof *all, by_position);
}

static void simulate(particle *all, int n, assay_section *near_wall) {
    ASSAY_REGION("simulate");
    for (int step = 0; step < STEPS; step++) {
        char tags[40];
        snprintf(tags, sizeof tags, "number=%d", step);
        ASSAY_REGION_TAGGED("step", tags);
        forces(all, n);
        move(all, n, near_wall);
        if (step % 4 == 0) sort(all, n);
    }
    for (int i = 0; i < n; i++) assay_section_end(near_wall, all[i].near_wall);
}

int main(int count, char **arguments) {
    long n = count == 2 ? strtol(arguments[1], NULL, 10) : 0;
    if (n < 2 || n > 100000) {
        fprintf(stderr, "usage: %s NUMBER_OF_PARTICLES (2 to 100000)\n", arguments[0]);
        return 2;
    }
    static const assay_measure measure = {"pairs",
                                          NULL,
                                          "pairs of particles looked at",
                                          ASSAY_MEASURE_INT64,
                                          ASSAY_MEASURE_DURATION,
                                          ASSAY_MEASURE_REGIONS,
                                          read_pairs,
                                          NULL};
    assay_measure_add(&measure);
    assay_capture_tag("size", arguments[1]);
    assay_section *near_wall = assay_section_create("near the wall", NULL);
    particle *all = calloc((size_t)n, sizeof *all);
    if (!all) return 1;
    for (long i = 0; i < n; i++)
        for (int d = 0; d < 2; d++) all[i].position[d] = chance();
    simulate(all, (int)n, near_wall);
    double energy = 0;
    for (long i = 0; i < n; i++) energy += all[i].speed[0] * all[i].speed[0] + all[i].speed[1] * all[i].speed[1];
    printf("%ld particles, kinetic energy %.6g\n", n, energy / 2);
    free(all);
    assay_section_free(near_wall);
    return 0;
}
