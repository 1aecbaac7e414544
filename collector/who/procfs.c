/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "collector/rec/rec.h"
#include "collector/who/answer.h"
#include "collector/who/mounts.h"

/* /proc tells times in ticks. */
#define SAME_NS 50000000ULL

enum {
	MAX_SMALL = 1 << 16,
	/* of a process with more, some have no name */
	MAX_THREADS = 1 << 17,
	MAX_BUT_MAPS = (1 << 18) + MAX_THREADS * (int)sizeof(struct coll_proc_thread)
};

/* @tid: of the files below task/TID; 0: of those of the process. */
static int slurp_of(uint32_t tgid, uint32_t tid, const char *what, size_t max,
		    struct strbuf *out, struct err *err)
{
	char path[64];
	int rc;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s",
			 tgid, tid, what);
	else
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", tgid, what);
	rc = file_slurp(AT_FDCWD, path, max, out, err);
	return rc == -ENOENT ? -ESRCH : rc;
}

static int slurp(uint32_t tgid, const char *what, size_t max, struct strbuf *out,
		 struct err *err)
{
	return slurp_of(tgid, 0, what, max, out, err);
}

/* Of a line of /proc/PID/status the number behind @skipped others, or else the last. */
static uint32_t status_number(uint32_t pid, const char *name, unsigned skipped,
			      uint32_t unknown)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *at;
	uint32_t n = unknown;
	int len;

	if (slurp(pid, "status", MAX_SMALL, &text, NULL) || !text.len)
		return unknown;
	/* a name, which is in the first line, has its newlines escaped */
	at = strstr(text.data, name);
	if (at)
		at += strlen(name);
	while (at && sscanf(at, "%*1[\t ]%" SCNu32 "%n", &n, &len) == 1 && skipped--)
		at += len;
	return n;
}

uint32_t coll_proc_tgid(uint32_t tid)
{
	return status_number(tid, "\nTgid:", 0, 0);
}

uint32_t coll_proc_uid(uint32_t tgid)
{
	return status_number(tgid, "\nUid:", 0, COLL_UID_UNKNOWN);
}

uint32_t coll_proc_euid(uint32_t tgid)
{
	return status_number(tgid, "\nUid:", 1, COLL_UID_UNKNOWN);
}

uint32_t coll_proc_own_number(uint32_t tgid)
{
	return status_number(tgid, "\nNSpid:", UINT_MAX, tgid);
}

uint32_t coll_proc_owner(uint32_t tgid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, tgid);
	return stat(path, &st) ? COLL_UID_UNKNOWN : st.st_uid;
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
	coll_unescape(line + name);
	m.filename = line[name] ? line + name : "//anon";
	*out = m;
	return true;
}

bool coll_proc_find_mapping(uint32_t tgid,
			    bool (*is_it)(void *ctx, const struct coll_mmap *m),
			    void *ctx)
{
	CLEANUP(close_file) FILE *maps = NULL;
	CLEANUP(free_ptr) char *line = NULL;
	struct coll_mmap m;
	size_t cap = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", tgid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &cap, maps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (coll_proc_maps_line(line, &m) && is_it(ctx, &m))
			return true;
	}
	return false;
}

/* What /proc/PID/stat says. */
struct stat_line {
	uint32_t parent;
	int threads;
	char state, comm[COLL_TASK_COMM];
	uint64_t start_ns;
};

/* @tid: 0: of the whole process, for which the kernel looks at each of its threads. */
static int read_stat_of(uint32_t tgid, uint32_t tid, struct stat_line *out,
			struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	unsigned long long start;
	const char *open, *close;
	int rc = slurp_of(tgid, tid, "stat", MAX_SMALL, &text, err);
	size_t n;

	*out = (struct stat_line){ 0 };
	if (rc)
		return rc;
	open = strchr(strbuf_str(&text), '(');
	close = strrchr(strbuf_str(&text), ')'); /* a name may hold anything */
	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %c %" SCNu32 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		   "%*d %*d %d %*d %llu",
		   &out->state, &out->parent, &out->threads, &start) != 4)
		return err_set(err, -EBADMSG, "/proc/%u/stat makes no sense", tgid);
	n = (size_t)(close - open - 1);
	n = n < sizeof(out->comm) ? n : sizeof(out->comm) - 1;
	memcpy(out->comm, open + 1, n);
	start *= CLOCK_NS_PER_S / (unsigned long long)sysconf(_SC_CLK_TCK);
	out->start_ns = start - (clock_boot_ns() - clock_mono_ns());
	return 0;
}

