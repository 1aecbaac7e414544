/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "libspec/jit/jit_file.h"
#include "libspec/name/glob.h"
#include "libspec/session/manifest.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_read.h"
#include "opfs/cli/answer.h"
#include "opfs/profile/build.h"
#include "opfs/session/catalog.h"
#include "opfs/session/catalog_load.h"
#include "opfs/session/catalog_store.h"

/* opfs check: is everything in a session whole? */

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	ANSWER_OPT,
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs check",
	.synopsis = "[--json] [SESSION]...",
	.about = "Checks that sessions are whole: every sample file can be read, the "
		 "figures add\nup, and no byte differs from the MANIFEST, if there is "
		 "one.  SESSION is a name or a\npattern; without one all sessions are "
		 "checked.  Exit status 1 if anything is wrong.",
	.opts = opts,
};

struct check {
	const char *session; /* at hand; "" for an archive as a whole */
	struct json *j;      /* NULL without --json */
	unsigned faults;
};

static void add_fault(struct json *j, const char *path, const char *what)
{
	json_line(j);
	json_open(j, '{');
	json_text(j, "path", path);
	json_text(j, "message", what);
	json_close(j, '}');
}

/* One fault on a line of its own, of a path in the session; NULL: of the whole. */
static void fault(struct check *c, const char *path, const char *what)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	c->faults++;
	if (c->j) {
		add_fault(c->j, path, what);
		return;
	}
	escape_text(&line, c->session);
	if (path) {
		strbuf_putc(&line, '/');
		escape_text(&line, path);
	}
	strbuf_puts(&line, ": ");
	escape_text(&line, what);
	puts(strbuf_str(&line));
}

static int finding(void *ctx, const char *path, const char *what)
{
	fault(ctx, path, what);
	return 0;
}

/* ---- what is in it */

static void check_files(struct check *c, const struct catalog *cat)
{
	for (size_t i = 0; i < cat->nr_bad; i++) {
		const char *path = strchr(cat->bad[i].path, '/');

		if (path) /* else check_abi() has named it */
			fault(c, path + 1, cat->bad[i].reason);
	}
}

/* Taken = stored + every loss + all that was left out; of closed sessions of ours. */
static void check_figures(struct check *c, const struct catalog *cat)
{
	const struct catalog_dir *d = &cat->dirs[0];
	uint64_t taken = d->stats.value[SPEC_STAT_TAKEN];
	uint64_t stored = d->stats.value[SPEC_STAT_STORED];
	uint64_t lost = spec_stats_lost(&d->stats);
	uint64_t ignored = spec_stats_ignored(&d->stats);
	char text[256];

	if (!d->has_live || catalog_is_live(d))
		return;
	if (stored != cat->total) {
		snprintf(text, sizeof(text),
			 "stats/stored_samples says %" PRIu64
			 ", the sample files hold %" PRIu64,
			 stored, cat->total);
		fault(c, NULL, text);
	}
	if (taken != stored + lost + ignored) {
		snprintf(text, sizeof(text),
			 "taken samples (%" PRIu64 ") are not stored (%" PRIu64
			 "), lost (%" PRIu64 ") and left out (%" PRIu64 ") together",
			 taken, stored, lost, ignored);
		fault(c, NULL, text);
	}
}

/* ---- stacks */

struct frames {
	const struct spec_stacks *table;
	uint64_t beyond; /* samples of frames that it does not have */
};

static int look_up(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct frames *f = ctx;

	for (size_t i = 0; i < nr; i++)
		if (nodes[i].key >= f->table->nr)
			f->beyond += nodes[i].value;
	return 0;
}

