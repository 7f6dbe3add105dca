/* YAML: any text is read or refused, without harm. What is read is a tree without circles. */
#include <stdlib.h>
#include <string.h>

#include "io/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_SIZE = 1 << 16 };

/* Every link leads to a node, and a collection only to those that were complete before it. */
static void check_tree(const as_yaml *yaml) {
    for (size_t i = 0; i < yaml->nodes.count; i++) {
        const as_yaml_node *node = &AS_AT(as_yaml_node, &yaml->nodes, i);
        size_t n = node->kind == AS_YAML_MAPPING ? 2 * (size_t)node->n : node->n;
        if (node->kind == AS_YAML_SCALAR && strlen(node->text) > node->size) abort();
        if (node->first + n > yaml->links.count) abort();
        for (size_t k = 0; k < n; k++) {
            uint32_t below = AS_AT(uint32_t, &yaml->links, node->first + k);
            if (below >= yaml->nodes.count || below == i) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_yaml yaml;
    assay_error error = {.code = ASSAY_OK};
    if (size > MAX_SIZE) return 0;
    if (as_yaml_read("x.yaml", size ? (const char *)bytes : "", size, NULL, &yaml, &error) == ASSAY_OK)
        check_tree(&yaml);
    else if (!error.message[0])
        abort();
    as_yaml_free(&yaml);
    return 0;
}
