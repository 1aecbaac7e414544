/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/debugfile.h"

#include <elfutils/libdwelf.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/open.h"

void sym_debugfile_fini(struct sym_debugfile *d)
{
	sym_elf_fini(&d->elf);
	close_fd(&d->fd);
	d->fd = -1;
	strbuf_fini(&d->path);
}

static uint32_t crc_table[256];

static void make_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		crc_table[i] = c;
	}
}

/* CRC-32 as in Ethernet and zip: the one that .gnu_debuglink carries. */
static bool crc_matches(int fd, uint32_t want)
{
	uint32_t crc = ~0u;
	uint8_t piece[16384];
	ssize_t n;

	if (!crc_table[1])
		make_crc_table();
	for (off_t at = 0; (n = file_pread_all(fd, piece, sizeof(piece), at)) > 0;
	     at += n)
		for (ssize_t i = 0; i < n; i++)
			crc = crc_table[(crc ^ piece[i]) & 0xff] ^ (crc >> 8);
	return !n && ~crc == want;
}

struct search {
	const struct sym_elf *image;
	struct sym_id id;
	const char *link; /* .gnu_debuglink; NULL: none */
	uint32_t crc;
	const struct sym_cred *cred;
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
	struct sym_id id;

	if (s->out->elf.machine != s->image->machine ||
	    s->out->elf.type != s->image->type || !has_symtab(&s->out->elf))
		return false;
	sym_elf_build_id(&s->out->elf, &id);
	if (id.len && s->id.len)
		return sym_id_equal(&id, &s->id);
	return by_link && crc_matches(s->out->fd, s->crc);
}

/* Takes the file whose path is in out->path, or leaves nothing there. */
static bool try_file(struct search *s, bool by_link)
{
	struct sym_debugfile *d = s->out;
	bool found = false;

	if (!strbuf_error(&d->path))
		d->fd = sym_open(strbuf_str(&d->path), s->cred, NULL);
	if (d->fd >= 0 && !sym_elf_open(d->fd, false, &d->elf, NULL))
		found = is_its_debug_file(s, by_link);
	if (!found)
		sym_debugfile_fini(d);
	return found;
}

static bool by_build_id(struct search *s, const char *debug_dir)
{
	char hex[2 * sizeof(s->id.bytes) + 1];

	if (s->id.len < 2)
		return false;
	sym_id_format(&s->id, hex);
	strbuf_printf(&s->out->path, "%s/.build-id/%.2s/%s.debug", debug_dir, hex,
		      hex + 2);
	return try_file(s, false);
}

static bool by_link(struct search *s, const char *dir, const char *debug_dir)
{
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

bool sym_debugfile_find(const struct sym_elf *image, const char *dir,
			const char *debug_dir, const struct sym_cred *cred,
			struct sym_debugfile *out)
{
	struct search s = { .image = image, .cred = cred, .out = out };
	GElf_Word crc = 0;

	*out = (struct sym_debugfile){ .fd = -1 };
	sym_elf_build_id(image, &s.id);
	s.link = dwelf_elf_gnu_debuglink(image->elf, &crc);
	s.crc = crc;
	return by_build_id(&s, debug_dir) || by_link(&s, dir, debug_dir);
}
