/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/tasks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/who/asker.h"
#include "collector/who/procfs.h"
#include "collector/who/recognize.h"
#include "libspec/name/pid.h"

void coll_tasks_init(struct coll_tasks *t, struct coll_images *images, int session_fd)
{
	*t = (struct coll_tasks){ .images = images, .session_fd = session_fd };
	t->dead_end = &t->dead;
	coll_threads_init(&t->threads);
}

static void free_task(struct coll_task *task)
{
	coll_space_put(task->space);
	coll_words_put(task->words);
	free(task);
}

void coll_tasks_reset(struct coll_tasks *t)
{
	size_t pos = 0;
	uint64_t tgid, value;

	while (map_u64_next(&t->by_tgid, &pos, &tgid, &value))
		free_task((struct coll_task *)(uintptr_t)value);
	map_u64_fini(&t->by_tgid);
	coll_threads_reset(&t->threads);
	memset(t->found, 0, sizeof(t->found));
	t->dead = NULL;
	t->dead_end = &t->dead;
}

/*
 * Rows of the tasks table: each process as it was when it was sampled.  /proc tells of it
 * for as long as it lives; of one that has ended by then the row has what its parent left
 * it, and the path of its program as command line.  Rows of other threads have a name
 * only.
 */
struct coll_task_note {
	uint32_t tgid, stored, stored_tid;
	char comm[COLL_TASK_COMM];
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

static void drop_notes(struct coll_tasks *t)
{
	vec_for(&t->notes, n)
		free_note(*n);
	vec_fini(&t->notes);
}

void coll_tasks_fini(struct coll_tasks *t)
{
	drop_notes(t);
	coll_tasks_reset(t);
	coll_numbers_fini(&t->numbers);
}

struct coll_task *coll_tasks_find(struct coll_tasks *t, uint32_t tgid)
{
	struct coll_task **found = &t->found[tgid % COLL_TASKS_FOUND];
	uint64_t value;

