/* folded: collapsed stacks, what flamegraph.pl draws: a line for each stack, outermost function first, and an amount.
 *
 *   main;solve;stencil 250         a stack and how often it was seen, or what it took
 *   main;solve;[unknown];read_[k] 12.5
 *   main;solve 0 31                of a difference (difffolded.pl): before and after, in all lines
 *
 * Stacks that come again add up. Names may hold blanks; ';' parts them. Empty lines, and lines that begin with '#' and
 * a blank, or with '#' and end in no number, are none. */
#include <math.h>
#include <stdlib.h>

#include "core/utf8.h"
#include "core/words.h"
#include "dataset/flame.h"
#include "dataset/main_metric.h"
#include "formats/stack_sums.h"
#include "formats/stack_target.h"

enum { PROGRESS_BYTES = 1 << 18, MOST_AMOUNTS = 2 };
/* As people call such files: out.kern_folded, perf-folded … */
#define ENDINGS ".folded .collapsed .folded.txt .collapsed.txt _folded -folded"

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* What austin and others say of their file; names of functions may begin with '#'. */
static bool is_comment(const char *line, const char *end) {
    return end - line > 1 && line[0] == '#' && is_blank(line[1]);
}

/* Takes the number at the end of a line, and the blank before it, before which there may be nothing. False: there is
 * none. */
static bool take_amount(const char *line, const char **end, as_number *out) {
    const char *at = *end;
    while (at > line && !is_blank(at[-1])) at--;
    if (at == line || at == *end) return false;
    char first = *at;
    if ((first < '0' || first > '9') && first != '-' && first != '+' && first != '.') return false; /* nan, inf */
    if (!as_number_parse(at, (size_t)(*end - at), out) || (out->kind == AS_REAL && !isfinite(out->r))) return false;
    *end = at - 1;
    return true;
}

/* Of a line without its newline: what is left of it behind the last character that is no blank. */
static const char *trimmed(const char *line, const char *end) {
    while (end > line && is_blank(end[-1])) end--;
    return end;
}

/* What the lines of a window have in common. */
typedef struct window {
    size_t n_lines;
    int n_amounts;   /* of all lines: 1 or 2; 0 where some line has none, or there are control characters, or no line */
    bool has_frames; /* some stack has several */
    bool is_flat;    /* every line is the name of a function and a count, and no name comes twice in a row */
} window;

/* What could be the name of a function: no number, no "key:", and blanks only where there are brackets, as in "void
 * f<int>(int)". */
static bool is_function(const char *name, size_t size) {
    char first = size ? *name : ' ';
    bool is_word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || (unsigned char)first >= 0x80;
    if ((!is_word && !strchr("_~$@/<([{?", first)) || name[size - 1] == ':') return false;
    return !memchr(name, ' ', size) || memchr(name, '(', size) || memchr(name, '[', size);
}

static bool is_count(as_number amount) { return amount.kind == AS_UINT || (amount.kind == AS_INT && amount.i >= 0); }

/* Looks at the beginning of a file. The last line may be cut where that is not all of it. */
static window look_at(const char *data, size_t size, bool is_all) {
    const char *end = data + size, *before = NULL;
    size_t before_size = 0;
    window w = {.n_amounts = MOST_AMOUNTS, .is_flat = true};
    for (const char *line = data, *newline; line < end; line = newline ? newline + 1 : end) {
        newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline && !is_all) break;
        const char *stack_end = trimmed(line, newline ? newline : end);
        as_number amount = {.kind = AS_INT};
        int n = 0;
        for (const char *c = line; c < stack_end; c++) {
            if ((unsigned char)*c < ' ' && *c != '\t' && *c != '\r') return (window){0};
        }
        if (stack_end == line || is_comment(line, stack_end)) continue;
        while (n < MOST_AMOUNTS && take_amount(line, &stack_end, &amount)) n++;
        if (!n && *line == '#') continue;
        if (n < w.n_amounts) w.n_amounts = n;
        if (!n) return (window){0};
        size_t stack_size = (size_t)(stack_end - line);
        w.n_lines++;
        w.has_frames |= memchr(line, ';', stack_size) != NULL;
        w.is_flat &= n == 1 && is_count(amount) && is_function(line, stack_size) &&
                     !(before && before_size == stack_size && memcmp(before, line, stack_size) == 0);
        before = line;
        before_size = stack_size;
    }
    return w.n_lines ? w : (window){0};
}

