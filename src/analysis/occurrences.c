#include "analysis/occurrences.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/parallel.h"
#include "core/quantile.h"

/* ---- distributions ----------------------------------------------------------------------------------------------- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT, FEW = 512 };

/* By the bits of their keys, a few at a time; room for n more. */
static void sort_reals(double *values, size_t n, double *room) {
    if (n < FEW) {
        qsort(values, n, sizeof *values, as_real_compare);
        return;
    }
    double *from = values, *to = room;
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        size_t ends[DIGITS] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) ends[as_real_key(from[i]) >> shift & (DIGITS - 1)]++;
        if (ends[as_real_key(from[0]) >> shift & (DIGITS - 1)] == n) continue; /* all are the same here */
        for (size_t i = 0; i < DIGITS; i++) {
            size_t count = ends[i];
            ends[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) to[ends[as_real_key(from[i]) >> shift & (DIGITS - 1)]++] = from[i];
        double *other = from;
        from = to;
        to = other;
    }
    if (from != values) memcpy(values, from, n * sizeof *values);
}

void as_distribution_of(double *values, size_t n, double *room, as_distribution *out) {
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(values[i])) values[known++] = values[i];
    }
    n = known;
    *out = (as_distribution){.n = n,
                             .mean = NAN,
                             .stddev = NAN,
                             .min = NAN,
                             .q1 = NAN,
                             .median = NAN,
                             .q3 = NAN,
                             .p90 = NAN,
                             .p99 = NAN,
                             .max = NAN};
    if (!n) return;
    sort_reals(values, n, room);
    out->sum = as_reals_sum(values, n);
    out->mean = out->sum / (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->stddev = values[0] == values[n - 1] ? 0 : sqrt(squares / (double)n);
    out->min = values[0];
    out->q1 = as_quantile(values, n, 0.25);
    out->median = as_quantile(values, n, 0.5);
    out->q3 = as_quantile(values, n, 0.75);
    out->p90 = as_quantile(values, n, 0.9);
    out->p99 = as_quantile(values, n, 0.99);
    out->max = values[n - 1];
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

/* One occurrence. */
struct entry {
    uint64_t event;
    double duration;
    uint32_t subject;
};

typedef struct finder {
    const as_occurrences_request *request;
    const as_dataset *ds;
    as_occurrences *out;
    as_map by_context, by_name; /* context and kind; name and kind -> subject */
    as_vec entries;
    as_vec entry_of_slot; /* size_t */
    size_t *starts;       /* of each subject's entries in `sorted`, and one behind the last */
    as_vec sorted;        /* struct entry */
    as_worst **worst;     /* of each subject */
    atomic_bool failed;
} finder;

/* UINT32_MAX: it is left out, or memory is out (then f->failed). */
static uint32_t subject_of(finder *f, uint64_t id, const as_event *event) {
    assay_id context = f->request->group_of ? f->request->group_of[id] : event->context;
    if (f->request->group_of && context == ASSAY_NONE) return UINT32_MAX;
    as_map *map = context == ASSAY_NONE ? &f->by_name : &f->by_context;
    /* A call and the wait in it are two things, though their call path is the same. */
    as_str kind = f->request->group_of ? AS_NO_STR : event->kind;
    uint64_t key = context == ASSAY_NONE ? as_pair(event->name, kind) : as_pair(context, kind);
    uint32_t known = as_map_get(map, key);
    if (known != AS_MAP_NONE) return known;
    as_subject *subject = as_vec_push(&f->out->subjects);
    uint32_t index = (uint32_t)(f->out->subjects.count - 1);
    if (!subject || !as_map_put(map, key, index)) {
        f->failed = true;
        return UINT32_MAX;
    }
    *subject = (as_subject){.context = context, .name = AS_NO_STR, .kind = kind};
    if (!f->request->group_of) subject->name = event->name;
    return index;
}

static bool add_occurrence(void *user, const as_event_interval *interval) {
    finder *f = user;
    struct entry entry = {interval->id, interval->duration, subject_of(f, interval->id, &interval->event)};
    size_t index = f->entries.count;
    if (f->failed) return false;
    if (interval->slot != AS_NO_SLOT) {
        while (f->entry_of_slot.count <= interval->slot) {
            if (as_vec_push(&f->entry_of_slot)) continue;
            f->failed = true;
            return false;
        }
        AS_AT(size_t, &f->entry_of_slot, interval->slot) = index;
    }
    if (interval->around != AS_NO_SLOT && f->request->is_exclusive) {
        struct entry *outer = &AS_AT(struct entry, &f->entries, AS_AT(size_t, &f->entry_of_slot, interval->around));
        double whole = outer->duration;
        outer->duration -= interval->duration;
        if (fabs(outer->duration) < 1e-12 * whole) outer->duration = 0; /* rounding */
    }
    if (!as_vec_append(&f->entries, &entry, 1)) f->failed = true;
    return !f->failed;
}

static int compare_subjects(const void *a, const void *b) {
    const as_subject *x = a, *y = b; /* ASSAY_NONE is the largest; n_worst: in which order they came */
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return x->n_worst < y->n_worst ? -1 : x->n_worst > y->n_worst;
}

/* Subjects in the order of the tree; entries and maps go by their new numbers. */
static bool number_subjects(finder *f) {
    as_vec *subjects = &f->out->subjects;
    uint32_t *places = malloc((subjects->count + 1) * sizeof *places);
    if (!places) return false;
    for (size_t i = 0; i < subjects->count; i++) AS_AT(as_subject, subjects, i).n_worst = i;
    if (subjects->count) qsort(subjects->data, subjects->count, sizeof(as_subject), compare_subjects);
    bool fine = true;
    for (size_t i = 0; i < subjects->count; i++) {
        as_subject *subject = &AS_AT(as_subject, subjects, i);
        places[subject->n_worst] = (uint32_t)i;
        subject->n_worst = 0;
        fine = fine && (subject->context == ASSAY_NONE
                            ? as_map_put(&f->by_name, as_pair(subject->name, subject->kind), (uint32_t)i)
                            : as_map_put(&f->by_context, as_pair(subject->context, subject->kind), (uint32_t)i));
    }
    for (size_t i = 0; i < f->entries.count; i++) {
        struct entry *entry = &AS_AT(struct entry, &f->entries, i);
        if (entry->subject != UINT32_MAX) entry->subject = places[entry->subject];
    }
    free(places);
    return fine;
}

/* Those of one subject together, in the order of time. */
static bool sort_entries(finder *f) {
    size_t n = f->out->subjects.count;
    f->starts = calloc(n + 2, sizeof *f->starts);
    if (!f->starts || !as_vec_reserve(&f->sorted, f->entries.count)) return false;
    for (size_t i = 0; i < f->entries.count; i++) {
        uint32_t subject = AS_AT(struct entry, &f->entries, i).subject;
        if (subject != UINT32_MAX) f->starts[subject + 2]++;
    }
    for (size_t i = 2; i <= n; i++) f->starts[i] += f->starts[i - 1];
    for (size_t i = 0; i < f->entries.count; i++) {
        const struct entry *entry = &AS_AT(struct entry, &f->entries, i);
        if (entry->subject != UINT32_MAX) AS_AT(struct entry, &f->sorted, f->starts[entry->subject + 1]++) = *entry;
    }
    return true;
}

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

static int compare_worst(const void *a, const void *b) {
    const as_worst *x = a, *y = b;
    if (x->duration != y->duration) return x->duration > y->duration ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* The n longest of some entries, of which the n-th took `least`. */
static as_worst *find_worst(const struct entry *entries, size_t n_entries, size_t n, double least) {
    as_worst *worst = malloc((n + 1) * sizeof *worst);
    size_t found = 0;
    for (size_t i = 0; worst && i < n_entries; i++) {
        if (entries[i].duration > least) worst[found++] = (as_worst){entries[i].event, entries[i].duration};
    }
    for (size_t i = 0; worst && i < n_entries && found < n; i++) {
        if (entries[i].duration == least) worst[found++] = (as_worst){entries[i].event, entries[i].duration};
    }
    if (worst) qsort(worst, found, sizeof *worst, compare_worst);
    return worst;
}

static void find_subject(void *user, size_t i) {
    finder *f = user;
    as_subject *subject = &AS_AT(as_subject, &f->out->subjects, i);
    const struct entry *entries = (const struct entry *)f->sorted.data + f->starts[i];
    size_t n = f->starts[i + 1] - f->starts[i];
    double *values = malloc((2 * n + 1) * sizeof *values);
    if (!values) {
        f->failed = true;
        return;
    }
    for (size_t k = 0; k < n; k++) values[k] = entries[k].duration;
    as_distribution_of(values, n, values + n, &subject->time);
    size_t n_worst = f->request->n_worst ? f->request->n_worst : 1;
    subject->n_worst = subject->time.n < n_worst ? subject->time.n : n_worst;
    if (subject->n_worst) {
        f->worst[i] = find_worst(entries, n, subject->n_worst, values[subject->time.n - subject->n_worst]);
        if (!f->worst[i]) f->failed = true;
    }
    free(values);
}

static bool find_subjects(finder *f) {
    as_vec *subjects = &f->out->subjects;
    if (!number_subjects(f) || !sort_entries(f)) return false;
    as_vec_free(&f->entries);
    f->worst = calloc(subjects->count + 1, sizeof(as_worst *));
    if (!f->worst) return false;
    as_parallel(subjects->count, 0, find_subject, f);
    for (size_t i = 0; i < subjects->count && !f->failed; i++) {
        as_subject *subject = &AS_AT(as_subject, subjects, i);
        subject->first_worst = f->out->worst.count;
        if (!as_vec_append(&f->out->worst, f->worst[i], subject->n_worst)) f->failed = true;
    }
    return !f->failed;
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

/* A sample of a subject. */
struct measured {
    uint32_t subject, measure;
    assay_id run; /* of a run's own; else ASSAY_NONE */
    uint32_t sample;
};

static int compare_measured(const void *a, const void *b) {
    const struct measured *x = a, *y = b;
    if (x->subject != y->subject) return x->subject < y->subject ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->measure != y->measure) return x->measure < y->measure ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

static bool list_measured(finder *f, as_vec *list) {
    const as_vec *samples = &f->out->measured.samples;
    size_t n = f->out->subjects.count;
    if (samples->count >= UINT32_MAX) return false;
    for (size_t i = 0; i < samples->count; i++) {
        const as_sample *sample = &AS_AT(as_sample, samples, i);
        struct measured m = {AS_OF_RUN, sample->measure, sample->run, (uint32_t)i};
        if (sample->event != AS_NO_EVENT) {
            as_event event;
            as_ds_event(f->ds, sample->event, &event);
            m.subject = subject_of(f, sample->event, &event);
            m.run = ASSAY_NONE;
            if (f->failed) return false;
            f->out->subjects.count = n; /* moments that are no occurrences */
            if (m.subject == UINT32_MAX || m.subject >= n) continue;
        }
        if (!as_vec_append(list, &m, 1)) return false;
    }
    if (list->count) qsort(list->data, list->count, sizeof(struct measured), compare_measured);
    return true;
}

static int compare_words(const void *a, const void *b) {
    const as_word_count *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static int compare_ids(const void *a, const void *b) {
    const as_str *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* How often each word was recorded; ids: n words, which are sorted. */
static bool count_words(as_occurrences *out, as_str *ids, size_t n, as_subject_measure *m) {
    m->first_word = out->words.count;
    m->n_recorded = n;
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ids[end] == ids[i];) end++;
        as_word_count count = {ids[i], end - i};
        if (!as_vec_append(&out->words, &count, 1)) return false;
    }
    m->n_words = out->words.count - m->first_word;
    if (m->n_words)
        qsort(&AS_AT(as_word_count, &out->words, m->first_word), m->n_words, sizeof(as_word_count), compare_words);
    return true;
}

/* The difference of a snapshot: exact of integers as far as a double holds it. */
static double difference(const as_sample *sample) {
    if (sample->first.kind == AS_INT && sample->last.kind == AS_INT)
        return (double)((as_whole)sample->last.i - sample->first.i);
    return as_number_real(sample->last) - as_number_real(sample->first);
}

/* The samples of one subject and measure: n of them. room: for 5 n numbers. */
static bool add_measure(finder *f, const struct measured *list, size_t n, double *room) {
    double *values = room, *starts = room + n, *ends = room + 2 * n, *sorting = room + 3 * n;
    as_str *ids = (as_str *)(room + 4 * n);
    size_t n_values = 0, n_snapshots = 0, n_ids = 0;
    as_subject_measure m = {.subject = list->subject, .measure = list->measure, .run = list->run};
    for (size_t i = 0; i < n; i++) {
        const as_sample *sample = &AS_AT(as_sample, &f->out->measured.samples, list[i].sample);
        if (sample->type == AS_SAMPLE_WORD) {
            ids[n_ids++] = sample->word;
            continue;
        }
        if (n_values == 0) m.first = sample->first;
        m.last = sample->last;
        if (sample->type == AS_SAMPLE_SNAPSHOT) {
            starts[n_snapshots] = as_number_real(sample->first);
            ends[n_snapshots++] = as_number_real(sample->last);
            values[n_values++] = difference(sample);
        } else {
            values[n_values++] = as_number_real(sample->last);
        }
    }
    as_distribution_of(values, n_values, sorting, &m.value);
    as_distribution_of(starts, n_snapshots, sorting, &m.start);
    as_distribution_of(ends, n_snapshots, sorting, &m.end);
    return count_words(f->out, ids, n_ids, &m) && as_vec_append(&f->out->measures, &m, 1);
}

static bool is_together(const struct measured *a, const struct measured *b) {
    return a->subject == b->subject && a->run == b->run && a->measure == b->measure;
}

static bool find_measures(finder *f) {
    as_vec list;
    as_vec_init(&list, sizeof(struct measured), as_ds_budget(f->ds));
    bool fine = as_measures_load(f->ds, f->request->runs, &f->out->measured) && list_measured(f, &list);
    const struct measured *all = list.data;
    for (size_t i = 0, end; fine && i < list.count; i = end) {
        for (end = i + 1; end < list.count && is_together(&all[i], &all[end]);) end++;
        double *room = malloc(5 * (end - i) * sizeof *room);
        fine = room && add_measure(f, all + i, end - i, room);
        free(room);
        if (!fine || all[i].subject == AS_OF_RUN) continue;
        as_subject *subject = &AS_AT(as_subject, &f->out->subjects, all[i].subject);
        if (!subject->n_measures++) subject->first_measure = f->out->measures.count - 1;
    }
    as_vec_free(&list);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

assay_status as_occurrences_find(const as_occurrences_request *request, as_occurrences *out, assay_error *error) {
    as_budget *budget = as_ds_budget(request->ds);
    finder f = {.request = request, .ds = request->ds, .out = out};
    as_event_intervals intervals = {.ds = request->ds, .runs = request->runs, .pauses = request->pauses};
    *out = (as_occurrences){0};
    as_vec_init(&out->subjects, sizeof(as_subject), budget);
    as_vec_init(&out->worst, sizeof(as_worst), budget);
    as_vec_init(&out->measures, sizeof(as_subject_measure), budget);
    as_vec_init(&out->words, sizeof(as_word_count), budget);
    as_map_init(&f.by_context, budget);
    as_map_init(&f.by_name, budget);
    as_vec_init(&f.entries, sizeof(struct entry), budget);
    as_vec_init(&f.entry_of_slot, sizeof(size_t), budget);
    as_vec_init(&f.sorted, sizeof(struct entry), budget);
    assay_status status = as_event_intervals_walk(&intervals, add_occurrence, &f, error);
    bool fine = status == ASSAY_OK && !f.failed && find_subjects(&f) && (request->is_time_only || find_measures(&f));
    for (size_t i = 0; f.worst && i < out->subjects.count; i++) free(f.worst[i]);
    free(f.worst);
    free(f.starts);
    as_vec_free(&f.sorted);
    as_map_free(&f.by_context);
    as_map_free(&f.by_name);
    as_vec_free(&f.entries);
    as_vec_free(&f.entry_of_slot);
    return status != ASSAY_OK ? status : fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_occurrences_free(as_occurrences *occurrences) {
    as_vec_free(&occurrences->subjects);
    as_vec_free(&occurrences->worst);
    as_vec_free(&occurrences->measures);
    as_vec_free(&occurrences->words);
    as_measures_free(&occurrences->measured);
}
