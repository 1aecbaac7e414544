/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define MAX_SIZE (64u << 20)
#define MAX_MEMORY (128u << 20)

static lzma_ret unpack(const Elf_Data *packed, uint8_t *to, size_t room, size_t *size)
{
	uint64_t memory = MAX_MEMORY;
	size_t at = 0;

	*size = 0;
	return lzma_stream_buffer_decode(&memory, 0, NULL, packed->d_buf, &at,
					 packed->d_size, to, size, room);
}

int sym_minidebug_open(const struct sym_elf *image, struct sym_elf *out)
{
	size_t at = sym_elf_section(image, ".gnu_debugdata"), size = 0;
	CLEANUP(free_ptr) uint8_t *to = NULL;
	Elf_Data *packed;
	lzma_ret rc = LZMA_BUF_ERROR;

	if (!at)
		return -ENOENT;
	packed = elf_rawdata(elf_getscn(image->elf, at), NULL);
	if (!packed || !packed->d_buf || packed->d_size > MAX_SIZE)
		return -ENOENT;
	/* the packed form does not tell the size: try until it fits */
	for (size_t room = 4 * packed->d_size + 4096; room <= MAX_SIZE; room *= 2) {
		free(to);
		to = malloc(room);
		if (!to)
			return -ENOMEM;
		rc = unpack(packed, to, room, &size);
		if (rc != LZMA_BUF_ERROR)
			break;
	}
	if (rc != LZMA_OK || sym_elf_memory(to, size, out, NULL))
		return -ENOENT;
	out->mem = TAKE(to);
	return 0;
}
