/* Completion scripts for shells, from the tables of verbs and options. */
#include <string.h>

#include "cli/cli.h"
#include "query/target.h"

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The words of "a|b|c" with blanks between them. */
static void print_choices(as_output *out, const char *choices) {
    for (; *choices; choices++) as_output_char(out, *choices == '|' ? ' ' : *choices);
}

static void print_format_names(as_output *out, bool readable, bool writable) {
    const char *between = "";
    for (const as_format *const *format = as_formats; *format; format++) {
        if (!(readable && (*format)->read) && !(writable && (*format)->write)) continue;
        as_output_printf(out, "%s%s", between, (*format)->name);
        between = " ";
    }
    if (writable) as_output_printf(out, "%s%s", between, AS_SQLITE_NAME);
}

static void print_verb_names(as_output *out, const char *between) {
    for (const as_verb *const *verb = as_verbs; *verb; verb++)
        as_output_printf(out, "%s%s", verb == as_verbs ? "" : between, (*verb)->name);
}

/* All words that may stand there; false where that is not a list of words. */
static bool print_words(as_output *out, as_completes completes, const char *choices) {
    if (choices)
        print_choices(out, choices);
    else if (completes == AS_COMPLETES_READABLE)
        print_format_names(out, true, false);
    else if (completes == AS_COMPLETES_WRITABLE)
        print_format_names(out, false, true);
    else if (completes == AS_COMPLETES_FORMATS)
        print_format_names(out, true, true);
    else if (completes == AS_COMPLETES_VERBS)
        print_verb_names(out, " ");
    else
        return false;
    return true;
}

/* Text inside single quotes of a shell; further: characters that need a backslash there. */
static void print_quoted(as_output *out, const char *text, const char *quote, const char *further) {
    for (; *text; text++) {
        if (*text == '\'') {
            as_output_text(out, quote);
            continue;
        }
        if (strchr(further, *text)) as_output_char(out, '\\');
        as_output_char(out, *text);
    }
}

/* A visitor's state: where to print, and for which verb. */
typedef struct script {
    as_output *out;
    const as_verb *verb;
} script;

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void bash_option_name(void *user, const as_cli_option *option) {
    const script *s = user;
    as_output_printf(s->out, " --%s", option->name);
    if (option->letter) as_output_printf(s->out, " -%c", option->letter);
}

/* What follows an option that has an argument. */
static void bash_option_case(void *user, const as_cli_option *option) {
    const script *s = user;
    if (!option->argument) return;
    as_output_printf(s->out, "        %s:--%s", s->verb->name, option->name);
    if (option->letter) as_output_printf(s->out, "|%s:-%c", s->verb->name, option->letter);
    as_output_text(s->out, ") ");
    if (option->completes == AS_COMPLETES_FILES) {
        as_output_text(s->out, "_assay_files \"$cur\"; return ;;\n");
        return;
    }
    as_output_text(s->out, "COMPREPLY=($(compgen -W '");
    print_words(s->out, option->completes, option->choices);
    as_output_text(s->out, "' -- \"$cur\")); return ;;\n");
}

static void bash_operands(as_output *out, const as_verb *verb) {
    as_output_printf(out, "        %s) ", verb->name);
    if (verb->operands == AS_COMPLETES_FILES)
        as_output_text(out, "_assay_files \"$cur\" ;;\n");
    else {
        as_output_text(out, "COMPREPLY=($(compgen -W '");
        print_words(out, verb->operands, verb->operand_choices);
        as_output_text(out, "' -- \"$cur\")) ;;\n");
    }
}