/* Deep recursion makes lines longer than what is looked at. */
static bool is_one_long_line(const as_probe *probe) {
    for (size_t i = 0; i < probe->head_size; i++) {
        if ((unsigned char)probe->head[i] < ' ' && probe->head[i] != '\t') return false;
    }
    return probe->head_size < probe->size && memchr(probe->head, ';', probe->head_size);
}

/* That all lines end in a number and some have several frames is little: whoever finds a word of its own knows better.
 * Functions and counts are less. */
static int bid(const as_probe *probe) {
    if (probe->is_directory) return 0;
    window w = look_at(probe->head, probe->head_size, probe->head_size == probe->size);
    if (!w.n_amounts) return is_one_long_line(probe) && as_has_ending(probe->path, ENDINGS) ? 8 * 2 : 0;
    if (w.has_frames || as_has_ending(probe->path, ENDINGS)) return 8 * 2;
    return w.is_flat && w.n_lines > 1 ? 8 : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A frame of the line before: where it ends in it, and its context. */
typedef struct known_frame {
    size_t end;
    assay_id context;
} known_frame;

typedef struct folded {
    as_reader *reader;
    as_stack_sums sums;
    int n_amounts;
    const char *line, *end; /* the current line, without blanks behind it */
    uint32_t line_number;
    const char *before; /* the stack of the line before, in the input; NULL: none */
    size_t before_size;
    as_vec known;   /* known_frame: of that stack */
    as_map regions; /* text of a name -> region */
    as_vec text;    /* char: a line whose characters had to be replaced */
    bool was_replaced;
} folded;

static assay_status broken(folded *f, const char *at, const char *rule, const char *message) {
    return as_broken(f->reader, as_place_line(f->reader->input->path, f->line_number, (uint32_t)(at - f->line) + 1),
                     rule, "%s", message);
}

/* stackcollapse-perf.pl says by the end of a name what a function is. */
static const char *kind_of(const char *name, size_t size) {
    static const struct {
        const char *end, *kind;
    } kinds[] = {{"_[k]", "kernel code"}, {"_[j]", "jit"}, {"_[i]", "inlined"}, {"_[w]", "waker"}};
    for (size_t i = 0; size > 4 && i < sizeof kinds / sizeof *kinds; i++) {
        if (memcmp(name + size - 4, kinds[i].end, 4) == 0) return kinds[i].kind;
    }
    return NULL;
}

/* The region of this name, made if new. ASSAY_NONE when memory is out. */
static assay_id region_of(folded *f, const char *name, size_t size) {
    as_dataset *ds = f->sums.ds;
    as_region region = AS_REGION_INIT;
    region.name = as_ds_intern(ds, name, size);
    uint32_t known = region.name == AS_NO_STR ? ASSAY_NONE : as_map_get(&f->regions, region.name);
    if (region.name == AS_NO_STR || known != AS_MAP_NONE) return known;
    const char *kind = kind_of(name, size);
    if (kind && (region.kind = as_ds_intern_text(ds, kind)) == AS_NO_STR) return ASSAY_NONE;
    assay_id id = as_add_region(ds, &region);
    return id != ASSAY_NONE && as_map_put(&f->regions, region.name, id) ? id : ASSAY_NONE;
}

static assay_id add_frame(folded *f, assay_id parent, const char *name, size_t size) {
    assay_id region = region_of(f, name, size);
    return region == ASSAY_NONE ? ASSAY_NONE : as_stack_tree_child(&f->sums.tree, parent, region);
}

/* How many frames at its beginning a stack shares with the one before. */
static size_t shared_frames(const folded *f, const char *stack, size_t size) {
    size_t most = f->before && size < f->before_size ? size : f->before ? f->before_size : 0, same = 0, n = 0;
    while (same < most && stack[same] == f->before[same]) same++;
    for (; n < f->known.count; n++) {
        size_t end = AS_AT(known_frame, &f->known, n).end;
        if (end > same || (end < size && stack[end] != ';')) break;
    }
    return n;
}

/* The context of a stack. Sorted files, as most are, repeat most of the line before: that need not be looked up
 * again. */
static assay_status find_context(folded *f, const char *stack, size_t size, assay_id *out) {
    f->known.count = shared_frames(f, stack, size);
    const known_frame *last = f->known.count ? &AS_AT(known_frame, &f->known, f->known.count - 1) : NULL;
    size_t at = last ? last->end + 1 : 0;
    assay_id context = last ? last->context : ASSAY_NONE;
    while (at <= size) {
        const char *semicolon = memchr(stack + at, ';', size - at);
        size_t end = semicolon ? (size_t)(semicolon - stack) : size;
        if (f->known.count >= f->reader->most_frames)
            return broken(f, f->line, "too-deep", "the stack has more frames than can be read");
        context = add_frame(f, context, stack + at, end - at);
        known_frame frame = {end, context};
        if (context == ASSAY_NONE || !as_vec_append(&f->known, &frame, 1)) return as_reader_memory(f->reader);
        at = end + 1;
    }
    *out = context;
    return ASSAY_OK;
}

static assay_status read_stack(folded *f) {
    const char *end = f->end;
    as_number amounts[MOST_AMOUNTS];
    assay_id context = ASSAY_NONE;
    for (int i = f->n_amounts; i-- > 0;) {
        if (take_amount(f->line, &end, &amounts[i])) continue;
        if (*f->line == '#' && i == f->n_amounts - 1) return ASSAY_OK;
        return broken(f, end > f->line ? end - 1 : f->line, "no-amount",
                      i == f->n_amounts - 1 ? "a line needs a stack, a blank and a number"
                                            : "this line has one amount, and those before have two");
    }
    bool is_own = f->line >= f->reader->input->data && f->line < f->reader->input->data + f->reader->input->size;
    AS_TRY(find_context(f, f->line, (size_t)(end - f->line), &context));
    f->before = is_own && context != ASSAY_NONE ? f->line : NULL;
    f->before_size = (size_t)(end - f->line);
    if (context == ASSAY_NONE) return ASSAY_OK;
    as_stack_tree_mark(&f->sums.tree, context);
    for (int i = 0; i < f->n_amounts; i++) {
        if (!as_stack_sums_add(&f->sums, (size_t)i, context, amounts[i])) return as_reader_memory(f->reader);
    }
    return ASSAY_OK;
}

/* Names of commands are cut by the kernel, in the middle of characters too. */
static assay_status replace_invalid(folded *f) {
    size_t size = (size_t)(f->end - f->line);
    f->text.count = 0;
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = as_utf8_length(f->line + i, size - i);
        if (!as_vec_append(&f->text, n ? f->line + i : "\xef\xbf\xbd", n ? n : 3)) return as_reader_memory(f->reader);
    }
    if (!f->was_replaced)
        as_warn(f->reader, as_place_line(f->reader->input->path, f->line_number, 1), "encoding",
                "some names are not valid UTF-8; what is not is shown as U+FFFD");
    f->was_replaced = true;
    f->line = f->text.data;
    f->end = f->line + f->text.count;
    return ASSAY_OK;
}

