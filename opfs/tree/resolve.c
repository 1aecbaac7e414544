/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/resolve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"

enum { NR_SLOTS = 256, KEEP_SECONDS = 3 };

struct slot {
	struct strbuf key;  /* who asked, and the path */
	struct strbuf real; /* empty: no links in it */
	time_t at;          /* CLOCK_MONOTONIC */
};

struct resolver {
	struct sym_server *server;
	pthread_mutex_t lock;
	struct slot slots[NR_SLOTS];
};

struct resolver *resolver_new(struct sym_server *server)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->server = server;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < NR_SLOTS; i++) {
		strbuf_fini(&r->slots[i].key);
		strbuf_fini(&r->slots[i].real);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static time_t seconds(void)
{
	return (time_t)(clock_mono_ns() / CLOCK_NS_PER_S);
}

static int answer(const struct strbuf *real, struct strbuf *out)
{
	if (!real->len)
		return -ENOENT;
	strbuf_add(out, real->data, real->len);
	return strbuf_error(out);
}

static bool holds(const struct slot *s, const struct strbuf *key)
{
	return s->key.len == key->len && !memcmp(s->key.data, key->data, key->len) &&
	       seconds() - s->at < KEEP_SECONDS;
}

int resolver_path(struct resolver *r, const char *path, const struct viewer *v,
		  struct strbuf *out, struct err *err)
{
	CLEANUP(sym_resolved_fini) struct sym_resolved found = { 0 };
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct slot *slot;
	int rc = -EAGAIN;

	viewer_key(v, &key);
	strbuf_puts(&key, path);
	if (strbuf_error(&key))
		return err_errno(err, -ENOMEM, "%s", path);
	slot = &r->slots[map_hash(key.data, key.len) % NR_SLOTS];
	pthread_mutex_lock(&r->lock);
	if (holds(slot, &key))
		rc = answer(&slot->real, out);
	pthread_mutex_unlock(&r->lock);
	if (rc != -EAGAIN || viewer_quick(v))
		return rc;
#ifdef OPFS_FUZZ
	return -ENOENT; /* a helper for each path would leave no time for other paths */
#endif
	rc = sym_server_resolve(r->server, path, viewer_cred(v), viewer_cancel(v), &found,
				err);
	if (rc)
		return rc;
	rc = answer(&found.to, out);
	pthread_mutex_lock(&r->lock);
	strbuf_fini(&slot->key);
	strbuf_fini(&slot->real);
	*slot = (struct slot){ TAKE(key), TAKE(found.to), seconds() };
	pthread_mutex_unlock(&r->lock);
	return rc;
}
