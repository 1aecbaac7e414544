/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/stack/stack_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"

enum { BLOCK = 1 << 16 }; /* nodes */

static const char frames[] = SPEC_STACK_TABLE;

void spec_stacks_fini(struct spec_stacks *t)
{
	free(t->nodes);
	*t = (struct spec_stacks){ 0 };
}

int spec_stacks_open(int session_fd, struct err *err)
{
	CLEANUP(close_fd)
	int fd = file_open_within(session_fd, frames,
				  O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return err_errno(err, fd, "%s", frames);
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", frames);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s: not a regular file", frames);
	return take_fd(&fd);
}

int spec_stacks_header(int fd, struct spec_stack_header *h, struct err *err)
{
	ssize_t n = file_pread_all(fd, h, sizeof(*h), 0);
	int rc;

	if (n < 0)
		return err_errno(err, (int)n, "%s", frames);
	if (n != (ssize_t)sizeof(*h))
		return err_set(err, -EBADMSG, "%s: is no table of stacks", frames);
	rc = spec_stack_header_check(h, err);
	if (rc)
		return rc;
	if (!h->nr || h->nr > UINT32_MAX)
		return err_set(err, -EBADMSG, "%s: says that it has %llu nodes", frames,
			       (unsigned long long)h->nr);
	return 0;
}

/* How many nodes from @nr on make sense, of @got that were read. */
static uint32_t sound(const struct spec_stack_node *nodes, uint32_t nr, size_t got)
{
	uint32_t i = 0;

	while (i < got && spec_stack_sound(&nodes[nr + i], nr + i))
		i++;
	return i;
}

/* Nodes 1 to @nr - 1, as far as they make sense. */
static int read_nodes(int fd, uint64_t nr, struct spec_stacks *out, struct err *err)
{
	size_t cap = 0;

	for (out->nr = 1; out->nr < nr;) {
		size_t want = nr - out->nr < BLOCK ? nr - out->nr : BLOCK;
		uint32_t some;
		ssize_t got;

		if (vec_reserve_((void **)&out->nodes, &cap, out->nr, want,
				 sizeof(*out->nodes)))
			return err_errno(err, -ENOMEM, "%s", frames);
		got = file_pread_all(fd, out->nodes + out->nr, want * sizeof(*out->nodes),
				     (off_t)spec_stack_len(out->nr));
		if (got < 0)
			return err_errno(err, (int)got, "%s", frames);
		some = sound(out->nodes, out->nr, (size_t)got / sizeof(*out->nodes));
		out->nr += some;
		if (some < want)
			break;
	}
	if (!out->nodes)
		out->nodes = calloc(1, sizeof(*out->nodes));
	if (!out->nodes)
		return err_errno(err, -ENOMEM, "%s", frames);
	out->nodes[0] = (struct spec_stack_node){ 0 };
	return 0;
}

int spec_stacks_read(int fd, uint32_t max, struct spec_stacks *out, struct err *err)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	struct spec_stack_header h;
	int rc = spec_stacks_header(fd, &h, err);

	if (!rc)
		rc = read_nodes(fd, h.nr < max ? h.nr : max, &t, err);
	if (rc)
		return rc;
	t.damaged = h.nr - t.nr;
	t.separate = h.separate;
	*out = TAKE(t);
	return 0;
}
