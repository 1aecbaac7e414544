// SPDX-License-Identifier: GPL-2.0-or-later
/* The writing side; event_reader.c has the reading side. */
#include "event_buffer.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "control.h"
#include "event_reader.h"
#include "image_record.h"
#include "stats.h"

struct opk_event_ring opk_ring = {
	.read_mutex = __MUTEX_INITIALIZER(opk_ring.read_mutex),
};

/* The context that the stream has established for the samples that follow. */
struct context {
	u32 cpu;
	bool cpu_known, mode_known, kernel, place_known, task_known;
	struct opk_place place;
	struct opk_task task;
	u64 time_ns;
};

static DEFINE_SPINLOCK(lock);
static struct context told; /* of the records in the ring; under lock */
static u64 now_ns;          /* under lock */
static bool module_missed;  /* a notice found no room; under lock */

/*
 * The place of the last record, but for the offset, if it had one only and a next one
 * that has the same needs nothing told before it; else NO_PLACE.  Under lock.
 */
static u64 last_place;
#define NO_PLACE U64_MAX

/* A sample with everything it may need: context, call chain, registers. */
enum { STAGE_WORDS = 64 + 3 + OPK_MAX_REGS + (1 + OPK_MAX_DEPTH) * 8 + 8 };
static_assert((int)OPK_IMAGE_WORDS <= (int)STAGE_WORDS);
/* Room that samples leave for notices, in words. */
enum { RESERVE_WORDS = 1024 };

static struct {
	u64 words[STAGE_WORDS];
	unsigned int len;
	/* A stack that goes in front of the last words, or NULL; its record's head. */
	const u64 *stack;
	u64 *end; /* the head of OPK_TRACE_END */
	struct context context;
} stage; /* under lock */

static void say(u64 word)
{
	stage.words[stage.len++] = word;
}

static void say_code(unsigned int code, unsigned int len, u32 arg)
{
	say(OPK_ESCAPE);
	say(OPK_HEAD(code, len, arg));
}

/* Is there room for so many words in the ring, and so many beside them? */
static bool has_room(unsigned int len, unsigned int reserve)
{
	/*
	 * Pairs with the reader's release: it has copied the words that are overwritten
	 * now.
	 */
	u64 tail = smp_load_acquire(&opk_ring.tail);

	return opk_ring.words &&
	       opk_ring.head + len + reserve - tail <= opk_ring.mask + 1;
}

/* Writes words that the reader does not see yet; returns where the next ones go. */
static u64 write_at(u64 at, const u64 *words, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		opk_ring.words[(at + i) & opk_ring.mask] = words[i];
	return at + len;
}

/* Has the reader see what was written: whole records. */
static void publish(u64 head)
{
	/* Pairs with the reader's acquire. */
	smp_store_release(&opk_ring.head, head);
}

static void append(const u64 *words, unsigned int len)
{
	publish(write_at(opk_ring.head, words, len));
}

/* Appends the staged words.  false: there was no room, and nothing was appended. */
static bool commit(unsigned int reserve)
{
	bool room = has_room(stage.len, reserve);

	if (room)
		append(stage.words, stage.len);
	return room;
}

/* Appends a sample.  Its stack is left out where it would take the room of samples. */
static bool commit_sample(void)
{
	unsigned int len = stage.stack ? OPK_HEAD_LEN(*stage.stack) : 0, before;
	u64 escape = OPK_ESCAPE, at = opk_ring.head;

	if (!len)
		return commit(RESERVE_WORDS);
	if (!has_room(stage.len + 2 + len, RESERVE_WORDS + (opk_ring.mask + 1) / 4)) {
		*stage.end |= OPK_HEAD(0, 0, OPK_TRACE_NO_STACK);
		opk_count(OPK_STAT_STACK_NO_ROOM);
		return commit(RESERVE_WORDS);
	}
	before = stage.end - 1 - stage.words;
	at = write_at(at, stage.words, before);
	at = write_at(at, &escape, 1);
	at = write_at(at, stage.stack, 1 + len);
	publish(write_at(at, stage.words + before, stage.len - before));
	opk_count(OPK_STAT_STACK_STORED);
	return true;
}

