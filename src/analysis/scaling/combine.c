/* Several parameters: the terms found on each parameter's line are combined to sums and products, and fitted to all
 * points.
 *
 * All candidates are made of the same few columns. These are reduced to a small triangle once; each candidate is then a
 * problem of a few rows. */
#include <stdlib.h>

#include "analysis/scaling/least_squares.h"
#include "analysis/scaling/plan.h"

enum { MAX_TERMS = AS_MAX_UNKNOWNS - 1 };

static const double least_contribution = 0.0005;
/* Squares and their sums must stay finite. */
static const double largest_value = 1e150;

/* A candidate: the sets of factors that its terms multiply. */
typedef struct shape {
    uint8_t n;
    uint8_t terms[3];
} shape;

/* x = 1, y = 2, z = 4; Extra-P's order, which is also the order the terms are printed in. */
static const shape shapes_of_2[] = {{2, {1, 3}}, {2, {2, 3}}};
static const shape shapes_of_3[] = {
    {2, {7, 1}},    {2, {7, 2}},    {2, {7, 4}},    {2, {7, 3}},    {2, {7, 6}},    {2, {7, 5}},    {3, {7, 3, 4}},
    {3, {7, 6, 1}}, {3, {7, 5, 2}}, {3, {7, 1, 2}}, {3, {7, 1, 4}}, {3, {7, 2, 4}}, {2, {3, 4}},    {3, {3, 4, 2}},
    {3, {3, 4, 1}}, {2, {5, 2}},    {3, {5, 2, 1}}, {3, {5, 2, 4}}, {2, {6, 1}},    {3, {6, 1, 2}}, {3, {6, 1, 4}},
};

typedef struct candidate {
    size_t n_terms;
    uint64_t terms[MAX_TERMS];
    double coefficients[MAX_TERMS + 1];
    as_costs costs;
    bool is_small;
} candidate;

typedef struct combining {
    const as_plan *plan;
    const double *y;
    const as_line_result *lines;
    uint32_t *kept;
    size_t n_kept;
    double tss;
    /* The columns: constant, then a set of factors each */
    size_t n_columns, rows; /* rows of the reduced problem */
    uint64_t *sets;         /* n_columns */
    double *columns;        /* n_columns x plan->n */
    double *reduced, *reduced_y;
    double *small, *inverse; /* of one candidate */
    bool is_finite, is_cut;
} combining;

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static double factor_at(const as_line_result *line, double x) {
    return line->is_segmented ? as_line_result_at(line, x) : as_power_value(&line->whole.power, x);
}

static size_t column_of(const combining *c, uint64_t set) {
    size_t i = 1;
    while (c->sets[i] != set) i++;
    return i;
}

static void list_sets(combining *c) {
    uint64_t all = (c->n_kept < 64 ? UINT64_C(1) << c->n_kept : 0) - 1;
    c->n_columns = 1;
    for (size_t k = 0; k < c->n_kept; k++) c->sets[c->n_columns++] = UINT64_C(1) << k;
    if (c->n_kept == 3) {
        c->sets[c->n_columns++] = 3;
        c->sets[c->n_columns++] = 5;
        c->sets[c->n_columns++] = 6;
    }
    if (c->n_kept > 1) c->sets[c->n_columns++] = all;
}

/* Factors depend on one coordinate that many points share: a value that was just computed is taken again. */
static void fill_factor(const combining *c, size_t k, double *out) {
    const double *x = c->plan->coordinates + (size_t)c->kept[k] * c->plan->n;
    const as_line_points *line = &c->plan->lines[c->kept[k]];
    double known_x[16] = {0}, known[16] = {0};
    size_t n_known = line->n <= 16 ? line->n : 0;
    for (size_t i = 0; i < n_known; i++) {
        known_x[i] = line->x[i];
        known[i] = factor_at(&c->lines[c->kept[k]], known_x[i]);
    }
    for (size_t i = 0; i < c->plan->n; i++) {
        size_t at = 0;
        while (at < n_known && known_x[at] != x[i]) at++;
        out[i] = at < n_known ? known[at] : factor_at(&c->lines[c->kept[k]], x[i]);
    }
}

