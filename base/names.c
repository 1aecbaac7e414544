/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

int names_add(struct names *n, const char *name)
{
	char *copy = strdup(name);

	if (copy && !vec_push(n, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

void names_sort(struct names *n)
{
	size_t kept = 0;

	if (!n->len)
		return;
	qsort(n->data, n->len, sizeof(*n->data), compare_names);
	for (size_t i = 0; i < n->len; i++) {
		if (kept && !strcmp(n->data[kept - 1], n->data[i]))
			free(n->data[i]);
		else
			n->data[kept++] = n->data[i];
	}
	n->len = kept;
}

void names_fini(struct names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->data[i]);
	vec_fini(n);
}

bool names_has(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->len; i++)
		if (!strcmp(n->data[i], name))
			return true;
	return false;
}
