/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/vdso.h"
#include "opfs/archive.h"

/* What only the running system tells: kernel symbols and the vdso. */

static const char *const kernel_files[] = { "/proc/kallsyms", "/proc/modules",
					    "/sys/kernel/notes" };
enum { CHUNK = 64 << 10 };

/* Such files have no size before they are read. */
static int copy_file(const char *path, int to, uint64_t *len)
{
	CLEANUP(close_fd) int from = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[CHUNK];
	ssize_t got;
	int rc = 0;

	if (from < 0)
		return -errno;
	for (*len = 0; !rc && (got = read(from, chunk, sizeof(chunk))) != 0;) {
		if (got < 0)
			return -errno;
		rc = file_write_all(to, chunk, (size_t)got);
		*len += (uint64_t)got;
	}
	return rc;
}

static int add_copy(struct archive *a, const char *name, const char *path)
{
	const struct strbuf nothing = { 0 };
	struct tar_info info = { .name = name,
				 .mtime = (int64_t)(a->cat->drained_ns / 1000000000u) };
	int fd = file_unnamed(), rc;
	uint64_t len;

	if (fd < 0)
		return archive_left_out(a, path, strerror(-fd));
	if (vec_push(&a->fds, fd)) {
		close(fd);
		return archive_no_memory(a);
	}
	rc = copy_file(path, fd, &len);
	if (rc == -ENOENT) /* a kernel without modules */
		return 0;
	if (rc)
		return archive_left_out(a, path, strerror(-rc));
	return tar_add_range(a->t, &info, &nothing, fd, 0, len, 0, a->err);
}

int archive_add_kernel(struct archive *a)
{
	CLEANUP(strbuf_fini) struct strbuf at = { 0 };
	int rc = 0;

	for (size_t i = 0; i < sizeof(kernel_files) / sizeof(kernel_files[0]) && !rc;
	     i++) {
		const char *path = kernel_files[i];

		strbuf_reset(&a->name);
		strbuf_printf(&a->name, ARCHIVE_DIR "%s", path);
		strbuf_reset(&at);
		if (a->cat->archive.has_kernel &&
		    archive_dir_path(&a->cat->archive, path, &at))
			path = strbuf_str(&at);
		if (strbuf_error(&a->name) || strbuf_error(&at))
			return archive_no_memory(a);
		if (!tar_has(a->t, a->name.data))
			rc = add_copy(a, a->name.data, path);
	}
	return rc;
}

int archive_add_vdso(struct archive *a, const struct sym_id *id)
{
	struct tar_info info = { .executable = true,
				 .mtime = (int64_t)(a->cat->drained_ns / 1000000000u) };
	void *image;
	size_t size;

	if (!sym_vdso_image(&image, &size))
		return archive_left_out(a, "[vdso]", "this kernel has none");
	strbuf_reset(&a->name);
	strbuf_puts(&a->name, ARCHIVE_DIR);
	archive_dir_vdso(id, &a->name);
	info.name = strbuf_str(&a->name);
	return strbuf_error(&a->name) ? archive_no_memory(a)
				      : tar_add_bytes(a->t, &info, image, size, a->err);
}
