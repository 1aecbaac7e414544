/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/embed.h"
#include "base/file.h"
#include "events/table/line.h"

/* TABLE(number, file): events/module.mk names the same files, to build this anew. */
#define TABLES(TABLE)                                                                    \
	TABLE(0, "arm/armv8-pmuv3/events")                                               \
	TABLE(1, "arm/armv8-pmuv3/unit_masks")                                           \
	TABLE(2, "i386/arch_perfmon/events")                                             \
	TABLE(3, "i386/arch_perfmon/unit_masks")                                         \
	TABLE(4, "perf/generic/events")                                                  \
	TABLE(5, "perf/software/events")                                                 \
	TABLE(6, "timer/events")                                                         \
	TABLE(7, "x86-64/family17h/events")                                              \
	TABLE(8, "x86-64/family17h/unit_masks")                                          \
	TABLE(9, "x86-64/family19h/events")                                              \
	TABLE(10, "x86-64/family19h/unit_masks")

#define TEXT(n, file) EMBED(ev_text_##n, "events/tables/" file);
TABLES(TEXT)

/* The files below events/tables/, which programs carry with them. */
#define ROW(n, file) { file, ev_text_##n, ev_text_##n##_end },
static const struct builtin {
	const char *path; /* "timer/events" */
	const char *text, *end;
} builtins[] = { TABLES(ROW) };
enum { NR_BUILTINS = sizeof(builtins) / sizeof(builtins[0]) };

/* The directory of tables, whether it exists or not. */
static int tables_dir(struct strbuf *out)
{
	const char *dir = secure_getenv("OPROFILE_EVENTS_DIR");
	char exe[PATH_MAX];
	ssize_t len;

	if (dir && *dir) {
		strbuf_puts(out, dir);
		return strbuf_error(out);
	}
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len < 0)
		return -errno;
	exe[len] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(exe, '/');

		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	strbuf_printf(out, "%s/share/opfs/events", exe);
	return strbuf_error(out);
}

static int read_builtin(const char *path, struct strbuf *text, struct strbuf *name)
{
	for (size_t i = 0; i < NR_BUILTINS; i++) {
		const struct builtin *b = &builtins[i];

		if (strcmp(b->path, path) != 0)
			continue;
		strbuf_add(text, b->text, (size_t)(b->end - b->text));
		strbuf_printf(name, "events/tables/%s", path);
		return 0;
	}
	return -ENOENT;
}

/* The files of a processor type belong together: no built-in one beside an installed. */
static bool has_events(const char *dir, const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf events = { 0 };

	strbuf_printf(&events, "%s/%.*s/events", dir, (int)(strrchr(path, '/') - path),
		      path);
	return !strbuf_error(&events) && !access(events.data, F_OK);
}

static int read_installed(void *ctx, const char *path, struct strbuf *text,
			  struct strbuf *name, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };
	int rc;

	(void)ctx;
	if (tables_dir(&dir) || !has_events(strbuf_str(&dir), path))
		return read_builtin(path, text, name);
	strbuf_printf(name, "%s/%s", dir.data, path);
	if (strbuf_error(name))
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	if (access(name->data, F_OK) && errno == ENOENT)
		return -ENOENT;
	rc = file_slurp(AT_FDCWD, name->data, EV_MAX_FILE, text, err);
	return rc == -ENOENT ? -EIO : rc;
}

const struct ev_source ev_installed = { read_installed, NULL };

/* ---- which there are */

static bool holds_events(int fd)
{
	struct stat st;

	return !fstatat(fd, "events", &st, 0) && S_ISREG(st.st_mode);
}

/* The processor types of one directory, if it can be read; @arch: "" or "ARCH/". */
static int scan(int parent, const char *name, const char *arch, struct names *out)
{
	CLEANUP(names_fini) struct names entries = { 0 };
	CLEANUP(close_fd)
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? 0 : dirlist_read(fd, &entries);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (size_t i = 0; i < entries.len && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf path = { 0 };
		const char *entry = entries.data[i];
		CLEANUP(close_fd) int sub = -1;

		if (*entry == '.')
			continue;
		sub = openat(fd, entry, O_PATH | O_DIRECTORY | O_CLOEXEC);
		strbuf_printf(&path, "%s%s", arch, entry);
		if (sub >= 0 && holds_events(sub))
			rc = names_add(out, strbuf_str(&path));
		else if (sub >= 0 && !*arch) {
			strbuf_putc(&path, '/');
			rc = scan(fd, entry, strbuf_str(&path), out);
		}
	}
	return rc;
}

int ev_cpu_types(struct names *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 }, type = { 0 };
	int rc = 0;

	for (size_t i = 0; i < NR_BUILTINS && !rc; i++) {
		const char *path = builtins[i].path;

		strbuf_reset(&type);
		strbuf_add(&type, path, (size_t)(strrchr(path, '/') - path));
		rc = strbuf_error(&type) ? -ENOMEM : names_add(out, type.data);
	}
	if (!rc && !tables_dir(&dir))
		rc = scan(AT_FDCWD, strbuf_str(&dir), "", out);
	if (rc)
		return err_set(err, rc, "out of memory");
	names_sort(out);
	return 0;
}
