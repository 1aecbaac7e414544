/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/relative.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libspec/name/glob.h"
#include "libspec/spec/spec.h"

/* Is there a component "." or ".."?  Without, a path may as well be one in the session
 * whose first "/" is missing. */
static bool has_dots(const char *path)
{
	size_t len;

	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (len && len <= 2 && !memcmp(path, "..", len))
			return true;
	}
	return false;
}

/* The end of the file that begins at @value and may span components, and its real path;
 * NULL: there is none. */
static const char *find_file(const char *value, char real[PATH_MAX])
{
	const char *end = value;
	bool directory = true;

	while (directory) {
		CLEANUP(strbuf_fini) struct strbuf decoded = { 0 };
		CLEANUP(free_ptr) char *raw = NULL;
		const char *path;
		struct stat st;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		raw = strndup(value, (size_t)(end - value));
		if (!raw)
			return NULL;
		spec_decode(raw, &decoded);
		path = strbuf_str(&decoded);
		if (strbuf_error(&decoded) || strlen(path) != decoded.len ||
		    path[0] == '/' || stat(path, &st))
			return NULL;
		if (S_ISREG(st.st_mode) && has_dots(path))
			return realpath(path, real) ? end : NULL;
		directory = S_ISDIR(st.st_mode) && *end;
	}
	return NULL;
}

char *cli_relative(const char *path)
{
	struct strbuf out = { 0 };

	while (*path) {
		size_t len = strcspn(path, "/");
		char real[PATH_MAX];
		struct spec_word word;
		const char *end = NULL;

		if (spec_word_parse(path, len, &word) && word.value &&
		    word.tag->kind == SPEC_TAG_IMAGES)
			end = find_file(word.value, real);
		if (end) {
			strbuf_printf(&out, "%s:", word.tag->name);
			spec_escape(real, &out);
		} else {
			end = path + len;
			strbuf_add(&out, path, len);
		}
		if (*end)
			strbuf_putc(&out, *end++);
		path = end;
	}
	return strbuf_take(&out);
}
