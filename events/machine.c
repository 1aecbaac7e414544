/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "events/table/source.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const struct cpu {
	const char *vendor;
	unsigned family, first, last;
	const char *type;
} cpus[] = {
#define CPU(vendor, family, first, last, type) { vendor, family, first, last, type },
#include "events/machine_cpu_list.h"
#undef CPU
};

const char *ev_x86_cpu(const char *vendor, unsigned family, unsigned model)
{
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++)
		if (!strcmp(cpus[i].vendor, vendor) && cpus[i].family == family &&
		    model >= cpus[i].first && model <= cpus[i].last)
			return cpus[i].type;
	return NULL;
}

/* Parts of ARM Ltd., implementer 0x41, that libpfm4 has tables of on an ARM machine. */
static const struct arm_part {
	unsigned part;
	const char *type;
} arm_parts[] = {
	{ 0xd03, "arm/armv8-cortex-a53" },  { 0xd07, "arm/armv8-cortex-a57" },
	{ 0xd08, "arm/armv8-cortex-a72" },  { 0xd0b, "arm/armv8-cortex-a76" },
	{ 0xd0c, "arm/armv8-neoverse-n1" }, { 0xd40, "arm/armv8-neoverse-v1" },
	{ 0xd49, "arm/armv8-neoverse-n2" },
};

const char *ev_arm_cpu(uint64_t midr)
{
	unsigned implementer = midr >> 24 & 0xff, part = midr >> 4 & 0xfff;

	if ((midr >> 16 & 0xf) != 0xf)
		return NULL; /* older than ARMv7 */
	for (size_t i = 0;
	     implementer == 0x41 && i < sizeof(arm_parts) / sizeof(arm_parts[0]); i++)
		if (arm_parts[i].part == part)
			return arm_parts[i].type;
	return "arm/armv8-pmuv3";
}

/* ---- this machine */

static bool slurp(const char *path, struct strbuf *text)
{
	return !file_slurp(AT_FDCWD, path, 256, text, NULL) && text->len;
}

/* Does the kernel drive counters of the cores?  Their unit has perf's type "raw", or is
 * one of several kinds of cores. */
static bool has_counters(void)
{
	static const char devices[] = "/sys/bus/event_source/devices";
	static const char *const names[] = { "cpu", "cpu_core", "cpu_atom" };
	CLEANUP(close_dir) DIR *dir = opendir(devices);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!strncmp(e->d_name, "armv", 4))
			return true;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(e->d_name, names[i]))
				return true;
	}
	return false;
}

#if defined(__x86_64__) || defined(__i386__)

static void read_hypervisor(struct ev_machine *m)
{
	unsigned r[4] = { 0 };

	__cpuid(1, r[0], r[1], r[2], r[3]);
	if (!(r[2] & 1u << 31))
		return;
	__cpuid(0x40000000, r[0], r[1], r[2], r[3]);
	memcpy(m->hypervisor, &r[1], 12);
	for (char *c = m->hypervisor; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (!strcmp(m->hypervisor, "KVMKVMKVM"))
		strcpy(m->hypervisor, "KVM");
	if (!*m->hypervisor)
		strcpy(m->hypervisor, "unnamed");
}

static unsigned count_counters(const char *vendor)
{
	unsigned a, b, c, d;

	if (!strcmp(vendor, "GenuineIntel"))
		return __get_cpuid_count(10, 0, &a, &b, &c, &d) ? a >> 8 & 0xff : 0;
	if (__get_cpuid_count(0x80000022, 0, &a, &b, &c, &d) && b & 0xf)
		return b & 0xf;
	if (__get_cpuid(0x80000001, &a, &b, &c, &d))
		return c & 1u << 23 ? 6 : 4;
	return 0;
}

static void read_cpu(struct ev_machine *m)
{
	unsigned a, b, c, d, family, model, words[3];
	char vendor[13] = "";
	const char *type;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	words[0] = b;
	words[1] = d;
	words[2] = c;
	memcpy(vendor, words, 12);
	__cpuid(1, a, b, c, d);
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 6 || family == 15)
		model |= a >> 12 & 0xf0;
	if (family == 15)
		family += a >> 20 & 0xff;
	type = ev_x86_cpu(vendor, family, model);
	snprintf(m->cpu, sizeof(m->cpu), "%s", type ? type : "");
	snprintf(m->what, sizeof(m->what), "%s family %u model %u", vendor, family,
		 model);
	m->nr_counters = count_counters(vendor);
	read_hypervisor(m);
}

#elif defined(__aarch64__)

static void read_cpu(struct ev_machine *m)
{
	static const char path[] =
		"/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t midr;
	const char *type;

	if (!slurp(path, &text))
		return;
	midr = strtoull(text.data, NULL, 16);
	type = ev_arm_cpu(midr);
	snprintf(m->cpu, sizeof(m->cpu), "%s", type ? type : "");
	snprintf(m->what, sizeof(m->what), "ARM implementer 0x%02x part 0x%03x",
		 (unsigned)(midr >> 24 & 0xff), (unsigned)(midr >> 4 & 0xfff));
}

#else

static void read_cpu(struct ev_machine *m)
{
	(void)m;
}

#endif

/* What a machine without CPUID says of its hypervisor. */
static void read_sys_hypervisor(struct ev_machine *m)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (*m->hypervisor || !slurp("/sys/hypervisor/type", &text))
		return;
	snprintf(m->hypervisor, sizeof(m->hypervisor), "%.*s",
		 (int)strcspn(text.data, "\n"), text.data);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ev_machine machine;

static void find_out(void)
{
	read_cpu(&machine);
	read_sys_hypervisor(&machine);
	machine.counters = has_counters();
	if (!machine.counters)
		machine.nr_counters = 0; /* what CPUID says is of no use */
	if (!*machine.what)
		strcpy(machine.what, "a processor of unknown kind");
}

const struct ev_machine *ev_machine(void)
{
	pthread_once(&once, find_out);
	return &machine;
}

void ev_machine_say(const struct ev_machine *m, struct strbuf *out)
{
	strbuf_puts(out, m->what);
	if (*m->cpu)
		strbuf_printf(out, " (%s)", m->cpu);
	if (m->counters && m->nr_counters)
		strbuf_printf(out, " with %u counters", m->nr_counters);
	else if (m->counters)
		strbuf_puts(out, " with counters");
	else if (*m->hypervisor)
		strbuf_printf(
			out,
			"; this virtual machine (%s) offers no performance counters: "
			"only TIMER and the kernel's own events can be sampled, "
			"unless its host passes the counters on",
			m->hypervisor);
	else
		strbuf_puts(out,
			    "; the kernel drives no performance counters of it: only "
			    "TIMER and the kernel's own events can be sampled");
}

/* ---- tables, each read once */

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

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;
static struct ev_tables tables;
static struct err trouble;

static int add_table(const char *cpu)
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
static void add_cpu_table(const char *cpu)
{
	if (!*cpu || add_table(cpu) != -ENOENT)
		return;
	if (!strncmp(cpu, "i386/", 5))
		add_table("i386/arch_perfmon");
	else if (!strncmp(cpu, "arm/armv8", 9))
		add_table("arm/armv8-pmuv3");
}

static void load_tables(void)
{
	add_cpu_table(ev_machine()->cpu);
	add_table("perf/generic");
	add_table("perf/software");
	add_table("timer");
}

const struct ev_tables *ev_machine_tables(const char **why)
{
	pthread_once(&tables_once, load_tables);
	if (why)
		*why = trouble.msg;
	return &tables;
}
