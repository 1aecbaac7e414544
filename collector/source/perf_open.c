/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/perf_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/source/layout.h"

static int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
			       int group)
{
	long fd =
		syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void no_lost_count(struct perf_event_attr *attr)
{
	attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
}

/* What an older kernel does not know is left out, newest first. */
static const struct fallback {
	void (*leave_out)(struct perf_event_attr *attr);
} fallbacks[] = { { no_lost_count } };

uint32_t coll_perf_max_stack(uint32_t wanted)
{
	long most = coll_sysctl("perf_event_max_stack", 127);

	return wanted && wanted < most ? wanted : (uint32_t)most;
}

/* What samples hold, and how they come. */
static void ask_samples(struct perf_event_attr *attr, const struct coll_perf_open *how)
{
	coll_layout_ask(how->callchain, how->copy_bytes, attr);
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)how->watermark;
	if (how->callchain && how->max_stack)
		attr->sample_max_stack = (uint16_t)coll_perf_max_stack(how->max_stack);
}

static int open_attr(struct perf_event_attr *attr, const struct coll_perf_open *how)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->disabled = 1;
	attr->inherit = how->inherit;
	attr->enable_on_exec = how->on_exec;
	if (!how->counts)
		ask_samples(attr, how);
	fd = sys_perf_event_open(attr, how->pid, how->cpu, -1);
	for (size_t i = 0; fd == -EINVAL && i < sizeof(fallbacks) / sizeof(fallbacks[0]);
	     i++) {
		fallbacks[i].leave_out(attr);
		fd = sys_perf_event_open(attr, how->pid, how->cpu, -1);
	}
	return fd;
}

static int encode(const struct coll_event *e, struct perf_event_attr *attr,
		  struct err *err)
{
	struct ev_attr as;
	int rc = ev_spec_attr(&e->spec, &as, err);

	attr->type = as.type;
	attr->config = as.config;
	attr->config1 = as.config1;
	attr->precise_ip = as.precise & 3;
	if (rc || !as.pmu)
		return rc;
	/* such units know no modes; the kernel refuses attributes that name one */
	attr->exclude_hv = attr->exclude_idle = 0;
	attr->exclude_kernel = attr->exclude_user = 0;
	if (e->spec.kernel && e->spec.user)
		return 0;
	return err_set(err, -EINVAL,
		       "%s: %s sees kernel and user code alike: leave KERNEL and USER 1",
		       e->spec.event.name, as.pmu);
}

int coll_perf_open_group(const struct coll_event *e, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = group < 0,
		.exclude_kernel = !e->spec.kernel || e->user_only,
		.exclude_user = !e->spec.user,
		.exclude_hv = 1,
	};
	int rc = encode(e, &attr, NULL);

	return rc ? rc : sys_perf_event_open(&attr, 0, -1, group);
}

bool coll_perf_has_pmu(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	CLEANUP(close_fd) int fd = sys_perf_event_open(&attr, 0, -1, -1);

	return fd >= 0;
}

long coll_sysctl(const char *name, long other)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char path[128], *end;
	long value;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (file_slurp(AT_FDCWD, path, 64, &text, NULL) || !text.len)
		return other;
	value = strtol(text.data, &end, 10);
	return end == text.data ? other : value;
}

/* A seccomp filter, as containers have: it may forbid the call whatever the rights. */
static bool filtered(void)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	return !file_slurp(AT_FDCWD, "/proc/self/status", 1 << 16, &text, NULL) &&
	       text.len && strstr(text.data, "\nSeccomp:\t2");
}

/* The highest kernel.perf_event_paranoid at which the call is allowed without rights. */
static long level_enough(const struct coll_event *e, const struct coll_perf_open *how)
{
	if (how->pid == -1)
		return 0;
	return e && e->spec.kernel && !e->user_only ? 1 : 2;
}

static int explain_permission(const struct coll_event *e, const char *name,
			      const struct coll_perf_open *how, int code, struct err *err)
{
	long level = coll_sysctl("perf_event_paranoid", 2);
	long enough = level_enough(e, how);

	if (how->pid > 0 && code == -EACCES && level <= enough)
		return err_set(err, code,
			       "process %d may not be looked at by this user: run as its "
			       "owner, as root, or with CAP_PERFMON and CAP_SYS_PTRACE",
			       how->pid);
	if (filtered())
		return err_set(err, code,
			       "%s: the kernel refused: %s; a seccomp filter is active "
			       "(container?): allow perf_event_open in its profile, add "
			       "--cap-add=PERFMON, and see that sysctl "
			       "kernel.perf_event_paranoid (now %ld) is at most %ld",
			       name, strerror(-code), level, enough);
	return err_set(
		err, code,
		"%s: the kernel refused: %s; run as root or with CAP_PERFMON (setcap "
		"cap_perfmon+ep), or: sysctl kernel.perf_event_paranoid=%ld (now %ld)",
		name, strerror(-code), enough, level);
}

