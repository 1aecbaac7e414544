/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* What every kernel accepts: FUSE_NAME_MAX before Linux 6.18. */
enum { LONGEST_NAME = 1024 };

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

void handle_table_init(struct handle_table *t, struct node_table *nodes)
{
	*t = (struct handle_table){ .nodes = nodes };
	pthread_mutex_init(&t->lock, NULL);
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
		LIST_REMOVE(h, link);
		handle_free(t, h);
	}
	pthread_mutex_destroy(&t->lock);
	*t = (struct handle_table){ 0 };
}

static struct handle *handle_new(struct handle_table *t, struct text *text,
				 struct node *n)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->refs = 1;
	h->text = text;
	h->node = n;
	pthread_mutex_lock(&t->lock);
	LIST_INSERT_HEAD(&t->all, h, link);
	pthread_mutex_unlock(&t->lock);
	return h;
}

struct handle *handle_new_file(struct handle_table *t, struct text *text)
{
	return handle_new(t, text, NULL);
}

struct handle *handle_new_dir(struct handle_table *t, struct node *n)
{
	return handle_new(t, NULL, n);
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
		LIST_REMOVE(h, link);
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

void handle_set_list(struct handle_table *t, struct handle *h, struct dir_list *list)
{
	pthread_mutex_lock(&t->lock);
	if (!h->list) {
		h->list = list;
		list = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	free_list(list);
}
