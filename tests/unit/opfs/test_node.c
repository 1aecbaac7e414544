/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "opfs/mount/node.h"

static struct node_table t;
static struct cache *cache;
static struct catalog saved = { .refs = 1 << 20, .generation = 1, .saved = true };
static struct catalog live1 = { .refs = 1 << 20, .generation = 7 };
static struct catalog live2 = { .refs = 1 << 20, .generation = 8 };

static const struct node_attr dir_attr = { .mode = S_IFDIR | 0555, .ino = 5 };
static const struct node_attr file_attr = { .mode = S_IFREG | 0444, .ino = 6 };

static void set_up(void)
{
	struct place root = { .kind = PLACE_ROOT };
	struct err err;

	cache = cache_new(1000);
	cr_assert(cache && !node_table_init(&t, &root, &dir_attr, cache, true, &err));
}

static void tear_down(void)
{
	node_table_fini(&t);
	cache_free(cache);
}

TestSuite(node, .init = set_up, .fini = tear_down);

static struct text *text_of(const char *s)
{
	struct text *x = calloc(1, sizeof(*x));

	x->refs = 1;
	x->fd = -1;
	x->data = strdup(s);
	x->len = strlen(s);
	return x;
}

/* As user @viewers. */
static int try_enter(uint64_t parent, const char *name, uint64_t viewers,
		     const struct node_attr *attr, struct catalog *cat, struct text *text,
		     struct node_attr *got, uint64_t *id)
{
	struct node *p = node_get(&t, parent);
	struct node_name nn = { name, strlen(name), viewers, (uid_t)viewers };
	struct node_found found = {
		.place = { .kind = S_ISREG(attr->mode) ? PLACE_FILE : PLACE_PROFILE },
		.attr = *attr,
		.text = text,
		.digest = text ? map_hash(text->data, text->len) : 0,
	};
	struct node_attr dummy;
	int rc;

	cr_assert(p);
	found.place.cat = cat ? catalog_get(cat) : NULL;
	rc = node_enter(&t, p, &nn, &found, id, got ? got : &dummy);
	node_put(&t, p);
	return rc;
}

static uint64_t enter(uint64_t parent, const char *name, uint64_t viewers,
		      const struct node_attr *attr, struct catalog *cat,
		      struct text *text, struct node_attr *got)
{
	uint64_t id = 0;

	cr_assert(!try_enter(parent, name, viewers, attr, cat, text, got, &id));
	return id;
}

Test(node, what_is_looked_for_later_becomes_a_directory_once)
{
	struct node_name name = { "symbol:x", 8, 7, 7 };
	struct node_found promise = { .attr = dir_attr, .later = true };
	struct place at = { .kind = PLACE_PROFILE };
	struct node_attr attr = dir_attr;
	struct node *root = node_get(&t, 1), *n;
	struct node_place *np;
	uint64_t id, again;
	unsigned epoch;

	cr_expect_eq(node_enter(&t, root, &name, &promise, &id, &attr), 0);
	n = node_get(&t, id);
	cr_expect(node_is_later(&t, n));
	cr_expect_null(node_where(&t, n, &epoch));
	attr.size = 33;
	node_moved(&t, n, node_place_new(&at), &attr, 4);
	cr_expect_not(node_is_later(&t, n));
	np = node_where(&t, n, &epoch);
	cr_expect(np && np->p.kind == PLACE_PROFILE);
	node_place_put(np);
	/* promised again, it stays what it is */
	promise.epoch = 4;
	cr_expect_eq(node_enter(&t, root, &name, &promise, &again, &attr), 0);
	cr_expect_eq(again, id);
	cr_expect_not(node_is_later(&t, n));
	cr_expect_eq(node_attr_of(&t, n).size, 33u);
	/* unless sessions have changed since */
	promise.epoch = 5;
	cr_expect_eq(node_enter(&t, root, &name, &promise, &again, &attr), 0);
	cr_expect_eq(again, id);
	cr_expect(node_is_later(&t, n));
	node_put(&t, n);
	node_put(&t, root);
}

Test(node, what_is_looked_for_later_may_be_found_by_a_lookup)
{
	struct node_name name = { "symbol:x", 8, 7, 7 };
	struct node_found promise = { .attr = dir_attr, .later = true };
	struct node_attr attr;
	struct node *root = node_get(&t, 1), *n;
	uint64_t id;

	cr_expect_eq(node_enter(&t, root, &name, &promise, &id, &attr), 0);
	n = node_get(&t, id);
	cr_expect_eq(enter(1, "symbol:x", 7, &dir_attr, &saved, NULL, NULL), id);
	cr_expect_not(node_is_later(&t, n));
	node_put(&t, n);
	node_put(&t, root);
}

