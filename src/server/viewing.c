#include "server/viewing.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/build.h"
#include "dataset/derive.h"
#include "io/mapped.h"
#include "server/drop.h"
#include "server/sql_memory.h"

typedef struct as_cache_entry {
    struct as_cache_entry *next;
    char *key;
    void *object;
    size_t bytes;
    void (*release)(void *object);
    uint64_t used_by; /* the last request that asked for it */
} as_cache_entry;

/* Large arrays come from the system and go back to it as soon as they are freed. malloc() else would learn from their
 * sizes to keep them, and more of them lie about than are used. */
static void return_large_arrays(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 2 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

/* The other way round: pages that the system has to empty again and again are a tenth of all work. */
static void reuse_large_arrays(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

as_viewing *as_viewing_new(const as_read_config *config) {
    as_viewing *viewing = calloc(1, sizeof *viewing);
    if (!viewing) return NULL;
    return_large_arrays();
    as_sql_memory_install();
    viewing->config = *config;
    viewing->most_kept = AS_KEPT_LIMIT;
    as_vec_init(&viewing->inputs, sizeof(as_view_input *), NULL);
    as_vec_init(&viewing->derives, sizeof(as_view_derive), NULL);
    as_vec_init(&viewing->asked, sizeof(as_view_derive), NULL);
    pthread_mutex_init(&viewing->lock, NULL);
    pthread_cond_init(&viewing->left, NULL);
    return viewing;
}

static void free_entry(as_cache_entry *entry) {
    entry->release(entry->object);
    free(entry->key);
    free(entry);
}

static void forget_all(as_viewing *viewing) {
    while (viewing->kept) {
        as_cache_entry *next = viewing->kept->next;
        free_entry(viewing->kept);
        viewing->kept = next;
    }
    viewing->kept_bytes = 0;
}

static void free_regrouped(as_view_input *input) {
    for (size_t k = 0; k < sizeof input->regrouped / sizeof *input->regrouped; k++) {
        as_dataset_free(input->regrouped[k]);
        input->regrouped[k] = NULL;
    }
}

static void free_asked(as_viewing *viewing) {
    for (size_t i = 0; i < viewing->asked.count; i++)
        free((char *)(uintptr_t)AS_AT(as_view_derive, &viewing->asked, i).text);
    viewing->asked.count = 0;
    free(viewing->asked_words);
    viewing->asked_words = NULL;
}

void as_viewing_free(as_viewing *viewing) {
    if (!viewing) return;
    forget_all(viewing);
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        as_view_input *input = as_viewing_input(viewing, i);
        free_regrouped(input);
        as_dataset_free(input->ds);
        as_dataset_free(input->lost);
        as_vec_free(&input->derives);
        free(input->path);
        free(input->file);
        free(input->real_path);
        free(input);
    }
    as_vec_free(&viewing->inputs);
    as_vec_free(&viewing->derives);
    free_asked(viewing);
    as_vec_free(&viewing->asked);
    as_drops_free(viewing->drops);
    pthread_cond_destroy(&viewing->left);
    pthread_mutex_destroy(&viewing->lock);
    free(viewing);
}

/* From the end of the list, which was not used for longest. Returns whether anything went. */
static bool drop_beyond(as_viewing *viewing, size_t most) {
    bool any = false;
    while (viewing->kept_bytes > most) {
        as_cache_entry **last = NULL;
        for (as_cache_entry **at = &viewing->kept; *at; at = &(*at)->next) {
            if ((*at)->used_by != viewing->request) last = at;
        }
        if (!last) break;
        as_cache_entry *entry = *last;
        *last = entry->next;
        viewing->kept_bytes -= entry->bytes;
        free_entry(entry);
        any = true;
    }
    return any;
}

void as_viewing_lock(as_viewing *viewing) {
    pthread_mutex_lock(&viewing->lock);
    viewing->request++;
}

void as_viewing_unlock(as_viewing *viewing) {
    viewing->request++;
    if (drop_beyond(viewing, viewing->most_kept > AS_LEFT_LIMIT ? viewing->most_kept : AS_LEFT_LIMIT))
        as_give_back_memory();
    pthread_mutex_unlock(&viewing->lock);
}

void as_viewing_leave(as_viewing *viewing, as_view_input *input) {
    input->n_readers++;
    as_viewing_unlock(viewing);
}

void as_viewing_return(as_viewing *viewing, as_view_input *input) {
    as_viewing_lock(viewing);
    input->n_readers--;
    pthread_cond_broadcast(&viewing->left);
}

bool as_viewing_wait_alone(as_viewing *viewing, const as_view_input *input) {
    if (!input->n_readers) return false;
    viewing->n_waiting++;
    while (input->n_readers > 0) pthread_cond_wait(&viewing->left, &viewing->lock);
    viewing->n_waiting--;
    pthread_cond_broadcast(&viewing->left);
    viewing->request++; /* others may have been answered */
    return true;
}

bool as_viewing_wait_turn(as_viewing *viewing) {
    if (!viewing->n_waiting) return false;
    while (viewing->n_waiting > 0) pthread_cond_wait(&viewing->left, &viewing->lock);
    viewing->request++;
    return true;
}

/* What is wrong with a formula may be another thing in each input: then each is named. */
static void add_error(as_view_derive *derive, const as_view_input *input, const assay_error *error) {
    char text[sizeof derive->error.message];
    if (!derive->refused) {
        derive->error = *error;
        derive->refused = input;
        return;
    }
    bool is_same = strcmp(derive->error.message, error->message) == 0;
    if (is_same && !derive->names_inputs) return;
    snprintf(text, sizeof text, "%.100s%s%.600s", derive->names_inputs ? "" : as_view_input_name(derive->refused),
             derive->names_inputs ? "" : ": ", derive->error.message);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "; %.100s: %.200s", as_view_input_name(input), error->message);
    memcpy(derive->error.message, text, sizeof text);
    derive->names_inputs = true;
}