static int read_stat(uint32_t tgid, struct stat_line *out, struct err *err)
{
	return read_stat_of(tgid, 0, out, err);
}

uint32_t coll_proc_parent(uint32_t tgid)
{
	struct stat_line stat;

	return read_stat(tgid, &stat, NULL) ? 0 : stat.parent;
}

uint64_t coll_proc_start(uint32_t tgid)
{
	struct stat_line stat;

	return read_stat(tgid, &stat, NULL) ? 0 : stat.start_ns;
}

bool coll_proc_is_over(uint32_t tgid)
{
	struct stat_line stat;

	if (!tgid || tgid > INT32_MAX)
		return false;
	if (kill((pid_t)tgid, 0) && errno == ESRCH)
		return true;
	/* one that nobody waited for yet; or only its first thread has ended */
	return !read_stat(tgid, &stat, NULL) &&
	       (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

bool coll_proc_thread_is_over(uint32_t tid)
{
	struct stat_line stat;
	int rc = read_stat(tid, &stat, NULL);

	return rc == -ESRCH || (!rc && (stat.state == 'Z' || stat.state == 'X'));
}

/* ---- in a helper */

/* What goes over the wire before the texts, in their order, and the threads. */
struct wire {
	int32_t code;
	uint32_t parent, uid;
	uint64_t start_ns;
	char comm[COLL_TASK_COMM];
	uint32_t len[COLL_PROC_NR_TEXTS]; /* with the NUL; 0: unknown */
	uint32_t nr_threads;
};

/* What is asked for beside the words. */
enum { MAPS = 1, THREADS = 2 };

static void put_text(struct strbuf *out, char *text, uint32_t *len)
{
	*len = text && *text ? (uint32_t)strlen(text) + 1 : 0;
	strbuf_add(out, text ? text : "", *len);
	free(text);
}

static char *read_exe(uint32_t tgid)
{
	char path[64], name[4096];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", tgid);
	len = readlink(path, name, sizeof(name) - 1);
	return len > 0 ? strndup(name, (size_t)len) : NULL;
}

/* Only lines of executable mappings: others are most of it. */
static int read_maps(uint32_t tgid, char **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf kept = { 0 };
	char *rest, *line;
	int rc = slurp(tgid, "maps", COLL_ANSWER_MAX, &text, err);

	if (rc)
		return rc;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		const char *perms = strchr(line, ' ');

		if (!perms || strnlen(perms, 4) < 4 || perms[3] != 'x')
			continue;
		strbuf_puts(&kept, line);
		strbuf_putc(&kept, '\n');
	}
	if (strbuf_error(&kept) || kept.len > COLL_ANSWER_MAX - MAX_BUT_MAPS)
		return err_errno(err, -EFBIG, "/proc/%u/maps", tgid);
	*out = strbuf_take(&kept);
	return 0;
}

static int take_living(void *ctx, uint32_t tid)
{
	struct stat_line stat;

	if (read_stat(tid, &stat, NULL) || stat.state == 'Z' || stat.state == 'X')
		return 0;
	*(uint32_t *)ctx = tid;
	return 1;
}

/* A thread that has memory: the first one may have ended before the others. */
static uint32_t living_thread(uint32_t tgid, const struct stat_line *first)
{
	uint32_t tid = tgid;

	if (first->state == 'Z' && first->threads > 1)
		coll_proc_each_thread(tgid, take_living, &tid);
	return tid;
}

/* The threads of a process that are being read. */
struct threads {
	uint32_t tgid, nr;
	struct strbuf *out;
};

static int add_thread(void *ctx, uint32_t tid)
{
	struct threads *all = ctx;
	struct coll_proc_thread thread = { .tid = tid };
	struct stat_line stat;

	if (tid == all->tgid || read_stat_of(all->tgid, tid, &stat, NULL))
		return 0;
	thread.start_ns = stat.start_ns;
	memcpy(thread.comm, stat.comm, sizeof(thread.comm));
	strbuf_add(all->out, &thread, sizeof(thread));
	return ++all->nr == MAX_THREADS;
}

static int read_process(uint32_t tgid, unsigned parts, struct wire *w, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf found = { 0 };
	struct threads threads = { .tgid = tgid, .out = &found };
	struct stat_line before, after;
	char *maps = NULL;
	int rc = read_stat(tgid, &before, NULL);
	uint32_t tid = rc ? tgid : living_thread(tgid, &before);

	if (!rc && parts & MAPS)
		rc = read_maps(tid, &maps, NULL);
	if (!rc && parts & THREADS)
		coll_proc_each_thread(tgid, add_thread, &threads);
	if (!rc) {
		w->uid = coll_proc_uid(tid);
		put_text(out, read_exe(tid), &w->len[COLL_PROC_EXE]);
		put_text(out, coll_proc_cmdline(tid), &w->len[COLL_PROC_CMDLINE]);
		put_text(out, coll_proc_cgroup(tid), &w->len[COLL_PROC_CGROUP]);
		/* all of it is of one process */
		rc = read_stat(tgid, &after, NULL);
		if (!rc && after.start_ns > before.start_ns + SAME_NS)
			rc = -ESRCH;
	}
	put_text(out, maps, &w->len[COLL_PROC_MAPS]);
	strbuf_add(out, strbuf_str(&found), found.len);
	w->nr_threads = threads.nr;
	w->parent = before.parent;
	w->start_ns = before.start_ns;
	memcpy(w->comm, before.comm, sizeof(w->comm));
	return rc;
}

static void answer(const char *question, size_t len, unsigned parts, struct strbuf *out)
{
	struct wire w = { .uid = COLL_UID_UNKNOWN };
	size_t at = out->len;
	uint32_t tgid;

	if (len != sizeof(tgid))
		return;
	memcpy(&tgid, question, sizeof(tgid));
	strbuf_add(out, &w, sizeof(w));
	w.code = read_process(tgid, parts, &w, out);
	if (!strbuf_error(out))
		memcpy(out->data + at, &w, sizeof(w));
}

void coll_proc_answer(char *question, size_t len, struct strbuf *out, int *file)
{
	(void)file;
	answer(question, len, MAPS, out);
}

void coll_proc_answer_threads(char *question, size_t len, struct strbuf *out, int *file)
{
	(void)file;
	answer(question, len, MAPS | THREADS, out);
}

void coll_proc_answer_words(char *question, size_t len, struct strbuf *out, int *file)
{
	(void)file;
	answer(question, len, 0, out);
}

/* ---- in the collector */

int coll_proc_take(char *bytes, size_t len, struct coll_proc *out)
{
	char *at = bytes + sizeof(struct wire);
	struct wire w;

	*out = (struct coll_proc){ 0 };
	if (len < sizeof(w))
		return -EBADMSG;
	memcpy(&w, bytes, sizeof(w));
	len -= sizeof(w);
	for (int i = 0; i < COLL_PROC_NR_TEXTS; i++) {
		if (w.len[i] > len)
			return -EBADMSG;
		if (w.len[i] && !at[w.len[i] - 1])
			out->text[i] = at;
		at += w.len[i];
		len -= w.len[i];
	}
	if (w.nr_threads > len / sizeof(struct coll_proc_thread))
		return -EBADMSG;
	out->threads = at;
	out->nr_threads = w.nr_threads;
	out->parent = w.parent;
	out->uid = w.uid;
	out->start_ns = w.start_ns;
	memcpy(out->comm, w.comm, sizeof(out->comm) - 1);
	return w.code;
}

struct coll_proc_thread coll_proc_thread(const struct coll_proc *proc, size_t i)
{
	struct coll_proc_thread thread;

	memcpy(&thread, proc->threads + i * sizeof(thread), sizeof(thread));
	thread.comm[sizeof(thread.comm) - 1] = '\0';
	return thread;
}

/* The number that a name in /proc is, or 0. */
static uint32_t number(const char *name)
{
	uint64_t n;

	return *name != '0' && number_parse(name, 10, INT32_MAX, &n) ? (uint32_t)n : 0;
}

int coll_proc_each(int (*visit)(void *ctx, uint32_t tgid), void *ctx)
{
	CLEANUP(close_dir) DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir))) {
		uint32_t tgid = number(entry->d_name);

		if (tgid)
			rc = visit(ctx, tgid);
	}
	return rc;
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
