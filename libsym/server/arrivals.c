/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/arrivals.h"

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "libsym/file/caches.h"

#define LOOK_EVERY_NS (2 * CLOCK_NS_PER_S)

void sym_arrivals_init(struct sym_arrivals *a)
{
	*a = (struct sym_arrivals){ 0 };
	pthread_mutex_init(&a->lock, NULL);
}

void sym_arrivals_fini(struct sym_arrivals *a)
{
	vec_fini(&a->awaited);
	pthread_mutex_destroy(&a->lock);
}

/* What is at each path now that a file of the build-id could have. */
static void look_at(const struct build_id *id, struct sym_identity now[])
{
	const struct sym_places p = { .debuginfod = sym_caches_debuginfod(),
				      .perf = sym_caches_perf() };
	static const enum sym_cached whats[] = { SYM_CACHED_DEBUG, SYM_CACHED_IMAGE };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	char hex[BUILD_ID_TEXT];
	size_t n = 0;

	build_id_format(id, hex);
	strbuf_printf(&path, SYM_DEBUG_DIR "/.build-id/%.2s/%s.debug", hex, hex + 2);
	now[n++] = sym_identity_of(strbuf_str(&path));
	for (size_t w = 0; w < sizeof(whats) / sizeof(whats[0]); w++)
		for (unsigned i = 0; n < SYM_ARRIVALS_PATHS &&
				     sym_caches_path(&p, id, whats[w], i, &path);
		     i++, n++)
			now[n] = path.len ? sym_identity_of(strbuf_str(&path))
					  : (struct sym_identity){ .known = true };
}

/* NULL: out of memory, and it is not noticed then.  Lock held. */
static struct sym_awaited *entry_of(struct sym_arrivals *a, const struct build_id *id)
{
	const struct sym_awaited none = { .id = *id };

	vec_for(&a->awaited, w)
		if (build_id_equal(&w->id, id))
			return w;
	if (a->awaited.len < SYM_ARRIVALS_MAX)
		return vec_push(&a->awaited, none) ? NULL
						   : &a->awaited.data[a->awaited.len - 1];
	a->oldest %= SYM_ARRIVALS_MAX;
	a->awaited.data[a->oldest] = none;
	return &a->awaited.data[a->oldest++];
}

/* A file that is there by now, or is of no use, stays unknown: it comes once, for the
 * next look. */
void sym_arrivals_await(struct sym_arrivals *a, const struct build_id *id)
{
	struct sym_identity now[SYM_ARRIVALS_PATHS] = { 0 };
	struct sym_awaited *w;

	if (id->len < 2)
		return;
	look_at(id, now);
	pthread_mutex_lock(&a->lock);
	w = entry_of(a, id);
	for (size_t i = 0; w && i < SYM_ARRIVALS_PATHS; i++)
		if (!w->at[i].known && sym_identity_absent(&now[i]))
			w->at[i] = now[i];
	pthread_mutex_unlock(&a->lock);
}

/* What was known and is not any more, the kernel has forgotten: who asks a helper again
 * makes it known. */
static bool has_come(const struct sym_identity *was, const struct sym_identity *now)
{
	return was->known ? !sym_identity_same(was, now)
			  : now->known && !sym_identity_absent(now);
}

void sym_arrivals_look(struct sym_arrivals *a)
{
	bool some = false;

	pthread_mutex_lock(&a->lock);
	vec_for(&a->awaited, w) {
		struct sym_identity now[SYM_ARRIVALS_PATHS] = { 0 };

		look_at(&w->id, now);
		for (size_t i = 0; i < SYM_ARRIVALS_PATHS; i++) {
			some |= has_come(&w->at[i], &now[i]);
			w->at[i] = now[i];
		}
	}
	pthread_mutex_unlock(&a->lock);
	if (some)
		atomic_fetch_add(&a->count, 1);
}

uint64_t sym_arrivals_count(struct sym_arrivals *a)
{
	uint64_t now = clock_mono_ns(), at = atomic_load(&a->look_ns);

	if (now >= at &&
	    atomic_compare_exchange_strong(&a->look_ns, &at, now + LOOK_EVERY_NS))
		sym_arrivals_look(a);
	return atomic_load(&a->count);
}
