/* Stands for the viewer's page where it was not built. */
#include "server/web.h"

const bool as_web_is_built = false;

static const unsigned char nothing[1];
const as_web_file as_web_html = {.bytes = nothing, .gzip = nothing, .sha256 = ""};
const as_web_file as_web_js = {.bytes = nothing, .gzip = nothing, .sha256 = ""};
const as_web_file as_web_report_js = {.bytes = nothing, .gzip = nothing, .sha256 = ""};
const as_web_file as_web_css = {.bytes = nothing, .gzip = nothing, .sha256 = ""};
