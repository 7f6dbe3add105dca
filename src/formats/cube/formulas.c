/* Derived metrics of Cube: CubePL in the attributes of metrics becomes formulas of the dataset. */
#include "dataset/formulas.h"

#include <stdlib.h>
#include <strings.h>

#include "formats/cube/cube.h"

typedef struct derivation {
    as_formula_text texts[AS_FORMULA_PARTS];
    as_derived_kind kind;
    bool is_known;
} derivation;

bool as_cube_is_derived(const char *type, as_derived_kind *kind) {
    static const char *const words[] = {[AS_DERIVED_POST] = "POSTDERIVED",
                                        [AS_DERIVED_PRE_INCLUSIVE] = "PREDERIVED_INCLUSIVE",
                                        [AS_DERIVED_PRE_EXCLUSIVE] = "PREDERIVED_EXCLUSIVE"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(type, words[i]) != 0) continue;
        *kind = (as_derived_kind)i;
        return true;
    }
    return false;
}

static void note(derivation *d, const char *key, as_cell value) {
    static const struct {
        const char *key;
        as_formula_part part;
    } parts[] = {{AS_CUBE_CUBEPL, AS_FORMULA_VALUE},
                 {AS_CUBE_CUBEPL_INIT, AS_FORMULA_INIT},
                 {AS_CUBE_CUBEPL_AGGR "plus", AS_FORMULA_PLUS},
                 {AS_CUBE_CUBEPL_AGGR "minus", AS_FORMULA_MINUS},
                 {AS_CUBE_CUBEPL_AGGR "aggr", AS_FORMULA_AGGR}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(key, parts[i].key) == 0) d->texts[parts[i].part] = (as_formula_text){value.text, value.size};
    }
    if (strcmp(key, AS_CUBE_TYPE) == 0) d->is_known = as_cube_is_derived(value.text, &d->kind);
}

bool as_cube_formulas(as_dataset *ds, const char *path) {
    size_t n = AS_COUNT(ds, metrics), n_derived = 0;
    for (size_t i = 0; i < n; i++) n_derived += as_ds_metric(ds, (assay_id)i)->kind == AS_KIND_DERIVED;
    if (!n_derived) return true;
    derivation *all = calloc(n, sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_METRIC && attribute->value.type == AS_CELL_TEXT)
            note(&all[attribute->owner_id], as_ds_text(ds, attribute->key), attribute->value);
    }
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        if (as_ds_metric(ds, (assay_id)i)->kind != AS_KIND_DERIVED || !all[i].is_known) continue;
        if (!all[i].texts[AS_FORMULA_VALUE].text) all[i].texts[AS_FORMULA_VALUE] = (as_formula_text){"", 0};
        fine = as_add_formula(ds, (assay_id)i, all[i].kind, all[i].texts);
    }
    free(all);
    return fine && as_compile_formulas(ds, path);
}
