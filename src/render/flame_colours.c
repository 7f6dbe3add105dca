#include "render/flame_colours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"

enum { N_HOST = 8, N_GPU = 4, N_WARM = 8, N_SHADES = 3 };

static const char *const host_classes[N_HOST] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"};
/* The same, those first that no function's name has: names are warm. */
static const char *const cool_classes[N_HOST] = {"h1", "h3", "h5", "h4", "h7", "h6", "h0", "h2"};
static const char *const gpu_classes[N_GPU] = {"g0", "g1", "g2", "g3"};

/* Fills on light paper and on dark. Changes go from blue to orange, which the colour-blind tell apart. */
static const struct fill {
    const char *name, *light, *dark;
} fills[] = {
    {"all", "#e4e7eb", "#343941"}, {"hx", "#c9ced6", "#4a515b"}, {"h0", "#f2b27f", "#a2622f"},
    {"h1", "#94bde3", "#3a6a97"},  {"h2", "#f0d274", "#8a7128"}, {"h3", "#c3a6dc", "#71519a"},
    {"h4", "#e99bab", "#984858"},  {"h5", "#b5c98a", "#617536"}, {"h6", "#d3b58e", "#7d623c"},
    {"h7", "#a3b4c8", "#516478"},  {"g0", "#6cc4ae", "#2d8270"}, {"g1", "#48ad9b", "#1f6c5f"},
    {"g2", "#97d8bf", "#3b957f"},  {"g3", "#3a958c", "#16594f"}, {"w0", "#f7dc94", "#8b701e"},
    {"w1", "#f6d08a", "#8f6722"},  {"w2", "#f5c483", "#925f26"}, {"w3", "#f3b87e", "#955729"},
    {"w4", "#f2ac7c", "#97502c"},  {"w5", "#f0a17b", "#99492f"}, {"w6", "#f5cf9f", "#80622f"},
    {"w7", "#efb596", "#85513a"},  {"m4", "#5b9bd5", "#3b82c4"}, {"m3", "#8abbe2", "#2f669a"},
    {"m2", "#b4d4ee", "#274f75"},  {"m1", "#d8e8f5", "#263d52"}, {"z0", "#e9e7e4", "#3a3b3e"},
    {"p1", "#fbe3cf", "#4f3b2c"},  {"p2", "#f8c99f", "#76502e"}, {"p3", "#f1a468", "#a3622c"},
    {"p4", "#e67a3c", "#cb6f27"},
};

static const char style[] =
    ".assay .frames>g{cursor:pointer}.assay .frames>g:focus{outline:none}.assay .frames text{pointer-events:none}\n"
    ".assay .frames>g:hover>rect,.assay .frames>g:focus>rect{stroke:#1f2328;stroke-width:1.2}\n"
    ".assay .b>rect{stroke:#fff;stroke-width:.6}.assay .above{opacity:.5}\n"
    ".assay .s1>rect{fill-opacity:.82}.assay .s2>rect{fill-opacity:.66}\n"
    "@media (prefers-color-scheme:dark){.assay .frames>g:hover>rect,.assay .frames>g:focus>rect{stroke:#fff}"
    ".assay .b>rect{stroke:#16181c}}\n";
/* Behind the fills, which it overrides. */
static const char search_style[] =
    ".assay .searched>g:not(.hit)>rect{fill-opacity:.3}.assay .hit>rect{fill:#b14fc5;fill-opacity:1}"
    ".assay .frames .hit>text{fill:#fff}\n";

static bool add_fills(as_vec *out, bool is_dark) {
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof fills / sizeof *fills; i++) {
        fine = as_vec_text(out, ".assay .") && as_vec_text(out, fills[i].name) && as_vec_text(out, ">rect{fill:") &&
               as_vec_text(out, is_dark ? fills[i].dark : fills[i].light) && as_vec_text(out, "}");
    }
    return fine;
}

bool as_flame_style(as_vec *out) {
    return as_vec_text(out, style) && add_fills(out, false) &&
           as_vec_text(out, "\n@media (prefers-color-scheme:dark){") && add_fills(out, true) &&
           as_vec_text(out, "}\n") && as_vec_text(out, search_style) && as_vec_append(out, "", 1);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool has_word(const char *const *words, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], text) == 0) return true;
    }
    return false;
}

/* What runs on a GPU. */
static bool is_gpu(const as_flame_tree *tree, as_str kind) {
    static const char *const words[] = {"kernel", "memcpy", "memset", "graph"};
    const char *text = as_str_text(as_flame_names(tree->flame), kind);
    return text && (strncmp(text, "gpu", 3) == 0 || has_word(words, sizeof words / sizeof *words, text));
}

/* Pieces of the program itself, of which names tell more than the kind. */
static bool is_plain(const as_flame_tree *tree, as_str kind) {
    static const char *const words[] = {"function", "user", "loop", "line", "instruction", "entry", "root"};
    const char *text = as_str_text(as_flame_names(tree->flame), kind);
    return !text || has_word(words, sizeof words / sizeof *words, text);
}

/* More than one, or one that is not plain. */
static as_flame_colour choose(const as_flame_tree *tree) {
    as_str first = AS_NO_STR;
    bool has_kinds = false;
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const as_flame_node *node = &AS_AT(as_flame_node, &tree->nodes, i);
        if (first == AS_NO_STR) first = node->module;
        if (node->module != first && node->module != AS_NO_STR) return AS_COLOUR_MODULE;
        has_kinds |= !is_plain(tree, node->kind);
    }
    return has_kinds ? AS_COLOUR_KIND : AS_COLOUR_NAME;
}

