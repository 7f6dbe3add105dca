#include "cli/model_function.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* The length of the longest parameter that the text begins with as a word of its own; 0: none. */
static size_t parameter_at(const as_dataset *ds, const char *text) {
    size_t longest = 0;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        as_str id = AS_AT(as_str, &ds->parameters, i);
        size_t n = as_str_size(&ds->strings, id);
        if (n > longest && strncmp(text, as_ds_text(ds, id), n) == 0 && strchr("^ )<>;}", text[n])) longest = n;
    }
    return longest;
}

static bool append(as_vec *out, const char *text) { return as_vec_append(out, text, strlen(text)); }

/* The exponent behind a number, "e-07"; 0: none. */
static size_t exponent_at(const char *text, const char *begin) {
    if (*text != 'e' || text == begin || !isdigit((unsigned char)text[-1])) return 0;
    size_t sign = text[1] == '-' || text[1] == '+', digits = strspn(text + 1 + sign, "0123456789");
    return digits ? 1 + sign + digits : 0;
}

static bool append_exponent(as_vec *out, const char *text) {
    char power[32];
    snprintf(power, sizeof power, "×10^{%ld}", strtol(text + 1, NULL, 10));
    return append(out, power);
}

/* "^(3/2)" and "^2" */
static size_t power_at(const char *text, const char **from, size_t *size) {
    bool in_brackets = text[1] == '(';
    *from = text + (in_brackets ? 2 : 1);
    *size = in_brackets ? strcspn(*from, ")") : strspn(*from, "0123456789.");
    return (size_t)(*from - text) + *size + (in_brackets && (*from)[*size] == ')');
}

/* Writes one piece of the text at `at` and gives its length; 0: memory is out. */
static size_t convert(const as_dataset *ds, const char *at, const char *begin, as_vec *out) {
    static const struct {
        const char *from, *to;
    } words[] = {{" * ", " · "}, {" - ", " − "}, {"log2(", "log_{2}("}, {"<=", " ≤ "}, {">=", " ≥ "}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].from);
        if (strncmp(at, words[i].from, n) == 0) return append(out, words[i].to) ? n : 0;
    }
    if (at == begin && *at == '-') return append(out, "−") ? 1 : 0;
    size_t n = exponent_at(at, begin);
    if (n) return append_exponent(out, at) ? n : 0;
    if (at == begin || strchr(" ({", at[-1])) n = parameter_at(ds, at);
    if (n) return append(out, "/{") && as_vec_append(out, at, n) && append(out, "}") ? n : 0;
    if (*at != '^') return as_vec_append(out, at, 1) ? 1 : 0;
    const char *power;
    size_t size, used = power_at(at, &power, &size);
    return append(out, "^{") && as_vec_append(out, power, size) && append(out, "}") ? used : 0;
}

bool as_function_rich(const as_dataset *ds, as_vec *text) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    const char *begin = text->data;
    for (const char *at = begin; *at;) {
        size_t n = convert(ds, at, begin, &out);
        if (!n) {
            as_vec_free(&out);
            return false;
        }
        at += n;
    }
    text->count = 0;
    bool fine = append(&out, "") && as_vec_append(text, out.data, out.count) && as_vec_append(text, "", 1);
    as_vec_free(&out);
    return fine;
}
