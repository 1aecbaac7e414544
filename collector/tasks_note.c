/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/asker.h"
#include "collector/procfs.h"

/*
 * Rows of the tasks table: each process as it was when it was sampled.  /proc tells of it
 * for as long as it lives; of one that has ended by then the row has what its parent left
 * it, and the path of its program as command line.
 */
struct coll_task_note {
	uint32_t tgid, stored;
	char comm[COLL_COMM];
	uint64_t start_ns;
	char *exe; /* NULL: unknown */
	struct coll_words *words;
	bool open;    /* its question is; */
	bool written; /* the row is, before the answer came */
};

static void free_note(struct coll_task_note *n)
{
	coll_words_put(n->words);
	free(n->exe);
	free(n);
}

void coll_tasks_drop_notes(struct coll_tasks *t)
{
	vec_for(&t->notes, n)
		free_note(*n);
	vec_fini(&t->notes);
}

static void learn(struct coll_tasks *t, struct coll_task_note *n,
		  const struct coll_proc *proc)
{
	struct coll_task *task = coll_tasks_find(t, n->tgid);
	struct coll_words *words = coll_words_learn(n->words, proc->text[COLL_PROC_CMDLINE],
						    proc->text[COLL_PROC_CGROUP]);

	if (!words)
		return;
	/* still the same process, and the same program */
	if (task && task->words == n->words &&
	    coll_tasks_same_start(task->start_ns, n->start_ns)) {
		coll_words_put(task->words);
		task->words = coll_words_get(words);
	}
	coll_words_put(n->words);
	n->words = words;
}

static void answered(void *ctx, uint64_t arg, int rc, char *answer, size_t len)
{
	struct coll_task_note *n = (struct coll_task_note *)(uintptr_t)arg;
	struct coll_proc proc;

	n->open = false;
	if (rc || coll_proc_take(answer, len, &proc) ||
	    !coll_tasks_same_start(n->start_ns, proc.start_ns))
		return;
	learn(ctx, n, &proc);
}

static void ask(struct coll_tasks *t, struct coll_task_note *n)
{
	const struct coll_question q = { .kind = COLL_ASK_WORDS,
					 .lane = coll_lane_process(n->tgid),
					 .data = &n->tgid,
					 .len = sizeof(n->tgid),
					 .answered = answered,
					 .ctx = t,
					 .arg = (uintptr_t)n };

	n->open = true;
	if (coll_asker_ask(t->asker, &q))
		n->open = false;
}

/* A row that still waits for its answer would come after the newer one. */
static void supersede(struct coll_tasks *t, const struct coll_task *task)
{
	vec_for(&t->notes, n)
		if ((*n)->tgid == task->tgid)
			(*n)->written = true;
}

void coll_tasks_note(struct coll_tasks *t, struct coll_task *task)
{
	struct coll_task_note *n;

	/* idle CPUs, and whoever was gone when it was sampled, are nobody */
	if (task->noted || t->session_fd < 0 || !task->tgid || task->tgid == UINT32_MAX)
		return;
	if (task->has_row)
		supersede(t, task);
	n = calloc(1, sizeof(*n));
	if (!n || vec_push(&t->notes, n)) {
		free(n);
		return;
	}
	n->tgid = task->tgid;
	n->stored = task->stored ? task->stored : task->tgid;
	n->start_ns = task->start_ns;
	n->words = coll_words_get(task->words);
	n->exe = task->exe ? strdup(task->exe->path) : NULL;
	memcpy(n->comm, task->comm, sizeof(n->comm));
	task->noted = task->has_row = true;
	if (!t->saved && !task->gone && !(n->words && n->words->sure))
		ask(t, n);
}

static void make_row(const struct coll_task_note *n, struct spec_task *row)
{
	*row = (struct spec_task){ .tgid = n->stored,
				   .tid = n->stored,
				   .start_ns = n->start_ns,
				   .comm = (char *)(uintptr_t)n->comm };
	if (n->words) {
		row->cmdline = n->words->cmdline;
		row->cgroup = n->words->cgroup;
	}
	if (!row->cmdline)
		row->cmdline = n->exe;
}

/* Those that are done with are forgotten. */
static void drop_written(struct coll_tasks *t)
{
	size_t kept = 0;

	vec_for(&t->notes, n) {
		if ((*n)->open || !(*n)->written)
			t->notes.data[kept++] = *n;
		else
			free_note(*n);
	}
	t->notes.len = kept;
}

int coll_tasks_write_notes(struct coll_tasks *t, bool all, struct err *err)
{
	CLEANUP(free_ptr) struct spec_task *rows = NULL;
	size_t nr = 0;
	int rc = 0;

	if (!t->notes.len)
		return 0;
	rows = calloc(t->notes.len, sizeof(*rows));
	if (!rows)
		return err_errno(err, -ENOMEM, "processes");
	vec_for(&t->notes, n) {
		if ((*n)->written || ((*n)->open && !all))
			continue;
		make_row(*n, &rows[nr++]);
		(*n)->written = true;
	}
	if (nr)
		rc = spec_tasks_append_all(t->session_fd, rows, nr, err);
	drop_written(t);
	return rc;
}
