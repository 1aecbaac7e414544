/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/* An image, code, and an answer of arbitrary bytes: no instruction leaves its range. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "libsym/code/disasm.h"
#include "libsym/wire/disasm_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sym_disasm *d)
{
	for (size_t i = 0; i < d->nr_codes; i++) {
		const struct sym_code *c = &d->codes[i];
		uint64_t at = c->range.off;
		volatile uint8_t last;

		if (c->bytes && c->range.end > c->range.off)
			last = c->bytes[c->range.end - c->range.off - 1];
		(void)last;
		for (size_t k = 0; k < c->nr_insns; k++) {
			if (c->insns[k].off < at || strpbrk(c->insns[k].text, "\n\t\x1b"))
				abort();
			at = c->insns[k].off + c->insns[k].len;
		}
		if (at > c->range.end)
			abort();
	}
}

static void try_decode(const void *data, size_t size)
{
	struct sym_disasm *d = NULL;

	if (!sym_disasm_decode(data, size, &d, NULL))
		check(d);
	sym_disasm_put(d);
}

static void try_image(const void *image, size_t size, const struct sym_range *ranges,
		      size_t nr, const char *options)
{
	static const struct sym_places places = { .debug_dir = "/nonexistent" };
	struct sym_job job = { .kind = SYM_USER, .path = "fuzz", .places = &places };
	struct strbuf out = { 0 };
	int fd = memfd_create("image", MFD_CLOEXEC), rc;

	if (fd < 0 || file_write_all(fd, image, size))
		abort();
	rc = sym_disasm_encode_fd(fd, &job, ranges, nr, options, &out, NULL);
	if (!rc)
		try_decode(out.data, out.len);
	else if (rc != -EFBIG && rc != -EINVAL && rc != -ENOMEM)
		abort();
	strbuf_fini(&out);
	close(fd);
}

/* The bytes as the code of a program without sections. */
static void try_code(const uint8_t *data, size_t size, bool wide, const char *options)
{
	struct sym_range all = { sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), 1 << 20 };
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = 1,
			  .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1 };
	Elf64_Phdr ph = { .p_type = PT_LOAD,
			  .p_vaddr = wide ? 0xffffffff81000000 : 0x400000,
			  .p_filesz = all.off + size,
			  .p_memsz = all.off + size };
	uint8_t *image = malloc(all.off + size);

	if (!image)
		abort();
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + sizeof(eh), &ph, sizeof(ph));
	memcpy(image + all.off, data, size);
	try_image(image, all.off + size, &all, 1, options);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const options[] = { "",      "intel",         "suffix", "i386",
					       "i8086", "data16,addr32", "bogus",  NULL };
	const struct sym_range ranges[] = {
		{ 0, 4096 }, { 4096, 8192 }, { 1, UINT64_MAX / 2 }, { size / 2, size }
	};
	const char *option;
	void *copy;

	if (size < 2)
		return 0;
	option = options[data[0] & 7];
	if (data[0] & 8) {
		try_code(data + 1, size - 1, data[0] & 16, option);
		return 0;
	}
	copy = malloc(size + 8); /* aligned as the decoder asks for */
	if (!copy)
		abort();
	memcpy(copy, data + 1, size - 1);
	try_decode(copy, size - 1);
	free(copy);
	try_image(data + 1, size - 1, ranges, 2, option);
	try_image(data + 1, size - 1, ranges + (data[0] >> 5 & 3), 1, option);
	return 0;
}
