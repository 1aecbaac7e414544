/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/vec.h"
#include "events/machine.h"
#include "events/source.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(struct ev_table *) cache;

static int get_locked(const char *cpu, const struct ev_table **out, struct err *err)
{
	struct ev_table *t;
	int rc;

	vec_for(&cache, known)
		if (!strcmp((*known)->cpu, cpu)) {
			*out = *known;
			return 0;
		}
	rc = ev_table_load(&ev_installed, cpu, &t, err);
	if (rc)
		return rc;
	if (vec_push(&cache, t)) {
		ev_table_free(t);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*out = t;
	return 0;
}

int ev_table_get(const char *cpu, const struct ev_table **out, struct err *err)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = get_locked(cpu, out, err);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* ---- the machine's */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ev_tables tables;
static struct err trouble;

static int add(const char *cpu)
{
	struct err err = { 0 };
	int rc = ev_table_get(cpu, &tables.all[tables.nr], &err);

	if (!rc)
		tables.nr++;
	else if (!trouble.code)
		trouble = err;
	return rc;
}

/* Where a type has no table of its own, what all processors of its kind count. */
static void add_cpu(const char *cpu)
{
	if (!*cpu || add(cpu) != -ENOENT)
		return;
	if (!strncmp(cpu, "i386/", 5))
		add("i386/arch_perfmon");
	else if (!strncmp(cpu, "arm/armv8", 9))
		add("arm/armv8-pmuv3");
}

static void load(void)
{
	add_cpu(ev_machine()->cpu);
	add("perf/generic");
	add("perf/software");
	add("timer");
}

const struct ev_tables *ev_machine_tables(const char **why)
{
	pthread_once(&once, load);
	if (why)
		*why = trouble.msg;
	return &tables;
}
