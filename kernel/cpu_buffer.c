// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_buffer.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "control.h"
#include "defer.h"
#include "stats.h"
#include "sync.h"
#include "user_stack.h"

DEFINE_PER_CPU(struct opk_cpu *, opk_cpu);

static bool same_task(const struct opk_task *a, const struct opk_task *b)
{
	return a->tid == b->tid && a->tgid == b->tgid && a->app == b->app &&
	       a->exec == b->exec && a->start_ns == b->start_ns &&
	       a->comm[0] == b->comm[0] && a->comm[1] == b->comm[1];
}

bool opk_cpu_write(struct opk_cpu *cpu, u64 *words, unsigned int len,
		   const struct opk_task *task)
{
	u64 *ring = cpu->words, mask = cpu->mask, half = (mask + 1) / 2, tail;
	u64 room = words[0] & OPK_REC_STACK ? (mask + 1) / 4 * 3 : mask + 1;
	s64 head = atomic64_read(&cpu->head);
	unsigned int i, n;
	bool switched;

	do {
		switched = READ_ONCE(cpu->last_end) != head ||
			   !same_task(&cpu->last_task, task);
		n = len + (switched ? OPK_TASK_WORDS : 0);
		/* Pairs with the release in opk_cpu_read(): the words are clear. */
		tail = smp_load_acquire(&cpu->tail);
		if (head + n - tail > room)
			return false;
	} while (!atomic64_try_cmpxchg(&cpu->head, &head, head + n));
	if (switched) {
		opk_task_pack(task, words + len);
		words[0] |= OPK_REC_TASK;
		opk_count(OPK_STAT_TASK_SWITCHES);
	}
	for (i = 1; i < n; i++)
		ring[(head + i) & mask] = words[i];
	/* Commits the record: whoever sees the head sees all of it. */
	smp_store_release(&ring[head & mask], opk_rec_set_len(words[0], n));
	/*
	 * While the record was reserved, last_end was not head, so an NMI wrote its task
	 * itself. If there was one, last_end as it is stored here does not match head
	 * either.
	 */
	if (switched)
		cpu->last_task = *task;
	barrier();
	WRITE_ONCE(cpu->last_end, head + n);
	if (head + n - tail > half && head - tail <= half)
		irq_work_queue(&cpu->kick);
	return true;
}

unsigned int opk_cpu_read(struct opk_cpu *cpu, u64 *words)
{
	u64 *ring = cpu->words, mask = cpu->mask, tail = cpu->tail, head;
	unsigned int i, len;

	/*
	 * Pairs with the release in opk_cpu_write(): a reader sees a whole record or
	 * nothing.
	 */
	head = smp_load_acquire(&ring[tail & mask]);
	if (!head)
		return 0;
	len = opk_rec_len(head);
	if (WARN_ON_ONCE(!len || len > OPK_REC_MAX_WORDS))
		return 0;
	words[0] = head;
	ring[tail & mask] = 0;
	for (i = 1; i < len; i++) {
		words[i] = ring[(tail + i) & mask];
		ring[(tail + i) & mask] = 0;
	}
	/* Pairs with the acquire in opk_cpu_write(). */
	smp_store_release(&cpu->tail, tail + len);
	return len;
}

static void cpu_free(struct opk_cpu *cpu)
{
	if (!cpu)
		return;
	opk_works_free(cpu);
	kvfree(cpu->scratch[0]);
	kvfree(cpu->scratch[1]);
	kvfree(cpu->thread_words);
	kvfree(cpu->words);
	kfree(cpu);
}

static struct opk_scratch *scratch_alloc(u64 words, int node)
{
	return kvzalloc_node(struct_size((struct opk_scratch *)NULL, words, words),
			     GFP_KERNEL, node);
}

static void kick(struct irq_work *work)
{
	opk_sync_soon();
}

int opk_cpu_alloc(unsigned int nr, const struct opk_settings *settings)
{
	u64 words = roundup_pow_of_two(settings->cpu_buffer_size), longest;
	int node = cpu_to_node(nr);
	struct opk_cpu *cpu;

	if (per_cpu(opk_cpu, nr))
		return 0;
	cpu = kzalloc_node(sizeof(*cpu), GFP_KERNEL, node);
	if (!cpu)
		return -ENOMEM;
	longest = OPK_REC_WORDS + opk_stack_words(settings->user_stack);
	cpu->cpu = nr;
	cpu->last_end = U64_MAX;
	cpu->mask = words - 1;
	cpu->words = kvzalloc_node(words * sizeof(u64), GFP_KERNEL, node);
	cpu->scratch[0] = scratch_alloc(longest, node);
	cpu->scratch[1] = scratch_alloc(OPK_REC_WORDS, node);
	cpu->thread_words = kvzalloc_node(longest * sizeof(u64), GFP_KERNEL, node);
	init_llist_head(&cpu->from_nmi);
	init_llist_head(&cpu->waiting);
	cpu->resolve = IRQ_WORK_INIT_HARD(opk_works_resolve);
	cpu->kick = IRQ_WORK_INIT_HARD(kick);
	if (!cpu->words || !cpu->scratch[0] || !cpu->scratch[1] || !cpu->thread_words ||
	    opk_works_alloc(cpu, settings->backtrace_depth)) {
		cpu_free(cpu);
		return -ENOMEM;
	}
	/* A handler on that CPU sees either nothing or all of it. */
	smp_store_release(per_cpu_ptr(&opk_cpu, nr), cpu);
	return 0;
}

void opk_cpu_free_all(void)
{
	unsigned int nr;

	for_each_possible_cpu(nr) {
		cpu_free(per_cpu(opk_cpu, nr));
		per_cpu(opk_cpu, nr) = NULL;
	}
}
