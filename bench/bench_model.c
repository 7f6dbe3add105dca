/* Scaling models of many call paths, next to the targets and to Extra-P.
 *
 * usage: bench_model [--large]      ASSAY names the command to time (its full path)
 *
 * Inputs are made here, in a temporary folder: functions of the search space with 2 % noise, 5 repetitions; with
 * --large also a million call paths (a text of 600 MB). Fits run on one thread, those of the large input on two. Where
 * the Python package extrap can be imported, it models a small part of each input, and the ratio is the one measured
 * here; otherwise it is to Extra-P's CPU seconds as they were measured elsewhere. */
#include "measuring.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { ROUNDS = 5, REPETITIONS = 5, MAX_PARAMETERS = 3 };

typedef struct shape {
    const char *title;
    int n_parameters, points_each, n_paths, sample; /* sample: call paths that Extra-P gets */
    unsigned threads;
    double extrap_fits, extrap_whole; /* Extra-P 4.2.5, CPU seconds on an AMD EPYC; 0: not measured */
    double target_fits, target_whole, target_peak;
} shape;

static const shape shapes[] = {
    {"1 parameter x 10 points x 10,000 call paths", 1, 10, 10000, 100, 1, 164, 177, 0.06, 0.25, 0},
    {"1 x 6 x 10,000", 1, 6, 10000, 100, 1, 108, 113, 0.03, 0.15, 0},
    {"2 x 25 x 1,000", 2, 5, 1000, 50, 1, 23, 24, 0.03, 0.08, 0},
    {"3 x 125 x 100", 3, 5, 100, 20, 1, 5.4, 8.1, 0.02, 0.06, 0},
};
static const shape large = {"1 x 6 x 1,000,000, two threads", 1, 6, 1000000, 0, 2, 10800, 0, 3, 0, 1e9};

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static uint64_t random_state;

static double uniform(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static double normal(void) { return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979323846 * uniform()); }

/* A function of the search space: a constant and either the product or the sum of a power of each parameter. */
typedef struct truth {
    double constant, coefficient, powers[MAX_PARAMETERS], logs[MAX_PARAMETERS];
    bool multiplies;
} truth;

static truth random_truth(int n_parameters) {
    static const double powers[] = {0, 0.25, 0.5, 2.0 / 3, 1, 1.5, 2}, logs[] = {0, 0, 1, 2};
    truth t = {.constant = 1 + 99 * uniform(), .coefficient = 0.01 + 4.99 * uniform()};
    for (int i = 0; i < n_parameters; i++) {
        t.powers[i] = powers[(int)(7 * uniform())];
        t.logs[i] = logs[(int)(4 * uniform())];
    }
    t.multiplies = uniform() < 0.5;
    return t;
}

static double value_at(const truth *t, int n_parameters, const double *point) {
    double product = 1, sum = 0;
    for (int i = 0; i < n_parameters; i++) {
        double term = pow(point[i], t->powers[i]) * pow(log2(point[i]), t->logs[i]);
        product *= term;
        sum += term;
    }
    return t->constant + t->coefficient * (t->multiplies ? product : sum);
}

/* Coordinates of point k: the last parameter changes fastest. */
static void point_of(const shape *s, int k, double *point) {
    for (int i = s->n_parameters; i-- > 0; k /= s->points_each) {
        int step = k % s->points_each;
        point[i] = i == 0 ? ldexp(1, step + 2) : (i == 1 ? 10 : 100) * (step + 1);
    }
}

static int points_of(const shape *s) {
    int n = 1;
    for (int i = 0; i < s->n_parameters; i++) n *= s->points_each;
    return n;
}

static void make(const char *path, const shape *s, int n_paths) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path, NULL);
    random_state = 0x9e3779b97f4a7c15u;
    double point[MAX_PARAMETERS];
    int n_points = points_of(s);
    fprintf(file, "PARAMETER %s\nPOINTS", s->n_parameters == 1 ? "p" : s->n_parameters == 2 ? "p q" : "p q r");
    for (int k = 0; k < n_points; k++) {
        point_of(s, k, point);
        for (int i = 0; i < s->n_parameters; i++) fprintf(file, "%s%g", i ? " " : " (", point[i]);
        putc(')', file);
    }
    fputs("\nMETRIC time\n", file);
    for (int c = 0; c < n_paths; c++) {
        truth t = random_truth(s->n_parameters);
        fprintf(file, "REGION main->phase%d->kernel%d\n", c % 10, c);
        for (int k = 0; k < n_points; k++) {
            point_of(s, k, point);
            double value = value_at(&t, s->n_parameters, point);
            fputs("DATA", file);
            for (int r = 0; r < REPETITIONS; r++) fprintf(file, " %.17g", value * (1 + 0.02 * normal()));
            putc('\n', file);
        }
    }
    if (fclose(file) != 0) fail(path, NULL);
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

