/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "tests/unit/opfs/places.h"

TestSuite(tree, .init = places_init, .fini = places_fini);

/* ---- listing */

/* What find(1) meets below a place: links are not followed. */
struct met {
	size_t directories, files, links, most;
};

static void meet(const struct place *p, bool values, struct met *m)
{
	struct found *f = calloc(1, sizeof(*f));
	struct err err;

	cr_assert_eq(tree_list(tree, p, &owner, keep, f, &err), 0, "%s", err.msg);
	m->directories++;
	if (!values && f->nr > m->most)
		m->most = f->nr;
	for (size_t i = 0; i < f->nr; i++) {
		struct place to;

		if (f->kind[i] == PLACE_FILE)
			m->files++;
		if (f->kind[i] == PLACE_LINK)
			m->links++;
		if (f->kind[i] == PLACE_FILE || f->kind[i] == PLACE_LINK)
			continue;
		cr_assert_eq(tree_step(tree, p, f->data[i], strlen(f->data[i]), &owner,
				       &to, &err),
			     0, "%s: %s", f->data[i], err.msg);
		cr_assert_gt(place_samples(&to), 0);
		meet(&to, f->kind[i] == PLACE_VALUES, m);
		place_fini(&to);
	}
	found_fini(f);
	free(f);
}

Test(tree, of_1000_images_and_2_events_is_met_in_one_directory_an_image_and_event)
{
	struct met m = { 0 };
	struct place p;

	for (int i = 0; i < 1000; i++) {
		char app[64];

		snprintf(app, sizeof(app), "/opt/d%d/prog%d", i % 7, i / 2);
		sessions_add(&disk, (struct sessions_file){ .app = app, .samples = 1 });
		sessions_add(&disk, (struct sessions_file){ .app = app,
							    .image = "/lib/libc.so.6",
							    .event = i % 2 ? "EV2" : "EV",
							    .tgid = 10 + i % 3,
							    .samples = 1 });
	}
	open_tree(false);
	p = walk("current");
	meet(&p, false, &m);
	place_fini(&p);
	/* current, event, its 2 values, their image directories, the images in each */
	cr_expect_eq(m.directories, 1 + 1 + 2 + 2 + 1000 + 500, "%zu", m.directories);
	cr_expect_eq(m.files, (1 + 2 + 1500) * nr_listed());
	cr_expect_leq(m.most, 15);
	cr_expect_gt(m.links, 1500);
}

Test(tree, lists_axes_with_one_value)
{
	static const char *const want[] = { "more",      "event",  "image",
					    "lib-image", "symbol", "event:EV",
					    "image:demo" };
	struct found f = { 0 };
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	p = walk("current");
	cr_assert_eq(tree_list(tree, &p, &owner, keep, &f, NULL), 0);
	cr_assert_eq(f.nr, nr_listed() + sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		cr_expect_str_eq(f.data[nr_listed() + i], want[i]);
		cr_expect_eq(f.kind[nr_listed() + i],
			     !strcmp(want[i], "event") ? PLACE_VALUES : PLACE_LINK);
	}
	found_fini(&f);
	place_fini(&p);
}

Test(tree, lists_a_link_where_a_tag_tells_samples_apart_and_follows_it)
{
	struct place at, link;

	sessions_add(&disk, (struct sessions_file){ .cpu = 1, .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .cpu = 2, .samples = 2 });
	open_tree(false);
	at = walk("current");
	cr_assert_eq(tree_step(tree, &at, "cpu", 3, &owner, &link, NULL), 0);
	cr_expect_eq(link.kind, PLACE_LINK);
	cr_expect_str_eq(link.target, "cpu:");
	place_fini(&link);
	place_fini(&at);
	cr_expect_eq(samples("current/cpu/2"), 2);
	/* where links are not listed the name is the directory itself */
	at = walk("current/image:demo");
	cr_assert_eq(tree_step(tree, &at, "cpu", 3, &owner, &link, NULL), 0);
	cr_expect_eq(link.kind, PLACE_VALUES);
	place_fini(&link);
	place_fini(&at);
}

Test(tree, a_list_with_all_behind_a_path_of_several_parts_selects_all)
{
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .app = "/opt/a", .samples = 2 });
	open_tree(false);
	p = walk("current/image:/bin/demo,all");
	cr_expect_eq(place_samples(&p), 3);
	place_fini(&p);
}

