// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "defer.h"

#include <asm/irq_regs.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>

#include "cpu_buffer.h"
#include "event_buffer.h"
#include "guard.h"
#include "images.h"
#include "resolve.h"
#include "stats.h"
#include "sync.h"

enum { NR_WORKS = 128, WAIT_MS = 1000 };

enum {
	WORK_FREE,
	WORK_QUEUED,    /* its sample is not accounted for yet */
	WORK_FINISHING, /* being stored or counted */
	WORK_ABANDONED, /* counted as lost at the end of the run */
};

struct opk_work {
	struct callback_head task_work;
	struct llist_node node;
	atomic_t state;
	struct opk_cpu *cpu;
	struct task_struct *task; /* a reference */
	struct opk_raw raw;       /* last: frames beyond the depth are not there */
};

static unsigned int test_delay_ms;
module_param(test_delay_ms, uint, 0400);
MODULE_PARM_DESC(test_delay_ms,
		 "For tests: how long the last instructions of a task's work take");

static unsigned int test_hold_ms;
module_param(test_hold_ms, uint, 0400);
MODULE_PARM_DESC(test_hold_ms,
		 "For tests: how long a task's work waits before it begins");

/* True once any task was given a work since the module was loaded. */
static bool works_used;

/* The number of works in use, plus one during a run. */
static atomic_t outstanding;
/* Works that hold a task whose reference an interrupt may not drop. */
static LLIST_HEAD(graveyard);

/*
 * The last step of every work.  Ending the last work releases the run's hold on the
 * module; the module's exit waits until this function has returned.
 */
static void work_free(struct opk_work *work)
{
	atomic_set_release(&work->state, WORK_FREE);
	if (atomic_dec_and_test(&outstanding))
		module_put(THIS_MODULE);
}

static bool claim(struct opk_work *work)
{
	return atomic_cmpxchg(&work->state, WORK_QUEUED, WORK_FINISHING) == WORK_QUEUED;
}

/* Counts the sample as lost, unless the end of the run has done so. */
static void lose(struct opk_work *work, unsigned int reason)
{
	if (claim(work))
		opk_count(reason);
}

/* Runs in the sampled task before it returns to user code: it may sleep. */
static void run_in_task(struct callback_head *head)
{
	struct opk_work *work = container_of(head, struct opk_work, task_work);
	struct opk_raw *raw = &work->raw;
	struct mm_struct *mm = current->mm;
	u64 begin = ktime_get_ns();
	u64 *words = NULL;
	bool late;
	int len = -OPK_LOST_EXITED;

	if (unlikely(test_hold_ms))
		msleep(test_hold_ms);
	if (atomic_read(&work->state) != WORK_QUEUED)
		goto out;
	words = kmalloc_array(OPK_REC_WORDS, sizeof(u64), GFP_KERNEL | __GFP_NOWARN);
	if (!words) {
		lose(work, OPK_LOST_NO_WORK);
		goto out;
	}
	late = mm && atomic_read(&mm->mm_users) > 1;
	if (mm && mm == raw->mm && (u32)current->self_exec_id == raw->task.exec) {
		if (!mmap_read_trylock(mm))
			mmap_read_lock(mm);
		if (!raw->task.app)
			raw->task.app = opk_image_of_exe(mm);
		len = opk_resolve(raw, mm, words);
		mmap_read_unlock(mm);
	}
	if (len < 0) {
		lose(work, -len);
		goto out;
	}
	opk_images_define();
	if (claim(work)) {
		if (late) {
			words[0] |= OPK_REC_LATE;
			opk_count(OPK_STAT_RESOLVED_LATE);
		}
		opk_count(OPK_STAT_RESOLVED_TASK);
		opk_event_put(work->cpu->cpu, &raw->task, words);
	}
out:
	kfree(words);
	put_task_struct(current);
	opk_stats_delay(ktime_get_ns() - begin);
	work_free(work);
	/* From here on the module may be exiting. */
	if (unlikely(test_delay_ms))
		mdelay(test_delay_ms);
}

static struct opk_work *get_work(struct opk_cpu *cpu, const struct opk_raw *raw)
{
	struct opk_work *work;
	unsigned int i;

	for (i = 0; i < cpu->nr_works; i++) {
		work = cpu->works[cpu->next_work++ % cpu->nr_works];
		if (atomic_cmpxchg_acquire(&work->state, WORK_FREE, WORK_QUEUED) ==
		    WORK_FREE)
			goto found;
	}
	return NULL;
found:
	atomic_inc(&outstanding);
	work->cpu = cpu;
	get_task_struct(current);
	work->task = current;
	memcpy(&work->raw, raw,
	       offsetof(struct opk_raw, frames) +
		       (raw->nr_kernel + raw->nr_user) * sizeof(raw->frames[0]));
	return work;
}

