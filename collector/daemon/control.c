/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/control.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lockfile.h"
#include "base/log.h"

enum { BACKLOG = 16 };

static const char mark[] = "opcollect";

void coll_packet_add(struct strbuf *out, const char *word)
{
	strbuf_add(out, word, strlen(word) + 1);
}

void coll_packet_begin(struct strbuf *out)
{
	char version[16];

	snprintf(version, sizeof(version), "%d", COLL_CONTROL_VERSION);
	coll_packet_add(out, mark);
	coll_packet_add(out, version);
}

int coll_packet_parse(const char *data, size_t len, struct coll_packet *out,
		      struct err *err)
{
	size_t nr = 0;
	char *end;
	long version;

	*out = (struct coll_packet){ 0 };
	if (!len || data[len - 1])
		return err_set(err, -EBADMSG, "not a packet of opcollect's");
	for (size_t at = 0; at < len; at += strlen(data + at) + 1) {
		if (nr == COLL_CONTROL_WORDS + 2)
			return err_set(err, -EBADMSG, "more than %d words",
				       COLL_CONTROL_WORDS);
		if (nr >= 2)
			out->words[nr - 2] = data + at;
		nr++;
	}
	if (nr < 3 || strcmp(data, mark) != 0)
		return err_set(err, -EBADMSG, "not a packet of opcollect's");
	version = strtol(data + sizeof(mark), &end, 10);
	if (*end || version != COLL_CONTROL_VERSION)
		return err_set(err, -EPROTO,
			       "daemon and command speak different versions (%d and %s): "
			       "they are of different installations; restart the daemon",
			       COLL_CONTROL_VERSION, data + sizeof(mark));
	out->nr = nr - 2;
	return 0;
}

