/* The shapes of `assay flame` other than folded stacks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/flame_view.h"
#include "cli/profile_choice.h"
#include "cli/study.h"
#include "render/flame_svg.h"
#include "render/json_builder.h"
#include "render/text_buffer.h"

enum { USUAL_WIDTH = 1200, MOST_BYTES = 2700000 };

/* Which of the words of an option is given: its place, or 0 for none. */
static int chosen(const as_cli *cli, const char *name, const char *const *words, int n) {
    const char *value = as_cli_value(cli, name);
    for (int i = 0; value && i < n; i++) {
        if (words[i] && strcmp(words[i], value) == 0) return i;
    }
    return 0;
}

static as_flame_request request_of(const as_cli *cli) {
    static const char *const sides[] = {[AS_WIDE_AS_FIRST] = "a", [AS_WIDE_AS_SECOND] = "b", [AS_WIDE_AS_MOST] = "max"};
    as_flame_request request = {.is_inverted = as_cli_has(cli, "inverted"),
                                .is_normalized = as_cli_has(cli, "normalize"),
                                .width = AS_WIDE_AS_SECOND};
    if (as_cli_has(cli, "width-of")) request.width = (as_flame_width)chosen(cli, "width-of", sides, 3);
    return request;
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

/* "a.cubex", "a.cubex and 3 more", "a.cubex → b.cubex" */
static void put_title(const as_cli *cli, as_text *out) {
    size_t n = as_cli_operands(cli);
    char more[32];
    if (as_cli_has(cli, "title")) {
        as_text_add(out, as_cli_value(cli, "title"));
        return;
    }
    as_text_add(out, as_cli_operand(cli, 0));
    if (as_cli_has(cli, "diff")) {
        as_text_add(out, " → ");
        as_text_add(out, as_cli_operand(cli, 1));
    } else if (n > 1) {
        snprintf(more, sizeof more, " and %zu more", n - 1);
        as_text_add(out, more);
    }
}

/* "'time' [sec], process 3, inverted" */
static void put_subtitle(const as_cli *cli, const as_flame_view *stacks, as_text *out) {
    static const char *const words[][2] = {{"inverted", "innermost functions first"},
                                           {"normalize", "the first scaled to the sum of the second"}};
    as_text_add(out, stacks->metric);
    if (*stacks->part) {
        as_text_add(out, ", ");
        as_text_add(out, stacks->part);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!as_cli_has(cli, words[i][0])) continue;
        if (as_text_size(out)) as_text_add(out, ", ");
        as_text_add(out, words[i][1]);
    }
}

/* What no number holds has no width either. */
static as_exit check_total(as_cli *cli, const as_flame_tree *tree) {
    if (isfinite(tree->total[0]) && isfinite(tree->total[1]) && tree->scale[0] > 0) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_INPUT, "the amounts add up to more than a number can hold; nothing can be drawn");
}

static as_exit draw(as_cli *cli, const as_flame_view *stacks, as_flame_svg *picture) {
    as_flame_tree tree;
    bool fine = as_flame_tree_make(stacks->flame, &picture->request, &tree);
    as_exit status = fine ? check_total(cli, &tree) : AS_EXIT_FINE;
    if (fine && status == AS_EXIT_FINE) fine = as_flame_svg_write(cli->out, &tree, picture);
    as_flame_tree_free(&tree);
    return fine ? status : as_cli_memory(cli);
}

