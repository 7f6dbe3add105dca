/* What nodes are called. Kernels have mangled names; those of functions are readable. Template arguments are cut out of
 * both, so that all instances of a template are one. */
#include "core/demangle.h"
#include "core/utf8.h"
#include "formats/extraprof/extraprof.h"

void as_ep_names_init(as_ep_names *names, as_dataset *ds) {
    *names = (as_ep_names){.ds = ds};
    as_map_init(&names->known, &ds->budget);
    as_vec_init(&names->text, 1, &ds->budget);
    as_vec_init(&names->demangled, 1, &ds->budget);
}

void as_ep_names_free(as_ep_names *names) {
    as_map_free(&names->known);
    as_vec_free(&names->text);
    as_vec_free(&names->demangled);
}

static bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The size of "operator<" and the like at text[at]; 0: there is none. */
static size_t operator_size(const char *text, size_t size, size_t at) {
    static const char word[] = "operator";
    static const char *const signs[] = {"<<=", "<=>", "<<", "<=", "<", ">>=", "->*", "->", ">>", ">=", ">"};
    size_t n = sizeof word - 1;
    if (size - at <= n || text[at] != 'o' || memcmp(text + at, word, n) != 0) return 0;
    if (at && is_of_word(text[at - 1])) return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t more = strlen(signs[i]);
        if (size - at - n >= more && memcmp(text + at + n, signs[i], more) == 0) return n + more;
    }
    return 0;
}

/* Cuts "<…>" out, in place. One that is not closed goes to the end. Returns the new size. */
static size_t cut_templates(char *text, size_t size) {
    size_t to = 0, depth = 0;
    if (!memchr(text, '<', size) || !memchr(text, '>', size)) return size;
    for (size_t at = 0; at < size;) {
        size_t n = operator_size(text, size, at);
        if (!n && text[at] == '<') depth++;
        bool is_shown = depth == 0;
        if (!n && text[at] == '>' && depth) depth--;
        if (!n) n = 1;
        if (is_shown) memmove(text + to, text + at, n), to += n;
        at += n;
    }
    return to;
}

as_str as_ep_text(as_ep_names *names, const char *text, size_t size) {
    as_vec *out = &names->demangled; /* no longer needed */
    const char *arrow = memmem(text, size, "->", 2);
    bool is_plain = !arrow && !as_utf8_invalid(text, size);
    for (size_t i = 0; i < size && is_plain; i++) is_plain = (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
    if (is_plain) return as_ds_intern(names->ds, text, size);
    out->count = 0;
    if (!as_vec_reserve(out, 2 * size)) return AS_NO_STR;
    char *to = out->data;
    for (size_t at = 0; at < size;) {
        size_t n = as_utf8_length(text + at, size - at);
        bool is_text = n > 1 || (n == 1 && (unsigned char)text[at] >= ' ' && text[at] != 0x7f);
        if (!n) n = 1;
        if (is_text)
            memcpy(to, text + at, n), to += n;
        else
            *to++ = '?';
        if (text[at] == '-' && at + 1 < size && text[at + 1] == '>') *to++ = ' ';
        at += n;
    }
    return as_ds_intern(names->ds, out->data, (size_t)(to - (char *)out->data));
}

static as_str make(as_ep_names *names, const as_ep_node *node, const char *name, size_t size) {
    const char *before = node->type == AS_EP_LAUNCH                                 ? "LAUNCH "
                         : node->type >= AS_EP_KERNEL && node->type <= AS_EP_MEMSET ? "GPU "
                                                                                    : "";
    names->text.count = 0;
    if (!as_vec_reserve(&names->text, strlen(before) + size + 1)) return AS_NO_STR;
    as_vec_text(&names->text, before);
    as_vec_append(&names->text, name, size);
    return as_ep_text(names, names->text.data, cut_templates(names->text.data, names->text.count));
}

static as_str make_kernel(as_ep_names *names, const as_ep_node *node, as_str mangled) {
    as_demangled result = as_demangle(node->name, node->name_size, &names->demangled);
    if (result == AS_DEMANGLED_MEMORY) return AS_NO_STR;
    as_str name = result == AS_DEMANGLED ? make(names, node, names->demangled.data, names->demangled.count)
                                         : make(names, node, node->name, node->name_size);
    bool fine = name != AS_NO_STR && as_map_put(&names->known, as_pair(mangled, node->type), name);
    return fine ? name : AS_NO_STR;
}

as_str as_ep_name(as_ep_names *names, const as_ep_node *node, as_str *mangled) {
    *mangled = AS_NO_STR;
    if (node->type != AS_EP_LAUNCH && node->type != AS_EP_KERNEL) return make(names, node, node->name, node->name_size);
    if (node->name_size < 2 || memcmp(node->name, "_Z", 2) != 0) return make(names, node, node->name, node->name_size);
    as_str raw = as_ep_text(names, node->name, node->name_size);
    if (raw == AS_NO_STR) return AS_NO_STR;
    *mangled = raw;
    uint32_t known = as_map_get(&names->known, as_pair(raw, node->type));
    return known != AS_MAP_NONE ? known : make_kernel(names, node, raw);
}
