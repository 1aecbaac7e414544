/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_MARKUP_H
#define BASE_MARKUP_H

#include "base/strbuf.h"

/*
 * Names and paths in XML and JSON.  A name may hold any byte but NUL; both formats want
 * UTF-8, and XML no control characters.  A byte that is part of nothing they take becomes
 * the character U+EF00 plus the byte (private use), and so do the bytes of a character
 * that is itself one of U+EF00 to U+EFFF: the name can be restored.
 * Source: doc/opfs.5 "Names".
 */

/* The text of an attribute's value: what @text means, without the quotes around it. */
void markup_xml(const char *text, struct strbuf *out);

/* A JSON string, in quotes. */
void markup_json(const char *text, struct strbuf *out);

#endif
