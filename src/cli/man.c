/* The manual pages as scdoc source, from the tables: assay(1) and one page for each verb. */
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"
#include "query/target.h"

/* Text in which nothing means markup to scdoc. */
static void plain(as_output *out, const char *text) {
    for (; *text; text++) {
        if (strchr("*_\\#<[]`~.-", *text) && !(isalnum((unsigned char)*text))) as_output_char(out, '\\');
        as_output_char(out, *text);
    }
}

static void section(as_output *out, const char *title) { as_output_printf(out, "\n# %s\n\n", title); }

static void print_option(void *user, const as_cli_option *option) {
    as_output *out = user;
    if (option->letter) as_output_printf(out, "*-%c*, ", option->letter);
    as_output_text(out, "*--");
    plain(out, option->name);
    as_output_text(out, "*");
    if (option->argument) {
        as_output_text(out, " _");
        plain(out, option->argument);
        as_output_text(out, "_");
    }
    as_output_text(out, "\n\t");
    plain(out, option->help);
    if (as_option_hides_choices(option)) {
        as_output_text(out, ". One of ");
        plain(out, option->choices);
    }
    as_output_text(out, ".\n\n");
}

static void print_example(as_output *out, const as_example *example) {
    plain(out, example->explanation);
    as_output_printf(out, "\n\n```\n%s\n```\n\n", example->command);
}

static void print_examples(as_output *out, const as_example *examples) {
    if (!examples) return;
    section(out, "EXAMPLES");
    for (const as_example *e = examples; e->command; e++) print_example(out, e);
}

static void print_format_names(as_output *out, bool (*fits)(const as_format *format)) {
    const char *between = "";
    for (const as_format *const *format = as_formats; *format; format++) {
        if (!fits(*format)) continue;
        as_output_text(out, between);
        plain(out, (*format)->name);
        between = ", ";
    }
}

static bool is_readable(const as_format *format) { return format->read != NULL; }
static bool is_writable(const as_format *format) { return format->write != NULL; }

/* Options for -O, as lines of a list. format: whose they are, "when" it reads or writes; NULL: those of the verb's
 * method. */
static void print_o_options(as_output *out, const as_format *format, const char *when, const as_option *options) {
    for (const as_option *o = options; o && o->name; o++) {
        as_output_text(out, "*");
        plain(out, o->name);
        as_output_text(out, format ? "* (" : "*");
        if (format) {
            plain(out, format->name);
            as_output_printf(out, ", %s)", when);
        }
        as_output_text(out, "\n\t");
        plain(out, o->help);
        as_output_char(out, '.');
        if (o->choices) {
            as_output_text(out, " One of ");
            plain(out, o->choices);
            as_output_char(out, '.');
        }
        if (o->fallback && *o->fallback) {
            as_output_text(out, " Default: ");
            plain(out, o->fallback);
            as_output_char(out, '.');
        }
        as_output_text(out, "\n\n");
    }
}

static void print_formats(as_output *out) {
    section(out, "FORMATS");
    as_output_text(out, "Read: ");
    print_format_names(out, is_readable);
    as_output_text(out, ".\n\nWritten: ");
    print_format_names(out, is_writable);
    as_output_text(out,
                   ", " AS_SQLITE_NAME
                   ".\n\n*assay formats* shows what each can hold, *assay formats* _NAME_ its options for *-O*.\n\n");
    for (const as_format *const *format = as_formats; *format; format++) {
        print_o_options(out, *format, "reading", (*format)->read_options);
        print_o_options(out, *format, "writing", (*format)->write_options);
    }
}

static void print_status(as_output *out) {
    section(out, "EXIT STATUS");
    as_output_text(
        out, "*0*\n\tAll went well.\n\n*1*\n\tThe check failed: an invalid file, a loss that \\-\\-strict forbids.\n\n"
             "*2*\n\tWrong usage: an unknown verb, option or format, a faulty statement.\n\n"
             "*3*\n\tAn input could not be read, or the output not be written.\n\n"
             "An error is one line on standard error: the file, line and column, what is wrong, and what to do.\n");
}

static void print_environment(as_output *out) {
    section(out, "ENVIRONMENT");
    as_output_text(out, "*NO\\_COLOR*\n\tIf set and not empty, no colour is used unless *\\-\\-color* asks for it. "
                        "*TERM=dumb* does the same.\n\n"
                        "*COLUMNS*\n\tThe width of the terminal, where it is not the one it reports.\n");
}

static void print_see_also(as_output *out, const as_verb *verb) {
    section(out, "SEE ALSO");
    const char *between = "";
    if (verb) {
        as_output_text(out, "*assay*(1)");
        between = ", ";
    }
    for (const as_verb *const *v = as_verbs; *v; v++) {
        if (*v == verb) continue;
        as_output_printf(out, "%s*assay-%s*(1)", between, (*v)->name);
        between = ", ";
    }
    as_output_char(out, '\n');
}

static void print_verb_page(as_output *out, const as_verb *verb) {
    as_output_printf(out, "assay-%s(1) \"assay %s\" \"assay\"\n", verb->name, assay_version());
    section(out, "NAME");
    as_output_printf(out, "assay-%s - ", verb->name);
    plain(out, verb->summary);
    section(out, "SYNOPSIS");
    as_output_printf(out, "*assay %s* ", verb->name);
    plain(out, verb->usage);
    section(out, "DESCRIPTION");
    plain(out, verb->description);
    as_output_char(out, '\n');
    section(out, "OPTIONS");
    as_verb_options(verb, print_option, out);
    if (verb->method) {
        section(out, "OPTIONS OF THE METHOD");
        as_output_text(out, "Given as *-O* _KEY_=_VALUE_.\n\n");
        print_o_options(out, NULL, NULL, verb->method);
    }
    if (verb->takes & AS_TAKES_INPUT) print_formats(out);
    print_status(out);
    print_environment(out);
    print_examples(out, verb->examples);
    print_see_also(out, verb);
}

static void print_main_page(as_output *out) {
    as_output_printf(out, "assay(1) \"assay %s\" \"assay\"\n", assay_version());
    section(out, "NAME");
    as_output_text(out, "assay - open performance measurements, whatever tool wrote them");
    section(out, "SYNOPSIS");
    as_output_text(out, "*assay* _VERB_ \\[options\\] _PATH_…\n\n*assay* _PATH_…\n");
    section(out, "DESCRIPTION");
    as_output_text(out, "Opens performance measurements of many tools and answers what people ask about them. The "
                        "format of an input is found out from "
                        "its content. Without a verb, a path is shown as by *assay info*.\n");
    section(out, "VERBS");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        as_output_printf(out, "*%s*\n\t", (*verb)->name);
        plain(out, (*verb)->summary);
        as_output_printf(out, "; see *assay-%s*(1).\n\n", (*verb)->name);
    }
    section(out, "OPTIONS");
    as_verb_options(NULL, print_option, out);
    print_formats(out);
    section(out, "SEVERAL PROCESSES");
    as_output_text(out,
                   "*mpirun \\-n* _N_ *assay-mpi* _VERB_ … takes the same command line where assay was built with "
                   "MPI. The processes share the fits of scaling models; all of them must be able to read the inputs. "
                   "The first one prints and writes, the same as one process would. Other verbs are done by the first "
                   "process alone.\n");
    print_status(out);
    print_environment(out);
    section(out, "EXAMPLES");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        if ((*verb)->examples) print_example(out, &(*verb)->examples[0]);
    }
    print_see_also(out, NULL);
}

void as_man_print(as_output *out, const as_verb *verb) {
    if (verb)
        print_verb_page(out, verb);
    else
        print_main_page(out);
}
