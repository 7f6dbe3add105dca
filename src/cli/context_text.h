/* Names and call paths as people see them. Programs are told what the source says. */
#ifndef AS_CLI_CONTEXT_TEXT_H
#define AS_CLI_CONTEXT_TEXT_H

#include "dataset/dataset.h"
#include "render/text_buffer.h"

/* Appends the name of a context; files in it are without their folders. */
void as_context_put_name(as_text *out, const as_dataset *ds, assay_id context);

/* How paths are shown. */
typedef struct as_path_style {
    bool with_places; /* loops, lines and call sites on the way, too; what is shown itself has its name in any case */
    size_t most;      /* columns of one name; 0: AS_WIDEST_NAME */
    const char *ellipsis; /* for what is left out */
} as_path_style;

/* Appends the names from the root on, of very many only the last. names: assay_id, to work with. */
void as_context_put_path(as_text *out, const as_dataset *ds, assay_id context, const as_path_style *style,
                         as_vec *names);

#endif
