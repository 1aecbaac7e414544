/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table/line.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char blanks[] = " \t\r";

int ev_bad(const struct ev_parse *p, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(p->err, -EINVAL, "%s:%u: %s", p->file, p->line, why);
}

int ev_no_memory(const struct ev_parse *p)
{
	return err_set(p->err, -ENOMEM, "%s:%u: out of memory", p->file, p->line);
}

char *ev_strdup(const struct ev_parse *p, const char *text)
{
	return arena_strdup(&p->t->mem, text);
}

int ev_next_tag(const struct ev_parse *p, char **rest, struct ev_tag *out)
{
	char *word = *rest + strspn(*rest, blanks), *colon;

	*rest = NULL;
	if (!*word || *word == '#')
		return 0;
	colon = strpbrk(word, ": \t\r");
	if (colon == word && *colon == ':') {
		*rest = word + 1 + strspn(word + 1, blanks);
		return 0;
	}
	if (!colon || *colon != ':')
		return ev_bad(p, "\"%.40s\" is no TAG:VALUE", word);
	*colon = '\0';
	out->tag = word;
	out->value = colon + 1;
	*rest = colon + 1 + strcspn(colon + 1, blanks);
	if (**rest)
		*(*rest)++ = '\0';
	if (!*out->value)
		return ev_bad(p, "%.40s: has no value", out->tag);
	return 1;
}

int ev_hex(const struct ev_parse *p, const char *what, const char *text, uint64_t max,
	   uint64_t *out)
{
	const char *digits = text;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	if (!number_parse(digits, 16, max, out))
		return ev_bad(p, "%s \"%.40s\" is not a hexadecimal number up to 0x%llx",
			      what, text, (unsigned long long)max);
	return 0;
}

int ev_decimal(const struct ev_parse *p, const char *what, const char *text, uint64_t min,
	       uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (!number_parse(text, 10, max, &value) || value < min)
		return ev_bad(p, "%s \"%.40s\" is not a number from %llu to %llu", what,
			      text, (unsigned long long)min, (unsigned long long)max);
	*out = value;
	return 0;
}

int ev_name(const struct ev_parse *p, const char *what, const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return ev_bad(p,
				      "%s \"%.60s\": names are made of letters, digits, "
				      "_ and -",
				      what, text);
	if (!*text || strlen(text) > 120)
		return ev_bad(p, "%s: a name has 1 to 120 letters", what);
	return 0;
}
