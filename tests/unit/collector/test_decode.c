/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/cleanup.h"
#include "collector/source/decode.h"
#include "tests/unit/collector/records.h"

static struct coll_decoder d;
static struct coll_rec rec;
static struct bytes b;

static void ask(bool callchain)
{
	struct perf_event_attr attr = { 0 };

	coll_layout_ask(callchain, 0, &attr);
	cr_assert_eq(coll_layout_init(&d.layout, &attr, NULL), 0);
}

static void setup(void)
{
	ask(false);
	cr_assert_eq(coll_decoder_add(&d, 77, 2), 0);
	cr_assert_eq(coll_decoder_add(&d, 78, 3), 0);
}

static void teardown(void)
{
	coll_decoder_fini(&d);
}

TestSuite(decode, .init = setup, .fini = teardown);

static int decode(void)
{
	struct err err = { 0 };

	return coll_decode(&d, b.data, b.len, &rec, &err);
}

Test(decode, reads_a_sample_and_finds_its_event)
{
	for (uint64_t id = 77; id <= 78; id++) {
		make_sample(&b, id, 0x401234, 100, 5000);
		cr_assert_eq(decode(), 0);
		cr_expect_eq(rec.kind, COLL_REC_SAMPLE);
		cr_expect_eq(rec.event, id - 75);
		cr_expect_eq(rec.sample.ip, 0x401234);
		cr_expect_eq(rec.sample.domain, COLL_USER);
		cr_expect_eq(rec.tgid, 100);
		cr_expect_eq(rec.tid, 101);
		cr_expect_eq(rec.time_ns, 5000);
		cr_expect_eq(rec.cpu, 3);
		cr_expect_eq(coll_layout_time(&d.layout, b.data, b.len), 5000);
	}
}

Test(decode, refuses_a_sample_of_an_event_nobody_opened)
{
	make_sample(&b, 79, 1, 1, 1);
	cr_expect_eq(decode(), -EBADMSG);
	make_sample(&b, 0, 1, 1, 1);
	cr_expect_eq(decode(), -EBADMSG);
}

Test(decode, knows_the_mode_of_a_sample)
{
	static const struct {
		uint16_t misc;
		enum coll_domain domain;
	} rows[] = {
		{ PERF_RECORD_MISC_USER, COLL_USER },
		{ PERF_RECORD_MISC_KERNEL, COLL_KERNEL },
		{ PERF_RECORD_MISC_HYPERVISOR, COLL_OTHER },
		{ PERF_RECORD_MISC_GUEST_KERNEL, COLL_OTHER },
		{ PERF_RECORD_MISC_GUEST_USER, COLL_OTHER },
		{ PERF_RECORD_MISC_CPUMODE_UNKNOWN, COLL_OTHER },
		{ PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP, COLL_KERNEL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_sample(&b, 77, 1, 1, 1);
		((struct perf_event_header *)(void *)b.data)->misc = rows[i].misc;
		cr_assert_eq(decode(), 0);
		cr_expect_eq(rec.sample.domain, rows[i].domain, "row %zu", i);
	}
}

Test(decode, hands_over_a_call_chain_in_place)
{
	ask(true);
	make_sample(&b, 77, 0x10, 1, 1);
	put64(&b, 3);
	put64(&b, (uint64_t)PERF_CONTEXT_USER);
	put64(&b, 0x10);
	put64(&b, 0x20);
	end(&b);
	cr_assert_eq(decode(), 0);
	cr_assert_eq(rec.sample.nr_ips, 3);
	cr_expect_eq((const uint8_t *)rec.sample.ips, b.data + b.len - 24);
	cr_expect_eq(rec.sample.ips[2], 0x20);
	cr_expect_not(rec.sample.cut);
}

Test(decode, tells_a_chain_of_as_many_frames_as_were_asked_for)
{
	for (uint32_t frames = 1; frames < 6; frames++) {
		ask(true);
		d.layout.max_frames = 4;
		make_sample(&b, 77, 0x10, 1, 1);
		put64(&b, frames + 2);
		put64(&b, (uint64_t)PERF_CONTEXT_KERNEL);
		put64(&b, 0x10);
		put64(&b, (uint64_t)PERF_CONTEXT_USER);
		for (uint32_t i = 1; i < frames; i++)
			put64(&b, 0x20);
		end(&b);
		cr_assert_eq(decode(), 0);
		cr_expect_eq(rec.sample.cut, frames >= 4, "%u frames", frames);
	}
}

Test(decode, refuses_a_chain_longer_than_its_record)
{
	static const uint64_t lengths[] = { 4, 1ULL << 61, UINT64_MAX };

	ask(true);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		make_sample(&b, 77, 0x10, 1, 1);
		put64(&b, lengths[i]);
		put64(&b, 1);
		end(&b);
		cr_expect_eq(decode(), -EBADMSG);
	}
}