static void print_bash(as_output *out) {
    as_output_text(
        out,
        "# bash completion for assay, made by: assay completion bash\n"
        "_assay_files() {\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
        "}\n\n"
        "_assay() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' options='' i\n"
        "    if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
        "    COMPREPLY=()\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in\n"
        "            ");
    print_verb_names(out, "|");
    as_output_text(out, ") verb=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    case ${verb:-info}:$prev in\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++)
        as_verb_options(*verb, bash_option_case, &(script){out, *verb});
    as_output_text(out, "    esac\n    if [[ $cur == -* ]]; then\n        case ${verb:-info} in\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        as_output_printf(out, "            %s) options='", (*verb)->name);
        as_verb_options(*verb, bash_option_name, &(script){out, *verb});
        as_output_text(out, "' ;;\n");
    }
    as_output_text(out, "        esac\n        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n        return\n    "
                        "fi\n    case $verb in\n        '')\n"
                        "            _assay_files \"$cur\"\n            COMPREPLY+=($(compgen -W '");
    print_verb_names(out, " ");
    as_output_text(out, "' -- \"$cur\")) ;;\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) bash_operands(out, *verb);
    as_output_text(out, "    esac\n}\ncomplete -F _assay assay\n");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

static void zsh_words(as_output *out, as_completes completes, const char *choices) {
    if (completes == AS_COMPLETES_FILES) {
        as_output_text(out, "_files");
        return;
    }
    as_output_char(out, '(');
    print_words(out, completes, choices);
    as_output_char(out, ')');
}

static void zsh_option(void *user, const as_cli_option *option) {
    const script *s = user;
    for (int pass = option->letter ? 0 : 1; pass < 2; pass++) {
        as_output_text(s->out, " \\\n                '");
        if (strstr(option->help, "several times")) as_output_char(s->out, '*');
        if (pass == 0)
            as_output_printf(s->out, "-%c%s[", option->letter, option->argument ? "+" : "");
        else
            as_output_printf(s->out, "--%s%s[", option->name, option->argument ? "=" : "");
        print_quoted(s->out, option->help, "'\\''", "[]\\");
        as_output_char(s->out, ']');
        if (option->argument) {
            as_output_printf(s->out, ":%s:", option->argument);
            zsh_words(s->out, option->completes, option->choices);
        }
        as_output_char(s->out, '\'');
    }
}

static void print_zsh(as_output *out) {
    as_output_text(out, "#compdef assay\n# zsh completion for assay, made by: assay completion zsh\n\n"
                        "_assay() {\n    local context state state_descr line\n    typeset -A opt_args\n    local -a "
                        "verbs\n    verbs=(\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        as_output_printf(out, "        '%s:", (*verb)->name);
        print_quoted(out, (*verb)->summary, "'\\''", ":\\");
        as_output_text(out, "'\n");
    }
    as_output_text(out, "    )\n    _arguments -C '1: :->verb' '*:: :->rest'\n    case $state in\n        verb)\n"
                        "            _describe -t verbs verb verbs\n            _files\n            ;;\n        "
                        "rest)\n            case $words[1] in\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        as_output_printf(out, "            %s)\n                _arguments -s", (*verb)->name);
        as_verb_options(*verb, zsh_option, &(script){out, *verb});
        as_output_text(out, " \\\n                '*: :");
        zsh_words(out, (*verb)->operands, (*verb)->operand_choices);
        as_output_text(out, "'\n                ;;\n");
    }
    as_output_text(out, "            *) _files ;;\n            esac\n            ;;\n    esac\n}\n\n_assay \"$@\"\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void fish_option(void *user, const as_cli_option *option) {
    const script *s = user;
    as_output_printf(s->out, "complete -c assay -n '__fish_seen_subcommand_from %s' -l %s", s->verb->name,
                     option->name);
    if (option->letter) as_output_printf(s->out, " -s %c", option->letter);
    if (option->argument && option->completes == AS_COMPLETES_FILES)
        as_output_text(s->out, " -r -F");
    else if (option->argument) {
        as_output_text(s->out, " -x -a '");
        print_words(s->out, option->completes, option->choices);
        as_output_char(s->out, '\'');
    }
    as_output_text(s->out, " -d '");
    print_quoted(s->out, option->help, "\\'", "\\");
    as_output_text(s->out, "'\n");
}

static void print_fish(as_output *out) {
    as_output_text(out, "# fish completion for assay, made by: assay completion fish\n");
    for (const as_verb *const *verb = as_verbs; *verb; verb++) {
        as_output_printf(out, "complete -c assay -n __fish_use_subcommand -a %s -d '", (*verb)->name);
        print_quoted(out, (*verb)->summary, "\\'", "\\");
        as_output_text(out, "'\n");
        as_verb_options(*verb, fish_option, &(script){out, *verb});
        if ((*verb)->operands == AS_COMPLETES_FILES) continue; /* what fish offers anyway */
        as_output_printf(out, "complete -c assay -n '__fish_seen_subcommand_from %s' -f -a '", (*verb)->name);
        print_words(out, (*verb)->operands, (*verb)->operand_choices);
        as_output_text(out, "'\n");
    }
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static as_exit run(as_cli *cli) {
    const char *shell = as_cli_operands(cli) == 1 ? as_cli_operand(cli, 0) : "";
    if (strcmp(shell, "bash") == 0)
        print_bash(cli->out);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(cli->out);
    else if (strcmp(shell, "fish") == 0)
        print_fish(cli->out);
    else
        return as_cli_fail(cli, AS_EXIT_USAGE, "completion needs the name of a shell; it is one of bash, zsh, fish");
    return AS_EXIT_FINE;
}

static const as_example examples[] = {
    {"source <(assay completion bash)", "Completion in this shell; put the line into ~/.bashrc for all."},
    {"assay completion zsh > ~/.zfunc/_assay", "For zsh, in a folder of its fpath."},
    {"assay completion fish > ~/.config/fish/completions/assay.fish", "For fish."},
    {NULL, NULL},
};

const as_verb as_verb_completion = {
    .name = "completion",
    .summary = "Print the completion script of a shell",
    .usage = "bash|zsh|fish",
    .description =
        "Prints a script that completes verbs, options, formats and files. Installed packages put it in place.",
    .takes = AS_TAKES_OUTPUT,
    .operand_choices = "bash|zsh|fish",
    .examples = examples,
    .run = run,
};
