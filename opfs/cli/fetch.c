/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/output.h"
#include "base/vec.h"
#include "opfs/cli/cli.h"
#include "opfs/cli/download.h"
#include "opfs/profile/profile.h"
#include "opfs/session/catalog_store.h"

/* opfs fetch: debug files that are missing here, from debuginfod servers. */

#define DEFAULT_LIMIT (2ULL << 30)

enum { CACHE_BYTES = 512 << 20, MIN_ID_DIGITS = 16 };

struct fetch {
	struct cli cli;
	uint64_t limit;
	struct sym_server *server;
	struct cache *cache;
	struct sym_cache *syms;
	struct catalog_store *store;
	struct download *net;
	bool missing; /* something could not be had */
};

/* A binary at hand. */
struct binary {
	const char *shown;
	double share; /* of the session's samples, in percent; negative: none is known */
	struct sym_job job;
	struct sym_table *table;
	struct sym_lines *lines;
};

static int set_limit(void *ctx, const char *arg, struct err *err)
{
	const struct number_unit *unit;
	uint64_t n;

	if (number_amount(arg, &unit, &n) || !unit || !unit->bytes || !n)
		return err_set(err, -EINVAL, "not a size, as in --limit=2G");
	((struct fetch *)ctx)->limit = n;
	return 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	{ .name = "limit",
	  .arg = "SIZE",
	  .doc = "what a file may have at most, as 500M (2G)",
	  .set = set_limit },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs fetch",
	.synopsis = "[SESSION|PATH|BUILDID]...",
	.about = "Asks the servers in $DEBUGINFOD_URLS for debug files of a session's\n"
		 "(current) binaries whose names or lines are missing here, or of a\n"
		 "binary (PATH, with a slash), or of a build-id.  All reports find what\n"
		 "is fetched.  Exit status 1 if anything could not be had.",
	.opts = opts,
};

/* ---- messages */

static void print_line(const struct binary *b, const char *what, const char *detail)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	if (b->share >= 0)
		strbuf_printf(&line, "%6.2f%%  ", b->share);
	escape_text(&line, b->shown);
	strbuf_puts(&line, ": ");
	strbuf_puts(&line, what);
	if (*detail) {
		strbuf_puts(&line, ", ");
		escape_text(&line, detail);
	}
	puts(strbuf_str(&line));
	fflush(stdout);
}

static void print_fetched(const struct binary *b, const char *what, uint64_t size)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f MiB", (double)size / (1 << 20));
	print_line(b, what, text);
}

/* Returns @rc. */
static int print_failure(struct fetch *f, const struct binary *b, int rc,
			 const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf what = { 0 };

	if (rc == -EINTR)
		return rc;
	f->missing = true;
	if (rc != -ENOENT)
		strbuf_puts(&what, "failed: ");
	escape_text(&what, err->msg);
	print_line(b, strbuf_str(&what), "");
	return rc;
}

/* ---- what is here */

static void forget(struct binary *b)
{
	sym_table_put(b->table);
	sym_lines_put(b->lines);
	b->table = NULL;
	b->lines = NULL;
}

/* Lines of one place tell whether there is what they are read from. */
static int examine(struct fetch *f, struct binary *b, struct err *err)
{
	struct sym_range range = { 0, 1 };
	int rc;

	forget(b);
	rc = sym_server_load(f->server, &b->job, NULL, &b->table, err);
	if (rc)
		return rc;
	if (b->table->nr_sections)
		range.off = b->table->sections[0].off;
	if (b->table->nr_syms)
		range.off = b->table->syms[0].off;
	range.end = range.off + 1;
	return sym_server_lines(f->server, &b->job, &range, 1, 0, NULL, &b->lines, err);
}

static bool is_binary_here(const struct binary *b)
{
	return sym_usable(b->table->state) || b->table->state == SYM_NO_SYMBOLS;
}

static bool lacks_shared(const struct binary *b)
{
	return *b->lines->alt_id && !*b->lines->alt_path;
}

