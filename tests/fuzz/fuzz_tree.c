/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: opfs libspec libsym events base */
/* Whole paths over a small session: every step, what is listed there, keys. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/name/clock.h"
#include "libspec/name/name.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/stats.h"
#include "libspec/spec/span.h"
#include "opfs/reports.h"
#include "opfs/tree/tree.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tree *tree;
static const struct viewer viewer;

static void add(int session, const char *app, const char *image, const char *event,
		int cpu)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct spec_name name = { .app = { .kind = SPEC_IMAGE_ROOT, .name = (char *)app },
				  .image = { .kind = SPEC_IMAGE_ROOT,
					     .name = (char *)image },
				  .event = (char *)event,
				  .count = 1000,
				  .tgid = SPEC_ALL,
				  .tid = SPEC_ALL,
				  .cpu = cpu };
	struct spec_sample_header header = { .magic = "DAE\n",
					     .version = SPEC_SAMPLE_VERSION,
					     .count = 1000 };
	struct spec_sample_writer *w;

	if (spec_name_format(&name, &path, NULL) ||
	    spec_sample_writer_open(session, path.data, &header, &w, NULL))
		abort();
	spec_sample_add(w, 1, 1, NULL);
	spec_sample_writer_free(w);
}

/* A closed session that began so many seconds ago and lasted for half of that. */
static void began(int session, unsigned seconds)
{
	uint64_t now = (uint64_t)time(NULL) * SPEC_NS_PER_S;
	struct spec_live live = { 1, now - seconds / 2 * SPEC_NS_PER_S, true };

	if (spec_started_write(session, now - seconds * SPEC_NS_PER_S, NULL) ||
	    spec_live_write(session, &live, NULL))
		abort();
}

static char dir[] = "/tmp/opfs-fuzz.XXXXXX";

static void clean_up(void)
{
	file_remove_tree(AT_FDCWD, dir, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct tree_options o = { .session_dir = dir,
				  .reports = &opfs_reports,
				  .cache_bytes = 1 << 20 };
	CLEANUP(close_fd) int top = -1, session = -1;

	/* this program is what helpers are made of: they must not search too */
	if (box_wanted(*argc, *argv))
		_exit(1);
	if (!mkdtemp(dir) || file_mkdirs(AT_FDCWD, dir, 0755, NULL))
		abort();
	top = open(dir, O_RDONLY | O_DIRECTORY);
	if (top < 0 || file_mkdirs(top, "samples/saved", 0755, NULL))
		abort();
	session = openat(top, "samples/saved", O_RDONLY | O_DIRECTORY);
	add(session, "/usr/bin/ls", "/usr/bin/ls", "CPU_CLK_UNHALTED", 0);
	add(session, "/usr/bin/ls", "/usr/lib/libc.so.6", "CPU_CLK_UNHALTED", 1);
	add(session, "/usr/bin/ls/report", "/opt/a,b", "all", 1);
	add(session, "/opt/{dep}", "/opt/[x]", "LLC", 1);
	if (file_mkdirs(top, "samples/old", 0755, NULL))
		abort();
	began(session, 7200);
	close(session);
	session = openat(top, "samples/old", O_RDONLY | O_DIRECTORY);
	add(session, "/usr/bin/ls", "/usr/bin/ls", "CPU_CLK_UNHALTED", 0);
	began(session, 3600);
	if (tree_new(&o, &tree, NULL))
		abort();
	atexit(clean_up);
	return 0;
}

/* What is listed must be there. */
struct dir {
	const struct place *at;
	unsigned nr;
};

static int visit(void *ctx, const struct tree_entry *e)
{
	struct dir *d = ctx;
	struct place to;
	struct err err = { 0 };

	if (d->nr++ > 20 || !strcmp(e->name, "symbol"))
		return 0;
	if (tree_step(tree, d->at, e->name, strlen(e->name), &viewer, &to, &err)) {
		fprintf(stderr, "%s: listed, but: %s\n", e->name, err.msg);
		abort();
	}
	place_fini(&to);
	return 0;
}

/* The path that a place is told by leads to the same samples. */
static void same_again(const struct place *p)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct err err = { 0 };
	struct place to;

	/* a name without a tag may select nothing until image:, behind it, is there */
	if (p->kind != PLACE_PROFILE || p->spec->values[SPEC_DEFAULT])
		return;
	place_format(p, &path);
	if (tree_walk(tree, strbuf_str(&path), &viewer, &to, NULL, &err)) {
		fprintf(stderr, "%s: %s\n", strbuf_str(&path), err.msg);
		abort();
	}
	if (place_samples(&to) != place_samples(p) || !to.base != !p->base ||
	    (to.base && place_samples(&to.base->p) != place_samples(&p->base->p))) {
		fprintf(stderr, "%s: not the same\n", strbuf_str(&path));
		abort();
	}
	place_fini(&to);
}

/* Values of some tags are for people to know; files of "more:" read binaries. */
static bool may_fail(const struct place *p)
{
	return p->kind == PLACE_VALUES && spec_tag_presents(p->tag) &&
	       p->tag->kind != SPEC_TAG_WORDS;
}

/* Spans of time stand at the root. */
static bool is_span(const char *text)
{
	return !strncmp(text, "time", 4) || !strncmp(text, "last", 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, key = { 0 };
	CLEANUP(free_ptr) char *text = strndup((const char *)data, size);
	struct dir dir = { 0 };
	struct place p;
	size_t bad;

	/* reading symbols would start other programs */
	if (!text || size > 1024 || strstr(text, "symbol") || strstr(text, "more") ||
	    strstr(text, "annotate"))
		return 0;
	strbuf_printf(&path, "%s%s", is_span(text) ? "" : "saved/", text);
	if (strbuf_error(&path) || tree_walk(tree, path.data, &viewer, &p, &bad, NULL))
		return 0;
	dir.at = &p;
	if (p.kind != PLACE_FILE && tree_list(tree, &p, &viewer, visit, &dir, NULL) &&
	    !may_fail(&p))
		abort();
	same_again(&p);
	tree_key(&p, &key);
	place_fini(&p);
	return 0;
}
