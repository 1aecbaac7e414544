/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "collector/source/stream.h"
#include "tests/unit/collector/words.h"

enum { MAX_TAKEN = 64 };

/* What came out, with what was borrowed copied. */
static struct taken {
	struct coll_rec rec;
	struct coll_place places[16];
	struct coll_who who;
	struct coll_ext_sample ext;
	uint64_t regs[COLL_EXT_MAX_REGS];
	char text[256];
	struct coll_user_stack stack; /* size 0: none */
	uint64_t bytes[16];
	struct coll_code_range ranges[4];
} taken[MAX_TAKEN];
static size_t nr_taken;
static struct words in;
static struct coll_stream stream;

static void keep_stack(struct taken *t, const struct coll_user_stack *stack)
{
	t->stack = *stack;
	for (size_t i = 0; i < stack->size / 8 && i < 16; i++)
		t->bytes[i] = ((const uint64_t *)stack->bytes)[i];
	for (size_t i = 0; i < stack->nr_ranges && i < 4; i++)
		t->ranges[i] = stack->ranges[i];
}

static int take(void *ctx, const struct coll_rec *rec)
{
	struct taken *t = &taken[nr_taken];

	(void)ctx;
	cr_assert_lt(nr_taken++, MAX_TAKEN);
	t->rec = *rec;
	if (rec->kind == COLL_REC_SAMPLE) {
		for (size_t i = 0; i < rec->sample.nr_places && i < 16; i++)
			t->places[i] = rec->sample.places[i];
		t->who = *rec->sample.who;
		if (rec->sample.ext) {
			t->ext = *rec->sample.ext;
			memcpy(t->regs, t->ext.regs, t->ext.nr * sizeof(*t->regs));
		}
		t->stack = (struct coll_user_stack){ 0 };
		if (rec->sample.user_stack)
			keep_stack(t, rec->sample.user_stack);
	}
	if (rec->kind == COLL_REC_ORIGIN && !rec->origin.gone)
		strcpy(t->text, rec->origin.mmap.filename);
	if (rec->kind == COLL_REC_MODULE)
		strcpy(t->text, rec->module->name);
	return 0;
}

static void setup(void)
{
	nr_taken = 0;
	in.nr = 0;
	cr_assert_eq(coll_stream_init(&stream, NULL), 0);
	stream.consume = take;
	coll_stream_map(&stream, 0, 5);
	put_hello(&in);
}

static void teardown(void)
{
	coll_stream_fini(&stream);
}

TestSuite(stream, .init = setup, .fini = teardown);

static int feed(void)
{
	size_t used = 0;
	int rc = coll_stream_feed(&stream, in.w, in.nr, &used, NULL);

	return rc ? rc : coll_stream_end(&stream, in.nr - used);
}

Test(stream, gives_samples_their_context)
{
	put_image(&in, 3, "/bin/prog");
	put_task(&in, 10, 11, 3);
	put_note(&in, OPK_CPU, 2, NULL, 0);
	put_note(&in, OPK_TIME, 0, WORDS(5555));
	put_note(&in, OPK_COOKIE, 3, NULL, 0);
	put_sample(&in, 0x1234, 0);
	put_note(&in, OPK_KERNEL, 0, NULL, 0);
	put_sample(&in, 0xffffffff81000000, OPK_EVENT_LATE);
	put_note(&in, OPK_USER, 0, NULL, 0);
	put_sample(&in, 0x1235, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 4);
	cr_expect_eq(taken[0].rec.kind, COLL_REC_ORIGIN);
	cr_expect_str_eq(taken[0].text, "/bin/prog");
	cr_expect_eq(taken[0].rec.origin.mmap.mtime, 5);
	cr_expect_eq(taken[1].rec.tgid, 10);
	cr_expect_eq(taken[1].rec.tid, 11);
	cr_expect_eq(taken[1].rec.cpu, 2);
	cr_expect_eq(taken[1].rec.event, 5);
	cr_expect_eq(taken[1].rec.time_ns, 5555);
	cr_expect_eq(taken[1].places[0].handle, 3);
	cr_expect_eq(taken[1].places[0].at, 0x1234);
	cr_expect_not(taken[1].places[0].kernel);
	cr_expect_not(taken[1].rec.sample.late);
	cr_expect_eq(taken[1].who.app, 3);
	cr_expect_eq(taken[1].who.start_ns, 77);
	cr_expect_str_eq(taken[1].who.comm, "prog");
	cr_expect(taken[2].places[0].kernel);
	cr_expect(taken[2].rec.sample.late);
	cr_expect_eq(taken[3].places[0].handle, 3);
}

