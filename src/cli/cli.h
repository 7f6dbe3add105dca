/* The command: what a verb provides, and what it is given.
 *
 * A verb is one file src/cli/verb_NAME.c that ends in one `const struct as_verb as_verb_NAME`, named in
 * src/cli/verbs.def. From its tables come the parsing of options, --help, the man page and the shell completion. A verb
 * prints its answer to cli->out, reports errors with as_cli_error() or as_cli_fail(), and returns an exit status; it
 * never exits and never writes to stdout or stderr itself. */
#ifndef AS_CLI_CLI_H
#define AS_CLI_CLI_H

#include "cli/peers.h"
#include "core/error.h"
#include "dataset/dataset.h"
#include "formats/format.h"
#include "render/printer.h"

typedef enum as_exit {
    AS_EXIT_FINE = 0,
    AS_EXIT_CHECK = 1, /* the check failed: an invalid file, a loss under --strict */
    AS_EXIT_USAGE = 2,
    AS_EXIT_INPUT = 3 /* an input could not be read, or the output not be written */
} as_exit;

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* What the shell offers when an argument is completed. */
typedef enum as_completes {
    AS_COMPLETES_NOTHING,
    AS_COMPLETES_FILES,
    AS_COMPLETES_READABLE, /* formats that can be read */
    AS_COMPLETES_WRITABLE, /* formats that can be written */
    AS_COMPLETES_FORMATS,  /* all of them */
    AS_COMPLETES_VERBS
} as_completes;

/* Groups of common options; a verb says which it takes. */
typedef enum as_takes {
    AS_TAKES_JSON = 1 << 0,  /* --json */
    AS_TAKES_TABLE = 1 << 1, /* --csv --jsonl --md */
    AS_TAKES_INPUT = 1 << 2, /* --from -O --memory-limit */
    AS_TAKES_OUTPUT = 1 << 3 /* -o */
} as_takes;

/* One option. A table of them ends with a row whose name is NULL. */
typedef struct as_cli_option {
    const char *name;     /* "strict", given as --strict */
    char letter;          /* 'o', given as -o; 0 for none */
    bool hidden;          /* not in help, man page and completion */
    const char *argument; /* "FILE"; NULL: a flag */
    const char *choices;  /* "auto|always|never": all that may be given; NULL: anything */
    as_completes completes;
    unsigned group;   /* common options only: the as_takes they belong to, 0: every verb has them */
    const char *help; /* one sentence, no full stop */
} as_cli_option;

/* Whether it takes one of some words that its help does not name: then help and manual list them. */
bool as_option_hides_choices(const as_cli_option *option);

typedef struct as_example {
    const char *command, *explanation;
} as_example;

struct as_cli;

typedef struct as_verb {
    const char *name;
    const char *summary;          /* one line, no full stop */
    const char *usage;            /* what stands behind "assay NAME " */
    const char *description;      /* paragraphs, separated by an empty line */
    unsigned takes;               /* as_takes */
    const as_cli_option *options; /* its own; may be NULL */
    const as_option *method;      /* options of its method, given by -O; may be NULL */
    const char *operand_choices;  /* completion of operands: "bash|zsh|fish", or NULL */
    as_completes operands;
    const as_example *examples; /* ended by a row without a command; may be NULL */
    /* so many points make files an experiment (as_join_points()); 0: the verb joins nothing */
    size_t joins_files_from;
    bool is_shared; /* several processes can share its work: all of them run it (as_cli_share()) */
    as_exit (*run)(struct as_cli *cli);
} as_verb;

/* All verbs in the order of verbs.def, ended by NULL. */
extern const as_verb *const as_verbs[];
/* The common options, ended by a row without a name. */
extern const as_cli_option as_common_options[];
/* By name, or NULL. */
const as_verb *as_verb_find(const char *name);
/* Calls visit for each option the verb takes: its own first, then the common ones. verb NULL: the common ones without a
 * group. */
void as_verb_options(const as_verb *verb, void (*visit)(void *user, const as_cli_option *option), void *user);

/* ---- parsed arguments (options.c) -------------------------------------------------------------------------------- */

typedef struct as_given {
    const as_cli_option *option;
    const char *value; /* NULL for a flag */
} as_given;

/* What stands in a command line. Points into argv. */
typedef struct as_arguments {
    as_vec given;    /* as_given, in order */
    as_vec operands; /* const char * */
    as_vec joined;   /* char *: what as_join_points() made */
} as_arguments;

/* Parses GNU style: --name=value, --name value, -Ovalue, -O value, bundled flags -ab, "--" ends the options, "-" is an
 * operand, options may stand anywhere. A long name may be shortened as long as it is unique. tables: n tables of
 * options; rows whose group is set and not in `takes` are unknown. ASSAY_E_USAGE where something is unknown (naming the
 * nearest), lacks its argument, or has one it cannot have. */
assay_status as_arguments_parse(as_arguments *arguments, int argc, char *const *argv,
                                const as_cli_option *const *tables, size_t n, unsigned takes, assay_error *error);
void as_arguments_free(as_arguments *arguments);

/* "64M", "1.5GiB", "1000000": bytes; K, M, G, T (with or without iB) are powers of 1024, kB, MB … of 1000. False for
 * anything else. */
bool as_size_parse(const char *text, uint64_t *out);

/* ---- the context of a command ------------------------------------------------------------------------------------ */