/* 0, or OPK_LOST_EXITED: the task will not run user code again. */
static int queue(struct opk_work *work)
{
	WRITE_ONCE(works_used, true);
	init_task_work(&work->task_work, run_in_task);
	return task_work_add(work->task, &work->task_work, TWA_RESUME) ? OPK_LOST_EXITED
								       : 0;
}

int opk_defer(struct opk_cpu *cpu, const struct opk_raw *raw, bool nmi)
{
	struct opk_work *work = get_work(cpu, raw);
	int lost;

	if (!work)
		return OPK_LOST_NO_WORK;
	if (nmi) {
		llist_add(&work->node, &cpu->from_nmi);
		irq_work_queue(&cpu->resolve);
		return 0;
	}
	lost = queue(work);
	if (lost) {
		/* It is current, and running: this reference is not the last. */
		put_task_struct(current);
		work_free(work);
	}
	return lost;
}

/* Ends a work whose task may no longer exist. */
static void end_in_irq(struct opk_work *work)
{
	if (work->task == current) {
		put_task_struct(current);
		work_free(work);
		return;
	}
	llist_add(&work->node, &graveyard);
	opk_sync_soon();
}

/*
 * True if the task has not run user code since the NMI: if this interrupt came at once,
 * the task still is where the NMI found it.
 */
static bool still_there(const struct opk_work *work)
{
	struct pt_regs *regs = get_irq_regs();

	return work->task == current && (work->raw.kernel || (regs && user_mode(regs)));
}

static void after_nmi(struct opk_cpu *cpu, struct opk_work *work, u64 *words)
{
	if (still_there(work) && opk_store_now(cpu, &work->raw, words)) {
		claim(work);
		end_in_irq(work);
		return;
	}
	if (work->raw.kernel) {
		/* A task in the kernel may stay there for hours. */
		opk_store_unresolved(cpu, &work->raw, words);
		claim(work);
		end_in_irq(work);
		return;
	}
	if (queue(work)) {
		lose(work, OPK_LOST_EXITED);
		end_in_irq(work);
	}
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
	opk_guard_spent(&cpu->guard, begin);
}

void opk_works_bury(void)
{
	struct opk_work *work, *next;

	llist_for_each_entry_safe(work, next, llist_del_all(&graveyard), node) {
		put_task_struct(work->task);
		work_free(work);
	}
}

int opk_works_begin(void)
{
	int left = atomic_cmpxchg(&outstanding, 0, 1);

	if (!left)
		return 0;
	pr_info("%d threads that were sampled have not run since: try again later\n",
		left);
	return -EBUSY;
}

/* Counts works that were never run; true if none of them is being finished right now. */
static bool abandon(struct opk_cpu *cpu)
{
	unsigned int i;
	bool quiet = true;

	for (i = 0; i < cpu->nr_works; i++) {
		atomic_t *state = &cpu->works[i]->state;

		if (atomic_cmpxchg(state, WORK_QUEUED, WORK_ABANDONED) == WORK_QUEUED)
			opk_count(OPK_LOST_STOPPED);
		else if (atomic_read(state) == WORK_FINISHING)
			quiet = false;
	}
	return quiet;
}

void opk_works_end(void)
{
	unsigned int nr, ms;
	bool quiet;

	for_each_possible_cpu(nr) {
		struct opk_cpu *cpu = per_cpu(opk_cpu, nr);

		if (cpu) {
			irq_work_sync(&cpu->resolve);
			irq_work_sync(&cpu->kick);
		}
	}
	for (ms = 0; ms < WAIT_MS && atomic_read(&outstanding) > 1; ms++) {
		opk_works_bury();
		usleep_range(1000, 2000);
	}
	do {
		quiet = true;
		opk_works_bury();
		for_each_possible_cpu(nr) {
			if (per_cpu(opk_cpu, nr) && !abandon(per_cpu(opk_cpu, nr)))
				quiet = false;
		}
		if (!quiet)
			usleep_range(1000, 2000);
	} while (!quiet);
	opk_works_bury();
	/* From now on the works that are left keep the module, instead of the run. */
	__module_get(THIS_MODULE);
	if (atomic_dec_and_test(&outstanding))
		module_put(THIS_MODULE);
}

void opk_works_exit(void)
{
	if (works_used)
		synchronize_rcu_tasks();
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
