#include "cli/answers.h"

#include "formats/format.h"

as_exit as_answer_files(as_cli *cli, bool is_table, as_table *batch, as_answer_file *answer) {
    size_t n = as_cli_operands(cli);
    bool is_array = !is_table && cli->style.mode == AS_PRINT_JSON && n > 1;
    as_answers a = {.builder = as_builder_of(cli->out), .batch = batch};
    if (batch) a.printer = as_printer_new(cli->out, cli->style);
    if (is_table && !a.printer) {
        as_table_free(batch);
        return as_cli_memory(cli);
    }
    as_exit status = AS_EXIT_FINE;
    if (is_array) as_build_array(&a.builder, NULL, true);
    for (size_t i = 0; i < n; i++) {
        as_exit answered = answer(cli, &a, as_cli_operand(cli, i));
        if (answered != AS_EXIT_FINE) status = answered;
    }
    if (is_array) as_build_end(&a.builder);
    if (a.printer && !as_printer_end(a.printer, a.shown ? batch : NULL) && status == AS_EXIT_FINE)
        status = as_cli_memory(cli);
    as_table_free(batch);
    return status;
}

bool as_mode_of_ending(const char *path, as_print_mode *mode) {
    static const struct {
        const char *ending;
        as_print_mode mode;
    } endings[] = {{".json", AS_PRINT_JSON},
                   {".jsonl", AS_PRINT_JSONL},
                   {".csv", AS_PRINT_CSV},
                   {".md", AS_PRINT_MARKDOWN},
                   {".txt", AS_PRINT_TEXT}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!as_has_ending(path, endings[i].ending)) continue;
        *mode = endings[i].mode;
        return true;
    }
    return false;
}