static void make_mmap(uint16_t misc, const char *name, size_t name_len)
{
	static const uint8_t id[24] = { 20, 0, 0, 0, 0xaa, 0xbb };

	begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | misc);
	put32(&b, 100);
	put32(&b, 101);
	put64(&b, 0x7f0000000000);
	put64(&b, 0x2000);
	put64(&b, 0x1000);
	put(&b, id, sizeof(id));
	put32(&b, 5);
	put32(&b, 2);
	put(&b, name, name_len);
	end_with_id(&b, 100, 101, 900, 1, 77);
}

Test(decode, reads_a_mapping_with_its_inode)
{
	make_mmap(0, "/bin/ls", 8);
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.kind, COLL_REC_MMAP);
	cr_expect_eq(rec.time_ns, 900);
	cr_expect_eq(rec.mmap.start, 0x7f0000000000);
	cr_expect_eq(rec.mmap.len, 0x2000);
	cr_expect_eq(rec.mmap.pgoff, 0x1000);
	cr_expect_str_eq(rec.mmap.filename, "/bin/ls");
	cr_expect_eq(rec.mmap.build_id_len, 0);
	cr_expect_eq(rec.mmap.dev_major, 20);
	cr_expect_eq(rec.mmap.dev_minor, 0xbbaa);
}

Test(decode, takes_no_build_id_that_was_not_asked_for)
{
	make_mmap(1 << 14, "/bin/ls", 8); /* the flag leaked from another's event */
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.mmap.build_id_len, 0);
	cr_expect_eq(rec.mmap.dev_minor, 0xbbaa);
}

Test(decode, refuses_a_name_that_runs_into_the_sample_id)
{
	make_mmap(0, "/bin/ls!", 8);
	cr_expect_eq(decode(), -EBADMSG);
}

Test(decode, reads_names_forks_exits_losses_and_throttling)
{
	begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&b, 7);
	put32(&b, 8);
	put(&b, "worker\0", 8);
	end_with_id(&b, 7, 8, 33, 0, 77);
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.kind, COLL_REC_COMM);
	cr_expect_str_eq(rec.comm.name, "worker");
	cr_expect(rec.comm.exec);
	cr_expect_eq(rec.time_ns, 33);

	begin(&b, PERF_RECORD_FORK, 0);
	put32(&b, 20);
	put32(&b, 10);
	put32(&b, 21);
	put32(&b, 11);
	put64(&b, 44);
	end_with_id(&b, 10, 11, 44, 1, 77);
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.kind, COLL_REC_FORK);
	cr_expect_eq(rec.tgid, 20);
	cr_expect_eq(rec.tid, 21);
	cr_expect_eq(rec.parent.tgid, 10);
	cr_expect_eq(rec.parent.tid, 11);

	begin(&b, PERF_RECORD_LOST, 0);
	put64(&b, 77);
	put64(&b, 4711);
	end_with_id(&b, 0, 0, 55, 1, 77);
	rec.why = SPEC_NR_STATS; /* of whatever was there before */
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.kind, COLL_REC_LOST);
	cr_expect_eq(rec.lost, 4711);
	cr_expect_eq(rec.why, 0);

	begin(&b, PERF_RECORD_THROTTLE, 0);
	put64(&b, 66);
	put64(&b, 78);
	put64(&b, 78);
	end_with_id(&b, 0, 0, 66, 1, 78);
	cr_assert_eq(decode(), 0);
	cr_expect_eq(rec.kind, COLL_REC_THROTTLE);
	cr_expect_eq(rec.event, 3);
}

Test(decode, passes_over_kinds_of_no_interest)
{
	static const uint32_t types[] = {
		0,   PERF_RECORD_MMAP, PERF_RECORD_UNTHROTTLE, PERF_RECORD_AUX,
		500, UINT32_MAX
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		begin(&b, types[i], 0);
		end(&b);
		cr_assert_eq(decode(), 0);
		cr_expect_eq(rec.kind, COLL_REC_NONE);
	}
}

