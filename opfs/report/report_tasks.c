/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/vec.h"
#include "libspec/name/pid.h"
#include "libspec/session/tasks.h"
#include "opfs/report/report.h"

/*
 * tasks.tsv: who was sampled.  Where samples were kept apart by thread, a line for each
 * thread with its samples; otherwise a line for each process.  Whoever may not read the
 * table is told of his own processes, and of others only the numbers, which names of
 * sample files have too.  As in report.tsv, columns never change, and new ones are added
 * at the end.
 */
static const char titles[] =
	"session\ttgid\ttid\tstart_ns\tcomm\tcommand_line\tcgroup\tsamples\n";

struct thread {
	uint32_t dir;
	int64_t tgid, tid;
	const struct spec_task *task; /* NULL: not known */
	uint64_t samples;
};

struct threads {
	struct thread *data;
	size_t len, cap;
};

static void threads_fini(struct threads *t)
{
	vec_fini(t);
}

static void add_text(const char *text, struct strbuf *out)
{
	strbuf_putc(out, '\t');
	if (text)
		escape_add(out, text, strlen(text), escape_plain_field);
}

static void add_ids(const char *session, int64_t tgid, int64_t tid, struct strbuf *out)
{
	escape_add(out, session, strlen(session), escape_plain_field);
	strbuf_putc(out, '\t');
	spec_pid_show(tgid, out);
	strbuf_putc(out, '\t');
	spec_pid_show(tid, out);
	strbuf_putc(out, '\t');
}

static void add_task(const struct spec_task *task, struct strbuf *out)
{
	if (task && task->start_ns)
		strbuf_printf(out, "%" PRIu64, task->start_ns);
	add_text(task ? task->comm : NULL, out);
	add_text(task ? task->cmdline : NULL, out);
	add_text(task ? task->cgroup : NULL, out);
	strbuf_putc(out, '\t');
}

/* ---- samples kept apart */

static int compare_threads(const void *x, const void *y)
{
	const struct thread *a = x, *b = y;

	if (a->dir != b->dir)
		return a->dir < b->dir ? -1 : 1;
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int gather(const struct report_job *job, struct threads *out)
{
	const struct profile *p = job->p;
	size_t kept = 0;

	for (size_t i = 0; i < p->nr_selected; i++) {
		const struct catalog_file *f = &p->cat->files[p->selected[i]];
		struct thread t = { f->dir, f->name.tgid, f->name.tid,
				    catalog_task(p->cat, f, job->reader), f->total };

		if (t.tgid >= 0 && vec_push(out, t))
			return -ENOMEM;
	}
	if (!out->len)
		return 0;
	qsort(out->data, out->len, sizeof(*out->data), compare_threads);
	for (size_t i = 1; i < out->len; i++) {
		if (compare_threads(&out->data[kept], &out->data[i]))
			out->data[++kept] = out->data[i];
		else
			out->data[kept].samples += out->data[i].samples;
	}
	out->len = kept + 1;
	return 0;
}

static void add_threads(const struct profile *p, const struct threads *threads,
			struct strbuf *out)
{
	vec_for(threads, t) {
		add_ids(p->cat->dirs[t->dir].session, t->tgid, t->tid, out);
		add_task(t->task, out);
		strbuf_printf(out, "%" PRIu64 "\n", t->samples);
	}
}

/* ---- processes whose samples were not */

static bool is_separated(const struct threads *threads, uint32_t dir)
{
	vec_for(threads, t)
		if (t->dir == dir)
			return true;
	return false;
}

static void add_processes(const struct catalog_dir *d, const struct viewer *reader,
			  struct strbuf *out)
{
	CLEANUP(spec_tasks_fini) struct spec_tasks tasks = { 0 };

	if (d->fd < 0 || spec_tasks_read(d->fd, &tasks, NULL))
		return; /* a damaged table is reported by status, where samples need it */
	for (size_t i = 0; i < tasks.nr; i++) {
		if (!spec_tasks_tell(&tasks, &tasks.rows[i], viewer_cred(reader)))
			continue;
		add_ids(d->session, tasks.rows[i].tgid, tasks.rows[i].tid, out);
		add_task(&tasks.rows[i], out);
		strbuf_putc(out, '\n');
	}
}

static int render_tasks(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(threads_fini) struct threads threads = { 0 };
	const struct profile *p = job->p;

	if (gather(job, &threads))
		return report_no_memory(err);
	strbuf_puts(out, titles);
	add_threads(p, &threads, out);
	for (uint32_t i = 0; i < p->cat->nr_dirs; i++) {
		if (viewer_gone(job->v))
			return report_interrupted(err);
		if (!is_separated(&threads, i))
			add_processes(&p->cat->dirs[i], job->reader, out);
	}
	return report_done(out, err);
}

const struct report report_tasks = {
	.name = "tasks.tsv",
	.doc = "who was sampled: processes, their command lines and cgroups, for "
	       "programs",
	.needs = PROFILE_PAIRS,
	.more = true,
	.session = true,
	.render = render_tasks,
};
