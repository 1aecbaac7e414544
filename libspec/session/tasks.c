/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "libspec/session/table.h"

static const struct spec_table tasks_table = { .name = "tasks",
					       .header = "# opfs tasks 1",
					       .nr_fields = 7,
					       .nr_needed = 6,
					       .mode = 0640 };

enum { TGID, TID, START, COMM, CMDLINE, CGROUP, USER };

/* A table that is being read. */
struct reading {
	struct spec_tasks tasks;
	struct map by_task;        /* struct task_key -> index */
	struct map_u64 by_process; /* tgid -> index of the last row of its first thread */
};

struct task_key {
	uint32_t tgid, tid;
	uint64_t start_ns;
};

static void reading_fini(struct reading *r)
{
	spec_tasks_fini(&r->tasks);
	map_fini(&r->by_task);
	map_u64_fini(&r->by_process);
}

/* A copy, or NULL of NULL. */
static int copy_text(struct arena *texts, const char *text, char **out)
{
	if (!text)
		return 0;
	*out = arena_strdup(texts, text);
	return *out ? 0 : -ENOMEM;
}

static int parse_row(struct arena *texts, char *const *f, struct spec_task *out)
{
	struct spec_task t = { 0 };
	uint64_t tgid, tid, uid;

	if (!spec_table_parse(f[TGID], UINT32_MAX, &tgid) ||
	    !spec_table_parse(f[TID], UINT32_MAX, &tid) ||
	    !spec_table_parse(f[START], UINT64_MAX, &t.start_ns))
		return -EBADMSG;
	t.tgid = (uint32_t)tgid;
	t.tid = (uint32_t)tid;
	t.has_uid = spec_table_parse(f[USER], UINT32_MAX, &uid);
	t.uid = t.has_uid ? (uint32_t)uid : 0;
	if (copy_text(texts, f[COMM], &t.comm) ||
	    copy_text(texts, f[CMDLINE], &t.cmdline) ||
	    copy_text(texts, f[CGROUP], &t.cgroup))
		return -ENOMEM;
	*out = t;
	return 0;
}

static int add_row(void *ctx, char *const *fields)
{
	struct reading *r = ctx;
	struct spec_tasks *t = &r->tasks;
	struct spec_task row;
	struct task_key key;
	uint64_t at = t->nr;
	int rc = parse_row(&t->texts, fields, &row);

	if (rc)
		return rc;
	key = (struct task_key){ row.tgid, row.tid, row.start_ns };
	if (map_get(&r->by_task, &key, sizeof(key), &at)) {
		if (!row.cgroup)
			row.cgroup = t->rows[at].cgroup;
	} else {
		if (vec_reserve_((void **)&t->rows, &t->cap, t->nr, 1, sizeof(row)) ||
		    map_set(&r->by_task, &key, sizeof(key), at))
			return -ENOMEM;
		t->nr++;
	}
	t->rows[at] = row;
	return row.tid == row.tgid ? map_u64_set(&r->by_process, row.tgid, at) : 0;
}

static void complete_threads(struct reading *r)
{
	struct spec_tasks *t = &r->tasks;

	for (size_t i = 0; i < t->nr; i++) {
		struct spec_task *thread = &t->rows[i];
		uint64_t at = i;

		if (thread->tid != thread->tgid)
			map_u64_get(&r->by_process, thread->tgid, &at);
		thread->process = &t->rows[at];
		if (!thread->cmdline)
			thread->cmdline = thread->process->cmdline;
		if (!thread->cgroup)
			thread->cgroup = thread->process->cgroup;
		if (!thread->has_uid) {
			thread->has_uid = thread->process->has_uid;
			thread->uid = thread->process->uid;
		}
	}
}

void spec_tasks_stat(int session_fd, struct spec_tasks *out)
{
	spec_table_stat(&tasks_table, session_fd, &out->file);
}

int spec_tasks_read(int session_fd, struct spec_tasks *out, struct err *err)
{
	CLEANUP(reading_fini) struct reading r = { 0 };
	int rc;

	spec_tasks_stat(session_fd, out);
	r.tasks.file = out->file;
	rc = spec_table_read(&tasks_table, session_fd, add_row, &r, err);
	if (rc == -EACCES)
		return 0;
	if (rc)
		return rc;
	complete_threads(&r);
	*out = TAKE(r.tasks);
	return 0;
}

bool spec_tasks_tell(const struct spec_tasks *t, const struct spec_task *row,
		     const struct cred *who)
{
	return !who || cred_allows(who, &t->file, S_IROTH) ||
	       (row->has_uid && row->uid == who->uid);
}

bool spec_tasks_same_readers(const struct spec_tasks *t, int session_fd)
{
	return spec_table_same_readers(&tasks_table, session_fd, &t->file);
}

int spec_tasks_append_all(int session_fd, const struct spec_task *rows, size_t nr,
			  struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf lines = { 0 };

	for (size_t i = 0; i < nr; i++) {
		CLEANUP(strbuf_fini) struct strbuf line = { 0 };

		spec_table_number(&line, rows[i].tgid);
		spec_table_number(&line, rows[i].tid);
		spec_table_number(&line, rows[i].start_ns);
		spec_table_field(&line, rows[i].comm);
		spec_table_field(&line, rows[i].cmdline);
		spec_table_field(&line, rows[i].cgroup);
		if (rows[i].has_uid)
			spec_table_number(&line, rows[i].uid);
		else
			spec_table_field(&line, NULL);
		if (strbuf_error(&line))
			return err_errno(err, -ENOMEM, "%s", tasks_table.name);
		if (lines.len)
			strbuf_putc(&lines, '\n');
		strbuf_add(&lines, line.data, line.len);
	}
	return nr ? spec_table_append(&tasks_table, session_fd, &lines, err) : 0;
}

int spec_tasks_append(int session_fd, const struct spec_task *row, struct err *err)
{
	return spec_tasks_append_all(session_fd, row, 1, err);
}

void spec_tasks_fini(struct spec_tasks *t)
{
	arena_fini(&t->texts);
	free(t->rows);
	*t = (struct spec_tasks){ 0 };
}
