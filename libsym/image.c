/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/build.h"
#include "libsym/debugfile.h"
#include "libsym/elf.h"
#include "libsym/kallsyms.h"
#include "libsym/minidebug.h"
#include "libsym/module.h"
#include "libsym/open.h"
#include "libsym/plt.h"
#include "libsym/vdso.h"
#include "libsym/wire.h"

#define MAX_NOTES (64u << 10)

/* One load under way: everything that the names in @b may point into. */
struct load {
	const struct sym_job *job;
	struct sym_build b;
	struct sym_elf image;
	struct sym_elf mini; /* what .gnu_debugdata unpacked to */
	struct sym_debugfile debug;
	int fd; /* -1, or opened here */
};

static void load_fini(struct load *l)
{
	sym_elf_fini(&l->image);
	sym_elf_fini(&l->mini);
	sym_debugfile_fini(&l->debug);
	close_fd(&l->fd);
	sym_build_fini(&l->b);
}

static const char *place_of(const char *given, const char *otherwise)
{
	return given && *given ? given : otherwise;
}

static struct sym_places places_of(const struct sym_job *job)
{
	struct sym_places none = { 0 };
	const struct sym_places *p = job->places ? job->places : &none;

	return (struct sym_places){
		.debug_dir = place_of(p->debug_dir, "/usr/lib/debug"),
		.kallsyms = place_of(p->kallsyms, "/proc/kallsyms"),
		.modules = place_of(p->modules, "/proc/modules"),
		.modules_dir = place_of(p->modules_dir, NULL),
		.kernel_notes = place_of(p->kernel_notes, "/sys/kernel/notes"),
	};
}

/* True if the build-ids settle the question; says so if they differ. */
static bool check_id(struct load *l)
{
	const struct sym_id *want = &l->job->build_id, *have = &l->b.build_id;
	char want_hex[2 * sizeof(want->bytes) + 1], have_hex[2 * sizeof(have->bytes) + 1];

	if (!want->len)
		return false;
	sym_id_format(want, want_hex);
	sym_id_format(have, have_hex);
	if (sym_id_equal(want, have))
		sym_build_state(&l->b, SYM_OK, "%s", "");
	else
		sym_build_state(&l->b, SYM_CHANGED,
				"%s: is not what was sampled: its "
				"build-id is %s, that of the samples %s",
				strbuf_str(&l->b.path), have->len ? have_hex : "missing",
				want_hex);
	return true;
}

static void format_time(int64_t seconds, char *out, size_t size)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(out, size, "second %lld", (long long)seconds);
}

/* Is the file the one that was sampled?  Sets the state. */
static void check_identity(struct load *l)
{
	const char *path = strbuf_str(&l->b.path);
	char then[64], now[64];

	if (check_id(l))
		return;
	if (!l->job->mtime) {
		sym_build_state(&l->b, SYM_UNCHECKED,
				"%s: could not check that it has not "
				"been modified since: the samples carry neither build-id "
				"nor time of modification",
				path);
	} else if (l->job->mtime == l->b.mtime) {
		sym_build_state(&l->b, SYM_OK, "%s", "");
	} else {
		format_time(l->job->mtime, then, sizeof(then));
		format_time(l->b.mtime, now, sizeof(now));
		sym_build_state(&l->b, SYM_CHANGED,
				"%s: is not what was sampled: modified "
				"at %s, the sampled one at %s",
				path, now, then);
	}
}

/* The directory of the image that is really open, so that its links were followed. */
static bool directory_of(int fd, struct strbuf *out)
{
	char self[32], path[PATH_MAX];
	ssize_t len;
	char *slash;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, path, sizeof(path) - 1);
	if (len <= 0 || path[0] != '/')
		return false;
	path[len] = '\0';
	slash = strrchr(path, '/');
	strbuf_add(out, path, (size_t)(slash - path));
	return !strbuf_error(out);
}

static bool add_from(struct load *l, const struct sym_elf *from, uint32_t table,
		     enum sym_source source)
{
	if (!sym_elf_add_symbols(&l->image, from, table, &l->b))
		return false;
	l->b.source = source;
	return true;
}

