/* Measures three well-known kernels at several sizes and prints what it found as an Extra-P text file:
 *
 *     build/examples/measure-example > examples/kernels.txt        (about five seconds)
 *     build/examples/measure-example 64 128 256 > my.txt           (other sizes)
 *
 * One parameter, n: matrices are n x n; sort and join work on 1000 n keys. Two metrics for each call path, children
 * included: time in seconds, and operations: comparisons, multiplications or looks into a slot of the hash table, which
 * are exact. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 5, MAX_SIZES = 32, KEYS_PER_N = 1000, SMALL_RUN = 16 };

typedef enum { MAIN, SORT, INSERTION, MERGE, MATRIX, FILL, MULTIPLY, JOIN, BUILD, PROBE, N_PATHS } path;
static const char *const paths[N_PATHS] = {
    "main",
    "main->sort",
    "main->sort->insertion",
    "main->sort->merge",
    "main->matrix",
    "main->matrix->fill",
    "main->matrix->multiply",
    "main->join",
    "main->join->build",
    "main->join->probe",
};
static const path parents[N_PATHS] = {MAIN, MAIN, SORT, SORT, MAIN, MATRIX, MATRIX, MAIN, JOIN, JOIN};

typedef struct {
    double time[N_PATHS];
    uint64_t operations[N_PATHS];
} measurement;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The same keys in every run, so that operations only depend on n. */
static uint64_t random_state;
static uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("measure-example: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

/* Adds what was done since start to a leaf and to all above it. */
static void add(measurement *m, path leaf, double start, uint64_t operations) {
    double time = now() - start;
    for (path p = leaf;; p = parents[p]) {
        m->time[p] += time;
        m->operations[p] += operations;
        if (p == MAIN) return;
    }
}

/* ---- sort: insertion sort of short runs, then merging of runs twice as long each time ---------------------------- */

static uint64_t insertion_sort(uint32_t *keys, size_t n) {
    uint64_t comparisons = 0;
    for (size_t i = 1; i < n; i++) {
        uint32_t key = keys[i];
        size_t j = i;
        while (j > 0) {
            comparisons++;
            if (keys[j - 1] <= key) break;
            keys[j] = keys[j - 1];
            j--;
        }
        keys[j] = key;
    }
    return comparisons;
}

static uint64_t merge_runs(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, uint32_t *out) {
    uint64_t comparisons = 0;
    size_t i = 0, j = 0;
    while (i < n_a && j < n_b) {
        comparisons++;
        *out++ = b[j] < a[i] ? b[j++] : a[i++];
    }
    memcpy(out, a + i, (n_a - i) * sizeof *a);
    memcpy(out + (n_a - i), b + j, (n_b - j) * sizeof *b);
    return comparisons;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static uint64_t measure_sort(size_t n, measurement *m) {
    uint32_t *keys = allocate(n, sizeof *keys), *other = allocate(n, sizeof *other);
    for (size_t i = 0; i < n; i++) keys[i] = next_random();

    double start = now();
    uint64_t comparisons = 0;
    for (size_t i = 0; i < n; i += SMALL_RUN) comparisons += insertion_sort(keys + i, smaller(SMALL_RUN, n - i));
    add(m, INSERTION, start, comparisons);

    start = now();
    comparisons = 0;
    for (size_t run = SMALL_RUN; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t n_a = smaller(run, n - i), n_b = smaller(run, n - i - n_a);
            comparisons += merge_runs(keys + i, n_a, keys + i + n_a, n_b, other + i);
        }
        uint32_t *sorted = other;
        other = keys;
        keys = sorted;
    }
    add(m, MERGE, start, comparisons);
    uint64_t check = keys[n / 2];
    free(keys);
    free(other);
    return check;
}

/* ---- matrix product ---------------------------------------------------------------------------------------------- */

static uint64_t measure_matrix(size_t n, measurement *m) {
    double *a = allocate(n * n, sizeof *a), *b = allocate(n * n, sizeof *b), *c = allocate(n * n, sizeof *c);
    double start = now();
    for (size_t i = 0; i < n * n; i++) {
        a[i] = (double)next_random() * 0x1p-31;
        b[i] = (double)next_random() * 0x1p-31;
    }
    add(m, FILL, start, 2 * n * n);

    start = now();
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    add(m, MULTIPLY, start, n * n * n);
    uint64_t check = (uint64_t)c[n * n - 1];
    free(a);
    free(b);
    free(c);
    return check;
}

/* ---- hash join: a table of one side's keys, open addressing, looked up with those of the other ------------------- */

static uint64_t slot_of(uint32_t key, size_t n_slots, const uint32_t *table, uint64_t *looks) {
    size_t slot = (size_t)(((uint64_t)key * 2654435769u) & 0xffffffffu) % n_slots;
    for (;;) {
        ++*looks;
        if (table[slot] == 0 || table[slot] == key) return slot;
        slot = slot + 1 == n_slots ? 0 : slot + 1;
    }
}

static uint64_t measure_join(size_t n, measurement *m) {
    size_t n_slots = 2 * n + 1;
    uint32_t *left = allocate(n, sizeof *left), *right = allocate(n, sizeof *right),
             *table = allocate(n_slots, sizeof *table);
    for (size_t i = 0; i < n; i++) {
        left[i] = 1 + next_random() % (uint32_t)(4 * n);
        right[i] = 1 + next_random() % (uint32_t)(4 * n);
    }

    double start = now();
    uint64_t looks = 0;
    for (size_t i = 0; i < n; i++) table[slot_of(left[i], n_slots, table, &looks)] = left[i];
    add(m, BUILD, start, looks);

    start = now();
    looks = 0;
    uint64_t matches = 0;
    for (size_t i = 0; i < n; i++) matches += table[slot_of(right[i], n_slots, table, &looks)] != 0;
    add(m, PROBE, start, looks);
    free(left);
    free(right);
    free(table);
    return matches;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void print_metric(const char *name, const measurement *all, size_t n_sizes) {
    printf("\nMETRIC %s\n", name);
    for (int p = 0; p < N_PATHS; p++) {
        printf("REGION %s\n", paths[p]);
        for (size_t s = 0; s < n_sizes; s++) {
            printf("DATA");
            for (size_t r = 0; r < REPETITIONS; r++) {
                const measurement *m = &all[s * REPETITIONS + r];
                if (*name == 't')
                    printf(" %.9f", m->time[p]);
                else
                    printf(" %llu", (unsigned long long)m->operations[p]);
            }
            putchar('\n');
        }
    }
}

int main(int argc, char **argv) {
    size_t sizes[MAX_SIZES] = {128, 256, 384, 512, 768, 1024}, n_sizes = 6;
    if (argc > 1) {
        n_sizes = smaller((size_t)argc - 1, MAX_SIZES);
        for (size_t i = 0; i < n_sizes; i++) sizes[i] = strtoul(argv[i + 1], NULL, 10);
    }
    for (size_t i = 0; i < n_sizes; i++) {
        if (sizes[i] < 2 || sizes[i] > 4096) {
            fputs("usage: measure-example [N…]    sizes from 2 to 4096\n", stderr);
            return 2;
        }
    }
    measurement *all = allocate(n_sizes * REPETITIONS, sizeof *all);
    uint64_t check = 0;
    /* One round over the sizes is one repetition: a disturbance hits one repetition of several sizes, not all of one.
     * The first round warms up. */
    for (size_t r = 0; r <= REPETITIONS; r++) {
        for (size_t s = 0; s < n_sizes; s++) {
            measurement m = {0};
            random_state = sizes[s];
            check += measure_sort(sizes[s] * KEYS_PER_N, &m) + measure_matrix(sizes[s], &m) +
                     measure_join(sizes[s] * KEYS_PER_N, &m);
            if (r > 0) all[s * REPETITIONS + r - 1] = m;
        }
    }
    printf("# Sorting, matrix product and hash join at %zu sizes, %d repetitions. Repeat it with: "
           "build/examples/measure-example\n",
           n_sizes, REPETITIONS);
    printf("# n: matrices are n x n, sort and join work on %d n keys; time: seconds; operations: counted. Children "
           "included.\n",
           KEYS_PER_N);
    printf("# Compiler %s; checksum %llu\n", __VERSION__, (unsigned long long)check);
    printf("PARAMETER n\nPOINTS");
    for (size_t s = 0; s < n_sizes; s++) printf(" %zu", sizes[s]);
    putchar('\n');
    print_metric("time", all, n_sizes);
    print_metric("operations", all, n_sizes);
    free(all);
    return 0;
}
