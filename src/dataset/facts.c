#include "dataset/facts.h"

#include <stdlib.h>

/* What a fact is about: the dataset, or one of these. */
typedef enum subject { DATASET, METRIC, CONTEXT, REGION, SYSTEM, GROUP, LOCATION, N_SUBJECTS } subject;

typedef enum property {
    ID,
    SYSTEM_ID,
    KIND,
    STATE,
    COUNT,
    ROOTS,
    IS_VOID,
    N_VOID,
    N_NOT_VOID,
    NAME,
    MANGLED,
    DISPLAY_NAME,
    DESCRIPTION,
    UNIT,
    DTYPE,
    PARADIGM,
    ROLE,
    URL,
    FILE_NAME,
    LINE,
    END_LINE,
    CALLEE,
    RANK,
    CHILDREN,
    GROUPS,
    PARENT,
    PARENT_SYSTEM_ID
} property;

/* COUNT, ROOTS, N_VOID and N_NOT_VOID are of all of a kind and need no index. */
static const struct fact {
    const char *name;
    subject subject;
    property property;
} known[] = {
    {"cube::filename", DATASET, FILE_NAME},
    {"cube::#metrics", METRIC, COUNT},
    {"cube::#root::metrics", METRIC, ROOTS},
    {"cube::#regions", REGION, COUNT},
    {"cube::#callpaths", CONTEXT, COUNT},
    {"cube::#root::callpaths", CONTEXT, ROOTS},
    {"cube::#locations", LOCATION, COUNT},
    {"cube::#locations::void", LOCATION, N_VOID},
    {"cube::#locations::nonvoid", LOCATION, N_NOT_VOID},
    {"cube::#locationgroups", GROUP, COUNT},
    {"cube::#locationgroups::void", GROUP, N_VOID},
    {"cube::#locationgroups::nonvoid", GROUP, N_NOT_VOID},
    {"cube::#stns", SYSTEM, COUNT},
    {"cube::#rootstns", SYSTEM, ROOTS},
    /* of the language's first version */
    {"cube::#threads", LOCATION, COUNT},
    {"cube::#threads::void", LOCATION, N_VOID},
    {"cube::#threads::nonvoid", LOCATION, N_NOT_VOID},
    {"cube::#processes::void", GROUP, N_VOID},
    {"cube::#processes::nonvoid", GROUP, N_NOT_VOID},

    {"cube::metric::uniq::name", METRIC, NAME},
    {"cube::metric::disp::name", METRIC, DISPLAY_NAME},
    {"cube::metric::description", METRIC, DESCRIPTION},
    {"cube::metric::dtype", METRIC, DTYPE},
    {"cube::metric::uom", METRIC, UNIT},
    {"cube::metric::#children", METRIC, CHILDREN},
    {"cube::metric::parent::id", METRIC, PARENT},
    {"cube::callpath::line", CONTEXT, LINE},
    {"cube::callpath::#children", CONTEXT, CHILDREN},
    {"cube::callpath::calleeid", CONTEXT, CALLEE},
    {"cube::callpath::parent::id", CONTEXT, PARENT},
    {"cube::region::name", REGION, NAME},
    {"cube::region::mangled::name", REGION, MANGLED},
    {"cube::region::paradigm", REGION, PARADIGM},
    {"cube::region::role", REGION, ROLE},
    {"cube::region::url", REGION, URL},
    {"cube::region::description", REGION, DESCRIPTION},
    {"cube::region::mod", REGION, FILE_NAME},
    {"cube::region::begin::line", REGION, LINE},
    {"cube::region::end::line", REGION, END_LINE},
    {"cube::stn::name", SYSTEM, NAME},
    {"cube::stn::class", SYSTEM, KIND},
    {"cube::stn::#children", SYSTEM, CHILDREN},
    {"cube::stn::#locationgroups", SYSTEM, GROUPS},
    {"cube::stn::parent::id", SYSTEM, PARENT},
    {"cube::stn::parent::sysid", SYSTEM, PARENT_SYSTEM_ID},
    {"cube::locationgroup::name", GROUP, NAME},
    {"cube::locationgroup::rank", GROUP, RANK},
    {"cube::locationgroup::type", GROUP, KIND},
    {"cube::locationgroup::void", GROUP, IS_VOID},
    {"cube::locationgroup::#locations", GROUP, CHILDREN},
    {"cube::locationgroup::parent::id", GROUP, PARENT},
    {"cube::locationgroup::parent::sysid", GROUP, PARENT_SYSTEM_ID},
    {"cube::location::name", LOCATION, NAME},
    {"cube::location::rank", LOCATION, RANK},
    {"cube::location::type", LOCATION, KIND},
    {"cube::location::void", LOCATION, IS_VOID},
    {"cube::location::parent::id", LOCATION, PARENT},
    {"cube::location::parent::sysid", LOCATION, PARENT_SYSTEM_ID},

    /* What varies with the point comes last: see first_varying. */
    {"calculation::metric::id", METRIC, ID},
    {"calculation::metric::uniq::name", METRIC, NAME},
    {"calculation::metric::disp::name", METRIC, DISPLAY_NAME},
    {"calculation::metric::description", METRIC, DESCRIPTION},
    {"calculation::metric::dtype", METRIC, DTYPE},
    {"calculation::metric::uom", METRIC, UNIT},
    {"calculation::metric::#children", METRIC, CHILDREN},
    {"calculation::callpath::id", CONTEXT, ID},
    {"calculation::callpath::state", CONTEXT, STATE},
    {"calculation::callpath::#elements", CONTEXT, COUNT},
    {"calculation::callpath::line", CONTEXT, LINE},
    {"calculation::callpath::#children", CONTEXT, CHILDREN},
    {"calculation::region::id", REGION, ID},
    {"calculation::region::#elements", REGION, COUNT},
    {"calculation::region::name", REGION, NAME},
    {"calculation::region::url", REGION, URL},
    {"calculation::region::description", REGION, DESCRIPTION},
    {"calculation::region::mod", REGION, FILE_NAME},
    {"calculation::region::begin::line", REGION, LINE},
    {"calculation::region::end::line", REGION, END_LINE},
    {"calculation::sysres::id", LOCATION, ID},
    {"calculation::sysres::sysid", LOCATION, SYSTEM_ID},
    {"calculation::sysres::kind", LOCATION, KIND},
    {"calculation::sysres::state", LOCATION, STATE},
    {"calculation::sysres::#elements", LOCATION, COUNT},
    {"calculation::sysres::name", LOCATION, NAME},
    {"calculation::sysres::rank", LOCATION, RANK},
    {"calculation::thread::void", LOCATION, IS_VOID},
};
enum { N_FACTS = sizeof known / sizeof *known };