static bool lacks_debug_file(const struct binary *b)
{
	return sym_table_rank(b->table) < SYM_BEST ||
	       (b->lines->state == SYM_NO_SYMBOLS && !lacks_shared(b));
}

static const char *place(const struct binary *b)
{
	return *b->lines->debug_path   ? b->lines->debug_path
	       : *b->table->debug_path ? b->table->debug_path
				       : b->table->path;
}

/* ---- fetching */

/*
 * Is what a server sent, and is now in the cache as @path, of that build-id?  A helper
 * looks at it.  What is not is removed, whoever fetched it.
 */
static int verify(struct fetch *f, enum sym_kind kind, const struct build_id *id,
		  const char *path, struct err *err)
{
	const struct sym_job job = { .kind = kind, .path = path, .build_id = *id };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	int rc = sym_server_load(f->server, &job, NULL, &t, err);

	if (rc)
		return rc;
	if (!strcmp(t->path, path) &&
	    (sym_usable(t->state) || t->state == SYM_NO_SYMBOLS))
		return 0;
	if (unlink(path))
		return err_errno(err, -errno, "%s", path);
	return err_set(err, -EBADMSG, "what the server sent is not it, and was removed");
}

/* A copy that is no good is asked for anew, once. */
static int get(struct fetch *f, const struct binary *b, enum sym_cached what,
	       const struct build_id *id, uint64_t *size, struct err *err)
{
	int rc = -EBADMSG;

	for (int i = 0; i < 2 && rc == -EBADMSG; i++) {
		CLEANUP(free_ptr) char *path = NULL;

		rc = download_get(f->net, what, id, &path, size, err);
		if (!rc)
			rc = verify(f, b->job.kind, id, path, err);
	}
	return rc;
}

/* Debug information that dwz moved out of several files. */
static int fetch_shared(struct fetch *f, struct binary *b)
{
	struct build_id id;
	struct err err = { 0 };
	uint64_t size;
	int rc = build_id_parse(b->lines->alt_id, &id);

	if (!rc)
		rc = get(f, b, SYM_CACHED_DEBUG, &id, &size, &err);
	if (rc)
		err_add(&err, rc, "what it shares with others");
	if (rc)
		return print_failure(f, b, rc, &err);
	print_fetched(b, "what it shares with others is fetched", size);
	return 0;
}

static int fetch_file(struct fetch *f, struct binary *b, enum sym_cached what,
		      const char *said)
{
	struct err err = { 0 };
	uint64_t size;
	int rc = get(f, b, what, &b->job.build_id, &size, &err);

	if (rc && what == SYM_CACHED_IMAGE)
		err_add(&err, rc, "the binary, which is not here any more");
	if (!rc)
		rc = examine(f, b, &err);
	if (rc)
		return print_failure(f, b, rc, &err);
	print_fetched(b, said, size);
	return 0;
}

/* All that is missing of a binary, whose build-id is known.  Only -EINTR ends all. */
static int fetch_missing(struct fetch *f, struct binary *b)
{
	bool had_all;
	int rc = 0;

	if (!is_binary_here(b))
		rc = fetch_file(f, b, SYM_CACHED_IMAGE, "the binary itself is fetched");
	if (rc)
		return rc;
	had_all = !lacks_debug_file(b);
	if (!had_all)
		rc = fetch_file(f, b, SYM_CACHED_DEBUG, "fetched");
	if (rc)
		return rc;
	if (lacks_shared(b))
		return fetch_shared(f, b);
	if (had_all)
		print_line(b, "already here", place(b));
	return 0;
}

static int fetch_binary(struct fetch *f, struct binary *b)
{
	struct err err = { 0 };
	int rc;

	if (!b->job.path || b->job.kind == SYM_KALLSYMS || b->job.kind == SYM_VDSO) {
		print_line(b, "has no debug file that reports could use", "");
		return 0;
	}
	rc = examine(f, b, &err);
	if (rc)
		return print_failure(f, b, rc, &err);
	if (!b->job.build_id.len && is_binary_here(b))
		b->job.build_id = b->table->build_id;
	if (b->job.build_id.len)
		return fetch_missing(f, b);
	err_set(&err, -EINVAL, "%s",
		is_binary_here(b) ? "it has no build-id to ask for" : b->table->reason);
	return print_failure(f, b, err.code, &err);
}