Test(decode, refuses_every_record_that_is_cut_short)
{
	static const uint32_t types[] = { PERF_RECORD_MMAP2,   PERF_RECORD_LOST,
					  PERF_RECORD_COMM,    PERF_RECORD_EXIT,
					  PERF_RECORD_FORK,    PERF_RECORD_SAMPLE,
					  PERF_RECORD_THROTTLE };

	ask(true);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (size_t len = 0; len < 40; len += 8) {
			begin(&b, types[i], 0);
			b.len += len;
			memset(b.data + 8, 0xff, len);
			end(&b);
			cr_expect_eq(decode(), -EBADMSG, "type %u, %zu bytes", types[i],
				     len);
		}
}

Test(decode, refuses_a_size_that_is_not_the_records)
{
	make_sample(&b, 77, 1, 1, 1);
	b.len -= 8;
	cr_expect_eq(decode(), -EBADMSG);
	b.len = 4;
	cr_expect_eq(decode(), -EBADMSG);
	cr_expect_eq(coll_layout_time(&d.layout, b.data, 4), 0);
}

/* ---- registers and user stacks */

enum { COPY = 512 };

static void begin_unwinding(void)
{
	struct perf_event_attr attr = { 0 };

	coll_layout_ask(false, COPY, &attr);
	cr_assert_eq(coll_layout_init(&d.layout, &attr, NULL), 0);
	cr_assert_eq(__builtin_popcountll(attr.sample_regs_user), 4);
	make_sample(&b, 77, 0x401234, 100, 5000);
}

/* As the kernel writes them, in the order of its numbers: bx, bp, sp, ip on x86-64. */
static void put_registers(uint64_t abi)
{
	put64(&b, abi);
	for (uint64_t i = 0; abi && i < 4; i++)
		put64(&b, 1000 + i);
}

static void put_stack(uint64_t size, uint64_t copied)
{
	put64(&b, size);
	for (uint64_t i = 0; i < size; i++)
		put(&b, &(uint8_t){ (uint8_t)i }, 1);
	if (size)
		put64(&b, copied);
	end(&b);
}

Test(decode, reads_registers_and_as_much_of_a_stack_as_was_copied)
{
	static const struct {
		uint64_t copied;
		bool whole;
	} all[] = { { 0, true }, { 8, true }, { 504, true }, { COPY, false } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct coll_user_stack *s;

		begin_unwinding();
		put_registers(PERF_SAMPLE_REGS_ABI_64);
		put_stack(COPY, all[i].copied);
		cr_assert_eq(decode(), 0);
		s = rec.sample.user_stack;
		cr_assert(s && !s->none);
#ifdef __x86_64__
		cr_expect_eq(s->regs.bx, 1000);
		cr_expect_eq(s->regs.fp, 1001);
		cr_expect_eq(s->regs.sp, 1002);
		cr_expect_eq(s->regs.ip, 1003);
		cr_expect_eq(s->regs.lr, 0);
#endif
		cr_expect_eq(s->size, all[i].copied);
		cr_expect_eq(s->whole, all[i].whole);
		for (size_t k = 0; k < s->size; k++)
			cr_expect_eq(((const uint8_t *)s->bytes)[k], k % 256);
	}
}

Test(decode, threads_of_the_kernel_have_no_user_stack_and_32_bit_programs_none_of_use)
{
	begin_unwinding();
	put_registers(PERF_SAMPLE_REGS_ABI_NONE);
	put_stack(0, 0);
	cr_assert_eq(decode(), 0);
	cr_expect_null(rec.sample.user_stack);
	begin_unwinding();
	put_registers(PERF_SAMPLE_REGS_ABI_32);
	put_stack(0, 0);
	cr_assert_eq(decode(), 0);
	cr_assert(rec.sample.user_stack);
	cr_expect(rec.sample.user_stack->none);
}

Test(decode, refuses_user_stacks_that_are_cut_short_or_larger_than_their_room)
{
	begin_unwinding();
	put_registers(PERF_SAMPLE_REGS_ABI_64);
	put_stack(COPY, COPY + 1);
	cr_expect_eq(decode(), -EBADMSG);
	begin_unwinding();
	put_registers(PERF_SAMPLE_REGS_ABI_64);
	put_stack(COPY, COPY);
	while (b.len > 8) {
		b.len -= 8;
		end(&b);
		cr_expect_eq(decode(), -EBADMSG, "%zu bytes", b.len);
	}
}
