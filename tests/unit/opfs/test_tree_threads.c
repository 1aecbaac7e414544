/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "opfs/reports.h"
#include "opfs/tree/tree.h"
#include "tests/unit/opfs/sessions.h"

enum { NR_THREADS = 4, ROUNDS = 300 };

static struct sessions disk;
static struct tree *tree;
static atomic_bool stop;

static int ignore(void *ctx, const struct tree_entry *e)
{
	(void)e;
	++*(unsigned *)ctx;
	return 0;
}

/* Everything a front end does with a path.  What does not exist (yet) is fine. */
static void use(const char *path, const struct viewer *v)
{
	struct viewer quick = { .cred = v->cred, .quick = true };
	struct err err = { 0 };
	struct text *text;
	struct place p, to;
	unsigned listed = 0;
	int rc = tree_walk(tree, path, v, &p, NULL, &err);

	if (rc) {
		cr_assert(rc == -ENOENT || rc == -EINVAL, "%s: %s", path, err.msg);
		return;
	}
	if (!tree_step(tree, &p, "image:demo", 10, &quick, &to, NULL))
		place_fini(&to);
	tree_list(tree, &p, &quick, ignore, &listed, NULL);
	if (place_is_file(&p) && !tree_text(tree, &p, v, &text, &err)) {
		cr_assert_gt(text->len, 0);
		text_put(text);
	} else if (!place_is_file(&p)) {
		tree_list(tree, &p, v, ignore, &listed, &err);
	}
	rc = tree_refresh(tree, &p, v, &err);
	cr_assert(!rc || rc == -ENOENT, "%s: %s", path, err.msg);
	place_fini(&p);
}

static void *reader(void *arg)
{
	static const char *const paths[] = {
		"current/summary",
		"current",
		"current/image:demo/summary",
		"status",
		"current/image",
		"saved/summary",
		"session:*/summary",
		"current/cpu:x",
		"current/image:nosuch",
		"current/event:EV/image",
		"current/lib/libx.so",
		"current/usr",
		"session:current,saved/image:/bin/demo",
		"current/diff:saved/summary",
		"saved/diff:current",
		"current/diff:saved/image:demo/summary",
		"current/split:cpu/merge:lib",
		"current/event:EV/more:",
		"current/threshold:5/summary",
	};
	const struct viewer v = { .cred.uid = (uid_t)(uintptr_t)arg };

	for (int i = 0; i < ROUNDS; i++)
		use(paths[(size_t)i % (sizeof(paths) / sizeof(*paths))], &v);
	return NULL;
}

static void *writer(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; !atomic_load(&stop); i++) {
		sessions_add(&disk, (struct sessions_file){ .samples = 1 });
		sessions_add(&disk, (struct sessions_file){ .image = "/lib/libx.so",
							    .event = i % 2 ? "EV" : "EV2",
							    .samples = 1 });
		sessions_live(&disk, i, false);
		usleep(2000);
	}
	return NULL;
}

Test(tree_threads, many_may_use_a_tree_while_its_session_grows)
{
	struct tree_options o = { .reports = &opfs_reports, .cache_bytes = 64 << 10 };
	pthread_t threads[NR_THREADS], grow;

	sessions_init(&disk);
	sessions_add(&disk, (struct sessions_file){ .session = "saved", .samples = 1 });
	o.session_dir = disk.dir;
	cr_assert_eq(tree_new(&o, &tree, NULL), 0);
	pthread_create(&grow, NULL, writer, NULL);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, reader, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&stop, true);
	pthread_join(grow, NULL);
	tree_free(tree);
	sessions_fini(&disk);
}
