#include "cli/problems.h"

#include <string.h>

#include "render/display.h"

as_finding as_finding_of(const as_dataset *ds, size_t index) {
    const as_problem *p = as_ds_problem(ds, index);
    return (as_finding){.severity = as_severity_name(p->severity),
                        .rule = p->rule,
                        .file = p->file,
                        .message = p->message,
                        .offset = p->offset,
                        .line = p->line,
                        .column = p->column};
}

as_finding as_finding_of_error(const assay_error *error) {
    return (as_finding){.severity = as_severity_name(AS_ERROR),
                        .rule = error->rule[0] ? error->rule : NULL,
                        .file = error->path[0] ? error->path : NULL,
                        .message = error->message,
                        .offset = error->offset,
                        .line = error->line,
                        .column = error->column};
}

void as_finding_build(as_builder *builder, const as_finding *f) {
    as_build_object(builder, NULL, false);
    as_build_text(builder, "severity", f->severity);
    as_build_text(builder, "rule", f->rule);
    as_build_text(builder, "file", f->file);
    as_build_known(builder, "offset", f->offset, false);
    as_build_known(builder, "line", f->line, true);
    as_build_known(builder, "column", f->column, true);
    as_build_text(builder, "message", f->message);
    as_build_end(builder);
}

static const char *colour_of(const char *severity) {
    return strcmp(severity, "error") == 0 ? AS_RED : strcmp(severity, "warning") == 0 ? AS_YELLOW : AS_CYAN;
}

void as_finding_print(as_output *out, const as_finding *f, bool colour) {
    as_output_text(out, as_sgr(colour, AS_BOLD));
    if (f->file) as_display_write(out, f->file, strlen(f->file), 0);
    if (f->line && f->column)
        as_output_printf(out, ":%u:%u", f->line, f->column);
    else if (f->line)
        as_output_printf(out, ":%u", f->line);
    else if (f->offset >= 0)
        as_output_printf(out, ": byte %lld", (long long)f->offset);
    if (f->file || f->line || f->offset >= 0) as_output_text(out, ": ");
    as_output_printf(out, "%s%s%s:%s ", as_sgr(colour, AS_PLAIN), as_sgr(colour, colour_of(f->severity)), f->severity,
                     as_sgr(colour, AS_PLAIN));
    as_display_write(out, f->message, strlen(f->message), 0);
    if (f->rule) as_output_printf(out, " %s[%s]%s", as_sgr(colour, AS_DIM), f->rule, as_sgr(colour, AS_PLAIN));
    as_output_char(out, '\n');
}

void as_finding_print_counts(as_output *out, uint64_t errors, uint64_t warnings, uint64_t notes) {
    static const char *const names[] = {"error", "warning", "note"};
    const uint64_t counts[] = {errors, warnings, notes};
    const char *between = "";
    for (size_t i = 0; i < 3; i++) {
        if (!counts[i]) continue;
        as_output_printf(out, "%s%llu %s%s", between, (unsigned long long)counts[i], names[i],
                         counts[i] == 1 ? "" : "s");
        between = ", ";
    }
    if (!*between) as_output_text(out, "no problems");
}