typedef struct fit_task {
    const char *input;
    unsigned threads;
    double (*now)(void); /* the clock that counts */
} fit_task;

/* The fits alone. */
static double fit(const void *given) {
    const fit_task *task = given;
    assay_error error;
    assay_dataset *dataset;
    if (assay_open(task->input, NULL, &dataset, &error) != ASSAY_OK) fail(task->input, &error);
    double start = task->now();
    assay_fit_config config = {.threads = task->threads};
    if (assay_fit(dataset, &config, NULL, &error) != ASSAY_OK) fail(task->input, &error);
    double used = task->now() - start;
    assay_close(dataset);
    return used;
}

static const char *command; /* NULL: not known */

/* ---- Extra-P ----------------------------------------------------------------------------------------------------- */

static const char extrap_script[] = "import sys, time\n"
                                    "from extrap.fileio.file_reader.text_file_reader import TextFileReader\n"
                                    "from extrap.modelers.model_generator import ModelGenerator\n"
                                    "experiment = TextFileReader().read_experiment(sys.argv[1])\n"
                                    "generator = ModelGenerator(experiment)\n"
                                    "begin = time.process_time()\n"
                                    "generator.model_all()\n"
                                    "print('seconds', time.process_time() - begin)\n";

/* CPU seconds that Extra-P takes to model the file; NAN where it cannot be imported. */
static double measure_extrap(const char *input) {
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0 || setenv("EXTRAP_INPUT", input, 1) != 0 ||
        setenv("EXTRAP_SCRIPT", extrap_script, 1) != 0)
        fail("setenv", NULL);
    FILE *answer = popen("python3 -c \"$EXTRAP_SCRIPT\" \"$EXTRAP_INPUT\" 2>/dev/null", "r");
    if (!answer) fail("popen", NULL);
    char line[256];
    double seconds = NAN;
    while (fgets(line, sizeof line, answer)) {
        if (strncmp(line, "seconds ", 8) == 0) seconds = strtod(line + 8, NULL);
    }
    pclose(answer);
    return seconds;
}

static void compare(const shape *s) {
    make("sample.txt", s, s->sample);
    double theirs = measure_extrap("sample.txt");
    if (!isnan(theirs)) {
        double ours = measure(fit, &(fit_task){"sample.txt", 1, cpu_seconds}, ROUNDS).seconds;
        printf("  Extra-P here, %d of the call paths: %.2f s, %.3f ms a model; assay %.0f times as fast\n", s->sample,
               theirs, 1e3 * theirs / s->sample, theirs / ours);
    } else {
        printf("  Extra-P here: not measured, the Python package extrap cannot be imported\n");
    }
    unlink("sample.txt");
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void bench(const shape *s, int rounds) {
    make("paths.txt", s, s->n_paths);
    printf("%s\n", s->title);
    cost fits = measure(fit, &(fit_task){"paths.txt", s->threads, cpu_seconds}, rounds);
    if (s->threads == 1) {
        report("fits, CPU", fits.seconds, "s", s->target_fits, false);
    } else { /* by the clock: what else the machine does shows */
        printf("  fits: %.3f s CPU\n", fits.seconds);
        fits = measure(fit, &(fit_task){"paths.txt", s->threads, wall_seconds}, rounds);
        report("fits, by the clock", fits.seconds, "s", s->target_fits, false);
    }
    if (command) {
        const char *const all_models[] = {command, "model", "--print", "all", "--quiet", "paths.txt", NULL};
        cost whole = measure_command(all_models, rounds);
        if (s->target_whole > 0) report("whole command, CPU", whole.cpu, "s", s->target_whole, false);
        if (s->target_peak > 0)
            report("whole command, peak memory", whole.peak * 1e-6, "MB", s->target_peak * 1e-6, false);
        printf("  whole command: %.3f s CPU, %.0f MB", whole.cpu, whole.peak * 1e-6);
        if (s->extrap_whole > 0)
            printf("; Extra-P's %.1f s is %.0f times that", s->extrap_whole, s->extrap_whole / whole.cpu);
        putchar('\n');
    } else {
        printf("  whole command: not measured; set ASSAY to its full path\n");
    }
    printf("  %.0f fits a second, %.2f us each; Extra-P's %g s are %.0f times as much\n", s->n_paths / fits.seconds,
           1e6 * fits.seconds / s->n_paths, s->extrap_fits, s->extrap_fits / fits.seconds);
    if (s->sample) compare(s);
    unlink("paths.txt");
}

int main(int argc, char **argv) {
    const char *given = getenv("ASSAY");
    if (given && *given == '/' && access(given, X_OK) == 0) command = given;
    char folder[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 /* names are then short and relative */) fail(folder, NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) bench(&shapes[i], ROUNDS);
    if (argc > 1 && strcmp(argv[1], "--large") == 0) bench(&large, 2);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
