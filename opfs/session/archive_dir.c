/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/archive_dir.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

#define VDSO_DIR "/vdso/"
#define VDSO_NAME "/[vdso]"

static const char *below(const char *root, const char *path, struct arena *arena)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_printf(&text, "%s/%s", root, path);
	return strbuf_error(&text) ? NULL : arena_strdup(arena, text.data);
}

static int init_kernel(struct archive_dir *a, struct arena *arena)
{
	a->kernel = (struct sym_places){
		.debug_dir = a->places.debug_dir,
		.kallsyms = below(a->root, "proc/kallsyms", arena),
		.modules = below(a->root, "proc/modules", arena),
		.modules_dir = below(a->root, "lib/modules", arena),
		.kernel_notes = below(a->root, "sys/kernel/notes", arena),
	};
	if (!a->kernel.kallsyms || !a->kernel.modules || !a->kernel.modules_dir ||
	    !a->kernel.kernel_notes)
		return -ENOMEM;
	a->has_kernel =
		file_is_regular(a->kernel.kallsyms) || file_is_dir(a->kernel.modules_dir);
	return 0;
}

int archive_dir_init(struct archive_dir *a, const char *root, struct arena *arena)
{
	*a = (struct archive_dir){ 0 };
	if (!root || root[0] != '/' || !file_is_dir(root))
		return 0;
	a->root = arena_strdup(arena, root);
	if (!a->root)
		return -ENOMEM;
	a->places.debug_dir = below(root, "usr/lib/debug", arena);
	return a->places.debug_dir ? init_kernel(a, arena) : -ENOMEM;
}

bool archive_dir_takes(const char *path)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return false;
	while (*path) {
		size_t len;

		path++; /* the slash */
		len = strcspn(path, "/");
		if (!len || (len <= 2 && !memcmp(path, "..", len)))
			return false;
		path += len;
	}
	return true;
}

bool archive_dir_path(const struct archive_dir *a, const char *path, struct strbuf *out)
{
	if (!a->root || !archive_dir_takes(path))
		return false;
	strbuf_puts(out, a->root);
	strbuf_puts(out, path);
	return true;
}

const char *archive_dir_shown(const struct archive_dir *a, const char *text)
{
	size_t len = a->root ? strlen(a->root) : 0;

	if (!len || strncmp(text, a->root, len) || text[len] != '/')
		return text;
	text += len;
	if (!strncmp(text, VDSO_DIR, strlen(VDSO_DIR)) && strstr(text, VDSO_NAME))
		return strstr(text, VDSO_NAME) + 1;
	return text;
}

void archive_dir_vdso(const struct build_id *id, struct strbuf *out)
{
	char hex[BUILD_ID_TEXT];

	build_id_format(id, hex);
	strbuf_printf(out, VDSO_DIR "%s" VDSO_NAME, hex);
}

static int use_file(const struct archive_dir *a, struct sym_job *job, const char *path,
		    enum sym_kind kind, struct arena *arena)
{
	CLEANUP(strbuf_fini) struct strbuf at = { 0 };

	if (!archive_dir_path(a, path, &at) || strbuf_error(&at) ||
	    !file_is_regular(at.data))
		return strbuf_error(&at);
	job->path = arena_strdup(arena, at.data);
	job->kind = kind;
	job->places = &a->places;
	return job->path ? 0 : -ENOMEM;
}

int archive_dir_job(const struct archive_dir *a, struct sym_job *job, struct arena *arena)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	if (!a->root)
		return 0;
	if (job->kind == SYM_VDSO) { /* in an archive it is a file like any other */
		archive_dir_vdso(&job->build_id, &path);
		return use_file(a, job, strbuf_str(&path), SYM_USER, arena);
	}
	if (a->has_kernel && (job->kind == SYM_KALLSYMS || job->kind == SYM_MODULE))
		job->places = &a->kernel;
	if (job->path && job->kind != SYM_KALLSYMS)
		return use_file(a, job, job->path, job->kind, arena);
	return 0;
}
