/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/source/stream.h"
#include "collector/source/stream_fd.h"

struct replay_source {
	struct coll_source base;
	struct coll_stream_fd in;
};

static struct replay_source *self(struct coll_source *s)
{
	return (struct replay_source *)s;
}

static int replay_start(struct coll_source *base, struct err *err)
{
	(void)base;
	(void)err;
	return 0;
}

static int replay_poll_fd(const struct coll_source *base)
{
	return ((const struct replay_source *)base)->in.fd;
}

static int replay_drain(struct coll_source *base, bool all, coll_consume consume,
			void *ctx)
{
	struct replay_source *s = self(base);
	int rc;

	s->in.stream.consume = consume;
	s->in.stream.ctx = ctx;
	if (all) /* what has not been read by now is not waited for */
		return coll_stream_fd_end(&s->in);
	rc = coll_stream_fd_read(&s->in);
	return rc < 0 ? rc : rc != COLL_READ_END;
}

static const struct err *replay_why(const struct coll_source *base)
{
	return &((const struct replay_source *)base)->in.err;
}

static void replay_stop(struct coll_source *base)
{
	(void)base;
}

static uint64_t replay_lost_untold(struct coll_source *base, uint64_t *tasks)
{
	(void)base;
	(void)tasks;
	return 0;
}

static void replay_free(struct coll_source *base)
{
	struct replay_source *s = self(base);

	if (s->in.fd > STDIN_FILENO)
		close(s->in.fd);
	coll_stream_fd_fini(&s->in);
	free(s);
}

static const struct coll_source_ops replay_ops = {
	.name = "replay",
	.start = replay_start,
	.poll_fd = replay_poll_fd,
	.drain = replay_drain,
	.why = replay_why,
	.stop = replay_stop,
	.lost_untold = replay_lost_untold,
	.free = replay_free,
};

/* Another file than was meant is refused before a session is touched. */
static int begin(struct coll_stream_fd *in, const char *path, struct err *err)
{
	struct err why = { 0 };
	int rc = coll_stream_fd_begin(in, &why);

	if (!rc)
		return 0;
	if (!why.code)
		return err_errno(err, rc, "%s", path);
	return err_set(err, rc, "%s: %s%s", path, why.msg,
		       rc == -EBADMSG ? "; give what \"opcollect record --source=kernel "
					"--save-stream=FILE\" wrote"
				      : "");
}

static int open_replay(const struct coll_source_want *w, struct coll_source **out,
		       char notes[256], struct err *err)
{
	struct replay_source *s;
	int fd = STDIN_FILENO, rc;

	notes[0] = '\0';
	if (strcmp(w->path, "-") != 0)
		fd = open(w->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", w->path);
	s = calloc(1, sizeof(*s));
	if (!s) {
		if (fd > STDIN_FILENO)
			close(fd);
		return err_errno(err, -ENOMEM, "%s", w->path);
	}
	s->base.ops = &replay_ops;
	rc = coll_stream_fd_init(&s->in, fd, -1, err);
	rc = rc ? rc : begin(&s->in, w->path, err);
	if (rc) {
		replay_free(&s->base);
		return rc;
	}
	s->in.stream.counter = w->counter;
	s->in.stream.counter_ctx = w->counter_ctx;
	*out = &s->base;
	return 0;
}

const struct coll_source_kind coll_source_replay = {
	.name = "saved stream",
	.saved = true,
	.tells_who = true,
	.open = open_replay,
};
