// SPDX-License-Identifier: GPL-2.0-or-later
#include "user_stack.h"

#include <asm/irq_regs.h>
#include <linux/elf.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "backtrace.h"
#include "compat.h"
#include "control.h"
#include "resolve.h"
#include "stats.h"

enum {
	MAX_LOOKUPS = 256, /* of ranges, for one sample */
	NR_SEEN = 8,
};

#ifdef CONFIG_X86
enum { MACHINE = EM_X86_64 };

static u64 frame_register(const struct pt_regs *regs)
{
	return regs->bp;
}

static u64 other_register(const struct pt_regs *regs)
{
	return regs->bx;
}

/* The general registers come first. */
static bool same_regs(const struct pt_regs *a, const struct pt_regs *b)
{
	return !memcmp(a, b, offsetof(struct pt_regs, orig_ax)) && a->ip == b->ip &&
	       a->sp == b->sp;
}
#else
enum { MACHINE = EM_AARCH64 };

static u64 frame_register(const struct pt_regs *regs)
{
	return regs->regs[29];
}

static u64 other_register(const struct pt_regs *regs)
{
	return regs->regs[30];
}

static bool same_regs(const struct pt_regs *a, const struct pt_regs *b)
{
	return !memcmp(a->regs, b->regs, sizeof(a->regs)) && a->pc == b->pc &&
	       a->sp == b->sp;
}
#endif

unsigned int opk_stack_words(u64 bytes)
{
	return bytes ? OPK_STACK_WORDS + bytes / sizeof(u64) : 0;
}

void opk_stack_refuse(struct opk_raw *raw, unsigned int why)
{
	if (raw->stack != OPK_STACK_WANTED)
		return;
	raw->stack = OPK_STACK_REFUSED;
	raw->no_stack = why;
}

void opk_stack_want(struct opk_raw *raw, struct pt_regs *regs)
{
	if (raw->kernel)
		regs = task_pt_regs(current);
	if (!raw->mm || !user_mode(regs))
		return;
	raw->stack = OPK_STACK_WANTED;
	raw->no_stack = OPK_STAT_STACK_BUSY;
	raw->regs = *regs;
	if (opk_is_compat(regs))
		opk_stack_refuse(raw, OPK_STAT_STACK_UNREADABLE);
	if (raw->kernel && opk_in_execve())
		opk_stack_refuse(raw, OPK_STAT_STACK_STALE);
	/* The hardware tells an address that was executed before the interrupt came. */
	if (raw->ext.nr_regs)
		opk_stack_refuse(raw, OPK_STAT_STACK_STALE);
}

bool opk_stack_is_there(const struct opk_raw *raw)
{
	const struct pt_regs *regs = raw->kernel ? task_pt_regs(current) : get_irq_regs();

	return raw->stack == OPK_STACK_WANTED && regs && same_regs(regs, &raw->regs);
}

/* Copies as far as memory is present; the number of bytes. */
static unsigned long copy(void *to, unsigned long from, unsigned long size)
{
	unsigned long done = 0, n;

	for (; done < size; done += n) {
		n = min(size - done, PAGE_SIZE - offset_in_page(from + done));
		if (copy_from_user_nofault(to + done, (const void __user *)from + done,
					   n))
			break;
	}
	return done;
}

/*
 * Copies the stack.  What is above the place where the kernel put the program's arguments
 * is no stack: these, and the environment.
 */
static unsigned long copy_stack(const struct opk_raw *raw, u64 *bytes,
				unsigned int *flags)
{
	unsigned long sp = user_stack_pointer((struct pt_regs *)&raw->regs), end, size,
		      max;
	const struct vm_area_struct *vma = vma_lookup(raw->mm, sp);

	/* Memory of a device may be slow, or not like to be read. */
	if (!vma || !(vma->vm_flags & VM_READ) || vma->vm_flags & (VM_IO | VM_PFNMAP) ||
	    sp % sizeof(u64))
		return 0;
	end = vma->vm_end;
	if (sp < raw->mm->start_stack && end > raw->mm->start_stack)
		end = raw->mm->start_stack & -sizeof(u64);
	max = opk_settings.user_stack & -sizeof(u64);
	size = copy(bytes, sp, min(end - sp, max));
	if (sp + size == end)
		*flags |= OPK_STACK_WHOLE;
	return size;
}

