/* What the readers of Extra-P's formats share. */
#include "formats/extrap/experiment.h"

static bool renumber_records(as_table *table, const assay_id *new_ids) {
    size_t column = as_table_find_column(table, "context");
    for (size_t row = 0; column != SIZE_MAX && row < as_table_rows(table); row++) {
        as_cell cell = as_table_get(table, row, column);
        if (cell.type == AS_CELL_INT && !as_table_set(table, row, column, as_cell_int(new_ids[cell.i]))) return false;
    }
    return true;
}

bool as_extrap_renumber(as_dataset *ds, const assay_id *new_ids) {
    for (size_t i = 0; i < ds->models.count; i++) {
        as_model *model = &AS_AT(as_model, &ds->models, i);
        model->context = new_ids[model->context];
    }
    for (size_t i = 0; i < ds->attributes.count; i++) {
        as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (attribute->owner == AS_OWNER_CONTEXT) attribute->owner_id = new_ids[attribute->owner_id];
    }
    as_table *records = as_ds_records(ds, "record");
    return !records || renumber_records(records, new_ids);
}
