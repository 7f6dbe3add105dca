/* The interactive shell: lines with history and completion by libedit. Ctrl-C drops the line or stops the query, Ctrl-D
 * ends. */
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/sql_session.h"

enum { MAX_HISTORY = 2000 };

struct shell {
    as_session *session;
    EditLine *line;
    History *history;
    char history_path[4096]; /* "": none is kept */
    struct sigaction action_before;
    sigset_t mask_before;
};

/* ---- interruption ------------------------------------------------------------------------------------------------ */

static sqlite3 *volatile interrupted_db;
static volatile sig_atomic_t was_interrupted;
static volatile sig_atomic_t is_reading;
static sigjmp_buf before_reading;

static void interrupt(int signal_number) {
    (void)signal_number;
    was_interrupted = 1;
    if (interrupted_db) sqlite3_interrupt(interrupted_db);
    if (is_reading) siglongjmp(before_reading, 1);
}

static sigset_t interrupts_only(void) {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    return interrupts;
}

/* Interrupts are blocked but for two places, waiting for a key and running a statement: one that comes in between is
 * not lost. */
static void catch_interrupts(struct shell *shell) {
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, &shell->action_before);
    sigset_t interrupts = interrupts_only();
    sigprocmask(SIG_BLOCK, &interrupts, &shell->mask_before);
}

static void release_interrupts(struct shell *shell) {
    sigaction(SIGINT, &shell->action_before, NULL);
    sigprocmask(SIG_SETMASK, &shell->mask_before, NULL);
}

/* The next byte of the terminal. 1, 0 at the end, or -1: errno is EINTR where Ctrl-C was pressed.
 *
 * Ctrl-C also drops what the terminal holds, even between the news that there is a byte and its reading, and may come
 * right before the reading begins: only a jump out of read() never leaves it waiting for one more key. */
static int read_byte(const struct shell *shell, char *byte) {
    const sigset_t interrupts = interrupts_only();
    if (sigsetjmp(before_reading, 1) != 0) {
        is_reading = 0;
        errno = EINTR;
        return -1;
    }
    ssize_t size;
    is_reading = 1;
    sigprocmask(SIG_SETMASK, &shell->mask_before, NULL);
    do size = read(STDIN_FILENO, byte, 1);
    while (size < 0 && errno == EINTR);
    sigprocmask(SIG_BLOCK, &interrupts, NULL);
    is_reading = 0;
    return (int)size;
}

static int read_character(EditLine *line, wchar_t *character) {
    const struct shell *shell;
    if (el_get(line, EL_CLIENTDATA, &shell) != 0) return -1;
    mbstate_t state = {0};
    for (;;) {
        char byte;
        int status = read_byte(shell, &byte);
        if (status != 1) return status;
        size_t used = mbrtowc(character, &byte, 1, &state);
        if (used == (size_t)-2) continue; /* there is more of it */
        if (used == (size_t)-1) *character = L'?';
        return 1;
    }
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

/* Makes all folders on the way to a file; what fails shows when the file is written. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void load_history(struct shell *shell) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int size = -1;
    if (state && state[0] == '/')
        size = snprintf(shell->history_path, sizeof shell->history_path, "%s/assay/history", state);
    else if (home && home[0] == '/')
        size = snprintf(shell->history_path, sizeof shell->history_path, "%s/.local/state/assay/history", home);
    if (size < 0 || (size_t)size >= sizeof shell->history_path) shell->history_path[0] = '\0';
    HistEvent event;
    history(shell->history, &event, H_SETSIZE, MAX_HISTORY);
    history(shell->history, &event, H_SETUNIQUE, 1);
    if (shell->history_path[0]) history(shell->history, &event, H_LOAD, shell->history_path);
}

static void save_history(struct shell *shell) {
    if (!shell->history_path[0]) return;
    make_folders(shell->history_path);
    mode_t before = umask(077);
    HistEvent event;
    history(shell->history, &event, H_SAVE, shell->history_path);
    umask(before);
}

/* ---- completion -------------------------------------------------------------------------------------------------- */

struct completion {
    const char *word;
    size_t size;
    as_vec found; /* char *, from strdup */
};

static void offer(struct completion *completion, const char *candidate, size_t size, bool follow_case) {
    if (size < completion->size || strncasecmp(candidate, completion->word, completion->size) != 0) return;
    char *copy = strndup(candidate, size);
    if (!copy) return;
    /* Keywords are spelled in capitals: they follow what was typed. */
    bool lower = follow_case && !(completion->word[0] >= 'A' && completion->word[0] <= 'Z');
    for (char *c = copy; lower && *c; c++) *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    for (size_t i = 0; i < completion->found.count; i++) {
        if (strcasecmp(AS_AT(char *, &completion->found, i), copy) != 0) continue;
        free(copy);
        return;
    }
    if (!as_vec_append(&completion->found, &copy, 1)) free(copy);
}

static void offer_names(struct completion *completion, sqlite3 *db) {
    static const char sql[] = "select name from pragma_table_list union select i.name from pragma_table_list t, "
                              "pragma_table_info(t.name, t.schema) i union select name from pragma_database_list "
                              "order by 1";
    sqlite3_stmt *names;
    if (sqlite3_prepare_v2(db, sql, -1, &names, NULL) != SQLITE_OK) return;
    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        if (name && strncmp(name, "sqlite_", 7) != 0) offer(completion, name, strlen(name), false);
    }
    sqlite3_finalize(names);
}

