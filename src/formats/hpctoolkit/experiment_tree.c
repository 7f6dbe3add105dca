/* The tree of experiment.xml: contexts are the distinct |i|. */
#include "formats/hpctoolkit/experiment.h"

/* An open element. */
typedef struct frame {
    assay_id context;
    as_hpc_tag tag;
    bool is_wrapper; /* of the context of the element around it */
    bool has_children;
    int64_t line; /* of a call site; 0: unknown */
    as_hpc_ref file, module;
} frame;

/* A context of the tree: which element names it. */
typedef struct mark {
    uint8_t tag;
    bool is_positive;
} mark;

/* A wrapper has come whose partner, which names the context, may be the very next element: no region is made for it
 * before that is known. */
typedef struct pending {
    assay_id context; /* ASSAY_NONE: nothing is pending */
    as_hpc_element element;
    as_hpc_ref file, module;
} pending;

void as_hpc_tree_init(as_hpc_experiment *experiment) {
    as_budget *budget = &experiment->ds->budget;
    as_vec_init(&experiment->frames, sizeof(frame), budget);
    as_vec_init(&experiment->marks, sizeof(mark), budget);
    as_map_init(&experiment->more_regions, budget);
    as_vec_init(&experiment->region_keys, 64, budget);
    as_vec_init(&experiment->text, 1, budget);
}

void as_hpc_tree_free(as_hpc_experiment *experiment) {
    as_vec_free(&experiment->frames);
    as_vec_free(&experiment->marks);
    as_map_free(&experiment->more_regions);
    as_vec_free(&experiment->region_keys);
    as_vec_free(&experiment->text);
}

/* ---- start tags -------------------------------------------------------------------------------------------------- */

static as_hpc_tag tag_of(const as_xml_scan *scan) {
    const char *name = scan->name;
    if (scan->name_size == 1) {
        switch (*name) {
        case 'C': return AS_HPC_C;
        case 'L': return AS_HPC_L;
        case 'S': return AS_HPC_S;
        case 'M': return AS_HPC_M;
        case 'P': return AS_HPC_P;
        case 'A': return AS_HPC_A;
        case 'F': return AS_HPC_F;
        default: return AS_HPC_OTHER;
        }
    }
    if (scan->name_size != 2) return AS_HPC_OTHER;
    if (name[0] == 'P') return name[1] == 'F' ? AS_HPC_PF : name[1] == 'r' ? AS_HPC_PR : AS_HPC_OTHER;
    return name[0] == 'L' && name[1] == 'M' ? AS_HPC_LM : AS_HPC_OTHER;
}

/* Digits at *at, at most 18 of them. */
static bool parse_digits(const char **at, const char *end, int64_t *out) {
    const char *start = *at;
    int64_t number = 0;
    for (; *at < end && *at - start < 18; ++*at) {
        unsigned digit = (unsigned)(unsigned char)**at - '0';
        if (digit > 9) break;
        number = number * 10 + (int64_t)digit;
    }
    *out = number;
    return *at > start;
}

static bool parse_whole(const as_xml_attribute *attribute, int64_t *out) {
    const char *at = attribute->value, *end = at + attribute->value_size;
    bool is_negative = at < end && *at == '-';
    at += is_negative;
    if (!parse_digits(&at, end, out) || at != end) return false;
    if (is_negative) *out = -*out;
    return true;
}

/* "12", or a range "12-15"; nothing and anything below 0: unknown. */
static bool parse_lines(const as_xml_attribute *attribute, int64_t *line, int64_t *line_end) {
    const char *at = attribute->value, *end = at + attribute->value_size;
    if (at == end) return true;
    if (*at == '-') return parse_whole(attribute, line);
    if (!parse_digits(&at, end, line)) return false;
    if (at == end) return true;
    return *at++ == '-' && parse_digits(&at, end, line_end) && at == end;
}