Test(tree, a_list_whose_end_leads_nowhere_is_complete)
{
	char dir[] = "/tmp/opfs-links.XXXXXX", link[64], path[128];
	struct place p;

	/* where the link leads to is an image, but no application */
	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	sessions_add(&disk,
		     (struct sessions_file){ .image = "/opt/lib/x", .samples = 2 });
	open_tree(false);
	cr_assert(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/lib", dir);
	cr_assert_eq(symlink("/opt/lib", link), 0);
	snprintf(path, sizeof(path), "current/image:demo,%%2Ftmp%%2F%s%%2Flib",
		 dir + strlen("/tmp/"));
	p = walk(path);
	cr_expect_eq(p.kind, PLACE_PROFILE);
	cr_expect_eq(place_samples(&p), 3);
	place_fini(&p);
	unlink(link);
	rmdir(dir);
}

Test(tree, an_event_link_leads_to_a_directory_of_files)
{
	struct place at, link;

	sessions_add(&disk, (struct sessions_file){ .event = "A", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .event = "B", .samples = 2 });
	open_tree(false);
	at = walk("current");
	cr_assert_eq(tree_step(tree, &at, "event:B", 7, &owner, &link, NULL), 0);
	cr_expect_eq(link.kind, PLACE_LINK);
	cr_expect_str_eq(link.target, "event:/B");
	place_fini(&link);
	place_fini(&at);
	at = walk("current/event:B");
	cr_expect_not(at.listed);
	cr_expect_eq(place_samples(&at), 2);
	place_fini(&at);
}

Test(tree, numbers_images_of_one_basename)
{
	struct found f = { 0 };
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .app = "/a/x", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .app = "/b/x", .samples = 2 });
	sessions_add(&disk, (struct sessions_file){ .app = "/b/y", .samples = 4 });
	open_tree(false);
	p = walk("current/image");
	cr_assert_eq(tree_list(tree, &p, &owner, keep, &f, NULL), 0);
	cr_assert_eq(f.nr, 3);
	cr_expect_str_eq(f.data[0], "x~1");
	cr_expect_str_eq(f.data[1], "x~2");
	cr_expect_str_eq(f.data[2], "y");
	found_fini(&f);
	place_fini(&p);
	cr_expect_eq(samples("current/image/x~2"), 2);
	cr_expect_eq(samples("current/image/x"), 3);
}

/* ---- asking before doing */

static const struct viewer hurried = { .quick = true };

/* Is a step answered without reading anything? */
static bool is_quick(const struct place *from, const char *name)
{
	struct place to;
	int rc = tree_step(tree, from, name, strlen(name), &hurried, &to, NULL);

	if (!rc)
		place_fini(&to);
	return rc != -EAGAIN;
}

static bool lists_quickly(const struct place *p)
{
	CLEANUP(found_fini) struct found f = { 0 };

	return tree_list(tree, p, &hurried, keep, &f, NULL) != -EAGAIN;
}

Test(tree, is_quick_exactly_when_a_step_would_read_nothing)
{
	struct place root, at;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	place_root(&root);
	cr_expect(is_quick(&root, "README"));
	cr_expect(is_quick(&root, "nosuch"));
	cr_expect(lists_quickly(&root));
	cr_expect_not(is_quick(&root, "current"));
	at = walk("current");
	cr_expect(is_quick(&root, "current"));
	cr_expect(is_quick(&at, "image:demo"));
	cr_expect(is_quick(&at, "report"));
	cr_expect(is_quick(&at, ".hidden"));
	cr_expect_not(is_quick(&at, "symbol:x"));
	/* a path that nothing is called has its links looked at, once */
	cr_expect_not(is_quick(&at, "image:%2Fnosuch%2Fx"));
	cr_expect_eq(fails("current/image:%2Fnosuch%2Fx", &owner, NULL), -ENOENT);
	cr_expect(is_quick(&at, "image:%2Fnosuch%2Fx"));
	place_fini(&at);
}

Test(tree, moves_a_place_to_the_newest_generation)
{
	struct place p;
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	sessions_live(&disk, 1, false);
	open_tree(false);
	p = walk("current/image:/bin/demo");
	sessions_add(&disk, (struct sessions_file){ .samples = 2 });
	sessions_live(&disk, 2, false);
	for (int i = 0; i < 12000 && place_samples(&p) == 1; i++) {
		cr_assert_eq(tree_refresh(tree, &p, &owner, &err), 0, "%s", err.msg);
		usleep(10000);
	}
	cr_expect_eq(place_samples(&p), 3);
	cr_expect_str_eq(p.value, "%2Fbin%2Fdemo");
	place_fini(&p);
}

