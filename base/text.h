/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * The content of a file by reference count: what one open sees.  It is in memory, in an
 * unlinked file of its own, or made piece by piece when it is read.
 */
struct text_source { /* content that is too much to be kept */
	/* Fills all of @buf from @off, which lies in the content with all of @len; any
	 * thread may call.  @cancel: true once nobody waits any more; may be NULL.
	 * 0 or -errno. */
	int (*read)(void *ctx, char *buf, size_t len, off_t off,
		    const atomic_bool *cancel);
	void (*free)(void *ctx);
	/* False once what it is made of has changed: it is to be made anew.  NULL: never
	 * does. */
	bool (*fresh)(void *ctx);
};

struct text {
	int refs; /* atomic */
	char *data;
	size_t len;
	int fd; /* >= 0: the text is in this unlinked file instead of @data */
	const struct text_source *source; /* not NULL: asked instead of @data and @fd */
	void *ctx;
	int64_t until; /* when it is to be made anew: see base/until.h */
	/* Private to who made it: what it is made of, by a number that grows; 0: none. */
	uint64_t version;
};

/*
 * What becomes a text while it is being written: a file as soon as it is long.
 *	struct text_draft d;
 *	text_draft_init(&d);	... write to &d.text, with strbuf_drain() ...
 *	text_draft_end(&d, &text, err);		or text_draft_fini(&d)
 */
struct text_draft {
	struct strbuf text; /* what is not in the file */
	struct strbuf_sink sink;
	int fd;         /* unlinked, -1: none yet */
	size_t written; /* bytes in it */
};
void text_draft_init(struct text_draft *d);
void text_draft_fini(struct text_draft *d);
int text_draft_end(struct text_draft *d, struct text **out, struct err *err);

/* Takes the bytes over.  Without a file to write to, a long text stays in memory. */
int text_new(struct strbuf *from, struct text **out, struct err *err);
/* A text of @len bytes that @source makes; @ctx is taken over, unless it fails. */
int text_new_source(const struct text_source *source, void *ctx, size_t len,
		    struct text **out, struct err *err);
struct text *text_get(struct text *x); /* NULL is fine */
void text_put(struct text *x);         /* NULL is fine */
/* Whether it may still be shown; looks at files. */
bool text_fresh(const struct text *x);
/* May it be shown without a look at files?  Not if those that it shows may have changed.
 */
bool text_is_good(const struct text *x);
/* Bytes that a text costs in memory. */
size_t text_bytes(const struct text *x);
/* Copies up to @len bytes from @off; how many, 0 at the end, -errno. */
ssize_t text_read(const struct text *x, char *buf, size_t len, off_t off);
/* The same for who may give up: -EINTR. */
ssize_t text_read_until(const struct text *x, char *buf, size_t len, off_t off,
			const atomic_bool *cancel);

#endif