as_exit as_flame_draw(as_cli *cli, const as_flame_view *stacks) {
    static const char *const colours[] = {
        [AS_COLOUR_MODULE] = "module", [AS_COLOUR_KIND] = "kind", [AS_COLOUR_NAME] = "name"};
    size_t width = USUAL_WIDTH;
    if (!as_cli_count(cli, "width", &width)) return AS_EXIT_USAGE;
    if (width < AS_FLAME_LEAST_WIDTH || width > AS_FLAME_MOST_WIDTH)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--width takes a number of pixels from %d to %d", AS_FLAME_LEAST_WIDTH,
                           AS_FLAME_MOST_WIDTH);
    as_flame_svg picture = {.unit = stacks->unit,
                            .page_width = (double)width,
                            .grows_up = as_cli_has(cli, "flames"),
                            .colour = (as_flame_colour)chosen(cli, "color-by", colours, 4),
                            .request = request_of(cli)};
    picture.request.min_share = as_flame_least_share((double)width);
    picture.request.room = as_cli_has(cli, "min-share") ? 0 : MOST_BYTES;
    picture.request.frame_costs = AS_FLAME_FRAME_COSTS;
    picture.request.longest_name = AS_FLAME_LONGEST_NAME;
    as_exit status = as_choose_min_share(cli, &picture.request.min_share);
    if (status != AS_EXIT_FINE) return status;
    if (as_cli_has(cli, "diff")) {
        picture.sides[0] = as_cli_operand(cli, 0);
        picture.sides[1] = as_cli_operand(cli, 1);
    }
    as_text title, subtitle;
    as_text_init(&title);
    as_text_init(&subtitle);
    put_title(cli, &title);
    put_subtitle(cli, stacks, &subtitle);
    as_text_char(&title, '\0');
    as_text_char(&subtitle, '\0');
    picture.title = as_text_data(&title);
    picture.subtitle = as_text_data(&subtitle);
    status = title.failed || subtitle.failed ? as_cli_memory(cli) : draw(cli, stacks, &picture);
    as_text_free(&title);
    as_text_free(&subtitle);
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* An integer as one, as long as doubles tell them apart. */
static void build_amount(as_builder *builder, const char *key, double amount) {
    if (fabs(amount) < 9e15 && amount == (double)(int64_t)amount)
        as_build_int(builder, key, (int64_t)amount);
    else
        as_build_real(builder, key, amount);
}

static void build_node(as_builder *builder, const as_flame_tree *tree, const as_flame_node *node, size_t n_sides) {
    static const char *const keys[][2] = {{"a", "a_self"}, {"b", "b_self"}};
    const as_strings *names = as_flame_names(tree->flame);
    as_build_object(builder, NULL, false);
    as_build_known(builder, "parent", node->parent == AS_FLAME_ROOT ? -1 : (int64_t)node->parent, false);
    as_build_int(builder, "depth", node->depth);
    as_build_text(builder, "name", as_str_text(names, node->name));
    for (size_t side = 0; side < n_sides; side++) {
        build_amount(builder, n_sides == 1 ? "value" : keys[side][0], node->total[side]);
        build_amount(builder, n_sides == 1 ? "self" : keys[side][1], node->own[side]);
    }
    if (node->module != AS_NO_STR) as_build_text(builder, "module", as_str_text(names, node->module));
    if (node->kind != AS_NO_STR) as_build_text(builder, "kind", as_str_text(names, node->kind));
    as_build_end(builder);
}

as_exit as_flame_json(as_cli *cli, const as_flame_view *stacks) {
    as_flame_request request = request_of(cli);
    size_t n_sides = as_flame_sides(stacks->flame);
    as_flame_tree tree;
    as_builder builder = as_builder_of(cli->out);
    as_exit status = as_choose_min_share(cli, &request.min_share);
    if (status != AS_EXIT_FINE) return status;
    if (!as_cli_has(cli, "width-of")) request.width = AS_WIDE_AS_MOST; /* nothing is left out */
    bool fine = as_flame_tree_make(stacks->flame, &request, &tree);
    if (fine) status = check_total(cli, &tree);
    if (fine && status == AS_EXIT_FINE) {
        as_build_object(&builder, NULL, true);
        as_build_array(&builder, "files", false);
        for (size_t i = 0; i < as_cli_operands(cli); i++) as_build_text(&builder, NULL, as_cli_operand(cli, i));
        as_build_end(&builder);
        as_build_text(&builder, "metric", stacks->metric);
        as_build_text(&builder, "unit", *stacks->unit ? stacks->unit : NULL);
        build_amount(&builder, n_sides == 1 ? "value" : "a", tree.total[0]);
        if (n_sides > 1) build_amount(&builder, "b", tree.total[1]);
        as_build_array(&builder, "nodes", true);
        for (size_t i = 0; i < tree.nodes.count; i++)
            build_node(&builder, &tree, &AS_AT(as_flame_node, &tree.nodes, i), n_sides);
        as_build_end(&builder);
        as_build_end(&builder);
    }
    as_flame_tree_free(&tree);
    return fine ? status : as_cli_memory(cli);
}
