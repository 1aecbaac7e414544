/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int output_end(const char *program)
{
	int code;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	code = errno;
	if (code != EPIPE)
		fprintf(stderr, "%s: standard output: %s\n", program,
			code ? strerror(code) : "could not be written");
	return 1;
}
