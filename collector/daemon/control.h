/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_CONTROL_H
#define COLLECTOR_DAEMON_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * How a daemon is told what to do: a Unix socket of packets.  A packet is words, each
 * with a NUL behind it: "opcollect", the version, then of a request the command and its
 * arguments, of an answer "ok" or "failed" and the text for a person.  Who may open the
 * socket may command: its owner (root) and a group.
 */
enum {
	COLL_CONTROL_VERSION = 1,
	COLL_CONTROL_MAX = 64 * 1024, /* bytes of a packet */
	COLL_CONTROL_WORDS = 64,
	COLL_CONTROL_CLIENTS = 16,
};

struct coll_packet {
	size_t nr; /* words */
	const char *words[COLL_CONTROL_WORDS];
};

/**
 * coll_packet_parse - takes a packet apart
 * @data: borrowed by @out
 * Returns 0, -EBADMSG if it is none, -EPROTO if it is one of another version.
 */
int coll_packet_parse(const char *data, size_t len, struct coll_packet *out,
		      struct err *err);
/* Appends beginning and words; behind it, more words may be added with their NULs. */
void coll_packet_add(struct strbuf *out, const char *word);
void coll_packet_begin(struct strbuf *out);

/* ---- the daemon's side */

struct coll_client {
	int fd;
	bool waits;        /* it is answered later: */
	char *about;       /* heap; what it waits for, NULL: the end of the daemon */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

struct coll_control {
	int fd, lock_fd;
	char *path; /* heap */
	struct coll_client clients[COLL_CONTROL_CLIENTS];
	size_t nr;
};

/* What a command does: 0 or -errno; what it has to tell is appended to @answer.  Or it is
 * answered when the daemon ends, or later: @answer is then what it waits for. */
enum { COLL_CONTROL_AT_END = 1, COLL_CONTROL_LATER };
typedef int (*coll_control_do)(void *ctx, const struct coll_packet *request,
			       struct strbuf *answer, struct err *err);
/* The answer to one who has waited for so long; COLL_CONTROL_LATER: not yet. */
typedef int (*coll_control_then)(void *ctx, const char *about, uint64_t waited_ns,
				 struct strbuf *answer, struct err *err);

/**
 * coll_control_open - makes the socket
 * @group: may connect too; NULL: only the owner
 * Returns 0, -EADDRINUSE if another daemon listens there, or another -errno.
 */
int coll_control_open(struct coll_control *c, const char *path, const char *group,
		      struct err *err);
/* Answers those who wait for the end, @rc and @text, and takes the socket away. */
void coll_control_close(struct coll_control *c, int rc, const char *text);

/* Fills @fds (1 + COLL_CONTROL_CLIENTS) with what to poll; returns how many. */
size_t coll_control_fds(const struct coll_control *c, struct pollfd *fds);
/* Takes what @fds, as filled above, say; a client's requests are done in order. */
void coll_control_serve(struct coll_control *c, const struct pollfd *fds, size_t nr,
			coll_control_do run, void *ctx);

/* Does somebody wait for other things than the end? */
bool coll_control_waiting(const struct coll_control *c);
/* Asks @then for each of them, and answers. */
void coll_control_answer(struct coll_control *c, coll_control_then then, void *ctx);

/* ---- the other side */

/**
 * coll_control_ask - sends a command and waits for the answer
 * @answer: receives the text, if it went well
 * Returns 0; -ECONNREFUSED: no daemon runs there; -EACCES: not allowed; -ECANCELED: the
 * daemon says no, for the reason in @err; -EPIPE: it ended instead.
 */
int coll_control_ask(const char *path, const char *const *words, size_t nr,
		     struct strbuf *answer, struct err *err);

#endif
