// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "perf_source.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "control.h"
#include "oprofilefs.h"
#include "stats.h"
#include "uapi/opfs_buffer.h"

enum { NR_COUNTERS = 16, IBS_FETCH = NR_COUNTERS, IBS_OP, NR_SLOTS };

struct counter {
	u64 enabled, event, count, unit_mask, kernel, user, extra, type;
};

static struct counter counters[NR_SLOTS];

struct cpu_events {
	struct perf_event *slot[NR_SLOTS];
	bool failed[NR_SLOTS]; /* counted, and has not come back since */
};

/* CPUs come and go while the events of all are looked at. */
static DEFINE_MUTEX(events_mutex);
static DEFINE_PER_CPU(struct cpu_events, events); /* under events_mutex */

/* The files of a counter: each is a number of struct counter. */
struct field {
	const char *name;
	size_t offset;
	u64 min, max, preset;
	bool ibs; /* in the directories of IBS too */
};

static const struct field fields[] = {
	{ "enabled", offsetof(struct counter, enabled), 0, 1, 0, true },
	{ "event", offsetof(struct counter, event), 0, U64_MAX, 0, false },
	{ "count", offsetof(struct counter, count), 500, (1ULL << 46) - 1, 100000, true },
	{ "unit_mask", offsetof(struct counter, unit_mask), 0, 255, 0, true },
	{ "kernel", offsetof(struct counter, kernel), 0, 1, 1, true },
	{ "user", offsetof(struct counter, user), 0, 1, 1, true },
	{ "extra", offsetof(struct counter, extra), 0, U64_MAX, 0, false },
	{ "type", offsetof(struct counter, type), 0, U32_MAX, PERF_TYPE_RAW, true },
};

static struct opk_number numbers[NR_SLOTS][ARRAY_SIZE(fields)];

static bool is_ibs(unsigned int slot)
{
	return slot >= NR_COUNTERS;
}

static const char *slot_name(unsigned int slot, char *buf, size_t size)
{
	if (is_ibs(slot))
		return slot == IBS_OP ? "ibs_op" : "ibs_fetch";
	snprintf(buf, size, "%u", slot);
	return buf;
}

static unsigned int slot_counter(unsigned int slot)
{
	if (is_ibs(slot))
		return slot == IBS_OP ? OPK_COUNTER_IBS_OP : OPK_COUNTER_IBS_FETCH;
	return slot;
}

static u64 *field_of(unsigned int slot, const struct field *field)
{
	return (void *)&counters[slot] + field->offset;
}

static bool has_ibs(void)
{
#ifdef CONFIG_X86
	return boot_cpu_has(X86_FEATURE_IBS);
#else
	return false;
#endif
}

static int create_slot(struct super_block *sb, struct dentry *root, unsigned int slot)
{
	struct dentry *dir;
	char buf[8];
	unsigned int i;
	int rc;

	dir = opk_mkdir(sb, root, slot_name(slot, buf, sizeof(buf)));
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (is_ibs(slot) && !fields[i].ibs)
			continue;
		rc = opk_create_number(sb, dir, &numbers[slot][i]);
		if (rc)
			return rc;
	}
	return 0;
}

static void preset(void)
{
	unsigned int slot, i;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		for (i = 0; i < ARRAY_SIZE(fields); i++) {
			numbers[slot][i] = (struct opk_number){
				.name = fields[i].name,
				.value = field_of(slot, &fields[i]),
				.min = fields[i].min,
				.max = fields[i].max,
			};
			*field_of(slot, &fields[i]) = fields[i].preset;
		}
	}
}

static int create_files(struct super_block *sb, struct dentry *root)
{
	unsigned int slot;
	int rc;

	preset();
	for (slot = 0; slot < NR_SLOTS; slot++) {
		if (is_ibs(slot) && !has_ibs())
			continue;
		rc = create_slot(sb, root, slot);
		if (rc)
			return rc;
	}
	return 0;
}

bool opk_perf_wanted(void)
{
	unsigned int slot;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		if (counters[slot].enabled)
			return true;
	}
	return false;
}

