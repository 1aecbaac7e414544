/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/markup.h"

#include <criterion/criterion.h>

static void expect(void (*write)(const char *text, struct strbuf *out), const char *text,
		   const char *want)
{
	struct strbuf out = { 0 };

	write(text, &out);
	cr_expect_str_eq(strbuf_str(&out), want, "got %s", strbuf_str(&out));
	strbuf_fini(&out);
}

Test(markup, keeps_what_is_plain)
{
	expect(markup_xml, "", "");
	expect(markup_xml, "operator% (\xc3\xa9, \xf0\x9f\x98\x80)'",
	       "operator% (\xc3\xa9, \xf0\x9f\x98\x80)'");
	expect(markup_json, "", "\"\"");
	expect(markup_json, "<&>'\xc3\xa9", "\"<&>'\xc3\xa9\"");
}

Test(markup, escapes_what_ends_a_value)
{
	expect(markup_xml, "a<b>&\"\t\n\r", "a&lt;b&gt;&amp;&quot;&#9;&#10;&#13;");
	expect(markup_json, "a\"\\\n\x01\x7f", "\"a\\\"\\\\\\u000a\\u0001\\u007f\"");
}

Test(markup, replaces_what_is_no_character)
{
	expect(markup_xml, "\xff", "\xee\xbf\xbf");
	expect(markup_json, "a\x80\xc3(", "\"a\xee\xbe\x80\xee\xbf\x83(\"");
	expect(markup_xml, "\x01\x1f\x7f", "\xee\xbc\x81\xee\xbc\x9f\x7f");
}

Test(markup, replaces_its_replacements_so_that_names_come_back)
{
	/* U+EF41 and U+FFFF byte by byte; U+EEFF and U+F000 stay. */
	expect(markup_xml, "\xee\xbd\x81", "\xee\xbf\xae\xee\xbe\xbd\xee\xbe\x81");
	expect(markup_json, "\xef\xbf\xbf", "\"\xee\xbf\xaf\xee\xbe\xbf\xee\xbe\xbf\"");
	expect(markup_xml, "\xee\xbb\xbf\xef\x80\x80", "\xee\xbb\xbf\xef\x80\x80");
}
