/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/aside.h"
#include "collector/source.h"
#include "collector/tasks.h"

enum { MAX_MAPS = COLL_ASIDE_MAX - 64, MAX_SMALL = 1 << 16 };

/* In another process: the question is a path, the answer a code and the content. */
static void read_file(struct coll_aside *a)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = file_slurp(AT_FDCWD, a->data, MAX_MAPS, &text, NULL);

	memcpy(a->data, &rc, sizeof(rc));
	if (text.len)
		memcpy(a->data + sizeof(rc), text.data, text.len);
	a->len = sizeof(rc) + text.len;
}

/*
 * What the kernel copies out of a process, or locks its memory for, waits for as long as
 * the process itself waits for a page of its files.
 */
static int slurp_maps(uint32_t tgid, struct strbuf *out, struct err *err)
{
	char path[64];
	int rc, code = 0;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", tgid);
	rc = coll_aside(read_file, path, strlen(path) + 1, out, COLL_ASIDE_MS);
	if (rc)
		return err_set(err, rc, "%s does not answer", path);
	if (out->len >= sizeof(code))
		memcpy(&code, out->data, sizeof(code));
	if (code)
		return err_errno(err, code == -ENOENT ? -ESRCH : code, "%s", path);
	return 0;
}

static int slurp(uint32_t tgid, const char *what, size_t max, struct strbuf *out,
		 struct err *err)
{
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", tgid, what);
	rc = file_slurp(AT_FDCWD, path, max, out, err);
	return rc == -ENOENT ? -ESRCH : rc;
}

uint32_t coll_proc_tgid(uint32_t tid)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *line;
	unsigned tgid;

	if (slurp(tid, "status", MAX_SMALL, &text, NULL) || !text.len)
		return 0;
	line = strstr(text.data, "\nTgid:");
	return line && sscanf(line, "\nTgid: %u", &tgid) == 1 ? tgid : 0;
}

char *coll_proc_cmdline(uint32_t tgid)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = slurp(tgid, "cmdline", MAX_SMALL, &text, NULL);

	if (rc && rc != -EFBIG)
		return NULL;
	while (text.len && !text.data[text.len - 1])
		strbuf_truncate(&text, text.len - 1);
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i])
			text.data[i] = ' ';
	return strbuf_take(&text);
}

char *coll_proc_cgroup(uint32_t tgid)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *from, *end;

	if (slurp(tgid, "cgroup", MAX_SMALL, &text, NULL) || !text.len)
		return NULL;
	/* lines are HIERARCHY:CONTROLLERS:PATH; hierarchy 0 is version 2 */
	from = !strncmp(text.data, "0::", 3) ? text.data : strstr(text.data, "\n0::");
	from = strchr(from ? from : text.data, ':');
	from = from ? strchr(from + 1, ':') : NULL;
	if (!from)
		return NULL;
	end = strchrnul(from + 1, '\n');
	return strndup(from + 1, (size_t)(end - from - 1));
}

/* \ooo, as /proc writes newlines in names. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

bool coll_proc_maps_line(char *line, struct coll_mmap *out)
{
	struct coll_mmap m = { 0 };
	char perms[5];
	uint64_t end;
	int name = 0;

	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32
		   " %" SCNu64 " %n",
		   &m.start, &end, perms, &m.pgoff, &m.dev_major, &m.dev_minor, &m.inode,
		   &name) != 7 ||
	    !name || strlen(perms) < 3 || perms[2] != 'x' || end <= m.start)
		return false;
	m.len = end - m.start;
	unescape(line + name);
	m.filename = line[name] ? line + name : "//anon";
	*out = m;
	return true;
}

static int add_maps(struct coll_tasks *t, uint32_t tgid, char *text)
{
	struct coll_mmap m;
	char *line;

	while ((line = strsep(&text, "\n")))
		if (coll_proc_maps_line(line, &m) && coll_tasks_mmap(t, tgid, &m))
			return -ENOMEM;
	return 0;
}

/* The program: its mappings may begin with something else, so the link is asked. */
static void find_exe(struct coll_tasks *t, struct coll_task *task)
{
	char path[64], name[4096];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", task->tgid);
	len = readlink(path, name, sizeof(name) - 1);
	task->want_exe = false;
	if (len <= 0)
		return;
	name[len] = '\0';
	for (size_t i = 0; i < task->space->nr; i++) {
		struct coll_sighting *file = task->space->maps[i].file;
		size_t n = file ? strlen(file->path) : 0;

		if (file && !strncmp(file->path, name, n) &&
		    (!name[n] || !strcmp(name + n, " (deleted)"))) {
			task->exe = file;
			return;
		}
	}
	task->exe = coll_images_see(t->images, &(struct coll_mmap){ .filename = name });
}

