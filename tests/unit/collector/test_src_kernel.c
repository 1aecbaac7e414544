/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/source/driver.h"
#include "collector/source/driver_fs.h"
#include "collector/source/perf_open.h"
#include "tests/unit/collector/words.h"

/* Files like the driver's, and a pipe for its buffer. */
static char dir[] = "/tmp/opfs-driver.XXXXXX";
static int at, writer;
static struct words in;
static struct coll_ext ext;
static struct coll_event event;
static struct coll_source_want opt = {
	.events = &event, .nr_events = 1, .ext = &ext, .path = dir
};
static char notes[256];
static struct coll_source *source;
static struct err err;
static uint64_t samples, lost;

static void put_file(const char *path, const char *text)
{
	CLEANUP(close_fd) int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	cr_assert_eq(file_write_all(fd, text, strlen(text)), 0, "%s", path);
}

static void expect_file(const char *path, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	cr_assert_eq(file_slurp(at, path, 100, &text, NULL), 0, "%s", path);
	cr_expect_str_eq(strbuf_str(&text), want, "%s is %s", path, strbuf_str(&text));
}

static void setup(void)
{
	static const char *const files[][2] = {
		{ "enable", "0\n" },
		{ "source", "auto\n" },
		{ "timer_hz", "1000\n" },
		{ "backtrace_depth", "0\n" },
		{ "cpu_buffer_size", "16384\n" },
		{ "stats/received", "0\n" },
	};
	static const char *const counter[][2] = {
		{ "enabled", "1\n" }, { "event", "7\n" },  { "unit_mask", "0\n" },
		{ "count", "0\n" },   { "kernel", "1\n" }, { "user", "1\n" },
		{ "extra", "0\n" },   { "type", "4\n" },
	};
	char path[64];

	cr_assert(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert(!mkdirat(at, "stats", 0755) && !mkdirat(at, "0", 0755) &&
		  !mkdirat(at, "1", 0755));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put_file(files[i][0], files[i][1]);
	for (size_t i = 0; i < 2 * sizeof(counter) / sizeof(counter[0]); i++) {
		snprintf(path, sizeof(path), "%zu/%s", i % 2, counter[i / 2][0]);
		put_file(path, counter[i / 2][1]);
	}
	cr_assert_eq(mkfifoat(at, "buffer", 0600), 0);
	snprintf(path, sizeof(path), "%s/buffer", dir);
	writer = open(path, O_RDWR | O_NONBLOCK);
	cr_assert_eq(ev_spec_parse("cycles:100000:0:0:1", &event.spec, &err), 0);
	event.period = 100000;
	in.nr = 0;
}

static void teardown(void)
{
	if (source)
		source->ops->free(source);
	close(writer);
	close(at);
	coll_ext_fini(&ext);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(src_kernel, .init = setup, .fini = teardown);

static void say(void)
{
	ssize_t len = (ssize_t)(in.nr * sizeof(in.w[0]));

	cr_assert_eq(write(writer, in.w, (size_t)len), len);
	in.nr = 0;
}

static int take(void *ctx, const struct coll_rec *rec)
{
	(void)ctx;
	samples += rec->kind == COLL_REC_SAMPLE;
	lost += rec->kind == COLL_REC_LOST ? rec->lost : 0;
	return 0;
}

static void open_source(void)
{
	cr_assert_eq(coll_source_driver.open(&opt, &source, notes, &err), 0, "%s",
		     err.msg);
}

static void close_source(void)
{
	source->ops->free(source);
	source = NULL;
}

static uint64_t tasks; /* of records lost; the driver has none */

Test(src_kernel, sets_counters_and_puts_them_back)
{
	opt.callchain = true;
	opt.pages = 8;
	open_source();
	expect_file("source", "perf");
	expect_file("0/type", "0");
	expect_file("0/event", "0");
	expect_file("0/count", "100000");
	expect_file("0/kernel", "0");
	expect_file("0/enabled", "1");
	expect_file("1/enabled", "0"); /* what somebody left */
	expect_file("backtrace_depth", "128");
	expect_file("cpu_buffer_size", "4096");
	expect_file("enable", "0\n");
	cr_assert_eq(source->ops->start(source, &err), 0);
	expect_file("enable", "1");
	close_source();
	expect_file("enable", "0");
	expect_file("source", "auto");
	expect_file("0/type", "4");
	expect_file("0/event", "7");
	expect_file("0/count", "0");
	expect_file("0/kernel", "1");
	expect_file("1/enabled", "1");
	expect_file("backtrace_depth", "0");
	expect_file("cpu_buffer_size", "16384");
}

Test(src_kernel, a_stack_of_so_many_frames_has_one_caller_less)
{
	static const struct {
		uint32_t frames;
		const char *callers;
	} depths[] = { { 1, "1" },     { 2, "1" },      { 20, "19" },
		       { 129, "128" }, { 1024, "128" }, { 0, "128" } };

	opt.callchain = true;
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		opt.max_stack = depths[i].frames;
		open_source();
		expect_file("backtrace_depth", depths[i].callers);
		close_source();
	}
}

Test(src_kernel, copies_of_stacks_get_larger_buffers)
{
	put_file("user_stack", "16\n"); /* somebody's */
	put_file("buffer_size", "262144\n");
	opt.user_stacks = true;
	opt.copy_bytes = 8192;
	open_source();
	expect_file("user_stack", "0"); /* as stacks are not wanted */
	expect_file("buffer_size", "262144\n");
	close_source();
	opt.callchain = true;
	open_source();
	expect_file("user_stack", "8192");
	expect_file("buffer_size", "2097152");
	expect_file("cpu_buffer_size", "131072");
	close_source();
	expect_file("user_stack", "16");
	expect_file("buffer_size", "262144");
	opt.copy_bytes = 1 << 20;
	opt.pages = 8;
	open_source();
	expect_file("user_stack", "65536");
	expect_file("cpu_buffer_size", "4096");
	close_source();
}

Test(src_kernel, says_that_a_driver_is_too_old_to_copy_stacks)
{
	opt.callchain = true;
	opt.user_stacks = true;
	cr_expect_eq(coll_source_driver.open(&opt, &source, notes, &err), -EOPNOTSUPP);
	cr_expect(strstr(err.msg, "copies no stacks"), "%s", err.msg);
}

Test(src_kernel, a_raw_event_is_taken_apart)
{
	cr_assert_eq(ev_spec_parse("r10c0:5000:2", &event.spec, &err), 0, "%s", err.msg);
	event.period = 5000;
	open_source();
	expect_file("0/type", "4\n");
	expect_file("0/event", "192");
	expect_file("0/unit_mask", "0\n");
	expect_file("0/extra", "4608"); /* whatever the CPU takes these bits for */
	expect_file("0/count", "5000");
}

Test(src_kernel, the_timer_follows_the_period)
{
	cr_assert_eq(ev_spec_parse("TIMER", &event.spec, &err), 0);
	event.period = 1000000000 / 997;
	open_source();
	expect_file("source", "timer");
	expect_file("timer_hz", "997");
	expect_file("0/enabled", "0");
}

Test(src_kernel, hands_over_what_the_buffer_says)
{
	open_source();
	cr_assert_eq(source->ops->start(source, &err), 0);
	cr_expect_eq(source->ops->drain(source, false, take, NULL), 0);
	put_hello(&in);
	put_sample(&in, 1, 0);
	put_sample(&in, 2, 0);
	say();
	cr_expect_eq(source->ops->drain(source, false, take, NULL), 0);
	cr_expect_eq(samples, 2);
	source->ops->stop(source);
	put_sample(&in, 3, 0);
	put_bye(&in, 5);
	say();
	close(writer);
	writer = -1;
	cr_expect_eq(source->ops->drain(source, true, take, NULL), 0);
	cr_expect_eq(samples, 3);
	cr_expect_eq(lost, 2); /* 5 were taken */
	cr_expect_eq(source->ops->lost_untold(source, &tasks), 0);
}

Test(src_kernel, without_the_streams_end_the_drivers_figures_tell_the_losses)
{
	open_source();
	cr_assert_eq(source->ops->start(source, &err), 0);
	put_hello(&in);
	put_sample(&in, 1, 0);
	say();
	cr_expect_eq(source->ops->drain(source, false, take, NULL), 0);
	put_file("stats/received", "10\n");
	cr_expect_eq(source->ops->lost_untold(source, &tasks), 9);
}

Test(src_kernel, says_that_somebody_else_stopped_the_driver)
{
	open_source();
	cr_assert_eq(source->ops->start(source, &err), 0);
	put_hello(&in);
	put_bye(&in, 0);
	say();
	close(writer);
	writer = -1;
	cr_expect_eq(source->ops->drain(source, false, take, NULL), -ECANCELED);
	cr_expect(strstr(source->ops->why(source)->msg, "somebody stopped"));
}

Test(src_kernel, saves_the_stream)
{
	CLEANUP(strbuf_fini) struct strbuf saved = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "%s/saved", dir);
	opt.save = path;
	open_source();
	put_hello(&in);
	put_sample(&in, 1, 0);
	say();
	cr_assert_eq(source->ops->drain(source, false, take, NULL), 0);
	cr_assert_eq(file_slurp(at, "saved", 1000, &saved, NULL), 0);
	cr_expect_eq(saved.len, (2 + 6 + 2) * 8);
}

