/* `assay stat --report`: the reports of analysis/reports.h. */
#ifndef AS_CLI_STAT_REPORTS_H
#define AS_CLI_STAT_REPORTS_H

#include "cli/cli.h"

#define AS_REPORT_OPTION                                                                                               \
    {                                                                                                                  \
        .name = "report", .argument = "NAME",                                                                          \
        .help = "Of inputs with GPU activities: a report as nsys stats gives it, such as cuda_gpu_kern_sum; a name "   \
                "that is none lists them all (docs/gpu.md)"                                                            \
    }

/* The answer for all files. */
as_exit as_stat_reports(as_cli *cli);

#endif
