/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poke FILE OFFSET BYTES: writes so many characters '1' in a single call, and tells what
 * came of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char text[1 << 20];
	ssize_t n;
	int fd;

	if (argc != 4 || atol(argv[3]) > (long)sizeof(text))
		return 2;
	fd = open(argv[1], O_WRONLY);
	if (fd < 0) {
		puts(strerror(errno));
		return 1;
	}
	memset(text, '1', sizeof(text));
	n = pwrite(fd, text, (size_t)atol(argv[3]), atol(argv[2]));
	/* Not every file takes an offset with the call. */
	if (n < 0 && errno == ESPIPE && lseek(fd, atol(argv[2]), SEEK_SET) >= 0)
		n = write(fd, text, (size_t)atol(argv[3]));
	if (n < 0)
		puts(strerror(errno));
	else
		printf("%zd\n", n);
	return n < 0;
}
