/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_RECORD_H
#define OPK_RECORD_H

#include <linux/types.h>

#include "uapi/opfs_buffer.h"

/*
 * A sample as it is in a CPU's buffer: attributed, in 64-bit words.  Inside the driver
 * only; the event buffer tells it in the words of uapi/opfs_buffer.h.
 *
 *	head	never 0
 *	ext	if OPK_REC_EXT: caps | registers << 32, then the registers
 *	place	the sample's, then its callers': 2 words, or 4 for anonymous memory
 *	stack	if OPK_REC_STACK: argument and length of OPK_USER_STACK as in its head,
 *		then its words
 *	task	if OPK_REC_TASK: 6 words
 */

enum {
	OPK_MAX_DEPTH = 128,
	OPK_MAX_REGS = 12,
	OPK_TASK_WORDS = 6,
	OPK_REC_WORDS = 1 + 1 + OPK_MAX_REGS + 4 * (1 + OPK_MAX_DEPTH) + OPK_TASK_WORDS,
	OPK_MAX_STACK = 65536, /* bytes */
	OPK_MAX_RANGES = 64,
	OPK_RANGE_WORDS = 4,
	/* What a stack has in front of its bytes: its head, registers, sizes. */
	OPK_STACK_HEAD_WORDS = 1 + 5,
	OPK_STACK_WORDS = OPK_STACK_HEAD_WORDS + OPK_MAX_RANGES * OPK_RANGE_WORDS,
	OPK_REC_MAX_WORDS = OPK_REC_WORDS + OPK_STACK_WORDS + OPK_MAX_STACK / 8,
};

/* Flags of the head. */
enum {
	OPK_REC_VALID = 0x01,
	OPK_REC_TASK = 0x02,
	OPK_REC_TRACE = 0x04,
	OPK_REC_EXT = 0x08,
	OPK_REC_LATE = 0x10,
	OPK_REC_EXIT = 0x20, /* no sample and no places: the task has exited */
	OPK_REC_STACK = 0x40,
};

static inline u64 opk_rec_head(unsigned int flags, unsigned int counter,
			       unsigned int places)
{
	return OPK_REC_VALID | flags | (u64)counter << 8 | (u64)places << 32;
}

static inline u64 opk_rec_len(u64 head)
{
	return head >> 16 & 0xffff;
}

static inline u64 opk_rec_set_len(u64 head, unsigned int len)
{
	return (head & ~(0xffffULL << 16)) | (u64)len << 16;
}

static inline unsigned int opk_rec_counter(u64 head)
{
	return head >> 8 & 0xff;
}

static inline unsigned int opk_rec_places(u64 head)
{
	return head >> 32 & 0xff;
}

/* How the call chain ended (OPK_TRACE_*), and how many frames were left out. */
static inline u64 opk_rec_chain(unsigned int flags, unsigned int left_out)
{
	return (u64)(flags & 0xff) << 40 | (u64)(left_out & 0xff) << 48;
}

static inline unsigned int opk_rec_chain_flags(u64 head)
{
	return head >> 40 & 0xff;
}

static inline unsigned int opk_rec_left_out(u64 head)
{
	return head >> 48 & 0xff;
}

/* The head of a sample whose stack is not given, though it was wanted. */
static inline u64 opk_rec_no_stack(u64 head)
{
	return (head & ~(u64)OPK_REC_STACK) | OPK_REC_TRACE |
	       opk_rec_chain(OPK_TRACE_NO_STACK, 0);
}

enum opk_place_kind { OPK_PLACE_KERNEL, OPK_PLACE_FILE, OPK_PLACE_ANON };

/* Where a pc lies. */
struct opk_place {
	u8 kind;
	u8 anon;         /* enum opk_anon */
	u32 cookie;      /* OPK_PLACE_FILE */
	u64 off;         /* in the file or region; OPK_PLACE_KERNEL: the address */
	u64 first, last; /* OPK_PLACE_ANON: the region */
};

/* Returns the number of words written, at most 4. */
static inline unsigned int opk_place_pack(const struct opk_place *place, u64 *words)
{
	words[0] = place->kind | (u64)place->anon << 8 | (u64)place->cookie << 32;
	words[1] = place->off;
	if (place->kind != OPK_PLACE_ANON)
		return 2;
	words[2] = place->first;
	words[3] = place->last;
	return 4;
}

static inline unsigned int opk_place_unpack(struct opk_place *place, const u64 *words)
{
	place->kind = words[0];
	place->anon = words[0] >> 8;
	place->cookie = words[0] >> 32;
	place->off = words[1];
	if (place->kind != OPK_PLACE_ANON)
		return 2;
	place->first = words[2];
	place->last = words[3];
	return 4;
}

/* The task that ran; packed as the payload of OPK_TASK, with the tid in its free bits. */
struct opk_task {
	u32 tid, tgid;
	u32 app;  /* cookie of the executable, 0: none or not known */
	u32 exec; /* how many times it has called exec */
	u64 start_ns;
	u64 comm[2];
	u64 parent; /* its parent's tgid, when the task was first seen here */
};

static inline void opk_task_pack(const struct opk_task *task, u64 *words)
{
	words[0] = task->tgid | (u64)task->tid << 32;
	words[1] = task->app | (u64)task->exec << 32;
	words[2] = task->start_ns;
	words[3] = task->comm[0];
	words[4] = task->comm[1];
	words[5] = task->parent;
}

static inline void opk_task_unpack(struct opk_task *task, const u64 *words)
{
	task->tgid = words[0];
	task->tid = words[0] >> 32;
	task->app = words[1];
	task->exec = words[1] >> 32;
	task->start_ns = words[2];
	task->comm[0] = words[3];
	task->comm[1] = words[4];
	task->parent = words[5];
}

#endif
