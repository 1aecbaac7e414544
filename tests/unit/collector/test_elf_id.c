/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/who/elf_id.h"

Test(elf_id, reads_this_program_and_the_vdso)
{
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY);
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	struct build_id id = { 0 };
	uint64_t addr, size;

	cr_expect(coll_elf_build_id(fd, &id));
	cr_expect_geq(id.len, 8);
	cr_expect_eq(coll_elf_text(fd, &addr, &size, NULL), 0);
	cr_expect_gt(size, 1000);
	if (vdso)
		cr_expect(coll_elf_build_id_mem((void *)vdso, 4096, &id));
}

Test(elf_id, survives_this_program_with_any_byte_of_its_headers_wrong)
{
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	struct build_id id;
	Elf64_Ehdr eh;

	cr_assert_eq(file_slurp(AT_FDCWD, "/proc/self/exe", 64 << 20, &file, NULL), 0);
	memcpy(&eh, file.data, sizeof(eh));
	for (size_t i = 0; i < eh.e_phoff + (size_t)eh.e_phnum * sizeof(Elf64_Phdr);
	     i++) {
		char old = file.data[i];

		file.data[i] = (char)0xff;
		coll_elf_build_id_mem(file.data, file.len, &id);
		file.data[i] = old;
	}
	for (size_t len = 0; len < 2048; len += 7) {
		CLEANUP(free_ptr) void *cut = malloc(len + 1);

		memcpy(cut, file.data, len);
		coll_elf_build_id_mem(cut, len, &id);
	}
}
