/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dl ROUNDS LIB...: loads each library, calls its spin(), unloads it, in turn.  The
 * second comes to lie where the first was.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < rounds; i++)
		for (int l = 2; l < argc; l++) {
			void *lib = dlopen(argv[l], RTLD_NOW);
			void (*spin)(void) = lib ? (void (*)(void))dlsym(lib, "spin") : NULL;

			if (!spin) {
				fprintf(stderr, "%s\n", dlerror());
				return 1;
			}
			spin();
			dlclose(lib);
		}
	return 0;
}
