/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "libspec/session/session.h"
#include "opfs/cli/cli.h"
#include "opfs/profile/keep.h"
#include "opfs/session/catalog_store.h"

/* opfs keep: the names of a session's samples, for when binaries are gone. */

#define DEFAULT_LIMIT (1ULL << 30)

enum { CACHE_BYTES = 512 << 20 };

struct keep {
	struct cli cli;
	uint64_t limit;
	bool quiet, prune;
	struct profile_held held;
	const char *session; /* at hand */
	struct catalog_store *store;
	struct sym_cache *syms;
	struct symbols_dir dir;
};

static int set_limit(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || !unit || !unit->bytes)
		return err_set(err, -EINVAL,
			       "--limit: \"%s\" is no size, as in --limit=2G", arg);
	((struct keep *)ctx)->limit = n;
	return 0;
}

static int set_quiet(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct keep *)ctx)->quiet = true;
	return 0;
}

static int set_prune(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct keep *)ctx)->prune = true;
	return 0;
}

static int set_held(void *ctx, const char *arg, struct err *err)
{
	int rc = 0;

	while (!rc) {
		char *end;
		unsigned long fd = strtoul(arg, &end, 10);

		rc = end == arg || (*end && *end != ',') || fd <= STDERR_FILENO ||
				     fd > INT_MAX
			     ? -EINVAL
			     : profile_held_add(&((struct keep *)ctx)->held, (int)fd);
		if (!*end)
			break;
		arg = end + 1;
	}
	return rc ? err_set(err, rc,
			    "not descriptors of open files above 2, as in --held=5,6")
		  : 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	{ .name = "held",
	  .arg = "FD,...",
	  .doc = "only images of containers whose files the caller has open",
	  .set = set_held },
	{ .name = "limit",
	  .arg = "SIZE",
	  .doc = "what all kept names may take, as 500M (1G)",
	  .set = set_limit },
	{ .name = "prune", .doc = "only remove what no session needs", .set = set_prune },
	{ .letter = 'q',
	  .name = "quiet",
	  .doc = "print only what could not be kept",
	  .set = set_quiet },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs keep",
	.synopsis = "[SESSION]...",
	.about =
		"Keeps the symbols, and the lines of the code that was sampled, of "
		"every binary\nof a session (current) in SESSION_DIR/symbols, once for "
		"each build-id:\nreports stay as they are when a binary is rebuilt, "
		"stripped or removed.\n\"opcollect\" does this at the end of each "
		"session.  Names that no session has any\nmore are removed.  Exit status "
		"1 if anything could not be kept.",
	.opts = opts,
};

static void tell(void *ctx, const char *image, const char *why)
{
	const struct keep *k = ctx;
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	size_t len = strlen(image);
	bool said = !strncmp(why, image, len) && why[len] == ':';

	strbuf_puts(&line, "names are not kept: ");
	escape_text(&line, k->session);
	strbuf_puts(&line, ": ");
	if (!said) {
		escape_text(&line, image);
		strbuf_puts(&line, ": ");
	}
	escape_text(&line, why);
	fprintf(stderr, "%s: %s\n", program.name, strbuf_str(&line));
}

static void print_result(const struct keep *k, const struct profile_keep *result)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (k->quiet)
		return;
	escape_text(&name, k->session);
	printf("%s: names of %zu images are kept", strbuf_str(&name),
	       result->written + result->as_before);
	if (result->as_before)
		printf(", of %zu they were before", result->as_before);
	if (result->lost)
		printf(", of %zu they could not be", result->lost);
	putchar('\n');
}

static void put_catalog(struct catalog **c)
{
	catalog_put(*c);
}

/* A flat file of a container's binary that is held, if only those are wanted. */
static bool is_wanted(const struct keep *k, const struct catalog *cat,
		      const struct catalog_file *f)
{
	return !k->held.files.len ||
	       (f->callee == CATALOG_NO_IMAGE &&
		profile_held_find(&k->held, cat->images[f->image].row) >= 0);
}