static bool add_from_debugfile(struct load *l, int fd)
{
	struct sym_places places = places_of(l->job);
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };
	bool has_dir = fd >= 0 && directory_of(fd, &dir);

	if (!sym_debugfile_find(&l->image, has_dir ? strbuf_str(&dir) : NULL,
				places.debug_dir, l->job->cred, &l->debug) ||
	    !add_from(l, &l->debug.elf, SHT_SYMTAB, SYM_FROM_DEBUGFILE))
		return false;
	strbuf_puts(&l->b.debug_path, strbuf_str(&l->debug.path));
	return true;
}

/* The best table there is, and names for the PLT.  @fd: of the image, or -1. */
static void add_symbols(struct load *l, int fd)
{
	sym_elf_add_sections(&l->image, &l->b);
	if (!add_from(l, &l->image, SHT_SYMTAB, SYM_FROM_SYMTAB) &&
	    !add_from_debugfile(l, fd)) {
		add_from(l, &l->image, SHT_DYNSYM, SYM_FROM_DYNSYM);
		if (!sym_minidebug_open(&l->image, &l->mini))
			add_from(l, &l->mini, SHT_SYMTAB, SYM_FROM_MINIDEBUG);
	}
	sym_plt_add(&l->image, &l->b);
}

static void find_text(struct load *l)
{
	size_t text = sym_elf_section(&l->image, ".text");

	if (text && l->job->kind != SYM_USER && l->job->kind != SYM_VDSO)
		l->b.text_off = l->image.sh[text].sh_offset;
}

static int read_image(struct load *l, int fd)
{
	bool packed = l->job->kind == SYM_MODULE || l->job->kind == SYM_VMLINUX;
	struct err err = { 0 };
	struct stat st;
	int rc = fstat(fd, &st) ? -errno : 0;

	if (rc)
		return rc;
	l->b.dev = st.st_dev;
	l->b.ino = st.st_ino;
	l->b.file_size = (uint64_t)st.st_size;
	l->b.mtime = st.st_mtime;
	rc = sym_elf_open(fd, packed, &l->image, &err);
	if (rc == -ENOMEM)
		return rc;
	if (rc || !sym_elf_is_code(&l->image)) {
		sym_build_state(&l->b, SYM_NOT_ELF, "%s: %s", strbuf_str(&l->b.path),
				rc ? err.msg : "is neither a program nor a library");
		return 0;
	}
	sym_elf_build_id(&l->image, &l->b.build_id);
	check_identity(l);
	if (!sym_usable(l->b.state))
		return 0;
	find_text(l);
	add_symbols(l, fd);
	return 0;
}

static void say_unopened(struct load *l, const struct err *err)
{
	enum sym_state state = SYM_UNREADABLE;

	if (err->code == -ENOENT || err->code == -ENOTDIR || err->code == -ENAMETOOLONG)
		state = SYM_MISSING;
	if (err->code == -EINVAL)
		state = SYM_NOT_ELF;
	sym_build_state(&l->b, state, "%s", err->msg);
}

static int load_path(struct load *l, const char *path)
{
	struct err err = { 0 };

	if (path != strbuf_str(&l->b.path)) {
		strbuf_reset(&l->b.path);
		strbuf_puts(&l->b.path, path);
	}
	l->fd = sym_open(path, l->job->cred, &err);
	if (l->fd >= 0)
		return read_image(l, l->fd);
	say_unopened(l, &err);
	return 0;
}

static int load_file(struct load *l)
{
	return load_path(l, l->job->path ? l->job->path : "");
}

static int load_vdso(struct load *l)
{
	struct err err = { 0 };
	void *image;
	size_t size;
	int rc;

	strbuf_puts(&l->b.path, "[vdso]");
	if (!sym_vdso_image(&image, &size)) {
		sym_build_state(&l->b, SYM_MISSING, "[vdso]: this kernel has none");
		return 0;
	}
	rc = sym_elf_memory(image, size, &l->image, &err);
	if (rc) {
		sym_build_state(&l->b, SYM_NOT_ELF, "[vdso]: %s", err.msg);
		return rc == -ENOMEM ? rc : 0;
	}
	sym_elf_build_id(&l->image, &l->b.build_id);
	if (!check_id(l))
		sym_build_state(&l->b, SYM_UNCHECKED,
				"[vdso]: that of the running kernel; "
				"the samples do not tell their build-id");
	if (sym_usable(l->b.state))
		add_symbols(l, -1);
	return 0;
}

