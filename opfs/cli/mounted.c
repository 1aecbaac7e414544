/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/mounted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/vec.h"

static void mount_fini(struct mounted *m)
{
	free(m->point);
	free(m->root);
	free(m->source);
	*m = (struct mounted){ 0 };
}

void mounted_fini(struct mounted_list *list)
{
	vec_for(list, m)
		mount_fini(m);
	vec_fini(list);
}

/* A field is "PATH", with \040 for blanks and the like. */
static char *unescaped(const char *field)
{
	struct strbuf out = { 0 };

	for (; *field; field++) {
		unsigned code;

		if (*field == '\\' && strlen(field) > 3 &&
		    sscanf(field + 1, "%3o", &code) == 1) {
			strbuf_putc(&out, (char)code);
			field += 3;
		} else {
			strbuf_putc(&out, *field);
		}
	}
	return strbuf_take(&out);
}

enum { FIELD_ROOT = 3, FIELD_POINT, NR_FIELDS };

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [...] - TYPE SOURCE OPTIONS" */
static int parse(char *line, struct mounted *m)
{
	char *second = strstr(line, " - "), *fields[NR_FIELDS] = { 0 };
	char *type, *source, *options, *user;

	if (!second)
		return -EINVAL;
	*second = '\0';
	second += strlen(" - ");
	for (int i = 0; i < NR_FIELDS; i++)
		fields[i] = strsep(&line, " ");
	type = strsep(&second, " ");
	source = strsep(&second, " ");
	options = second;
	if (!fields[FIELD_POINT] || !source)
		return -EINVAL;
	user = options ? strstr(options, "user_id=") : NULL;
	*m = (struct mounted){
		.root = unescaped(fields[FIELD_ROOT]),
		.point = unescaped(fields[FIELD_POINT]),
		.source = unescaped(source),
		.opfs = !strcmp(type, "fuse.opfs"),
		.user = user ? (uid_t)strtoul(user + strlen("user_id="), NULL, 10) : 0,
	};
	return m->root && m->point && m->source ? 0 : -ENOMEM;
}

int mounted_read(struct mounted_list *out)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/self/mountinfo", "re");
	CLEANUP(free_ptr) char *line = NULL;
	size_t room = 0;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0) {
		struct mounted m = { 0 };
		int rc;

		line[strcspn(line, "\n")] = '\0';
		rc = parse(line, &m);
		if (!rc && vec_push(out, m))
			rc = -ENOMEM;
		if (rc)
			mount_fini(&m);
		if (rc == -ENOMEM)
			return rc;
	}
	return ferror(f) ? -EIO : 0;
}

const struct mounted *mounted_at(const struct mounted_list *list, const char *path)
{
	/* the last one hides those before it */
	for (size_t i = list->len; i > 0; i--)
		if (!strcmp(list->data[i - 1].point, path))
			return list->data[i - 1].opfs ? &list->data[i - 1] : NULL;
	return NULL;
}

const struct mounted *mounted_within(const struct mounted_list *list, const char *path,
				     const char **rest)
{
	CLEANUP(free_ptr) char *real = strdup("");

	while (real && *path == '/') {
		CLEANUP(strbuf_fini) struct strbuf next = { 0 };
		const struct mounted *m;
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len)
			return NULL;
		strbuf_printf(&next, "%s/%.*s", strcmp(real, "/") != 0 ? real : "",
			      (int)len, path);
		path += len;
		m = mounted_at(list, strbuf_str(&next));
		free(real);
		real = m || strbuf_error(&next) ? NULL : realpath(next.data, NULL);
		m = !m && real ? mounted_at(list, real) : m;
		if (m) {
			*rest = path;
			return m;
		}
	}
	return NULL;
}