unsigned int opk_perf_tell(u64 *words, unsigned int room)
{
	unsigned int slot, n = 0;

	for (slot = 0; slot < NR_SLOTS && n + 8 <= room; slot++) {
		const struct counter *c = &counters[slot];

		if (!c->enabled)
			continue;
		words[n++] = OPK_ESCAPE;
		words[n++] = OPK_HEAD(OPK_COUNTER, 6, slot_counter(slot));
		words[n++] = c->event;
		words[n++] = c->unit_mask;
		words[n++] = c->count;
		words[n++] = c->extra;
		words[n++] = (c->kernel ? OPK_COUNTER_KERNEL : 0) |
			     (c->user ? OPK_COUNTER_USER : 0);
		words[n++] = c->type;
	}
	return n;
}

/* Converts perf's raw IBS record to registers.  false: it has none. */
static bool take_ibs(const struct perf_sample_data *data, unsigned int slot,
		     struct opk_ext *ext)
{
	const struct perf_raw_record *raw = data->raw;
	u32 size;

	if (!(data->sample_flags & PERF_SAMPLE_RAW) || !raw ||
	    raw->frag.size < sizeof(u32))
		return false;
	size = min_t(u32, raw->frag.size - sizeof(u32), sizeof(ext->regs));
	ext->kind = slot == IBS_OP ? OPK_EXT_OP : OPK_EXT_FETCH;
	memcpy(&ext->caps, raw->frag.data, sizeof(u32));
	memcpy(ext->regs, raw->frag.data + sizeof(u32), size);
	ext->nr_regs = size / sizeof(u64);
	return true;
}

/* In an NMI or interrupt. */
static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	unsigned int slot = (unsigned long)event->overflow_handler_context;
	const struct counter *c = &counters[slot];
	struct opk_ext ext;

	/* perf's own limit was reached: it stops the event until the next tick. */
	if (event->hw.interrupts == U64_MAX)
		opk_count(OPK_STAT_THROTTLES);
	/* Not every PMU can exclude the kernel or user space. */
	if (!(user_mode(regs) ? c->user : c->kernel))
		return;
	if (is_ibs(slot) && take_ibs(data, slot, &ext))
		opk_add_sample(regs, slot_counter(slot), &ext);
	else
		opk_add_sample(regs, slot_counter(slot), NULL);
}

static u64 config_of(unsigned int slot)
{
	const struct counter *c = &counters[slot];

	if (slot == IBS_OP)
		return c->unit_mask & 1 ? 1ULL << 19 : 0; /* count dispatched ops */
	if (slot == IBS_FETCH)
		return c->unit_mask & 1 ? 1ULL << 57 : 0; /* randomise */
#ifdef CONFIG_X86
	if (c->type == PERF_TYPE_RAW)
		return (c->event & 0xff) | c->unit_mask << 8 | (c->event & 0xf00) << 24 |
		       c->extra;
#endif
	return c->event | c->extra;
}

static struct perf_event *create(unsigned int slot, unsigned int cpu)
{
	const struct counter *c = &counters[slot];
	struct perf_event_attr attr = {
		.type = c->type,
		.size = sizeof(attr),
		.config = config_of(slot),
		.sample_period = c->count,
		.sample_type = is_ibs(slot) ? PERF_SAMPLE_RAW : 0,
		.disabled = 1,
		.pinned = 1,
		.exclude_kernel = !is_ibs(slot) && !c->kernel,
		.exclude_user = !is_ibs(slot) && !c->user,
		.exclude_hv = !is_ibs(slot),
		.exclude_guest = !is_ibs(slot),
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, overflow,
						(void *)(unsigned long)slot);
}

static const char kinds_of_cpu[] =
	"where there are several kinds of CPU, set type to the number in "
	"/sys/bus/event_source/devices/NAME/type, one counter for each kind\n";

static void explain(unsigned int slot, unsigned int cpu, int rc)
{
	const struct counter *c = &counters[slot];
	char buf[8];
	const char *name = slot_name(slot, buf, sizeof(buf));

	if (rc == -ENOENT || rc == -ENODEV)
		pr_info("counter %s: cpu %u has no such event of type %llu\n", name, cpu,
			c->type);
	else if (rc == -EBUSY)
		pr_info("counter %s: all counters of cpu %u that can count it are taken; "
			"kernel.nmi_watchdog=0 frees the one of the NMI watchdog\n",
			name, cpu);
	else
		pr_info("counter %s: event %#llx with unit mask %#llx is refused by cpu "
			"%u, error %d\n",
			name, c->event, c->unit_mask, cpu, rc);
}

