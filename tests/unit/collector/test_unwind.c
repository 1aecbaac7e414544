/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/cleanup.h"
#include "collector/engine/filing.h"
#include "collector/engine/processes.h"
#include "collector/engine/unwind.h"
#include "tests/unit/collector/collecting.h"

/* Samples of this process, as the kernel would take them, with its own mappings and
 * tables; what they should be, libgcc's unwinder says. */

enum { ROOM = 32768, MAX_TRUTH = 256 };

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

#define NOINLINE __attribute__((noinline))

struct captured {
	struct coll_user_stack stack;
	char bytes[ROOM];
	uintptr_t truth[MAX_TRUTH];
	int nr;
};

static struct captured now;
static size_t allocations;

#if !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}
#endif

static void set_registers(const ucontext_t *at, struct cfi_regs *out)
{
#if defined(__x86_64__)
	*out = (struct cfi_regs){
		.ip = (uint64_t)at->uc_mcontext.gregs[REG_RIP],
		.sp = (uint64_t)at->uc_mcontext.gregs[REG_RSP],
		.fp = (uint64_t)at->uc_mcontext.gregs[REG_RBP],
		.bx = (uint64_t)at->uc_mcontext.gregs[REG_RBX],
	};
#elif defined(__aarch64__)
	*out = (struct cfi_regs){
		.ip = at->uc_mcontext.pc,
		.sp = at->uc_mcontext.sp,
		.fp = at->uc_mcontext.regs[29],
		.lr = at->uc_mcontext.regs[30],
	};
#endif
}

static _Unwind_Reason_Code add_true(struct _Unwind_Context *at, void *arg)
{
	(void)arg;
	/* behind the outermost comes 0 */
	if (_Unwind_GetIP(at) && now.nr < MAX_TRUTH)
		now.truth[now.nr++] = _Unwind_GetIP(at);
	return _URC_NO_REASON;
}

/* As a sample here. */
static NOINLINE void capture(size_t room)
{
	struct iovec local = { now.bytes, room }, remote;
	ucontext_t at;
	ssize_t n;

	getcontext(&at);
	set_registers(&at, &now.stack.regs);
	now.nr = 0;
	_Unwind_Backtrace(add_true, NULL);
	remote = (struct iovec){ (void *)now.stack.regs.sp, room };
	n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	for (; n < 0 && remote.iov_len > 8;
	     n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0))
		remote.iov_len -= 8; /* it ends before */
	now.stack.bytes = now.bytes;
	now.stack.size = n > 0 ? (size_t)n : 0;
	now.stack.whole = now.stack.size < room;
	now.stack.machine = MACHINE;
}

static NOINLINE void recurse(int n, size_t room)
{
	/* frames of several sizes */
	size_t size = 100 + 8 * (size_t)(n & 3);
	char *filler = __builtin_alloca(size);

	memset(filler, n, size);
	__asm__ volatile("" ::"r"(filler) : "memory");
	if (n)
		recurse(n - 1, room);
	else
		capture(room);
	__asm__ volatile("" ::: "memory");
}

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	capture(ROOM);
	return 0;
}

/* What is mapped here, executable. */
static void map_all(void)
{
	CLEANUP(close_file) FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, off;
	unsigned major, minor;
	uint64_t inode;
	char line[4096], path[3072];

	cr_assert(maps);
	while (fgets(line, sizeof(line), maps)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %*2s%*[x]%*s %lx %x:%x %" SCNu64 " %3071s",
			   &start, &end, &off, &major, &minor, &inode, path) < 6)
			continue;
		TELL(10, MMAP,
		     .mmap = { .start = start,
			       .len = end - start,
			       .pgoff = off,
			       .filename = *path ? path : "//anon",
			       .inode = inode,
			       .dev_major = major,
			       .dev_minor = minor });
	}
}

static void begin(void)
{
	collecting_begin();
	cr_assert_eq(coll_collect_ask_helpers(&c), 0);
	c.callgraph = true;
	TELL(10, COMM, .comm = { .name = "self", .exec = true });
	map_all();
}

TestSuite(unwind, .init = begin, .fini = collecting_end, .timeout = 600);

static void tell_sample(void)
{
	TELL(10, SAMPLE,
	     .sample = { .ip = now.stack.regs.ip,
			 .domain = COLL_USER,
			 .user_stack = &now.stack });
}

static void take_sample(void)
{
	tell_sample();
	coll_collect_finish(&c);
}

/* In a system call, or an interrupt. */
static void tell_kernel_sample(const uint64_t *ips, size_t nr, bool cut)
{
	TELL(10, SAMPLE,
	     .sample = { .ip = ips[1],
			 .domain = COLL_KERNEL,
			 .ips = ips,
			 .nr_ips = nr,
			 .cut = cut,
			 .user_stack = &now.stack });
	coll_collect_finish(&c);
}

/* Behind the first, which is elsewhere in the same function. */
static void expect_the_truth(void)
{
	const struct coll_unwound *u = &c.unwound;

	cr_expect_eq(u->end, 0, "it ends by %d", (int)u->end);
	cr_expect_eq(u->nr, now.nr, "%zu frames instead of %d", u->nr, now.nr);
	for (size_t i = 1; i < u->nr && i < (size_t)now.nr; i++)
		cr_expect_eq(u->frames[i].ip, now.truth[i], "frame %zu", i);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), stat_of(SPEC_STAT_STORED));
	cr_expect_eq(stat_of(SPEC_STAT_STACKS), stat_of(SPEC_STAT_STORED));
}

Test(unwind, finds_the_callers_that_libgcc_finds)
{
	recurse(20, ROOM);
	take_sample();
	expect_the_truth();
	cr_expect_gt(c.unwound.nr, 22);
}

