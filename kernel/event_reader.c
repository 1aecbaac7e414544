// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reading side of the event buffer.  Records that a full buffer must not lose - the
 * first and last of the stream, losses - are not in the ring: they are made here when
 * they are due, between records of the ring.
 *
 * What read() hands out is first copied out of the ring, and then given to the reader
 * without the mutex that starting and stopping need: its memory may be slow, or never
 * come.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "event_reader.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "control.h"
#include "event_buffer.h"
#include "oprofilefs.h"
#include "stats.h"
#include "uapi/opfs_buffer.h"

enum { MIN_READ = 8192, OUT_WORDS = 1 << 14, HELLO_WORDS = 256 };

enum phase {
	PHASE_IDLE,  /* no run has begun */
	PHASE_BEGUN, /* OPK_HELLO is due */
	PHASE_RUNNING,
	PHASE_ENDED, /* no more words come: the rest and OPK_BYE are due */
	PHASE_EOF,   /* the next read() returns 0 */
};

static DECLARE_WAIT_QUEUE_HEAD(wait);
static unsigned long opened;   /* bit 0 */
static bool attached;          /* a run may begin */
static int phase;              /* written under read_mutex */
static bool hello_told;        /* under read_mutex */
static u64 hello[HELLO_WORDS]; /* when the run began */
static unsigned int hello_words;
static bool wanted;                /* dump was written to */
static u64 lost_told[OPK_NR_LOST]; /* under read_mutex */

static DEFINE_MUTEX(reading); /* held by read(), outside of read_mutex */
/* Copied, and not handed out yet.  Filled with both mutexes held. */
static struct {
	u64 *words;              /* OUT_WORDS */
	unsigned int room;       /* of these, for this read() */
	unsigned int len, given; /* given: under reading */
} out;

static u64 unread(void)
{
	return READ_ONCE(opk_ring.head) - READ_ONCE(opk_ring.tail);
}

static bool left_over(void)
{
	return READ_ONCE(out.given) < READ_ONCE(out.len);
}

static bool ready(void)
{
	int now = READ_ONCE(phase);

	if (left_over())
		return true;
	if (now == PHASE_IDLE)
		return false;
	return now != PHASE_RUNNING || READ_ONCE(wanted) ||
	       unread() >= opk_settings.buffer_watershed;
}

void opk_event_wake(bool dump)
{
	if (dump)
		WRITE_ONCE(wanted, true);
	if (ready())
		wake_up_interruptible(&wait);
}

static void make_hello(void)
{
	u64 *words = hello;

	words[0] = OPK_ESCAPE;
	words[1] = OPK_HEAD(OPK_HELLO, 6, OPK_BUFFER_VERSION);
	words[2] = OPK_MAGIC;
	words[3] = ktime_get_ns();
	words[4] = ktime_get_real_ns();
	words[5] = num_possible_cpus();
	words[6] = opk_settings.backtrace_depth;
	words[7] = opk_control_timer_hz();
	hello_words = 8 + opk_control_tell_counters(words + 8, HELLO_WORDS - 8);
}

static unsigned int tell_lost(u64 *words)
{
	unsigned int n = 0, i;
	u64 total;

	for (i = 1; i < OPK_NR_LOST; i++) {
		total = opk_stats_total(i);
		if (total == lost_told[i])
			continue;
		words[n++] = OPK_ESCAPE;
		words[n++] = OPK_HEAD(OPK_LOST, 2, i);
		words[n++] = total - lost_told[i];
		words[n++] = total;
		lost_told[i] = total;
	}
	return n;
}

static unsigned int tell_bye(u64 *words)
{
	words[0] = OPK_ESCAPE;
	words[1] = OPK_HEAD(OPK_BYE, 3, 0);
	words[2] = opk_stats_total(OPK_STAT_RECEIVED) + opk_stats_total(OPK_LOST_MISSED);
	words[3] = opk_stats_total(OPK_STAT_THROTTLES);
	words[4] = opk_stats_total(OPK_STAT_BT_ABORTED);
	return 5;
}

static unsigned int room(void)
{
	return out.room - out.len;
}

static void give(const u64 *words, size_t n)
{
	memcpy(out.words + out.len, words, n * sizeof(*words));
	out.len += n;
}

static u64 record_words(u64 at)
{
	if (opk_ring.words[at & opk_ring.mask] != OPK_ESCAPE)
		return 2;
	return 2 + OPK_HEAD_LEN(opk_ring.words[(at + 1) & opk_ring.mask]);
}

/* Copies whole records, up to @head. */
static void give_records(u64 head)
{
	u64 tail = opk_ring.tail, end = tail, n, first;

	while (end != head) {
		n = record_words(end);
		/* One that is longer than any read() is given in pieces. */
		if (end == tail && !out.len && n > room())
			out.room = OUT_WORDS;
		if (end + n - tail > room())
			break;
		end += n;
	}
	n = end - tail;
	first = min(n, opk_ring.mask + 1 - (tail & opk_ring.mask));
	give(opk_ring.words + (tail & opk_ring.mask), first);
	give(opk_ring.words, n - first);
	/* Copied before writers may reuse the words. */
	smp_store_release(&opk_ring.tail, end);
}

