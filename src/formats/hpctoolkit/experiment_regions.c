/* What contexts of experiment.xml are contexts of: procedures, loops, lines, call sites. */
#include "formats/hpctoolkit/experiment.h"

/* What an element says of its region; no padding, so that equal keys have equal bytes. */
typedef struct region_key {
    uint64_t kind;
    as_hpc_ref static_id, name, file, module;
    uint64_t offset;
    int64_t line, line_end;
} region_key;

bool as_hpc_words_init(as_hpc_experiment *experiment) {
    as_hpc_words *words = &experiment->words;
    const struct {
        as_str *to;
        const char *text;
    } all[] = {{&words->root, "root"},   {&words->function, "function"},   {&words->loop, "loop"},
               {&words->line, "line"},   {&words->call, "call"},           {&words->module, "module"},
               {&words->file, "file"},   {&words->static_id, "static_id"}, {&words->offset, "offset"},
               {&words->class, "class"}, {&words->trace_id, "trace_id"},   {&words->wrapper, "wrapper"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].to = as_ds_intern_text(experiment->ds, all[i].text);
        if (*all[i].to == AS_NO_STR) return false;
    }
    return true;
}

static as_str kind_of(const as_hpc_words *words, as_hpc_tag tag) {
    switch (tag) {
    case AS_HPC_C: return words->call;
    case AS_HPC_L: return words->loop;
    case AS_HPC_S: return words->line;
    case AS_HPC_LM: return words->module;
    case AS_HPC_F: return words->file;
    default: return words->function;
    }
}

/* "loop at FILE:LINE", "line FILE:LINE", "call FILE:LINE", behind what experiment->text has already. */
static bool add_place(as_hpc_experiment *experiment, as_str file, const region_key *key) {
    char number[AS_NUMBER_SIZE];
    as_vec *text = &experiment->text;
    const as_hpc_words *words = &experiment->words;
    size_t start = text->count;
    const char *what = key->kind == words->loop ? "loop at " : key->kind == words->line ? "line " : "call ";
    const char *file_name = file == AS_NO_STR ? "<unknown file>" : as_ds_text(experiment->ds, file);
    size_t file_size = file == AS_NO_STR ? strlen(file_name) : as_str_size(&experiment->ds->strings, file);
    if (!as_hpc_name_room_take(&experiment->name_room, file_size)) return false;
    bool fine = as_vec_text(text, what) && as_vec_append(text, file_name, file_size) && as_vec_append(text, ":", 1) &&
                as_vec_append(text, number, as_int_format(key->line, number));
    if (key->line_end >= 0)
        fine = fine && as_vec_append(text, "-", 1) && as_vec_append(text, number, as_int_format(key->line_end, number));
    return fine && as_hpc_name_room_take(&experiment->name_room, text->count - start - file_size);
}

/* False when memory is out, or what names may have of it. */
static bool name_places(as_hpc_experiment *experiment) {
    as_dataset *ds = experiment->ds;
    as_vec *text = &experiment->text;
    as_text_span texts[AS_INTERN_BATCH];
    as_str names[AS_INTERN_BATCH];
    as_region *unnamed[AS_INTERN_BATCH];
    size_t ends[AS_INTERN_BATCH];
    for (size_t region = 0; region < ds->regions.count;) {
        size_t n = 0;
        text->count = 0;
        for (; region < ds->regions.count && n < AS_INTERN_BATCH; region++) {
            unnamed[n] = &AS_AT(as_region, &ds->regions, region);
            if (unnamed[n]->name != AS_NO_STR) continue;
            if (!add_place(experiment, unnamed[n]->file, &AS_AT(region_key, &experiment->region_keys, region)))
                return false;
            ends[n++] = text->count;
        }
        for (size_t i = 0; i < n; i++) {
            size_t start = i ? ends[i - 1] : 0;
            texts[i] = (as_text_span){(const char *)text->data + start, ends[i] - start};
        }
        if (!as_intern_batch(&ds->strings, texts, n, names)) return false;
        for (size_t i = 0; i < n; i++) unnamed[i]->name = names[i];
    }
    return true;
}

assay_status as_hpc_name_places(as_hpc_experiment *experiment) {
    if (name_places(experiment)) return ASSAY_OK;
    return as_hpc_fail_name(&experiment->name_room, experiment->path, experiment->reader->error);
}

static bool is_place(as_hpc_tag tag) { return tag == AS_HPC_L || tag == AS_HPC_S || tag == AS_HPC_C; }

static as_str name_region(as_hpc_experiment *experiment, as_hpc_tag tag, const region_key *key, bool *fine) {
    const as_hpc_names *names = tag == AS_HPC_LM  ? &experiment->modules
                                : tag == AS_HPC_F ? &experiment->files
                                                  : &experiment->procedures;
    as_str name = as_hpc_name_of(experiment, names, key->name, fine);
    if (name == AS_NO_STR && key->name == AS_HPC_NO_REF)
        name = as_ds_intern_text(experiment->ds, "<unknown procedure>");
    if (name == AS_NO_STR) *fine = false;
    return name;
}

