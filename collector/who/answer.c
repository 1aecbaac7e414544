/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/answer.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/box/pass.h"
#include "base/box/sandbox.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/priority.h"

enum { KEEP_BYTES = 1 << 20 };

static bool read_all(void *data, size_t len)
{
	return file_read_all(BOX_FD, data, len) == (ssize_t)len;
}

static bool send_frame(uint32_t kind, struct strbuf *out, int file)
{
	struct coll_ask_frame *f = (void *)out->data;
	ssize_t n;

	if (strbuf_error(out) || out->len - sizeof(*f) > COLL_ANSWER_MAX)
		return false;
	*f = (struct coll_ask_frame){ kind, (uint32_t)(out->len - sizeof(*f)) };
	/* in a sandbox only this is allowed */
	if (file < 0)
		return !file_write_all(BOX_FD, out->data, out->len);
	n = box_pass_send(BOX_FD, out->data, out->len, file);
	return n > 0 && !file_write_all(BOX_FD, out->data + n, out->len - (size_t)n);
}

static void begin(struct strbuf *out)
{
	const struct coll_ask_frame none = { 0 };

	strbuf_reset(out);
	strbuf_add(out, &none, sizeof(none));
}

static bool answer(uint32_t kind, char *question, size_t len, struct strbuf *out)
{
	CLEANUP(close_fd) int file = -1;

	coll_answer(kind, question, len, out, &file);
	return send_frame(file < 0 ? COLL_ANSWER_IS : COLL_ANSWER_FILE, out, file);
}

/* Answers @nr questions, or fewer if the collector closes the socket. */
static int serve(unsigned nr)
{
	static _Alignas(16) char question[COLL_QUESTION_MAX + 1];
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	uint32_t pid = (uint32_t)getpid();
	struct coll_ask_frame f;

	/* a terminal's Ctrl-C is for the collector, which still has questions */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "opcollect-asked");
	begin(&out);
	strbuf_add(&out, &pid, sizeof(pid));
	if (!send_frame(COLL_ANSWER_HELLO, &out, -1))
		return 1;
	while (nr-- && read_all(&f, sizeof(f))) {
		if (f.kind >= COLL_NR_QUESTIONS || f.len > COLL_QUESTION_MAX ||
		    !read_all(question, f.len))
			return 1;
		question[f.len] = '\0';
		begin(&out);
		if (!answer(f.kind, question, f.len, &out))
			return 1;
		if (out.cap > KEEP_BYTES)
			strbuf_fini(&out);
	}
	return 0;
}

static int job(pid_t box, const struct box_limits *limits)
{
	(void)box;
	(void)limits;
	return serve(UINT_MAX);
}

static int job_of_one(pid_t box, const struct box_limits *limits)
{
	(void)box;
	(void)limits;
	return serve(1);
}

static int prepare_sandbox(void)
{
	return sandbox_prepare(NULL);
}

/* Processes end before they were asked about, where helpers wait for a CPU. */
static int prepare(void)
{
	priority_nice();
	return 0;
}

const struct box_kind coll_answer_box = {
	.name = "questions",
	.prepare = prepare,
	.job = job,
	.quiet = true,
};

const struct box_kind coll_table_box = {
	.name = "tables",
	.prepare = prepare_sandbox,
	.job = job_of_one,
	.quiet = true,
};