Test(node, a_user_has_a_share_of_nodes_until_the_kernel_forgets_them)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	uint64_t ids[4], id;

	t.share.total = 8;
	for (int i = 0; i < 4; i++)
		ids[i] = enter(1, names[i], 1, &dir_attr, &saved, NULL, NULL);
	cr_expect_eq(try_enter(1, "e", 1, &dir_attr, &saved, NULL, NULL, &id), -ENFILE);
	cr_expect_eq(enter(1, "a", 1, &dir_attr, &saved, NULL, NULL), ids[0],
		     "what is known needs no other node");
	cr_expect_eq(try_enter(1, "e", 2, &dir_attr, &saved, NULL, NULL, &id), 0);
	cr_expect_eq(node_count(&t), 6u);
	node_forget(&t, ids[0], 2);
	node_forget(&t, ids[1], 1);
	cr_expect_eq(try_enter(1, "e", 1, &dir_attr, &saved, NULL, NULL, &id), 0);
}

Test(node, a_directory_keeps_its_node_in_the_next_generation)
{
	uint64_t id = enter(1, "current", 0, &dir_attr, &live1, NULL, NULL);

	cr_expect_eq(enter(1, "current", 0, &dir_attr, &live2, NULL, NULL), id);
	cr_expect_eq(node_count(&t), 2u);
}

Test(node, a_file_of_the_next_generation_is_another_node)
{
	uint64_t dir = enter(1, "current", 0, &dir_attr, &live1, NULL, NULL);
	uint64_t file = enter(dir, "report", 0, &file_attr, &live1, NULL, NULL);

	cr_expect_eq(enter(dir, "report", 0, &file_attr, &live1, NULL, NULL), file);
	cr_expect_neq(enter(dir, "report", 0, &file_attr, &live2, NULL, NULL), file);
}

Test(node, users_who_see_different_things_have_different_nodes)
{
	uint64_t one = enter(1, "report", 11, &file_attr, &saved, NULL, NULL);

	cr_expect_neq(enter(1, "report", 12, &file_attr, &saved, NULL, NULL), one);
	cr_expect_eq(enter(1, "report", 11, &file_attr, &saved, NULL, NULL), one);
}

Test(node, nodes_die_when_they_are_forgotten_and_not_before)
{
	uint64_t dir = enter(1, "s", 0, &dir_attr, &saved, NULL, NULL);
	uint64_t file = enter(dir, "report", 0, &file_attr, &saved, NULL, NULL);
	struct node *user;

	enter(dir, "report", 0, &file_attr, &saved, NULL, NULL);
	node_forget(&t, file, 1);
	cr_expect_eq(node_count(&t), 3u);
	user = node_get(&t, file);
	node_forget(&t, file, 1);
	cr_expect_eq(node_count(&t), 3u, "somebody still uses it");
	node_put(&t, user);
	cr_expect_eq(node_count(&t), 2u);
	cr_expect_null(node_get(&t, file));
	node_forget(&t, dir, 1);
	cr_expect_eq(node_count(&t), 1u);
}

Test(node, a_parent_outlives_its_children)
{
	uint64_t dir = enter(1, "s", 0, &dir_attr, &saved, NULL, NULL);
	uint64_t file = enter(dir, "report", 0, &file_attr, &saved, NULL, NULL);

	node_forget(&t, dir, 1);
	cr_expect_eq(node_count(&t), 3u);
	node_forget(&t, file, 1);
	cr_expect_eq(node_count(&t), 1u);
}

Test(node, forgetting_too_much_or_the_root_does_no_harm)
{
	uint64_t dir = enter(1, "s", 0, &dir_attr, &saved, NULL, NULL);

	node_forget(&t, dir, 100);
	node_forget(&t, dir, 1);
	node_forget(&t, 1, 100);
	node_forget(&t, 4711, 1);
	cr_expect_eq(node_count(&t), 1u);
	node_put(&t, node_get(&t, 1));
}

Test(node, a_size_once_told_stays)
{
	struct node_attr attr;
	uint64_t id = enter(1, "report", 0, &file_attr, &saved, NULL, &attr);
	struct node *n = node_get(&t, id);
	struct text *x = text_of("four"), *y = text_of("five5");

	cr_expect_not(attr.sized);
	cr_expect_null(node_text(&t, n));
	cr_expect_eq(node_set_text(&t, n, x, 44), 0);
	cr_expect_eq(enter(1, "report", 0, &file_attr, &saved, NULL, &attr), id);
	cr_expect(attr.sized && attr.size == 4);
	cr_expect_eq(node_set_text(&t, n, x, 44), 0);
	/* another text: another file, from the next lookup on */
	cr_expect_eq(node_set_text(&t, n, y, 55), -ESTALE);
	cr_expect_neq(enter(1, "report", 0, &file_attr, &saved, NULL, &attr), id);
	cr_expect_not(attr.sized);
	text_put(x);
	text_put(y);
	node_put(&t, n);
}

Test(node, a_lookup_that_brings_another_text_gives_another_node)
{
	struct text *x = text_of("one"), *y = text_of("two");
	uint64_t id = enter(1, "status", 0, &file_attr, NULL, x, NULL);

	cr_expect_eq(enter(1, "status", 0, &file_attr, NULL, x, NULL), id);
	cr_expect_neq(enter(1, "status", 0, &file_attr, NULL, y, NULL), id);
	text_put(x);
	text_put(y);
}