/* Inputs may have other metrics, and no such formula then. False when memory is out. */
static bool derive_metrics(as_view_input *input, const as_vec *derives) {
    for (size_t i = 0; input->ds && i < derives->count; i++) {
        as_view_derive *derive = &AS_AT(as_view_derive, derives, i);
        assay_error error;
        assay_status status = as_derive_metric(input->ds, derive->text, &error);
        if (status == ASSAY_E_NOMEM) return false;
        if (status != ASSAY_OK) add_error(derive, input, &error);
        if (status != ASSAY_OK) continue;
        derive->is_used = true;
        if (!as_vec_append(&input->derives, &derive->text, 1)) return false;
    }
    return true;
}

/* ---- where dropped files lie, which nobody needs to know --------------------------------------------------------- */

static void hide_folder(as_view_input *input) {
    if (input->is_dropped) snprintf(input->error.path, sizeof input->error.path, "%s", input->path);
}

/* What is behind the folder of the drop that the input came with; NULL: it is not there. */
static const char *behind_folder(const as_view_input *input, const char *path) {
    size_t size = strlen(input->file) - strlen(input->path);
    return path && strncmp(path, input->file, size) == 0 ? path + size : NULL;
}

static bool hide_in_text(const as_view_input *input, as_str *text) {
    const char *rest = behind_folder(input, as_ds_text(input->ds, *text));
    if (rest) *text = as_ds_intern_text(input->ds, rest);
    return *text != AS_NO_STR || !rest;
}

/* False when memory is out. */
static bool hide_in_dataset(const as_view_input *input) {
    as_dataset *ds = input->ds;
    bool fine = hide_in_text(input, &ds->path);
    for (size_t i = 0; fine && i < ds->runs.count; i++) fine = hide_in_text(input, &AS_AT(as_run, &ds->runs, i).source);
    for (size_t i = 0; i < ds->problems.count; i++) {
        as_problem *problem = as_problems_at(&ds->problems, i);
        const char *rest = behind_folder(input, problem->file);
        if (rest) problem->file = rest;
    }
    return fine;
}

void as_viewing_hide_folder(const as_viewing *viewing, assay_error *error) {
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        const as_view_input *input = as_viewing_input(viewing, i);
        const char *rest = input->is_dropped ? behind_folder(input, error->path) : NULL;
        if (!rest) continue;
        memmove(error->path, rest, strlen(rest) + 1);
        return;
    }
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
    const char *end = path + strlen(path);
    while (end > path + 1 && end[-1] == '/') end--;
    while (end > path && end[-1] != '/') end--;
    return end;
}