static void say_task(const struct opk_task *task)
{
	struct context *c = &stage.context;

	if (c->task_known && !memcmp(&c->task, task, sizeof(*task)))
		return;
	say_code(OPK_TASK, 7, task->tid);
	say(task->tgid);
	say(task->app);
	say(task->start_ns);
	say(task->exec);
	say(task->comm[0]);
	say(task->comm[1]);
	say(task->parent);
	c->task = *task;
	c->task_known = true;
}

static void say_mode(bool kernel)
{
	struct context *c = &stage.context;

	if (c->mode_known && c->kernel == kernel)
		return;
	say_code(kernel ? OPK_KERNEL : OPK_USER, 0, 0);
	c->kernel = kernel;
	c->mode_known = true;
}

static bool same_region(const struct opk_place *a, const struct opk_place *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == OPK_PLACE_FILE)
		return a->cookie == b->cookie;
	return a->first == b->first && a->last == b->last && a->anon == b->anon;
}

static void say_place(const struct opk_place *place)
{
	struct context *c = &stage.context;

	say_mode(place->kind == OPK_PLACE_KERNEL);
	if (place->kind == OPK_PLACE_KERNEL ||
	    (c->place_known && same_region(&c->place, place)))
		return;
	if (place->kind == OPK_PLACE_FILE) {
		say_code(OPK_COOKIE, 0, place->cookie);
	} else {
		say_code(OPK_ANON, 2, place->anon);
		say(place->first);
		say(place->last);
	}
	c->place = *place;
	c->place_known = true;
}

static void say_context(unsigned int cpu, const struct opk_task *task)
{
	struct context *c = &stage.context;

	if (c->time_ns != now_ns) {
		say_code(OPK_TIME, 1, 0);
		say(now_ns);
		c->time_ns = now_ns;
	}
	if (!c->cpu_known || c->cpu != cpu) {
		say_code(OPK_CPU, 0, cpu);
		c->cpu = cpu;
		c->cpu_known = true;
	}
	say_task(task);
}

static u64 event_of(u64 head)
{
	return opk_rec_counter(head) | (head & OPK_REC_LATE ? OPK_EVENT_LATE : 0);
}

/* The sampled place, with its registers if there are any. */
static void say_sample(u64 head, const u64 *ext, const struct opk_place *place)
{
	unsigned int nr, i;

	if (ext) {
		nr = *ext >> 32 & 0xffff;
		say_code(*ext >> 48 == OPK_EXT_FETCH ? OPK_IBS_FETCH : OPK_IBS_OP, 3 + nr,
			 nr);
	}
	say(place->off);
	say(event_of(head));
	if (ext) {
		say((u32)*ext);
		for (i = 0; i < nr; i++)
			say(ext[1 + i]);
	}
}

static void say_record(const u64 *record)
{
	unsigned int places = opk_rec_places(*record), i;
	u64 head = *record++;
	const u64 *ext = NULL;
	struct opk_place place;

	if (head & OPK_REC_EXT) {
		ext = record;
		record += 1 + (*ext >> 32 & 0xffff);
	}
	if (head & OPK_REC_TRACE)
		say_code(OPK_TRACE_BEGIN, 0, places);
	for (i = 0; i < places; i++) {
		record += opk_place_unpack(&place, record);
		say_place(&place);
		say_sample(head, i ? NULL : ext, &place);
	}
	if (head & OPK_REC_TRACE) {
		say_code(OPK_TRACE_END, 1, opk_rec_chain_flags(head));
		stage.end = stage.words + stage.len - 1;
		if (head & OPK_REC_STACK)
			stage.stack = record;
		say(opk_rec_left_out(head));
	}
}

static void say_module(unsigned int state, const char *name, u64 text, u64 size)
{
	char *padded;

	say_code(OPK_MODULE, 11, state);
	say(ktime_get_ns());
	say(text);
	say(size);
	padded = (char *)(stage.words + stage.len);
	strscpy_pad(padded, name, 64);
	stage.len += 64 / sizeof(u64);
}

