/* --help, from the tables. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "render/display.h"

enum { DEFAULT_WIDTH = 80, WIDEST = 100, NAME_COLUMN = 28 };

typedef struct page {
    as_output *out;
    unsigned width;
    bool colour;
} page;

/* Prints words, broken into lines; the cursor stands at column `at`, further lines begin at `indent`. Ends the line. */
static void wrap(const page *p, const char *text, size_t at, size_t indent) {
    bool fresh = true;
    while (*text) {
        size_t size = strcspn(text, " "), width = as_display_width(text, size);
        if (!fresh && at + 1 + width > p->width) {
            as_output_char(p->out, '\n');
            as_display_pad(p->out, indent);
            at = indent;
            fresh = true;
        }
        if (!fresh) as_output_char(p->out, ' ');
        as_output_write(p->out, text, size);
        at += width + !fresh;
        fresh = false;
        text += size + strspn(text + size, " ");
    }
    as_output_char(p->out, '\n');
}

static void heading(const page *p, const char *title) {
    as_output_printf(p->out, "\n%s%s%s\n", as_sgr(p->colour, AS_BOLD), title, as_sgr(p->colour, AS_PLAIN));
}

/* A name and, beside or below it, what it means. */
static void entry(const page *p, const char *name, const char *text, size_t column) {
    size_t at = 2 + as_display_width(name, strlen(name));
    as_output_printf(p->out, "  %s", name);
    if (at + 2 > column) {
        as_output_char(p->out, '\n');
        at = 0;
    }
    as_display_pad(p->out, column - at);
    wrap(p, text, column, column);
}

bool as_option_hides_choices(const as_cli_option *option) {
    for (const char *word = option->choices; word && *word;) {
        size_t size = strcspn(word, "|");
        if (!memmem(option->help, strlen(option->help), word, size)) return true;
        word += size + (word[size] == '|');
    }
    return false;
}

static void print_option(void *user, const as_cli_option *option) {
    const page *p = user;
    char name[80], letter[4] = "  ", text[512];
    bool hides = as_option_hides_choices(option);
    if (option->letter) snprintf(letter, sizeof letter, "-%c", option->letter);
    snprintf(name, sizeof name, "%s%s --%s%s%s", letter, option->letter ? "," : " ", option->name,
             option->argument ? " " : "", option->argument ? option->argument : "");
    snprintf(text, sizeof text, "%s%s%s", option->help, hides ? ": " : "", hides ? option->choices : "");
    entry(p, name, text, NAME_COLUMN);
}

/* An option of the verb's method: "KEY=VALUE  what it does (default)". */
static void print_method_option(const page *p, const as_option *option) {
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", option->help, option->choices ? ": " : "",
             option->choices ? option->choices : "", *option->fallback ? " (" : "", option->fallback,
             *option->fallback ? ")" : "");
    entry(p, option->name, text, NAME_COLUMN);
}

static void print_paragraphs(const page *p, const char *text) {
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        char paragraph[2048];
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)size, text);
        as_output_char(p->out, '\n');
        wrap(p, paragraph, 0, 0);
        text = end ? end + 2 : NULL;
    }
}

static void print_overview(page *p) {
    as_output_text(p->out, "assay opens performance measurements, whatever tool wrote them.\n");
    heading(p, "usage");
    as_output_text(p->out,
                   "  assay VERB [options] PATH…\n  assay PATH…                 the same as assay info PATH…\n");
    heading(p, "verbs");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) entry(p, (*verb)->name, (*verb)->summary, 16);
    heading(p, "options");
    as_verb_options(NULL, print_option, p);
    as_output_text(p->out, "\nassay help VERB tells more about a verb.\n");
}

static void print_page(as_output *out, const as_verb *verb, unsigned width, bool colour) {
    page p = {.out = out, .width = width ? width : DEFAULT_WIDTH, .colour = colour};
    if (p.width > WIDEST) p.width = WIDEST;
    if (p.width < 2 * NAME_COLUMN) p.width = 2 * NAME_COLUMN;
    if (!verb) {
        print_overview(&p);
        return;
    }
    as_output_printf(out, "assay %s: ", verb->name);
    wrap(&p, verb->summary, strlen(verb->name) + 8, 2);
    heading(&p, "usage");
    as_output_printf(out, "  assay %s %s\n", verb->name, verb->usage);
    print_paragraphs(&p, verb->description);
    heading(&p, "options");
    as_verb_options(verb, print_option, &p);
    if (verb->method) heading(&p, "options of the method, as -O KEY=VALUE");
    for (const as_option *o = verb->method; o && o->name; o++) print_method_option(&p, o);
    if (!verb->examples) return;
    heading(&p, "examples");
    for (const as_example *e = verb->examples; e->command; e++) {
        as_output_printf(out, "  %s\n      ", e->command);
        wrap(&p, e->explanation, 6, 6);
    }
}

void as_help_print(as_output *out, const as_verb *verb, unsigned width, bool colour) {
    as_output *shown = as_output_is_ascii(out) ? as_output_to_memory() : NULL;
    print_page(shown ? shown : out, verb, width, colour);
    size_t size;
    const char *text = shown ? as_output_memory(shown, &size) : NULL;
    for (const char *dots; text && *text; text = dots + strlen("…")) {
        dots = strstr(text, "…");
        as_output_write(out, text, dots ? (size_t)(dots - text) : strlen(text));
        if (!dots) break;
        as_output_text(out, as_display_ellipsis(out));
    }
    as_output_discard(shown);
}