/* "0x1f" or "31"; 0 where it is something else, such as the ranges of old files. */
static uint64_t parse_offset(const as_xml_attribute *attribute) {
    const char *at = attribute->value, *end = at + attribute->value_size;
    bool is_hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    uint64_t base = is_hex ? 16 : 10, offset = 0;
    for (at += is_hex ? 2 : 0; at < end; at++) {
        uint64_t digit = *at >= '0' && *at <= '9'   ? (uint64_t)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (uint64_t)(*at - 'a' + 10)
                         : *at >= 'A' && *at <= 'F' ? (uint64_t)(*at - 'A' + 10)
                                                    : 16;
        if (digit >= base || __builtin_mul_overflow(offset, base, &offset) ||
            __builtin_add_overflow(offset, digit, &offset))
            return 0;
    }
    return offset;
}

static assay_status not_a_number(as_hpc_experiment *experiment, const as_xml_attribute *attribute) {
    return AS_HPC_BROKEN(experiment, attribute->at, "not-a-number", "%.*s='%.*s' is no number, or one that cannot be",
                         (int)(attribute->name_size < 40 ? attribute->name_size : 40), attribute->name,
                         (int)(attribute->value_size < 80 ? attribute->value_size : 80), attribute->value);
}

/* The id of its context. */
static uint64_t number_of(const as_hpc_element *element) {
    return (uint64_t)(element->id < 0 ? -element->id : element->id);
}

/* False: the value cannot be. */
static bool read_short_attribute(as_hpc_experiment *experiment, as_hpc_element *element,
                                 const as_xml_attribute *attribute, bool *fine) {
    switch (*attribute->name) {
    case 'i':
        element->has_id =
            parse_whole(attribute, &element->id) && element->id <= UINT32_MAX && element->id >= -(int64_t)UINT32_MAX;
        as_hpc_ids_prefetch(&experiment->contexts, number_of(element));
        return element->has_id;
    case 's':
        element->static_id = as_hpc_ref_parse(experiment, attribute, fine);
        as_hpc_ids_prefetch(&experiment->first_regions, element->static_id);
        return true;
    case 'n': element->name = as_hpc_ref_parse(experiment, attribute, fine); return true;
    case 'f': element->file = as_hpc_ref_parse(experiment, attribute, fine); return true;
    case 'l': return parse_lines(attribute, &element->line, &element->line_end);
    case 'v': element->offset = parse_offset(attribute); return true;
    case 'a': element->is_alien = attribute->value_size != 1 || *attribute->value != '0'; return true;
    default: return true;
    }
}

static bool read_attribute(as_hpc_experiment *experiment, as_hpc_element *element, const as_xml_attribute *attribute,
                           bool *fine) {
    if (attribute->name_size == 1) return read_short_attribute(experiment, element, attribute, fine);
    if (attribute->name_size != 2) return true;
    if (attribute->name[0] == 'l' && attribute->name[1] == 'm')
        element->module = as_hpc_ref_parse(experiment, attribute, fine);
    if (attribute->name[0] != 'i' || attribute->name[1] != 't') return true;
    int64_t number;
    if (!parse_whole(attribute, &number) || number < 0 || number > UINT32_MAX) return false;
    element->has_trace_id = true;
    element->trace_id = (uint64_t)number;
    return true;
}