	if (*found && (*found)->tgid == tgid)
		return *found;
	if (!map_u64_get(&t->by_tgid, tgid, &value))
		return NULL;
	*found = (struct coll_task *)(uintptr_t)value;
	return *found;
}

struct coll_task *coll_tasks_need(struct coll_tasks *t, uint32_t tgid)
{
	struct coll_task *task = coll_tasks_find(t, tgid);

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->tgid = tgid;
	task->space = coll_space_new();
	if (!task->space || map_u64_set(&t->by_tgid, tgid, (uintptr_t)task)) {
		free_task(task);
		return NULL;
	}
	return task;
}

static void unlink_dead(struct coll_tasks *t, const struct coll_task *task)
{
	struct coll_task **at = &t->dead;

	while (*at && *at != task)
		at = &(*at)->next_dead;
	if (!*at)
		return;
	*at = task->next_dead;
	if (t->dead_end == &task->next_dead)
		t->dead_end = at;
}

static void forget(struct coll_tasks *t, struct coll_task *task)
{
	map_u64_del(&t->by_tgid, task->tgid);
	if (t->found[task->tgid % COLL_TASKS_FOUND] == task)
		t->found[task->tgid % COLL_TASKS_FOUND] = NULL;
	free_task(task);
}

void coll_tasks_forget(struct coll_tasks *t, uint32_t tgid)
{
	struct coll_task *old = coll_tasks_find(t, tgid);

	if (!old)
		return;
	if (old->dead_ns)
		unlink_dead(t, old);
	forget(t, old);
}

void coll_tasks_adopt(struct coll_task *task)
{
	task->in_tree = true;
	task->await_exec = false;
}

int coll_tasks_mmap(struct coll_tasks *t, uint32_t tgid, const struct coll_mmap *m)
{
	struct coll_map map = { .start = m->start, .file_off = m->pgoff };
	struct coll_task *task;

	if (!m->len || __builtin_add_overflow(m->start, m->len, &map.end))
		return 0;
	task = coll_tasks_need(t, tgid);
	if (!task)
		return -ENOMEM;
	map.label = task->want_exe && m->filename[0] == '/' && m->filename[1] != '/'
			    ? NULL
			    : coll_images_label(t->images, m);
	if (!map.label) {
		map.file = coll_images_see(t->images, m);
		if (!map.file)
			return -ENOMEM;
		/* a new program is new to us at most once: later it may be gone */
		if (task->in_tree && !map.file->image)
			coll_images_identify(t->images, map.file, tgid, task->parent);
		if (task->want_exe) {
			task->exe = map.file;
			task->want_exe = false;
		}
	}
	return coll_space_add(&task->space, &map);
}

/* The name of a thread; NULL: unknown. */
static const char *name_of(struct coll_tasks *t, uint32_t tgid, uint32_t tid)
{
	const struct coll_thread *thread = coll_threads_find(&t->threads, tgid, tid);
	const struct coll_task *task = coll_tasks_find(t, tgid);

	return thread ? thread->comm : task && tid == tgid ? task->comm : NULL;
}

/* A new thread has the name of the one that made it. */
static int fork_thread(struct coll_tasks *t, const struct coll_rec *rec)
{
	const struct coll_thread *known =
		coll_threads_find(&t->threads, rec->tgid, rec->tid);
	const char *name = name_of(t, rec->tgid, rec->parent.tid);
	struct coll_thread *thread;

	if (!coll_tasks_need(t, rec->tgid))
		return -ENOMEM;
	/* as in coll_tasks_fork() */
	if (!t->threads.wanted ||
	    (known && known->start_ns && coll_same_start(known->start_ns, rec->time_ns)))
		return 0;
	thread = coll_threads_see(&t->threads, rec->tgid, rec->tid, false, rec->time_ns);
	if (!thread)
		return -ENOMEM;
	if (name)
		coll_threads_name(thread, name);
	return 0;
}

int coll_tasks_fork(struct coll_tasks *t, const struct coll_rec *rec)
{
	struct coll_task *parent, *child;
	const char *name;

	if (rec->tgid == rec->parent.tgid)
		return fork_thread(t, rec);
	child = coll_tasks_find(t, rec->tgid);
	/* /proc told of it already, and knows better than its parent */
	if (child && child->known && child->start_ns &&
	    coll_same_start(child->start_ns, rec->time_ns))
		return 0;
	coll_tasks_forget(t, rec->tgid);
	child = coll_tasks_need(t, rec->tgid);
	if (!child)
		return -ENOMEM;
	child->parent = rec->parent.tgid;
	child->start_ns = rec->time_ns;
	parent = coll_tasks_find(t, rec->parent.tgid);
	if (!parent)
		return 0;
	coll_space_put(child->space);
	child->space = coll_space_get(parent->space);
	coll_words_put(child->words);
	child->words = coll_words_get(parent->words);
	child->exe = parent->exe;
	child->want_exe = parent->want_exe;
	child->known = parent->known;
	name = name_of(t, rec->parent.tgid, rec->parent.tid);
	memcpy(child->comm, name ? name : parent->comm, sizeof(child->comm));
	if (parent->in_tree)
		coll_tasks_adopt(child);
	return 0;
}

/* Takes all mappings away, as exec does.  0 or -ENOMEM. */
static int clear_mappings(struct coll_task *task)
{
	struct coll_space *empty = coll_space_new();

	if (!empty)
		return -ENOMEM;
	coll_space_put(task->space);
	task->space = empty;
	return 0;
}

/* The cgroup is the same after an exec.  Of the command line, if it cannot be read any
 * more, nothing is known: the one before would be another program's. */
static void forget_cmdline(struct coll_task *task)
{
	struct coll_words *old = task->words;

	/* what the caller said of the command that it starts holds until /proc is read */
	if (!old || (task->await_exec && !old->sure))
		return;
	task->words = coll_words_new(NULL, old->cgroup, old->uid, false);
	coll_words_put(old);
}

static int name_thread(struct coll_tasks *t, const struct coll_rec *rec)
{
	struct coll_thread *thread;

	if (!t->threads.wanted)
		return 0;
	thread = coll_threads_see(&t->threads, rec->tgid, rec->tid, true, 0);
	if (!thread)
		return -ENOMEM;
	coll_threads_name(thread, rec->comm.name);
	return 0;
}

int coll_tasks_comm(struct coll_tasks *t, const struct coll_rec *rec)
{
	struct coll_task *task = coll_tasks_need(t, rec->tgid);

	if (!task)
		return -ENOMEM;
	if (rec->tid == rec->tgid || rec->comm.exec) {
		strncpy(task->comm, rec->comm.name, sizeof(task->comm) - 1);
		task->noted = false;
	}
	if (!rec->comm.exec)
		return rec->tid == rec->tgid ? 0 : name_thread(t, rec);
	if (clear_mappings(task))
		return -ENOMEM;
	/* until the new program is mapped, samples are still the old one's */
	task->want_exe = true;
	task->known = true;
	task->gone = false;
	forget_cmdline(task);
	if (task->await_exec)
		coll_tasks_adopt(task);
	return 0;
}

static void take_for_dead(struct coll_tasks *t, struct coll_task *task, uint64_t now_ns)
{
	task->dead_ns = now_ns ? now_ns : 1;
	task->next_dead = NULL;
	*t->dead_end = task;
	t->dead_end = &task->next_dead;
}

void coll_tasks_exit(struct coll_tasks *t, const struct coll_rec *rec)
{
	struct coll_task *task = coll_tasks_find(t, rec->tgid);

	coll_threads_exit(&t->threads, rec->tgid, rec->tid, rec->time_ns);
	/* a source that tells of task switches tells of the first thread last of all */
	if (task && !task->dead_ns && (rec->tid == rec->tgid || !task->told))
		take_for_dead(t, task, rec->time_ns);
}

void coll_tasks_bury(struct coll_tasks *t, uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t tgid, value;

	if (!t->saved)
		coll_threads_bury(&t->threads, now_ns);
	while (!t->saved && map_u64_next(&t->by_tgid, &pos, &tgid, &value)) {
		struct coll_task *task = (struct coll_task *)(uintptr_t)value;

		if (!task->dead_ns && tgid && tgid <= INT32_MAX && kill((pid_t)tgid, 0) &&
		    errno == ESRCH)
			take_for_dead(t, task, now_ns);
	}
}

static int learn_maps(struct coll_tasks *t, struct coll_task *task, char *text)
{
	struct coll_mmap m;
	char *line;

	if (clear_mappings(task))
		return -ENOMEM;
	while ((line = strsep(&text, "\n")))
		if (coll_proc_maps_line(line, &m) && coll_tasks_mmap(t, task->tgid, &m))
			return -ENOMEM;
	return 0;
}

/* The program: its mappings may begin with something else, so the link is asked. */
static void learn_exe(struct coll_tasks *t, struct coll_task *task, char *name)
{
	task->want_exe = false;
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

static int learn_threads(struct coll_tasks *t, uint32_t tgid,
			 const struct coll_proc *proc)
{
	for (size_t i = 0; i < proc->nr_threads; i++) {
		struct coll_proc_thread told = coll_proc_thread(proc, i);
		struct coll_thread *thread =
			coll_threads_find(&t->threads, tgid, told.tid);
		bool same = thread && coll_same_start(thread->start_ns, told.start_ns);

		thread = coll_threads_see(&t->threads, tgid, told.tid, same,
					  told.start_ns);
		if (!thread)
			return -ENOMEM;
		coll_threads_name(thread, told.comm);
	}
	return 0;
}

int coll_tasks_learn(struct coll_tasks *t, struct coll_task *task, struct coll_proc *proc)
{
	struct coll_words *words;
	int rc = 0;

	if (!coll_same_start(task->start_ns, proc->start_ns))
		return -ESRCH;
	if (proc->text[COLL_PROC_MAPS])
		rc = learn_maps(t, task, proc->text[COLL_PROC_MAPS]);
	if (!rc)
		rc = learn_threads(t, task->tgid, proc);
	if (proc->text[COLL_PROC_EXE])
		learn_exe(t, task, proc->text[COLL_PROC_EXE]);
	memcpy(task->comm, proc->comm, sizeof(task->comm));
	task->parent = proc->parent;
	if (!task->start_ns)
		task->start_ns = proc->start_ns;
	words = coll_words_learn(task->words, proc);
	coll_words_put(task->words);
	task->words = words;
	task->known = true;
	return rc;
}

void coll_tasks_keep(struct coll_tasks *t, bool images)
{
	size_t pos = 0;
	uint64_t tgid, value;

	while (map_u64_next(&t->by_tgid, &pos, &tgid, &value)) {
		const struct coll_task *task = (struct coll_task *)(uintptr_t)value;

		coll_images_keep(task->exe);
		for (size_t i = 0; i < task->space->nr; i++) {
			coll_images_keep(task->space->maps[i].file);
			if (images)
				task->space->maps[i].anon = NULL;
		}
	}
}

void coll_tasks_move(struct coll_tasks *t, int session_fd)
{
	size_t pos = 0;
	uint64_t tgid, value;

	t->session_fd = session_fd;
	coll_numbers_fini(&t->numbers);
	while (map_u64_next(&t->by_tgid, &pos, &tgid, &value)) {
		struct coll_task *task = (struct coll_task *)(uintptr_t)value;

		task->noted = task->has_row = false;
		task->stored = 0;
	}
	coll_threads_move(&t->threads);
}

/* Another process that has the number of an earlier one: its first thread is younger. */
static bool is_another(const struct coll_task *task, uint32_t tid,
		       const struct coll_who *who)
{
	return task->told && tid == task->tgid && task->start_ns != who->start_ns;
}

static void switch_thread(struct coll_tasks *t, uint32_t tgid, uint32_t tid,
			  const struct coll_who *who)
{
	struct coll_thread *thread = coll_threads_find(&t->threads, tgid, tid);
	bool same = thread && thread->start_ns == who->start_ns;

	if (!t->threads.wanted || tid == tgid)
		return;
	thread = coll_threads_see(&t->threads, tgid, tid, same, who->start_ns);
	if (thread) /* else it has its process's name */
		coll_threads_name(thread, who->comm);
}

struct coll_task *coll_tasks_switch(struct coll_tasks *t, uint32_t tgid, uint32_t tid,
				    const struct coll_who *who, struct coll_sighting *exe)
{
	struct coll_task *task = coll_tasks_find(t, tgid);

	if (task && is_another(task, tid, who)) {
		coll_tasks_forget(t, tgid);
		task = NULL;
	}
	if (!task)
		task = coll_tasks_need(t, tgid);
	if (!task)
		return NULL;
	/* its first thread ended, or a sample of it was resolved late: it is not over */
	if (task->dead_ns) {
		unlink_dead(t, task);
		task->dead_ns = 0;
	}
	if (tid == tgid)
		task->start_ns = who->start_ns;
	if (!task->told || task->execs != who->execs ||
	    (tid == tgid && strncmp(task->comm, who->comm, sizeof(task->comm)) != 0)) {
		memcpy(task->comm, who->comm, sizeof(task->comm));
		task->noted = false;
	}
	task->parent = who->parent ? who->parent : task->parent;
	/* a thread that exits has none any more, and is still the program that it was */
	if (exe || !task->told || task->execs != who->execs)
		task->exe = exe;
	task->execs = who->execs;
	task->known = task->told = true;
	switch_thread(t, tgid, tid, who);
	return task;
}

void coll_tasks_sweep(struct coll_tasks *t, uint64_t before_ns)
{
	coll_threads_sweep(&t->threads, before_ns);
	while (t->dead && t->dead->dead_ns < before_ns) {
		struct coll_task *task = t->dead;

		unlink_dead(t, task);
		if (task->asked) { /* its records wait for the answer */
			take_for_dead(t, task, before_ns);
			return;
		}
		task->dead_ns = 0;
		/* where the end of the first thread is told it counts for all */
		if (task->told || t->saved || coll_proc_is_over(task->tgid))
			forget(t, task);
	}
}

uint32_t coll_tasks_stored(struct coll_tasks *t, struct coll_task *task)
{
	/* idle CPUs, and those that no record names */
	if (!task->tgid || spec_pid_number(task->tgid) != task->tgid)
		return task->tgid;
	if (!task->stored)
		task->stored = coll_numbers_use(&t->numbers, task->tgid, task->start_ns);
	return task->stored;
}

void coll_tasks_used(struct coll_tasks *t)
{
	coll_numbers_read(&t->numbers, t->session_fd);
}

static void learn(struct coll_tasks *t, struct coll_task_note *n,
		  const struct coll_proc *proc)
{
	struct coll_task *task = coll_tasks_find(t, n->tgid);
	struct coll_words *words = coll_words_learn(n->words, proc);

	if (!words)
		return;
	/* still the same process, and the same program */
	if (task && task->words == n->words &&
	    coll_same_start(task->start_ns, n->start_ns)) {
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
	    !coll_same_start(n->start_ns, proc.start_ns))
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
		if ((*n)->tgid == task->tgid && (*n)->stored == (*n)->stored_tid)
			(*n)->written = true;
}

/* NULL if out of memory. */
static struct coll_task_note *add_note(struct coll_tasks *t, uint32_t tgid,
				       const char *comm, uint64_t start_ns)
{
	struct coll_task_note *n = calloc(1, sizeof(*n));

	if (!n || vec_push(&t->notes, n)) {
		free(n);
		return NULL;
	}
	n->tgid = tgid;
	n->start_ns = start_ns;
	memcpy(n->comm, comm, sizeof(n->comm));
	return n;
}

void coll_tasks_note_thread(struct coll_tasks *t, const struct coll_task *task,
			    uint32_t tid, uint32_t stored, uint32_t stored_tid)
{
	struct coll_thread *thread = coll_threads_find(&t->threads, task->tgid, tid);
	struct coll_task_note *n;

	if (!thread || thread->noted || !thread->comm[0] || t->session_fd < 0)
		return;
	n = add_note(t, task->tgid, thread->comm, thread->start_ns);
	if (!n)
		return;
	n->stored = stored;
	n->stored_tid = stored_tid;
	thread->noted = true;
}

void coll_tasks_note(struct coll_tasks *t, struct coll_task *task)
{
	struct coll_task_note *n;

	/* idle CPUs, and whoever was gone when it was sampled, are nobody */
	if (task->noted || t->session_fd < 0 || !task->tgid || task->tgid == UINT32_MAX)
		return;
	if (task->has_row)
		supersede(t, task);
	n = add_note(t, task->tgid, task->comm, task->start_ns);
	if (!n)
		return;
	n->stored = n->stored_tid = task->stored ? task->stored : task->tgid;
	n->words = coll_words_get(task->words);
	n->exe = task->exe ? strdup(task->exe->path) : NULL;
	task->noted = task->has_row = true;
	if (!t->saved && !task->gone && !(n->words && n->words->sure))
		ask(t, n);
}

static void make_row(const struct coll_task_note *n, struct spec_task *row)
{
	*row = (struct spec_task){ .tgid = n->stored,
				   .tid = n->stored_tid,
				   .start_ns = n->start_ns,
				   .comm = (char *)(uintptr_t)n->comm };
	if (n->words) {
		row->cmdline = n->words->cmdline;
		row->cgroup = n->words->cgroup;
		row->has_uid = n->words->uid != COLL_UID_UNKNOWN;
		row->uid = n->words->uid;
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