typedef struct as_cli {
    const as_verb *verb;
    as_arguments arguments;

    as_print_style style; /* mode, width and colour of the answer */
    as_output *out;       /* the answer: standard output, or the file of -o */
    bool quiet;
    bool is_terminal;           /* the answer goes to a terminal */
    bool error_colour;          /* stderr takes colour */
    const char *from;           /* --from, or NULL */
    const char *output;         /* -o of AS_TAKES_OUTPUT, or NULL */
    const char *const *options; /* of -O, "key=value", ended by NULL */
    uint64_t memory_limit;      /* 0: the default */
    as_share reads;             /* whose values as_cli_read() reads; all 0: everybody's */
    bool reads_overview;        /* what can be said without reading everything is enough (as_reader.is_overview) */
    bool groups_itself;         /* the verb makes the groups of --group-by from what it reads */
    as_peers *peers;            /* the other processes of this command; NULL: there are none */
    void (*tell)(void *user, const char *text); /* who is told of errors and notes instead of stderr; NULL: nobody */
    void *tell_user;
    assay_status failure; /* of the last error that as_cli_error() told; ASSAY_OK: none */
} as_cli;

/* Runs the command line; the whole of main(). peers: NULL, or those that run the same. */
as_exit as_command_run(int argc, char **argv, as_peers *peers);

/* Whether this process prints and writes: the only one, or the first of several. */
static inline bool as_cli_is_first(const as_cli *cli) { return !cli->peers || cli->peers->share.index == 0; }
/* What as_fit_models() takes to share its work; NULL: nothing is shared. A verb that is not first ends behind it. */
static inline const as_fit_share *as_cli_share(const as_cli *cli) {
    return cli->peers && cli->peers->share.count > 1 ? &cli->peers->share : NULL;
}

/* Whether the option was given; its last value, or NULL. name without dashes. */
bool as_cli_has(const as_cli *cli, const char *name);
const char *as_cli_value(const as_cli *cli, const char *name);

static inline size_t as_cli_operands(const as_cli *cli) { return cli->arguments.operands.count; }
static inline const char *as_cli_operand(const as_cli *cli, size_t i) {
    return AS_AT(const char *, &cli->arguments.operands, i);
}

/* Opens path as a dataset with what the command line says (--from, -O, --memory-limit). On failure prints the error's
 * line and returns the exit status. The caller frees *out with as_dataset_free(). */
as_exit as_cli_open(as_cli *cli, const char *path, as_dataset **out);
/* The same without printing: for verbs that treat errors as data. options: NULL, or those to use instead of -O's. */
assay_status as_cli_read(as_cli *cli, const char *path, bool keep_going, const char *const *options, as_dataset **out,
                         assay_error *error);

/* Prints the error as one line "assay: FILE:LINE:COL: message" to stderr; returns its exit status. A pipe that nobody
 * reads any more is no error: nothing is printed, status 0. */
as_exit as_cli_error(as_cli *cli, const assay_error *error);
/* The same for a sentence of our own. */
as_exit as_cli_fail(as_cli *cli, as_exit status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "memory is out", status 3. */
as_exit as_cli_memory(as_cli *cli);
/* "assay: note: …" on stderr, unless --quiet. */
void as_cli_note(as_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a table in cli->style to cli->out. Status 3 (with its line) when memory is out. */
as_exit as_cli_print(as_cli *cli, const as_table *table);

/* Refuses to write over a directory or one of the first n operands, which are inputs: prints it and gives 3. */
as_exit as_cli_check_output(as_cli *cli, const char *output, size_t n_inputs);

/* Ends an output and gives status, or 3 with a line where it could not be written. */
as_exit as_cli_commit(as_cli *cli, as_output *out, as_exit status);

/* Whether to draw with nothing but ASCII: --ascii, or a locale without UTF-8. */
bool as_cli_is_ascii(const as_cli *cli);
#define AS_ASCII_OPTION                                                                                                \
    { .name = "ascii", .help = "Draw with nothing but ASCII; by default where the locale has no UTF-8" }

/* Refuses files of other kinds of pictures, and pages: they would have text in them. */
as_exit as_cli_check_picture(as_cli *cli);
/* Whether the answer is to be a picture: --svg, or -o with a file that ends in .svg. */
bool as_cli_is_svg(const as_cli *cli);
#define AS_SVG_OPTION                                                                                                  \
    { .name = "svg", .help = "Draw an interactive picture for the browser; -o FILE.svg says the same" }

/* Metrics by formula: as_cli_read() adds them to what it reads. */
#define AS_DERIVE_OPTION                                                                                               \
    {                                                                                                                  \
        .name = "derive", .argument = "NAME=EXPRESSION",                                                               \
        .help = "Add a metric that is computed from others, such as 'ipc=instructions/cycles'; may be given several "  \
                "times (docs/derived.md)"                                                                              \
    }

/* Colour of text: as_sgr(cli->style.colour, AS_BOLD) is the escape sequence, or "" where colour is off. */
#define AS_BOLD   "\033[1m"
#define AS_DIM    "\033[2m"
#define AS_RED    "\033[1;31m"
#define AS_GREEN  "\033[32m"
#define AS_YELLOW "\033[1;33m"
#define AS_CYAN   "\033[36m"
#define AS_PLAIN  "\033[0m"
static inline const char *as_sgr(bool colour, const char *sequence) { return colour ? sequence : ""; }

/* ---- help (help.c, man.c) ---------------------------------------------------------------------------------------- */

/* verb NULL: of the whole command. width 0: 80 columns. */
void as_help_print(as_output *out, const as_verb *verb, unsigned width, bool colour);
/* The page as scdoc source. */
void as_man_print(as_output *out, const as_verb *verb);

#endif
