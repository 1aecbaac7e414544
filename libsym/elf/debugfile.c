/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/debugfile.h"

#include <elfutils/libdwelf.h>
#include <lzma.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/file/caches.h"
#include "libsym/file/open.h"

void sym_debugfile_fini(struct sym_debugfile *d)
{
	sym_elf_fini(&d->elf);
	close_fd(&d->fd);
	d->fd = -1;
	strbuf_fini(&d->path);
}

/* .gnu_debuglink carries the CRC-32 of Ethernet and zip. */
static bool crc_matches(int fd, uint32_t want)
{
	uint32_t crc = 0;
	uint8_t piece[16384];
	ssize_t n;

	for (off_t at = 0; (n = file_pread_all(fd, piece, sizeof(piece), at)) > 0;
	     at += n)
		crc = lzma_crc32(piece, (size_t)n, crc);
	return !n && crc == want;
}

struct search {
	const struct sym_elf *image;
	struct build_id id;
	const char *link; /* .gnu_debuglink; NULL: none */
	uint32_t crc;
	const struct sym_places *places;
	const struct cred *cred;
	struct sym_debugfile *out;
};

static bool has_symtab(const struct sym_elf *e)
{
	for (size_t i = 1; i < e->nr_sh; i++)
		if (e->sh[i].sh_type == SHT_SYMTAB)
			return true;
	return false;
}

static bool is_its_debug_file(const struct search *s, bool by_link)
{
	struct build_id id;

	if (s->out->elf.machine != s->image->machine ||
	    s->out->elf.type != s->image->type || !has_symtab(&s->out->elf))
		return false;
	sym_elf_build_id(&s->out->elf, &id);
	if (id.len && s->id.len)
		return build_id_equal(&id, &s->id);
	return by_link && crc_matches(s->out->fd, s->crc);
}

/* True if out->fd, of out->path, is the debug file; if not, @out is emptied. */
static bool try_fd(struct search *s, bool by_link)
{
	struct sym_debugfile *d = s->out;
	bool found = false;

	if (d->fd >= 0 && !sym_elf_open(d->fd, false, &d->elf, NULL))
		found = is_its_debug_file(s, by_link);
	if (!found)
		sym_debugfile_fini(d);
	return found;
}

static bool try_file(struct search *s, bool by_link)
{
	struct sym_debugfile *d = s->out;

	if (!strbuf_error(&d->path))
		d->fd = sym_open(strbuf_str(&d->path), s->cred, NULL);
	return try_fd(s, by_link);
}

static bool by_build_id(struct search *s)
{
	char hex[2 * sizeof(s->id.bytes) + 1];

	if (s->id.len < 2)
		return false;
	build_id_format(&s->id, hex);
	strbuf_printf(&s->out->path, "%s/.build-id/%.2s/%s.debug", s->places->debug_dir,
		      hex, hex + 2);
	return try_file(s, false);
}

static bool by_link(struct search *s, const char *dir)
{
	const char *debug_dir = s->places->debug_dir;

	if (!s->link || !*s->link || strchr(s->link, '/') || !dir)
		return false;
	strbuf_printf(&s->out->path, "%s/.debug/%s", dir, s->link);
	if (try_file(s, true))
		return true;
	strbuf_printf(&s->out->path, "%s/%s", dir, s->link);
	if (try_file(s, true))
		return true;
	strbuf_printf(&s->out->path, "%s%s/%s", debug_dir, dir, s->link);
	if (try_file(s, true))
		return true;
	if (strncmp(dir, "/usr/", 5) != 0)
		return false;
	strbuf_printf(&s->out->path, "%s%s/%s", debug_dir, dir + 4, s->link);
	return try_file(s, true);
}

static bool by_cache(struct search *s)
{
	struct sym_debugfile *d = s->out;

	for (unsigned i = 0;
	     sym_caches_path(s->places, &s->id, SYM_CACHED_DEBUG, i, &d->path); i++) {
		d->fd = sym_caches_open(s->places, strbuf_str(&d->path), s->cred);
		if (try_fd(s, false))
			return true;
	}
	return false;
}

bool sym_debugfile_find(const struct sym_elf *image, const char *dir,
			const struct sym_places *places, const struct cred *cred,
			struct sym_debugfile *out)
{
	struct search s = { .image = image, .places = places, .cred = cred, .out = out };
	GElf_Word crc = 0;

	*out = (struct sym_debugfile){ .fd = -1 };
	sym_elf_build_id(image, &s.id);
	s.link = dwelf_elf_gnu_debuglink(image->elf, &crc);
	s.crc = crc;
	return by_build_id(&s) || by_link(&s, dir) || by_cache(&s);
}
