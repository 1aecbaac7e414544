/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* What every kernel accepts: FUSE_NAME_MAX before Linux 6.18. */
enum { LONGEST_NAME = 1024 };
/* Open files and directories, of all users. */
enum { MAX_OPEN = 32768 };

static void free_list(struct dir_list *l)
{
	if (!l)
		return;
	vec_fini(&l->entries);
	arena_fini(&l->arena);
	free(l);
}

static int add(struct dir_list *l, const char *name, enum place_kind kind)
{
	struct dir_entry e = { .kind = kind };

	e.name = arena_strdup(&l->arena, name);
	if (!e.name)
		return -ENOMEM;
	return vec_push(&l->entries, e);
}

static int emit(void *ctx, const struct tree_entry *e)
{
	size_t len = strlen(e->name);

	if (!len || len > LONGEST_NAME || memchr(e->name, '/', len)) {
		log_warn("a name of %zu bytes cannot be listed: %.40s...", len, e->name);
		return 0;
	}
	return add(ctx, e->name, e->kind);
}

int dir_list_new(struct tree *t, const struct place *p, const struct viewer *v,
		 struct dir_list **out, struct err *err)
{
	struct dir_list *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return err_set(err, -ENOMEM, "out of memory");
	rc = add(l, ".", p->kind);
	if (!rc)
		rc = add(l, "..", p->kind);
	if (!rc)
		rc = tree_list(t, p, v, emit, l, err);
	if (rc)
		free_list(l);
	else
		*out = l;
	return rc;
}

void handle_table_init(struct handle_table *t, struct node_table *nodes, uint64_t held,
		       bool fair)
{
	*t = (struct handle_table){ .nodes = nodes };
	share_init(&t->open, MAX_OPEN, fair);
	share_init(&t->held, held, fair);
	pthread_mutex_init(&t->lock, NULL);
}

/* What a text costs while it is open, on the disk too. */
static uint64_t text_cost(const struct text *x)
{
	return x->source ? text_bytes(x) : sizeof(*x) + x->len;
}

static uint64_t list_cost(const struct dir_list *l)
{
	return l->arena.total + l->entries.cap * sizeof(l->entries.data[0]);
}

static uint64_t handles_of(struct handle_table *t, const struct text *x)
{
	uint64_t nr = 0;

	map_u64_get(&t->texts, (uintptr_t)x, &nr);
	return nr;
}

/* One more handle has the text: it is paid for once.  Lock held. */
static int hold_text(struct handle_table *t, struct text *x, uid_t uid)
{
	uint64_t nr = handles_of(t, x);
	int rc = nr ? 0 : share_take(&t->held, uid, text_cost(x));

	if (!rc && map_u64_set(&t->texts, (uintptr_t)x, nr + 1)) {
		share_give(&t->held, uid, text_cost(x));
		rc = -ENOMEM;
	}
	return rc;
}

static void drop_text(struct handle_table *t, struct text *x, uid_t uid)
{
	uint64_t nr = handles_of(t, x);

	if (nr > 1) {
		map_u64_set(&t->texts, (uintptr_t)x, nr - 1); /* is there: no failure */
		return;
	}
	map_u64_del(&t->texts, (uintptr_t)x);
	share_give(&t->held, uid, text_cost(x));
}

/* Forgets what @h takes.  Lock held. */
static void give_back(struct handle_table *t, struct handle *h)
{
	LIST_REMOVE(h, link);
	if (h->text)
		drop_text(t, h->text, h->uid);
	if (h->list)
		share_give(&t->held, h->uid, list_cost(h->list));
	share_give(&t->open, h->uid, 1);
}

static void handle_free(struct handle_table *t, struct handle *h)
{
	text_put(h->text);
	node_put(t->nodes, h->node);
	free_list(h->list);
	free(h);
}

void handle_table_fini(struct handle_table *t)
{
	struct handle *h;

	if (!t->nodes)
		return;
	while ((h = LIST_FIRST(&t->all))) {
		give_back(t, h);
		handle_free(t, h);
	}
	map_u64_fini(&t->texts);
	share_fini(&t->open);
	share_fini(&t->held);
	pthread_mutex_destroy(&t->lock);
	*t = (struct handle_table){ 0 };
}

int handle_new(struct handle_table *t, struct node *node, struct text *text, uid_t uid,
	       struct handle **out)
{
	struct handle *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return -ENOMEM;
	*h = (struct handle){ .refs = 1, .uid = uid, .node = node, .text = text };
	pthread_mutex_lock(&t->lock);
	rc = share_take(&t->open, uid, 1);
	if (!rc && text) {
		rc = hold_text(t, text, uid);
		if (rc)
			share_give(&t->open, uid, 1);
	}
	if (!rc)
		LIST_INSERT_HEAD(&t->all, h, link);
	pthread_mutex_unlock(&t->lock);
	if (rc)
		free(h);
	else
		*out = h;
	return rc == -EAGAIN ? -ENFILE : rc;
}

struct text *handle_text(struct handle_table *t, const struct node *n)
{
	struct text *x = NULL;
	struct handle *h;

	pthread_mutex_lock(&t->lock);
	LIST_FOREACH(h, &t->all, link)
		if (h->node == n && h->text && text_is_good(h->text)) {
			x = text_get(h->text);
			break;
		}
	pthread_mutex_unlock(&t->lock);
	return x;
}

struct handle *handle_get(struct handle_table *t, struct handle *h)
{
	pthread_mutex_lock(&t->lock);
	h->refs++;
	pthread_mutex_unlock(&t->lock);
	return h;
}

void handle_put(struct handle_table *t, struct handle *h)
{
	bool last;

	if (!h)
		return;
	pthread_mutex_lock(&t->lock);
	last = !--h->refs;
	if (last)
		give_back(t, h);
	pthread_mutex_unlock(&t->lock);
	if (last)
		handle_free(t, h);
}

const struct dir_list *handle_list(struct handle_table *t, struct handle *h)
{
	const struct dir_list *l;

	pthread_mutex_lock(&t->lock);
	l = h->list;
	pthread_mutex_unlock(&t->lock);
	return l;
}

int handle_set_list(struct handle_table *t, struct handle *h, struct dir_list *list)
{
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	if (!h->list) {
		rc = share_take(&t->held, h->uid, list_cost(list));
		if (!rc) {
			h->list = list;
			list = NULL;
		}
	}
	pthread_mutex_unlock(&t->lock);
	free_list(list);
	return rc == -EAGAIN ? -ENFILE : rc;
}
