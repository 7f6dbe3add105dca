/* Reports over activities: what kernels, copies, API calls, NVTX ranges and functions of the OS runtime took, by name.
 * The reports, their columns and units are those of `nsys stats`; they are made of the events of a dataset and of their
 * attributes, whatever format it was.
 *
 * Events count by their kind: kernel, memcpy, memset, api, nvtx, osrt. Attributes: demangled_name and mangled_name of
 * kernels, bytes of copies and memsets, domain and style of NVTX ranges. What has no end, and NVTX marks, are left out;
 * what ends before it begins took 0. */
#ifndef AS_ANALYSIS_REPORTS_H
#define AS_ANALYSIS_REPORTS_H

#include "dataset/dataset.h"

/* Which names of kernels tell rows apart: the demangled ones with their parameters, the plain ones of the functions, or
 * those of the compiler. A kernel without a mangled name has its demangled one. */
typedef enum as_report_names { AS_NAMES_DEMANGLED, AS_NAMES_BASE, AS_NAMES_MANGLED } as_report_names;

typedef struct as_report_kind {
    const char *name;     /* "cuda_gpu_kern_sum" */
    const char *title;    /* "CUDA GPU Kernel Summary" */
    const char *subjects; /* "CUDA kernels": what a dataset without rows has none of */
    const char *count;    /* how nsys calls the columns: "Instances", */
    const char *label;    /* "Name" */
    unsigned kinds;       /* private: of events */
    unsigned styles;      /* private: of NVTX ranges */
    bool has_kernels;     /* names can be chosen */
    bool is_size;         /* of bytes, shown in MB (1e6 bytes); else of time, in ns */
    bool has_category;    /* rows say what they are: CUDA_API, CUDA_KERNEL, MEMORY_OPER */
    bool has_style;       /* rows say how ranges came about: PushPop, StartEnd */
} as_report_kind;

/* All reports, ended by one without a name. */
extern const as_report_kind as_report_kinds[];
/* "cuda_gpu_kern_sum", "cuda_gpu_kern_sum:base": false where there is no such report. */
bool as_report_parse(const char *text, const as_report_kind **kind, as_report_names *names);

typedef struct as_report_row {
    const char *name;
    const char *category, *style; /* NULL: none */
    uint64_t n;
    double total, share;                              /* share: of the total of all rows, 0 … 1 */
    double mean, median, minimum, maximum, deviation; /* deviation: divides by n - 1; 0 of a single one */
} as_report_row;

typedef struct as_report {
    as_vec rows; /* as_report_row, the largest total first, then by name */
    /* private */
    as_arena arena;
    as_strings names;
} as_report;

typedef struct as_report_request {
    const as_dataset *ds;
    const as_report_kind *kind;
    as_report_names names;
    const bool *runs, *locations; /* one for each of the dataset; NULL: all */
} as_report_request;

/* Amounts are in ns, or in bytes. One pass over the events, then a sort of each row's amounts. ASSAY_E_NOMEM;
 * as_report_free() in every case. */
assay_status as_report_make(const as_report_request *request, as_report *out, assay_error *error);
void as_report_free(as_report *report);

/* How long an event took, in ns: the difference of the stored times where these are whole ns, else that of the seconds.
 * 0 of what ends before it begins. */
double as_event_nanoseconds(const as_event *event);

#endif
