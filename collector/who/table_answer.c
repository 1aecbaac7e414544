/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/table_answer.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/box/sandbox.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "collector/who/identify.h"
#include "libcfi/compile.h"

/* The largest files take a second of it; sanitizers are slow. */
#ifdef __SANITIZE_ADDRESS__
enum { CPU_SECONDS = 20 };
#else
enum { CPU_SECONDS = 5 };
#endif

/* This process has the same as all others; the kernel made it, so it is whole. */
static int open_vdso(void)
{
	const Elf64_Ehdr *elf = (const void *)getauxval(AT_SYSINFO_EHDR);
	CLEANUP(close_fd) int fd = elf ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd < 0 ||
	    file_write_all(fd, elf,
			   elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize))
		return -1;
	return take_fd(&fd);
}

bool coll_table_confine(void)
{
	return !sandbox_limit(CPU_SECONDS, NULL) && !sandbox_enter(NULL);
}

void coll_table_answer(char *question, size_t len, struct strbuf *out, int *file)
{
	CLEANUP(close_fd) int fd = -1;
	size_t before = out->len;
	struct err err = { 0 };

	(void)file;
	fd = len ? coll_identify_open(question, len) : open_vdso();
	if (fd < 0 || !coll_table_confine())
		return;
	if (cfi_compile_file(fd, out, &err))
		strbuf_truncate(out, before);
}