/* Copies the records that there are, as far as there is room. */
static void give_all(void)
{
	int now = phase;
	u64 head;

	if (!hello_told) {
		give(hello, hello_words);
		hello_told = true;
		if (phase == PHASE_BEGUN)
			phase = PHASE_RUNNING;
	}
	head = smp_load_acquire(&opk_ring.head);
	if (room() < 4 * OPK_NR_LOST)
		return;
	out.len += tell_lost(out.words + out.len);
	give_records(head);
	if (opk_ring.tail != head)
		return;
	WRITE_ONCE(wanted, false);
	if (now != PHASE_ENDED || room() < 5)
		return;
	out.len += tell_bye(out.words + out.len);
	WRITE_ONCE(phase, PHASE_EOF);
}

static bool readable(const struct file *file)
{
	return ready() || (file->f_flags & O_NONBLOCK && unread());
}

/* Waits for words, and copies them.  1, 0 at the end of a run, or -errno. */
static int fill(const struct file *file, size_t words)
{
	int rc;

	while (!left_over()) {
		if (!readable(file)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			rc = wait_event_interruptible(wait, ready());
			if (rc)
				return rc;
		}
		rc = mutex_lock_interruptible(&opk_ring.read_mutex);
		if (rc)
			return rc;
		out.given = 0;
		out.len = 0;
		out.room = min_t(size_t, words, OUT_WORDS);
		rc = phase == PHASE_EOF;
		if (rc)
			WRITE_ONCE(phase, PHASE_IDLE);
		else if (phase != PHASE_IDLE)
			give_all();
		mutex_unlock(&opk_ring.read_mutex);
		if (rc)
			return 0;
		if (file->f_flags & O_NONBLOCK && !left_over())
			return -EAGAIN;
	}
	return 1;
}

static ssize_t event_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	size_t words = count / sizeof(u64);
	ssize_t rc;

	if (count < MIN_READ) {
		pr_info_once("buffer: read at least %d bytes at once\n", MIN_READ);
		return -EINVAL;
	}
	rc = mutex_lock_interruptible(&reading);
	if (rc)
		return rc;
	rc = fill(file, words);
	if (rc <= 0)
		goto out;
	words = min_t(size_t, words, out.len - out.given);
	rc = words * sizeof(u64);
	if (copy_to_user(buf, out.words + out.given, rc))
		rc = -EFAULT;
	else
		WRITE_ONCE(out.given, out.given + words);
out:
	mutex_unlock(&reading);
	return rc;
}

static __poll_t event_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &wait, table);
	return ready() ? EPOLLIN | EPOLLRDNORM : 0;
}

static int event_open(struct inode *inode, struct file *file)
{
	int rc = opk_permitted();

	if (rc)
		return rc;
	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != FMODE_READ)
		return -EACCES;
	if (test_and_set_bit_lock(0, &opened))
		return -EBUSY;
	out.len = 0;
	out.given = 0;
	out.words = kvcalloc(OUT_WORDS, sizeof(u64), GFP_KERNEL);
	if (!out.words) {
		clear_bit_unlock(0, &opened);
		return -ENOMEM;
	}
	attached = true;
	return stream_open(inode, file);
}

static int event_release(struct inode *inode, struct file *file)
{
	attached = false;
	opk_control_stop();
	phase = PHASE_IDLE;
	opk_control_free();
	kvfree(out.words);
	out.words = NULL;
	clear_bit_unlock(0, &opened);
	return 0;
}

const struct file_operations opk_event_fops = {
	.owner = THIS_MODULE,
	.open = event_open,
	.read = event_read,
	.poll = event_poll,
	.release = event_release,
};

int opk_reader_begin(void)
{
	if (!attached) {
		pr_info("enable: open buffer for reading first\n");
		return -EINVAL;
	}
	if ((phase != PHASE_IDLE && phase != PHASE_EOF) || left_over()) {
		pr_info("enable: the last run's samples have not all been read yet\n");
		return -EBUSY;
	}
	make_hello();
	hello_told = false;
	wanted = false;
	memset(lost_told, 0, sizeof(lost_told));
	return 0;
}

static void set_phase(int to)
{
	mutex_lock(&opk_ring.read_mutex);
	WRITE_ONCE(phase, to);
	mutex_unlock(&opk_ring.read_mutex);
	wake_up_interruptible(&wait);
}

void opk_event_run(void)
{
	set_phase(PHASE_BEGUN);
}

void opk_event_end(void)
{
	set_phase(PHASE_ENDED);
}