Test(node, texts_are_dropped_oldest_first_beyond_the_bound)
{
	char long_text[601];
	struct node *n[3];
	struct text *x;
	struct cache_stats s;
	char name[16];

	memset(long_text, 'x', 600);
	long_text[600] = '\0';
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		n[i] = node_get(&t, enter(1, name, 0, &file_attr, i ? &saved : &live1,
					  NULL, NULL));
		x = text_of(long_text);
		cr_expect_eq(node_set_text(&t, n[i], x, 1), 0);
		text_put(x);
		x = node_text(&t, n[i]);
		cr_expect_not_null(x, "the newest is always there");
		text_put(x);
	}
	cr_expect_null(node_text(&t, n[0]));
	cr_expect_null(node_text(&t, n[1]));
	for (int i = 0; i < 3; i++) {
		unsigned epoch;
		struct node_place *np = node_where(&t, n[i], &epoch);

		/* what a live session showed cannot be made again */
		cr_expect_eq(!np, i == 0);
		cr_expect_eq(node_attr_of(&t, n[i]).size, 600u);
		node_place_put(np);
		node_put(&t, n[i]);
	}
	cache_stats(cache, &s);
	cr_expect_leq(s.bytes, 1000u);
}

Test(node, a_live_file_keeps_its_text_and_not_what_that_was_made_from)
{
	uint64_t id = enter(1, "report", 0, &file_attr, &live1, NULL, NULL);
	struct node *n = node_get(&t, id);
	struct text *x = text_of("text");
	unsigned epoch;

	for (int i = 0; i < 3; i++) {
		struct text *kept;

		cr_expect_eq(node_set_text(&t, n, x, 1), 0);
		cr_expect_null(node_where(&t, n, &epoch));
		kept = node_text(&t, n);
		cr_expect_eq(kept, x);
		text_put(kept);
		cr_expect_eq(enter(1, "report", 0, &file_attr, &live1, NULL, NULL), id);
	}
	cr_expect_neq(enter(1, "report", 0, &file_attr, &live2, NULL, NULL), id);
	text_put(x);
	node_put(&t, n);
}

/* So many references to a catalog are dropped by the next lookup of another one. */
static int dropped_after(uint64_t keep_ns, struct catalog *cat)
{
	int before;

	t.keep_ns = keep_ns;
	usleep(1);
	before = cat->refs;
	enter(1, "another", 0, &dir_attr, &saved, NULL, NULL);
	return before - cat->refs;
}

Test(node, a_generation_of_a_live_session_is_freed_when_nobody_used_it_for_a_while)
{
	uint64_t dir = enter(1, "current", 0, &dir_attr, &live1, NULL, NULL);
	uint64_t file = enter(dir, "report", 0, &file_attr, &live1, NULL, NULL);
	uint64_t old = enter(1, "old", 0, &dir_attr, &saved, NULL, NULL);
	struct node *d = node_get(&t, dir), *f = node_get(&t, file),
		    *o = node_get(&t, old);
	struct node_place *np;
	unsigned epoch;

	cr_expect_eq(dropped_after(UINT64_MAX / 2, &live1), 0);
	cr_expect_eq(dropped_after(0, &live1), 2);
	/* the directory is looked for again, the file is another one */
	cr_expect(node_is_later(&t, d));
	cr_expect_not(node_is_later(&t, f));
	cr_expect_null(node_where(&t, f, &epoch));
	np = node_where(&t, o, &epoch);
	cr_expect_not_null(np);
	node_place_put(np);
	t.keep_ns = UINT64_MAX / 2;
	cr_expect_eq(enter(1, "current", 0, &dir_attr, &live2, NULL, NULL), dir);
	cr_expect_not(node_is_later(&t, d));
	cr_expect_neq(enter(dir, "report", 0, &file_attr, &live2, NULL, NULL), file);
	node_put(&t, d);
	node_put(&t, f);
	node_put(&t, o);
}

static int count_name(void *ctx, struct node *n, const struct node_place *np)
{
	int *nr = ctx;

	(void)np;
	cr_expect_eq(strlen(n->name), n->name_len);
	++*nr;
	return 0;
}

Test(node, a_directory_without_its_name_is_found_no_more)
{
	uint64_t id = enter(1, "current", 0, &dir_attr, &saved, NULL, NULL);
	struct node *n = node_get(&t, id);

	node_unname(&t, n);
	cr_expect_neq(enter(1, "current", 0, &dir_attr, &saved, NULL, NULL), id);
	cr_expect_eq(node_get(&t, id), n);
	node_put(&t, n);
	node_put(&t, n);
}

Test(node, children_are_those_of_one_directory)
{
	uint64_t dir = enter(1, "a", 0, &dir_attr, &saved, NULL, NULL);
	int nr = 0;

	enter(1, "b", 0, &dir_attr, &saved, NULL, NULL);
	enter(dir, "c", 0, &dir_attr, &saved, NULL, NULL);
	cr_expect_eq(node_children(&t, t.root, count_name, &nr), 0);
	cr_expect_eq(nr, 2);
}