static assay_status read_lines(folded *f) {
    const as_input *input = f->reader->input;
    const char *end = input->data + input->size, *at = input->data, *told = at;
    if (input->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    for (const char *newline; at < end; at = newline ? newline + 1 : end) {
        newline = memchr(at, '\n', (size_t)(end - at));
        f->line = at;
        f->end = trimmed(at, newline ? newline : end);
        f->line_number++;
        if (f->end > f->line && !is_comment(f->line, f->end)) {
            if (as_utf8_invalid(f->line, (size_t)(f->end - f->line))) AS_TRY(replace_invalid(f));
            AS_TRY(read_stack(f));
        }
        if (at - told < PROGRESS_BYTES) continue;
        told = at;
        AS_TRY(as_reader_progress(f->reader, (size_t)(at - input->data)));
    }
    return ASSAY_OK;
}

/* What an amount is where nobody says it: austin measures, in a mode that stands in its comments; others count. */
static void find_meaning(const as_input *input, const char **name, const char **unit) {
    static const char austin[] = "# austin: ", mode[] = "# mode: ";
    const char *end = input->data + input->size, *newline;
    *name = "samples", *unit = "occ";
    if (input->size < sizeof austin || memcmp(input->data, austin, sizeof austin - 1) != 0) return;
    for (const char *line = input->data; line < end && *line == '#'; line = newline + 1) {
        newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) return;
        size_t size = (size_t)(trimmed(line, newline) - line), n = sizeof mode - 1;
        if (size <= n || memcmp(line, mode, n) != 0) continue;
        bool is_memory = size - n == 6 && memcmp(line + n, "memory", 6) == 0;
        bool is_time =
            (size - n == 4 && memcmp(line + n, "wall", 4) == 0) || (size - n == 3 && memcmp(line + n, "cpu", 3) == 0);
        if (is_memory) *name = "memory", *unit = "B";
        if (is_time) *name = "time", *unit = "us";
    }
}

