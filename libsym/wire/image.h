/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_IMAGE_H
#define LIBSYM_WIRE_IMAGE_H

#include <stddef.h>

#include "base/err.h"
#include "libsym/wire/wire.h"

/*
 * A table as it is in memory: one block without pointers, which may be anywhere and comes
 * from a file as it is.  It holds
 *
 *	struct sym_image
 *	struct sym[nr_syms], struct sym_section[nr_sections], [nr_entries]
 *	the names, padded to 8 bytes
 *	the index (libsym/table/index.h)
 */
struct sym_image {
	struct sym_wire_header h; /* of the answer that it was made from */
	uint64_t index_len;
};

/* Where things are in a block, or in one that is to be made. */
struct sym_image_parts {
	struct sym *syms;
	struct sym_section *sections, *entries;
	char *names;
	struct sym_index *index;
	size_t len; /* of the block */
};
struct sym_image_parts sym_image_parts(struct sym_image *x);

/**
 * sym_image_table - the table of a block
 * @image: checked before by sym_wire_decode(), in this process or in another one of this
 *	program: no more than its lengths are looked at
 * @release: called with @image and @len by the last sym_table_put(); not on failure
 * Returns 0; -EBADMSG; -ENOMEM.
 */
int sym_image_table(void *image, size_t len, void (*release)(void *image, size_t len),
		    struct sym_table **out, struct err *err);

#endif
