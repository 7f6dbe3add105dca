#include "io/base64.h"

void as_base64(as_output *out, const void *data, size_t size) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (n > 1) group |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2) group |= bytes[i + 2];
        char text[4] = {letters[group >> 18], letters[group >> 12 & 63], n > 1 ? letters[group >> 6 & 63] : '=',
                        n > 2 ? letters[group & 63] : '='};
        as_output_write(out, text, sizeof text);
    }
}
