#include "formats/tags.h"

bool as_add_tag(as_dataset *ds, assay_id context, as_tag tag) {
    bool is_null = strcmp(tag.value, "null") == 0;
    bool is_truth = strcmp(tag.value, "true") == 0 || strcmp(tag.value, "false") == 0;
    as_cell value = is_null    ? as_cell_null()
                    : is_truth ? as_cell_json_n(tag.value, strlen(tag.value))
                               : as_cell_text(tag.value);
    return as_add_attribute(ds, AS_OWNER_CONTEXT, context, tag.key, value);
}
