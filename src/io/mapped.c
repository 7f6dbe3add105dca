#include "io/mapped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A place for an input. Places are used again, but never freed: a handler may look at them whenever it likes. It comes
 * for an address of an input that is open in its own thread, whose place stands still; others may come and go
 * meanwhile. */
struct as_mapped {
    _Atomic(const as_input *) input; /* NULL: free */
    _Atomic uintptr_t begin, end;
    atomic_bool is_cut;
    struct timespec changed;
    as_mapped *next_free;
};

enum { PLACES = 64 };

typedef struct block {
    as_mapped places[PLACES];
    struct block *next;
} block;

static _Atomic(block *) blocks;
static as_mapped *free_places;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who add, remove, or look at inputs of others */

/* With the lock held. False when memory is out. */
static bool add_block(void) {
    block *more = calloc(1, sizeof *more);
    if (!more) return false;
    for (size_t i = PLACES; i-- > 0;) {
        more->places[i].next_free = free_places;
        free_places = &more->places[i];
    }
    more->next = atomic_load(&blocks);
    atomic_store(&blocks, more);
    return true;
}

as_mapped *as_mapped_add(const as_input *input, const struct timespec *changed) {
    pthread_mutex_lock(&lock);
    as_mapped *m = free_places || add_block() ? free_places : NULL;
    if (m) {
        free_places = m->next_free;
        m->changed = *changed;
        atomic_store(&m->is_cut, false);
        atomic_store(&m->begin, (uintptr_t)input->data);
        atomic_store(&m->end, (uintptr_t)input->data + input->size);
        atomic_store(&m->input, input);
    }
    pthread_mutex_unlock(&lock);
    return m;
}

void as_mapped_remove(as_mapped *mapped) {
    pthread_mutex_lock(&lock);
    atomic_store(&mapped->input, NULL);
    atomic_store(&mapped->end, 0);
    mapped->next_free = free_places;
    free_places = mapped;
    pthread_mutex_unlock(&lock);
}

/* ---- in handlers: no lock, no memory of malloc() ----------------------------------------------------------------- */

static bool has_address(const as_mapped *m, uintptr_t address) {
    uintptr_t begin = atomic_load(&m->begin), end = atomic_load(&m->end);
    /* The end may be that of the next one at this place, but then the beginning is, too. */
    return atomic_load(&m->input) && address >= begin && address < end && atomic_load(&m->begin) == begin;
}

static as_mapped *find_address(uintptr_t address) {
    for (block *b = atomic_load(&blocks); b; b = b->next) {
        for (size_t i = 0; i < PLACES; i++) {
            if (has_address(&b->places[i], address)) return &b->places[i];
        }
    }
    return NULL;
}

const char *as_mapped_path_at(const void *address) {
    const as_mapped *m = find_address((uintptr_t)address);
    return m ? atomic_load(&m->input)->path : NULL;
}

bool as_mapped_fill(const void *address) {
    as_mapped *m = find_address((uintptr_t)address);
    if (!m) return false;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)address / page * page;
    atomic_store(&m->is_cut, true);
    return mmap((void *)from, atomic_load(&m->end) - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/* ---- looking after inputs ---------------------------------------------------------------------------------------- */

static bool counts_against(const as_budget *budget, const as_budget *whole) {
    while (budget && budget != whole) budget = budget->parent;
    return budget != NULL;
}

static bool has_changed(const as_mapped *m, const as_input *input) {
    struct stat now;
    if (atomic_load(&m->is_cut)) return true;
    if (stat(input->path, &now) != 0 || now.st_dev != input->file_device || now.st_ino != input->file_inode)
        return false;
    return (uintmax_t)now.st_size != input->size || now.st_mtim.tv_sec != m->changed.tv_sec ||
           now.st_mtim.tv_nsec != m->changed.tv_nsec;
}

bool as_mapped_has_changed(const as_budget *budget, assay_error *error) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (block *b = atomic_load(&blocks); b && !found; b = b->next) {
        for (size_t i = 0; i < PLACES && !found; i++) {
            const as_input *input = atomic_load(&b->places[i].input);
            found = input && counts_against(input->budget, budget) && has_changed(&b->places[i], input);
            if (found)
                as_fail(error, ASSAY_E_IO, as_place_file(input->path), "changed",
                        "the file changed while it was open; open it again");
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}