static void offer_keywords(struct completion *completion) {
    for (int i = 0; i < sqlite3_keyword_count(); i++) {
        const char *keyword;
        int size;
        if (sqlite3_keyword_name(i, &keyword, &size) == SQLITE_OK) offer(completion, keyword, (size_t)size, true);
    }
}

/* How many letters all that was found has in common. */
static size_t common_size(const struct completion *completion) {
    const char *first = AS_AT(char *, &completion->found, 0);
    size_t size = strlen(first);
    for (size_t i = 1; i < completion->found.count; i++) {
        const char *other = AS_AT(char *, &completion->found, i);
        size_t same = 0;
        while (same < size && other[same] && strncasecmp(first + same, other + same, 1) == 0) same++;
        size = same;
    }
    return size;
}

static unsigned char show_choices(const struct completion *completion) {
    putchar('\n');
    for (size_t i = 0; i < completion->found.count; i++)
        printf("%s%s", AS_AT(char *, &completion->found, i), i + 1 < completion->found.count ? "  " : "\n");
    fflush(stdout);
    return CC_REDISPLAY;
}

/* Puts what is certain behind the word, or shows the choice. */
static unsigned char apply(EditLine *line, const struct completion *completion) {
    if (completion->found.count == 0) return CC_ERROR;
    size_t size = common_size(completion);
    if (size == completion->size && completion->found.count > 1) return show_choices(completion);
    char *text = strndup(AS_AT(char *, &completion->found, 0), size);
    if (!text) return CC_ERROR;
    el_deletestr(line, (int)completion->size); /* the word is put in anew, in the candidate's spelling */
    int status = el_insertstr(line, text);
    free(text);
    if (status == 0 && completion->found.count == 1) el_insertstr(line, " ");
    return CC_REFRESH;
}

static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (unsigned char)c >= 0x80;
}

static unsigned char complete(EditLine *line, int key) {
    (void)key;
    struct shell *shell;
    if (el_get(line, EL_CLIENTDATA, &shell) != 0) return CC_ERROR;
    const LineInfo *info = el_line(line);
    const char *word = info->cursor;
    while (word > info->buffer && is_word(word[-1])) word--;
    if (word == info->buffer + 1 && word[-1] == '.') word--; /* a dot command */
    struct completion completion = {.word = word, .size = (size_t)(info->cursor - word)};
    as_vec_init(&completion.found, sizeof(char *), NULL);
    if (word[0] == '.' && completion.size > 0) {
        for (const char *const *name = as_session_commands; *name; name++)
            offer(&completion, *name, strlen(*name), false);
    } else {
        offer_names(&completion, shell->session->db);
        if (completion.size > 0) offer_keywords(&completion);
    }
    unsigned char result = apply(line, &completion);
    for (size_t i = 0; i < completion.found.count; i++) free(AS_AT(char *, &completion.found, i));
    as_vec_free(&completion.found);
    return result;
}