Test(stream, begins_with_its_magic_and_version)
{
	in.nr = 0;
	put_sample(&in, 1, 2);
	cr_expect_eq(feed(), -EBADMSG);
	in.nr = 0;
	put_note(&in, OPK_CPU, 1, NULL, 0);
	cr_expect_eq(feed(), -EBADMSG);
	in.nr = 0;
	put_note(&in, OPK_HELLO, OPK_BUFFER_VERSION + 1, WORDS(OPK_MAGIC, 0, 0, 0, 0, 0));
	cr_expect_eq(feed(), -EPROTO);
	cr_expect_eq(nr_taken, 0);
}

Test(stream, goes_on_where_a_read_ended)
{
	size_t from = 0, used;

	put_image(&in, 1, "/a/rather/long/path/so/that/it/is/cut/in/two");
	put_note(&in, OPK_COOKIE, 1, NULL, 0);
	put_sample(&in, 7, 0);
	for (size_t nr = 1; nr <= in.nr; nr++) {
		cr_assert_eq(coll_stream_feed(&stream, in.w + from, nr - from, &used,
					      NULL),
			     0);
		from += used;
	}
	cr_expect_eq(from, in.nr);
	cr_expect_eq(nr_taken, 2);
	cr_expect_eq(taken[1].places[0].at, 7);
}

Test(stream, skips_what_it_does_not_know)
{
	put_note(&in, 999, 1, WORDS(1, 2, 3));
	put_note(&in, 7, 1, NULL, 0);
	put_note(&in, OPK_CPU, 3, WORDS(9, 9)); /* a word more than today */
	put_sample(&in, 1, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].rec.cpu, 3);
}

Test(stream, counts_records_that_are_too_short)
{
	put_note(&in, OPK_TASK, 1, WORDS(1));
	put_note(&in, OPK_IMAGE, 1, WORDS(1, 2));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 2);
	cr_expect_eq(taken[0].rec.kind, COLL_REC_LOST);
	cr_expect_eq(taken[0].rec.why, SPEC_STAT_LOST_STREAM);
}

Test(stream, counts_a_record_that_is_cut_short)
{
	put_sample(&in, 1, 0);
	in.nr--;
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].rec.why, SPEC_STAT_LOST_STREAM);
}

Test(stream, makes_a_chain_of_a_trace)
{
	put_note(&in, OPK_TRACE_BEGIN, 3, NULL, 0);
	put_note(&in, OPK_KERNEL, 0, NULL, 0);
	put_sample(&in, 0xffff, 0);
	put_note(&in, OPK_USER, 0, NULL, 0);
	put_note(&in, OPK_COOKIE, 4, NULL, 0);
	put_sample(&in, 0x20, 0);
	put_note(&in, OPK_COOKIE, 5, NULL, 0);
	put_sample(&in, 0x30, 0);
	put_note(&in, OPK_TRACE_END, 0, WORDS(2));
	put_sample(&in, 0x40, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 2);
	cr_expect_not(taken[0].rec.sample.cut);
	cr_expect_eq(taken[0].rec.sample.nr_places, 3);
	cr_expect_eq(taken[0].rec.sample.domain, COLL_KERNEL);
	cr_expect(taken[0].places[0].kernel);
	cr_expect_eq(taken[0].places[1].handle, 4);
	cr_expect_eq(taken[0].places[2].handle, 5);
	cr_expect_eq(taken[0].rec.sample.frames_lost, 2);
	cr_expect_eq(taken[1].rec.sample.nr_places, 1);
	cr_expect_eq(taken[1].places[0].handle, 5);
}

Test(stream, tells_a_chain_that_is_cut_at_its_depth)
{
	for (uint32_t flags = 0; flags < 4; flags++) {
		put_note(&in, OPK_TRACE_BEGIN, 2, NULL, 0);
		put_sample(&in, 0x20, 0);
		put_sample(&in, 0x30, 0);
		put_note(&in, OPK_TRACE_END, flags, WORDS(0));
	}
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 4);
	for (uint32_t flags = 0; flags < 4; flags++)
		cr_expect_eq(taken[flags].rec.sample.cut, (flags & OPK_TRACE_FULL) != 0);
}

