/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "collector/who/elf_id.h"
#include "collector/who/recognize.h"

enum { MAX_NOTES = 1 << 16, MAX_CODE = 1 << 30 };

static int by_start(const void *a, const void *b)
{
	const struct coll_krange *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_range(struct coll_kernel *k, uint64_t start, uint64_t end,
		     struct coll_image *image, bool module)
{
	if (!image ||
	    vec_reserve_((void **)&k->ranges, &k->cap, k->nr, 1, sizeof(*k->ranges)))
		return -ENOMEM;
	k->ranges[k->nr++] = (struct coll_krange){ start, end, image, module };
	return 0;
}

static bool slurp_build_id(const char *path, struct build_id *out)
{
	CLEANUP(strbuf_fini) struct strbuf notes = { 0 };

	return !file_slurp(AT_FDCWD, path, MAX_NOTES, &notes, NULL) && notes.len &&
	       build_id_of_notes(notes.data, notes.len, out);
}

/* How long the kernel's code is, as /proc/iomem tells root; 0: unknown. */
static uint64_t code_size(void)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/iomem", "re");
	uint64_t from = 0, to = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " : Kernel code") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && to > from &&
		    to - from < MAX_CODE)
			return to - from + 1;
	return 0;
}

/*
 * The first address of the kernel's code, 0 if it is kept secret, and the one behind the
 * last.  The second is near the end of a file that is expensive to read.
 */
static void read_kallsyms(const char *path, uint64_t *stext, uint64_t *etext)
{
	CLEANUP(close_file) FILE *f = fopen(path ? path : "/proc/kallsyms", "re");
	uint64_t size = path ? 0 : code_size();
	char line[512];

	*stext = *etext = 0;
	while (f && (!*stext || !*etext) && fgets(line, sizeof(line), f)) {
		const char *name = strrchr(line, ' ');

		if (name && !strcmp(name, " _stext\n")) {
			*stext = strtoull(line, NULL, 16);
			*etext = size && *stext ? *stext + size : 0;
			if (!*stext)
				return; /* all zeros: nothing better will follow */
		} else if (name && !strcmp(name, " _etext\n")) {
			*etext = strtoull(line, NULL, 16);
		}
	}
}

/* Takes away modules of a name, or that have been where [@start, @end) now is another. */
static void drop_modules(struct coll_kernel *k, const char *name, uint64_t start,
			 uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->nr; i++) {
		const struct coll_krange *r = &k->ranges[i];

		if (!r->module || !((name && !strcmp(r->image->name.name, name)) ||
				    (r->start < end && r->end > start)))
			k->ranges[kept++] = *r;
	}
	k->nr = kept;
	k->last = 0;
}

static int add_module(struct coll_kernel *k, const char *name, uint64_t start,
		      uint64_t size)
{
	struct build_id id = { 0 };
	char path[PATH_MAX];

	for (size_t i = 0; i < k->nr; i++)
		if (k->ranges[i].start == start && k->ranges[i].end == start + size &&
		    !strcmp(k->ranges[i].image->name.name, name))
			return 0;
	drop_modules(k, name, start, start + size);
	if (!k->saved &&
	    snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		     name) < (int)sizeof(path))
		slurp_build_id(path, &id);
	return add_range(k, start, start + size, coll_images_kern(k->images, name, &id),
			 true);
}

static void sort_ranges(struct coll_kernel *k)
{
	if (k->nr)
		qsort(k->ranges, k->nr, sizeof(*k->ranges), by_start);
	k->last = 0;
}

static int read_modules(struct coll_kernel *k)
{
	CLEANUP(close_file) FILE *f = fopen(k->modules, "re");
	char line[4096], name[256];
	uint64_t size, start;
	int rc = 0;

	/* NAME SIZE USERS DEPENDENCIES STATE ADDRESS */
	while (!rc && f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%255s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size,
			   &start) == 3 &&
		    start && size && size < UINT64_MAX - start && !strchr(name, '/'))
			rc = add_module(k, name, start, size);
	sort_ranges(k);
	return rc;
}

static int use_none(struct coll_kernel *k)
{
	k->none = coll_images_kern(k->images, "no-vmlinux", NULL);
	return k->none ? 0 : -ENOMEM;
}

static int use_kallsyms(struct coll_kernel *k, uint64_t stext, uint64_t etext)
{
	struct build_id id = { 0 };

	if (!stext) {
		snprintf(k->note, sizeof(k->note),
			 "kernel addresses are hidden: kernel samples have no symbols "
			 "(no-vmlinux); for them: sysctl kernel.kptr_restrict=0, and run "
			 "as root or with CAP_SYSLOG");
		return use_none(k);
	}
	if (!k->saved)
		slurp_build_id("/sys/kernel/notes", &id);
	k->addresses = true;
	return add_range(k, stext, etext > stext ? etext : UINT64_MAX,
			 coll_images_kernel_file(k->images, "/proc/kallsyms", &id, 0),
			 false);
}

