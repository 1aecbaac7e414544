/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/dirlist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int dirlist_read(int fd, struct names *out)
{
	CLEANUP(names_fini) struct names found = { 0 };
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
		if (!de)
			rc = -errno;
		else if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			rc = names_add(&found, de->d_name);
	}
	if (rc)
		return rc;
	names_sort(&found);
	*out = TAKE(found);
	return 0;
}