Test(stream, bounds_a_trace)
{
	put_note(&in, OPK_TRACE_BEGIN, 3, NULL, 0);
	for (uint64_t i = 0; i < COLL_MAX_FRAMES + 100; i++)
		put_sample(&in, i, 0);
	cr_assert_eq(feed(), 0); /* nor need it end */
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].rec.sample.nr_places, COLL_MAX_FRAMES);
	cr_expect_eq(taken[0].rec.sample.frames_lost, 100);
	cr_expect(taken[0].rec.sample.cut);
}

#define STACK_ARG(machine, flags) ((uint32_t)(machine) << 16 | (flags))
#define STACK_SIZES(bytes, ranges) ((bytes) | (uint64_t)(ranges) << 32)

/* A trace of one sample, with this as its stack. */
static void put_stack(uint32_t arg, const uint64_t *w, size_t nr)
{
	put_note(&in, OPK_TRACE_BEGIN, 1, NULL, 0);
	put_sample(&in, 0x20, 0);
	put_note(&in, OPK_USER_STACK, arg, w, nr);
	put_note(&in, OPK_TRACE_END, 0, WORDS(0));
}

Test(stream, gives_a_sample_its_stack_and_what_is_mapped)
{
	put_stack(STACK_ARG(EM_X86_64, OPK_STACK_WHOLE),
		  WORDS(0x401000, 0x7ffe10, 3, 4, STACK_SIZES(16, 2), 0xaa, 0x402010,
			0x400000, 0x403000, 9, 0x1000, 0x7f0000, 0x7f1000,
			(uint64_t)OPK_ANON_VDSO << 32, 0));
	put_sample(&in, 0x40, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 3);
	cr_expect_str_eq(taken[0].text, "[vdso]");
	cr_expect_eq(taken[0].rec.origin.mmap.start, 0x7f0000);
	cr_expect_eq(taken[0].rec.origin.mmap.len, 0x1000);
	cr_expect_eq(taken[1].rec.sample.nr_places, 1);
	cr_expect_eq(taken[1].stack.machine, EM_X86_64);
	cr_expect_eq(taken[1].stack.regs.ip, 0x401000);
	cr_expect_eq(taken[1].stack.regs.sp, 0x7ffe10);
	cr_expect_eq(taken[1].stack.regs.fp, 3);
	cr_expect_eq(taken[1].stack.regs.bx, 4);
	cr_expect_eq(taken[1].stack.regs.lr, 0);
	cr_expect(taken[1].stack.whole);
	cr_expect_not(taken[1].stack.ranges_cut);
	cr_assert_eq(taken[1].stack.size, 16);
	cr_expect_eq(taken[1].bytes[0], 0xaa);
	cr_expect_eq(taken[1].bytes[1], 0x402010);
	cr_assert_eq(taken[1].stack.nr_ranges, 2);
	cr_expect_eq(taken[1].ranges[0].start, 0x400000);
	cr_expect_eq(taken[1].ranges[0].end, 0x403000);
	cr_expect_eq(taken[1].ranges[0].handle, 9);
	cr_expect_eq(taken[1].ranges[0].at, 0x1000);
	cr_expect_eq(taken[1].ranges[1].handle, taken[0].rec.origin.handle);
	cr_expect_eq(taken[1].ranges[1].at, 0);
	/* the next one has none */
	cr_expect_null(taken[2].rec.sample.user_stack);
}

Test(stream, a_stack_outlives_the_read_that_brought_it)
{
	size_t from = 0, used;

	put_stack(STACK_ARG(EM_AARCH64, 0), WORDS(1, 2, 3, 4, STACK_SIZES(8, 0), 0xbb));
	for (size_t nr = 1; nr <= in.nr; nr++) {
		uint64_t *copy = malloc((nr - from) * sizeof(*copy));

		cr_assert_not_null(copy);
		memcpy(copy, in.w + from, (nr - from) * sizeof(*copy));
		cr_assert_eq(coll_stream_feed(&stream, copy, nr - from, &used, NULL), 0);
		free(copy);
		from += used;
	}
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].stack.regs.lr, 4);
	cr_expect_eq(taken[0].stack.regs.bx, 0);
	cr_expect_not(taken[0].stack.whole);
	cr_expect_eq(taken[0].bytes[0], 0xbb);
	cr_expect_eq(taken[0].stack.nr_ranges, 0);
}

