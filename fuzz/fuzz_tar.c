/* Reading tar archives: whatever the bytes, an error or members that lie within the archive, within the budget, and all
 * memory given back. What was read is written and read again: the same. */
#include <stdlib.h>

#include "io/tar.h"

static void read_members(const as_tar *tar, const char *data, size_t size) {
    for (size_t i = 0; i < tar->n_members; i++) {
        const as_tar_member *member = &tar->members[i];
        if (as_tar_find(tar, member->name) != member) abort();
        if (!tar->is_compressed &&
            (member->offset > size || member->size > size - member->offset || member->data != data + member->offset))
            abort();
        volatile char last = member->size ? member->data[member->size - 1] : 0;
        (void)last;
    }
}

static void check_round_trip(const as_tar *tar) {
    as_output *out = as_output_to_memory();
    as_tar_writer *writer = as_tar_writer_new(out);
    if (!out || !writer) abort();
    for (size_t i = 0; i < tar->n_members; i++)
        as_tar_add(writer, tar->members[i].name, tar->members[i].data, tar->members[i].size);
    as_tar_finish(writer);
    as_input input = {.path = "written"};
    input.data = as_output_memory(out, &input.size);
    as_tar *back = NULL;
    if (as_tar_open(&input, NULL, &back, NULL) != ASSAY_OK || back->n_members != tar->n_members) abort();
    for (size_t i = 0; i < tar->n_members; i++) {
        const as_tar_member *a = &tar->members[i], *b = &back->members[i];
        if (strcmp(a->name, b->name) != 0 || a->size != b->size || memcmp(a->data, b->data, a->size) != 0) abort();
    }
    as_tar_free(back);
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_input input = {.path = "archive", .data = (const char *)bytes, .size = size};
    as_budget budget = {.limit = 1 << 24};
    as_tar *tar = NULL;
    assay_error error;
    if (as_tar_open(&input, &budget, &tar, &error) == ASSAY_OK) {
        read_members(tar, input.data, input.size);
        check_round_trip(tar);
        as_tar_free(tar);
    } else if (error.code == ASSAY_OK || !error.message[0])
        abort();
    if (budget.used != 0) abort();
    return 0;
}