/* What an amount is called: one metric, or of a difference two. */
static bool add_metrics(folded *f) {
    static const char *const sides[] = {"before", "after"};
    as_dataset *ds = f->sums.ds;
    const char *name = as_option_text(&f->reader->options, "metric_name"),
               *unit = as_option_text(&f->reader->options, "unit"), *meant, *meant_unit;
    find_meaning(f->reader->input, &meant, &meant_unit);
    if (!*name) name = meant;
    if (!*unit && strcmp(name, meant) == 0) unit = meant_unit;
    as_str unit_id = *unit ? as_ds_intern_text(ds, unit) : AS_NO_STR;
    for (int i = 0; i < f->n_amounts; i++) {
        as_str id = as_ds_intern_text(ds, f->n_amounts == 1 ? name : sides[i]);
        if (id == AS_NO_STR || (*unit && unit_id == AS_NO_STR) ||
            as_stack_metric_add(&f->sums, id, unit_id) == SIZE_MAX)
            return false;
    }
    return true;
}

static int amounts_of(const as_reader *reader) {
    const char *columns = as_option_text(&reader->options, "columns");
    const as_input *input = reader->input;
    size_t size = input->size < AS_PROBE_SIZE ? input->size : AS_PROBE_SIZE;
    const char *newline = input->size ? memchr(input->data, '\n', input->size) : NULL;
    size_t line = newline ? (size_t)(newline - input->data) + 1 : input->size;
    if (strcmp(columns, "auto") != 0) return columns[0] - '0';
    if (size < line) size = line;
    int n = look_at(input->data, size, size == input->size).n_amounts;
    return n ? n : 1;
}