static bool is_varying(uint32_t fact) { return known[fact].name[1] == 'a'; } /* calculation:: */

uint32_t as_fact_find(const char *name, size_t size, bool *varies) {
    for (uint32_t i = 0; i < N_FACTS; i++) {
        if (strlen(known[i].name) != size || memcmp(known[i].name, name, size) != 0) continue;
        *varies = is_varying(i);
        return i;
    }
    return AS_UNKNOWN_NAME;
}

as_fact_reach as_fact_depends_on(uint32_t fact) {
    subject about = known[fact].subject;
    return about == METRIC ? AS_FACT_OF_METRIC : about == LOCATION ? AS_FACT_OF_LOCATION : AS_FACT_OF_CONTEXT;
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

enum { N_REGION_TEXTS = 3 };
static const char *const region_keys[N_REGION_TEXTS] = {"paradigm", "url", "descr"};

struct as_facts {
    const as_dataset *ds;
    size_t *metric_children, *context_children, *location_children, *groups_below;
    assay_id *members[N_SUBJECTS]; /* of SYSTEM, GROUP and LOCATION: their ids in the dataset */
    size_t n_members[N_SUBJECTS], n_void[N_SUBJECTS], n_roots[N_SUBJECTS];
    subject *subject_of;   /* of each location */
    uint32_t *place_among; /* and its number among those of its subject */
    as_formula_value *region_texts[N_REGION_TEXTS];
};

void as_facts_free(as_facts *facts) {
    if (!facts) return;
    free(facts->metric_children);
    free(facts->context_children);
    free(facts->location_children);
    free(facts->groups_below);
    for (int i = 0; i < N_SUBJECTS; i++) free(facts->members[i]);
    free(facts->subject_of);
    free(facts->place_among);
    for (int i = 0; i < N_REGION_TEXTS; i++) free(facts->region_texts[i]);
    free(facts);
}

static bool is_void(const as_dataset *ds, const as_location *location) {
    const char *name = as_ds_text(ds, location->name);
    return name && strstr(name, "VOID");
}

static void prepare_locations(as_facts *f) {
    size_t n = AS_COUNT(f->ds, locations);
    for (size_t i = 0; i < n; i++) {
        const as_location *location = as_ds_location(f->ds, (assay_id)i);
        f->subject_of[i] = location->leaf ? LOCATION : SYSTEM;
        if (location->parent != ASSAY_NONE) f->location_children[location->parent]++;
    }
    for (size_t i = 0; i < n; i++) {
        const as_location *location = as_ds_location(f->ds, (assay_id)i);
        if (location->leaf && location->parent != ASSAY_NONE) f->subject_of[location->parent] = GROUP;
    }
    for (size_t i = 0; i < n; i++) {
        const as_location *location = as_ds_location(f->ds, (assay_id)i);
        subject kind = f->subject_of[i];
        f->place_among[i] = (uint32_t)f->n_members[kind];
        f->members[kind][f->n_members[kind]++] = (assay_id)i;
        f->n_void[kind] += is_void(f->ds, location);
        f->n_roots[kind] += location->parent == ASSAY_NONE;
        if (kind == GROUP && location->parent != ASSAY_NONE) f->groups_below[location->parent]++;
    }
}

static void prepare_region_texts(as_facts *f) {
    size_t n = AS_COUNT(f->ds, regions);
    for (int k = 0; k < N_REGION_TEXTS; k++) {
        for (size_t i = 0; i < n; i++) f->region_texts[k][i] = (as_formula_value){.text = ""};
    }
    for (size_t i = 0; i < AS_COUNT(f->ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(f->ds, i);
        if (attribute->owner != AS_OWNER_REGION || attribute->value.type != AS_CELL_TEXT || attribute->owner_id >= n)
            continue;
        for (int k = 0; k < N_REGION_TEXTS; k++) {
            if (strcmp(as_ds_text(f->ds, attribute->key), region_keys[k]) == 0)
                f->region_texts[k][attribute->owner_id] =
                    (as_formula_value){.text = attribute->value.text, .size = attribute->value.size};
        }
    }
}

as_facts *as_facts_new(const as_dataset *ds) {
    as_facts *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    size_t n_locations = AS_COUNT(ds, locations) + 1;
    bool fine = true;
    f->ds = ds;
    fine &= (f->metric_children = calloc(AS_COUNT(ds, metrics) + 1, sizeof(size_t))) != NULL;
    fine &= (f->context_children = calloc(AS_COUNT(ds, contexts) + 1, sizeof(size_t))) != NULL;
    fine &= (f->location_children = calloc(n_locations, sizeof(size_t))) != NULL;
    fine &= (f->groups_below = calloc(n_locations, sizeof(size_t))) != NULL;
    fine &= (f->subject_of = calloc(n_locations, sizeof(subject))) != NULL;
    fine &= (f->place_among = calloc(n_locations, sizeof(uint32_t))) != NULL;
    for (int i = SYSTEM; i <= LOCATION; i++) fine &= (f->members[i] = calloc(n_locations, sizeof(assay_id))) != NULL;
    for (int i = 0; i < N_REGION_TEXTS; i++)
        fine &= (f->region_texts[i] = calloc(AS_COUNT(ds, regions) + 1, sizeof(as_formula_value))) != NULL;
    if (!fine) {
        as_facts_free(f);
        return NULL;
    }
    for (size_t i = 0; i < AS_COUNT(ds, metrics); i++) {
        assay_id parent = as_ds_metric(ds, (assay_id)i)->parent;
        ++*(parent == ASSAY_NONE ? &f->n_roots[METRIC] : &f->metric_children[parent]);
    }
    for (size_t i = 0; i < AS_COUNT(ds, contexts); i++) {
        assay_id parent = as_ds_context(ds, (assay_id)i)->parent;
        ++*(parent == ASSAY_NONE ? &f->n_roots[CONTEXT] : &f->context_children[parent]);
    }
    prepare_locations(f);
    prepare_region_texts(f);
    return f;
}

/* ---- answering --------------------------------------------------------------------------------------------------- */

static as_formula_value number(double value) { return (as_formula_value){.number = value}; }
static as_formula_value nothing(void) { return (as_formula_value){.is_nothing = true}; }
static as_formula_value id_number(assay_id id) { return number(id == ASSAY_NONE ? -1 : (double)id); }

/* What is absent is the empty text. */
static as_formula_value text(const as_dataset *ds, as_str id) {
    if (id == AS_NO_STR) return (as_formula_value){.text = ""};
    return (as_formula_value){.text = as_ds_text(ds, id), .size = as_str_size(&ds->strings, id)};
}

static as_formula_value of_metric(const as_facts *f, property what, assay_id id) {
    const as_metric *metric = as_ds_metric(f->ds, id);
    switch (what) {
    case NAME: return text(f->ds, metric->name);
    case DISPLAY_NAME: return text(f->ds, metric->display_name);
    case DESCRIPTION: return text(f->ds, metric->description);
    case DTYPE: return text(f->ds, metric->dtype);
    case UNIT: return text(f->ds, metric->unit);
    case CHILDREN: return number((double)f->metric_children[id]);
    case PARENT: return id_number(metric->parent);
    default: return id_number(id);
    }
}

static as_formula_value of_context(const as_facts *f, property what, assay_id id) {
    const as_context *context = as_ds_context(f->ds, id);
    switch (what) {
    case LINE: return number((double)context->line);
    case CHILDREN: return number((double)f->context_children[id]);
    case CALLEE: return id_number(context->region);
    case PARENT: return id_number(context->parent);
    default: return id_number(id);
    }
}

static as_formula_value of_region(const as_facts *f, property what, assay_id id) {
    const as_region *region = as_ds_region(f->ds, id);
    switch (what) {
    case NAME: return text(f->ds, region->name);
    case MANGLED: return text(f->ds, region->mangled);
    case ROLE: return text(f->ds, region->kind);
    case FILE_NAME: return text(f->ds, region->file);
    case PARADIGM: return f->region_texts[0][id];
    case URL: return f->region_texts[1][id];
    case DESCRIPTION: return f->region_texts[2][id];
    case LINE: return number((double)region->line_begin);
    case END_LINE: return number((double)region->line_end);
    default: return id_number(id);
    }
}

static as_formula_value of_location(const as_facts *f, property what, assay_id id) {
    const as_location *location = as_ds_location(f->ds, id);
    assay_id parent = location->parent;
    switch (what) {
    case NAME: return text(f->ds, location->name);
    case KIND: return text(f->ds, location->kind);
    case RANK: return number((double)location->rank);
    case IS_VOID: return number(is_void(f->ds, location));
    case CHILDREN: return number((double)(f->location_children[id] - f->groups_below[id]));
    case GROUPS: return number((double)f->groups_below[id]);
    case PARENT: return number(parent == ASSAY_NONE ? -1 : (double)f->place_among[parent]);
    case PARENT_SYSTEM_ID: return id_number(parent);
    case SYSTEM_ID: return id_number(id);
    default: return number(f->place_among[id]);
    }
}

static size_t n_of(const as_facts *f, subject about) {
    switch (about) {
    case METRIC: return AS_COUNT(f->ds, metrics);
    case CONTEXT: return AS_COUNT(f->ds, contexts);
    case REGION: return AS_COUNT(f->ds, regions);
    case DATASET: return 1;
    default: return f->n_members[about];
    }
}

static as_formula_value of_subject(const as_facts *f, subject about, property what, size_t which) {
    if (which >= n_of(f, about)) return nothing();
    switch (about) {
    case METRIC: return of_metric(f, what, (assay_id)which);
    case CONTEXT: return of_context(f, what, (assay_id)which);
    case REGION: return of_region(f, what, (assay_id)which);
    case DATASET: return text(f->ds, f->ds->path);
    default: return of_location(f, what, f->members[about][which]);
    }
}

/* calculation::…, of what the point is. */
static as_formula_value of_point(const as_facts *f, const struct fact *fact, const as_fact_point *point) {
    enum { KIND_OF_LOCATION = 7 };
    assay_id id = fact->subject == METRIC     ? point->metric
                  : fact->subject == LOCATION ? point->location
                                              : point->context;
    if (id != ASSAY_NONE && fact->subject == REGION) id = as_ds_context(f->ds, id)->region;
    if (id == ASSAY_NONE) return nothing();
    if (fact->property == COUNT) return number(1);
    if (fact->property == STATE) return number(fact->subject == CONTEXT && point->exclusive);
    if (fact->subject != LOCATION) return of_subject(f, fact->subject, fact->property, id);
    return fact->property == KIND ? number(KIND_OF_LOCATION) : of_location(f, fact->property, id);
}

as_formula_value as_facts_value(const as_facts *f, uint32_t which, const as_fact_point *point, double index) {
    const struct fact *fact = &known[which];
    if (is_varying(which)) return of_point(f, fact, point);
    switch (fact->property) {
    case COUNT: return number((double)n_of(f, fact->subject));
    case ROOTS: return number((double)f->n_roots[fact->subject]);
    case N_VOID: return number((double)f->n_void[fact->subject]);
    case N_NOT_VOID: return number((double)(f->n_members[fact->subject] - f->n_void[fact->subject]));
    default: break;
    }
    bool is_index = index > -1 && index < 4294967296.0;
    return is_index ? of_subject(f, fact->subject, fact->property, (size_t)index) : nothing();
}

double as_facts_size(const as_facts *f, uint32_t which) {
    const struct fact *fact = &known[which];
    bool is_one = is_varying(which) || fact->property == COUNT || fact->property == ROOTS || fact->property == N_VOID ||
                  fact->property == N_NOT_VOID;
    return is_one ? 1 : (double)n_of(f, fact->subject);
}
