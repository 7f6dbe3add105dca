/* The viewer's page, bundled at build time from web/ (docs/viewer-page.md) and part of the program: no file is needed
 * at run time. Built without it (-DASSAY_WEB=OFF, fuzzing), all files are empty and as_web_is_built is false. */
#ifndef AS_SERVER_WEB_H
#define AS_SERVER_WEB_H

#include <stdbool.h>
#include <stddef.h>

/* One file of the page. The bytes live as long as the program. */
typedef struct as_web_file {
    const unsigned char *bytes;
    size_t size;
    const unsigned char *gzip; /* the same, compressed: for Content-Encoding: gzip */
    size_t gzip_size;
    const char *sha256; /* of bytes, in base64: 'sha256-…' of a Content-Security-Policy, and the ETag */
} as_web_file;

extern const bool as_web_is_built;
/* The page that the server sends. It loads assay.css and assay.js from beside it, and nothing else. */
extern const as_web_file as_web_html;
extern const as_web_file as_web_js;
/* The script of a report. ASCII, without "</script": may stand between <script type="module"> and </script> as it is,
 * where its hash allows it to run. */
extern const as_web_file as_web_report_js;
/* The same of <style>. */
extern const as_web_file as_web_css;

#endif
