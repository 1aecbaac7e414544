/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "opfs/tree_impl.h"

/* Longer texts live in a file without a name. */
enum { MAX_IN_MEMORY = 16 << 20 };

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
	free(x->data);
	free(x);
}

static void *kind_get(void *obj)
{
	return text_get(obj);
}

static void kind_put(void *obj)
{
	text_put(obj);
}

static const struct cache_kind text_kind = { kind_get, kind_put };

/* An unnamed file that holds the text, or -1. */
static int spill(const char *data, size_t len)
{
	CLEANUP(close_fd) int fd = file_unnamed();

	return fd >= 0 && !file_write_all(fd, data, len) ? take_fd(&fd) : -1;
}

/* Takes the text over.  Where no file can be had, a long one stays in memory. */
static int make_text(struct strbuf *from, struct text **out, struct err *err)
{
	struct text *x = calloc(1, sizeof(*x));

	if (!x || strbuf_error(from)) {
		free(x);
		return err_set(err, -ENOMEM, "out of memory");
	}
	x->refs = 1;
	x->fd = -1;
	x->len = from->len;
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

struct make {
	const struct ask *a;
	const struct place *p;
};

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes, struct err *err)
{
	const struct make *m = ctx;
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct ask a = { .t = m->a->t, .v = v, .err = err };
	struct profile *profile;
	struct text *text;
	int rc = tree_profile(&a, m->p, m->p->report->needs, &profile);

	if (rc)
		return rc;
	rc = m->p->report->render(profile, v, &out, err);
	profile_put(profile);
	rc = rc ? rc : make_text(&out, &text, err);
	if (rc)
		return rc;
	*obj = text;
	*bytes = sizeof(*text) + (text->data ? text->len : 0);
	return 0;
}

/* Equal selections give equal texts, however they were spelled. */
static void text_key(const struct place *p, const struct viewer *v, struct strbuf *key)
{
	const struct spec_value *symbol = p->spec->values[SPEC_SYMBOL];

	strbuf_add(key, &p->cat->generation, sizeof(p->cat->generation));
	strbuf_add(key, &p->report, sizeof(p->report));
	tree_viewer_key(v, key);
	if (symbol)
		strbuf_printf(key, "%d%s;", symbol->exact, symbol->raw);
	strbuf_add(key, p->sel->files, p->sel->nr * sizeof(*p->sel->files));
}

static int root_text(struct tree *t, const struct place *p, const struct viewer *v,
		     struct text **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = tree_root_text(t, p->root_name, v, &text, err);

	return rc ? rc : make_text(&text, out, err);
}

int tree_text(struct tree *t, const struct place *p, const struct viewer *v,
	      struct text **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct ask a = { .t = t, .v = v, .err = err };
	struct make m = { &a, p };

	if (p->kind != PLACE_FILE)
		return err_set(err, -EISDIR, "is a directory");
	if (p->root_name)
		return root_text(t, p, v, out, err);
	text_key(p, v, &key);
	if (strbuf_error(&key))
		return err_set(err, -ENOMEM, "out of memory");
	return cache_get(t->cache, &text_kind, key.data, key.len, make, &m, v, (void **)out,
			 err);
}

struct text *tree_text_cached(struct tree *t, const struct place *p, const struct viewer *v)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };

	if (p->kind != PLACE_FILE || p->root_name)
		return NULL;
	text_key(p, v, &key);
	if (strbuf_error(&key))
		return NULL;
	return cache_peek(t->cache, &text_kind, key.data, key.len);
}