static int address_of(const char *path, struct sockaddr_un *sa, struct err *err)
{
	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(sa->sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: too long for a socket", path);
	strcpy(sa->sun_path, path);
	return 0;
}

/* ---- the daemon's side */

/* Held for as long as the daemon lives, so that a socket without a lock is left over. */
static int lock(struct coll_control *c, struct err *err)
{
	struct err why = { 0 };
	char path[128];
	int rc;

	snprintf(path, sizeof(path), "%s.lock", c->path);
	rc = lockfile_take(AT_FDCWD, path, false, NULL, &why);
	if (rc == -EWOULDBLOCK)
		return err_set(err, -EADDRINUSE,
			       "%s: another daemon listens there; stop it with "
			       "\"opcollect shutdown\", or give another --socket",
			       c->path);
	if (rc < 0)
		return err_set(err, rc, "%s; give a path of yours with --socket",
			       why.msg);
	c->lock_fd = rc;
	return 0;
}

static int allow(const char *path, const char *group, struct err *err)
{
	const struct group *g = group ? getgrnam(group) : NULL;

	if (group && !g)
		return err_set(err, -ENOENT, "--group %s: there is no such group", group);
	if (g && chown(path, (uid_t)-1, g->gr_gid))
		return err_errno(err, -errno, "%s: giving it to group %s", path, group);
	if (chmod(path, g ? 0660 : 0600))
		return err_errno(err, -errno, "%s", path);
	return 0;
}

static int listen_at(struct coll_control *c, const char *group, struct err *err)
{
	struct sockaddr_un sa;
	char path[128];
	mode_t mask;
	int rc;

	snprintf(path, sizeof(path), "%s.new", c->path);
	rc = address_of(path, &sa, err);
	if (rc)
		return rc;
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return err_errno(err, -errno, "socket");
	unlink(path);
	mask = umask(0177);
	rc = bind(c->fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
	umask(mask);
	if (rc)
		return err_errno(err, rc, "%s", path);
	rc = allow(path, group, err);
	if (!rc && listen(c->fd, BACKLOG))
		rc = err_errno(err, -errno, "%s", path);
	if (!rc && rename(path, c->path))
		rc = err_errno(err, -errno, "%s", c->path);
	if (rc)
		unlink(path);
	return rc;
}

int coll_control_open(struct coll_control *c, const char *path, const char *group,
		      struct err *err)
{
	int rc;

	*c = (struct coll_control){ .fd = -1, .lock_fd = -1, .path = strdup(path) };
	if (!c->path)
		return err_errno(err, -ENOMEM, "%s", path);
	rc = lock(c, err);
	return rc ? rc : listen_at(c, group, err);
}

static void drop(struct coll_control *c, size_t i)
{
	close(c->clients[i].fd);
	free(c->clients[i].about);
	memmove(c->clients + i, c->clients + i + 1,
		(--c->nr - i) * sizeof(c->clients[0]));
}

static int answer(int fd, int rc, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	size_t most = COLL_CONTROL_MAX - 64;

	coll_packet_begin(&out);
	coll_packet_add(&out, rc ? "failed" : "ok");
	strbuf_add(&out, text, strnlen(text, most));
	strbuf_putc(&out, '\0');
	if (strbuf_error(&out))
		return -ENOMEM;
	return send(fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

void coll_control_close(struct coll_control *c, int rc, const char *text)
{
	bool ours = c->fd >= 0;

	while (c->nr) {
		if (c->clients[c->nr - 1].waits)
			answer(c->clients[c->nr - 1].fd, rc, text);
		drop(c, c->nr - 1);
	}
	if (ours)
		unlink(c->path);
	close_fd(&c->fd);
	close_fd(&c->lock_fd);
	free(c->path);
	*c = (struct coll_control){ .fd = -1, .lock_fd = -1 };
}

size_t coll_control_fds(const struct coll_control *c, struct pollfd *fds)
{
	fds[0] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	for (size_t i = 0; i < c->nr; i++)
		fds[i + 1] = (struct pollfd){ .fd = c->clients[i].fd, .events = POLLIN };
	return c->nr + 1;
}

/* Whoever was there first and says nothing makes room for those who come. */
static void admit(struct coll_control *c)
{
	int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i = 0;

	if (fd < 0)
		return;
	while (i < c->nr && c->clients[i].waits)
		i++;
	if (c->nr == COLL_CONTROL_CLIENTS)
		drop(c, i < c->nr ? i : 0);
	c->clients[c->nr++] = (struct coll_client){ .fd = fd };
}

/* One packet.  False: the client is done with. */
static bool take_packet(struct coll_client *client, coll_control_do run, void *ctx)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	static char data[COLL_CONTROL_MAX];
	struct err err = { 0 };
	struct coll_packet p;
	ssize_t len = recv(client->fd, data, sizeof(data), MSG_TRUNC);
	int rc;

	if (len < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!len)
		return false;
	rc = (size_t)len > sizeof(data)
		     ? err_set(&err, -EMSGSIZE, "a command of more than %d bytes",
			       COLL_CONTROL_MAX)
		     : coll_packet_parse(data, (size_t)len, &p, &err);
	if (!rc)
		rc = run(ctx, &p, &text, &err);
	if (rc == COLL_CONTROL_LATER && strbuf_error(&text))
		rc = err_errno(&err, -ENOMEM, "waiting");
	if (rc > 0) {
		free(client->about);
		client->about = rc == COLL_CONTROL_LATER ? strbuf_take(&text) : NULL;
		client->since_ns = clock_mono_ns();
		client->waits = true;
		return true;
	}
	return !answer(client->fd, rc, rc ? err.msg : strbuf_str(&text));
}

void coll_control_serve(struct coll_control *c, const struct pollfd *fds, size_t nr,
			coll_control_do run, void *ctx)
{
	/* from behind: dropping one moves the last into its place */
	for (size_t i = nr; i-- > 1;)
		if (fds[i].revents && !take_packet(&c->clients[i - 1], run, ctx))
			drop(c, i - 1);
	if (fds[0].revents)
		admit(c);
}

bool coll_control_waiting(const struct coll_control *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->clients[i].about)
			return true;
	return false;
}

void coll_control_answer(struct coll_control *c, coll_control_then then, void *ctx)
{
	uint64_t now = clock_mono_ns();

	for (size_t i = c->nr; i-- > 0;) {
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };
		struct coll_client *client = &c->clients[i];
		struct err err = { 0 };
		int rc = client->about ? then(ctx, client->about, now - client->since_ns,
					      &text, &err)
				       : COLL_CONTROL_LATER;

		if (rc > 0)
			continue;
		free(client->about);
		client->about = NULL;
		client->waits = false;
		if (answer(client->fd, rc, rc ? err.msg : strbuf_str(&text)))
			drop(c, i);
	}
}

/* ---- the other side */

static int explain(const char *path, int code, struct err *err)
{
	struct stat st;

	if (code == -ENOENT || code == -ECONNREFUSED)
		return err_set(err, -ECONNREFUSED,
			       "no daemon runs (nobody listens at %s); start one with "
			       "\"opcollect daemon\", or name its socket with --socket",
			       path);
	if (code != -EACCES && code != -EPERM)
		return err_errno(err, code, "%s", path);
	if (stat(path, &st) || !(st.st_mode & 0060))
		return err_set(err, -EACCES,
			       "%s: permission denied: only its owner may command this "
			       "daemon (run as root, or start it with --group)",
			       path);
	return err_set(
		err, -EACCES,
		"%s: permission denied: only its owner and members of group %u may "
		"command this daemon",
		path, (unsigned)st.st_gid);
}

static int exchange(int fd, const struct strbuf *request, struct strbuf *out,
		    struct err *err)
{
	CLEANUP(free_ptr) char *data = malloc(COLL_CONTROL_MAX);
	struct coll_packet p;
	ssize_t len;
	int rc;

	if (!data)
		return err_errno(err, -ENOMEM, "command");
	if (send(fd, request->data, request->len, MSG_NOSIGNAL) < 0)
		return err_errno(err, -errno, "asking the daemon");
	do
		len = recv(fd, data, COLL_CONTROL_MAX, 0);
	while (len < 0 && errno == EINTR);
	if (len <= 0)
		return err_set(err, -EPIPE, "the daemon ended without an answer");
	rc = coll_packet_parse(data, (size_t)len, &p, err);
	if (rc)
		return rc;
	if (p.nr < 2 || strcmp(p.words[0], "ok") != 0)
		return err_set(err, -ECANCELED, "%s", p.nr > 1 ? p.words[1] : "refused");
	strbuf_puts(out, p.words[1]);
	return strbuf_error(out) ? err_errno(err, -ENOMEM, "answer") : 0;
}

int coll_control_ask(const char *path, const char *const *words, size_t nr,
		     struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;
	int rc = address_of(path, &sa, err);

	if (rc)
		return rc;
	coll_packet_begin(&request);
	for (size_t i = 0; i < nr; i++)
		coll_packet_add(&request, words[i]);
	if (fd < 0 || strbuf_error(&request))
		return err_errno(err, fd < 0 ? -errno : -ENOMEM, "command");
	if (request.len > COLL_CONTROL_MAX || nr > COLL_CONTROL_WORDS)
		return err_set(err, -EMSGSIZE, "the command is too long");
	while (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		if (errno != EINTR && errno != EAGAIN)
			return explain(path, -errno, err);
	return exchange(fd, &request, out, err);
}
