/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/dirlist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"

enum { ROOM = 16 * 1024 };

void dirlist_fini(struct dirlist *l)
{
	vec_for(l, e)
		free(e->name);
	vec_fini(l);
}

static int add(struct dirlist *l, const struct dirent64 *de)
{
	struct dirlist_entry e = { .name = strdup(de->d_name), .type = de->d_type };

	if (e.name && !vec_push(l, e))
		return 0;
	free(e.name);
	return -ENOMEM;
}

static int compare(const void *x, const void *y)
{
	return strcmp(((const struct dirlist_entry *)x)->name,
		      ((const struct dirlist_entry *)y)->name);
}

/* A directory that changes meanwhile may give a name twice. */
static void sort(struct dirlist *l)
{
	size_t kept = 0;

	if (l->len)
		qsort(l->data, l->len, sizeof(*l->data), compare);
	for (size_t i = 0; i < l->len; i++) {
		if (kept && !strcmp(l->data[kept - 1].name, l->data[i].name))
			free(l->data[i].name);
		else
			l->data[kept++] = l->data[i];
	}
	l->len = kept;
}

/* Adds the entries of one getdents64(2).  0 or -ENOMEM. */
static int add_some(struct dirlist *l, const char *at, const char *end)
{
	const struct dirent64 *de;
	int rc = 0;

	for (; at < end && !rc; at += de->d_reclen) {
		de = (const struct dirent64 *)at;
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			rc = add(l, de);
	}
	return rc;
}

int dirlist_read_rest(int fd, struct dirlist *out)
{
	CLEANUP(dirlist_fini) struct dirlist found = { 0 };
	_Alignas(struct dirent64) char some[ROOM];
	ssize_t n;

	while ((n = getdents64(fd, some, sizeof(some))) > 0)
		if (add_some(&found, some, some + n))
			return -ENOMEM;
	if (n < 0 && errno != ENOENT) /* it was removed: that is its end */
		return -errno;
	sort(&found);
	*out = TAKE(found);
	return 0;
}

int dirlist_read_types(int fd, struct dirlist *out)
{
	/* the position would be shared with whoever else reads it */
	CLEANUP(close_fd) int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return own < 0 ? -errno : dirlist_read_rest(own, out);
}

int dirlist_read(int fd, struct names *out)
{
	CLEANUP(names_fini) struct names names = { 0 };
	CLEANUP(dirlist_fini) struct dirlist list = { 0 };
	int rc = dirlist_read_types(fd, &list);

	for (size_t i = 0; i < list.len && !rc; i++) {
		if (vec_push(&names, list.data[i].name))
			rc = -ENOMEM;
		else
			list.data[i].name = NULL;
	}
	if (!rc)
		*out = TAKE(names);
	return rc;
}