Test(stream, believes_no_stack_that_is_longer_than_its_record)
{
	static const uint64_t sizes[] = { STACK_SIZES(24, 0), STACK_SIZES(4, 0),
					  STACK_SIZES(16, 1), STACK_SIZES(0, UINT32_MAX),
					  STACK_SIZES(UINT32_MAX - 7, 0) };
	enum { NR = sizeof(sizes) / sizeof(sizes[0]) };

	for (size_t i = 0; i < NR; i++)
		put_stack(STACK_ARG(EM_X86_64, 0), WORDS(1, 2, 3, 4, sizes[i], 5, 6));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 2 * NR);
	for (size_t i = 0; i < 2 * NR; i += 2) {
		cr_expect_eq(taken[i].rec.why, SPEC_STAT_STACKS_NOT_COPIED);
		cr_expect_eq(taken[i].rec.figure, 1);
		cr_expect_null(taken[i + 1].rec.sample.user_stack);
	}
}

Test(stream, believes_no_range_that_ends_before_it_begins)
{
	put_stack(STACK_ARG(EM_X86_64, 0),
		  WORDS(1, 2, 3, 4, STACK_SIZES(0, 3), 0x3000, 0x2000, 9, 0, 0x3000, 0, 0,
			0, 0x2000, 0x3000, 9, 0));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect(taken[0].stack.ranges_cut);
	cr_assert_eq(taken[0].stack.nr_ranges, 1);
	cr_expect_eq(taken[0].ranges[0].start, 0x2000);
}

Test(stream, bounds_the_ranges_of_a_stack)
{
	uint64_t w[5 + 4 * (COLL_STREAM_RANGES + 1)] = { 1, 2, 3, 4 };

	w[4] = STACK_SIZES(0, COLL_STREAM_RANGES + 1);
	for (size_t i = 0; i <= COLL_STREAM_RANGES; i++) {
		w[5 + 4 * i] = i << 12;
		w[6 + 4 * i] = (i + 1) << 12;
		w[7 + 4 * i] = 9;
	}
	put_stack(STACK_ARG(EM_X86_64, 0), w, sizeof(w) / sizeof(w[0]));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect(taken[0].stack.ranges_cut);
	cr_expect_eq(taken[0].stack.nr_ranges, COLL_STREAM_RANGES);
}

Test(stream, a_stack_of_no_sample_is_nobodys)
{
	put_note(&in, OPK_USER_STACK, 0, WORDS(1, 2, 3, 4, 0));
	put_note(&in, OPK_TRACE_BEGIN, 1, NULL, 0);
	put_note(&in, OPK_USER_STACK, 0, WORDS(1, 2, 3, 4, 0));
	put_sample(&in, 0x20, 0);
	put_note(&in, OPK_TRACE_END, OPK_TRACE_NO_STACK, WORDS(0));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 2);
	cr_expect_null(taken[0].rec.sample.user_stack);
	/* the driver had wanted to give one */
	cr_expect_eq(taken[1].rec.why, SPEC_STAT_STACKS_NOT_COPIED);
}

Test(stream, an_empty_trace_is_no_sample)
{
	put_note(&in, OPK_TRACE_BEGIN, 0, NULL, 0);
	put_note(&in, OPK_TRACE_END, 0, WORDS(0));
	put_note(&in, OPK_TRACE_END, 0, WORDS(0));
	cr_assert_eq(feed(), 0);
	cr_expect_eq(nr_taken, 0);
}

Test(stream, tells_a_region_once)
{
	put_note(&in, OPK_ANON, OPK_ANON_VDSO, WORDS(0x1000, 0x2fff));
	put_sample(&in, 1, 0);
	put_note(&in, OPK_ANON, OPK_ANON_HEAP, WORDS(0x9000, 0x9fff));
	put_note(&in, OPK_ANON, OPK_ANON_VDSO, WORDS(0x1000, 0x2fff));
	put_sample(&in, 2, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 4);
	cr_expect_str_eq(taken[0].text, "[vdso]");
	cr_expect(taken[0].rec.origin.region);
	cr_expect_eq(taken[0].rec.origin.mmap.len, 0x2000);
	cr_expect_str_eq(taken[2].text, "[heap]");
	cr_expect_eq(taken[3].places[0].handle, taken[0].rec.origin.handle);
	cr_expect_neq(taken[2].rec.origin.handle, taken[0].rec.origin.handle);
}

