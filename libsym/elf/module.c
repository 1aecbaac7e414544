/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/module.h"

#include <dirent.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/file/find.h"

enum { MAX_DEPTH = 16, MAX_ENTRIES = 200000 };

struct walk {
	const char *name;
	struct strbuf *path;
	int depth;
	int left; /* directory entries to look at before giving up */
};

bool sym_module_file(const char *file, const char *name)
{
	static const char *const endings[] = { ".ko", ".ko.xz", ".ko.zst", ".ko.gz",
					       ".ko.bz2" };
	size_t len = strlen(file);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t cut = strlen(endings[i]);

		if (len > cut && !strcmp(file + len - cut, endings[i]))
			return sym_module_name_equal(file, len - cut, name);
	}
	return false;
}

static bool walk_dir(struct walk *w)
{
	CLEANUP(close_dir) DIR *dir = opendir(strbuf_str(w->path));
	size_t len = w->path->len;
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)) && w->left-- > 0) {
		if (e->d_name[0] == '.')
			continue;
		strbuf_printf(w->path, "/%s", e->d_name);
		found = e->d_type != DT_DIR && sym_module_file(e->d_name, w->name);
		if (!found && e->d_type == DT_DIR && w->depth < MAX_DEPTH) {
			w->depth++;
			found = walk_dir(w);
			w->depth--;
		}
		if (!found)
			strbuf_truncate(w->path, len);
	}
	return found;
}

bool sym_module_find(const char *dir, const char *name, struct strbuf *path)
{
	struct walk w = { .name = name, .path = path, .left = MAX_ENTRIES };
	size_t len = path->len;
	struct utsname uts;

	if (dir)
		strbuf_puts(path, dir);
	else if (!uname(&uts))
		strbuf_printf(path, "/lib/modules/%s", uts.release);
	if (walk_dir(&w) && !strbuf_error(path))
		return true;
	strbuf_truncate(path, len);
	return false;
}
