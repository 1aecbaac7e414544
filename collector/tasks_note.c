/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/aside.h"
#include "collector/procfs.h"

/*
 * Rows of the tasks table.  A command line is read out of the process's memory, which can
 * take for ever (collector/aside.h), so another process does it, for all at once.
 */

/* A string that may be NULL, as a byte and a string. */
static void put_text(struct strbuf *out, char *text)
{
	strbuf_putc(out, text ? '+' : '-');
	strbuf_add(out, text ? text : "", (text ? strlen(text) : 0) + 1);
	free(text);
}

/* The question: numbers; 0 is not asked.  The answer: two texts for each. */
static void read_words(struct coll_aside *a)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const uint32_t *tgids = (const void *)a->data;

	for (size_t i = 0; i < a->len / sizeof(tgids[0]); i++) {
		put_text(&out, tgids[i] ? coll_proc_cmdline(tgids[i]) : NULL);
		put_text(&out, tgids[i] ? coll_proc_cgroup(tgids[i]) : NULL);
	}
	a->len = 0;
	if (strbuf_error(&out) || out.len > COLL_ASIDE_MAX)
		return;
	memcpy(a->data, out.data, out.len);
	a->len = out.len;
}

/* The next text of an answer; NULL: there is none. */
static char *next_text(char **at, const char *end)
{
	char *text = *at;

	if (text >= end)
		return NULL;
	*at += strlen(text) + 1;
	return *text == '+' ? text + 1 : NULL;
}

void coll_tasks_note(struct coll_tasks *t, struct coll_task *task)
{
	struct coll_note note = { .tgid = task->tgid,
				  .stored = task->stored ? task->stored : task->tgid,
				  .start_ns = task->start_ns,
				  .ended = task->dead_ns || task->gone || t->saved };

	/* idle CPUs, and whoever was gone when it was sampled, are nobody */
	if (task->noted || t->session_fd < 0 || !task->tgid || task->tgid == UINT32_MAX)
		return;
	memcpy(note.comm, task->comm, sizeof(note.comm));
	task->noted = !vec_push(&t->notes, note);
}

/* Whether the number is still that process's: /proc may show another one by now. */
static bool lives(struct coll_tasks *t, const struct coll_note *note)
{
	const struct coll_task *task = coll_tasks_find(t, note->tgid);

	return task && !task->dead_ns && !task->gone && task->start_ns == note->start_ns;
}

static int ask(struct coll_tasks *t, struct strbuf *answer)
{
	CLEANUP(strbuf_fini) struct strbuf tgids = { 0 };
	bool any = false;

	for (size_t i = 0; i < t->notes.len; i++) {
		const struct coll_note *note = &t->notes.data[i];
		uint32_t tgid = !note->ended && lives(t, note) ? note->tgid : 0;

		strbuf_add(&tgids, &tgid, sizeof(tgid));
		any |= tgid;
	}
	if (!any || strbuf_error(&tgids))
		return strbuf_error(&tgids);
	return coll_aside(read_words, tgids.data, tgids.len, answer, COLL_ASIDE_MS);
}

int coll_tasks_write_notes(struct coll_tasks *t, struct err *err)
{
	CLEANUP(free_ptr) struct spec_task *rows = NULL;
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	char *at, *end;
	int rc;

	if (!t->notes.len)
		return 0;
	rows = calloc(t->notes.len, sizeof(*rows));
	if (!rows)
		return err_errno(err, -ENOMEM, "processes");
	/* rows without these are better than none */
	if (ask(t, &answer))
		strbuf_reset(&answer);
	at = answer.data;
	end = at + answer.len;
	for (size_t i = 0; i < t->notes.len; i++) {
		struct coll_note *note = &t->notes.data[i];

		rows[i] = (struct spec_task){ .tgid = note->stored,
					      .tid = note->stored,
					      .start_ns = note->start_ns,
					      .comm = note->comm };
		rows[i].cmdline = next_text(&at, end);
		rows[i].cgroup = next_text(&at, end);
	}
	rc = spec_tasks_append_all(t->session_fd, rows, t->notes.len, err);
	t->notes.len = 0;
	return rc;
}
