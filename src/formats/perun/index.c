#include "formats/perun/index.h"

#include "core/utf8.h"

static const char MAGIC[] = "pidx";

bool as_perun_is_index(const char *head, size_t size) { return size >= 4 && memcmp(head, MAGIC, 4) == 0; }

static bool fail_at(as_perun_index *index, size_t at, const char *problem) {
    index->problem = problem;
    index->problem_at = at;
    return false;
}

static bool take_u32(as_perun_index *index, uint32_t *out) {
    if (index->size - index->at < 4) return fail_at(index, index->at, "the index is cut off");
    const unsigned char *bytes = (const unsigned char *)index->data + index->at;
    *out = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    index->at += 4;
    return true;
}

bool as_perun_index_begin(as_perun_index *index, const char *data, size_t size) {
    *index = (as_perun_index){.data = data, .size = size};
    if (!as_perun_is_index(data, size)) return fail_at(index, 0, "the index does not begin with \"pidx\"");
    index->at = 4;
    if (!take_u32(index, &index->version)) return false;
    if (index->version != 1 && index->version != 2)
        return fail_at(index, 4, "the index is of a version that is not known; 1 and 2 are");
    return take_u32(index, &index->left);
}

static bool check_text(as_perun_index *index, const as_raw_json *text) {
    const char *invalid = as_utf8_invalid(text->text, text->size);
    return !invalid || fail_at(index, (size_t)(invalid - index->data), "a text of the index is not UTF-8");
}

static bool take_text(as_perun_index *index, as_raw_json *out) {
    uint32_t size;
    if (!take_u32(index, &size)) return false;
    if (size > index->size - index->at)
        return fail_at(index, index->at - 4, "a text of the index is longer than the file");
    *out = (as_raw_json){index->data + index->at, size};
    index->at += size;
    return check_text(index, out);
}

bool as_perun_index_next(as_perun_index *index, as_perun_entry *entry) {
    if (index->problem) return false;
    if (index->left == 0)
        return index->at < index->size ? fail_at(index, index->at, "there is more behind the last entry") : false;
    *entry = (as_perun_entry){.offset = index->at, .has_details = index->version == 2};
    if (!take_u32(index, &entry->time)) return false;
    if (index->size - index->at < AS_PERUN_HASH) return fail_at(index, index->at, "the index is cut off");
    entry->hash = (const unsigned char *)index->data + index->at;
    index->at += AS_PERUN_HASH;
    const char *name = index->data + index->at, *nul = memchr(name, '\0', index->size - index->at);
    if (!nul) return fail_at(index, index->at, "the index is cut off");
    entry->name = (as_raw_json){name, (size_t)(nul - name)};
    index->at += entry->name.size + 1;
    if (!check_text(index, &entry->name)) return false;
    for (int i = 0; entry->has_details && i < AS_PERUN_DETAILS; i++) {
        if (!take_text(index, &entry->details[i])) return false;
    }
    index->left--;
    return true;
}
