/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/until.h"

/* Longer texts live in a file without a name. */
enum { MAX_IN_MEMORY = 16 << 20 };
/* What others are said to cost. */
enum { SOURCE_BYTES = 1 << 20 };

static struct text *new_text(size_t len)
{
	struct text *x = calloc(1, sizeof(*x));

	if (x) {
		x->refs = 1;
		x->fd = -1;
		x->len = len;
	}
	return x;
}

/* An unnamed file that holds the text, or -1. */
static int spill(const char *data, size_t len)
{
	CLEANUP(close_fd) int fd = file_unnamed();

	return fd >= 0 && !file_write_all(fd, data, len) ? take_fd(&fd) : -1;
}

int text_new(struct strbuf *from, struct text **out, struct err *err)
{
	struct text *x = strbuf_error(from) ? NULL : new_text(from->len);

	if (!x)
		return err_set(err, -ENOMEM, "out of memory");
	if (x->len > MAX_IN_MEMORY)
		x->fd = spill(from->data, from->len);
	if (x->fd < 0) {
		x->data = strbuf_take(from);
		if (!x->data) {
			free(x);
			return err_set(err, -ENOMEM, "out of memory");
		}
	}
	*out = x;
	return 0;
}

int text_new_source(const struct text_source *source, void *ctx, size_t len,
		    struct text **out, struct err *err)
{
	struct text *x = new_text(len);

	if (!x)
		return err_set(err, -ENOMEM, "out of memory");
	x->source = source;
	x->ctx = ctx;
	*out = x;
	return 0;
}

struct text *text_get(struct text *x)
{
	if (x)
		__atomic_add_fetch(&x->refs, 1, __ATOMIC_RELAXED);
	return x;
}

void text_put(struct text *x)
{
	if (!x || __atomic_sub_fetch(&x->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (x->fd >= 0)
		close(x->fd);
	if (x->source)
		x->source->free(x->ctx);
	free(x->data);
	free(x);
}

bool text_fresh(const struct text *x)
{
	return !x->source || !x->source->fresh || x->source->fresh(x->ctx);
}

bool text_is_good(const struct text *x)
{
	return !x->source && !until_over(x->until);
}

size_t text_bytes(const struct text *x)
{
	if (x->source) /* descriptors are scarce as well */
		return SOURCE_BYTES;
	return sizeof(*x) + (x->data ? x->len : 0);
}

ssize_t text_read(const struct text *x, char *buf, size_t len, off_t off)
{
	return text_read_until(x, buf, len, off, NULL);
}

ssize_t text_read_until(const struct text *x, char *buf, size_t len, off_t off,
			const atomic_bool *cancel)
{
	int rc;

	if (off < 0 || (size_t)off >= x->len)
		return 0;
	if (len > x->len - (size_t)off)
		len = x->len - (size_t)off;
	if (x->source) {
		rc = x->source->read(x->ctx, buf, len, off, cancel);
		return rc ? rc : (ssize_t)len;
	}
	if (x->fd < 0) {
		memcpy(buf, x->data + off, len);
		return (ssize_t)len;
	}
	return file_pread_all(x->fd, buf, len, off);
}
