#include "render/svg_page.h"

#include <string.h>

#include "render/display.h"
#include "render/plot_text.h"

enum { LEAST_CUT = 4 }; /* less of a text says nothing */

static const char common_style[] =
    ".assay{background:#fff;print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".assay text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#1f2328;white-space:pre}\n"
    ".assay .paper{fill:#fff}\n"
    ".assay .title{font:600 16px system-ui,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    ".assay .subtitle,.assay .note,.assay .matched{fill:#57606a}\n"
    ".assay .tip rect{fill:#fff;stroke:#8c959f;filter:drop-shadow(0 2px 5px #0003)}\n"
    ".assay .tip .name{font-weight:600}\n"
    ".assay .tip .fact{fill:#57606a}\n"
    ".assay .button{cursor:pointer}\n"
    ".assay .button rect{fill:#f6f8fa;stroke:#d0d7de}\n"
    ".assay .button:hover rect,.assay .button:focus rect{stroke:#57606a}\n"
    ".assay .button:focus,.assay .button text{outline:none;pointer-events:none}\n"
    ".assay .button{pointer-events:all}\n"
    ".assay .rule{stroke:#d0d7de;fill:none}\n"
    "@media (prefers-color-scheme:dark){.assay,.assay .paper{background:#16181c;fill:#16181c}.assay "
    "text{fill:#e6e8eb}.assay .subtitle,.assay .note,.assay .matched,.assay .tip .fact{fill:#9aa4af}.assay .tip "
    "rect{fill:#23272e;stroke:#59636e}.assay .button rect{fill:#23272e;stroke:#3d444d}.assay .button:hover "
    "rect,.assay .button:focus rect{stroke:#9aa4af}.assay .rule{stroke:#3d444d}}\n"
    "@media print{.assay .button,.assay .tip{display:none}}\n";

void as_page_begin(const as_page *page, const char *style) {
    as_output *out = page->out;
    as_output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"assay\" role=\"group\"");
    as_svg_attribute(out, "width", page->width);
    as_svg_attribute(out, "height", page->height);
    as_output_text(out, " viewBox=\"0 0 ");
    as_svg_number(out, page->width);
    as_output_char(out, ' ');
    as_svg_number(out, page->height);
    as_output_text(out, "\" aria-label=\"");
    as_svg_escape(out, page->what, strlen(page->what));
    as_output_text(out, ": ");
    as_svg_escape(out, page->title, strlen(page->title));
    as_output_printf(out, "\">\n<style>\n%s%s</style>\n", common_style, style);
    as_output_text(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    double room = page->width - 2 * AS_PAGE_MARGIN;
    as_page_text(page, AS_PAGE_MARGIN, 26, "title", page->title, room * 0.6);
    as_page_text(page, AS_PAGE_MARGIN, 46, "subtitle", page->subtitle, room);
}

void as_page_end(const as_page *page, const char *script) {
    as_output_text(page->out, "<script><![CDATA[\n(() => {\n'use strict';\n");
    as_output_text(page->out, script);
    as_output_text(page->out, "})();\n]]></script>\n</svg>\n");
}

size_t as_page_cut(as_output *out, const char *text, size_t size, size_t columns) {
    size_t width = as_display_width(text, size);
    if (width <= columns) {
        as_svg_escape(out, text, size);
        return width;
    }
    if (columns < LEAST_CUT) return 0;
    size_t fits = as_display_prefix(text, size, columns - 1);
    if (!fits) return 0;
    as_svg_escape(out, text, fits);
    as_output_text(out, "…");
    return columns;
}

void as_page_text(const as_page *page, double x, double y, const char *kind, const char *text, double room) {
    as_output *out = page->out;
    as_output_printf(out, "<text class=\"%s\"", kind);
    as_svg_attribute(out, "x", x);
    as_svg_attribute(out, "y", y);
    as_output_char(out, '>');
    as_page_cut(out, text, strlen(text), room < AS_PAGE_LETTER ? 0 : (size_t)(room / AS_PAGE_LETTER));
    as_output_text(out, "</text>\n");
}

double as_page_key(const as_page *page, double x, double y, const char *colour, const char *text, size_t columns) {
    as_output *out = page->out;
    size_t width = as_display_width(text, strlen(text));
    as_output_printf(out, "<g class=\"key %s\"><rect", colour);
    as_svg_attribute(out, "x", x);
    as_svg_attribute(out, "y", y - 10);
    as_output_text(out, " width=\"12\" height=\"12\" rx=\"2\"/></g>");
    as_page_text(page, x + 18, y, "note", text, (double)columns * AS_PAGE_LETTER);
    return 18 + AS_PAGE_LETTER * (double)(width < columns ? width : columns) + 18;
}