static void check_stack_file(struct check *c, const struct catalog *cat,
			     const struct catalog_file *file,
			     const struct spec_stacks *table)
{
	struct frames f = { .table = table };
	struct err err = { 0 };
	char text[256];

	if (file->stacks.total > file->total) {
		snprintf(text, sizeof(text),
			 "its stacks hold more samples (%" PRIu64
			 ") than itself (%" PRIu64 ")",
			 file->stacks.total, file->total);
		fault(c, file->path, text);
	}
	profile_read_stack_nodes(cat, file, look_up, &f, &err);
	if (!f.beyond)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " samples have stacks that " SPEC_STACK_DIR
		 "/" SPEC_STACK_FRAMES " does not hold",
		 f.beyond);
	fault(c, file->path, text);
}

static void check_total(struct check *c, const struct catalog *cat)
{
	const struct catalog_dir *d = &cat->dirs[0];
	uint64_t told = d->stats.value[SPEC_STAT_STACKS], found = 0;
	char text[256];

	for (size_t i = 0; i < cat->nr_flat; i++)
		found += cat->files[i].stacks.total;
	/* of extended samples each event has a stack, and counts as often as it says */
	if (!d->has_live || catalog_is_live(d) || told == found ||
	    d->stats.value[SPEC_STAT_EXT_HITS])
		return;
	snprintf(text, sizeof(text),
		 "stats/total_stacks says %" PRIu64 ", the files of stacks hold %" PRIu64,
		 told, found);
	fault(c, NULL, text);
}

/* The table is whole, what is counted is in it, and no sample has two stacks. */
static void check_stacks(struct check *c, const struct catalog *cat)
{
	static const char frames[] = SPEC_STACK_TABLE;
	CLEANUP(spec_stacks_fini) struct spec_stacks table = { 0 };
	const struct catalog_dir *d = &cat->dirs[0];
	struct err err = { 0 };
	char text[256];

	if (d->frames_fd < 0)
		return;
	if (spec_stacks_read(d->frames_fd, UINT32_MAX, &table, &err)) {
		fault(c, frames, err.msg);
		return;
	}
	if (table.damaged) {
		snprintf(text, sizeof(text), "%" PRIu64 " of its frames make no sense",
			 table.damaged);
		fault(c, frames, text);
	}
	for (size_t i = 0; i < cat->nr_flat; i++)
		if (cat->files[i].stacks.nr_nodes)
			check_stack_file(c, cat, &cat->files[i], &table);
	check_total(c, cat);
}

/* ---- names of code made at run time */

static void check_names(struct check *c, int jit_fd, int session_fd, const char *name)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	char path[SPEC_JIT_PATH], what[96];
	struct err why = { 0 };
	uint64_t tgid;

	if (!number_parse(name, 10, INT32_MAX, &tgid)) {
		snprintf(path, sizeof(path), SPEC_JIT_DIR "/%.20s", name);
		fault(c, path, "no process is called so");
		return;
	}
	spec_jit_path((uint32_t)tgid, path);
	if (faccessat(jit_fd, name, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) &&
	    errno == EACCES)
		return; /* not for who asks */
	if (spec_jit_read(session_fd, (uint32_t)tgid, &l, NULL, NULL, &why)) {
		fault(c, path, why.msg);
	} else if (l.bad) {
		snprintf(what, sizeof(what), "%" PRIu64 " of its lines are no entries",
			 l.bad);
		fault(c, path, what);
	}
}

static void check_jit(struct check *c, const struct catalog *cat)
{
	CLEANUP(names_fini) struct names list = { 0 };
	int session_fd = cat->dirs[0].fd;
	CLEANUP(close_fd) int fd = -1;
	int rc;

	if (session_fd < 0)
		return;
	fd = file_open_within(session_fd, SPEC_JIT_DIR, O_RDONLY | O_DIRECTORY);
	if (fd == -ENOENT)
		return;
	rc = fd < 0 ? fd : dirlist_read(fd, &list);
	if (rc)
		fault(c, SPEC_JIT_DIR, strerror(-rc));
	for (size_t i = 0; i < list.len; i++)
		check_names(c, fd, session_fd, list.data[i]);
}

/* ---- MANIFEST */

