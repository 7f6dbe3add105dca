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

size_t as_histogram_bar(as_text *out, double part, size_t width, bool ascii) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(part > 0)) return 0;
    size_t most = ascii ? width : width * 8;
    size_t steps = part >= 1 ? most : (size_t)(part * (double)most + 0.5);
    if (steps == 0) steps = 1;
    if (ascii) {
        as_text_fill(out, "#", 1, steps);
        return steps;
    }
    as_text_fill(out, "█", strlen("█"), steps / 8);
    as_text_add(out, eighths[steps % 8]);
    return (steps + 7) / 8;
}
