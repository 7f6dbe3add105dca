/* Text in XML that is written. */
#ifndef AS_IO_XML_WRITE_H
#define AS_IO_XML_WRITE_H

#include "io/output.h"

/* Whether all of text can stand in XML 1.0: valid UTF-8 without control characters other than tab and line ends. */
bool as_xml_holds(const char *text, size_t size);
/* Text between tags. What XML cannot hold becomes U+FFFD. */
void as_xml_put_text(as_output *out, const char *text, size_t size);
/* The value of an attribute, without its quotes: line ends and tabs are kept. */
void as_xml_put_value(as_output *out, const char *text, size_t size);
/*  name="value", with a blank before it. */
void as_xml_put_attribute(as_output *out, const char *name, const char *value);

#endif