/* ---- what is asked for */

struct chosen {
	uint32_t image;
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return x->samples != y->samples ? x->samples < y->samples ? 1 : -1
	       : x->image < y->image    ? -1
					: x->image > y->image;
}

/* One for each image of the profile, those with most samples first. */
static struct chosen *sum_up(const struct profile *p, uint64_t *total)
{
	struct chosen *all = calloc(p->cat->nr_images + 1, sizeof(*all));

	if (!all)
		return NULL;
	for (uint32_t i = 0; i < p->cat->nr_images; i++)
		all[i].image = i;
	for (size_t i = 0; i < p->nr_pairs; i++)
		for (size_t c = 0; c < p->nr_classes; c++) {
			all[p->pairs[i].image].samples += p->pairs[i].samples[c];
			*total += p->pairs[i].samples[c];
		}
	qsort(all, p->cat->nr_images, sizeof(*all), by_samples);
	return all;
}

static int fetch_profile(struct fetch *f, const struct profile *p)
{
	uint64_t total = 0;
	CLEANUP(free_ptr) struct chosen *all = sum_up(p, &total);
	int rc = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->cat->nr_images && rc != -EINTR && rc != -ENOMEM; i++) {
		const struct profile_image *img = &p->images[all[i].image];
		struct binary b = { .shown = p->cat->images[all[i].image].shown,
				    .job = img->job };

		if (!all[i].samples)
			break;
		b.share = 100.0 * (double)all[i].samples / (double)total;
		if (img->has_job && !img->jit)
			rc = fetch_binary(f, &b);
		else
			print_line(&b, "has no file", "");
		forget(&b);
	}
	return rc;
}

static void put_catalog(struct catalog **c)
{
	catalog_put(*c);
}

static int load(struct fetch *f, struct catalog *cat, struct profile **out,
		struct err *err)
{
	CLEANUP(free_ptr)
	uint32_t *selected = calloc(cat->nr_flat + 1, sizeof(*selected));
	const struct profile_query q = { .cat = cat,
					 .selected = selected,
					 .nr_selected = cat->nr_flat,
					 .needs = PROFILE_SYMBOLS,
					 .demangle = SYM_DEMANGLE_NONE,
					 .syms = f->syms };

	if (!selected)
		return err_errno(err, -ENOMEM, "samples");
	for (uint32_t i = 0; i < cat->nr_flat; i++)
		selected[i] = i;
	return profile_load(&q, out, err);
}

static int open_store(struct fetch *f)
{
	struct err err = { 0 };

	if (f->store || !catalog_store_new(f->cli.where.dir, NULL, &f->store, &err))
		return 0;
	return cli_no_session_dir(&f->cli, program.name, &err);
}

static int fetch_session(struct fetch *f, char *session)
{
	CLEANUP(put_catalog) struct catalog *cat = NULL;
	CLEANUP(profile_putp) struct profile *p = NULL;
	struct err err = { 0 };
	int rc;

	if (open_store(f)) {
		f->missing = true;
		return 0;
	}
	rc = catalog_store_get(f->store, &session, 1, NULL, &cat, &err);
	if (!rc && cat->dirs[0].fd < 0)
		rc = err_set(&err, -ENOENT, "nothing was recorded yet");
	if (!rc)
		rc = load(f, cat, &p, &err);
	if (!rc)
		return fetch_profile(f, p);
	cli_failed(program.name, session, &err);
	f->missing = true;
	return rc;
}

