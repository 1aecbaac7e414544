/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * libfuse 3.14.0, which Debian 12 has, takes FUSE_CAP_PARALLEL_DIROPS and never tells the
 * kernel: then all lookups in a directory wait for the slowest, even against signals.  So
 * the answer to INIT, which is the first of all, is completed on its way out.
 */
struct init_answer {
	struct fuse_out_header header;
	struct fuse_init_out init;
};

static atomic_bool answered;

static bool is_init_answer(const struct iovec *iov, int count)
{
	const struct fuse_out_header *header = iov[0].iov_base;

	return count == 2 && iov[0].iov_len == sizeof(*header) && !header->error &&
	       iov[1].iov_len >= offsetof(struct fuse_init_out, max_background) &&
	       iov[1].iov_len <= sizeof(struct fuse_init_out);
}

/*
 * Not writev(3): by the time it returns the reader may have its answer, and have closed the
 * file, so that another thread has freed what was sent.  The address sanitizer looks at that
 * after the call, and would take it for a mistake.
 */
static ssize_t send_answer(int fd, const struct iovec *iov, int count)
{
	return syscall(SYS_writev, fd, iov, count);
}

static ssize_t fs_writev(int fd, struct iovec *iov, int count, void *data)
{
	struct fuse_fs *fs = data;
	struct fuse_init_out init = { 0 };
	struct iovec fixed[2];

	if (atomic_load_explicit(&answered, memory_order_relaxed) ||
	    atomic_exchange(&answered, true) || !fs->parallel ||
	    !is_init_answer(iov, count))
		return send_answer(fd, iov, count);
	memcpy(&init, iov[1].iov_base, iov[1].iov_len);
	init.flags |= FUSE_PARALLEL_DIROPS;
	fixed[0] = iov[0];
	fixed[1] = (struct iovec){ .iov_base = &init, .iov_len = iov[1].iov_len };
	return send_answer(fd, fixed, count);
}

static ssize_t fs_read_request(int fd, void *buf, size_t len, void *data)
{
	(void)data;
	return read(fd, buf, len);
}

int fuse_fs_hook(struct fuse_session *session)
{
	static const struct fuse_custom_io io = { .writev = fs_writev,
						  .read = fs_read_request };

	atomic_store(&answered, false);
	return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}
