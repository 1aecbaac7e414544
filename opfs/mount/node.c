/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/node.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"

/* A text in a file takes a descriptor and no memory: it counts as this part of it. */
enum { FILE_TEXT_SHARE = 64 };
/* Of all users together: about 1.5 KiB each. */
enum { MAX_NODES = 1 << 19 };
/* When so many have gone, their memory goes back to the system. */
enum { MANY_NODES = 1 << 16 };
/* So many places are dropped at once. */
enum { MAX_DROPS = 64 };
/* A directory is looked for in the one above, and so on, each on the same stack. */
enum { MAX_DEPTH = 600 };

/* What is freed once the lock is released: with it may go a generation of a session. */
struct rest {
	struct node_place *places[MAX_DROPS + 1];
	size_t nr_places;
	struct node *nodes; /* linked by @parent */
};

static size_t text_cost(const struct text *x)
{
	return x->fd >= 0 ? sizeof(*x) + x->len / FILE_TEXT_SHARE : text_bytes(x);
}

/* ---- texts, in the cache by the node's id */

struct shown {
	int refs; /* atomic */
	struct text *text;
};

static void *shown_get(void *obj)
{
	struct shown *s = obj;

	__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

static void shown_put(void *obj)
{
	struct shown *s = obj;

	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	text_put(s->text);
	free(s);
}

/* Without a reserve a walk through many directories, whose profiles are larger, would
 * evict the texts that make OPEN quick. */
static const struct cache_kind shown_kind = { .get = shown_get,
					      .put = shown_put,
					      .reserve = 25 };

static struct shown *shown_of(const struct node_table *t, const struct node *n)
{
	return cache_peek(t->cache, &shown_kind, &n->id, sizeof(n->id));
}

/* ---- places in live sessions, which go when nobody has used them for a while */

static bool is_live(const struct node_place *np)
{
	return np && np->p.cat && !place_saved(&np->p);
}

/* Lock held, as for all below. */
static void unlist(struct node_table *t, struct node *n)
{
	if (n->listed)
		TAILQ_REMOVE(&t->live, n, live);
	n->listed = false;
}

/* The node's place was set or used. */
static void list_live(struct node_table *t, struct node *n)
{
	unlist(t, n);
	if (!is_live(n->place))
		return;
	TAILQ_INSERT_TAIL(&t->live, n, live);
	n->listed = true;
	n->used_ns = clock_mono_ns();
}

static void take_place(struct node *n, struct rest *rest)
{
	if (n->place)
		rest->places[rest->nr_places++] = TAKE(n->place);
}

/* What it was made from is freed: a directory is looked for again, a file is another
 * one. */
static void drop_place(struct node_table *t, struct node *n, struct rest *rest)
{
	unlist(t, n);
	take_place(n, rest);
	if (S_ISDIR(n->attr.mode))
		n->later = true;
}

static void drop_unused(struct node_table *t, struct rest *rest)
{
	uint64_t now = clock_mono_ns();
	struct node *n = TAILQ_FIRST(&t->live);

	for (int i = 0; i < MAX_DROPS && n && n->used_ns + t->keep_ns < now; i++) {
		drop_place(t, n, rest);
		n = TAILQ_FIRST(&t->live);
	}
}

static uint64_t generation_of(const struct node_place *np)
{
	return np->p.cat ? place_generation(&np->p) : 0;
}

static void set_place(struct node_table *t, struct node *n, struct node_place *place,
		      struct rest *rest)
{
	take_place(n, rest);
	n->place = place;
	n->generation = generation_of(place);
	list_live(t, n);
	drop_unused(t, rest);
}

/* Not in the table any more. */
static void node_free(struct node *n)
{
	node_place_put(n->place);
	text_put(n->text);
	free(n->name);
	free(n);
}

static void free_rest(struct rest *rest)
{
	struct node *n;

	for (size_t i = 0; i < rest->nr_places; i++)
		node_place_put(rest->places[i]);
	while ((n = rest->nodes)) {
		rest->nodes = n->parent;
		node_free(n);
	}
}

/* ---- texts of nodes */

/* A text that cannot be made again. */
static void pin_text(struct node_table *t, struct node *n, struct text *text)
{
	struct text *old;

	pthread_mutex_lock(&t->lock);
	old = n->text;
	n->text = text_get(text);
	pthread_mutex_unlock(&t->lock);
	text_put(old);
}

/* For the next OPEN.  Of a live session's file it cannot be made again, so what that
 * would take is freed; but one that is read from other files may have to be made again
 * when these change.  Lock not held: the cache may free much. */
static void keep_text(struct node_table *t, struct node *n, struct text *text)
{
	struct shown *s = calloc(1, sizeof(*s));
	bool whole = !text->source;
	struct rest rest = { 0 };

	if (!s)
		return;
	s->refs = 1;
	s->text = text_get(text);
	if (cache_set(t->cache, &shown_kind, &n->id, sizeof(n->id), s,
		      sizeof(*s) + text_cost(text)))
		return;
	pthread_mutex_lock(&t->lock);
	if (whole && is_live(n->place))
		drop_place(t, n, &rest);
	pthread_mutex_unlock(&t->lock);
	free_rest(&rest);
}

static void take_text(struct node_table *t, struct node *n, struct text *text)
{
	if (n->keep_text)
		pin_text(t, n, text);
	else
		keep_text(t, n, text);
}

static void name_key(struct strbuf *out, uint64_t parent, const struct node_name *name)
{
	strbuf_add(out, &parent, sizeof(parent));
	strbuf_add(out, &name->viewers, sizeof(name->viewers));
	strbuf_add(out, name->name, name->len);
}

/* Lock held. */
static void unname(struct node_table *t, struct node *n)
{
	struct node_name name = { n->name, n->name_len, n->viewers, n->uid };
	struct strbuf key = { 0 };

	if (!n->named)
		return;
	n->named = false;
	name_key(&key, n->parent->id, &name);
	if (!strbuf_error(&key)) {
		map_del(&t->by_name, key.data, key.len);
	} else {
		/* no memory for a key: search for the node itself */
		const void *at;
		size_t pos = 0, len;
		uint64_t value;

		while (map_next(&t->by_name, &pos, &at, &len, &value))
			if (value == (uintptr_t)n) {
				map_del(&t->by_name, at, len);
				break;
			}
	}
	strbuf_fini(&key);
}

/* Drops references; the node, and then parents, without any left go.  Lock held. */
static void put_locked(struct node_table *t, struct node *n, int refs, struct rest *rest)
{
	while (n && (n->refs -= refs) == 0) {
		struct node *parent = n->parent;

		if (S_ISREG(n->attr.mode))
			cache_drop(t->cache, &shown_kind, &n->id, sizeof(n->id));
		unname(t, n);
		unlist(t, n);
		map_u64_del(&t->by_id, n->id);
		share_give(&t->share, n->uid, 1);
		n->parent = rest->nodes;
		rest->nodes = n;
		n = parent;
		refs = 1;
	}
}

int node_table_init(struct node_table *t, struct place *root,
		    const struct node_attr *attr, struct cache *cache, bool fair,
		    struct err *err)
{
	struct node *n = calloc(1, sizeof(*n));

	*t = (struct node_table){ .cache = cache,
				  .last_id = 1,
				  .keep_ns = 10 * CLOCK_NS_PER_S };
	pthread_mutex_init(&t->lock, NULL);
	TAILQ_INIT(&t->live);
	share_init(&t->share, MAX_NODES, fair);
	if (n)
		n->place = node_place_new(root);
	else
		place_fini(root);
	if (!n || !n->place || map_u64_set(&t->by_id, 1, (uintptr_t)n)) {
		if (n)
			node_free(n);
		return err_set(err, -ENOMEM, "out of memory");
	}
	n->id = 1;
	n->refs = 1;
	n->nlookup = 1;
	n->attr = *attr;
	t->root = n;
	return 0;
}

void node_table_fini(struct node_table *t)
{
	size_t pos = 0;
	uint64_t id, value;

	if (!t->root)
		return;
	while (map_u64_next(&t->by_id, &pos, &id, &value))
		node_free((struct node *)(uintptr_t)value);
	map_u64_fini(&t->by_id);
	map_fini(&t->by_name);
	share_fini(&t->share);
	pthread_mutex_destroy(&t->lock);
	*t = (struct node_table){ 0 };
}

struct node *node_get(struct node_table *t, uint64_t id)
{
	struct node *n = NULL;
	uint64_t value;

	pthread_mutex_lock(&t->lock);
	if (map_u64_get(&t->by_id, id, &value)) {
		n = (struct node *)(uintptr_t)value;
		n->refs++;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

void node_put(struct node_table *t, struct node *n)
{
	struct rest rest = { 0 };

	if (!n)
		return;
	pthread_mutex_lock(&t->lock);
	put_locked(t, n, 1, &rest);
	pthread_mutex_unlock(&t->lock);
	free_rest(&rest);
}

/* May the kernel use this node for what was found? */
static bool still_fits(const struct node *n, const struct node_place *place,
		       const struct node_found *found)
{
	if ((n->attr.mode ^ found->attr.mode) & S_IFMT)
		return false;
	if (!S_ISREG(found->attr.mode))
		return true;
	if (n->keep_text && n->attr.sized && !found->text) /* it may read otherwise */
		return false;
	if (n->attr.sized && found->text &&
	    (n->digest != found->digest || n->attr.size != found->text->len))
		return false;
	return n->generation == generation_of(place);
}

static struct node *node_new(struct node *parent, const struct node_name *name,
			     const struct node_found *found)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->name = malloc(name->len + 1);
	if (!n->name) {
		free(n);
		return NULL;
	}
	memcpy(n->name, name->name, name->len);
	n->name[name->len] = '\0';
	n->name_len = name->len;
	n->viewers = name->viewers;
	n->uid = name->uid;
	n->parent = parent;
	n->depth = parent->depth + 1;
	n->keep_text = found->keep_text;
	return n;
}

/* Gives a node an id, and the name, also if another node had it.  Lock held. */
static int add_node(struct node_table *t, struct node *n, const struct strbuf *key)
{
	uint64_t id = t->last_id + 1, value;
	struct node *old = NULL;
	int rc = share_take(&t->share, n->uid, 1);

	if (rc)
		return rc == -EAGAIN ? -ENFILE : rc;
	if (map_get(&t->by_name, key->data, key->len, &value))
		old = (struct node *)(uintptr_t)value;
	rc = map_u64_set(&t->by_id, id, (uintptr_t)n);
	if (!rc) {
		rc = map_set(&t->by_name, key->data, key->len, (uintptr_t)n);
		if (rc)
			map_u64_del(&t->by_id, id);
	}
	if (rc) {
		share_give(&t->share, n->uid, 1);
		return rc;
	}
	if (old)
		old->named = false;
	if (t->by_id.used > t->peak)
		t->peak = t->by_id.used;
	t->last_id = n->id = id;
	n->named = true;
	n->parent->refs++;
	return 0;
}

/* Lock held. */
static void set_size(struct node *n, const struct text *text, uint64_t digest)
{
	n->digest = digest;
	n->attr.size = text->len;
	n->attr.sized = true;
}

/* Lock held.  *fresh is taken if no known node fits. */
static int enter_locked(struct node_table *t, const struct strbuf *key,
			struct node **fresh, struct node_place **place,
			struct node_found *found, struct node **out, struct rest *rest)
{
	struct node_attr was;
	struct node *n = NULL;
	uint64_t value;
	int rc;

	if (map_get(&t->by_name, key->data, key->len, &value))
		n = (struct node *)(uintptr_t)value;
	if (!n || !still_fits(n, *place, found)) {
		n = *fresh;
		rc = add_node(t, n, key);
		if (rc)
			return rc;
		if (found->later) {
			n->later = true;
			n->attr = found->attr;
		}
		*fresh = NULL;
	}
	if (!n->nlookup++)
		n->refs++;
	*out = n;
	/* sessions came, went, were opened or closed since it was found */
	if (found->later && n->place && n->epoch != found->epoch)
		drop_place(t, n, rest);
	if (found->later)
		return 0;
	n->told = found->attr;
	n->later = false;
	was = n->attr;
	n->attr = found->attr;
	n->epoch = found->epoch;
	if (!S_ISREG(n->attr.mode)) {
		n->attr.sized = true;
	} else if (found->text) {
		set_size(n, found->text, found->digest);
	} else {
		n->attr.size = was.size;
		n->attr.sized = was.sized;
	}
	set_place(t, n, TAKE(*place), rest);
	return 0;
}

int node_enter(struct node_table *t, struct node *parent, const struct node_name *name,
	       struct node_found *found, uint64_t *id, struct node_attr *attr)
{
	struct node *n, *fresh = node_new(parent, name, found);
	struct node_place *place = node_place_new(&found->place);
	struct strbuf key = { 0 };
	struct rest rest = { 0 };
	int rc = -ENOMEM;

	name_key(&key, parent->id, name);
	if (fresh && fresh->depth > MAX_DEPTH) {
		rc = -ENAMETOOLONG;
	} else if (fresh && place && !strbuf_error(&key)) {
		pthread_mutex_lock(&t->lock);
		rc = enter_locked(t, &key, &fresh, &place, found, &n, &rest);
		if (!rc) {
			*id = n->id;
			*attr = n->attr;
		}
		pthread_mutex_unlock(&t->lock);
	}
	if (!rc && found->text && S_ISREG(found->attr.mode))
		take_text(t, n, found->text);
	free_rest(&rest);
	node_place_put(place);
	strbuf_fini(&key);
	if (fresh)
		node_free(fresh);
	return rc;
}

void node_count_lookup(struct node_table *t, struct node *n)
{
	pthread_mutex_lock(&t->lock);
	if (!n->nlookup++)
		n->refs++;
	pthread_mutex_unlock(&t->lock);
}

void node_forget(struct node_table *t, uint64_t id, uint64_t n)
{
	uint64_t value;
	struct rest rest = { 0 };
	struct node *node;
	bool trim;

	pthread_mutex_lock(&t->lock);
	if (map_u64_get(&t->by_id, id, &value)) {
		node = (struct node *)(uintptr_t)value;
		if (node != t->root && node->nlookup) {
			node->nlookup -= n < node->nlookup ? n : node->nlookup;
			if (!node->nlookup)
				put_locked(t, node, 1, &rest);
		}
	}
	trim = t->by_id.used + MANY_NODES < t->peak;
	if (trim)
		t->peak = t->by_id.used;
	pthread_mutex_unlock(&t->lock);
	free_rest(&rest);
	/* many small pieces, which free() keeps */
	if (trim)
		malloc_trim(0);
}

struct node_place *node_where(struct node_table *t, struct node *n, unsigned *epoch)
{
	struct node_place *np;

	pthread_mutex_lock(&t->lock);
	np = n->place ? node_place_get(n->place) : NULL;
	*epoch = n->epoch;
	if (n->listed)
		list_live(t, n);
	pthread_mutex_unlock(&t->lock);
	return np;
}

bool node_is_later(struct node_table *t, struct node *n)
{
	bool later;

	pthread_mutex_lock(&t->lock);
	later = n->later;
	pthread_mutex_unlock(&t->lock);
	return later;
}

void node_moved(struct node_table *t, struct node *n, struct node_place *place,
		const struct node_attr *attr, unsigned epoch)
{
	struct rest rest = { 0 };

	pthread_mutex_lock(&t->lock);
	if (place) {
		n->attr = *attr;
		if (!n->told.mode)
			n->told = *attr;
		n->later = false;
		set_place(t, n, place, &rest);
	}
	n->epoch = epoch;
	pthread_mutex_unlock(&t->lock);
	free_rest(&rest);
}

static struct node_attr copy_attr(struct node_table *t, const struct node_attr *from)
{
	struct node_attr attr;

	pthread_mutex_lock(&t->lock);
	attr = *from;
	pthread_mutex_unlock(&t->lock);
	return attr;
}

struct node_attr node_attr_of(struct node_table *t, struct node *n)
{
	return copy_attr(t, &n->attr);
}

struct node_attr node_told(struct node_table *t, struct node *n)
{
	return copy_attr(t, &n->told);
}

struct text *node_text(struct node_table *t, struct node *n)
{
	struct text *x;
	struct shown *s;

	pthread_mutex_lock(&t->lock);
	x = text_get(n->text);
	pthread_mutex_unlock(&t->lock);
	if (x || n->keep_text)
		return x;
	s = shown_of(t, n);
	x = s ? text_get(s->text) : NULL;
	shown_put(s);
	return x;
}

int node_set_text(struct node_table *t, struct node *n, struct text *text,
		  uint64_t digest)
{
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	if (!n->attr.sized || (n->digest == digest && n->attr.size == text->len)) {
		set_size(n, text, digest);
	} else {
		unname(t, n);
		rc = -ESTALE;
	}
	pthread_mutex_unlock(&t->lock);
	if (!rc)
		take_text(t, n, text);
	return rc;
}

/* Children of @parent, each referenced.  Returns 0 or -ENOMEM. */
static int collect_children(struct node_table *t, struct node *parent, struct node ***out,
			    size_t *nr)
{
	size_t pos = 0;
	uint64_t id, value;
	int rc = 0;

	*nr = 0;
	pthread_mutex_lock(&t->lock);
	*out = calloc(t->by_id.used + 1, sizeof(**out));
	if (!*out)
		rc = -ENOMEM;
	while (!rc && map_u64_next(&t->by_id, &pos, &id, &value)) {
		struct node *n = (struct node *)(uintptr_t)value;

		if (n->parent != parent || !n->named)
			continue;
		n->refs++;
		(*out)[(*nr)++] = n;
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int node_children(struct node_table *t, struct node *parent,
		  int (*visit)(void *ctx, struct node *n, const struct node_place *where),
		  void *ctx)
{
	struct node **nodes;
	size_t nr;
	int rc = collect_children(t, parent, &nodes, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct node_place *np;

		pthread_mutex_lock(&t->lock);
		np = nodes[i]->place ? node_place_get(nodes[i]->place) : NULL;
		pthread_mutex_unlock(&t->lock);
		if (!rc)
			rc = visit(ctx, nodes[i], np);
		node_place_put(np);
		node_put(t, nodes[i]);
	}
	free(nodes);
	return rc;
}

void node_unname(struct node_table *t, struct node *n)
{
	pthread_mutex_lock(&t->lock);
	unname(t, n);
	pthread_mutex_unlock(&t->lock);
}

size_t node_count(struct node_table *t)
{
	size_t nr;

	pthread_mutex_lock(&t->lock);
	nr = t->by_id.used;
	pthread_mutex_unlock(&t->lock);
	return nr;
}
