#include "render/histogram.h"

void as_histogram_line(as_text *out, const uint32_t *bins, uint32_t n, bool ascii) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", "-", "-", "+", "+", "#", "#"};
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (bins[i] > most) most = bins[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t level = most ? (uint32_t)(((uint64_t)bins[i] * 8 + most - 1) / most) : 0;
        as_text_add(out, ascii ? plain[level] : blocks[level]);
    }
}

size_t as_bar_write(as_output *out, double part, size_t width, bool ascii) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t fine = ascii ? 1 : 8, filled = 0;
    if (part > 0) filled = part >= 1 ? width * fine : (size_t)(part * (double)(width * fine) + 0.5);
    for (size_t i = 0; i < filled / fine; i++) as_output_text(out, ascii ? "#" : "█");
    if (filled % fine) as_output_text(out, eighths[filled % fine]);
    return (filled + fine - 1) / fine;
}