static bool add_number(as_hpc_experiment *experiment, assay_id region, as_str key, as_cell value) {
    as_attribute attribute = {.owner = AS_OWNER_REGION, .owner_id = region, .key = key, .value = value};
    return as_vec_append(&experiment->ds->attributes, &attribute, 1);
}

/* What has no column. */
static bool add_attributes(as_hpc_experiment *experiment, assay_id region, as_hpc_tag tag, const region_key *key) {
    const as_hpc_words *words = &experiment->words;
    bool fine = key->static_id >= AS_HPC_LITERAL ||
                add_number(experiment, region, words->static_id, as_cell_uint(key->static_id));
    if (key->offset) fine = fine && add_number(experiment, region, words->offset, as_cell_uint(key->offset));
    if (tag != AS_HPC_PF && tag != AS_HPC_PR && tag != AS_HPC_P) return fine;
    uint32_t row = as_map_get(&experiment->procedures.index, key->name);
    int64_t class = row == AS_MAP_NONE ? 0 : AS_AT(as_hpc_name, &experiment->procedures.rows, row).class;
    return fine && (!class || add_number(experiment, region, words->class, as_cell_int(class)));
}

static assay_id add_region(as_hpc_experiment *experiment, as_hpc_tag tag, const region_key *key) {
    bool fine = true;
    as_region region = AS_REGION_INIT;
    region.kind = kind_of(&experiment->words, tag);
    region.file = as_hpc_name_of(experiment, &experiment->files, tag == AS_HPC_F ? key->name : key->file, &fine);
    region.module = as_hpc_name_of(experiment, &experiment->modules, tag == AS_HPC_LM ? key->name : key->module, &fine);
    if (!is_place(tag)) region.name = name_region(experiment, tag, key, &fine);
    if (key->line > 0) region.line_begin = key->line;
    if (key->line > 0 && key->line_end >= key->line) region.line_end = key->line_end;
    assay_id id = fine ? as_add_region(experiment->ds, &region) : ASSAY_NONE;
    fine =
        id != ASSAY_NONE && as_vec_append(&experiment->region_keys, key, 1) && add_attributes(experiment, id, tag, key);
    return fine ? id : ASSAY_NONE;
}

static bool is_key_of(const as_hpc_experiment *experiment, assay_id region, const region_key *key) {
    return memcmp(&AS_AT(region_key, &experiment->region_keys, region), key, sizeof *key) == 0;
}

/* Among those that are not the first of their static id. */
static assay_id find_or_add(as_hpc_experiment *experiment, as_hpc_tag tag, const region_key *key) {
    uint64_t hash = as_hash(key, sizeof *key);
    for (uint32_t known; (known = as_map_get(&experiment->more_regions, hash)) != AS_MAP_NONE;
         hash = hash * 0x9e3779b97f4a7c15u + 1) {
        if (is_key_of(experiment, known, key)) return known;
    }
    assay_id id = add_region(experiment, tag, key);
    return id != ASSAY_NONE && as_map_put(&experiment->more_regions, hash, id) ? id : ASSAY_NONE;
}

assay_id as_hpc_region(as_hpc_experiment *experiment, const as_hpc_element *element, as_hpc_ref file,
                       as_hpc_ref module) {
    region_key key = {.kind = kind_of(&experiment->words, element->tag),
                      .static_id = element->static_id,
                      .name = is_place(element->tag)           ? AS_HPC_NO_REF
                              : element->name != AS_HPC_NO_REF ? element->name
                                                               : element->static_id,
                      .file = file,
                      .module = module,
                      .offset = element->offset,
                      .line = element->line,
                      .line_end = element->line_end};
    /* Elements of one static id are one thing, as a rule: the first is found at once, and no others need be kept
     * apart. */
    bool is_numbered = key.static_id < AS_HPC_LITERAL;
    assay_id first = is_numbered ? as_hpc_ids_get(&experiment->first_regions, 0, key.static_id) : ASSAY_NONE;
    if (first != ASSAY_NONE && is_key_of(experiment, first, &key)) return first;
    if (!is_numbered || first != ASSAY_NONE) return find_or_add(experiment, element->tag, &key);
    first = add_region(experiment, element->tag, &key);
    return first != ASSAY_NONE && as_hpc_ids_put(&experiment->first_regions, 0, key.static_id, first) ? first
                                                                                                      : ASSAY_NONE;
}

assay_id as_hpc_root_region(as_hpc_experiment *experiment) {
    region_key key = {.kind = experiment->words.root};
    as_region region = AS_REGION_INIT;
    region.kind = experiment->words.root;
    region.name = as_ds_intern_text(experiment->ds, "<root>");
    assay_id id = region.name == AS_NO_STR ? ASSAY_NONE : as_add_region(experiment->ds, &region);
    return id != ASSAY_NONE && as_vec_append(&experiment->region_keys, &key, 1) ? id : ASSAY_NONE;
}
