/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_ROUTE_H
#define COLLECTOR_STORE_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/store/sink.h"

/* Which sample file a sample belongs to, as --separate says. */
enum coll_separate {
	COLL_SEPARATE_LIB = 1,    /* what an application uses is filed under it */
	COLL_SEPARATE_KERNEL = 2, /* the kernel as well */
	COLL_SEPARATE_THREAD = 4,
	COLL_SEPARATE_CPU = 8,
	/* unless --separate says otherwise */
	COLL_SEPARATE_DEFAULT = COLL_SEPARATE_LIB | COLL_SEPARATE_KERNEL,
};

/* Where a sample was taken, and in which process. */
struct coll_context {
	uint32_t event, tgid, tid, cpu;
	bool kernel;
	const struct coll_image *app;   /* NULL: unknown, or a kernel thread */
	const struct coll_image *image; /* of the pc */
};

/**
 * coll_route - the key of the flat sample file
 * An image without an application to file it under is its own application.
 * Returns false if there must be an application and none is known: memory without a file
 * cannot stand alone, and with "lib" user code is never filed without its application.
 */
bool coll_route(unsigned separate, const struct coll_context *c, struct coll_key *key);

/**
 * coll_route_wanted - whether --image lets a sample through
 * A primary binary takes its dependents along as far as they are filed under it; a
 * library, module or kernel only itself.
 */
bool coll_route_wanted(unsigned separate, const struct coll_context *c);

/**
 * coll_separate_parse - "none", "lib", "kernel", "thread", "cpu" and lists of them
 * thread and cpu add to the default, kernel, unless lib or none says otherwise; kernel
 * implies lib; none switches all off that stands before it.  Also "library" and "all", as
 * opcontrol has them.
 * Returns 0, or -EINVAL.
 */
int coll_separate_parse(const char *list, unsigned *out, struct err *err);

/* Appends its words: "lib", "cpu,kernel", "none". */
void coll_separate_print(unsigned separate, struct strbuf *out);

#endif
