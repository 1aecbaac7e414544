/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/helper.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/pass.h"
#include "base/cleanup.h"

enum {
	KEEP_BYTES = 1 << 20,
	MAX_FRAME = sizeof(struct coll_ask_frame) + COLL_ANSWER_MAX,
};

static int start_box(struct box *box, const struct box_kind *kind, const char *program,
		     struct err *err)
{
	return box->pid ? 0 : box_start(kind, program, box, err);
}

int coll_helper_start(struct coll_helper *h, struct box *box, const struct box_kind *kind,
		      const char *program, struct err *err)
{
	const struct box_limits none = { 0 };
	int pair[2], rc = -EPIPE;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(err, -errno, "a helper process");
	/* a box that was killed is replaced */
	for (int attempt = 0; attempt < 2 && rc; attempt++) {
		rc = start_box(box, kind, program, err);
		if (rc)
			break;
		rc = box_job(box, pair[1], &none);
		if (rc) {
			box_end(box);
			err_errno(err, rc, "a helper process");
		}
	}
	close(pair[1]);
	if (rc) {
		close(pair[0]);
		return rc;
	}
	*h = (struct coll_helper){ .fd = pair[0] };
	return 0;
}

void coll_helper_end(struct coll_helper *h)
{
	close_fd(&h->fd);
	vec_for(&h->files, file)
		close(*file);
	vec_fini(&h->files);
	strbuf_fini(&h->out);
	strbuf_fini(&h->in);
	*h = (struct coll_helper)COLL_HELPER_NONE;
}

int coll_helper_put(struct coll_helper *h, enum coll_question_kind kind, const void *data,
		    size_t len)
{
	const struct coll_ask_frame f = { kind, (uint32_t)len };

	strbuf_add(&h->out, &f, sizeof(f));
	strbuf_add(&h->out, data, len);
	return strbuf_error(&h->out);
}

static int send_some(struct coll_helper *h)
{
	while (coll_helper_sends(h)) {
		ssize_t n = send(h->fd, h->out.data + h->sent, h->out.len - h->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -EPIPE;
		h->sent += (size_t)n;
	}
	strbuf_reset(&h->out);
	h->sent = 0;
	return 0;
}

/* Frees the room of what was taken. */
static void compact(struct coll_helper *h)
{
	size_t left = h->in.len - h->taken;

	if (!h->taken)
		return;
	if (!left && h->in.cap > KEEP_BYTES) {
		strbuf_fini(&h->in);
	} else if (h->in.data) {
		memmove(h->in.data, h->in.data + h->taken, left);
		strbuf_truncate(&h->in, left);
	}
	h->taken = 0;
}

static int keep_file(struct coll_helper *h, int file)
{
	int rc = h->files.len < COLL_HELPER_ASKED ? vec_push(&h->files, file) : -EBADMSG;

	if (rc)
		close(file);
	return rc;
}

/* A helper may have been taken over by what it reads: it fills no memory of ours. */
static int receive_some(struct coll_helper *h)
{
	static char room[1 << 16];
	int file, rc = 0;
	ssize_t n;

	compact(h);
	while (!rc && h->in.len < MAX_FRAME) {
		n = box_pass_receive(h->fd, room, sizeof(room), MSG_DONTWAIT, &file);
		if (n <= 0)
			return n == -EAGAIN ? 0 : -EPIPE;
		strbuf_add(&h->in, room, (size_t)n);
		rc = strbuf_error(&h->in);
		if (file >= 0)
			rc = keep_file(h, file);
	}
	return rc;
}

int coll_helper_exchange(struct coll_helper *h)
{
	int rc = send_some(h), received = receive_some(h);

	return received ? received : rc;
}

static int take_file(struct coll_helper *h)
{
	int file;

	if (!h->files.len)
		return -1;
	file = h->files.data[0];
	memmove(h->files.data, h->files.data + 1, --h->files.len * sizeof(file));
	return file;
}

/* How it ended comes behind everything else, in a frame of another kind.  False: there is
 * more to come. */
static bool take_trailer(struct coll_helper *h)
{
	struct box_trailer t;

	if (h->in.len - h->taken < sizeof(t))
		return false;
	memcpy(&t, h->in.data + h->taken, sizeof(t));
	h->taken += sizeof(t);
	h->ended = true;
	h->status = t.status;
	return true;
}

bool coll_helper_died_of_it(const struct coll_helper *h)
{
	return h->ended && h->pid &&
	       (WIFSIGNALED(h->status) ? WTERMSIG(h->status) != SIGKILL
				       : WEXITSTATUS(h->status) != 0);
}

/* One says hello before it is asked anything. */
static bool is_frame(const struct coll_helper *h, const struct coll_ask_frame *f)
{
	if (f->kind == COLL_ANSWER_HELLO)
		return !h->pid && f->len == sizeof(h->pid);
	return (f->kind == COLL_ANSWER_IS || f->kind == COLL_ANSWER_FILE) &&
	       f->len <= COLL_ANSWER_MAX;
}

bool coll_helper_next(struct coll_helper *h, char **answer, size_t *len, int *file)
{
	struct coll_ask_frame f;

	while (!h->bad && h->in.len - h->taken >= sizeof(f)) {
		memcpy(&f, h->in.data + h->taken, sizeof(f));
		if (f.kind == BOX_TRAILER_MAGIC) {
			if (!take_trailer(h))
				return false;
			continue;
		}
		h->bad = !is_frame(h, &f);
		if (h->bad || h->in.len - h->taken - sizeof(f) < f.len)
			return false;
		*answer = h->in.data + h->taken + sizeof(f);
		*len = f.len;
		h->taken += sizeof(f) + f.len;
		*file = f.kind == COLL_ANSWER_FILE ? take_file(h) : -1;
		if (f.kind == COLL_ANSWER_IS || f.kind == COLL_ANSWER_FILE)
			return true;
		memcpy(&h->pid, *answer, sizeof(h->pid));
	}
	return false;
}
