/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_CPU_BUFFER_H
#define OPK_CPU_BUFFER_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/percpu.h>

#include "guard.h"
#include "pages.h"
#include "record.h"
#include "resolve.h"

struct opk_work;

/* The application of a task when it was sampled last, and what shows it still is. */
struct opk_known {
	u32 tid, app, exec;
	u64 start_ns;
	const void *exe; /* compared, never followed */
};

/*
 * What a CPU needs to take samples.  Made when the CPU is first sampled, and kept until
 * the next run or the end of the module: the synchroniser looks at it after the CPU went
 * offline.
 */
struct opk_cpu {
	/*
	 * The ring.  Written on this CPU only, by an interrupt or by an NMI in the middle
	 * of it: both reserve by moving head, and commit by storing the record's first
	 * word, which is 0 until then.  Read by one synchroniser, which clears what it
	 * has read before it moves tail.
	 */
	u64 *words;
	u64 mask;
	atomic64_t head;
	u64 tail;

	/*
	 * The task of the record that ends at last_end; the next record need not repeat
	 * it if last_end is still head.  Valid once last_end equals head.
	 */
	struct opk_task last_task;
	u64 last_end;
	/* The task of the records that the synchroniser is reading. */
	struct opk_task read_task;

	/* One for interrupts and one for NMIs. */
	struct opk_scratch *scratch[2];
	struct opk_guard guard;

	unsigned int cpu;
	struct opk_known known[64]; /* by tid */
	struct opk_pages pages;
	struct llist_head from_nmi; /* works that an NMI could not resolve */
	struct irq_work resolve;    /* resolves them */
	struct llist_head waiting;  /* works for the CPU's thread */
	u64 *thread_words;          /* a record that it makes */
	struct irq_work kick;       /* starts a synchronisation */
	struct opk_work **works;
	unsigned int nr_works, next_work;
};

DECLARE_PER_CPU(struct opk_cpu *, opk_cpu);

struct opk_settings;

/* Allocates a CPU's buffers. */
int opk_cpu_alloc(unsigned int cpu, const struct opk_settings *settings);
/* Frees all buffers; no work may be outstanding and no run in progress. */
void opk_cpu_free_all(void);

/*
 * Appends a record, and its task if that differs from the last record's.  On this CPU,
 * in an interrupt or NMI.  @words has room for the task (OPK_TASK_WORDS).  false: full;
 * for a record with a stack it is so when three quarters are.
 */
bool opk_cpu_write(struct opk_cpu *cpu, u64 *words, unsigned int len,
		   const struct opk_task *task);

/*
 * Takes the next record out.  One reader at a time, on any CPU, in process context.
 * @words: OPK_REC_MAX_WORDS.  Returns the number of words, 0 if there is no record now.
 */
unsigned int opk_cpu_read(struct opk_cpu *cpu, u64 *words);

#endif