static int compare_groups(const void *a, const void *b) {
    const as_flame_group *x = *(const as_flame_group *const *)a, *y = *(const as_flame_group *const *)b;
    if (x->own != y->own) return x->own > y->own ? -1 : 1;
    return x < y ? -1 : 1;
}

/* The largest have colours of their own. */
static bool give_colours(as_flame_colours *colours) {
    size_t n = colours->groups.count, n_host = 0, n_gpu = 0;
    as_flame_group **sorted = malloc((n + 1) * sizeof *sorted);
    const char *const *classes = colours->has_names ? cool_classes : host_classes;
    if (!sorted) return false;
    for (size_t i = 0; i < n; i++) sorted[i] = &AS_AT(as_flame_group, &colours->groups, i);
    qsort(sorted, n, sizeof *sorted, compare_groups);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->is_gpu)
            sorted[i]->shade = gpu_classes[n_gpu++ % N_GPU];
        else
            sorted[i]->shade = sorted[i]->text == AS_NO_STR || n_host >= N_HOST ? "hx" : classes[n_host++];
    }
    free(sorted);
    return true;
}

/* The text whose colour a node has: its module, or that of the nearest above it that has one. */
static as_str module_of(const as_flame_tree *tree, const as_flame_colours *colours, const as_flame_node *node) {
    if (node->module != AS_NO_STR || node->parent == AS_FLAME_ROOT) return node->module;
    uint32_t above = colours->of[node->parent];
    return above == UINT32_MAX || tree->nodes.count == 0 ? AS_NO_STR
                                                         : AS_AT(as_flame_group, &colours->groups, above).text;
}

bool as_flame_colours_of(const as_flame_tree *tree, as_flame_colour by, as_flame_colours *out) {
    size_t n = tree->nodes.count;
    as_map known; /* (is_gpu, text) -> group */
    *out = (as_flame_colours){.by = by == AS_COLOUR_AUTO ? choose(tree) : by, .of = malloc((n + 1) * sizeof *out->of)};
    as_vec_init(&out->groups, sizeof(as_flame_group), NULL);
    as_map_init(&known, NULL);
    bool fine = out->of != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        const as_flame_node *node = &AS_AT(as_flame_node, &tree->nodes, i);
        bool on_gpu = is_gpu(tree, node->kind);
        out->of[i] = UINT32_MAX;
        if (out->by == AS_COLOUR_NAME || (out->by == AS_COLOUR_KIND && is_plain(tree, node->kind))) {
            out->has_names = true;
            continue;
        }
        as_str text = out->by == AS_COLOUR_KIND ? node->kind : module_of(tree, out, node);
        uint32_t group = as_map_get(&known, as_pair(on_gpu, text));
        if (group == AS_MAP_NONE) {
            as_flame_group added = {.text = text, .is_gpu = on_gpu};
            group = (uint32_t)out->groups.count;
            fine = as_vec_append(&out->groups, &added, 1) && as_map_put(&known, as_pair(on_gpu, text), group);
        }
        out->of[i] = group;
        if (fine) AS_AT(as_flame_group, &out->groups, group).own += node->own[0] + node->own[1];
    }
    as_map_free(&known);
    return fine && give_colours(out);
}

void as_flame_colours_free(as_flame_colours *colours) {
    as_vec_free(&colours->groups);
    free(colours->of);
}

void as_flame_put_class(as_output *out, const as_flame_tree *tree, const as_flame_colours *colours, size_t i) {
    const as_flame_node *node = &AS_AT(as_flame_node, &tree->nodes, i);
    const as_strings *names = as_flame_names(tree->flame);
    uint64_t hash = as_hash_everywhere(as_str_text(names, node->name), as_str_size(names, node->name));
    uint32_t group = colours->of[i];
    if (group != UINT32_MAX) {
        as_output_text(out, AS_AT(as_flame_group, &colours->groups, group).shade);
        if (hash % N_SHADES) as_output_printf(out, " s%u", (unsigned)(hash % N_SHADES));
    } else if (is_gpu(tree, node->kind)) {
        as_output_text(out, gpu_classes[hash % N_GPU]);
    } else {
        as_output_printf(out, "w%u", (unsigned)(hash % N_WARM));
    }
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

const as_change_class as_change_classes[AS_CHANGE_CLASSES] = {
    {"m4", "-50 % and less"}, {"m3", "-25 %"}, {"m2", "-10 %"}, {"m1", "-2 %"},          {"z0", "same"},
    {"p1", "+2 %"},           {"p2", "+10 %"}, {"p3", "+25 %"}, {"p4", "+50 % and more"}};

size_t as_flame_change(double a, double b) {
    static const double steps[] = {0.02, 0.1, 0.25, 0.5};
    enum { MIDDLE = AS_CHANGE_CLASSES / 2 };
    double change = a > 0 ? (b - a) / a : b > 0 ? INFINITY : 0;
    size_t step = 0;
    while (step < sizeof steps / sizeof *steps && fabs(change) >= steps[step]) step++;
    return change < 0 ? MIDDLE - step : MIDDLE + step;
}

const char *as_flame_module_name(const char *module) {
    const char *slash = strrchr(module, '/');
    return slash && slash[1] ? slash + 1 : module;
}