Test(tree, a_place_that_selects_nothing_any_more_is_gone)
{
	int rc = 0;
	struct place p;
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	p = walk("current/image:demo");
	sessions_remove(&disk, "samples/current");
	for (int i = 0; i < 12000 && !rc; i++) {
		rc = tree_refresh(tree, &p, &owner, &err);
		usleep(10000);
	}
	cr_expect_eq(rc, -ENOENT);
	place_fini(&p);
}

/* ---- keys */

static void expect_key(const char *path, const char *other, bool same)
{
	CLEANUP(strbuf_fini) struct strbuf a = { 0 }, b = { 0 };
	struct place p = walk(path), q = walk(other);

	tree_key(&p, &a);
	tree_key(&q, &b);
	cr_expect_eq(!strcmp(strbuf_str(&a), strbuf_str(&b)), same, "%s: %s\n%s: %s",
		     path, strbuf_str(&a), other, strbuf_str(&b));
	place_fini(&p);
	place_fini(&q);
}

Test(tree, gives_equal_places_equal_keys_and_others_others)
{
	sessions_add(&disk, (struct sessions_file){ .cpu = 1, .samples = 1 });
	open_tree(false);
	expect_key("current/cpu:1/unit-mask:0", "current/unit-mask:0/cpu:1", true);
	expect_key("current/cpu:1", "current/event:EV", false);
	expect_key("current/report", "current/summary", false);
	expect_key("current/cpu:", "current/cpu:1", false);
	expect_key("current/bin", "current", false);
}

/* ---- reasons */

Test(tree, keeps_reasons_for_who_asked_but_not_of_probes)
{
	static const struct viewer other = { .cred = { .uid = 12345, .gid = 12345 } };
	CLEANUP(free_ptr) char *mine = NULL;
	CLEANUP(free_ptr) char *theirs = NULL;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	cr_expect_eq(fails("current/image:nosuch", &owner, NULL), -ENOENT);
	cr_expect_eq(fails("current/cpu:zzz", &owner, NULL), -EINVAL);
	cr_expect_eq(fails("current/.Trash", &owner, NULL), -ENOENT);
	cr_expect_eq(fails("current/autorun.inf", &owner, NULL), -ENOENT);
	mine = status_of(&owner);
	theirs = status_of(&other);
	cr_expect(strstr(mine, "nosuch"), "%s", mine);
	cr_expect(strstr(mine, "zzz"), "%s", mine);
	cr_expect(strstr(mine, "a test"), "%s", mine);
	cr_expect_not(strstr(mine, ".Trash"));
	cr_expect_not(strstr(mine, "autorun"));
	cr_expect_not(strstr(theirs, "nosuch"));
}

Test(tree, tells_what_there_is_instead)
{
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .app = "/bin/demo", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .app = "/bin/other", .samples = 1 });
	open_tree(false);
	fails("current/image:dmeo", &owner, &err);
	cr_expect(strstr(err.msg, "demo"), "%s", err.msg);
	fails("current/event:X", &owner, &err);
	cr_expect(strstr(err.msg, "EV"), "%s", err.msg);
	fails("current/cpu:0", &owner, &err);
	cr_expect(strstr(err.msg, "--separate=cpu"), "%s", err.msg);
	fails("nosuch", &owner, &err);
	cr_expect(strstr(err.msg, "current"), "%s", err.msg);
}

/* ---- who may see what */

Test(tree, of_a_shared_mount_shows_a_session_as_its_modes_say)
{
	static const gid_t groups[] = { 777 };
	struct viewer other = { .cred = { .uid = 12345, .gid = 12345 } };
	struct viewer member = {
		.cred = { .uid = 12345, .gid = 1, .groups = groups, .nr_groups = 1 }
	};
	char path[256];
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	chmod(disk.dir, 0755);
	snprintf(path, sizeof(path), "%s/samples/s", disk.dir);
	open_tree(true);
	cr_expect_eq(fails("s", &other, &err), 0, "%s", err.msg);
	cr_assert_eq(chmod(path, 0750), 0);
	cr_expect_eq(fails("s", &other, &err), -EACCES);
	cr_expect(strstr(err.msg, "s"), "%s", err.msg);
	cr_expect_eq(fails("session:s", &other, &err), -EACCES);
	cr_expect_eq(fails("session:s,current", &other, &err), -EACCES);
	cr_expect_eq(fails("s", &owner, &err), 0);
	if (!chown(path, (uid_t)-1, 777)) /* only root can */
		cr_expect_eq(fails("s", &member, &err), 0, "%s", err.msg);
	/* the directory of all sessions closed to others closes them all */
	snprintf(path, sizeof(path), "%s/samples", disk.dir);
	cr_assert_eq(chmod(path, 0700), 0);
	cr_expect_eq(fails("current", &other, &err), -EACCES);
	cr_expect_eq(fails("current", &owner, &err), 0);
}

