/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/elf/module.h"
#include "libsym/elf/vdso.h"
#include "libsym/file/caches.h"
#include "libsym/file/open.h"
#include "libsym/file/seen.h"

#define MAX_NOTES (64u << 10)

void sym_load_fini(struct sym_load *l)
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

struct sym_places sym_load_places(const struct sym_job *job)
{
	struct sym_places none = { 0 };
	const struct sym_places *p = job->places ? job->places : &none;

	return (struct sym_places){
		.debug_dir = place_of(p->debug_dir, SYM_DEBUG_DIR),
		.kallsyms = place_of(p->kallsyms, "/proc/kallsyms"),
		.modules = place_of(p->modules, "/proc/modules"),
		.modules_dir = place_of(p->modules_dir, NULL),
		.kernel_notes = place_of(p->kernel_notes, "/sys/kernel/notes"),
		.debuginfod = place_of(p->debuginfod, NULL),
		.perf = place_of(p->perf, NULL),
		.owner = p->owner,
	};
}

/* True if the build-ids answer the question; sets the state if they differ. */
static bool check_id(struct sym_load *l)
{
	const struct build_id *want = &l->job->build_id, *have = &l->b.build_id;
	char want_hex[BUILD_ID_TEXT], have_hex[BUILD_ID_TEXT];

	if (!want->len)
		return false;
	build_id_format(want, want_hex);
	build_id_format(have, have_hex);
	if (build_id_equal(want, have))
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

/* Sets the state: is this the file that was sampled? */
static void check_identity(struct sym_load *l)
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

bool sym_load_debugfile(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };
	bool has_dir;

	if (l->debug.fd >= 0)
		return true;
	has_dir = l->image_fd >= 0 && sym_open_directory(l->image_fd, &dir);
	return sym_debugfile_find(&l->image, has_dir ? strbuf_str(&dir) : NULL, &places,
				  l->job->cred, &l->debug);
}

static void find_text(struct sym_load *l)
{
	size_t text = sym_elf_section(&l->image, ".text");

	if (text && l->job->kind != SYM_USER && l->job->kind != SYM_VDSO)
		l->b.text_off = l->image.sh[text].sh_offset;
}

static int load_fd(struct sym_load *l, int fd)
{
	bool packed = l->job->kind == SYM_MODULE || l->job->kind == SYM_VMLINUX;
	struct err err = { 0 };
	struct stat st;
	int rc = fstat(fd, &st) ? -errno : 0;

	if (rc)
		return rc;
	l->image_fd = fd;
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
	if (sym_usable(l->b.state))
		find_text(l);
	return 0;
}

int sym_load_job_fd(struct sym_load *l, int fd)
{
	strbuf_puts(&l->b.path, l->job->path ? l->job->path : "");
	return load_fd(l, fd);
}

static void say_unopened(struct sym_load *l, const struct err *err)
{
	enum sym_state state = SYM_UNREADABLE;

	if (err->code == -ENOENT || err->code == -ENOTDIR || err->code == -ENAMETOOLONG)
		state = SYM_MISSING;
	if (err->code == -EINVAL)
		state = SYM_NOT_ELF;
	sym_build_state(&l->b, state, "%s", err->msg);
}

static int load_path(struct sym_load *l, const char *path)
{
	struct err err = { 0 };

	if (path != strbuf_str(&l->b.path)) {
		strbuf_reset(&l->b.path);
		strbuf_puts(&l->b.path, path);
	}
	l->fd = sym_open(path, l->job->cred, &err);
	if (l->fd >= 0)
		return load_fd(l, l->fd);
	say_unopened(l, &err);
	return 0;
}

/* A file of a container. */
static int load_at(struct sym_load *l)
{
	const char *path = l->job->path;
	int fd = l->job->opened ? *l->job->opened : sym_open_at(l->job);

	strbuf_reset(&l->b.path);
	strbuf_puts(&l->b.path, path);
	if (fd >= 0) {
		if (!l->job->opened)
			l->fd = fd;
		return load_fd(l, fd);
	}
	if (fd == -EACCES || fd == -EPERM)
		sym_build_state(&l->b, SYM_UNREADABLE, "%s: is in a container: %s", path,
				strerror(-fd));
	else
		sym_build_state(&l->b, SYM_MISSING,
				"%s: was in a container, and what ran it there has ended",
				path);
	return 0;
}

