/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints what libsym knows of an image, a line a symbol: for the tests. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/names.h"
#include "base/opt.h"
#include "libsym/helper/helper.h"
#include "libsym/helper/image.h"
#include "libsym/server/server.h"

struct request {
	struct sym_job job;
	struct sym_places places;
	struct cred cred;
	struct sym_server_options server;
	enum sym_demangle_style style;
	bool in_process, quiet, entries, demangle_stdin;
	uint64_t at;
	bool has_at;
};

static const char *const kinds[] = { "user", "vdso", "kallsyms", "vmlinux", "module" };

static int set_kind(void *ctx, const char *arg, struct err *err)
{
	struct request *r = ctx;

	for (unsigned i = 0; i < SYM_NR_KINDS; i++)
		if (!strcmp(arg, kinds[i])) {
			r->job.kind = (enum sym_kind)i;
			return 0;
		}
	return err_set(err, -EINVAL, "%s: no such kind", arg);
}

#define TEXT_OPTION(function, field)                                                     \
	static int function(void *ctx, const char *arg, struct err *err)                 \
	{                                                                                \
		(void)err;                                                               \
		((struct request *)ctx)->field = arg;                                    \
		return 0;                                                                \
	}
TEXT_OPTION(set_name, job.name)
TEXT_OPTION(set_debug_dir, places.debug_dir)
TEXT_OPTION(set_kallsyms, places.kallsyms)
TEXT_OPTION(set_modules, places.modules)
TEXT_OPTION(set_modules_dir, places.modules_dir)
TEXT_OPTION(set_notes, places.kernel_notes)

static int set_id(void *ctx, const char *arg, struct err *err)
{
	if (build_id_parse(arg, &((struct request *)ctx)->job.build_id))
		return err_set(err, -EINVAL, "%s: no build-id", arg);
	return 0;
}

static int set_number(const char *arg, uint64_t *out, struct err *err)
{
	unsigned long long n = 0;
	int rc = opt_number(arg, "number", 0, UINT64_MAX, &n, err);

	*out = n;
	return rc;
}

static int set_mtime(void *ctx, const char *arg, struct err *err)
{
	uint64_t n;
	int rc = set_number(arg, &n, err);

	((struct request *)ctx)->job.mtime = (int64_t)n;
	return rc;
}

static int set_at(void *ctx, const char *arg, struct err *err)
{
	struct request *r = ctx;

	r->has_at = true;
	return set_number(arg, &r->at, err);
}

static int set_uid(void *ctx, const char *arg, struct err *err)
{
	struct request *r = ctx;
	uint64_t n;
	int rc = set_number(arg, &n, err);

	r->cred.uid = (uid_t)n;
	r->cred.gid = (gid_t)n;
	r->job.cred = &r->cred;
	return rc;
}

static int set_blocked(void *ctx, const char *arg, struct err *err)
{
	uint64_t n;
	int rc = set_number(arg, &n, err);

	((struct request *)ctx)->server.blocked_ms = (unsigned)n;
	return rc;
}

static int set_cpu(void *ctx, const char *arg, struct err *err)
{
	uint64_t n;
	int rc = set_number(arg, &n, err);

	((struct request *)ctx)->server.cpu_s = (unsigned)n;
	return rc;
}

static int set_style(void *ctx, const char *arg, struct err *err)
{
	struct request *r = ctx;

	(void)err;
	r->style = !strcmp(arg, "smart")    ? SYM_DEMANGLE_SMART
		   : !strcmp(arg, "normal") ? SYM_DEMANGLE_NORMAL
					    : SYM_DEMANGLE_NONE;
	return 0;
}

static int set_flag_in_process(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct request *)ctx)->in_process = true;
	return 0;
}

static int set_flag_quiet(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct request *)ctx)->quiet = true;
	return 0;
}

static int set_flag_entries(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct request *)ctx)->entries = true;
	return 0;
}

static int set_flag_names(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct request *)ctx)->demangle_stdin = true;
	return 0;
}

static const struct opt options[] = {
	{ 'k', "kind", "KIND", "user, vdso, kallsyms, vmlinux, module", set_kind },
	{ 'n', "name", "NAME", "of a module", set_name },
	{ 'b', "build-id", "HEX", "what is expected", set_id },
	{ 'm', "mtime", "SECONDS", "what is expected", set_mtime },
	{ 'u', "uid", "UID", "with the rights of this user", set_uid },
	{ 'd', "demangle", "STYLE", "none, normal, smart", set_style },
	{ 'a', "at", "OFFSET", "only the symbol that covers it", set_at },
	{ 't', "blocked", "MS", "for the helper", set_blocked },
	{ 0, "cpu", "SECONDS", "for the helper", set_cpu },
	{ 'i', "in-process", NULL, "without a helper", set_flag_in_process },
	{ 'q', "quiet", NULL, "the state only", set_flag_quiet },
	{ 'e', "entries", NULL, "code by its unwind tables, not symbols",
	  set_flag_entries },
	{ 'N', "names", NULL, "demangle the lines of stdin", set_flag_names },
	{ 0, "debug-dir", "DIR", "instead of /usr/lib/debug", set_debug_dir },
	{ 0, "kallsyms", "FILE", "instead of /proc/kallsyms", set_kallsyms },
	{ 0, "modules", "FILE", "instead of /proc/modules", set_modules },
	{ 0, "modules-dir", "DIR", "instead of /lib/modules", set_modules_dir },
	{ 0, "kernel-notes", "FILE", "instead of /sys/kernel/notes", set_notes },
	{ 0 },
};