static void expect_refused(int code, const char *why)
{
	cr_expect_eq(coll_source_driver.open(&opt, &source, notes, &err), code, "%s",
		     err.msg);
	cr_expect(strstr(err.msg, why), "%s", err.msg);
	source = NULL;
}

Test(src_kernel, refuses_what_the_driver_cannot_do)
{
	cr_assert_eq(ev_spec_parse("page-faults", &event.spec, &err), 0);
	expect_refused(-EINVAL, "--source=perf");
	cr_assert_eq(ev_spec_parse("instructions", &event.spec, &err), 0);
	event.period = 0;
	expect_refused(-EINVAL, "instructions:COUNT");
	opt.nr_events = 17;
	expect_refused(-EINVAL, "16 counters");
	opt.nr_events = 0;
	cr_assert_eq(coll_ext_parse(&ext, "ibs:op:IBS_OP_ALL:50000:0", &err), 0);
	expect_refused(-ENODEV, "IBS");
	expect_file("source", "auto");
	expect_file("1/enabled", "1"); /* put back after a refusal as well */
}

Test(src_kernel, leaves_a_driver_alone_that_is_in_use)
{
	put_file("enable", "1\n");
	expect_refused(-EBUSY, "another program");
	expect_file("enable", "1\n");
}

Test(src_kernel, says_that_the_driver_is_not_loaded)
{
	if (!access("/sys/module/opfs_sampler", F_OK))
		cr_skip_test("it is loaded here");
	opt.path = "/tmp/there/is/nothing";
	expect_refused(-ENODEV, "modprobe");
}
