/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/jit/perf_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hex.h"

/* A number and the blanks behind it.  NULL: there is none. */
static const char *number(const char *at, const char *end, uint64_t *out)
{
	const char *first;
	uint64_t n = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (first = at; at < end && hex_digit(*at) >= 0; at++) {
		if (n >> 60)
			return NULL;
		n = n << 4 | (uint64_t)hex_digit(*at);
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*out = n;
	return at;
}

static int read_line(const char *at, const char *end, spec_perf_map_line line, void *ctx,
		     uint64_t *bad)
{
	uint64_t start, size;

	if (end > at && end[-1] == '\r')
		end--;
	if (at == end || *at == '#')
		return 0;
	at = number(at, end, &start);
	if (at)
		at = number(at, end, &size);
	if (!at) {
		++*bad;
		return 0;
	}
	return line(ctx, start, size, at, (size_t)(end - at));
}

int spec_perf_map_read(const char *text, size_t len, spec_perf_map_line line, void *ctx,
		       uint64_t *bad)
{
	const char *end = text + len, *newline;
	int rc = 0;

	for (; !rc && text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			break;
		rc = read_line(text, newline, line, ctx, bad);
	}
	return rc;
}

static int add_line(void *ctx, uint64_t start, uint64_t size, const char *name,
		    size_t len)
{
	return spec_jit_add(ctx, start, size, name, len);
}

int spec_jit_perf_map(const char *text, size_t len, struct spec_jit_list *out)
{
	return spec_perf_map_read(text, len, add_line, out, &out->bad);
}
