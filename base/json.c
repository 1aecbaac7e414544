/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hex.h"
#include "base/markup.h"

static void begin(struct json *j)
{
	if (j->comma)
		strbuf_putc(j->out, ',');
	if (j->line)
		strbuf_putc(j->out, '\n');
	else if (j->comma)
		strbuf_putc(j->out, ' ');
	j->line = false;
	j->comma = true;
}

void json_open(struct json *j, char bracket)
{
	begin(j);
	strbuf_putc(j->out, bracket);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	if (j->line)
		strbuf_putc(j->out, '\n');
	j->line = false;
	strbuf_putc(j->out, bracket);
	j->comma = true;
}

void json_key(struct json *j, const char *key)
{
	begin(j);
	strbuf_putc(j->out, '"');
	strbuf_puts(j->out, key);
	strbuf_puts(j->out, "\": ");
	j->comma = false;
}

void json_line(struct json *j)
{
	j->line = true;
}

struct strbuf *json_value(struct json *j)
{
	begin(j);
	return j->out;
}

void json_string(struct json *j, const char *text)
{
	if (!text) {
		json_null(j);
		return;
	}
	begin(j);
	markup_json(text, j->out);
}

void json_number(struct json *j, uint64_t n)
{
	begin(j);
	strbuf_number(j->out, n, 0);
}

void json_integer(struct json *j, int64_t n)
{
	begin(j);
	strbuf_printf(j->out, "%" PRId64, n);
}

size_t json_format_real(double x, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%.9g", x);
}

void json_real(struct json *j, double x)
{
	char text[24];

	begin(j);
	strbuf_add(j->out, text, json_format_real(x, text, sizeof(text)));
}

void json_bool(struct json *j, bool x)
{
	begin(j);
	strbuf_puts(j->out, x ? "true" : "false");
}

void json_null(struct json *j)
{
	begin(j);
	strbuf_puts(j->out, "null");
}

void json_address(struct json *j, uint64_t address)
{
	begin(j);
	strbuf_puts(j->out, "\"0x");
	hex_add_number(j->out, address, 0, '0');
	strbuf_putc(j->out, '"');
}

void json_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_string(j, text);
}

void json_count(struct json *j, const char *key, uint64_t n)
{
	json_key(j, key);
	json_number(j, n);
}

void json_flag(struct json *j, const char *key, bool x)
{
	json_key(j, key);
	json_bool(j, x);
}

void json_none(struct json *j, const char *key)
{
	json_key(j, key);
	json_null(j);
}

void json_figure(struct json *j, const char *key, bool known, uint64_t n)
{
	if (known)
		json_count(j, key, n);
	else
		json_none(j, key);
}
