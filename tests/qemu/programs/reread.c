/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reread FILE...: opens each file, reads it a hundred times from its beginning, and
 * closes it, one after the other, until it is killed.  That some are missing or cannot
 * be read does not matter.
 */
#include <fcntl.h>
#include <unistd.h>

static void read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	char text[4096];

	if (fd < 0)
		return;
	for (int i = 0; i < 100 && pread(fd, text, sizeof(text), 0) > 0; i++)
		;
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (;;)
		for (int i = 1; i < argc; i++)
			read_all(argv[i]);
}