static const struct opt_program program = {
	.name = "symdump",
	.synopsis = "[FILE]",
	.about = "Prints the code symbols of an image: offset, size, address, name.\n",
	.opts = options,
};

static void print_sym(const struct sym *s, const char *name)
{
	printf("%#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %s\n", s->off, s->size, s->vma,
	       name);
}

static void print_at(const struct sym_table *t, uint64_t off)
{
	const struct sym *s = sym_find(t, off);
	uint64_t vma = 0;
	bool known = sym_vma(t, off, &vma);

	if (known)
		printf("vma %#" PRIx64 "\n", vma);
	if (s)
		print_sym(s, sym_name(s));
	else
		puts("(no symbol)");
}

static void print_entries(const struct sym_table *t)
{
	for (size_t i = 0; i < t->nr_entries; i++)
		printf("%#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n", t->entries[i].off,
		       t->entries[i].size, t->entries[i].vma);
}

static int print_all(struct sym_server *server, const struct request *r,
		     const struct sym_table *t, struct err *err)
{
	CLEANUP(free_ptr) const char **raw = calloc(t->nr_syms + 1, sizeof(*raw));
	CLEANUP(free_ptr) struct sym_names *names = NULL;
	int rc = raw ? 0 : -ENOMEM;

	for (size_t i = 0; i < t->nr_syms && !rc; i++)
		raw[i] = sym_name(&t->syms[i]);
	if (!rc && r->style != SYM_DEMANGLE_NONE)
		rc = sym_server_demangle(server, raw, t->nr_syms, r->style, NULL, &names,
					 err);
	for (size_t i = 0; i < t->nr_syms && !rc; i++)
		print_sym(&t->syms[i], names ? names->name[i] : raw[i]);
	return rc;
}

static int dump(struct sym_server *server, const struct request *r, struct err *err)
{
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	char id[BUILD_ID_TEXT];
	int rc = r->in_process ? sym_table_load(&r->job, &t, err)
			       : sym_server_load(server, &r->job, NULL, &t, err);

	if (rc)
		return rc;
	build_id_format(&t->build_id, id);
	fprintf(stderr,
		"state: %s\nsource: %s\nbuild-id: %s\ndebug: %s\ntext: %#" PRIx64
		"\nreason: %s\n",
		sym_state_name(t->state), sym_source_name(t->source), id, t->debug_path,
		t->text_off, t->reason);
	if (r->has_at)
		print_at(t, r->at);
	else if (r->entries)
		print_entries(t);
	else if (!r->quiet)
		rc = print_all(server, r, t, err);
	return rc;
}

static int read_lines(struct names *out)
{
	char line[4096];
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		rc = names_add(out, line);
	}
	return rc;
}

static int demangle_stdin(struct sym_server *server, const struct request *r,
			  struct err *err)
{
	CLEANUP(free_ptr) struct sym_names *names = NULL;
	CLEANUP(names_fini) struct names lines = { 0 };
	int rc = read_lines(&lines);

	if (!rc && lines.len)
		rc = sym_server_demangle(server, (const char *const *)lines.data,
					 lines.len, r->style, NULL, &names, err);
	for (size_t i = 0; names && i < names->nr; i++)
		puts(names->name[i]);
	return rc;
}

static const struct box_kind *const boxes[] = { &sym_helper_box };

int main(int argc, char **argv)
{
	struct request r = { 0 };
	struct err err = { 0 };
	struct sym_server *server;
	int first = 0, rc;
	enum opt_result parsed;
	char cwd[PATH_MAX], path[2 * PATH_MAX]; /* a helper is elsewhere */

	if (box_wanted(argc, argv))
		return box_main(boxes, sizeof(boxes) / sizeof(boxes[0]), argc, argv);
	parsed = opt_parse(&program, argc, argv, &r, &first);
	if (parsed != OPT_RUN)
		return parsed == OPT_DONE ? 0 : 2;
	if (first < argc && argv[first][0] != '/' && getcwd(cwd, sizeof(cwd))) {
		snprintf(path, sizeof(path), "%s/%s", cwd, argv[first]);
		argv[first] = path;
	}
	r.job.path = first < argc ? argv[first] : NULL;
	r.job.places = &r.places;
	server = sym_server_new(&r.server);
	rc = !server            ? -ENOMEM
	     : r.demangle_stdin ? demangle_stdin(server, &r, &err)
				: dump(server, &r, &err);
	sym_server_free(server);
	if (rc)
		fprintf(stderr, "symdump: %s\n", err.msg);
	return rc ? 1 : 0;
}
