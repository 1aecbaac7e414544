/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/held.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FEW = 16, MANY = 256, ROOMY = 8192 };

/* Sample files take most descriptors (collector/store/sink.c). */
static size_t most(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur < ROOMY ? FEW : MANY;
}

static bool has(const struct coll_held *h, const struct stat *want)
{
	struct stat st;

	vec_for(&h->files, f)
		if (!fstat(f->fd, &st) && st.st_dev == want->st_dev &&
		    st.st_ino == want->st_ino)
			return true;
	return false;
}

void coll_held_add(struct coll_held *h, int fd, uint32_t tgid)
{
	struct coll_held_file f = { fd, tgid };
	struct stat st;

	if (h->none || h->files.len >= most() || fstat(fd, &st) || has(h, &st) ||
	    vec_push(&h->files, f))
		close(fd);
}

void coll_held_take_ended(struct coll_held *h, coll_held_fds *out)
{
	size_t kept = 0;

	vec_for(&h->files, f) {
		bool ended = kill((pid_t)f->tgid, 0) && errno == ESRCH;

		if (!ended || vec_push(out, f->fd))
			h->files.data[kept++] = *f;
	}
	h->files.len = kept;
}

void coll_held_copy(const struct coll_held *h, coll_held_fds *out)
{
	vec_for(&h->files, f) {
		int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 3);

		if (fd >= 0 && vec_push(out, fd))
			close(fd);
	}
}

void coll_held_fini(struct coll_held *h)
{
	vec_for(&h->files, f)
		close(f->fd);
	vec_fini(&h->files);
}

void coll_held_close(coll_held_fds *fds)
{
	vec_for(fds, fd)
		close(*fd);
	vec_fini(fds);
}
