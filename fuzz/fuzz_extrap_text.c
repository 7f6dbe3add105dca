/* Reading, writing and reading again of extrap-text: see reader.h. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_reader("extrap-text", bytes, size); }