static int load(struct keep *k, struct catalog *cat, struct profile **out,
		struct err *err)
{
	CLEANUP(free_ptr)
	uint32_t *selected = calloc(cat->nr_files + 1, sizeof(*selected));
	struct profile_query q = { .cat = cat,
				   .selected = selected,
				   .needs = PROFILE_HITS | PROFILE_ARCS,
				   .demangle = SYM_DEMANGLE_NONE,
				   .held = &k->held,
				   .syms = k->syms };

	if (!selected)
		return err_errno(err, -ENOMEM, "%s", k->session);
	for (uint32_t i = 0; i < cat->nr_files; i++)
		if (is_wanted(k, cat, &cat->files[i]))
			selected[q.nr_selected++] = i;
	return profile_load(&q, out, err);
}

static int keep_session(struct keep *k, char *session)
{
	CLEANUP(put_catalog) struct catalog *cat = NULL;
	CLEANUP(profile_putp) struct profile *p = NULL;
	struct profile_keep work = {
		.syms = k->syms, .dir = &k->dir, .tell = tell, .ctx = k
	};
	struct err err = { 0 };
	int rc;

	k->session = session;
	rc = catalog_store_get(k->store, &session, 1, NULL, &cat, &err);
	if (!rc && cat->dirs[0].fd < 0)
		rc = err_set(&err, -ENOENT, "nothing was recorded yet");
	if (!rc)
		rc = load(k, cat, &p, &err);
	work.p = p;
	if (!rc)
		rc = profile_keep(&work, &err);
	if (rc)
		return cli_failed(program.name, session, &err);
	print_result(k, &work);
	return work.lost ? CLI_FAILED : CLI_OK;
}

/* Whose names are no longer needed goes first, and makes room. */
static int prune(struct keep *k)
{
	struct err err = { 0 };
	unsigned removed;

	if (symbols_dir_prune(&k->dir, &removed, &err))
		return cli_failed(program.name, SPEC_SYMBOLS_DIR, &err);
	if (removed && !k->quiet)
		printf("names of %u images that no session has any more are removed\n",
		       removed);
	return CLI_OK;
}

static int run(struct keep *k, char **sessions, int nr)
{
	char current[] = "current", *only = current;
	int status = prune(k);

	if (k->prune)
		return status;
	if (!nr) {
		sessions = &only;
		nr = 1;
	}
	for (int i = 0; i < nr; i++)
		if (keep_session(k, sessions[i]))
			status = CLI_FAILED;
	return status;
}

static int open_all(struct keep *k)
{
	const char *dir = k->cli.where.dir;
	struct err err = { 0 };

	if (!k->quiet)
		progress_show(program.name);
	if (catalog_store_new(dir, NULL, &k->store, &err))
		return cli_no_session_dir(&k->cli, program.name, &err);
	return symbols_dir_open(&k->dir, catalog_store_fd(k->store), k->limit, &err)
		       ? cli_failed(program.name, dir, &err)
		       : CLI_OK;
}

int opfs_keep_main(const struct report_set *reports, int argc, char **argv)
{
	struct keep k = { .cli = { .reports = reports },
			  .limit = DEFAULT_LIMIT,
			  .dir = SYMBOLS_DIR_NONE };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &k, &nr);
	struct sym_server *server;
	struct cache *cache;

	if (result != OPT_RUN)
		return opt_exit(result);
	server = sym_server_new(&(struct sym_server_options){ .remembers = true });
	cache = cache_new(CACHE_BYTES);
	k.syms = server && cache ? sym_cache_new(server, cache) : NULL;
	status = cli_find(&k.cli, program.name, WHERE_SESSIONS, nr, argv + 1) ||
		 open_all(&k);
	if (!status)
		status = run(&k, argv + 1, nr);
	symbols_dir_close(&k.dir);
	profile_held_fini(&k.held);
	catalog_store_free(k.store);
	sym_cache_free(k.syms);
	cache_free(cache);
	sym_server_free(server);
	cli_fini(&k.cli);
	return output_end(program.name) ? CLI_FAILED : status;
}
