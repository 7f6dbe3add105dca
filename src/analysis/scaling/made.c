#include "analysis/scaling/made.h"

static size_t padded(size_t size) { return (size + 7) / 8 * 8; }

static bool append_padded(as_vec *bytes, const void *data, size_t size) {
    static const char zeros[8];
    return as_vec_append(bytes, data, size) && as_vec_append(bytes, zeros, padded(size) - size);
}

/* A model without segments needs no costs but its own. */
static size_t n_parts(const as_made_head *head) { return head->n_segments > 1 ? head->n_segments : 0; }

bool as_made_append(as_vec *bytes, const as_made *made) {
    const as_made_head *head = &made->head;
    return append_padded(bytes, head, sizeof *head) &&
           append_padded(bytes, made->segments, (head->n_segments + head->n_pieces) * sizeof *made->segments) &&
           append_padded(bytes, made->terms, head->n_terms * sizeof *made->terms) &&
           append_padded(bytes, made->parts, n_parts(head) * sizeof *made->parts) &&
           append_padded(bytes, made->rival, head->rival_size);
}

bool as_made_next(const as_vec *bytes, size_t *at, as_made *out) {
    const char *data = bytes->data;
    size_t left = bytes->count - *at;
    if (left < padded(sizeof out->head)) return false;
    memcpy(&out->head, data + *at, sizeof out->head);
    size_t segments = padded(((size_t)out->head.n_segments + out->head.n_pieces) * sizeof *out->segments);
    size_t terms = padded(out->head.n_terms * sizeof *out->terms), rival = padded(out->head.rival_size);
    size_t head = padded(sizeof out->head), parts = n_parts(&out->head) * sizeof *out->parts;
    if (left - head < segments || left - head - segments < terms || left - head - segments - terms < parts ||
        left - head - segments - terms - parts < rival)
        return false;
    out->segments = (const as_segment *)(const void *)(data + *at + head);
    out->terms = (const as_made_term *)(const void *)(data + *at + head + segments);
    out->parts = (const as_costs *)(const void *)(data + *at + head + segments + terms);
    out->rival = data + *at + head + segments + terms + parts;
    *at += head + segments + terms + parts + rival;
    return true;
}

bool as_power_text(const as_power *power, const char *parameter, as_vec *text) {
    char number[AS_NUMBER_SIZE];
    bool has_power = power->power.value != 0, has_log = power->log.value != 0;
    if (!has_power && !has_log) return as_vec_text(text, "1");
    bool fine = true;
    if (has_power) {
        as_exponent_text(power->power, number);
        fine = as_vec_text(text, parameter) && as_vec_text(text, "^(") && as_vec_text(text, number) &&
               as_vec_text(text, ")");
    }
    if (fine && has_log) {
        as_exponent_text(power->log, number);
        fine = (!has_power || as_vec_text(text, " * ")) && as_vec_text(text, "log2(") && as_vec_text(text, parameter) &&
               as_vec_text(text, ")^(") && as_vec_text(text, number) && as_vec_text(text, ")");
    }
    return fine;
}
