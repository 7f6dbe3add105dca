/* trace.db of an HPCToolkit database, of both forms. */
#include "hpctoolkit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_hpctoolkit("trace.db", data, size); }