/* What was opened is another file: nothing of it stays. */
static void forget_file(struct sym_load *l)
{
	sym_elf_fini(&l->image);
	close_fd(&l->fd);
	l->fd = l->image_fd = -1;
	l->b.dev = l->b.ino = l->b.file_size = 0;
	l->b.mtime = 0;
	l->b.build_id = (struct build_id){ 0 };
}

static int load_where_sampled(struct sym_load *l)
{
	const struct sym_job *job = l->job;
	int rc = 0;

	/* whether it is the file of that path here, the path cannot tell */
	if (!job->at || job->build_id.len)
		rc = load_path(l, job->path ? job->path : "");
	if (rc || !job->at || (job->build_id.len && sym_usable(l->b.state)))
		return rc;
	forget_file(l);
	return load_at(l);
}

static bool is_sampled(const struct sym_load *l, int fd)
{
	CLEANUP(sym_elf_fini) struct sym_elf elf = { 0 };
	struct build_id id;

	if (sym_elf_open(fd, false, &elf, NULL) || !sym_elf_is_code(&elf))
		return false;
	sym_elf_build_id(&elf, &id);
	return build_id_equal(&id, &l->job->build_id);
}

/* A copy in a cache; what was said of the file itself stays if there is none. */
static int load_cached(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	for (unsigned i = 0;
	     sym_caches_path(&places, &l->job->build_id, SYM_CACHED_IMAGE, i, &path);
	     i++) {
		CLEANUP(close_fd)
		int fd = sym_caches_open(&places, strbuf_str(&path), l->job->cred);

		if (fd < 0 || !is_sampled(l, fd))
			continue;
		forget_file(l);
		strbuf_reset(&l->b.path);
		strbuf_puts(&l->b.path, strbuf_str(&path));
		l->fd = take_fd(&fd);
		return load_fd(l, l->fd);
	}
	return 0;
}

static int load_file(struct sym_load *l)
{
	int rc = load_where_sampled(l);

	return rc || sym_usable(l->b.state) ? rc : load_cached(l);
}

static int load_vdso(struct sym_load *l)
{
	struct err err = { 0 };
	void *image;
	size_t size;
	int rc;

	sym_seen_boot();
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
	return 0;
}

static void check_running_kernel(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);
	CLEANUP(strbuf_fini) struct strbuf notes = { 0 };

	if (!sym_slurp(places.kernel_notes, MAX_NOTES, &notes, NULL))
		build_id_of_notes(strbuf_str(&notes), notes.len, &l->b.build_id);
	if (!check_id(l))
		sym_build_state(&l->b, SYM_UNCHECKED,
				"%s: names of the running kernel; the "
				"samples do not tell the build-id of theirs",
				strbuf_str(&l->b.path));
}

static int load_kallsyms(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);

	strbuf_puts(&l->b.path, places.kallsyms);
	check_running_kernel(l);
	l->kallsyms = true;
	return 0;
}

/* Opens the module's file; if there is none, uses what the running kernel tells. */
static int load_module(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);
	const char *name = l->job->name ? l->job->name : "";

	if (l->job->path && *l->job->path)
		return load_file(l);
	sym_seen_doubt(); /* the search comes through many directories */
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
	l->kallsyms = true;
	return 0;
}

static int (*const loaders[SYM_NR_KINDS])(struct sym_load *) = {
	[SYM_USER] = load_file,         [SYM_VDSO] = load_vdso,
	[SYM_KALLSYMS] = load_kallsyms, [SYM_VMLINUX] = load_file,
	[SYM_MODULE] = load_module,
};

int sym_load_open(struct sym_load *l)
{
	unsigned kind = l->job->kind;

	return kind < SYM_NR_KINDS ? loaders[kind](l) : -EINVAL;
}
