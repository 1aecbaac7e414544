/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/altfile.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/file/caches.h"
#include "libsym/file/open.h"

/* The link: a path, a NUL, and a build-id.  False if the file has none. */
static bool read_link(const struct sym_elf *elf, const char **path, struct build_id *id)
{
	size_t at = sym_elf_section(elf, ".gnu_debugaltlink"), len;
	Elf_Data *data = at ? elf_rawdata(elf_getscn(elf->elf, at), NULL) : NULL;

	if (!data || !data->d_buf)
		return false;
	*path = data->d_buf;
	len = strnlen(*path, data->d_size);
	if (!len || len + 3 > data->d_size)
		return false;
	*id = (struct build_id){ 0 };
	len = data->d_size - len - 1;
	id->len = (uint8_t)(len < sizeof(id->bytes) ? len : sizeof(id->bytes));
	memcpy(id->bytes, *path + data->d_size - len, id->len);
	return true;
}

static bool try_fd(const struct build_id *id, int *fd, struct sym_elf *out)
{
	struct build_id have;

	if (*fd >= 0 && !sym_elf_open(*fd, false, out, NULL)) {
		sym_elf_build_id(out, &have);
		if (build_id_equal(&have, id))
			return true;
		sym_elf_fini(out);
	}
	close_fd(fd);
	*fd = -1;
	return false;
}

static bool try_file(const struct sym_load *l, const struct strbuf *path,
		     const struct build_id *id, int *fd, struct sym_elf *out)
{
	*fd = strbuf_error(path) ? -1 : sym_open(strbuf_str(path), l->job->cred, NULL);
	return try_fd(id, fd, out);
}

static bool try_caches(const struct sym_places *places, const struct sym_load *l,
		       struct strbuf *path, const struct build_id *id, int *fd,
		       struct sym_elf *out)
{
	for (unsigned i = 0; sym_caches_path(places, id, SYM_CACHED_DEBUG, i, path);
	     i++) {
		*fd = sym_caches_open(places, strbuf_str(path), l->job->cred);
		if (try_fd(id, fd, out))
			return true;
	}
	return false;
}

int sym_altfile_open(const struct sym_load *l, const struct sym_elf *elf, int *fd,
		     struct sym_elf *out, struct strbuf *path, struct strbuf *hex,
		     struct err *err)
{
	struct sym_places places = sym_load_places(l->job);
	char text[BUILD_ID_TEXT];
	int of = elf == &l->image ? l->image_fd : l->debug.fd;
	const char *link;
	struct build_id id;

	if (!read_link(elf, &link, &id))
		return 0;
	build_id_format(&id, text);
	strbuf_puts(hex, text);
	if (*link == '/' || (of >= 0 && sym_open_directory(of, path))) {
		strbuf_printf(path, "%s%s", *link == '/' ? "" : "/", link);
		if (try_file(l, path, &id, fd, out))
			return 1;
	}
	strbuf_reset(path);
	strbuf_printf(path, "%s/.build-id/%.2s/%s.debug", places.debug_dir, text,
		      text + 2);
	if (try_file(l, path, &id, fd, out) || try_caches(&places, l, path, &id, fd, out))
		return 1;
	strbuf_reset(path);
	return err_set(err, -ENOENT,
		       "the file that its debug information shares with others (dwz), "
		       "%s, was not found",
		       link);
}
