/* The problems of a dataset. They may also come up while others read it (values that are decoded, traces that are
 * sorted, formulas that fail), so that neither they nor their texts ever move, and the dataset's strings have no part
 * in them. */
#ifndef AS_DATASET_PROBLEMS_H
#define AS_DATASET_PROBLEMS_H

#include <pthread.h>

#include "core/memory.h"

typedef enum as_severity { AS_NOTE, AS_WARNING, AS_ERROR } as_severity;

typedef struct as_problem {
    as_severity severity;
    const char *rule, *file, *message; /* file: NULL where there is none */
    int64_t offset;                    /* -1: unknown */
    uint32_t line, column;             /* 0: unknown */
} as_problem;

enum { AS_MAX_PROBLEMS = 10000, AS_PROBLEM_CHUNKS = 10 };

typedef struct as_problems {
    size_t count;                          /* atomic: as_ds_problems() where others may add some */
    uint64_t n_dropped;                    /* atomic: those beyond AS_MAX_PROBLEMS, or without memory */
    as_problem *chunks[AS_PROBLEM_CHUNKS]; /* private, each twice as large as the one before */
    as_arena texts;                        /* private */
    pthread_mutex_t lock;                  /* private: who adds one */
} as_problems;

void as_problems_init(as_problems *problems, as_budget *budget);
void as_problems_free(as_problems *problems);
/* Texts are copied. Kept up to AS_MAX_PROBLEMS, then counted. Safe from several threads, also while others read. */
void as_problems_add(as_problems *problems, const as_problem *problem);
/* Number `index`, below the count. It stays where it is. */
as_problem *as_problems_at(const as_problems *problems, size_t index);

#endif
