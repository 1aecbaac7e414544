/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/exchange.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/box/pass.h"
#include "base/cleanup.h"
#include "base/viewer.h"
#include "libsym/file/seen.h"
#include "libsym/wire/wire.h"

enum { STEP_MS = 50, FIRST_ROOM = 64 * 1024 };

#define MOST                                                                             \
	(sizeof(struct sym_frame) + SYM_WIRE_MAX + SYM_SEEN_MAX +                        \
	 sizeof(struct box_trailer))

void sym_exchange_fini(struct sym_exchange *x)
{
	free(x->data);
	close_fd(&x->fd);
	*x = (struct sym_exchange)SYM_EXCHANGE_NONE;
}

/* Grows the buffer to the size that the frame announces, once the frame is there. */
static int make_room(struct sym_exchange *x)
{
	struct sym_frame f;
	size_t want = FIRST_ROOM;
	char *grown;

	if (x->len < x->cap)
		return 0;
	if (x->len >= sizeof(f)) {
		memcpy(&f, x->data, sizeof(f));
		want = sizeof(f) + (size_t)f.len + f.seen + sizeof(struct box_trailer) +
		       1;
		if (want <= x->cap || want > MOST + 1)
			return -EBADMSG; /* more than announced */
	}
	grown = realloc(x->data, want);
	if (!grown)
		return -ENOMEM;
	x->data = grown;
	x->cap = want;
	return 0;
}

/* 1: the end was reached. */
static int receive(struct sym_exchange *x, int fd)
{
	CLEANUP(close_fd) int passed = -1;
	int rc = make_room(x);
	ssize_t n;

	if (rc)
		return rc;
	n = box_pass_receive(fd, x->data + x->len, x->cap - x->len, MSG_DONTWAIT,
			     &passed);
	if (passed >= 0 && x->fd < 0)
		x->fd = take_fd(&passed);
	if (n > 0)
		x->len += (size_t)n;
	else if (!n || n != -EAGAIN)
		return 1; /* a reset is an end, too */
	return 0;
}

/* Splits the data into the answer and the trailer. */
static void take_apart(struct sym_exchange *x)
{
	struct box_trailer *t = &x->trailer;
	struct sym_frame f;

	if (x->len < sizeof(*t))
		return;
	x->len -= sizeof(*t);
	memcpy(t, x->data + x->len, sizeof(*t));
	if (t->magic != BOX_TRAILER_MAGIC) {
		*t = (struct box_trailer){ 0 };
		return;
	}
	if (x->len < sizeof(f))
		return;
	memcpy(&f, x->data, sizeof(f));
	if (f.magic != SYM_ANSWER_MAGIC || f.seen > SYM_SEEN_MAX ||
	    (size_t)f.len + f.seen != x->len - sizeof(f))
		return;
	x->answer = x->data + sizeof(f);
	x->answer_len = f.len;
	x->seen = f.listed ? x->answer + f.len : NULL;
	x->seen_len = f.seen;
}

static void send_some(int fd, const struct strbuf *request, size_t *sent)
{
	ssize_t n = send(fd, request->data + *sent, request->len - *sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		*sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		*sent = request->len; /* the rest stays unread: the answer tells why */
}

int sym_exchange_run(struct sym_exchange *x, int fd, const struct strbuf *request,
		     const atomic_bool *cancel)
{
	size_t sent = 0;
	int rc = 0;

	while (!rc) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (is_cancelled(cancel))
			return -EINTR;
		if (sent < request->len)
			p.events |= POLLOUT;
		if (poll(&p, 1, STEP_MS) <= 0)
			continue;
		if (p.revents & POLLOUT)
			send_some(fd, request, &sent);
		if (p.revents & ~POLLOUT)
			rc = receive(x, fd);
	}
	if (rc < 0)
		return rc;
	take_apart(x);
	return 0;
}
