/* Reading of Nsight Systems exports: the bytes are a database. */
#include "nsight.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_export((const char *)bytes, size); }