bool as_viewing_open(as_viewing *viewing, const char *path, const char *name) {
    as_view_input *input = calloc(1, sizeof *input);
    if (!input) return false;
    input->path = strdup(name ? name : path);
    input->file = strdup(path);
    input->is_dropped = name != NULL;
    as_vec_init(&input->derives, sizeof(const char *), NULL);
    if (!input->path || !input->file || !as_vec_append(&viewing->inputs, &input, 1)) {
        free(input->path);
        free(input->file);
        free(input);
        return false;
    }
    if (strspn(last_part(path), "./") == strlen(last_part(path))) input->real_path = realpath(path, NULL);
    if (as_read(path, &viewing->config, &input->ds, &input->error) != ASSAY_OK) input->ds = NULL;
    if (!input->ds) hide_folder(input);
    if (input->ds && input->is_dropped && !hide_in_dataset(input)) return false;
    bool fine = derive_metrics(input, &viewing->derives);
    input->n_given = input->derives.count;
    return fine && derive_metrics(input, &viewing->asked);
}

unsigned as_viewing_lose_changed(as_viewing *viewing, assay_error *error) {
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        as_view_input *input = as_viewing_input(viewing, i);
        if (!input->ds || !as_mapped_has_changed(as_ds_budget(input->ds), &input->error)) continue;
        hide_folder(input);
        input->lost = input->ds;
        input->ds = NULL;
        viewing->n_lost++;
        viewing->last_lost = input;
        forget_all(viewing); /* some may be made of it and others */
    }
    if (error && viewing->last_lost) *error = viewing->last_lost->error;
    return viewing->n_lost;
}

/* ---- formulas of requests ---------------------------------------------------------------------------------------- */

static bool is_asked(const as_viewing *viewing, const char *const *texts, size_t n) {
    bool is_same = viewing->asked.count == n;
    for (size_t i = 0; is_same && i < n; i++)
        is_same = strcmp(AS_AT(as_view_derive, &viewing->asked, i).text, texts[i]) == 0;
    return is_same;
}

static as_view_input *read_input(const as_viewing *viewing) {
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        if (as_viewing_input(viewing, i)->n_readers) return as_viewing_input(viewing, i);
    }
    return NULL;
}

static void underive(as_viewing *viewing) {
    bool has_regrouped = false;
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        as_view_input *input = as_viewing_input(viewing, i);
        for (size_t k = 0; k < sizeof input->regrouped / sizeof *input->regrouped; k++)
            has_regrouped |= input->regrouped[k] != NULL;
        if (input->ds) as_underive_metrics(input->ds, input->derives.count - input->n_given);
        input->derives.count = input->n_given;
    }
    if (has_regrouped) forget_all(viewing); /* they have metrics of their own, and tables are of them */
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) free_regrouped(as_viewing_input(viewing, i));
    free_asked(viewing);
}

static bool ask_for(as_viewing *viewing, const char *const *texts, size_t n) {
    as_vec words;
    bool fine = true;
    as_vec_init(&words, 1, NULL);
    for (size_t i = 0; fine && i < n; i++) {
        char *copy = strdup(texts[i]);
        fine = copy && as_vec_append(&viewing->asked, &(as_view_derive){.text = copy}, 1);
        if (!fine) free(copy);
        fine = fine && as_vec_text(&words, "\n") && as_vec_text(&words, texts[i]);
        viewing->derived_bytes += strlen(texts[i]);
    }
    fine = fine && as_vec_append(&words, "", 1);
    if (fine && n) fine = (viewing->asked_words = strdup(words.data)) != NULL;
    as_vec_free(&words);
    for (size_t i = 0; fine && i < as_viewing_inputs(viewing); i++)
        fine = derive_metrics(as_viewing_input(viewing, i), &viewing->asked);
    return fine;
}

assay_status as_viewing_derive(as_viewing *viewing, const char *const *texts, size_t n, assay_error *error) {
    if (n > AS_MOST_DERIVES)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "more than %d formulas at once", AS_MOST_DERIVES);
    for (size_t i = 0; i < n; i++) {
        if (strlen(texts[i]) > AS_LONGEST_DERIVE)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a formula may have %d bytes", AS_LONGEST_DERIVE);
    }
    /* Who is waited for may be followed by who asks for other formulas */
    for (as_view_input *input; !is_asked(viewing, texts, n) && (input = read_input(viewing)) != NULL;)
        as_viewing_wait_alone(viewing, input);
    if (is_asked(viewing, texts, n)) return ASSAY_OK;
    if (viewing->derived_bytes > AS_DERIVED_BYTES && n)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "",
                       "too many formulas came since the viewer was started; start it again");
    underive(viewing);
    if (ask_for(viewing, texts, n)) return ASSAY_OK;
    underive(viewing);
    return as_fail_memory(error, NULL);
}

