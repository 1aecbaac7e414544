// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "notices.h"

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "control.h"
#include "cpu_buffer.h"
#include "event_buffer.h"
#include "resolve.h"
#include "stats.h"
#include "sync.h"
#include "uapi/opfs_buffer.h"

/* In process context; none of our locks is held. */
static int module_changed(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *mod = data;
	unsigned long text, size;

	if (!READ_ONCE(opk_running) ||
	    (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING))
		return NOTIFY_DONE;
	text = opk_module_text(mod, &size);
	/*
	 * Samples taken so far go before the notice, since their addresses are about to
	 * be reused.
	 */
	opk_sync();
	opk_event_module(state == MODULE_STATE_COMING ? OPK_MODULE_LOADED
						      : OPK_MODULE_GOING,
			 mod->name, text, size);
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = module_changed };

/* Runs in the context of the task that exits. */
static void task_exits(OPK_EXIT_ARGS)
{
	u64 words[2 + OPK_TASK_WORDS] = {
		opk_rec_head(OPK_REC_EXIT, 0, 0),
		ktime_get_ns(),
	};
	struct opk_task task;
	struct opk_cpu *cpu;

	/* As if in an interrupt: nothing else writes to this CPU's buffer. */
	preempt_disable();
	cpu = this_cpu_read(opk_cpu);
	if (cpu && READ_ONCE(opk_running)) {
		opk_take_task(&task);
		opk_count(OPK_STAT_TASK_EXITS);
		opk_cpu_write(cpu, words, 2, &task);
	}
	preempt_enable();
}

/* The tracepoint is not exported, so it is looked up by name. */
static struct tracepoint *exit_point;
static bool watching;

static void find_exit(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "sched_process_exit"))
		exit_point = point;
}

void opk_notices_begin(void)
{
	check_trace_callback_type_sched_process_exit(task_exits);
	/* Without it the stream only lacks these notices. */
	watching = exit_point && !tracepoint_probe_register(exit_point, task_exits, NULL);
	if (!watching)
		pr_info("the kernel does not tell which tasks go\n");
}

void opk_notices_end(void)
{
	if (!watching)
		return;
	tracepoint_probe_unregister(exit_point, task_exits, NULL);
	tracepoint_synchronize_unregister();
}

int opk_notices_init(void)
{
	for_each_kernel_tracepoint(find_exit, NULL);
	return register_module_notifier(&block);
}

void opk_notices_exit(void)
{
	unregister_module_notifier(&block);
}
