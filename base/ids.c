/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/ids.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/opt.h"
#include "base/vec.h"

enum { MAX_CPU = 8191 };

void ids_fini(struct ids *ids)
{
	vec_fini(ids);
}

bool ids_has(const struct ids *ids, uint32_t id)
{
	for (size_t i = 0; i < ids->len; i++)
		if (ids->data[i] == id)
			return true;
	return false;
}

int ids_add(struct ids *ids, uint32_t id)
{
	return ids_has(ids, id) ? 0 : vec_push(ids, id);
}

static int add_number(struct ids *ids, char *word, const char *what, struct err *err)
{
	unsigned long long id;
	int rc = opt_number(word, what, 1, INT_MAX, &id, err);

	return rc ? rc : ids_add(ids, (uint32_t)id);
}

static int add_range(struct ids *ids, char *word, const char *what, struct err *err)
{
	char *end = word;
	const char *begin = strsep(&end, "-");
	unsigned long long from, to;
	int rc = opt_number(begin, what, 0, MAX_CPU, &from, err);

	if (!rc)
		rc = opt_number(end ? end : begin, what, from, MAX_CPU, &to, err);
	for (; !rc && from <= to; from++)
		rc = ids_add(ids, (uint32_t)from);
	return rc;
}

static int add_all(struct ids *ids, const char *text, const char *what, struct err *err,
		   int (*add)(struct ids *ids, char *word, const char *what,
			      struct err *err))
{
	CLEANUP(free_ptr) char *copy = strdup(text);
	char *rest = copy, *word;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (word = strsep(&rest, ",")))
		rc = add(ids, word, what, err);
	return rc == -ENOMEM ? err_errno(err, rc, "%s", what) : rc;
}

int ids_parse(struct ids *ids, const char *text, const char *what, struct err *err)
{
	return add_all(ids, text, what, err, add_number);
}

int ids_parse_ranges(struct ids *ids, const char *text, const char *what, struct err *err)
{
	return add_all(ids, text, what, err, add_range);
}