static assay_status read_folded(as_reader *reader) {
    folded f = {.reader = reader, .n_amounts = amounts_of(reader)};
    as_stack_sums_init(&f.sums, reader->dataset);
    as_vec_init(&f.known, sizeof(known_frame), &reader->dataset->budget);
    as_vec_init(&f.text, 1, &reader->dataset->budget);
    as_map_init(&f.regions, &reader->dataset->budget);
    assay_status status = add_metrics(&f) ? read_lines(&f) : as_reader_memory(reader);
    if (status == ASSAY_OK && !f.sums.tree.nodes.count)
        status = as_broken(reader, as_place_file(reader->input->path), "no-data", "has no stacks");
    if (status == ASSAY_OK && !as_stack_sums_finish(&f.sums)) status = as_reader_memory(reader);
    as_stack_sums_free(&f.sums);
    as_vec_free(&f.known);
    as_vec_free(&f.text);
    as_map_free(&f.regions);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A frame whose name ends in a blank and a number: behind it an amount looks like the second of two. */
static const char *number_in(const char *name, size_t size) {
    const char *blank = name + size;
    as_number number;
    while (blank > name && (unsigned char)blank[-1] > ' ') blank--;
    size_t before = (size_t)(blank - name);
    bool is_one =
        before > 0 && before < size && as_number_parse(blank, size - before, &number) && !isnan(as_number_real(number));
    return is_one ? blank - 1 : NULL;
}

typedef struct folding {
    const as_dataset *ds;
    as_stacks stacks;
    as_flame *flame;
    uint32_t *frames; /* by context */
    as_vec name;      /* char */
    bool is_difference;
    double scale; /* of amounts, which are rounded to whole numbers; 0: as they are */
} folding;

/* The name of a frame. A byte order mark at the beginning of a file is none of a name. */
static const char *name_of(const folding *f, assay_id id, size_t *size) {
    const char *name = as_stack_frame_name(f->ds, id, size);
    while (f->stacks.callers[id] == ASSAY_NONE && *size >= 3 && memcmp(name, "\xef\xbb\xbf", 3) == 0)
        name += 3, *size -= 3;
    return name;
}

/* Whether all lines would look like those of a difference. */
static bool looks_like_difference(const folding *f) {
    for (assay_id id = 0; id < AS_COUNT(f->ds, contexts); id++) {
        if (f->stacks.frames[id] != id || as_own_is_zero(&f->stacks.own, id)) continue;
        size_t size;
        const char *name = name_of(f, id, &size);
        if (!number_in(name, size)) return false;
    }
    return true;
}

/* The name as it is written: what would be taken for something else is changed. */
static bool find_name(folding *f, assay_id id, bool hides_numbers) {
    bool is_outermost = f->stacks.callers[id] == ASSAY_NONE;
    size_t size;
    const char *name = name_of(f, id, &size), *blank = hides_numbers ? number_in(name, size) : NULL;
    f->name.count = 0;
    if (!size && is_outermost && !as_own_is_zero(&f->stacks.own, id)) return as_vec_text(&f->name, "?");
    if (!as_vec_append(&f->name, name, size)) return false;
    if (blank) ((char *)f->name.data)[blank - name] = '_';
    return true;
}

static as_number amount_of(const folding *f, assay_id id) {
    as_number own = as_own_number(&f->stacks.own, id);
    if (f->scale == 0) return own;
    double scaled = nearbyint(as_number_real(own) * f->scale);
    return fabs(scaled) < 0x1p63 ? (as_number){.kind = AS_INT, .i = (int64_t)scaled}
                                 : (as_number){.kind = AS_REAL, .r = scaled};
}

static bool add_stacks(folding *f) {
    size_t n = AS_COUNT(f->ds, contexts);
    bool hides_numbers = !f->is_difference && looks_like_difference(f);
    f->frames = malloc((n + 1) * sizeof *f->frames);
    if (!f->frames) return false;
    for (assay_id id = 0; id < n; id++) {
        if (f->stacks.frames[id] != id) continue;
        assay_id caller = f->stacks.callers[id];
        if (!find_name(f, id, hides_numbers)) return false;
        f->frames[id] = as_flame_frame(f->flame, caller == ASSAY_NONE ? AS_FLAME_ROOT : f->frames[caller], f->name.data,
                                       f->name.count, 0);
        if (f->frames[id] == AS_FLAME_ROOT) return false;
        if (f->stacks.own.has[id]) as_flame_add(f->flame, f->frames[id], amount_of(f, id));
    }
    return true;
}

/* How many of -O unit one of the metric's unit has; 0: it is not given. */
static assay_status find_scale(const as_writer *writer, assay_id metric, double *out) {
    const as_dataset *ds = writer->dataset;
    const char *wanted = as_option_text(&writer->options, "unit"),
               *unit = as_ds_text(ds, as_ds_metric(ds, metric)->unit);
    double one = unit ? as_unit_seconds(unit) : 0;
    *out = 0;
    if (strcmp(wanted, "own") == 0) return ASSAY_OK;
    if (one == 0)
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "unit",
                       "-O unit is for times, and the unit of %s is %s", as_ds_text(ds, as_ds_metric(ds, metric)->name),
                       unit ? unit : "none");
    *out = one / as_unit_seconds(wanted);
    return ASSAY_OK;
}

