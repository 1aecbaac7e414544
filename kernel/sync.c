// SPDX-License-Identifier: GPL-2.0-or-later
#include "sync.h"

#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "cpu_buffer.h"
#include "defer.h"
#include "event_buffer.h"
#include "guard.h"
#include "images.h"

static struct workqueue_struct *queue;
static struct delayed_work work;
static bool ticking;

static DEFINE_MUTEX(sync_mutex);
static u64 words[OPK_REC_WORDS]; /* under sync_mutex */

/* All cookies of a record must be defined before it is written. */
static bool cookies_defined(const u64 *record, const struct opk_task *task)
{
	unsigned int places = opk_rec_places(*record), i;
	u64 head = *record++;
	struct opk_place place;

	if (!opk_image_defined(task->app))
		return false;
	if (head & OPK_REC_EXT)
		record += 1 + (*record >> 32 & 0xffff);
	for (i = 0; i < places; i++) {
		record += opk_place_unpack(&place, record);
		if (place.kind == OPK_PLACE_FILE && !opk_image_defined(place.cookie))
			return false;
	}
	return true;
}

static void drain(struct opk_cpu *cpu)
{
	unsigned int len, n = 0;

	while ((len = opk_cpu_read(cpu, words))) {
		if (*words & OPK_REC_TASK)
			opk_task_unpack(&cpu->read_task, words + len - OPK_TASK_WORDS);
		if (!cookies_defined(words, &cpu->read_task))
			opk_images_define();
		opk_event_put(cpu->cpu, &cpu->read_task, words);
		if (!(++n % 64))
			cond_resched();
	}
}

void opk_sync(void)
{
	unsigned int nr;

	mutex_lock(&sync_mutex);
	opk_works_bury();
	opk_images_define();
	opk_event_time(ktime_get_ns());
	for_each_possible_cpu(nr) {
		struct opk_cpu *cpu = per_cpu(opk_cpu, nr);

		if (cpu)
			drain(cpu);
	}
	mutex_unlock(&sync_mutex);
	opk_event_wake(false);
}

void opk_sync_block(void)
{
	mutex_lock(&sync_mutex);
}

void opk_sync_unblock(void)
{
	mutex_unlock(&sync_mutex);
}

static void tick(struct work_struct *unused)
{
	opk_sync();
	opk_guard_refresh();
	if (READ_ONCE(ticking))
		queue_delayed_work(queue, &work, HZ / 4);
}

void opk_sync_soon(void)
{
	if (READ_ONCE(ticking))
		mod_delayed_work(queue, &work, 0);
}

void opk_sync_begin(void)
{
	WRITE_ONCE(ticking, true);
	queue_delayed_work(queue, &work, HZ / 4);
}

void opk_sync_end(void)
{
	WRITE_ONCE(ticking, false);
	cancel_delayed_work_sync(&work);
	opk_sync();
}

int opk_sync_init(void)
{
	INIT_DELAYED_WORK(&work, tick);
	queue = alloc_workqueue("opfs_sampler", WQ_UNBOUND, 1);
	return queue ? 0 : -ENOMEM;
}

void opk_sync_exit(void)
{
	destroy_workqueue(queue);
}