static int explain_unsupported(const struct coll_event *e, const char *name,
			       const struct coll_perf_open *how, int code,
			       struct err *err)
{
	const char *instead = how->counts ? "count what the kernel does instead: -e "
					    "task-clock,page-faults"
					  : "sample by time instead: -e TIMER";

	if (!e || e->spec.event.kind != EV_HARDWARE)
		return err_set(err, code, "%s: this kernel does not know the event",
			       name);
	if (!coll_perf_has_pmu())
		return err_set(
			err, code,
			"%s: this machine offers no performance counters (a virtual "
			"machine without them?), so no hardware event can be counted; "
			"%s",
			name, instead);
	return err_set(
		err, code,
		"%s: this processor does not count the event%s; try another, or %s", name,
		how->counts ? "" : ", or cannot sample by it", instead);
}

/* Why perf_event_open() failed, and the remedy; @e NULL: the side-band event. */
static int explain(const struct coll_event *e, const struct coll_perf_open *how, int code,
		   struct err *err)
{
	const char *name = e ? e->spec.event.name : "task events";

	switch (-code) {
	case EACCES:
	case EPERM:
		return explain_permission(e, name, how, code, err);
	case ENOSYS:
		return err_set(
			err, code,
			"perf_event_open: the kernel was built without it "
			"(CONFIG_PERF_EVENTS), or a container's seccomp filter hides "
			"it: allow it in the container's profile");
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return explain_unsupported(e, name, how, code, err);
	case ESRCH:
		return err_set(err, code, "process %d: there is no such process",
			       how->pid);
	case EMFILE:
		return err_set(
			err, code,
			"%s: more descriptors than allowed are needed (one a thread, "
			"CPU and event): raise ulimit -n, or run as root",
			name);
	case EBUSY:
		return err_set(
			err, code,
			"%s: the counter is in use by somebody else (another profiler, "
			"the NMI watchdog: sysctl kernel.nmi_watchdog=0)",
			name);
	default:
		return err_errno(err, code, "%s: perf_event_open", name);
	}
}

static int open_event(const struct coll_event *e, const struct coll_perf_open *how,
		      struct err *err)
{
	struct perf_event_attr attr = {
		.exclude_kernel = !e->spec.kernel || e->user_only,
		.exclude_user = !e->spec.user,
		.exclude_hv = 1,
	};
	int fd;

	if (!how->counts) {
		attr.sample_period = e->period ? e->period : e->rate_hz;
		attr.freq = !e->period;
		/* an idle CPU does nothing: cycles do not count it either */
		attr.exclude_idle = 1;
	}
	fd = encode(e, &attr, err);
	if (fd < 0)
		return fd;
	fd = open_attr(&attr, how);
	return fd < 0 ? explain(e, how, fd, err) : fd;
}

int coll_perf_open_event(struct coll_event *e, const struct coll_perf_open *how,
			 struct err *err)
{
	struct err refused = { 0 };
	int fd = open_event(e, how, &refused);

	/* single threads may be watched in user mode by anyone, at most levels */
	if (fd == -EACCES && how->pid != -1 && e->spec.kernel && e->spec.user &&
	    !e->user_only) {
		e->user_only = true;
		return open_event(e, how, err);
	}
	if (fd < 0 && err)
		*err = refused;
	return fd;
}

bool coll_perf_read(int fd, struct coll_perf_value *out)
{
	ssize_t n;

	*out = (struct coll_perf_value){ 0 };
	n = read(fd, out, sizeof(*out));
	if (n >= (ssize_t)offsetof(struct coll_perf_value, lost))
		return true;
	*out = (struct coll_perf_value){ 0 };
	return false;
}

int coll_perf_open_alarm(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.comm = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	return sys_perf_event_open(&attr, -1, cpu, -1);
}

int coll_perf_open_sideband(const struct coll_perf_open *how, struct err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		/*
		 * build_id stays off: kernels up to 6.18 at least let its flag leak into
		 * the same record of other profilers' events, and perf record dies of
		 * that.
		 */
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};
	int fd = open_attr(&attr, how);

	return fd < 0 ? explain(NULL, how, fd, err) : fd;
}
