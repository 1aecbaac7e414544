// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting and stopping runs, and choosing the source of their samples. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "control.h"

#include <linux/cpuhotplug.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "cpu_buffer.h"
#include "defer.h"
#include "event_buffer.h"
#include "guard.h"
#include "images.h"
#include "notices.h"
#include "oprofilefs.h"
#include "perf_source.h"
#include "timer_source.h"
#include "stats.h"
#include "sync.h"

struct opk_settings opk_settings = {
	.buffer_size = 1 << 18,
	.buffer_watershed = 1 << 15,
	.cpu_buffer_size = 1 << 14,
	.timer_hz = 1000,
};

bool opk_running;

/* The outermost lock: held by every write that starts, stops or sets up a run. */
static DEFINE_MUTEX(control_mutex);
static LIST_HEAD(sources);        /* under control_mutex */
static struct opk_source *chosen; /* NULL: auto; under control_mutex */
static struct opk_source *source; /* of the run, and its worker; under control_mutex */
static int hotplug_state;
static bool beginning; /* a CPU that cannot be sampled makes the start fail */

int opk_setting_store(u64 *setting, u64 value)
{
	int rc = 0;

	mutex_lock(&control_mutex);
	if (opk_running)
		rc = -EBUSY;
	else
		WRITE_ONCE(*setting, value);
	mutex_unlock(&control_mutex);
	return rc;
}

static int cpu_comes(unsigned int cpu)
{
	int rc = opk_cpu_alloc(cpu, &opk_settings);

	if (!rc)
		rc = source->start(cpu);
	if (!rc || beginning)
		return rc;
	/* A CPU that comes online later is sampled too, if it can be. */
	opk_count(OPK_STAT_HOTPLUG_FAILED);
	pr_warn("cpu %u came and is not sampled: error %d\n", cpu, rc);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	source->stop(cpu);
	return 0;
}

static struct opk_source *pick(void)
{
	if (chosen)
		return chosen;
	return opk_perf_wanted() ? &opk_source_perf : &opk_source_timer;
}

static int check_settings(void)
{
	if (opk_settings.buffer_watershed <= opk_settings.buffer_size / 2)
		return 0;
	pr_info("buffer_watershed: at most half of buffer_size, %llu\n",
		opk_settings.buffer_size / 2);
	return -EINVAL;
}

/* Everything that precedes the first sample; undone by end_run(). */
static int prepare_run(void)
{
	int rc = check_settings();

	if (!rc && source->setup)
		rc = source->setup();
	if (rc)
		return rc;
	/* Comes first: it fails while a reader still needs what the other calls free. */
	rc = opk_event_begin(opk_settings.buffer_size);
	if (rc)
		goto undo_setup;
	opk_sync_block();
	opk_cpu_free_all();
	rc = opk_images_reset();
	opk_sync_unblock();
	if (!rc)
		rc = opk_works_begin();
	if (rc)
		goto undo_setup;
	opk_stats_reset();
	return 0;
undo_setup:
	if (source->shutdown)
		source->shutdown();
	return rc;
}

static void end_run(void)
{
	WRITE_ONCE(opk_running, false);
	opk_notices_end();
	/* Handlers that saw it true have returned after this. */
	synchronize_rcu();
	opk_works_end();
	opk_sync_end();
	if (source->shutdown)
		source->shutdown();
}

static int start(void)
{
	int rc;

	source = pick();
	if (!try_module_get(source->owner))
		return -ENODEV;
	opk_guard_begin();
	rc = prepare_run();
	if (rc)
		goto undo_get;
	opk_sync_begin();
	opk_notices_begin();
	WRITE_ONCE(opk_running, true);
	beginning = true;
	rc = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "opfs:sampling", cpu_comes, cpu_goes);
	beginning = false;
	if (rc < 0) {
		end_run();
		goto undo_get;
	}
	hotplug_state = rc;
	opk_event_run();
	return 0;
undo_get:
	module_put(source->owner);
	source = NULL;
	return rc;
}

int opk_control_start(void)
{
	int rc = opk_permitted();

	if (rc)
		return rc;
	mutex_lock(&control_mutex);
	if (!opk_running)
		rc = start();
	mutex_unlock(&control_mutex);
	return rc;
}

void opk_control_stop(void)
{
	mutex_lock(&control_mutex);
	if (opk_running) {
		cpuhp_remove_state(hotplug_state);
		end_run();
		opk_event_end();
		module_put(source->owner);
		source = NULL;
	}
	mutex_unlock(&control_mutex);
}

void opk_control_free(void)
{
	mutex_lock(&control_mutex);
	if (!opk_running) {
		opk_sync_block();
		opk_cpu_free_all();
		opk_images_free();
		opk_event_free();
		opk_sync_unblock();
	}
	mutex_unlock(&control_mutex);
}

void opk_control_check(void)
{
	static unsigned long next; /* in jiffies; of the only worker */

	if (!source->check || time_before(jiffies, next))
		return;
	next = jiffies + HZ;
	source->check();
}

u64 opk_control_timer_hz(void)
{
	return source == &opk_source_timer ? opk_settings.timer_hz : 0;
}

unsigned int opk_control_tell_counters(u64 *words, unsigned int room)
{
	return source == &opk_source_perf ? opk_perf_tell(words, room) : 0;
}

static struct opk_source *find(const char *name)
{
	struct opk_source *s;

	list_for_each_entry(s, &sources, list) {
		if (!strcmp(s->name, name))
			return s;
	}
	return NULL;
}

int opk_source_register(struct opk_source *s)
{
	int rc = 0;

	mutex_lock(&control_mutex);
	if (find(s->name))
		rc = -EEXIST;
	else
		list_add_tail(&s->list, &sources);
	mutex_unlock(&control_mutex);
	return rc;
}
EXPORT_SYMBOL_GPL(opk_source_register);

void opk_source_unregister(struct opk_source *s)
{
	mutex_lock(&control_mutex);
	if (chosen == s)
		chosen = NULL;
	list_del(&s->list);
	mutex_unlock(&control_mutex);
}
EXPORT_SYMBOL_GPL(opk_source_unregister);

void opk_control_source(char *name, size_t size)
{
	mutex_lock(&control_mutex);
	strscpy(name, chosen ? chosen->name : "auto", size);
	mutex_unlock(&control_mutex);
}

int opk_control_choose(const char *name)
{
	struct opk_source *s;
	int rc = 0;

	mutex_lock(&control_mutex);
	s = find(name);
	if (!s && strcmp(name, "auto")) {
		pr_info("source: there is none called %*pE\n", (int)strlen(name), name);
		rc = -EINVAL;
	} else if (opk_running) {
		rc = -EBUSY;
	} else {
		chosen = s;
	}
	mutex_unlock(&control_mutex);
	return rc;
}

int opk_control_create_files(struct super_block *sb, struct dentry *root)
{
	struct opk_source *s;
	int rc = 0;

	mutex_lock(&control_mutex);
	list_for_each_entry(s, &sources, list) {
		if (rc || !s->create_files || !try_module_get(s->owner))
			continue;
		s->has_files = true;
		rc = s->create_files(sb, root);
	}
	mutex_unlock(&control_mutex);
	return rc;
}

void opk_control_drop_files(void)
{
	struct opk_source *s;

	mutex_lock(&control_mutex);
	list_for_each_entry(s, &sources, list) {
		if (!s->has_files)
			continue;
		s->has_files = false;
		module_put(s->owner);
	}
	mutex_unlock(&control_mutex);
}