/*
 * CPUs of another kind go without a counter whose type is that of one kind, if another
 * counter is theirs.
 */
static bool is_of_one_kind(unsigned int slot)
{
	return counters[slot].type >= PERF_TYPE_MAX;
}

static int explain_none(unsigned int cpu)
{
	unsigned int slot;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		if (counters[slot].enabled)
			explain(slot, cpu, -ENOENT);
	}
	pr_info("cpu %u cannot be sampled: %s", cpu, kinds_of_cpu);
	return -ENOENT;
}

#ifdef CONFIG_X86
enum { RAW_EVENT_MAX = 0xfff, RAW_UNIT_MASK_MAX = 0xff };
#else
enum { RAW_EVENT_MAX = 0xffff, RAW_UNIT_MASK_MAX = 0 };
#endif

/* What config_of() would leave out is refused. */
static int check_bits(unsigned int slot, const char *name)
{
	const struct counter *c = &counters[slot];
	u64 event_max = c->type == PERF_TYPE_RAW ? RAW_EVENT_MAX : U64_MAX;
	u64 mask_max = c->type == PERF_TYPE_RAW ? RAW_UNIT_MASK_MAX : 0;

	if (is_ibs(slot))
		mask_max = 1;
	if (c->event > event_max) {
		pr_info("counter %s: event is at most %#llx with type %llu; other bits "
			"belong into extra\n",
			name, event_max, c->type);
		return -EINVAL;
	}
	if (c->unit_mask > mask_max) {
		pr_info("counter %s: unit_mask is at most %llu with type %llu; other "
			"bits belong into extra\n",
			name, mask_max, c->type);
		return -EINVAL;
	}
	return 0;
}

static int check_slot(unsigned int slot)
{
	const struct counter *c = &counters[slot];
	char buf[8];
	const char *name = slot_name(slot, buf, sizeof(buf));

	if (!c->kernel && !c->user) {
		pr_info("counter %s: neither kernel nor user is set\n", name);
		return -EINVAL;
	}
	/*
	 * Some software events overflow where no handler may run: with the run-queue
	 * locked.
	 */
	if (c->type == PERF_TYPE_SOFTWARE || c->type == PERF_TYPE_TRACEPOINT ||
	    c->type == PERF_TYPE_BREAKPOINT) {
		pr_info("counter %s: only events of hardware can be sampled\n", name);
		return -EINVAL;
	}
	if (is_ibs(slot) && c->type < PERF_TYPE_MAX) {
		pr_info("counter %s: type must be that of its event source in sysfs\n",
			name);
		return -EINVAL;
	}
	return check_bits(slot, name);
}

/* Whether a CPU knows the event at all; it may still have no counter for it. */
static bool knows(unsigned int slot, unsigned int cpu)
{
	struct perf_event *event = create(slot, cpu);

	if (IS_ERR(event))
		return PTR_ERR(event) != -ENOENT;
	perf_event_release_kernel(event);
	return true;
}

/* Adds the CPUs that know the event of a slot to @all. */
static int find_cpus(unsigned int slot, struct cpumask *all)
{
	static struct cpumask own; /* runs are set up one at a time */
	unsigned int cpu, other = nr_cpu_ids;
	char buf[8];

	cpumask_clear(&own);
	for_each_online_cpu(cpu) {
		if (knows(slot, cpu))
			cpumask_set_cpu(cpu, &own);
		else
			other = min(other, cpu);
	}
	cpumask_or(all, all, &own);
	if (other == nr_cpu_ids)
		return 0;
	if (cpumask_empty(&own)) {
		explain(slot, other, -ENOENT);
		return -ENOENT;
	}
	if (!is_of_one_kind(slot)) {
		explain(slot, other, -ENOENT);
		pr_info("cpu %u cannot be sampled: %s", other, kinds_of_cpu);
		return -ENOENT;
	}
	pr_info("counter %s: counts on cpu %*pbl\n", slot_name(slot, buf, sizeof(buf)),
		cpumask_pr_args(&own));
	return 0;
}

