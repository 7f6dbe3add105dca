/* Reading, writing and reading again of extrap-jsonl: see reader.h. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_reader("extrap-jsonl", bytes, size); }