static void fill_columns(combining *c) {
    size_t n = c->plan->n;
    for (size_t i = 0; i < n; i++) c->columns[i] = 1;
    for (size_t k = 0; k < c->n_kept; k++) fill_factor(c, k, c->columns + (k + 1) * n);
    for (size_t j = c->n_kept + 1; j < c->n_columns; j++) {
        for (size_t i = 0; i < n; i++) c->columns[j * n + i] = 1;
        for (size_t k = 0; k < c->n_kept; k++) {
            if (!(c->sets[j] >> k & 1)) continue;
            for (size_t i = 0; i < n; i++) c->columns[j * n + i] *= c->columns[(k + 1) * n + i];
        }
    }
    c->is_finite = true;
    for (size_t i = 0; i < c->n_columns * n; i++) c->is_finite &= fabs(c->columns[i]) < largest_value;
    for (size_t i = 0; i < n; i++) c->is_finite &= fabs(c->y[i]) < largest_value;
}

static void reduce(combining *c) {
    size_t n = c->plan->n;
    memcpy(c->reduced, c->columns, c->n_columns * n * sizeof *c->reduced);
    memcpy(c->reduced_y, c->y, n * sizeof *c->reduced_y);
    c->rows = n < c->n_columns ? n : c->n_columns;
    if (c->is_finite) as_triangulate(c->reduced, c->reduced_y, n, c->n_columns);
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static void fit(combining *c, candidate *h) {
    size_t n = c->plan->n, k = h->n_terms + 1;
    for (size_t j = 0; j < k; j++) {
        size_t column = j ? column_of(c, h->terms[j - 1]) : 0;
        memcpy(c->small + j * c->rows, c->reduced + column * n, c->rows * sizeof *c->small);
    }
    if (c->is_finite) as_pseudo_inverse(c->small, c->rows, k, n, true, c->inverse);
    for (size_t j = 0; j < k; j++) {
        double sum = c->is_finite ? 0 : NAN;
        for (size_t i = 0; c->is_finite && i < c->rows; i++) sum += c->inverse[j * c->rows + i] * c->reduced_y[i];
        h->coefficients[j] = sum;
    }
}

/* In-sample costs of the printed terms. */
static void judge(const combining *c, candidate *h) {
    size_t n = c->plan->n, factors = 0;
    double count = (double)n;
    as_costs costs = {0};
    const double *columns[MAX_TERMS] = {0};
    for (size_t j = 0; j < h->n_terms; j++) {
        columns[j] = c->columns + column_of(c, h->terms[j]) * n;
        factors += (size_t)__builtin_popcountll(h->terms[j]);
    }
    for (size_t i = 0; i < n; i++) {
        double prediction = h->coefficients[0];
        for (size_t j = 0; j < h->n_terms; j++) prediction += h->coefficients[j + 1] * columns[j][i];
        double d = prediction - c->y[i], size = fabs(c->y[i]) + fabs(prediction);
        costs.RSS += d * d;
        if (c->y[i] != 0) {
            double relative = fabs(d / c->y[i]);
            costs.rRSS += relative * relative;
            costs.RE += relative;
        }
        if (size != 0) costs.SMAPE += fabs(d) / size;
    }
    costs.RE /= count;
    costs.SMAPE *= 200 / count;
    double freedom = count - (double)factors - 1;
    costs.AR2 = freedom != 0 ? 1 - costs.RSS / c->tss * (count - 1) / freedom : NAN;
    h->costs = costs;
    h->is_small = false;
    for (size_t j = 0; j < h->n_terms && !h->is_small; j++) {
        double coefficient = h->coefficients[j + 1];
        h->is_small = true;
        for (size_t i = 0; i < n && coefficient != 0 && h->is_small; i++)
            h->is_small = fabs(coefficient * columns[j][i] / c->y[i]) < least_contribution;
    }
}

static double score_of(const combining *c, const candidate *h) {
    return c->plan->options->compare_with_RSS ? h->costs.RSS : h->costs.SMAPE;
}

static size_t count_shapes(const combining *c) {
    if (!c->plan->options->allow_combinations) return 2;
    size_t more = c->n_kept == 2   ? sizeof shapes_of_2 / sizeof *shapes_of_2
                  : c->n_kept == 3 ? sizeof shapes_of_3 / sizeof *shapes_of_3
                                   : 0;
    return 2 + more;
}

/* Candidate i: the product, the sum, then those with some of both. */
static void set_shape(const combining *c, size_t i, candidate *h) {
    if (i == 0) {
        h->n_terms = 1;
        h->terms[0] = c->sets[c->n_columns - 1];
    } else if (i == 1) {
        h->n_terms = c->n_kept;
        for (size_t k = 0; k < c->n_kept; k++) h->terms[k] = UINT64_C(1) << k;
    } else {
        const shape *s = c->n_kept == 2 ? &shapes_of_2[i - 2] : &shapes_of_3[i - 2];
        h->n_terms = s->n;
        for (size_t k = 0; k < s->n; k++) h->terms[k] = s->terms[k];
    }
}

static bool tell(const combining *c, const candidate *h, const as_combination_witness *witness) {
    if (!witness) return true;
    as_combination told = {c->lines, c->kept, c->n_kept, h->terms, h->n_terms, h->coefficients, h->costs, h->is_small};
    return witness->tried(witness->user, &told);
}

/* The candidates of two or more parameters. second: the best of the others, its score infinite where there is none. */
static bool choose(combining *c, candidate *best, candidate *second, const as_combination_witness *witness) {
    size_t n = count_shapes(c), chosen = 0;
    candidate *h = malloc(sizeof *h);
    bool fine = h != NULL, has_second = false;
    for (size_t i = 0; fine && i < n; i++) {
        set_shape(c, i, h);
        fit(c, h);
        judge(c, h);
        fine = tell(c, h, witness);
        if (i == 0) *best = *h;
        if (i == 0 || h->is_small) continue;
        bool is_better = score_of(c, h) < score_of(c, best) || isnan(score_of(c, best));
        const candidate *other = is_better ? best : h;
        if (!has_second || score_of(c, other) < score_of(c, second)) *second = *other;
        has_second = true;
        if (!is_better) continue;
        *best = *h;
        chosen = i;
    }
    if (!has_second) second->costs.SMAPE = second->costs.RSS = INFINITY;
    if (fine && witness) witness->chosen(witness->user, chosen);
    free(h);
    return fine;
}

/* One parameter is left: its line's own coefficients, or those of a fit to all points. */
static bool choose_single(combining *c, candidate *best, candidate *second, const as_combination_witness *witness) {
    const as_line_result *line = &c->lines[c->kept[0]];
    best->n_terms = second->n_terms = 1;
    best->terms[0] = second->terms[0] = 1;
    best->coefficients[0] = line->is_segmented ? 0 : line->whole.constant;
    best->coefficients[1] = line->is_segmented ? 1 : line->whole.coefficient;
    fit(c, second);
    judge(c, best);
    judge(c, second);
    if (!tell(c, best, witness) || !tell(c, second, witness)) return false;
    const as_fit_options *o = c->plan->options;
    bool is_better = score_of(c, second) < score_of(c, best);
    /* Extra-P compares SMAPE even where it was told to compare RSS */
    if (o->compat_extrap && o->compare_with_RSS) is_better |= second->costs.SMAPE < best->costs.SMAPE;
    if (is_better) *best = *second;
    second->costs.SMAPE = second->costs.RSS = INFINITY; /* the same terms are no rival */
    if (witness) witness->chosen(witness->user, is_better);
    return true;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

bool as_factors_text(const as_dataset *ds, const as_line_result *lines, const uint32_t *kept, uint64_t term,
                     as_vec *text) {
    bool is_first = true, fine = true;
    for (size_t k = 0; fine && term >> k; k++) {
        if (!(term >> k & 1)) continue;
        const char *name = as_ds_parameter(ds, kept[k]);
        const as_line_result *line = &lines[kept[k]];
        fine = is_first || as_vec_text(text, " * ");
        if (fine && line->is_segmented)
            fine = as_vec_text(text, "{") && as_vec_text(text, name) && as_vec_text(text, "}");
        else if (fine)
            fine = as_power_text(&line->whole.power, name, text);
        is_first = false;
    }
    return fine;
}

/* "p^(1) * q^(2) + q^(2)" */
static bool shape_text(const combining *c, const candidate *h, as_vec *text) {
    bool fine = true;
    for (size_t j = 0; fine && j < h->n_terms; j++) {
        fine = (!j || as_vec_text(text, " + ")) && as_factors_text(c->plan->ds, c->lines, c->kept, h->terms[j], text);
    }
    return fine;
}

static bool push_segment(as_vec *segments, double constant, double from, double to) {
    as_segment *s = as_vec_push(segments);
    if (s) *s = (as_segment){.constant = constant, .from = from, .to = to};
    return s != NULL;
}

/* The two parts of a piecewise factor become segments behind the first one, with terms of their own. */
static bool push_pieces(const as_line_result *line, uint32_t parameter, as_vec *segments, as_vec *terms) {
    for (int i = 0; i < 2; i++) {
        const as_line_fit *part = &line->parts[i];
        uint32_t segment = (uint32_t)segments->count;
        if (!push_segment(segments, part->constant, i ? line->right_begin : -INFINITY, i ? INFINITY : line->left_end))
            return false;
        if (part->term == -1) continue;
        as_made_term *term = as_vec_push(terms);
        if (!term) return false;
        *term = (as_made_term){
            .segment = segment, .parameter = parameter, .coefficient = part->coefficient, .power = part->power};
    }
    return true;
}

static bool push_terms(const combining *c, const candidate *h, as_vec *segments, as_vec *terms) {
    uint32_t *pieces = calloc(c->n_kept + 1, sizeof *pieces); /* first segment of a parameter's pieces */
    as_vec behind; /* terms of pieces, which stand behind those of the model */
    as_vec_init(&behind, sizeof(as_made_term), NULL);
    bool fine = pieces && push_segment(segments, h->coefficients[0], -INFINITY, INFINITY);
    for (size_t k = 0; fine && k < c->n_kept; k++) {
        const as_line_result *line = &c->lines[c->kept[k]];
        pieces[k] = (uint32_t)segments->count;
        if (line->is_segmented) fine = push_pieces(line, c->kept[k], segments, &behind);
    }
    for (size_t j = 0; fine && j < h->n_terms; j++) {
        for (size_t k = 0; fine && k < c->n_kept; k++) {
            if (!(h->terms[j] >> k & 1)) continue;
            const as_line_result *line = &c->lines[c->kept[k]];
            as_made_term *term = as_vec_push(terms);
            fine = term != NULL;
            if (!fine) break;
            *term = (as_made_term){.term = (uint32_t)j, .parameter = c->kept[k], .coefficient = h->coefficients[j + 1]};
            if (line->is_segmented) {
                term->first_piece = pieces[k];
                term->n_pieces = 2;
            } else {
                term->power = line->whole.power;
            }
        }
    }
    fine = fine && as_vec_append(terms, behind.data, behind.count);
    as_vec_free(&behind);
    free(pieces);
    return fine;
}

static bool append(const combining *c, const candidate *h, const candidate *second, as_made_head *head, as_vec *bytes) {
    as_vec segments, terms, rival;
    as_vec_init(&segments, sizeof(as_segment), NULL);
    as_vec_init(&terms, sizeof(as_made_term), NULL);
    as_vec_init(&rival, 1, NULL);
    bool fine = push_terms(c, h, &segments, &terms);
    if (fine && score_of(c, second) <= score_of(c, h) * (1 + AS_TIE)) {
        head->flags |= AS_FIT_TIE;
        head->rival_error = (float)score_of(c, second);
        fine = shape_text(c, second, &rival);
    }
    head->costs = h->costs;
    head->n_segments = 1;
    head->n_pieces = (uint32_t)segments.count - 1;
    head->n_terms = (uint32_t)terms.count;
    head->rival_size = (uint32_t)rival.count;
    as_made made = {*head, segments.data, terms.data, rival.data ? rival.data : "", NULL};
    fine = fine && as_made_append(bytes, &made);
    as_vec_free(&segments);
    as_vec_free(&terms);
    as_vec_free(&rival);
    return fine;
}

static bool append_constant(const combining *c, as_made_head *head, as_vec *bytes) {
    as_line_fit constant;
    as_constant_fit(c->y, c->plan->n, &constant);
    as_segment segment = {.constant = constant.constant, .from = -INFINITY, .to = INFINITY};
    head->costs = constant.costs;
    head->n_segments = 1;
    as_made made = {*head, &segment, NULL, "", NULL};
    return as_made_append(bytes, &made);
}

/* ---- memory and order -------------------------------------------------------------------------------------------- */

static bool allocate(combining *c) {
    size_t n = c->plan->n, wide = c->n_kept + 5, size;
    c->sets = malloc(wide * sizeof *c->sets);
    if (!c->sets) return false;
    list_sets(c);
    size_t side = c->n_columns;
    if (!as_mul_size(n, 2 * c->n_columns + 1, &size) || !as_add_size(size, 2 * side * side, &size) ||
        !as_mul_size(size, sizeof(double), &size))
        return false;
    c->columns = malloc(size);
    if (!c->columns) return false;
    c->reduced = c->columns + c->n_columns * n;
    c->reduced_y = c->reduced + c->n_columns * n;
    c->small = c->reduced_y + n;
    c->inverse = c->small + side * side;
    return true;
}

static void find_kept(combining *c) {
    double mean = 0;
    for (size_t k = 0; k < c->plan->n_parameters; k++) {
        if (!as_line_result_is_constant(&c->lines[k])) c->kept[c->n_kept++] = (uint32_t)k;
    }
    c->is_cut = c->n_kept > MAX_TERMS - 1; /* beyond any real experiment */
    if (c->is_cut) c->n_kept = MAX_TERMS - 1;
    for (size_t i = 0; i < c->plan->n; i++) mean += c->y[i];
    mean /= (double)c->plan->n;
    for (size_t i = 0; i < c->plan->n; i++) c->tss += (c->y[i] - mean) * (c->y[i] - mean);
}

bool as_plan_combine(const as_plan *plan, const double *y, const as_line_result *lines, as_made_head *head,
                     as_vec *bytes, const as_combination_witness *witness) {
    combining c = {.plan = plan, .y = y, .lines = lines, .kept = malloc((plan->n_parameters + 1) * sizeof *c.kept)};
    candidate *found = malloc(2 * sizeof *found); /* the best and the next */
    bool fine = c.kept && found;
    if (fine) find_kept(&c);
    if (c.is_cut) head->flags |= AS_FIT_CUT;
    bool is_constant = c.n_kept == 0;
    if (fine && !is_constant) {
        fine = allocate(&c);
        if (fine) {
            fill_columns(&c);
            reduce(&c);
            fine = c.n_kept == 1 ? choose_single(&c, &found[0], &found[1], witness)
                                 : choose(&c, &found[0], &found[1], witness);
        }
        /* Values beyond what can be computed with leave nothing better than the mean */
        is_constant = fine && !isfinite(found[0].costs.RSS);
    }
    if (fine && !witness) {
        fine = is_constant ? append_constant(&c, head, bytes) : append(&c, &found[0], &found[1], head, bytes);
    }
    free(c.kept);
    free(c.sets);
    free(c.columns);
    free(found);
    return fine;
}