Test(stream, believes_no_region_that_ends_before_it_begins)
{
	put_note(&in, OPK_ANON, OPK_ANON_OTHER, WORDS(0x1000, 0xfff));
	put_sample(&in, 1, 0);
	put_note(&in, OPK_ANON, OPK_ANON_OTHER, WORDS(0, UINT64_MAX));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].places[0].handle, UINT64_MAX);
}

Test(stream, reads_no_path_beyond_its_record)
{
	uint64_t w[10] = { 0, 5, 0xffULL << 32 };

	w[8] = 1000; /* of 8 */
	put_note(&in, OPK_IMAGE, 1, w, 10);
	w[8] = 8;
	memcpy(&w[9], "/x\0hidden", 8);
	put_note(&in, OPK_IMAGE, 2, w, 10);
	memcpy(&w[9], "noslash!", 8);
	w[2] = 0;
	put_note(&in, OPK_IMAGE, 3, w, 10);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 3);
	cr_expect_str_eq(taken[0].text, "/(unknown)/0:0/5");
	cr_expect_eq(taken[0].rec.origin.mmap.build_id_len, COLL_BUILD_ID);
	cr_expect_str_eq(taken[1].text, "/x");
	cr_expect_str_eq(taken[2].text, "/(unknown)/0:0/5");
}

Test(stream, marks_deleted_files_as_the_kernel_does)
{
	uint64_t w[13] = { 0, 5, (uint64_t)OPK_IMAGE_DELETED << 40 };

	w[8] = 6;
	memcpy(&w[9], "/bin/x", 6);
	put_note(&in, OPK_IMAGE, 1, w, 10);
	w[8] = 16;
	memcpy(&w[9], "/bin/x (deleted)", 16);
	put_note(&in, OPK_IMAGE, 2, w, 11);
	cr_assert_eq(feed(), 0);
	cr_expect_str_eq(taken[0].text, "/bin/x (deleted)");
	cr_expect_str_eq(taken[1].text, "/bin/x (deleted)");
}

Test(stream, tells_which_images_have_gone)
{
	put_note(&in, OPK_IMAGE_GONE, 0, NULL, 0);
	put_note(&in, OPK_IMAGE_GONE, 1048577, NULL, 0);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].rec.kind, COLL_REC_ORIGIN);
	cr_expect_eq(taken[0].rec.origin.handle, 1048577);
	cr_expect(taken[0].rec.origin.gone);
}

Test(stream, tells_every_loss_by_its_reason)
{
	put_sample(&in, 1, 0);
	put_note(&in, OPK_LOST, OPK_LOST_OVERFLOW, WORDS(3, 3));
	put_note(&in, OPK_LOST, 12345, WORDS(2, 2));
	put_note(&in, OPK_BYE, 0, WORDS(10, 7, 8));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 6);
	cr_expect_eq(taken[1].rec.why, SPEC_STAT_LOST_CPU_BUFFER);
	cr_expect_eq(taken[1].rec.lost, 3);
	cr_expect_eq(taken[2].rec.why, SPEC_STAT_LOST_RECORDS);
	/* the driver took more than it told */
	cr_expect_eq(taken[3].rec.why, SPEC_STAT_LOST_RECORDS);
	cr_expect_eq(taken[3].rec.lost, 4);
	cr_expect_eq(taken[4].rec.kind, COLL_REC_FIGURE);
	cr_expect_eq(taken[4].rec.why, SPEC_STAT_THROTTLE_EVENTS);
	cr_expect_eq(taken[4].rec.figure, 7);
	cr_expect_eq(taken[5].rec.why, SPEC_STAT_BT_ABORTED);
}

Test(stream, every_reason_of_the_driver_has_a_figure)
{
	for (uint32_t why = 1; why < OPK_NR_LOST; why++)
		put_note(&in, OPK_LOST, why, WORDS(1, 1));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, OPK_NR_LOST - 1);
	for (size_t i = 0; i < nr_taken; i++) {
		cr_expect_eq(spec_stat_info[taken[i].rec.why].kind, SPEC_STAT_KIND_LOSS);
		cr_expect_neq(taken[i].rec.why, SPEC_STAT_LOST_RECORDS);
	}
}

