/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_DEBUGFILE_H
#define LIBSYM_ELF_DEBUGFILE_H

#include "base/strbuf.h"
#include "libsym/elf/elf.h"
#include "libsym/table/job.h"

struct sym_debugfile {
	int fd; /* -1: none */
	struct strbuf path;
	struct sym_elf elf;
};

void sym_debugfile_fini(struct sym_debugfile *d);

/**
 * sym_debugfile_find - the separate debug file of an image
 * @dir: directory of the image, absolute, or NULL
 * @places: of installed debug files (debug_dir), and the caches
 * @cred: as for sym_open()
 * First by build-id below debug_dir, then by .gnu_debuglink in @dir/.debug, @dir and
 * below debug_dir (also without the "/usr" of a merged-/usr system), then in the caches
 * (libsym/file/caches.h).  A file is taken only if its build-id is the image's, or, where
 * one has none, if the CRC of the link is that of the file.  True if found.
 */
bool sym_debugfile_find(const struct sym_elf *image, const char *dir,
			const struct sym_places *places, const struct cred *cred,
			struct sym_debugfile *out);

#endif