Test(tree, asks_a_session_that_was_seen_again_for_each_viewer)
{
	struct viewer other = { .cred = { .uid = 12345, .gid = 12345 } };
	struct place root, p;
	char path[256];

	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 1 });
	chmod(disk.dir, 0755);
	snprintf(path, sizeof(path), "%s/samples/s", disk.dir);
	chmod(path, 0700);
	open_tree(true);
	cr_expect_eq(fails("s", &owner, NULL), 0);
	place_root(&root);
	cr_expect_eq(tree_step(tree, &root, "s", 1, &other, &p, NULL), -EACCES);
}

static mode_t mode_of(const char *path)
{
	struct place p = walk(path);
	mode_t mode;
	uid_t uid;
	gid_t gid;

	cr_assert_eq(tree_mode(tree, &p, &mode, &uid, &gid), 0);
	place_fini(&p);
	return mode;
}

Test(tree, gives_directories_the_modes_of_all_that_is_on_the_way)
{
	char samples_dir[200], s[256];

	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .session = "t", .samples = 1 });
	snprintf(samples_dir, sizeof(samples_dir), "%s/samples", disk.dir);
	snprintf(s, sizeof(s), "%s/samples/s", disk.dir);
	cr_assert_eq(chmod(disk.dir, 0755), 0);
	cr_assert_eq(chmod(samples_dir, 0755), 0);
	cr_assert_eq(chmod(s, 0755), 0);
	open_tree(true);
	cr_expect_eq(mode_of("s"), 0755);
	cr_assert_eq(chmod(s, 0750), 0);
	cr_expect_eq(mode_of("s"), 0750);
	cr_expect_eq(mode_of("session:s,t/image:demo"), 0750);
	cr_expect_eq(mode_of("t"), 0755);
	cr_assert_eq(chmod(samples_dir, 0700), 0);
	cr_expect_eq(mode_of("t"), 0700);
}

static enum place_kind kind_of_step(const char *path, const char *name)
{
	struct place at = walk(path), to;
	enum place_kind kind;

	cr_assert_eq(tree_step(tree, &at, name, strlen(name), &owner, &to, NULL), 0);
	kind = to.kind;
	place_fini(&to);
	place_fini(&at);
	return kind;
}

Test(tree, links_count_only_where_it_differs_within_an_event)
{
	static const char *const sessions[] = { "one", "two" };

	for (int i = 0; i < 2; i++) {
		struct sessions_file f = { .session = sessions[i],
					   .event = "A",
					   .samples = 1 };

		sessions_add(&disk, f);
		f.event = "B";
		f.count = 2000;
		sessions_add(&disk, f);
		f.event = i ? "A" : "B";
		sessions_add(&disk, f);
	}
	open_tree(false);
	cr_expect_eq(kind_of_step("one", "count"), PLACE_VALUES);
	cr_expect_eq(kind_of_step("two", "count"), PLACE_LINK);
}

/* ---- spans of time */

#define ROTATED "2026-11-21T09-00-00Z"

/*
 * The list of sessions and what was read of them are both remembered for a moment, but
 * not for the same one.
 */
Test(tree, of_a_span_is_read_again_if_sessions_were_exchanged_since_a_part_was_read)
{
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .samples = 7 });
	sessions_add(&disk, (struct sessions_file){ .session = ROTATED, .samples = 3 });
	sessions_write(&disk, "samples/current/stats/started", "1764000000\n");
	sessions_write(&disk, "samples/current/stats/live",
		       "1 1764000060000000000 live\n");
	sessions_write(&disk, "samples/" ROTATED "/stats/started", "1763000000\n");
	sessions_write(&disk, "samples/" ROTATED "/stats/live",
		       "1 1763000060000000000 closed\n");
	open_tree(false);
	for (int i = 0; i < 20; i++) {
		p = walk("last:1000000h");
		place_fini(&p);
		usleep(25000);
		p = walk("session:" ROTATED ",current");
		place_fini(&p);
		cr_assert_eq(renameat2(disk.fd, "samples/" ROTATED, disk.fd,
				       "samples/current", RENAME_EXCHANGE),
			     0);
		cr_expect_eq(samples("last:1000000h"), 10);
	}
}
