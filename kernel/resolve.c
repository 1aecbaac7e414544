// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the interrupt to an attributed record: the code that runs in interrupts and NMIs.
 */
#include "resolve.h"

#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>

#include "control.h"
#include "cpu_buffer.h"
#include "defer.h"
#include "guard.h"
#include "images.h"
#include "pages.h"
#include "shares.h"
#include "stats.h"
#include "user_stack.h"

static bool defer;
module_param(defer, bool, 0400);
MODULE_PARM_DESC(defer,
		 "Resolve samples of user code in a thread only, never in the interrupt");

static bool is_special(struct mm_struct *mm, const struct vm_area_struct *vma)
{
	unsigned long vdso = (unsigned long)mm->context.vdso;

	return vdso && vdso >= vma->vm_start && vdso < vma->vm_end;
}

static enum opk_anon anon_kind(struct mm_struct *mm, const struct vm_area_struct *vma)
{
	if (is_special(mm, vma))
		return OPK_ANON_VDSO;
	if (vma->vm_start <= mm->brk && vma->vm_end >= mm->start_brk)
		return OPK_ANON_HEAP;
	if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack)
		return OPK_ANON_STACK;
	return OPK_ANON_OTHER;
}

static void place_in(struct opk_place *place, enum opk_anon kind, u64 pc, u64 start,
		     u64 end)
{
	place->kind = OPK_PLACE_ANON;
	place->anon = kind;
	place->cookie = 0;
	place->off = pc - start;
	place->first = start;
	place->last = end - 1;
}

/* Whom images that are new are accounted to. */
static kuid_t user_of(const struct opk_raw *raw)
{
	return uid_valid(raw->user) ? raw->user : opk_share_user();
}

/*
 * Looks up the addresses of one sample.  Most lie in the same range as the one before,
 * which is good as long as the lock is held.
 */
struct lookup {
	struct opk_cpu *cpu;
	const struct opk_raw *raw;
	enum opk_by by;
	struct vm_area_struct *vma;
	u32 cookie;
};

static u32 image_of(struct opk_cpu *cpu, const struct opk_raw *raw, struct file *file)
{
	u32 cookie = opk_page_known(&cpu->pages, raw, file);

	if (!cookie) {
		cookie = opk_image_of(file, user_of(raw));
		opk_page_note(&cpu->pages, raw, file, cookie);
	}
	return cookie;
}

static struct vm_area_struct *range_of(struct lookup *l, unsigned long pc)
{
	struct mm_struct *mm = l->raw->mm;
	struct vm_area_struct *vma = l->vma;

	if (vma && pc >= vma->vm_start && pc < vma->vm_end)
		return vma;
	vma = vma_lookup(mm, pc);
	if (!vma)
		return NULL;
	l->vma = vma;
	l->cookie = vma->vm_file ? image_of(l->cpu, l->raw, vma->vm_file) : 0;
	return vma;
}

/* @cookie: of the mapping's file, if it is of one. */
static int place_of(const struct opk_raw *raw, const struct vm_area_struct *vma,
		    u32 cookie, unsigned long pc, struct opk_place *place)
{
	if (!vma->vm_file) {
		place_in(place, anon_kind(raw->mm, vma), pc, vma->vm_start, vma->vm_end);
		return 0;
	}
	place->kind = OPK_PLACE_FILE;
	place->anon = 0;
	place->cookie = cookie;
	place->off = pc - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	return place->cookie ? 0 : -OPK_LOST_NO_IMAGE;
}

int opk_place_in(struct opk_cpu *cpu, const struct opk_raw *raw,
		 struct vm_area_struct *vma, unsigned long pc, struct opk_place *place)
{
	u32 cookie = vma->vm_file ? image_of(cpu, raw, vma->vm_file) : 0;

	return place_of(raw, vma, cookie, pc, place);
}

static int place_by_mapping(struct lookup *l, unsigned long pc, struct opk_place *place)
{
	struct vm_area_struct *vma = range_of(l, pc);

	return vma ? place_of(l->raw, vma, l->cookie, pc, place) : -OPK_LOST_NO_MAPPING;
}

/* The place of a user address.  0, or a negative enum opk_lost. */
static __always_inline int user_place(struct lookup *l, unsigned long pc,
				      struct opk_place *place)
{
#ifdef CONFIG_X86
	/* The vsyscall page belongs to no address space. */
	if ((pc & PAGE_MASK) == 0xffffffffff600000UL) {
		place_in(place, OPK_ANON_VSYSCALL, pc, pc & PAGE_MASK,
			 (pc & PAGE_MASK) + PAGE_SIZE);
		return 0;
	}
#endif
	if (l->by == OPK_BY_PAGE)
		return opk_page_place(&l->cpu->pages, l->raw, pc, place) ? 0
									 : -OPK_LOST_BUSY;
	return place_by_mapping(l, pc, place);
}

