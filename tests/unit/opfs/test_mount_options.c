/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>

#include "opfs/mount/options.h"

static struct mount_options o;
static struct err err;

static void set_up(void)
{
	mount_options_init(&o);
}

static void tear_down(void)
{
	mount_options_fini(&o);
}

TestSuite(mount_options, .init = set_up, .fini = tear_down);

Test(mount_options, defaults)
{
	cr_expect_eq(o.cache_bytes, (size_t)64 << 20);
	cr_expect_geq(o.workers, 4u);
	cr_expect_not(o.allow_other);
}

Test(mount_options, words_are_taken_in)
{
	cr_expect_eq(mount_options_add(&o, "allow_other,cache=2G,workers=7,session=/a b",
				       &err),
		     0);
	cr_expect(o.allow_other);
	cr_expect_eq(o.cache_bytes, (size_t)2 << 30);
	cr_expect_eq(o.workers, 7u);
	cr_expect_str_eq(o.session_dir, "/a b");
}

Test(mount_options, a_backslash_makes_a_comma_part_of_a_value)
{
	cr_expect_eq(mount_options_add(&o, "session=/a\\,b,fsname=x\\\\y", &err), 0);
	cr_expect_str_eq(o.session_dir, "/a,b");
	cr_expect_str_eq(o.fsname, "x\\y");
}

Test(mount_options, words_of_mount_and_fstab_are_passed_over)
{
	const char *list =
		"rw,suid,dev,exec,defaults,noauto,nofail,_netdev,user,relatime,"
		"x-systemd.automount,comment=mine,user=joe,,ro";

	cr_expect_eq(mount_options_add(&o, list, &err), 0, "%s", err.msg);
}

struct refusal {
	char list[40], word[40];
};

ParameterizedTestParameters(mount_options, refusals)
{
	static struct refusal r[] = {
		{ "allow_others", "allow_others" },
		{ "ro,nonsense=3", "nonsense=3" },
		{ "cache=", "cache" },
		{ "cache=12Q", "12Q" },
		{ "cache=-1", "-1" },
		{ "cache=64MB", "64MB" },
		{ "cache=99999999999G", "99999999999G" },
		{ "cache", "needs a value" },
		{ "workers=0", "workers" },
		{ "workers=1000", "1000" },
		{ "workers=x", "x" },
		{ "allow_other=1", "no value" },
		{ "session=", "session" },
	};

	return cr_make_param_array(struct refusal, r, sizeof(r) / sizeof(r[0]));
}

ParameterizedTest(struct refusal *r, mount_options, refusals)
{
	struct mount_options own;

	mount_options_init(&own);
	cr_expect_eq(mount_options_add(&own, r->list, &err), -EINVAL, "%s", r->list);
	cr_expect(strstr(err.msg, r->word), "%s: %s", r->list, err.msg);
	mount_options_fini(&own);
}

static enum mount_words parse(const char *a, const char *b, const char *c, const char *d,
			      const char *e)
{
	const char *words[] = { "mount", a, b, c, d, e, NULL };
	int n = 0;

	while (words[n])
		n++;
	return mount_options_parse(&o, n, (char **)words);
}

Test(mount_options, options_may_stand_before_and_behind_operands)
{
	cr_expect_eq(parse("-f", "/mnt", "-o", "workers=5", NULL), MOUNT_WORDS_RUN);
	cr_expect(o.foreground);
	cr_expect_eq(o.workers, 5u);
	cr_expect_str_eq(o.mountpoint, "/mnt");
	cr_expect_null(o.session_dir);
}

Test(mount_options, two_operands_are_source_and_mount_point)
{
	cr_expect_eq(parse("/data", "/mnt", "-o", "rw", NULL), MOUNT_WORDS_RUN);
	cr_expect_str_eq(o.session_dir, "/data");
	cr_expect_str_eq(o.mountpoint, "/mnt");
}

Test(mount_options, wrong_usage_is_told)
{
	cr_expect_eq(parse(NULL, NULL, NULL, NULL, NULL), MOUNT_WORDS_WRONG);
	cr_expect_eq(parse("a", "b", "c", NULL, NULL), MOUNT_WORDS_WRONG);
	cr_expect_eq(parse("--session-dir", "x", "y", "z", NULL), MOUNT_WORDS_WRONG);
	cr_expect_eq(parse("--nonsense", NULL, NULL, NULL, NULL), MOUNT_WORDS_WRONG);
}