/* *nr: how many files were compared; SIZE_MAX if there is no MANIFEST. */
static void check_manifest(struct check *c, int dirfd, size_t *nr)
{
	CLEANUP(spec_manifest_fini) struct spec_manifest m = { 0 };
	struct err err = { 0 };
	int rc = spec_manifest_read(dirfd, &m, &err);

	*nr = SIZE_MAX;
	if (rc == -ENOENT)
		return;
	if (!rc)
		rc = spec_manifest_verify(dirfd, &m, finding, c, &err);
	if (rc)
		fault(c, NULL, err.msg);
	*nr = m.nr_files;
}

/* ---- a session */

static void put_catalog(struct catalog **c)
{
	catalog_put(*c);
}

static bool is_open(const struct catalog_dir *d)
{
	return d->has_live && !d->live.closed && !d->machine;
}

static void print_result(const struct check *c, const struct catalog *cat, size_t nr)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const struct catalog_dir *d = &cat->dirs[0];

	escape_text(&name, c->session);
	if (c->faults) {
		printf("%s: NOT whole: %u fault%s\n", strbuf_str(&name), c->faults,
		       c->faults == 1 ? "" : "s");
		return;
	}
	printf("%s: whole: %" PRIu64 " samples in %zu files", strbuf_str(&name),
	       cat->total, cat->nr_flat);
	if (d->machine)
		printf(", %s", d->machine);
	if (nr != SIZE_MAX)
		printf(", all %zu files as the MANIFEST says\n", nr);
	else if (is_open(d))
		puts(", not closed: it is being recorded, or who did that was killed");
	else
		puts(", readable; without a MANIFEST changes cannot be seen");
}

/* Whose faults come next; "" of an archive. */
static void begin_json(struct json *j, const char *name)
{
	json_line(j);
	json_open(j, '{');
	json_text(j, "session", *name ? name : NULL);
	json_key(j, "faults");
	json_open(j, '[');
}

/* @cat: NULL if it is no session that could be read */
static void end_json(const struct check *c, const struct catalog *cat, size_t nr)
{
	const struct catalog_dir *d = cat ? &cat->dirs[0] : NULL;
	struct json *j = c->j;

	json_close(j, ']');
	json_flag(j, "whole", !c->faults);
	json_figure(j, "samples", d, d ? cat->total : 0);
	json_figure(j, "sample_files", d, d ? cat->nr_flat : 0);
	json_text(j, "machine", d ? d->machine : NULL);
	json_flag(j, "recording", d && is_open(d));
	json_figure(j, "manifest_files", nr != SIZE_MAX, nr);
	json_close(j, '}');
}

/* What cannot be looked into. */
static int refuse(struct json *j, const char *name, const struct err *err)
{
	struct check c = { .session = name, .j = j };

	if (j) {
		begin_json(j, name);
		fault(&c, NULL, err->msg);
		end_json(&c, NULL, SIZE_MAX);
	}
	return cli_failed(program.name, name, err);
}

static int check_session(struct json *j, int session_dir_fd, const char *name)
{
	CLEANUP(put_catalog) struct catalog *cat = NULL;
	struct catalog_source from = { .session_dir_fd = session_dir_fd };
	struct check c = { .session = name, .j = j };
	char *names[] = { (char *)name };
	struct err err = { 0 };
	size_t nr;

	if (catalog_load(&from, names, 1, NULL, NULL, &cat, &err))
		return refuse(j, name, &err);
	if (cat->dirs[0].fd < 0) {
		err_set(&err, -ENOENT, "nothing was recorded yet");
		return refuse(j, name, &err);
	}
	if (j)
		begin_json(j, name);
	check_files(&c, cat);
	check_figures(&c, cat);
	check_stacks(&c, cat);
	check_jit(&c, cat);
	check_manifest(&c, cat->dirs[0].fd, &nr);
	if (j)
		end_json(&c, cat, nr);
	else
		print_result(&c, cat, nr);
	return c.faults ? CLI_FAILED : CLI_OK;
}

