/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/until.h"

/* Longer texts live in a file without a name, which is written by pieces. */
enum { MAX_IN_MEMORY = 16 << 20, PIECE = 1 << 18 };
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

/* The file cannot grow: what is in it goes back into memory. */
static int unspill(struct text_draft *d)
{
	struct strbuf all = { .sink = d->text.sink };

	strbuf_fill(&all, '\0', d->written);
	if (!strbuf_error(&all) && d->written &&
	    file_pread_all(d->fd, all.data, d->written, 0) != (ssize_t)d->written)
		all.failed = true;
	strbuf_add(&all, strbuf_str(&d->text), d->text.len);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	d->written = 0;
	d->sink.at_least = SIZE_MAX;
	strbuf_fini(&d->text);
	d->text = all;
	return strbuf_error(&all);
}

/* A sink's write(). */
static int spill(struct strbuf_sink *s, struct strbuf *b)
{
	struct text_draft *d = (void *)((char *)s - offsetof(struct text_draft, sink));

	if (d->fd < 0)
		d->fd = file_unnamed();
	if (d->fd < 0 || file_write_all(d->fd, b->data, b->len))
		return unspill(d);
	d->written += b->len;
	s->at_least = PIECE;
	if (b->cap > 2 * PIECE) /* it was one long text */
		strbuf_fini(b);
	b->sink = s;
	strbuf_reset(b);
	return 0;
}

void text_draft_init(struct text_draft *d)
{
	*d = (struct text_draft){ .fd = -1 };
	d->sink = (struct strbuf_sink){ .at_least = MAX_IN_MEMORY + 1, .write = spill };
	d->text.sink = &d->sink;
}

void text_draft_fini(struct text_draft *d)
{
	strbuf_fini(&d->text);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

int text_draft_end(struct text_draft *d, struct text **out, struct err *err)
{
	struct text *x = NULL;

	if (d->fd >= 0)
		d->sink.at_least = 0; /* the rest */
	strbuf_drain(&d->text);
	if (!strbuf_error(&d->text))
		x = new_text(d->written + d->text.len);
	if (x && d->fd < 0)
		x->data = strbuf_take(&d->text);
	if (x && d->fd >= 0)
		x->fd = take_fd(&d->fd);
	text_draft_fini(d);
	if (!x || (x->fd < 0 && !x->data)) {
		free(x);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*out = x;
	return 0;
}

int text_new(struct strbuf *from, struct text **out, struct err *err)
{
	struct text_draft d;

	text_draft_init(&d);
	d.text = *from;
	d.text.sink = &d.sink;
	*from = (struct strbuf){ 0 };
	return text_draft_end(&d, out, err);
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
