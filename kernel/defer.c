// SPDX-License-Identifier: GPL-2.0-or-later
#include "defer.h"

#include <asm/irq_regs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smpboot.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "cpu_buffer.h"
#include "guard.h"
#include "images.h"
#include "resolve.h"
#include "shares.h"
#include "stats.h"
#include "sync.h"
#include "user_stack.h"

/* How long a sample may wait for the lock, and how often it is tried. */
enum { NR_WORKS = 128, PATIENCE_NS = 10 * NSEC_PER_MSEC, NAP_US = 50 };

struct opk_work {
	struct llist_node node;
	atomic_t used;
	u64 since_ns;       /* when it was queued */
	bool tried, in_use; /* by the thread; in_use: it is a user of the address space */
	/* What was sampled, NULL: it has gone on; and how often it had lost its CPU. */
	struct task_struct *task;
	unsigned long switches;
	struct opk_raw raw; /* holds its mm; last: no frames beyond the depth */
};

/* Works whose address space was left to us alone, for the synchroniser to end. */
static LLIST_HEAD(graveyard);
static DEFINE_PER_CPU(struct task_struct *, thread);

static void work_free(struct opk_work *work)
{
	mmdrop(work->raw.mm);
	if (work->task)
		put_task_struct(work->task);
	atomic_set_release(&work->used, 0);
}

static struct opk_work *get_work(struct opk_cpu *cpu, const struct opk_raw *raw)
{
	struct opk_work *work;
	unsigned int i;

	for (i = 0; i < cpu->nr_works; i++) {
		work = cpu->works[cpu->next_work++ % cpu->nr_works];
		if (!atomic_cmpxchg_acquire(&work->used, 0, 1))
			goto found;
	}
	return NULL;
found:
	work->since_ns = ktime_get_mono_fast_ns();
	work->tried = false;
	work->in_use = false;
	work->task = NULL;
	memcpy(&work->raw, raw,
	       offsetof(struct opk_raw, frames) +
		       (raw->nr_kernel + raw->nr_user) * sizeof(raw->frames[0]));
	work->raw.user = opk_share_user();
	mmgrab(work->raw.mm);
	return work;
}

