/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *soname, const char *package,
		 const struct library_function *functions, size_t nr, void *to,
		 struct err *err)
{
	void *library = dlopen(soname, RTLD_NOW);

	if (!library)
		return err_set(err, -ENOENT, "%s: install the package %s", dlerror(),
			       package);
	for (size_t i = 0; i < nr; i++) {
		void *f = dlsym(library, functions[i].name);

		if (!f)
			return err_set(err, -ENOENT,
				       "%s is too old: it has no %s: install a newer "
				       "package %s",
				       soname, functions[i].name, package);
		memcpy((char *)to + functions[i].at, &f, sizeof(f));
	}
	return 0;
}
