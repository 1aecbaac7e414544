/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/* An image of arbitrary bytes: whatever is told of it must be consistent. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "libsym/helper/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sym_table *t)
{
	for (size_t i = 0; i < t->nr_syms; i++) {
		const struct sym *s = &t->syms[i], *found = sym_find(t, s->off);

		if (found != s || !s->size || !*sym_name(s))
			abort();
		found = sym_find(t, s->off + s->size);
		if (found == s)
			abort();
	}
	for (size_t i = 0; i < t->nr_sections; i++) {
		uint64_t vma = ~t->sections[i].vma;

		if (!sym_vma(t, t->sections[i].off, &vma) || vma != t->sections[i].vma)
			abort();
	}
	for (size_t i = 0; i < t->nr_entries; i++) {
		const struct sym_section *e = &t->entries[i];

		if (sym_entry_find(t, e->off + e->size - 1) != e ||
		    sym_entry_find(t, e->off + e->size) == e)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sym_places places = { .debug_dir = "/nonexistent" };
	struct sym_job job = { .kind = SYM_USER, .path = "fuzz", .places = &places };
	struct sym_table *t = NULL;
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (size && data[0] & 0x80) { /* else the first byte is ELF's */
		job.kind = SYM_MODULE;
		data++;
		size--;
	}
	if (fd < 0 || file_write_all(fd, data, size))
		abort();
	if (!sym_table_load_fd(fd, &job, &t, NULL))
		check(t);
	sym_table_put(t);
	close(fd);
	return 0;
}