static void put_exit(const struct opk_task *task, u64 when_ns)
{
	spin_lock(&lock);
	stage.len = 0;
	say_code(OPK_TASK_EXIT, 2, task->tid);
	say(task->tgid);
	say(when_ns);
	commit(RESERVE_WORDS);
	last_place = NO_PLACE;
	spin_unlock(&lock);
}

void opk_event_hold(void) __acquires(&lock)
{
	spin_lock(&lock);
}

void opk_event_let_go(void) __releases(&lock)
{
	spin_unlock(&lock);
}

bool opk_event_put_again(const u64 *record)
{
	u64 sample[2] = { record[2], event_of(record[0]) };

	if (record[0] & (OPK_REC_TASK | OPK_REC_EXT | OPK_REC_TRACE | OPK_REC_EXIT) ||
	    record[1] != last_place || module_missed || !has_room(2, RESERVE_WORDS))
		return false;
	append(sample, 2);
	opk_count(OPK_STAT_STORED);
	return true;
}

/* What a next record has to be like to need nothing told before it. */
static u64 place_of(const u64 *record)
{
	if (record[0] & (OPK_REC_EXT | OPK_REC_TRACE) || (u8)record[1] == OPK_PLACE_ANON)
		return NO_PLACE;
	return record[1];
}

void opk_event_put(unsigned int cpu, const struct opk_task *task, const u64 *record)
{
	if (*record & OPK_REC_EXIT) {
		put_exit(task, record[1]);
		return;
	}
	spin_lock(&lock);
	stage.len = 0;
	stage.context = told;
	stage.stack = NULL;
	if (module_missed)
		say_module(OPK_MODULE_LOADED, "", 0, 0);
	say_context(cpu, task);
	say_record(record);
	if (commit_sample()) {
		told = stage.context;
		module_missed = false;
		last_place = place_of(record);
		opk_count(OPK_STAT_STORED);
	} else {
		last_place = NO_PLACE;
		opk_count(OPK_LOST_EVENT_OVERFLOW);
	}
	spin_unlock(&lock);
}

bool opk_event_image(const u64 *words, unsigned int len)
{
	bool told;

	spin_lock(&lock);
	memcpy(stage.words, words, len * sizeof(u64));
	stage.len = len;
	told = commit(RESERVE_WORDS);
	spin_unlock(&lock);
	return told;
}

void opk_event_gone(u32 cookie)
{
	spin_lock(&lock);
	stage.len = 0;
	say_code(OPK_IMAGE_GONE, 0, cookie);
	commit(RESERVE_WORDS);
	spin_unlock(&lock);
}

void opk_event_module(unsigned int state, const char *name, u64 text, u64 size)
{
	spin_lock(&lock);
	stage.len = 0;
	say_module(state, name, text, size);
	if (!commit(0))
		module_missed = true;
	spin_unlock(&lock);
}

void opk_event_time(u64 now)
{
	spin_lock(&lock);
	now_ns = now;
	spin_unlock(&lock);
}

int opk_event_begin(u64 words)
{
	u64 *ring = NULL;
	int rc;

	words = roundup_pow_of_two(words);
	if (!opk_ring.words || opk_ring.mask != words - 1) {
		ring = vzalloc(words * sizeof(u64));
		if (!ring)
			return -ENOMEM;
	}
	mutex_lock(&opk_ring.read_mutex);
	rc = opk_reader_begin();
	if (!rc) {
		spin_lock(&lock);
		if (ring)
			swap(ring, opk_ring.words);
		opk_ring.mask = words - 1;
		opk_ring.head = 0;
		opk_ring.tail = 0;
		memset(&told, 0, sizeof(told));
		last_place = NO_PLACE;
		module_missed = false;
		spin_unlock(&lock);
	}
	mutex_unlock(&opk_ring.read_mutex);
	vfree(ring);
	return rc;
}

void opk_event_free(void)
{
	u64 *words;

	/* A work that runs late may check whether there is room. */
	spin_lock(&lock);
	words = opk_ring.words;
	opk_ring.words = NULL;
	opk_ring.head = 0;
	opk_ring.tail = 0;
	spin_unlock(&lock);
	vfree(words);
}