static assay_status fold_metric(as_writer *writer, assay_id metric, assay_id run, bool is_difference, as_flame *flame) {
    folding f = {.ds = writer->dataset, .flame = flame, .is_difference = is_difference};
    AS_TRY(find_scale(writer, metric, &f.scale));
    as_vec_init(&f.name, 1, as_ds_budget(f.ds));
    assay_status status = as_stacks_open(f.ds, metric, run, true, &f.stacks, writer->error);
    if (status == ASSAY_OK && !add_stacks(&f)) status = as_fail_memory(writer->error, NULL);
    as_stacks_close(&f.stacks);
    as_vec_free(&f.name);
    free(f.frames);
    return status;
}

static bool was_difference(const as_dataset *ds) {
    return strcmp(ds->format, "folded") == 0 && AS_COUNT(ds, metrics) == MOST_AMOUNTS;
}

/* Those that are asked for; of a difference that was read as one both. */
static assay_status choose_metrics(const as_writer *writer, as_vec *metrics) {
    const as_dataset *ds = writer->dataset;
    AS_TRY(as_stack_target_metrics(writer, metrics));
    if (was_difference(ds) && !*as_option_text(&writer->options, "metric")) {
        metrics->count = 0;
        for (assay_id id = 0; id < MOST_AMOUNTS; id++) {
            if (!as_vec_append(metrics, &id, 1)) return as_fail_memory(writer->error, NULL);
        }
    }
    if (metrics->count > MOST_AMOUNTS)
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "metric",
                       "a stack has one amount, or two of a difference; name at most two metrics");
    return ASSAY_OK;
}

static assay_status write_folded(as_writer *writer) {
    as_vec metrics; /* assay_id */
    assay_id run = ASSAY_NONE;
    as_flame *flame = as_flame_new(as_ds_budget(writer->dataset));
    as_vec_init(&metrics, sizeof(assay_id), NULL);
    assay_status status = flame ? choose_metrics(writer, &metrics) : as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK) status = as_stack_target_run(writer, &run);
    for (size_t i = 0; status == ASSAY_OK && i < metrics.count; i++) {
        if (i) as_flame_turn(flame);
        status = fold_metric(writer, AS_AT(assay_id, &metrics, i), run, metrics.count > 1, flame);
    }
    if (status == ASSAY_OK && !as_flame_fold(flame, writer->out)) status = as_fail_memory(writer->error, NULL);
    as_vec_free(&metrics);
    as_flame_free(flame);
    return status;
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

/* Names that lines cannot have as they are (dataset/flame.c). Equal names count once. */
static size_t count_changed(const as_dataset *ds, as_losses *losses) {
    as_map seen;
    size_t n = 0;
    as_map_init(&seen, as_ds_budget(ds));
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        size_t size, at = 0;
        const char *name = as_stack_frame_name(ds, id, &size);
        while (at < size && name[at] != ';' && (unsigned char)name[at] >= ' ' && name[at] != 0x7f) at++;
        if (at == size || as_map_get(&seen, as_ds_context(ds, id)->name) != AS_MAP_NONE) continue;
        losses->failed |= !as_map_put(&seen, as_ds_context(ds, id)->name, 0);
        n++;
    }
    as_map_free(&seen);
    return n;
}