static struct opk_place kernel_place(unsigned long pc)
{
	return (struct opk_place){ .kind = OPK_PLACE_KERNEL, .off = pc };
}

static unsigned int pack_ext(const struct opk_ext *ext, u64 *words)
{
	words[0] = ext->caps | (u64)ext->nr_regs << 32 | (u64)ext->kind << 48;
	memcpy(words + 1, ext->regs, ext->nr_regs * sizeof(u64));
	return 1 + ext->nr_regs;
}

/* Where the sample itself lies; @len: words of its record so far.  The new length. */
static int pack_place(struct lookup *l, u64 *words, int len)
{
	const struct opk_raw *raw = l->raw;
	struct opk_place place;
	int rc;

	if (raw->kernel) {
		place = kernel_place(raw->pc);
	} else {
		rc = l->by != OPK_BY_NOTHING ? user_place(l, raw->pc, &place)
					     : -OPK_LOST_EXITED;
		if (rc)
			return rc;
	}
	return len + opk_place_pack(&place, words + len);
}

/* The same for its callers, if any; @head: the record's, gets what is said of them. */
static noinline int pack_callers(struct lookup *l, u64 *words, int len, u64 *head)
{
	const struct opk_raw *raw = l->raw;
	unsigned int chain = raw->chain_flags, places = 1, left_out = 0, i;
	struct opk_place place;
	int rc;

	for (i = 0; i < raw->nr_kernel; i++, places++) {
		place = kernel_place(raw->frames[i]);
		len += opk_place_pack(&place, words + len);
	}
	for (i = 0; l->by != OPK_BY_NOTHING && i < raw->nr_user; i++) {
		rc = user_place(l, raw->frames[raw->nr_kernel + i], &place);
		if (rc == -OPK_LOST_BUSY)
			return rc;
		if (rc) {
			left_out++;
			continue;
		}
		len += opk_place_pack(&place, words + len);
		places++;
	}
	if (l->by == OPK_BY_NOTHING && raw->nr_user) {
		chain |= OPK_TRACE_NO_USER;
		opk_count(OPK_STAT_BT_NO_USER);
	}
	if (left_out)
		opk_count_many(OPK_STAT_BT_NO_MAPPING, left_out);
	*head = opk_rec_head(OPK_REC_TRACE, raw->counter, places) |
		opk_rec_chain(chain, left_out);
	return len;
}

/* The stack, or that there is none. */
static noinline int pack_stack(struct lookup *l, u64 *words, int len)
{
	struct opk_raw *raw = (struct opk_raw *)l->raw;
	unsigned int n = 0;

	if (l->by == OPK_BY_MAPPING && raw->stack == OPK_STACK_WANTED)
		n = opk_stack_pack(l->cpu, raw, words + len);
	words[0] =
		n ? words[0] | OPK_REC_TRACE | OPK_REC_STACK : opk_rec_no_stack(words[0]);
	raw->stack_at = len;
	return len + n;
}

int opk_resolve(struct opk_cpu *cpu, struct opk_raw *raw, enum opk_by by, u64 *words)
{
	struct lookup lookup = { .cpu = cpu, .raw = raw, .by = by };
	u64 head = opk_rec_head(0, raw->counter, 1);
	int len = 1;

	if (by != OPK_BY_NOTHING && !raw->task.app)
		raw->task.app = opk_image_of_exe(raw->mm, user_of(raw));
	if (raw->ext.nr_regs)
		len += pack_ext(&raw->ext, words + len);
	len = pack_place(&lookup, words, len);
	if (len > 0 && (raw->nr_kernel || raw->nr_user || raw->chain_flags))
		len = pack_callers(&lookup, words, len, &head);
	words[0] = head | (raw->ext.nr_regs ? OPK_REC_EXT : 0);
	if (len > 0 && raw->stack)
		len = pack_stack(&lookup, words, len);
	return len;
}

static void take_chain(struct opk_scratch *s, struct pt_regs *regs, unsigned int depth)
{
	struct opk_raw *raw = &s->raw;
	unsigned int flags = 0, n = 0, user = 0;
	unsigned long *frames = raw->frames;

	if (raw->kernel) {
		n = opk_kernel_callers(regs, frames, depth, s->stack, &flags);
		regs = task_pt_regs(current);
	}
	raw->nr_kernel = n;
	if (raw->mm && user_mode(regs) && n < depth) {
		if (raw->kernel)
			frames[n + user++] = instruction_pointer(regs);
		user += opk_user_callers(regs, frames + n + user, depth - n - user,
					 &flags);
	}
	raw->nr_user = user;
	raw->chain_flags = flags;
	if (flags & OPK_TRACE_ABORTED)
		opk_count(OPK_STAT_BT_ABORTED);
}

