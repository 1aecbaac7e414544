// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters for tests only, on machines that have none, or one kind of them: for each CPU
 * a PMU "opfs_fakeN" that covers that CPU alone, as those of machines with several kinds
 * of CPU cover some.  Their events are nanoseconds.  They can be told to have no counter
 * free, so that events that run are scheduled out and fail.  Never installed.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <asm/irq_regs.h>

#include "compat.h"

enum { MAX_FAKES = 4 };

static struct fake {
	struct pmu pmu;
	unsigned int cpu;
	char name[16];
} fakes[MAX_FAKES], raw;
static unsigned int nr_fakes;

static int raw_cpu = -1;
module_param(raw_cpu, int, 0444);
MODULE_PARM_DESC(raw_cpu, "CPU that has events of type 4, raw, too; only where none has");

static bool taken;

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, event->hw.sample_period);
	if (regs)
		event->overflow_handler(event, &data, regs);
	hrtimer_forward_now(timer, ns_to_ktime(event->hw.sample_period));
	return HRTIMER_RESTART;
}

static int event_init(struct perf_event *event)
{
	struct fake *fake = container_of(event->pmu, struct fake, pmu);
	unsigned int type = event->attr.type;

	if (type != fake->pmu.type && !(fake == &raw && type == PERF_TYPE_HARDWARE))
		return -ENOENT;
	if (event->cpu != fake->cpu)
		return -ENOENT;
	if (!is_sampling_event(event))
		return -EINVAL;
	opk_hrtimer_init(&event->hw.hrtimer, expired, HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(event->hw.sample_period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void stop(struct perf_event *event, int flags)
{
	hrtimer_cancel(&event->hw.hrtimer);
	event->hw.state = PERF_HES_STOPPED;
}

static int add(struct perf_event *event, int flags)
{
	if (READ_ONCE(taken))
		return -EAGAIN;
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		start(event, flags);
	return 0;
}

static void del(struct perf_event *event, int flags)
{
	stop(event, flags);
}

static void count(struct perf_event *event)
{
}

static void ignore(struct perf_event *event, struct perf_sample_data *data,
		   struct pt_regs *regs)
{
}

/* A pinned event that comes makes perf schedule all others of its CPU anew. */
static void reschedule(const struct fake *fake)
{
	struct perf_event_attr attr = {
		.type = fake->pmu.type,
		.size = sizeof(attr),
		.sample_period = NSEC_PER_SEC,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, fake->cpu, NULL, ignore, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

static int set_taken(const char *text, const struct kernel_param *param)
{
	int rc = param_set_bool(text, param);

	for (unsigned int i = 0; !rc && i < nr_fakes; i++)
		reschedule(&fakes[i]);
	return rc;
}

static const struct kernel_param_ops taken_ops = {
	.set = set_taken,
	.get = param_get_bool,
};
module_param_cb(taken, &taken_ops, &taken, 0644);
MODULE_PARM_DESC(taken, "No counter is free: events fail");

static int add_fake(struct fake *fake, unsigned int cpu, const char *name, int type)
{
	fake->cpu = cpu;
	snprintf(fake->name, sizeof(fake->name), "%s%u", name, cpu);
	fake->pmu = (struct pmu){
		.module = THIS_MODULE,
		.task_ctx_nr = perf_invalid_context,
		.event_init = event_init,
		.add = add,
		.del = del,
		.start = start,
		.stop = stop,
		.read = count,
	};
	return perf_pmu_register(&fake->pmu, fake->name, type);
}

static void remove_all(void)
{
	while (nr_fakes)
		perf_pmu_unregister(&fakes[--nr_fakes].pmu);
	if (raw.name[0])
		perf_pmu_unregister(&raw.pmu);
}

static int __init opfs_fake_pmu_init(void)
{
	unsigned int cpu;
	int rc = 0;

	for_each_possible_cpu(cpu) {
		if (rc || nr_fakes == MAX_FAKES)
			break;
		rc = add_fake(&fakes[nr_fakes], cpu, "opfs_fake", -1);
		nr_fakes += !rc;
	}
	if (!rc && raw_cpu >= 0) {
		rc = add_fake(&raw, raw_cpu, "opfs_raw", PERF_TYPE_RAW);
		if (rc)
			raw.name[0] = '\0';
	}
	if (rc)
		remove_all();
	return rc;
}
module_init(opfs_fake_pmu_init);

static void __exit opfs_fake_pmu_exit(void)
{
	remove_all();
}
module_exit(opfs_fake_pmu_exit);

MODULE_DESCRIPTION("Counters for testing opfs_sampler");
MODULE_LICENSE("GPL");