Test(stream, hands_over_registers)
{
	put_note(&in, OPK_IBS_OP, 4, WORDS(0x10, 0, 0xff, 1, 2, 3, 4));
	put_note(&in, OPK_IBS_FETCH, 400,
		 WORDS(0x10, 0, 0xff, 1)); /* says more than it has */
	put_note(&in, OPK_TRACE_BEGIN, 2, NULL, 0);
	put_note(&in, OPK_IBS_OP, 2, WORDS(0x11, 0, 0, 8, 9));
	put_sample(&in, 0x99, 0);
	put_note(&in, OPK_TRACE_END, 0, WORDS(0));
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 3);
	cr_expect_eq(taken[0].ext.kind, COLL_EXT_IBS_OP);
	cr_expect_eq(taken[0].ext.caps, 0xff);
	cr_expect_eq(taken[0].ext.nr, 4);
	cr_expect_eq(taken[0].regs[3], 4);
	cr_expect_eq(taken[1].ext.kind, COLL_EXT_IBS_FETCH);
	cr_expect_eq(taken[1].ext.nr, 1);
	cr_expect_eq(taken[2].ext.nr, 2);
	cr_expect_eq(taken[2].regs[1], 9);
	cr_expect_eq(taken[2].rec.sample.nr_places, 2);
}

Test(stream, tells_of_modules)
{
	uint64_t w[11] = { 9, 0xffff0000, 0x2000 };

	memcpy(&w[3], "ext4", 4);
	put_note(&in, OPK_MODULE, OPK_MODULE_LOADED, w, 11);
	memcpy(&w[3], "../x", 4);
	put_note(&in, OPK_MODULE, OPK_MODULE_GOING, w, 11);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 1);
	cr_expect_eq(taken[0].rec.kind, COLL_REC_MODULE);
	cr_expect_str_eq(taken[0].text, "ext4");
}

Test(stream, a_new_start_forgets_the_context)
{
	put_task(&in, 10, 10, 3);
	put_note(&in, OPK_COOKIE, 3, NULL, 0);
	put_sample(&in, 1, 0);
	put_bye(&in, 1);
	put_hello(&in);
	put_sample(&in, 2, 0);
	put_bye(&in, 1);
	cr_assert_eq(feed(), 0);
	cr_assert_eq(nr_taken, 2);
	cr_expect_eq(taken[1].rec.tgid, UINT32_MAX);
	cr_expect_eq(taken[1].places[0].handle, UINT64_MAX);
	cr_expect_neq(taken[1].who.seq, taken[0].who.seq);
}

static int count_counter(void *ctx, const struct coll_counter *c)
{
	*(struct coll_counter *)ctx = *c;
	return c->index ? 9 : -ENOSPC;
}

Test(stream, asks_which_event_a_counter_is)
{
	struct coll_counter told;

	stream.counter = count_counter;
	stream.counter_ctx = &told;
	put_note(&in, OPK_COUNTER, 0, WORDS(1, 2, 3, 4, OPK_COUNTER_USER, 4));
	put_note(&in, OPK_COUNTER, 7, WORDS(1, 2, 3, 4, OPK_COUNTER_USER, 4));
	put_note(&in, OPK_COUNTER, 4000, WORDS(0, 0, 0, 0, 0, 0));
	put_sample(&in, 1, 7);
	put_sample(&in, 1, 0);
	cr_assert_eq(feed(), 0);
	cr_expect_eq(told.unit_mask, 2);
	cr_expect_eq(told.count, 3);
	cr_expect(told.user && !told.kernel);
	cr_expect_eq(taken[0].rec.event, 9);
	cr_expect_eq(taken[1].rec.event, UINT32_MAX);
}

Test(stream, remembers_a_bounded_number_of_regions)
{
	static struct words many;
	uint64_t first = 0;
	size_t used;

	cr_assert_eq(feed(), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		nr_taken = 0;
		many.nr = 0;
		put_note(&many, OPK_ANON, OPK_ANON_VDSO,
			 WORDS(i << 12, (i << 12) + 0xfff));
		cr_assert_eq(coll_stream_feed(&stream, many.w, many.nr, &used, NULL), 0);
		cr_assert_eq(nr_taken, 1);
		first = i ? first : taken[0].rec.origin.handle;
		cr_assert_eq(taken[0].rec.origin.handle, first + i);
	}
	cr_expect_leq(stream.regions.used, 4096);
}