static int fetch_path(struct fetch *f, char *path)
{
	CLEANUP(free_ptr) char *real = realpath(path, NULL);
	struct binary b = { .shown = path,
			    .share = -1,
			    .job = { .kind = SYM_USER, .path = real ? real : path } };
	int rc;

	if (strstr(path, ".ko"))
		b.job.kind = SYM_MODULE;
	rc = fetch_binary(f, &b);
	forget(&b);
	return rc;
}

/* Its debug file stands for the binary, which nobody knows. */
static int fetch_id(struct fetch *f, char *hex)
{
	const struct sym_places places = { .debuginfod = sym_caches_debuginfod(),
					   .perf = sym_caches_perf() };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct binary b = { .shown = hex, .share = -1, .job = { .kind = SYM_USER } };
	struct err err = { 0 };
	int rc;

	if (build_id_parse(hex, &b.job.build_id) ||
	    !sym_caches_path(&places, &b.job.build_id, SYM_CACHED_DEBUG, 0, &path) ||
	    strbuf_error(&path))
		return err_errno(&err, -ENOMEM, "%s", hex);
	b.job.path = path.data;
	rc = examine(f, &b, &err);
	if (rc)
		return print_failure(f, &b, rc, &err);
	if (is_binary_here(&b) && !lacks_shared(&b))
		print_line(&b, "already here", place(&b));
	else if (is_binary_here(&b))
		rc = fetch_shared(f, &b);
	else
		rc = fetch_file(f, &b, SYM_CACHED_DEBUG, "fetched");
	if (!rc && lacks_shared(&b))
		rc = fetch_shared(f, &b);
	forget(&b);
	return rc;
}

static bool is_id(const char *word)
{
	size_t len = strspn(word, "0123456789abcdefABCDEF");

	return !word[len] && len >= MIN_ID_DIGITS && len % 2 == 0 && len < BUILD_ID_TEXT;
}

static int fetch_word(struct fetch *f, char *word)
{
	return strchr(word, '/') ? fetch_path(f, word)
	       : is_id(word)     ? fetch_id(f, word)
				 : fetch_session(f, word);
}

static int open_all(struct fetch *f)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct err err = { 0 };

	if (!urls || !urls[strspn(urls, " ")]) {
		fprintf(stderr,
			"%s: no server to ask: set DEBUGINFOD_URLS, as in "
			"DEBUGINFOD_URLS=https://debuginfod.debian.net\n",
			program.name);
		return CLI_FAILED;
	}
	f->server = sym_server_new(NULL);
	f->cache = cache_new(CACHE_BYTES);
	f->syms = f->server && f->cache ? sym_cache_new(f->server, f->cache) : NULL;
	if (!f->syms)
		err_errno(&err, -ENOMEM, "symbols");
	else if (!download_open(f->limit, &f->net, &err))
		return CLI_OK;
	fprintf(stderr, "%s: %s\n", program.name, err.msg);
	return CLI_FAILED;
}

static void close_all(struct fetch *f)
{
	download_close(f->net);
	catalog_store_free(f->store);
	sym_cache_free(f->syms);
	cache_free(f->cache);
	sym_server_free(f->server);
	cli_fini(&f->cli);
}

int opfs_fetch_main(const struct report_set *reports, int argc, char **argv)
{
	struct fetch f = { .cli = { .reports = reports }, .limit = DEFAULT_LIMIT };
	char current[] = "current";
	int nr, status, rc = 0;
	enum opt_result result = opt_parse_all(&program, argc, argv, &f, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	status = cli_find(&f.cli, program.name, WHERE_SESSIONS, nr, argv + 1);
	status = status ? status : open_all(&f);
	if (!status && !nr)
		rc = fetch_session(&f, current);
	for (int i = 1; i <= nr && !status && rc != -EINTR; i++)
		rc = fetch_word(&f, argv[i]);
	close_all(&f);
	download_end_by_signal();
	if (rc == -ENOMEM)
		fprintf(stderr, "%s: out of memory\n", program.name);
	return output_end(program.name) || f.missing || rc ? CLI_FAILED : status;
}