/* A stack that finds no room is left out. */
static __always_inline bool write(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words,
				  int len)
{
	if (opk_cpu_write(cpu, words, len, &raw->task))
		return true;
	if (!(words[0] & OPK_REC_STACK))
		return false;
	raw->no_stack = OPK_STAT_STACK_NO_ROOM;
	words[0] = opk_rec_no_stack(words[0]);
	return opk_cpu_write(cpu, words, raw->stack_at, &raw->task);
}

static __always_inline void store(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words,
				  int len, unsigned int by)
{
	if (len < 0) {
		opk_count(-len);
	} else if (!write(cpu, raw, words, len)) {
		opk_count(OPK_LOST_OVERFLOW);
	} else {
		if (raw->stack && !(words[0] & OPK_REC_STACK))
			opk_count(raw->no_stack);
		if (!raw->kernel)
			opk_count(by);
		if (words[0] & OPK_REC_LATE)
			opk_count(OPK_STAT_RESOLVED_LATE);
		if (raw->process && !raw->task.app)
			opk_count(OPK_STAT_NO_APP);
	}
}

void opk_store(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words, int len,
	       unsigned int by)
{
	store(cpu, raw, words, len, by);
}

void opk_store_unresolved(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words)
{
	opk_store(cpu, raw, words, opk_resolve(cpu, raw, OPK_BY_NOTHING, words),
		  OPK_STAT_RESOLVED_IRQ);
}

/*
 * On PREEMPT_RT an interrupt may neither give the lock back nor free a page, and so may
 * try neither.
 */
static bool only_in_thread(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) || defer;
}

bool opk_store_now(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words, bool late)
{
	unsigned int by = OPK_STAT_RESOLVED_IRQ;
	struct mm_struct *mm = current->mm;
	int len;

	if (!mm || mm != raw->mm || only_in_thread())
		return false;
	if (mmap_read_trylock(mm)) {
		len = opk_resolve(cpu, raw, OPK_BY_MAPPING, words);
		mmap_read_unlock(mm);
	} else {
		len = opk_resolve(cpu, raw, OPK_BY_PAGE, words);
		by = OPK_STAT_RESOLVED_PAGE;
	}
	if (len == -OPK_LOST_BUSY)
		return false;
	if (len > 0 && late && atomic_read(&mm->mm_users) > 1)
		words[0] |= OPK_REC_LATE;
	store(cpu, raw, words, len, by);
	return true;
}

/* The sample is in s->raw: resolves it here, or arranges for that to be done later. */
static void attribute(struct opk_cpu *cpu, struct opk_scratch *s, bool nmi)
{
	struct opk_raw *raw = &s->raw;
	bool user = !raw->kernel || raw->nr_user || raw->stack;
	int lost;

	if (raw->mm && (user || !raw->task.app)) {
		if (!nmi && opk_store_now(cpu, raw, s->words, false))
			return;
		if (nmi || !raw->kernel) {
			lost = opk_defer(cpu, raw, nmi);
			if (!lost)
				return;
			if (!raw->kernel) {
				opk_count(lost);
				return;
			}
		}
	}
	opk_store_unresolved(cpu, raw, s->words);
}

static struct opk_known *known_at(struct opk_cpu *cpu, u32 tid)
{
	return &cpu->known[tid % ARRAY_SIZE(cpu->known)];
}

/* An NMI that comes between these writes the same, since it hits the same task. */
static void note_app(struct opk_cpu *cpu, const struct opk_task *task, const void *exe,
		     u32 app)
{
	struct opk_known *known = known_at(cpu, task->tid);

	WRITE_ONCE(known->tid, 0);
	smp_wmb(); /* pairs with those in noted_app(): an entry with a tid is whole */
	known->app = app;
	known->exec = task->exec;
	known->start_ns = task->start_ns;
	known->exe = exe;
	smp_wmb();
	WRITE_ONCE(known->tid, task->tid);
}

/*
 * What was noted on that CPU, which may be noting another task just now; or 0.  @exe: the
 * executable that the task has, NULL: it has given it up.
 */