static void check_running_kernel(struct load *l)
{
	struct sym_places places = places_of(l->job);
	CLEANUP(strbuf_fini) struct strbuf notes = { 0 };

	if (!file_slurp(AT_FDCWD, places.kernel_notes, MAX_NOTES, &notes, NULL))
		sym_notes_build_id(strbuf_str(&notes), notes.len, &l->b.build_id);
	if (!check_id(l))
		sym_build_state(&l->b, SYM_UNCHECKED,
				"%s: names of the running kernel; the "
				"samples do not tell the build-id of theirs",
				strbuf_str(&l->b.path));
}

static int load_kallsyms(struct load *l)
{
	struct sym_places places = places_of(l->job);

	strbuf_puts(&l->b.path, places.kallsyms);
	check_running_kernel(l);
	if (sym_usable(l->b.state))
		sym_kallsyms_kernel(places.kallsyms, &l->b);
	return 0;
}

/* Its file; if there is none, what the running kernel says of it. */
static int load_module(struct load *l)
{
	struct sym_places places = places_of(l->job);
	const char *name = l->job->name ? l->job->name : "";

	if (l->job->path && *l->job->path)
		return load_file(l);
	if (sym_module_find(places.modules_dir, name, &l->b.path))
		return load_path(l, strbuf_str(&l->b.path));
	strbuf_puts(&l->b.path, places.kallsyms);
	if (l->job->build_id.len) {
		sym_build_state(&l->b, SYM_MISSING,
				"module %s: no such file below "
				"/lib/modules",
				name);
		return 0;
	}
	sym_build_state(&l->b, SYM_UNCHECKED,
			"module %s: names of the running kernel, "
			"which may not be the sampled one",
			name);
	sym_kallsyms_module(places.kallsyms, places.modules, name, &l->b);
	return 0;
}

static int (*const loaders[SYM_NR_KINDS])(struct load *) = {
	[SYM_USER] = load_file,         [SYM_VDSO] = load_vdso,
	[SYM_KALLSYMS] = load_kallsyms, [SYM_VMLINUX] = load_file,
	[SYM_MODULE] = load_module,
};

static int encode(struct load *l, struct strbuf *out, struct err *err)
{
	int rc = sym_build_finish(&l->b);

	if (!rc)
		rc = sym_wire_encode(&l->b, out);
	return rc ? err_errno(err, rc, "symbols of %s", strbuf_str(&l->b.path)) : 0;
}

int sym_table_encode(const struct sym_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(load_fini) struct load l = { .job = job, .debug.fd = -1, .fd = -1 };
	int rc = (unsigned)job->kind < SYM_NR_KINDS ? loaders[job->kind](&l) : -EINVAL;

	return rc ? err_errno(err, rc, "symbols of %s", strbuf_str(&l.b.path))
		  : encode(&l, out, err);
}

static int decode(const struct strbuf *blob, struct sym_table **out, struct err *err)
{
	return sym_wire_decode(blob->data, blob->len, out, err);
}

int sym_table_load(const struct sym_job *job, struct sym_table **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc = sym_table_encode(job, &blob, err);

	return rc ? rc : decode(&blob, out, err);
}

int sym_table_load_fd(int fd, const struct sym_job *job, struct sym_table **out,
		      struct err *err)
{
	CLEANUP(load_fini) struct load l = { .job = job, .debug.fd = -1, .fd = -1 };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc;

	strbuf_puts(&l.b.path, job->path ? job->path : "");
	rc = read_image(&l, fd);
	if (!rc)
		rc = encode(&l, &blob, err);
	return rc ? rc : decode(&blob, out, err);
}
