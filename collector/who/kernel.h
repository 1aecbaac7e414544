/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_KERNEL_H
#define COLLECTOR_WHO_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/who/images.h"

/* Where the kernel and its modules are in memory. */
struct coll_krange {
	uint64_t start, end;
	struct coll_image *image;
	bool module;
};

struct coll_kernel {
	struct coll_krange *ranges; /* by address */
	size_t nr, cap, last;
	struct coll_image *none;    /* no-vmlinux: takes every address, as it is */
	struct coll_images *images; /* borrowed */
	const char *modules;        /* /proc/modules, or a file like it: tests */
	uint64_t reread_ns;         /* when modules were read last */
	bool saved;                 /* as the option */
	bool addresses;             /* /proc tells addresses at all */
	char note[256];             /* what a person should know, or "" */
};

/* Which file describes the kernel. */
struct coll_kernel_options {
	const char *vmlinux; /* NULL: /proc/kallsyms, where that tells addresses */
	bool no_vmlinux;
	/* other places than /proc: tests, and what was saved with a stream */
	const char *kallsyms, *modules;
	bool saved; /* another boot, or machine: /sys tells of another kernel */
};

/**
 * coll_kernel_init - finds the kernel and its modules
 * Returns 0, or -errno for a vmlinux that cannot be used.
 */
int coll_kernel_init(struct coll_kernel *k, struct coll_images *images,
		     const struct coll_kernel_options *opt, struct err *err);
/* Whether a file can be a --vmlinux at all.  0 or -errno. */
int coll_kernel_check(const char *vmlinux, struct err *err);
void coll_kernel_fini(struct coll_kernel *k);

/**
 * coll_kernel_module - a module came or went
 * One that came is read of in the list of modules; what the notice says is taken where
 * that does not know it (any more).  0 or -ENOMEM.
 */
int coll_kernel_module(struct coll_kernel *k, const struct coll_module *m);

/**
 * coll_kernel_find - the image of a kernel address
 * @now_ns: CLOCK_MONOTONIC: modules are read again for an unknown address, once a second
 *	at most
 * @key: what the sample file counts: the address from the image's start
 * Returns NULL if neither the kernel nor a module holds the address.
 */
struct coll_image *coll_kernel_find(struct coll_kernel *k, uint64_t addr, uint64_t now_ns,
				    uint64_t *key);

/* Tells the images table which images it holds. */
void coll_kernel_keep(const struct coll_kernel *k);

#endif
