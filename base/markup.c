/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/markup.h"

#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"

/* What a format writes for an ASCII character; NULL: itself.  "" is a byte that it cannot
 * hold. */
typedef const char *ascii_escape(unsigned char c, char room[8]);

static const char *xml_escape(unsigned char c, char room[8])
{
	(void)room;
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\t': /* as themselves these three would be read as blanks */
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	default:
		return c < 0x20 ? "" : NULL;
	}
}

static const char *json_escape(unsigned char c, char room[8])
{
	static const char digits[] = "0123456789abcdef";

	if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
		return NULL;
	memcpy(room, "\\u00", 4);
	room[4] = digits[c >> 4];
	room[5] = digits[c & 15];
	room[6] = '\0';
	if (c == '"' || c == '\\') {
		room[1] = (char)c;
		room[2] = '\0';
	}
	return room;
}

/* U+EF00 to U+EFFF, and U+FFFE and U+FFFF, which XML does not have. */
static bool replaced(const unsigned char *s, size_t len)
{
	return len == 3 && ((s[0] == 0xee && s[1] >= 0xbc) ||
			    (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe));
}

static void add_byte(unsigned char c, struct strbuf *out)
{
	const char text[] = { (char)0xee, (char)(0xbc + (c >> 6)),
			      (char)(0x80 | (c & 0x3f)) };

	strbuf_add(out, text, sizeof(text));
}

static void add_text(const char *text, enum escape_format format, ascii_escape *escape,
		     struct strbuf *out)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t plain = 0;
	char room[8];

	while (plain += escape_plain_len((const char *)s + plain, format), s[plain]) {
		const unsigned char *at = s + plain;
		size_t len = utf8_len(at, strnlen((const char *)at, UTF8_MAX));
		const char *instead = len == 1 ? escape(*at, room) : NULL;

		if (len && !instead && !replaced(at, len)) {
			plain += len;
			continue;
		}
		strbuf_add(out, s, plain);
		if (instead && *instead)
			strbuf_puts(out, instead);
		else
			add_byte(*at, out);
		s += plain + 1;
		plain = 0;
	}
	strbuf_add(out, s, plain);
}

void markup_xml(const char *text, struct strbuf *out)
{
	add_text(text, ESCAPE_XML, xml_escape, out);
}

void markup_json(const char *text, struct strbuf *out)
{
	strbuf_putc(out, '"');
	add_text(text, ESCAPE_JSON, json_escape, out);
	strbuf_putc(out, '"');
}