/* Of the kind of machine that all sessions there are from. */
static int check_abi(struct json *j, int session_dir_fd)
{
	struct check c = { .session = "", .j = j };
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	struct spec_abi abi;
	struct err err;
	int rc = spec_abi_read(session_dir_fd, &abi, &err);

	if (!rc || rc == -ENOENT)
		return CLI_OK;
	if (j) {
		begin_json(j, "");
		fault(&c, NULL, err.msg);
		end_json(&c, NULL, SIZE_MAX);
		return CLI_FAILED;
	}
	escape_text(&line, err.msg);
	puts(strbuf_str(&line));
	return CLI_FAILED;
}

/* What archive.tar was unpacked to has one of its own. */
static int check_archive(struct json *j, int session_dir_fd)
{
	struct check c = { .session = "", .j = j };
	size_t nr;

	if (faccessat(session_dir_fd, SPEC_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW))
		return CLI_OK;
	if (j)
		begin_json(j, "");
	check_manifest(&c, session_dir_fd, &nr);
	if (j)
		end_json(&c, NULL, nr);
	else if (!c.faults)
		printf("archive: whole: all %zu files as its MANIFEST says\n", nr);
	return c.faults ? CLI_FAILED : CLI_OK;
}

/* ---- which */

static int check_all(struct json *j, int session_dir_fd, const struct names *list)
{
	int status = check_archive(j, session_dir_fd);

	for (size_t i = 0; i < list->len; i++)
		if (check_session(j, session_dir_fd, list->data[i]))
			status = CLI_FAILED;
	if (!list->len && !j)
		puts("there are no sessions");
	return status;
}

static int check_matching(struct json *j, int session_dir_fd, const struct names *list,
			  const char *operand)
{
	int status = CLI_OK;
	struct err err;
	size_t nr = 0;

	for (size_t i = 0; i < list->len; i++)
		if (!strcmp(list->data[i], operand))
			return check_session(j, session_dir_fd, operand);
	for (size_t i = 0; i < list->len; i++) {
		if (!spec_glob(operand, list->data[i]))
			continue;
		nr++;
		if (check_session(j, session_dir_fd, list->data[i]))
			status = CLI_FAILED;
	}
	if (nr)
		return status;
	err_set(&err, -ENOENT, "no such session; \"opfs ls\" lists those there are");
	return refuse(j, operand, &err);
}

static int run(struct cli *c, char **operands, int nr)
{
	CLEANUP(names_fini) struct names list = { 0 };
	struct catalog_store *store = NULL;
	struct json *j = answer_json(c);
	struct err err = { 0 };
	int status, fd;

	if (catalog_store_new(c->where.dir, NULL, &store, &err))
		return cli_no_session_dir(c, program.name, &err);
	fd = catalog_store_fd(store);
	answer_begin(c, program.name, "sessions");
	status = check_abi(j, fd);
	if (spec_session_list(fd, NULL, &list, &err) == -ENOENT)
		err_set(&err, -ENOENT,
			"no session directory: it has no directory \"samples\"; name "
			"another with --session-dir DIR");
	if (err.code)
		status = cli_failed(program.name, c->where.dir, &err);
	else if (!nr && check_all(j, fd, &list))
		status = CLI_FAILED;
	for (int i = 0; i < nr && !err.code; i++)
		if (check_matching(j, fd, &list, operands[i]))
			status = CLI_FAILED;
	answer_list_end(c);
	catalog_store_free(store);
	return status;
}

int opfs_check_main(const struct report_set *reports, int argc, char **argv)
{
	struct cli c = { .reports = reports };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &c, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	status = cli_find(&c, program.name, WHERE_SESSIONS, nr, argv + 1);
	if (!status)
		status = run(&c, argv + 1, nr);
	if (answer_end(&c, program.name))
		status = CLI_FAILED;
	cli_fini(&c);
	return status;
}
