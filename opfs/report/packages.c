/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/packages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "base/map.h"

enum {
	MAX_LISTS = 20000,
	MAX_LIST_BYTES = 16 << 20,
	MAX_BYTES = 256 << 20, /* of all lists */
};

#define SUFFIX ".list"

/* Debug symbols of all others are in PACKAGE-dbgsym. */
static const struct {
	const char *package, *suffix;
} named_otherwise[] = {
	{ "libc6", "-dbg" },
	{ "linux-image-", "-dbg" },
};

struct search {
	struct package_owner *all;
	struct map by_path;
	size_t left, bytes;
};

/* ---- paths */

/* "/usr/bin/x" is "/bin/x" in lists of packages that are older than the link /bin. */
static const char *without_usr(const char *path, size_t len)
{
	static const char *const linked[] = { "/usr/bin/", "/usr/sbin/", "/usr/lib" };

	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++) {
		size_t begin = strlen(linked[i]);

		if (len > begin && !memcmp(path, linked[i], begin))
			return path + strlen("/usr");
	}
	return path;
}

/* Files of one path have one owner: that of the first is theirs. */
static bool first_of_path(const struct search *s, const char *path, size_t len,
			  uint64_t *first)
{
	const char *key = without_usr(path, len);

	return map_get(&s->by_path, key, len - (size_t)(key - path), first);
}

static void add_path(struct search *s, size_t i)
{
	const char *key = without_usr(s->all[i].path, strlen(s->all[i].path));
	uint64_t first;

	if (!map_get(&s->by_path, key, strlen(key), &first) &&
	    !map_set(&s->by_path, key, strlen(key), i))
		s->left++;
}

/* ---- lists */

/* @list: "libc6:amd64.list" */
static void name_package(struct package_owner *of, const char *list)
{
	int len = (int)strcspn(list, ":");
	const char *suffix = "-dbgsym";

	if (!list[len])
		len = (int)(strlen(list) - strlen(SUFFIX));
	for (size_t i = 0; i < sizeof(named_otherwise) / sizeof(named_otherwise[0]);
	     i++) {
		const char *of_package = named_otherwise[i].package;
		size_t named = strlen(of_package);

		if (!strncmp(list, of_package, named) &&
		    (of_package[named - 1] == '-' || (size_t)len == named))
			suffix = named_otherwise[i].suffix;
	}
	snprintf(of->debug, sizeof(of->debug), "%.*s%s", len, list, suffix);
}

static void look_in(struct search *s, const char *list, const struct strbuf *text)
{
	for (size_t at = 0; at < text->len;) {
		const char *line = text->data + at;
		const char *end = memchr(line, '\n', text->len - at);
		size_t len = end ? (size_t)(end - line) : text->len - at;
		uint64_t i;

		at += len + 1;
		if (!first_of_path(s, line, len, &i) || s->all[i].debug[0])
			continue;
		name_package(&s->all[i], list);
		s->left--;
	}
}

static bool is_list(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(SUFFIX) && len < 80 &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

static void search(struct search *s, int dir, const struct names *lists)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < lists->len && s->left && s->bytes < MAX_BYTES; i++) {
		if (!is_list(lists->data[i]) || nr++ == MAX_LISTS)
			continue;
		strbuf_reset(&text);
		if (file_slurp(dir, lists->data[i], MAX_LIST_BYTES, &text, NULL))
			continue;
		s->bytes += text.len;
		look_in(s, lists->data[i], &text);
	}
}

bool packages_find(const char *info, struct package_owner *all, size_t nr)
{
	CLEANUP(close_fd) int dir = open(info, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(names_fini) struct names lists = { 0 };
	struct search s = { .all = all };
	uint64_t first;

	if (dir < 0 || dirlist_read(dir, &lists))
		return false;
	for (size_t i = 0; i < nr; i++) {
		all[i].debug[0] = '\0';
		if (all[i].path && all[i].path[0] == '/')
			add_path(&s, i);
	}
	search(&s, dir, &lists);
	for (size_t i = 0; i < nr; i++)
		if (all[i].path &&
		    first_of_path(&s, all[i].path, strlen(all[i].path), &first))
			memmove(all[i].debug, all[first].debug, sizeof(all[i].debug));
	map_fini(&s.by_path);
	return true;
}

/* May the path stand in a command as it is? */
static bool is_plain(const char *path)
{
	return path[0] == '/' &&
	       !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789/._+-")];
}

void packages_advice(const struct package_owner *of, bool has_rpm, struct strbuf *out)
{
	if (of->debug[0])
		strbuf_printf(out, "package %s", of->debug);
	else if (has_rpm && of->path && is_plain(of->path))
		strbuf_printf(out, "dnf debuginfo-install $(rpm -qf %s)", of->path);
}