/* Finds the executable ranges that words point into. */
struct scan {
	struct opk_cpu *cpu;
	const struct opk_raw *raw;
	u64 *ranges;
	unsigned int nr, lookups;
	bool cut;
	/* Ranges that need not be looked at again, executable or not, mapped or not. */
	struct {
		unsigned long start, size;
	} seen[NR_SEEN];
};

static bool is_seen(const struct scan *s, unsigned long pc)
{
	unsigned int i;

	for (i = 0; i < NR_SEEN; i++) {
		if (pc - s->seen[i].start < s->seen[i].size)
			return true;
	}
	return false;
}

static void note_range(struct scan *s, struct vm_area_struct *vma)
{
	struct opk_place place;
	unsigned int i;
	u64 *range;

	for (i = 0; i < s->nr; i++) {
		if (s->ranges[i * OPK_RANGE_WORDS] == vma->vm_start)
			return;
	}
	if (s->nr == OPK_MAX_RANGES ||
	    opk_place_in(s->cpu, s->raw, vma, vma->vm_start, &place)) {
		s->cut = true;
		return;
	}
	range = s->ranges + s->nr++ * OPK_RANGE_WORDS;
	range[0] = vma->vm_start;
	range[1] = vma->vm_end;
	range[2] = place.cookie | (u64)place.anon << 32;
	range[3] = place.off;
}

static void look_up(struct scan *s, unsigned long pc)
{
	struct vm_area_struct *vma;
	unsigned long start = pc & PAGE_MASK, end = TASK_SIZE_MAX;
	unsigned int i;

	if (s->lookups == MAX_LOOKUPS) {
		s->cut = true;
		return;
	}
	i = s->lookups++ % NR_SEEN;
	vma = find_vma(s->raw->mm, pc);
	if (vma && pc < vma->vm_start) {
		end = vma->vm_start;
	} else if (vma) {
		start = vma->vm_start;
		end = vma->vm_end;
		if (vma->vm_flags & VM_EXEC)
			note_range(s, vma);
	}
	s->seen[i].start = start;
	s->seen[i].size = end - start;
}

static void look_at(struct scan *s, unsigned long pc)
{
	/* Most words are no addresses at all. */
	if (pc - PAGE_SIZE < TASK_SIZE_MAX - PAGE_SIZE && !is_seen(s, pc))
		look_up(s, pc);
}

/* A word that may be a return address: the call is in front of that. */
static void look_before(struct scan *s, unsigned long word)
{
	look_at(s, opk_plain_pc(word) - 1);
}

/* The number of ranges, which are put behind the bytes. */
static unsigned int find_ranges(struct opk_cpu *cpu, const struct opk_raw *raw,
				const u64 *bytes, unsigned long size, unsigned int *flags)
{
	struct scan scan = { .cpu = cpu, .raw = raw };
	unsigned long i, nr = size / sizeof(u64);

	scan.ranges = (u64 *)bytes + nr;
	look_at(&scan, instruction_pointer((struct pt_regs *)&raw->regs));
#ifdef CONFIG_ARM64
	look_before(&scan, other_register(&raw->regs));
#endif
	for (i = 0; i < nr; i++)
		look_before(&scan, bytes[i]);
	if (scan.cut)
		*flags |= OPK_STACK_RANGES_CUT;
	return scan.nr;
}

unsigned int opk_stack_pack(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words)
{
	struct pt_regs *regs = &raw->regs;
	u64 *bytes = words + OPK_STACK_HEAD_WORDS;
	unsigned int flags = 0, len, ranges;
	unsigned long size = copy_stack(raw, bytes, &flags);

	if (!size) {
		opk_stack_refuse(raw, OPK_STAT_STACK_UNREADABLE);
		return 0;
	}
	ranges = find_ranges(cpu, raw, bytes, size, &flags);
	len = OPK_STACK_HEAD_WORDS + size / sizeof(u64) + ranges * OPK_RANGE_WORDS;
	words[0] = OPK_HEAD(OPK_USER_STACK, len - 1, flags | MACHINE << 16);
	words[1] = instruction_pointer(regs);
	words[2] = user_stack_pointer(regs);
	words[3] = frame_register(regs);
	words[4] = other_register(regs);
	words[5] = size | (u64)ranges << 32;
	return len;
}
