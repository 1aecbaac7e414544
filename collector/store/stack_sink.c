/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/stack_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/store/route.h"

enum { RETRY_AFTER = 512 }; /* stacks: a full disk may have room again */

_Static_assert((int)SPEC_STACK_LIB == (int)COLL_SEPARATE_LIB, "one number");
_Static_assert((int)SPEC_STACK_KERNEL == (int)COLL_SEPARATE_KERNEL, "one number");

int coll_stack_sink_init(struct coll_stack_sink *s, int session_fd,
			 struct coll_images *images, const struct coll_sink_event *events,
			 struct err *err)
{
	int rc;

	*s = (struct coll_stack_sink){ .session_fd = session_fd };
	rc = coll_sink_init(&s->sink, -1, images, events, 0, err);
	s->sink.what = "sample file of stacks";
	return rc;
}

void coll_stack_sink_close(struct coll_stack_sink *s)
{
	spec_stack_writer_free(s->writer);
	s->writer = NULL;
	free(s->lanes);
	s->lanes = NULL;
}

void coll_stack_sink_move(struct coll_stack_sink *s, int session_fd)
{
	int fd = s->sink.session_fd;

	coll_stack_sink_close(s);
	coll_sink_move(&s->sink, -1);
	close_fd(&fd);
	s->session_fd = session_fd;
	s->failed = 0;
}

void coll_stack_sink_fini(struct coll_stack_sink *s)
{
	coll_stack_sink_move(s, -1);
	coll_sink_fini(&s->sink);
}

static void tell(struct coll_stack_sink *s, int rc, const struct err *err)
{
	if (s->sink.broken)
		return;
	s->sink.broken = rc;
	s->sink.why = *err;
}

static int fail(struct coll_stack_sink *s, int rc, const struct err *err)
{
	s->failed = rc;
	s->skipped = 0;
	tell(s, rc, err);
	return rc;
}

/* The table cannot be trusted to go on: another time it is read again. */
static int give_up(struct coll_stack_sink *s, int rc, const struct err *err)
{
	coll_stack_sink_close(s);
	return fail(s, rc, err);
}

static int open_table(struct coll_stack_sink *s, unsigned separate, struct err *err)
{
	size_t limit = s->limit ? s->limit : COLL_STACK_LIMIT;
	int rc = spec_stack_writer_open(s->session_fd,
					separate & (COLL_SEPARATE_LIB |
						    COLL_SEPARATE_KERNEL),
					limit, &s->writer, err);

	if (rc) {
		s->writer = NULL;
		return rc;
	}
	/* it outlives the writer */
	if (s->sink.session_fd < 0)
		s->sink.session_fd = fcntl(spec_stack_dir(s->writer), F_DUPFD_CLOEXEC, 0);
	if (s->sink.session_fd < 0)
		return err_errno(err, -errno, SPEC_STACK_DIR);
	s->lanes = calloc(COLL_STACK_LANES, sizeof(*s->lanes));
	if (!s->lanes)
		return err_errno(err, -ENOMEM, SPEC_STACK_DIR);
	s->table++;
	s->synced = 0;
	return 0;
}

static int make_ready(struct coll_stack_sink *s, unsigned separate)
{
	struct err err = { 0 };
	int rc;

	if (s->failed && ++s->skipped < RETRY_AFTER)
		return s->failed;
	s->failed = 0;
	rc = s->writer ? 0 : open_table(s, separate, &err);
	return rc ? give_up(s, rc, &err) : 0;
}

/* One that has no number in this table gets it. */
static int new_number(struct coll_stack_sink *s, struct coll_image *img)
{
	struct err err = { 0 };
	uint32_t number = 0;
	int rc = spec_stack_image(s->writer, &img->name, img->is_kernel, &number, &err);

	if (rc && rc != -ENAMETOOLONG && rc != -EINVAL && rc != -E2BIG)
		return fail(s, rc, &err);
	if (!rc)
		rc = coll_images_note(s->sink.images, img, &err);
	if (rc)
		tell(s, rc, &err);
	img->stack_table = s->table;
	img->stack_number = number;
	return 0;
}