/* What the start tag says that the scanner just came to. */
static assay_status read_element(as_hpc_experiment *experiment, as_hpc_element *element) {
    const as_xml_scan *scan = &experiment->scan;
    *element = (as_hpc_element){.tag = tag_of(scan),
                                .static_id = AS_HPC_NO_REF,
                                .name = AS_HPC_NO_REF,
                                .file = AS_HPC_NO_REF,
                                .module = AS_HPC_NO_REF,
                                .line_end = -1};
    if (element->tag == AS_HPC_M || element->tag == AS_HPC_OTHER) return ASSAY_OK;
    bool fine = true;
    for (uint32_t i = 0; i < scan->n_attributes; i++) {
        if (!read_attribute(experiment, element, &scan->attributes[i], &fine))
            AS_TRY(not_a_number(experiment, &scan->attributes[i]));
    }
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static as_context *context_at(as_hpc_experiment *experiment, assay_id id) {
    return &AS_AT(as_context, &experiment->tree.nodes, id);
}

static bool is_procedure(as_hpc_tag tag) {
    return tag == AS_HPC_PF || tag == AS_HPC_PR || tag == AS_HPC_P || tag == AS_HPC_A;
}

/* A scope without a name only holds lines together. */
static bool is_unnamed(const as_hpc_experiment *experiment, assay_id region) {
    return as_str_size(&experiment->ds->strings, as_ds_region(experiment->ds, region)->name) == 0;
}

/* Code that was put in place: the values of the procedure around it have its own in them, exclusive ones as well. */
static bool is_put_in_place(const as_hpc_element *element) {
    return element->tag == AS_HPC_A || (element->tag == AS_HPC_PR && element->is_alien);
}

static as_context_role role_of(const as_hpc_experiment *experiment, const as_hpc_element *element, assay_id region) {
    if (element->tag == AS_HPC_C) return AS_ROLE_CALL_SITE;
    if (element->tag == AS_HPC_L || element->tag == AS_HPC_S || is_put_in_place(element)) return AS_ROLE_INNER;
    bool is_inside = element->tag != AS_HPC_PF && is_procedure(element->tag);
    return is_inside && is_unnamed(experiment, region) ? AS_ROLE_INNER : AS_ROLE_CALL;
}

/* The element is what its context is of. above: the element around it. */
static bool name_context(as_hpc_experiment *experiment, assay_id id, const as_hpc_element *element, as_hpc_ref file,
                         as_hpc_ref module, const frame *above) {
    assay_id region = as_hpc_region(experiment, element, file, module);
    if (region == ASSAY_NONE) return false;
    as_context *context = context_at(experiment, id);
    context->region = region;
    context->name = as_ds_region(experiment->ds, region)->name;
    context->role = (uint8_t)role_of(experiment, element, region);
    bool is_called = above && above->tag == AS_HPC_C && element->tag == AS_HPC_PF;
    context->is_inlined =
        (is_called && above->context == id) || (is_put_in_place(element) && !is_unnamed(experiment, region));
    context->line = is_called && above->line > 0                    ? above->line
                    : element->tag == AS_HPC_C && element->line > 0 ? element->line
                                                                    : -1;
    return true;
}

static bool resolve(as_hpc_experiment *experiment, pending *waiting) {
    assay_id id = waiting->context;
    waiting->context = ASSAY_NONE;
    return name_context(experiment, id, &waiting->element, waiting->file, waiting->module, NULL);
}

static assay_id add_context(as_hpc_experiment *experiment, assay_id parent, const as_hpc_element *element) {
    as_context context = AS_CONTEXT_INIT;
    context.parent = parent;
    uint64_t number = number_of(element);
    if (element->has_id) {
        context.source_id = (uint32_t)number;
        context.is_numbered = true;
    }
    mark known = {.tag = (uint8_t)element->tag, .is_positive = element->id > 0};
    assay_id id = as_tree_add(&experiment->tree, &context);
    bool fine = id != ASSAY_NONE && as_vec_append(&experiment->marks, &known, 1) &&
                (!element->has_id || as_hpc_ids_put(&experiment->contexts, AS_HPC_OF_VALUES, number, id));
    return fine ? id : ASSAY_NONE;
}

static bool add_attribute(as_hpc_experiment *experiment, assay_id context, as_str key, as_cell value) {
    as_attribute attribute = {.owner = AS_OWNER_CONTEXT, .owner_id = context, .key = key, .value = value};
    return as_vec_append(&experiment->context_attributes, &attribute, 1);
}

static bool note_trace_id(as_hpc_experiment *experiment, assay_id context, const as_hpc_element *element) {
    if (!element->has_trace_id) return true;
    if (as_hpc_ids_get(&experiment->contexts, AS_HPC_OF_SAMPLES, element->trace_id) != ASSAY_NONE) return true;
    uint64_t number = number_of(element);
    return as_hpc_ids_put(&experiment->contexts, AS_HPC_OF_SAMPLES, element->trace_id, context) &&
           (element->trace_id == number ||
            add_attribute(experiment, context, experiment->words.trace_id, as_cell_uint(element->trace_id)));
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

/* An element with the id of a context that is there already: the same context. One with a positive id names it, a frame
 * before others. */
static bool join(as_hpc_experiment *experiment, assay_id id, const as_hpc_element *element, const frame *above,
                 frame *new_frame) {
    mark *known = &AS_AT(mark, &experiment->marks, id);
    bool names_it =
        element->id > 0 && id != 0 && (!known->is_positive || (element->tag == AS_HPC_PF && known->tag != AS_HPC_PF));
    if (names_it) {
        *known = (mark){.tag = (uint8_t)element->tag, .is_positive = true};
        return name_context(experiment, id, element, new_frame->file, new_frame->module, above);
    }
    new_frame->is_wrapper = above->context == id;
    return true;
}

static assay_status start_element(as_hpc_experiment *experiment, const as_hpc_element *element, pending *waiting) {
    frame *above = &AS_AT(frame, &experiment->frames, experiment->frames.count - 1);
    frame new_frame = {.tag = element->tag,
                       .line = element->line,
                       .file = element->file == AS_HPC_NO_REF ? above->file : element->file,
                       .module = element->module != AS_HPC_NO_REF || element->tag == AS_HPC_PF ? element->module
                                                                                               : above->module};
    if (element->tag == AS_HPC_LM) new_frame.module = element->name;
    if (element->tag == AS_HPC_F) new_frame.file = element->name;
    uint64_t number = number_of(element);
    assay_id id = element->has_id ? as_hpc_ids_get(&experiment->contexts, AS_HPC_OF_VALUES, number) : ASSAY_NONE;
    bool fine = true;
    if (waiting->context != ASSAY_NONE && (waiting->context != id || element->id <= 0))
        fine = resolve(experiment, waiting);
    waiting->context = ASSAY_NONE;
    above->has_children = true;
    if (id != ASSAY_NONE) {
        fine = fine && join(experiment, id, element, above, &new_frame);
    } else {
        id = fine ? add_context(experiment, above->context, element) : ASSAY_NONE;
        if (id != ASSAY_NONE && element->id < 0)
            *waiting = (pending){id, *element, new_frame.file, new_frame.module};
        else
            fine = id != ASSAY_NONE && name_context(experiment, id, element, new_frame.file, new_frame.module, above);
    }
    new_frame.context = id;
    fine = fine && note_trace_id(experiment, id, element) && as_vec_append(&experiment->frames, &new_frame, 1);
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* A wrapper below its context that nothing hangs below is not told by the tree. */
static assay_status end_element(as_hpc_experiment *experiment, pending *waiting) {
    const frame *last = &AS_AT(frame, &experiment->frames, experiment->frames.count - 1);
    bool fine = waiting->context == ASSAY_NONE || resolve(experiment, waiting);
    if (last->is_wrapper && !last->has_children && (last->tag == AS_HPC_S || last->tag == AS_HPC_C))
        fine = fine && add_attribute(experiment, last->context, experiment->words.wrapper,
                                     as_cell_text(last->tag == AS_HPC_S ? "S" : "C"));
    experiment->frames.count--;
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* <M n="metric" v="number"/> of the element around it. */
static assay_status read_value(as_hpc_experiment *experiment) {
    const as_xml_attribute *number = as_xml_scan_attribute(&experiment->scan, "v");
    bool fine = true;
    as_hpc_value value = {.context = AS_AT(frame, &experiment->frames, experiment->frames.count - 1).context,
                          .metric = as_hpc_ref_parse(experiment, as_xml_scan_attribute(&experiment->scan, "n"), &fine)};
    if (!fine) return as_reader_memory(experiment->reader);
    if (!number || value.metric == AS_HPC_NO_REF)
        return AS_HPC_BROKEN(experiment, experiment->scan.element, "no-value", "<M> needs n and v");
    if (!as_real_parse(number->value, number->value_size, &value.value)) return not_a_number(experiment, number);
    if (value.value == 0) return ASSAY_OK;
    return as_vec_append(&experiment->values, &value, 1) ? ASSAY_OK : as_reader_memory(experiment->reader);
}

static assay_status report_progress(as_hpc_experiment *experiment) {
    const as_reader *reader = experiment->reader;
    const as_xml_scan *scan = &experiment->scan;
    if (!reader->progress ||
        reader->progress(reader->user, "reading", (double)(scan->at - scan->data) / (double)(scan->end - scan->data)))
        return ASSAY_OK;
    return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(experiment->path), "cancelled", "cancelled");
}

/* One start tag inside the tree. */
static assay_status read_start(as_hpc_experiment *experiment, pending *waiting) {
    as_hpc_element element;
    AS_TRY(read_element(experiment, &element));
    if (element.tag == AS_HPC_M && experiment->is_2x) {
        AS_TRY(read_value(experiment));
        return as_xml_scan_skip(&experiment->scan);
    }
    if (element.tag == AS_HPC_M || element.tag == AS_HPC_OTHER) {
        AS_HPC_WARN(experiment, experiment->scan.element, "unknown-element",
                    "<%.*s> is not known and left out, with all below it",
                    (int)(experiment->scan.name_size < 80 ? experiment->scan.name_size : 80), experiment->scan.name);
        return as_xml_scan_skip(&experiment->scan);
    }
    if (!element.has_id && !experiment->is_2x) {
        AS_TRY(AS_HPC_BROKEN(experiment, experiment->scan.element, "no-id", "a context without an id"));
        return as_xml_scan_skip(&experiment->scan);
    }
    return start_element(experiment, &element, waiting);
}

assay_status as_hpc_add_root(as_hpc_experiment *experiment) {
    as_hpc_element root = {.tag = AS_HPC_OTHER, .has_id = true, .id = experiment->is_2x ? 1 : 0};
    frame frame_of_root = {.tag = AS_HPC_OTHER, .file = AS_HPC_NO_REF, .module = AS_HPC_NO_REF};
    assay_id region = as_hpc_words_init(experiment) ? as_hpc_root_region(experiment) : ASSAY_NONE;
    frame_of_root.context = region == ASSAY_NONE ? ASSAY_NONE : add_context(experiment, ASSAY_NONE, &root);
    if (frame_of_root.context == ASSAY_NONE || !as_vec_append(&experiment->frames, &frame_of_root, 1))
        return as_reader_memory(experiment->reader);
    as_context *context = context_at(experiment, frame_of_root.context);
    context->region = region;
    context->name = as_ds_region(experiment->ds, region)->name;
    return ASSAY_OK;
}

/* Contexts of places have waited for their names. */
static assay_status name_places(as_hpc_experiment *experiment) {
    AS_TRY(as_hpc_name_places(experiment));
    for (size_t i = 0; i < experiment->tree.nodes.count; i++) {
        as_context *context = context_at(experiment, (assay_id)i);
        if (context->name == AS_NO_STR) context->name = as_ds_region(experiment->ds, context->region)->name;
    }
    return ASSAY_OK;
}

/* What each context and each region takes; what is not used of it is given back. */
static void expect_contexts(as_hpc_experiment *experiment, size_t n) {
    as_vec *const all[] = {&experiment->tree.nodes, &experiment->marks, &experiment->region_keys,
                           &experiment->ds->regions, &experiment->ds->attributes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) as_vec_expect(all[i], n);
}

assay_status as_hpc_read_tree(as_hpc_experiment *experiment) {
    enum { PROGRESS_ELEMENTS = 1 << 14, USUAL_ELEMENT = 64 /* bytes, with its end */ };
    pending waiting = {.context = ASSAY_NONE};
    if (!experiment->frames.count) {
        AS_HPC_WARN(experiment, experiment->scan.element, "second-section",
                    "only the first tree of the document is read");
        return as_xml_scan_skip(&experiment->scan);
    }
    expect_contexts(experiment, (size_t)(experiment->scan.end - experiment->scan.at) / USUAL_ELEMENT);
    for (uint64_t n = 1; experiment->frames.count; n++) {
        as_xml_event event;
        AS_TRY(as_xml_scan_next(&experiment->scan, &event));
        if (event == AS_XML_START)
            AS_TRY(read_start(experiment, &waiting));
        else
            AS_TRY(end_element(experiment, &waiting));
        if (n % PROGRESS_ELEMENTS == 0) AS_TRY(report_progress(experiment));
    }
    as_vec_shrink(&experiment->ds->regions);
    as_vec_shrink(&experiment->ds->attributes);
    return name_places(experiment);
}