static int setup(void)
{
	static struct cpumask sampled;
	unsigned int slot, cpu;
	int rc = 0;

	if (!opk_perf_wanted()) {
		pr_info("no counter is enabled\n");
		return -EINVAL;
	}
	for (slot = 0; slot < NR_SLOTS && !rc; slot++)
		rc = counters[slot].enabled ? check_slot(slot) : 0;
	cpumask_clear(&sampled);
	for (slot = 0; slot < NR_SLOTS && !rc; slot++)
		rc = counters[slot].enabled ? find_cpus(slot, &sampled) : 0;
	if (rc)
		return rc;
	for_each_online_cpu(cpu) {
		if (!cpumask_test_cpu(cpu, &sampled))
			return explain_none(cpu);
	}
	return 0;
}

static bool has_failed(const struct perf_event *event)
{
	return READ_ONCE(event->state) <= PERF_EVENT_STATE_ERROR;
}

static int start_slot(unsigned int slot, unsigned int cpu)
{
	struct perf_event *event = create(slot, cpu);
	int rc = 0;

	if (IS_ERR(event))
		return PTR_ERR(event);
	/* Events that are counted in software, whatever their number. */
	if (event->pmu->task_ctx_nr == perf_sw_context ||
	    event->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT)
		rc = -EOPNOTSUPP;
	if (!rc) {
		perf_event_enable(event);
		/* Pinned: it gets a counter of its own now, or never. */
		if (has_failed(event))
			rc = -EBUSY;
	}
	if (rc) {
		perf_event_release_kernel(event);
		return rc;
	}
	per_cpu(events, cpu).slot[slot] = event;
	per_cpu(events, cpu).failed[slot] = false;
	return 0;
}

/* Counts an event that has failed, once until it comes back. */
static void note_failure(unsigned int slot, unsigned int cpu)
{
	bool *failed = &per_cpu(events, cpu).failed[slot];
	char buf[8];

	if (*failed)
		return;
	*failed = true;
	opk_count_of(cpu, OPK_STAT_COUNTERS_FAILED);
	pr_warn_ratelimited("counter %s of cpu %u was taken away: it is asked for again "
			    "every second\n",
			    slot_name(slot, buf, sizeof(buf)), cpu);
}

static void stop_all(unsigned int cpu)
{
	unsigned int slot;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		struct perf_event **event = &per_cpu(events, cpu).slot[slot];

		if (!*event)
			continue;
		if (has_failed(*event))
			note_failure(slot, cpu);
		perf_event_release_kernel(*event);
		*event = NULL;
	}
}

static int start_all(unsigned int cpu)
{
	bool sampled = false;
	unsigned int slot;
	int rc;

	for (slot = 0; slot < NR_SLOTS; slot++) {
		if (!counters[slot].enabled)
			continue;
		rc = start_slot(slot, cpu);
		if (rc == -ENOENT && is_of_one_kind(slot))
			continue;
		if (rc) {
			explain(slot, cpu, rc);
			return rc;
		}
		sampled = true;
	}
	return sampled ? 0 : explain_none(cpu);
}

static int start(unsigned int cpu)
{
	int rc;

	mutex_lock(&events_mutex);
	rc = start_all(cpu);
	if (rc)
		stop_all(cpu);
	mutex_unlock(&events_mutex);
	return rc;
}

static void stop(unsigned int cpu)
{
	mutex_lock(&events_mutex);
	stop_all(cpu);
	mutex_unlock(&events_mutex);
}

/* A pinned event that finds no counter any more is never scheduled again by itself. */
static void check(void)
{
	unsigned int slot, cpu;

	mutex_lock(&events_mutex);
	for_each_possible_cpu(cpu) {
		struct cpu_events *of = per_cpu_ptr(&events, cpu);

		for (slot = 0; slot < NR_SLOTS; slot++) {
			if (!of->slot[slot] || !has_failed(of->slot[slot]))
				continue;
			note_failure(slot, cpu);
			perf_event_enable(of->slot[slot]);
			of->failed[slot] = has_failed(of->slot[slot]);
		}
	}
	mutex_unlock(&events_mutex);
}

static void ignore(struct perf_event *event, struct perf_sample_data *data,
		   struct pt_regs *regs)
{
}

bool opk_perf_present(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1 << 30,
		.disabled = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL,
						 ignore, NULL);
	if (IS_ERR(event))
		return false;
	perf_event_release_kernel(event);
	return true;
}

struct opk_source opk_source_perf = {
	.name = "perf",
	.owner = THIS_MODULE,
	.create_files = create_files,
	.setup = setup,
	.start = start,
	.stop = stop,
	.check = check,
};