/* A limit that was asked for is no failure. */
static int no_room(struct coll_stack_sink *s, uint32_t *node)
{
	struct err err = { 0 };
	int rc = spec_stack_why(s->writer, &err);

	if (spec_stack_failed(s->writer))
		return give_up(s, rc, &err);
	if (rc != -EFBIG)
		tell(s, rc, &err);
	*node = SPEC_STACK_FIRST;
	return 0;
}

/* Was the frame the last stack's at that place, and is its image called as then? */
static bool is_last(const struct coll_stack_sink *s, const struct coll_stack_lane *lane,
		    size_t at, const struct coll_frame *f)
{
	return at < lane->nr && lane->frames[at].off == f->off &&
	       lane->frames[at].image == f->image &&
	       (!f->image || f->image->stack_table == s->table);
}

/* The node of a frame below its caller; 0: there is no room. */
static int add(struct coll_stack_sink *s, const struct coll_frame *f, uint32_t caller,
	       uint32_t *node)
{
	/* of the collector's own table: only names of files see it as constant */
	struct coll_image *img = (struct coll_image *)(uintptr_t)f->image;
	int rc = img && img->stack_table != s->table ? new_number(s, img) : 0;
	uint32_t image = img && !rc ? img->stack_number : 0;

	if (!rc)
		*node = spec_stack_add(s->writer, caller, image,
				       img && !image ? SPEC_STACK_UNKNOWN : f->off);
	return rc;
}

/* The @nr frames before @f, the outermost one last, will be added below @caller. */
static void fetch(const struct coll_stack_sink *s, const struct coll_frame *f, size_t nr,
		  uint32_t caller)
{
	struct spec_stack_node frames[COLL_MAX_STACK];
	size_t n = 0;

	for (; n < nr; n++) {
		const struct coll_image *img = (--f)->image;

		if (img && img->stack_table != s->table)
			break; /* it has no number yet */
		frames[n].image = img ? img->stack_number : 0;
		frames[n].off = f->off;
	}
	spec_stack_fetch(s->writer, caller, frames, n);
}

int coll_stack_sink_node(struct coll_stack_sink *s, unsigned separate,
			 const struct coll_stack *stack, uint32_t *node)
{
	const struct coll_frame *f = stack->frames + stack->nr;
	int rc = make_ready(s, separate);
	struct coll_stack_lane *lane;
	size_t at = 0;

	*node = 0;
	if (rc)
		return rc;
	lane = &s->lanes[stack->lane % COLL_STACK_LANES];
	for (; at < stack->nr && is_last(s, lane, at, f - 1); at++, f--)
		*node = lane->nodes[at];
	lane->nr = at;
	fetch(s, f, stack->nr - at, *node);
	for (; at < stack->nr && !rc; at++) {
		rc = add(s, --f, *node, node);
		if (!rc && !*node)
			return no_room(s, node);
		lane->frames[at] = *f;
		lane->nodes[at] = *node;
	}
	lane->nr = rc ? 0 : at;
	return rc;
}

bool coll_stack_sink_write_back(struct coll_stack_sink *s, uint64_t until_ns)
{
	struct err err = { 0 };
	int rc;

	/* nodes never change */
	if (s->writer && spec_stack_nr(s->writer) != s->synced) {
		rc = spec_stack_sync(s->writer, &err);
		if (rc)
			give_up(s, rc, &err);
		else
			s->synced = spec_stack_nr(s->writer);
	}
	return coll_sink_write_back(&s->sink, until_ns);
}

size_t coll_stack_sink_bytes(const struct coll_stack_sink *s)
{
	return s->sink.bytes + (s->writer ? spec_stack_bytes(s->writer) : 0);
}