/* Name, parent, number of threads and start from /proc/PID/stat. */
static void read_stat(struct coll_task *task)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct timespec boot, mono;
	unsigned long long start;
	const char *open, *close;
	unsigned parent;
	int threads;
	size_t n;

	if (slurp(task->tgid, "stat", MAX_SMALL, &text, NULL))
		return;
	open = strchr(strbuf_str(&text), '(');
	close = strrchr(strbuf_str(&text), ')'); /* a name may hold anything */
	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%d %*d %llu",
		   &parent, &threads, &start) != 3)
		return;
	n = (size_t)(close - open - 1);
	n = n < COLL_COMM ? n : COLL_COMM - 1;
	memcpy(task->comm, open + 1, n);
	task->comm[n] = '\0';
	task->parent = parent;
	task->threads = threads;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	start = start * (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK));
	start -= (uint64_t)(boot.tv_sec - mono.tv_sec) * 1000000000ULL +
		 (uint64_t)(boot.tv_nsec - mono.tv_nsec);
	task->start_ns = start;
}

uint32_t coll_proc_parent(uint32_t tgid)
{
	struct coll_task task = { .tgid = tgid };

	read_stat(&task);
	return task.parent;
}

int coll_proc_read(struct coll_tasks *t, uint32_t tgid, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf maps = { 0 };
	struct coll_task *task;
	int rc = slurp_maps(tgid, &maps, err);

	if (rc)
		return rc;
	task = coll_tasks_need(t, tgid);
	if (!task || coll_tasks_clear(task))
		return err_errno(err, -ENOMEM, "process %u", tgid);
	if (maps.len > sizeof(int))
		rc = add_maps(t, tgid, maps.data + sizeof(int));
	read_stat(task);
	find_exe(t, task);
	task->known = true;
	return rc ? err_errno(err, rc, "process %u", tgid) : 0;
}

/* The number that a name in /proc is, or 0. */
static uint32_t number(const char *name)
{
	unsigned long n;
	char *end;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	n = strtoul(name, &end, 10);
	return *end || n > INT32_MAX ? 0 : (uint32_t)n;
}

int coll_proc_read_all(struct coll_tasks *t, struct err *err)
{
	CLEANUP(close_dir) DIR *dir = opendir("/proc");
	const struct dirent *entry;

	if (!dir)
		return err_errno(err, -errno, "/proc");
	while ((entry = readdir(dir))) {
		uint32_t tgid = number(entry->d_name);
		int rc = tgid ? coll_proc_read(t, tgid, NULL) : 0;

		if (rc == -ENOMEM)
			return err_errno(err, rc, "processes");
	}
	return 0;
}

int coll_proc_each_thread(uint32_t tgid, int (*visit)(void *ctx, uint32_t tid), void *ctx)
{
	CLEANUP(close_dir) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", tgid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!rc && (entry = readdir(dir))) {
		uint32_t tid = number(entry->d_name);

		if (tid)
			rc = visit(ctx, tid);
	}
	return rc;
}
