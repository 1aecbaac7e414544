/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zeros MS: reads /dev/zero, which is the kernel's work, until it has used so many
 * milliseconds of CPU time.  Tells $WORKED how much that was, and of it "before" main().
 */
#include "../../programs/worked.h"

int main(int argc, char **argv)
{
	long long end = argc > 1 ? atol(argv[1]) * 1000000LL : 0, begin = worked_ns();
	static char buf[1 << 16];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	do {
		for (int i = 0; i < 16; i++)
			if (read(fd, buf, sizeof(buf)) != sizeof(buf))
				return 1;
	} while (worked_ns() < end);
	worked_tell("before", begin);
	worked_tell("zeros", worked_ns());
	return 0;
}