Test(unwind, goes_through_libraries_that_call_back)
{
	int two[2] = { 1, 2 };

	qsort(two, 2, sizeof(*two), compare);
	take_sample();
	expect_the_truth();
}

Test(unwind, a_copy_that_is_too_short_is_told_apart_from_one_that_was_not_made)
{
	recurse(40, 4096);
	take_sample();
	cr_expect_eq(c.unwound.end, SPEC_STACK_COPY_SHORT);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_COPY_SHORT), 1);
	cr_expect_gt(c.unwound.nr, 2);
	for (size_t i = 1; i < c.unwound.nr; i++)
		cr_expect_eq(c.unwound.frames[i].ip, now.truth[i]);
	now.stack.whole = true;
	take_sample();
	cr_expect_eq(c.unwound.end, SPEC_STACK_NO_COPY);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_NOT_COPIED), 1);
	expect_balance();
}

Test(unwind, as_many_frames_as_were_asked_for_are_a_depth_limit)
{
	c.max_frames = 7;
	recurse(20, ROOM);
	take_sample();
	cr_expect_eq(c.unwound.nr, 7);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_DEPTH), 1);
}

Test(unwind, the_kernels_frames_count_and_without_all_of_them_there_is_no_user_part)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010,
				 0xffffffff81000020, 0xffffffff81000030 };

	recurse(20, ROOM);
	c.max_frames = 7;
	tell_kernel_sample(ips, 4, false);
	cr_expect_eq(c.stack.nr, 8, "%zu frames", c.stack.nr);
	c.max_frames = 3;
	tell_kernel_sample(ips, 4, false);
	cr_expect_eq(c.stack.nr, 4, "%zu frames", c.stack.nr);
	c.max_frames = 512;
	tell_kernel_sample(ips, 4, false);
	cr_expect_gt(c.stack.nr, 20);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_DEPTH), 2);
	/* the kernel's own limit is lower */
	tell_kernel_sample(ips, 4, true);
	cr_expect_eq(c.stack.nr, 4, "%zu frames", c.stack.nr);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_DEPTH), 3);
	expect_balance();
}

Test(unwind, registers_that_could_not_be_had_are_told)
{
	now.stack = (struct coll_user_stack){ .none = true };
	now.stack.regs.ip = (uint64_t)(uintptr_t)&capture;
	take_sample();
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_NO_REGISTERS), 1);
	expect_balance();
}

Test(unwind, records_of_a_process_wait_for_its_tables_in_their_order)
{
	recurse(3, ROOM);
	tell_sample();
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 0);
	cr_expect_eq(coll_collect_waiting(&c), 1);
	/* what it maps later is not there yet for the sample before */
	TELL(10, MMAP,
	     .mmap = { .start = now.stack.regs.ip & ~0xffful,
		       .len = 4096,
		       .filename = "//anon" });
	now.stack.regs.fp = 0; /* which would lead on */
	tell_sample();
	cr_expect_eq(coll_collect_waiting(&c), 2);
	coll_collect_finish(&c);
	cr_expect_eq(coll_collect_waiting(&c), 0);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 2);
	/* the second is in code without a table now */
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_NO_UNWIND) +
			     stat_of(SPEC_STAT_STACKS_NO_MAPPING),
		     1);
	expect_balance();
}

Test(unwind, behind_records_that_wait_for_proc_others_wait_with_them)
{
	const struct coll_task *task = coll_tasks_need(&c.tasks, 4321);
	struct coll_group *g = coll_deferred_begin(&c.deferred, 4321);

	cr_assert(task && g);
	TELL(4321, EXIT);
	cr_expect(coll_processes_wait_for_tables(&c, task));
	cr_expect_eq(coll_deferred_find(&c.deferred, 4321), g);
	cr_expect_not(g->for_tables);
	coll_processes_release(&c, 4321);
	cr_expect_eq(c.deferred.bytes, 0);
}

Test(unwind, without_room_to_wait_samples_are_taken_as_they_are)
{
	uint64_t many;

	recurse(3, ROOM);
	now.stack.regs.fp = 0; /* which would lead on without tables */
	/* twice as much as may wait */
	many = (128 << 20) / now.stack.size;
	for (uint64_t i = 0; i < many; i++)
		tell_sample();
	cr_expect_gt(stat_of(SPEC_STAT_TAKEN), many / 4);
	coll_collect_finish(&c);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), many);
	cr_expect_gt(stat_of(SPEC_STAT_STACKS_NO_UNWIND), many / 4);
	expect_balance();
}

Test(unwind, where_others_have_all_the_room_samples_do_not_wait)
{
	struct coll_group *others = coll_deferred_begin(&c.deferred, 4321);
	struct coll_rec rec = { .tgid = 4321, .kind = COLL_REC_SAMPLE };

	cr_assert(others);
	recurse(3, ROOM);
	rec.sample.user_stack = &now.stack;
	while (!coll_deferred_add(&c.deferred, others, &rec))
		;
	tell_sample();
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 1);
}

Test(unwind, nothing_is_allocated_for_a_sample)
{
#if defined(__SANITIZE_ADDRESS__)
	cr_skip_test("malloc is the sanitizer's");
#endif
	recurse(20, ROOM);
	take_sample();
	for (int i = 0; i < 100; i++)
		tell_sample();
	allocations = 0;
	for (int i = 0; i < 1000; i++)
		tell_sample();
	cr_expect_eq(allocations, 0, "%zu for 1,000 samples", allocations);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS), 1101);
	void *volatile one = malloc(1);

	cr_expect_eq(allocations, 1, "they are counted");
	free(one);
}