const char *as_viewing_formulas_of(const as_viewing *viewing, const as_dataset *ds, assay_id metric) {
    bool is_derived = metric < AS_COUNT(ds, metrics) && as_ds_metric(ds, metric)->kind == AS_KIND_DERIVED;
    return is_derived && viewing->asked_words ? viewing->asked_words : "";
}

const char *as_viewing_formulas_of_name(const as_viewing *viewing, const as_dataset *ds, const char *name) {
    if (!name || !viewing->asked_words) return "";
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const char *known = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (known && strcmp(known, name) == 0) return as_viewing_formulas_of(viewing, ds, id);
    }
    return viewing->asked_words; /* a beginning of one, or none: who knows */
}

assay_status as_view_input_regroup(as_view_input *input, as_regrouping by, as_dataset **out, assay_error *error) {
    if (!input->regrouped[by]) AS_TRY(as_regroup(input->ds, by, &input->regrouped[by], error));
    *out = input->regrouped[by];
    return ASSAY_OK;
}

const char *as_view_input_name(const as_view_input *input) {
    return last_part(input->real_path ? input->real_path : input->path);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

void *as_viewing_find(as_viewing *viewing, const char *key) {
    for (as_cache_entry **at = &viewing->kept; *at; at = &(*at)->next) {
        as_cache_entry *entry = *at;
        if (strcmp(entry->key, key) != 0) continue;
        *at = entry->next;
        entry->next = viewing->kept;
        viewing->kept = entry;
        entry->used_by = viewing->request;
        return entry->object;
    }
    return NULL;
}

void as_viewing_expect(as_viewing *viewing, size_t bytes) {
    drop_beyond(viewing, bytes < viewing->most_kept ? viewing->most_kept - bytes : 0);
}

void as_viewing_spend(as_viewing *viewing, size_t bytes) {
    viewing->most_kept = bytes;
    viewing->keeps_columns = true;
    reuse_large_arrays();
}

void as_viewing_resize(as_viewing *viewing, const char *key, size_t bytes) {
    for (as_cache_entry *entry = viewing->kept; entry; entry = entry->next) {
        if (strcmp(entry->key, key) != 0) continue;
        viewing->kept_bytes += bytes - entry->bytes;
        entry->bytes = bytes;
    }
    as_viewing_expect(viewing, 0);
}

/* Takes it off the list; NULL: it is not there. */
static as_cache_entry *unlink_entry(as_viewing *viewing, const char *key) {
    as_cache_entry **at = &viewing->kept;
    while (*at && strcmp((*at)->key, key) != 0) at = &(*at)->next;
    as_cache_entry *entry = *at;
    if (!entry) return NULL;
    *at = entry->next;
    viewing->kept_bytes -= entry->bytes;
    return entry;
}

/* What it was about, which is the caller's then. NULL is fine. */
static void *free_around(as_cache_entry *entry) {
    void *object = entry ? entry->object : NULL;
    if (entry) free(entry->key);
    free(entry);
    return object;
}

void as_viewing_forget(as_viewing *viewing, const char *key) {
    as_cache_entry *entry = unlink_entry(viewing, key);
    if (entry) free_entry(entry);
}

void *as_viewing_take(as_viewing *viewing, const char *key) { return free_around(unlink_entry(viewing, key)); }

void *as_viewing_take_like(as_viewing *viewing, const char *beginning,
                           bool (*fits)(const void *object, const void *user), const void *user) {
    size_t size = strlen(beginning);
    for (const as_cache_entry *at = viewing->kept; at; at = at->next) {
        if (strncmp(at->key, beginning, size) == 0 && (!fits || fits(at->object, user)))
            return free_around(unlink_entry(viewing, at->key));
    }
    return NULL;
}

bool as_viewing_keep(as_viewing *viewing, const char *key, void *object, size_t bytes, void (*release)(void *object)) {
    as_cache_entry *entry = malloc(sizeof *entry);
    char *copy = strdup(key);
    if (!entry || !copy) {
        free(entry);
        free(copy);
        release(object);
        return false;
    }
    *entry = (as_cache_entry){viewing->kept, copy, object, bytes, release, viewing->request};
    viewing->kept = entry;
    viewing->kept_bytes += bytes;
    as_viewing_expect(viewing, 0);
    return true;
}

void as_give_back_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
