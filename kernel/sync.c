// SPDX-License-Identifier: GPL-2.0-or-later
#include "sync.h"

#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "control.h"
#include "cpu_buffer.h"
#include "defer.h"
#include "event_buffer.h"
#include "guard.h"
#include "image_record.h"
#include "images.h"
#include "stats.h"

enum { TICK = HZ / 4, SOON = HZ / 200 + 1 };

static struct workqueue_struct *queue;
static struct delayed_work work;
static bool ticking;
static unsigned long last_tick; /* in jiffies */

static DEFINE_MUTEX(sync_mutex);
/* All under sync_mutex. */
static u64 words[OPK_REC_MAX_WORDS];
static u64 image_words[OPK_IMAGE_WORDS];

/*
 * Tells what a cookie is, unless that was told.  0; -ENOENT: it cannot be told; -ENOSPC:
 * the event buffer has no room.
 */
static int tell_image(u32 cookie)
{
	int len = cookie ? opk_image_tell(cookie, image_words) : 0;

	if (len <= 0)
		return len;
	if (!opk_event_image(image_words, len))
		return -ENOSPC;
	opk_image_told(cookie);
	return 0;
}

/* Tells the images of the ranges that come with a stack.  False: it cannot be told. */
static bool tell_ranges(const u64 *stack)
{
	const u64 *range = stack + OPK_STACK_HEAD_WORDS + (u32)stack[5] / sizeof(u64);
	unsigned int nr = stack[5] >> 32;

	for (; nr; nr--, range += OPK_RANGE_WORDS) {
		if (tell_image(range[2]))
			return false;
	}
	return true;
}

/* Tells the images of all places of a record.  0, or the enum opk_lost. */
static unsigned int tell_places(u64 *sample)
{
	const u64 *record = sample;
	unsigned int places = opk_rec_places(*record), i;
	u64 head = *record++;
	struct opk_place place;
	int rc;

	if (head & OPK_REC_EXT)
		record += 1 + (*record >> 32 & 0xffff);
	for (i = 0; i < places; i++) {
		record += opk_place_unpack(&place, record);
		rc = place.kind == OPK_PLACE_FILE ? tell_image(place.cookie) : 0;
		if (rc)
			return rc == -ENOSPC ? OPK_LOST_EVENT_OVERFLOW
					     : OPK_LOST_NO_IMAGE;
	}
	if (head & OPK_REC_STACK && !tell_ranges(record)) {
		sample[0] = opk_rec_no_stack(head);
		opk_count(OPK_STAT_STACK_NO_ROOM);
	}
	return 0;
}

/* Tells all images that a sample names.  0, or the enum opk_lost. */
static unsigned int tell_images(struct opk_task *task)
{
	unsigned int lost = tell_places(words);
	int rc;

	if (lost)
		return lost;
	rc = tell_image(task->app);
	if (rc == -ENOSPC)
		return OPK_LOST_EVENT_OVERFLOW;
	if (rc) {
		opk_count(OPK_STAT_NO_APP);
		task->app = 0;
	}
	return 0;
}

/* False: it was lost, or its application. */
static bool put(struct opk_cpu *cpu)
{
	struct opk_task task = cpu->read_task;
	unsigned int lost = *words & OPK_REC_EXIT ? 0 : tell_images(&task);

	if (lost)
		opk_count(lost);
	else
		opk_event_put(cpu->cpu, &task, words);
	return !lost && task.app == cpu->read_task.app;
}

/* Puts what comes after a record that was put, for as long as it is like that one. */
static unsigned int put_more(struct opk_cpu *cpu)
{
	unsigned int len, n = 0;

	opk_event_hold();
	do
		len = opk_cpu_read(cpu, words);
	while (len && n++ < 64 && opk_event_put_again(words));
	opk_event_let_go();
	return len;
}

static void drain(struct opk_cpu *cpu)
{
	unsigned int len = opk_cpu_read(cpu, words);

	while (len) {
		if (*words & OPK_REC_TASK)
			opk_task_unpack(&cpu->read_task, words + len - OPK_TASK_WORDS);
		len = put(cpu) ? put_more(cpu) : opk_cpu_read(cpu, words);
		cond_resched();
	}
}

/* @ticked: a quarter of a second has passed. */
static void sync(bool ticked)
{
	struct opk_cpu *cpu;
	unsigned int nr;

	mutex_lock(&sync_mutex);
	opk_works_bury();
	if (ticked)
		opk_images_tick();
	opk_images_before();
	opk_event_time(ktime_get_ns());
	for_each_possible_cpu(nr) {
		cpu = per_cpu(opk_cpu, nr);
		if (cpu)
			drain(cpu);
	}
	opk_images_after(opk_event_gone);
	mutex_unlock(&sync_mutex);
	opk_event_wake(false);
}

static void sync_asked(struct work_struct *unused)
{
	sync(false);
}

static DECLARE_WORK(asked, sync_asked);

void opk_sync(void)
{
	queue_work(queue, &asked);
	flush_work(&asked);
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
	bool due = time_after_eq(jiffies, last_tick + TICK);

	if (due) {
		last_tick = jiffies;
		opk_guard_refresh();
		opk_control_check();
	}
	sync(due);
	/* Files that are still to be told keep their file systems busy. */
	if (READ_ONCE(ticking))
		queue_delayed_work(queue, &work, opk_images_hold() ? SOON : TICK);
}

void opk_sync_soon(void)
{
	if (READ_ONCE(ticking))
		mod_delayed_work(queue, &work, 0);
}

void opk_sync_begin(void)
{
	last_tick = jiffies;
	WRITE_ONCE(ticking, true);
	queue_delayed_work(queue, &work, TICK);
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
