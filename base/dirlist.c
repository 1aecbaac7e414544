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

void dirlist_fini(struct dirlist *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct dirlist){ 0 };
}

static int add_name(struct dirlist *l, const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (vec_reserve_((void **)&l->names, &l->cap, l->nr, 1, sizeof(*l->names)))
		return -ENOMEM;
	l->names[l->nr] = strdup(name);
	return l->names[l->nr++] ? 0 : -ENOMEM;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int dirlist_read(int fd, struct dirlist *out)
{
	CLEANUP(dirlist_fini) struct dirlist l = { 0 };
	CLEANUP(close_dir) DIR *dir = NULL;
	/* closedir() takes its descriptor along, and the position is shared */
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (copy < 0)
		return -errno;
	dir = fdopendir(copy);
	if (!dir) {
		rc = -errno;
		close(copy);
	}
	while (!rc) {
		struct dirent *de;

		errno = 0;
		de = readdir(dir);
		if (!de && !errno)
			break;
		rc = de ? add_name(&l, de->d_name) : -errno;
	}
	if (rc)
		return rc;
	if (l.nr)
		qsort(l.names, l.nr, sizeof(*l.names), compare_names);
	*out = TAKE(l);
	return 0;
}