/* The descriptor of a vmlinux, and where its code is linked to. */
static int open_vmlinux(const char *file, uint64_t *addr, uint64_t *size, struct err *err)
{
	CLEANUP(close_fd) int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return err_errno(err, -errno, "--vmlinux=%s", file);
	rc = coll_elf_text(fd, addr, size, err);
	if (rc)
		return err_add(err, rc, "--vmlinux=%s", file);
	return take_fd(&fd);
}

int coll_kernel_check(const char *vmlinux, struct err *err)
{
	uint64_t addr = 0, size = 0;
	CLEANUP(close_fd) int fd = open_vmlinux(vmlinux, &addr, &size, err);

	return fd < 0 ? fd : 0;
}

static int use_vmlinux(struct coll_kernel *k, const char *file, uint64_t stext,
		       struct err *err)
{
	struct build_id id = { 0 }, running = { 0 };
	CLEANUP(free_ptr) char *path = realpath(file, NULL);
	uint64_t addr = 0, size = 0;
	CLEANUP(close_fd) int fd = open_vmlinux(file, &addr, &size, err);
	struct stat st;

	if (fd < 0)
		return fd;
	if (!path || fstat(fd, &st))
		return err_errno(err, -errno, "--vmlinux=%s", file);
	if (coll_elf_build_id(fd, &id) && !k->saved &&
	    slurp_build_id("/sys/kernel/notes", &running) &&
	    (id.len != running.len || memcmp(id.bytes, running.bytes, id.len) != 0))
		snprintf(k->note, sizeof(k->note),
			 "%.100s is not the running kernel (its build-id differs): names "
			 "of "
			 "kernel functions will be wrong",
			 file);
	/* a kernel loaded elsewhere than linked (KASLR) has its .text at _stext */
	if (stext)
		addr = stext;
	if (size > UINT64_MAX - addr)
		return err_set(err, -EBADMSG, "--vmlinux=%s: damaged section .text",
			       file);
	k->addresses = stext;
	return add_range(k, addr, addr + size,
			 coll_images_kernel_file(k->images, path, &id,
						 (uint64_t)st.st_mtime),
			 false);
}

int coll_kernel_init(struct coll_kernel *k, struct coll_images *images,
		     const struct coll_kernel_options *opt, struct err *err)
{
	uint64_t stext, etext;
	int rc;

	*k = (struct coll_kernel){ .images = images,
				   .saved = opt->saved,
				   .modules = opt->modules ? opt->modules
							   : "/proc/modules" };
	if (opt->no_vmlinux) {
		rc = use_none(k);
		return rc ? err_errno(err, rc, "kernel") : 0;
	}
	read_kallsyms(opt->kallsyms, &stext, &etext);
	if (opt->vmlinux) {
		rc = use_vmlinux(k, opt->vmlinux, stext, err);
		if (rc)
			return rc;
	} else {
		rc = use_kallsyms(k, stext, etext);
	}
	if (!rc && k->addresses)
		rc = read_modules(k);
	return rc ? err_errno(err, rc, "kernel") : 0;
}

void coll_kernel_fini(struct coll_kernel *k)
{
	free(k->ranges);
	k->ranges = NULL;
}

static struct coll_krange *search(struct coll_kernel *k, uint64_t addr)
{
	size_t lo = 0, hi = k->nr;

	if (k->last < k->nr && addr >= k->ranges[k->last].start &&
	    addr < k->ranges[k->last].end)
		return &k->ranges[k->last];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->ranges[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (lo == k->nr || addr < k->ranges[lo].start)
		return NULL;
	k->last = lo;
	return &k->ranges[lo];
}

struct coll_image *coll_kernel_find(struct coll_kernel *k, uint64_t addr, uint64_t now_ns,
				    uint64_t *key)
{
	struct coll_krange *range;

	if (k->none) {
		*key = addr;
		return k->none;
	}
	range = search(k, addr);
	if (!range && k->addresses && now_ns - k->reread_ns >= 1000000000ULL) {
		k->reread_ns = now_ns;
		read_modules(k);
		range = search(k, addr);
	}
	if (!range)
		return NULL;
	*key = addr - range->start;
	return range->image;
}

/* The kernel hides where its modules are from some, and a notice tells. */
static bool knows_module(const struct coll_kernel *k, const char *name)
{
	for (size_t i = 0; i < k->nr; i++)
		if (k->ranges[i].module && !strcmp(k->ranges[i].image->name.name, name))
			return true;
	return false;
}

int coll_kernel_module(struct coll_kernel *k, const struct coll_module *m)
{
	int rc = 0;

	if (k->none)
		return 0;
	/* which ones went is not known either: the list is made anew */
	if (*m->name)
		drop_modules(k, m->name, 0, 0);
	else if (k->addresses)
		drop_modules(k, NULL, 0, UINT64_MAX);
	if (m->going)
		return 0;
	if (k->addresses)
		rc = read_modules(k);
	if (!rc && *m->name && !knows_module(k, m->name) && m->start && m->len) {
		rc = add_module(k, m->name, m->start, m->len);
		sort_ranges(k);
	}
	return rc;
}

void coll_kernel_keep(const struct coll_kernel *k)
{
	for (size_t i = 0; i < k->nr; i++)
		coll_images_keep_image(k->ranges[i].image);
	if (k->none)
		coll_images_keep_image(k->none);
}
