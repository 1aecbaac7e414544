/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function that is ALONE in its page (cputime.h), mapped once more from its file. */
#ifndef TESTS_PROGRAMS_ALONE_H
#define TESTS_PROGRAMS_ALONE_H

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cputime.h"

struct alone_place {
	uintptr_t addr;
	off_t off; /* -1: not found */
};

/* The program itself comes first. */
static int alone_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct alone_place *p = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && p->addr >= start &&
		    p->addr < start + h->p_filesz)
			p->off = (off_t)(p->addr - start + h->p_offset);
	}
	return 1;
}

/* NULL: it cannot be. */
static work_fn *map_alone(work_fn *f)
{
	struct alone_place p = { (uintptr_t)f, -1 };
	static int fd = -1;
	void *at;

	if (fd < 0)
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	dl_iterate_phdr(alone_look, &p);
	if (fd < 0 || p.off < 0)
		return NULL;
	at = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
		  fd, p.off);
	return at == MAP_FAILED ? NULL : (work_fn *)at;
}

#endif