static u32 noted_app(struct opk_cpu *cpu, const struct opk_task *task, const void *exe)
{
	const struct opk_known *known = known_at(cpu, task->tid);
	bool same;
	u32 app;

	if (READ_ONCE(known->tid) != task->tid)
		return 0;
	smp_rmb(); /* pairs with those in note_app() */
	app = READ_ONCE(known->app);
	same = READ_ONCE(known->start_ns) == task->start_ns &&
	       READ_ONCE(known->exec) == task->exec &&
	       (!exe || READ_ONCE(known->exe) == exe);
	smp_rmb();
	if (!same || READ_ONCE(known->tid) != task->tid)
		return 0;
	return app && opk_image_again(app) ? app : 0;
}

/* What was noted of a task that has given its address space up, on whichever CPU. */
static u32 last_app(struct opk_cpu *cpu, const struct opk_task *task)
{
	u32 app = noted_app(cpu, task, NULL);
	struct opk_cpu *other;
	unsigned int nr;

	for_each_online_cpu(nr) {
		other = per_cpu(opk_cpu, nr);
		if (app)
			break;
		if (other)
			app = noted_app(other, task, NULL);
	}
	return app;
}

/* The application: that of the task's last sample, unless it has become another since. */
static u32 app_of(struct opk_cpu *cpu, const struct opk_raw *raw)
{
	const struct opk_task *task = &raw->task;
	const void *exe;
	u32 app;

	if (!raw->process)
		return 0;
	if (!raw->mm)
		return last_app(cpu, task);
	exe = rcu_access_pointer(raw->mm->exe_file);
	app = exe ? noted_app(cpu, task, exe) : 0;
	if (!app) {
		app = opk_image_of_exe(raw->mm, user_of(raw));
		note_app(cpu, task, exe, app);
	}
	return app;
}

static void take(struct opk_cpu *cpu, struct opk_scratch *s, struct pt_regs *regs,
		 unsigned int counter, const struct opk_ext *ext)
{
	unsigned int depth = opk_settings.backtrace_depth;
	struct opk_raw *raw = &s->raw;

	raw->pc = instruction_pointer(regs);
	raw->kernel = !user_mode(regs);
	raw->counter = counter;
	raw->nr_kernel = 0;
	raw->nr_user = 0;
	raw->chain_flags = 0;
	raw->ext.nr_regs = 0;
	if (raw->pc == OPK_ESCAPE) {
		opk_count(OPK_LOST_BAD_PC);
		return;
	}
	if (ext)
		raw->ext = *ext;
	opk_take_task(&raw->task);
	raw->process = !(current->flags & PF_KTHREAD);
	raw->mm = raw->process ? current->mm : NULL;
	raw->user = INVALID_UID;
	raw->task.app = app_of(cpu, raw);
	if (depth)
		take_chain(s, regs, depth);
	raw->stack = OPK_STACK_NONE;
	if (opk_settings.user_stack)
		opk_stack_want(raw, regs);
	attribute(cpu, s, in_nmi());
}

/* True for the idle task itself, not for an interrupt of it. */
static bool is_idle(struct pt_regs *regs)
{
	return is_idle_task(current) && !user_mode(regs) && !in_serving_softirq() &&
	       hardirq_count() <= HARDIRQ_OFFSET;
}

u64 opk_sample(struct pt_regs *regs, unsigned int counter, const struct opk_ext *ext)
{
	bool nmi = in_nmi();
	struct opk_scratch *s;
	struct opk_cpu *cpu;
	u64 begin, spent;

	if (!READ_ONCE(opk_running) || (!nmi && !in_hardirq()))
		return 0;
	cpu = this_cpu_read(opk_cpu);
	if (!cpu)
		return 0;
	if (is_idle(regs)) {
		opk_count(OPK_STAT_IDLE);
		return 0;
	}
	begin = ktime_get_mono_fast_ns();
	if (!opk_guard_lets(&cpu->guard, begin))
		return begin;
	opk_count(OPK_STAT_RECEIVED);
	s = cpu->scratch[nmi];
	if (s->busy) {
		opk_count(OPK_LOST_NESTED);
		return begin;
	}
	s->busy = true;
	barrier();
	take(cpu, s, regs, counter, ext);
	barrier();
	s->busy = false;
	spent = opk_guard_spent(&cpu->guard, begin);
	opk_stats_delay(spent);
	return begin + spent;
}

void opk_add_sample(struct pt_regs *regs, unsigned int counter, const struct opk_ext *ext)
{
	opk_sample(regs, counter, ext);
}
EXPORT_SYMBOL_GPL(opk_add_sample);

void opk_add_missed(struct pt_regs *regs, unsigned long n)
{
	if (!READ_ONCE(opk_running) || !this_cpu_read(opk_cpu))
		return;
	if (is_idle(regs)) {
		opk_count_many(OPK_STAT_IDLE, n);
		return;
	}
	opk_count_many(OPK_LOST_MISSED, n);
}
EXPORT_SYMBOL_GPL(opk_add_missed);