static unsigned long switches_of(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/* @there: current is what was sampled, and has not gone on yet. */
static void hand_to_thread(struct opk_cpu *cpu, struct opk_work *work, bool there)
{
	struct task_struct *task = this_cpu_read(thread);

	if (there) {
		work->task = get_task_struct(current);
		work->switches = switches_of(current);
	}
	if (llist_add(&work->node, &cpu->waiting) && task)
		wake_up_process(task);
}

int opk_defer(struct opk_cpu *cpu, const struct opk_raw *raw, bool nmi)
{
	struct opk_work *work = get_work(cpu, raw);

	if (!work)
		return OPK_LOST_NO_WORK;
	if (!nmi) {
		hand_to_thread(cpu, work, true);
		return 0;
	}
	llist_add(&work->node, &cpu->from_nmi);
	irq_work_queue(&cpu->resolve);
	return 0;
}

/*
 * True if the task has not run user code since the NMI: if this interrupt came at once,
 * the task still is where the NMI found it.
 */
static bool still_there(const struct opk_raw *raw)
{
	struct pt_regs *regs = get_irq_regs();

	return raw->task.tid == current->pid &&
	       raw->task.start_ns == current->start_time &&
	       (raw->kernel || (regs && user_mode(regs)));
}

/* A reference to an address space must not be the last one that an interrupt drops. */
static void end_in_irq(struct opk_work *work)
{
	if (work->raw.mm == current->mm) {
		work_free(work);
		return;
	}
	llist_add(&work->node, &graveyard);
	opk_sync_soon();
}

static void after_nmi(struct opk_cpu *cpu, struct opk_work *work, u64 *words)
{
	bool there = still_there(&work->raw);

	if (!there || !opk_stack_is_there(&work->raw))
		opk_stack_refuse(&work->raw, OPK_STAT_STACK_STALE);
	if (!there || !opk_store_now(cpu, &work->raw, words, true)) {
		if (!work->raw.kernel) {
			hand_to_thread(cpu, work, there);
			return;
		}
		/* A task in the kernel may change its address space just now. */
		opk_store_unresolved(cpu, &work->raw, words);
	}
	end_in_irq(work);
}

void opk_works_resolve(struct irq_work *irq_work)
{
	struct opk_cpu *cpu = container_of(irq_work, struct opk_cpu, resolve);
	struct llist_node *list = llist_reverse_order(llist_del_all(&cpu->from_nmi));
	struct opk_scratch *s = cpu->scratch[0];
	u64 begin = ktime_get_mono_fast_ns();
	struct opk_work *work, *next;

	llist_for_each_entry_safe(work, next, list, node)
		after_nmi(cpu, work, s->words);
	opk_stats_delay(opk_guard_spent(&cpu->guard, begin));
}

/*
 * Ends a work in its thread.  If the use of its address space turns out to be the last
 * one, the process has exited meanwhile, and what is left to do takes too long for here.
 */
static void work_end(struct opk_work *work)
{
	if (work->in_use && !atomic_add_unless(&work->raw.mm->mm_users, -1, 1)) {
		llist_add(&work->node, &graveyard);
		opk_sync_soon();
		return;
	}
	work_free(work);
}

/*
 * Has the sampled thread done anything since?  It lost its CPU to ours, but another may
 * take it over; and it keeps its CPU if it is of the highest priority itself.
 */
static bool went_on(const struct opk_cpu *cpu, const struct opk_work *work)
{
	return !work->task || task_cpu(work->task) != cpu->cpu ||
	       switches_of(work->task) != work->switches + 1;
}

/* Tries the lock once.  The number of words, or a negative enum opk_lost. */
static int resolve_once(struct opk_cpu *cpu, struct opk_work *work)
{
	struct opk_raw *raw = &work->raw;
	u64 *words = cpu->thread_words;
	int len;

	if (!work->in_use)
		return -OPK_LOST_EXITED;
	if (!mmap_read_trylock(raw->mm))
		return -OPK_LOST_BUSY;
	/* A machine that stood still may have let the application's image go. */
	if (raw->task.app && !opk_image_again(raw->task.app))
		raw->task.app = 0;
	len = opk_resolve(cpu, raw, OPK_BY_MAPPING, words);
	mmap_read_unlock(raw->mm);
	/* Two of its users are the sampled thread and this one. */
	if (len > 0 &&
	    (work->tried || atomic_read(&raw->mm->mm_users) > 2 || went_on(cpu, work)))
		words[0] |= OPK_REC_LATE;
	return len;
}

/*
 * The same, with the stack if that is wanted: this thread then uses the address space,
 * and looks afterwards whether the sampled one may have touched the stack meanwhile.
 */
static int resolve_with_stack(struct opk_cpu *cpu, struct opk_work *work)
{
	struct opk_raw *raw = &work->raw;
	u64 *words = cpu->thread_words;
	int len;

	if (!work->in_use || raw->stack != OPK_STACK_WANTED)
		return resolve_once(cpu, work);
	kthread_use_mm(raw->mm);
	len = resolve_once(cpu, work);
	kthread_unuse_mm(raw->mm);
	smp_rmb(); /* whoever wrote to the stack had got a CPU before */
	if (len > 0 && words[0] & OPK_REC_STACK && went_on(cpu, work)) {
		raw->no_stack = OPK_STAT_STACK_STALE;
		words[0] = opk_rec_no_stack(words[0]);
		len = raw->stack_at;
	}
	/* There is no second attempt: the thread goes on. */
	raw->stack = OPK_STACK_REFUSED;
	return len;
}

/* In the thread of this CPU.  false: the sample has to wait. */
static bool finish(struct opk_cpu *cpu, struct opk_work *work)
{
	u64 begin = ktime_get_mono_fast_ns();
	bool waits;
	int len;

	if (!work->in_use)
		work->in_use = mmget_not_zero(work->raw.mm);
	/* Until the record is written, what it names stays in the table of images. */
	rcu_read_lock();
	len = resolve_with_stack(cpu, work);
	waits = len == -OPK_LOST_BUSY && begin - work->since_ns < PATIENCE_NS;
	/* As if in an interrupt: nothing but NMIs writes to this CPU's buffer. */
	local_irq_disable();
	if (!waits)
		opk_store(cpu, &work->raw, cpu->thread_words, len,
			  OPK_STAT_RESOLVED_THREAD);
	opk_guard_spent(&cpu->guard, begin);
	local_irq_enable();
	rcu_read_unlock();
	/* The sampled thread goes on after the first attempt, whatever came of it. */
	if (!work->tried)
		opk_stats_delay(ktime_get_mono_fast_ns() - work->since_ns);
	work->tried = true;
	if (!waits)
		work_end(work);
	return !waits;
}

/* Tries each of a list, and returns those that have to wait, with @others behind. */
static struct llist_node *finish_each(struct opk_cpu *cpu, struct llist_node *list,
				      struct llist_node *others)
{
	struct llist_node *waiting = others;
	struct opk_work *work, *next;

	llist_for_each_entry_safe(work, next, list, node) {
		if (finish(cpu, work))
			continue;
		work->node.next = waiting;
		waiting = &work->node;
	}
	return waiting;
}

/* Waits for new samples, but not for long. */
static void nap(struct opk_cpu *cpu)
{
	ktime_t time = NAP_US * NSEC_PER_USEC;

	set_current_state(TASK_IDLE);
	if (llist_empty(&cpu->waiting))
		schedule_hrtimeout(&time, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
}

static int has_work(unsigned int nr)
{
	struct opk_cpu *cpu = per_cpu(opk_cpu, nr);

	return cpu && !llist_empty(&cpu->waiting);
}

static void do_work(unsigned int nr)
{
	struct opk_cpu *cpu = per_cpu(opk_cpu, nr);
	struct llist_node *waiting = NULL, *new;

	for (;;) {
		new = llist_reverse_order(llist_del_all(&cpu->waiting));
		new = finish_each(cpu, new, NULL);
		waiting = finish_each(cpu, waiting, new);
		if (!waiting)
			break;
		nap(cpu);
	}
}

/* No sampled thread may go on before, be it of a real-time priority. */
static void be_first(unsigned int nr)
{
	opk_run_first();
}

static struct smp_hotplug_thread threads = {
	.store = &thread,
	.thread_should_run = has_work,
	.thread_fn = do_work,
	.setup = be_first,
	.thread_comm = "opfs/%u",
};

void opk_works_bury(void)
{
	struct opk_work *work, *next;

	llist_for_each_entry_safe(work, next, llist_del_all(&graveyard), node) {
		if (work->in_use)
			mmput(work->raw.mm);
		work_free(work);
	}
}

int opk_works_begin(void)
{
	return smpboot_register_percpu_thread(&threads);
}

/* Those that came to a CPU which was then taken away, with its thread. */
static void abandon(struct llist_head *list)
{
	struct opk_work *work, *next;

	llist_for_each_entry_safe(work, next, llist_del_all(list), node) {
		opk_count(OPK_LOST_STOPPED);
		llist_add(&work->node, &graveyard);
	}
}

void opk_works_end(void)
{
	struct opk_cpu *cpu;
	unsigned int nr;

	for_each_possible_cpu(nr) {
		cpu = per_cpu(opk_cpu, nr);
		if (!cpu)
			continue;
		irq_work_sync(&cpu->resolve);
		irq_work_sync(&cpu->kick);
	}
	smpboot_unregister_percpu_thread(&threads);
	for_each_possible_cpu(nr) {
		cpu = per_cpu(opk_cpu, nr);
		if (!cpu)
			continue;
		abandon(&cpu->waiting);
		abandon(&cpu->from_nmi);
	}
	opk_works_bury();
}

int opk_works_alloc(struct opk_cpu *cpu, unsigned int depth)
{
	size_t size =
		offsetof(struct opk_work, raw.frames) + depth * sizeof(unsigned long);
	unsigned int i;

	cpu->works = kcalloc(NR_WORKS, sizeof(*cpu->works), GFP_KERNEL);
	if (!cpu->works)
		return -ENOMEM;
	for (i = 0; i < NR_WORKS; i++) {
		cpu->works[i] = kzalloc(size, GFP_KERNEL);
		if (!cpu->works[i])
			return -ENOMEM;
		cpu->nr_works = i + 1;
	}
	return 0;
}

void opk_works_free(struct opk_cpu *cpu)
{
	unsigned int i;

	for (i = 0; i < cpu->nr_works; i++)
		kfree(cpu->works[i]);
	kfree(cpu->works);
}