/* ---- the conversation -------------------------------------------------------------------------------------------- */

static const char *prompt(EditLine *line) {
    struct shell *shell;
    return el_get(line, EL_CLIENTDATA, &shell) == 0 && shell->session->pending.count > 0 ? "   ...> " : "assay> ";
}

/* A statement of several lines is one entry. */
static void remember(struct shell *shell, const char *text) {
    char *entry = strdup(text);
    if (!entry) return;
    size_t size = strlen(entry);
    while (size > 0 && strchr(" \t\r\n", entry[size - 1])) entry[--size] = '\0';
    for (char *c = entry; *c; c++) {
        if (*c == '\n') *c = ' ';
    }
    HistEvent event;
    if (size > 0) history(shell->history, &event, H_ENTER, entry);
    free(entry);
}

static void take_line(struct shell *shell, const char *typed, int size) {
    as_session *session = shell->session;
    char *line = strndup(typed, (size_t)size);
    if (!line) return;
    line[strcspn(line, "\r\n")] = '\0';
    /* What was typed so far, with this line: the entry if the line completes it. */
    char *entry = sqlite3_mprintf("%.*s%s", (int)session->pending.count,
                                  session->pending.count ? (const char *)session->pending.data : "", line);
    sigset_t blocked;
    interrupted_db = session->db;
    sigprocmask(SIG_SETMASK, &shell->mask_before, &blocked);
    as_session_line(session, line); /* errors are printed; the conversation goes on */
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    interrupted_db = NULL;
    if (session->pending.count == 0 && entry) remember(shell, entry);
    sqlite3_free(entry);
    free(line);
    session->has_printed = false;
    as_output_flush(session->cli->out);
}

static void converse(struct shell *shell) {
    while (!shell->session->is_over) {
        int size;
        was_interrupted = 0;
        const char *typed = el_gets(shell->line, &size);
        if (typed && size > 0) {
            take_line(shell, typed, size);
            continue;
        }
        putchar('\n');
        fflush(stdout);
        if (!was_interrupted) break;
        shell->session->pending.count = 0;
        el_reset(shell->line);
    }
}

/* Keys come one by one also while libedit is not reading: in line mode a Ctrl-D pressed ahead would become a NUL. */
static void take_terminal(struct termios *before) {
    if (tcgetattr(STDIN_FILENO, before) != 0) return;
    struct termios now = *before;
    now.c_lflag &= ~(tcflag_t)ICANON;
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

as_exit as_shell_run(as_session *session) {
    setlocale(LC_CTYPE, ""); /* how the terminal writes characters; numbers stay as they are */
    struct termios before = {0};
    take_terminal(&before);
    struct shell shell = {
        .session = session, .line = el_init("assay", stdin, stdout, stderr), .history = history_init()};
    if (!shell.line || !shell.history) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
        return as_cli_fail(session->cli, AS_EXIT_INPUT,
                           "the terminal cannot be used for a conversation; give the statement as the last argument");
    }
    load_history(&shell);
    el_set(shell.line, EL_CLIENTDATA, &shell);
    el_set(shell.line, EL_PROMPT, prompt);
    el_set(shell.line, EL_EDITOR, "emacs");
    el_set(shell.line, EL_SIGNAL, 0);
    el_set(shell.line, EL_SETTY, "-x", "-icanon",
           NULL); /* libedit would go back to lines between two of them: see take_terminal() */
    el_set(shell.line, EL_HIST, history, shell.history);
    el_set(shell.line, EL_GETCFN, read_character);
    el_wset(shell.line, EL_ADDFN, L"sql-complete", L"Completes names and keywords",
            complete); /* of narrow names libedit loses copies */
    el_set(shell.line, EL_BIND, "^I", "sql-complete", NULL);
    el_source(shell.line, NULL);
    if (!session->cli->quiet) {
        as_output_text(session->cli->out, ".tables lists the tables, .help the commands; Ctrl-D ends\n");
        as_output_flush(session->cli->out);
    }
    catch_interrupts(&shell);
    converse(&shell);
    release_interrupts(&shell);
    save_history(&shell);
    history_end(shell.history);
    el_end(shell.line);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    return AS_EXIT_FINE;
}