static bool is_same_name(const folding *f, assay_id id) {
    size_t size;
    const char *name = as_stack_frame_name(f->ds, id, &size);
    bool is_comment_else = f->stacks.callers[id] == ASSAY_NONE && is_comment(name, name + size);
    return !is_comment_else && size == f->name.count && (!size || memcmp(name, f->name.data, size) == 0);
}

/* Names of the main metric's stacks that would be taken for something else. Equal names count once. */
static size_t count_disguised(const as_dataset *ds, assay_id metric, bool is_difference, as_losses *losses) {
    folding f = {.ds = ds, .is_difference = is_difference};
    as_map seen;
    assay_error error;
    assay_id run = as_stacks_main_run(ds);
    if (metric == ASSAY_NONE || run == ASSAY_NONE) return 0;
    as_map_init(&seen, as_ds_budget(ds));
    as_vec_init(&f.name, 1, as_ds_budget(ds));
    bool is_open = as_stacks_open(ds, metric, run, true, &f.stacks, &error) == ASSAY_OK;
    bool hides_numbers = is_open && !is_difference && looks_like_difference(&f);
    for (assay_id id = 0; is_open && id < AS_COUNT(ds, contexts); id++) {
        if (f.stacks.frames[id] != id) continue;
        bool fine = find_name(&f, id, hides_numbers);
        if (fine && !is_same_name(&f, id)) fine = as_map_put(&seen, as_ds_context(ds, id)->name, 0);
        losses->failed |= !fine;
    }
    size_t n = seen.count;
    as_stacks_close(&f.stacks);
    as_vec_free(&f.name);
    as_map_free(&seen);
    return n;
}

/* A file says of its amounts nothing: whoever reads it takes them for samples. */
static void find_losses(const as_dataset *ds, as_losses *losses) {
    bool is_difference = was_difference(ds);
    assay_id id = as_main_metric(ds, false);
    as_stack_target_losses(ds, is_difference ? MOST_AMOUNTS : 1, losses);
    size_t n_changed = count_changed(ds, losses);
    if (n_changed)
        as_lose(losses, "';' and control characters in %zu name%s (':' and blanks stand there)", n_changed,
                n_changed == 1 ? "" : "s");
    size_t n_disguised = count_disguised(ds, id, is_difference, losses);
    if (n_disguised)
        as_lose(losses,
                "%zu name%s that would be taken for a comment, an amount or none ('_', '?' or nothing stand there)",
                n_disguised, n_disguised == 1 ? "" : "s");
    if (is_difference || id == ASSAY_NONE) return;
    const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name), *unit = as_ds_text(ds, as_ds_metric(ds, id)->unit);
    if (!name || (strcmp(name, "samples") == 0 && unit && strcmp(unit, "occ") == 0)) return;
    as_lose(losses, "what the amounts are: %s%s%s%s", name, unit ? " [" : "", unit ? unit : "", unit ? "]" : "");
}

static const as_option read_options[] = {
    {"metric_name", AS_OPTION_TEXT, "", NULL,
     "what the amounts are, such as time; default: samples, of austin what it measures"},
    {"unit", AS_OPTION_TEXT, "", NULL, "their unit, such as us; default: that of the default's, else none"},
    {"columns", AS_OPTION_CHOICE, "auto", "auto|1|2", "how many amounts a line has; two are those of a difference"},
    {0}};

static const as_option write_options[] = {
    AS_STACK_METRIC_OPTION,
    AS_STACK_RUN_OPTION,
    {"unit", AS_OPTION_CHOICE, "own", "own|s|ms|us|ns",
     "of times: whole numbers of this unit, as speedscope and inferno want them; own: as they are"},
    {0}};

const struct assay_format as_format_folded = {
    .name = "folded",
    .title = "Folded stacks",
    .extensions = ".folded .collapsed",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_PROFILES | AS_HOLDS_ASIDES,
    .read_options = read_options,
    .write_options = write_options,
    .bid = bid,
    .read = read_folded,
    .write = write_folded,
    .losses = find_losses,
};
