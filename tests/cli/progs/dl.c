/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dl MS LIB...: loads each library, calls its spin(), unloads it, in turn, until so many
 * milliseconds of CPU time were used in all.  The second comes to lie where the first
 * was.  In a round all are told to spin as long, in their own TURNS.  Tells $WORKED how
 * much of the time was in which library, by the libraries' names.
 */
#include <dlfcn.h>
#include <string.h>

#include "../../programs/worked.h"

static int turn(const char *path, unsigned thousandths, long long *ns)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*spin)(unsigned) = lib ? (void (*)(unsigned))dlsym(lib, "spin") : NULL;
	long long begin;

	if (!spin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	begin = worked_ns();
	spin(thousandths);
	*ns += worked_ns() - begin;
	dlclose(lib);
	return 0;
}

int main(int argc, char **argv)
{
	long long end = argc > 1 ? atol(argv[1]) * 1000000LL : 0;
	long long ns[8] = { 0 };

	if (argc > 10)
		return 2;
	do {
		unsigned n = worked_uneven();

		for (int l = 2; l < argc; l++)
			if (turn(argv[l], n, &ns[l - 2]))
				return 1;
	} while (worked_ns() < end);
	for (int l = 2; l < argc; l++) {
		const char *slash = strrchr(argv[l], '/');

		worked_tell(slash ? slash + 1 : argv[l], ns[l - 2]);
	}
	return 0;
}
