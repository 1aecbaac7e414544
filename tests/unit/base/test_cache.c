/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cache.h"

struct thing {
	int refs; /* atomic */
	int number;
};

static int alive; /* atomic */

static void *thing_get(void *obj)
{
	struct thing *t = obj;

	__atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
	return t;
}

static void thing_put(void *obj)
{
	struct thing *t = obj;

	if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
	free(t);
}

static const struct cache_kind kind = { .get = thing_get, .put = thing_put };
static const struct cache_kind other_kind = { .get = thing_get, .put = thing_put };

/* Taken instead of the C library's. */
static time_t clock_now;
int clock_gettime(clockid_t which, struct timespec *out)
{
	if (!clock_now)
		return (int)syscall(SYS_clock_gettime, which, out);
	*out = (struct timespec){ .tv_sec = clock_now };
	return 0;
}

static int64_t till_103(void *obj)
{
	(void)obj;
	return 103;
}

static const struct cache_kind short_lived = { .get = thing_get,
					       .put = thing_put,
					       .until = till_103 };

struct recipe {
	int number, made; /* made: atomic */
	size_t bytes;
	int rc;
	unsigned sleep_us;
	bool stale;   /* nothing that is there holds */
	int compared; /* with the last one that did not hold */
};

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	struct recipe *r = ctx;
	struct thing *t;

	__atomic_add_fetch(&r->made, 1, __ATOMIC_RELAXED);
	for (unsigned us = 0; us < __atomic_load_n(&r->sleep_us, __ATOMIC_RELAXED);
	     us += 1000) {
		if (viewer_gone(v))
			return err_set(err, -EINTR, "gone");
		usleep(1000);
	}
	if (r->rc)
		return err_set(err, r->rc, "as asked");
	t = calloc(1, sizeof(*t));
	t->refs = 1;
	t->number = r->number;
	__atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
	*obj = t;
	*bytes = r->bytes;
	return 0;
}

static int get_kind(struct cache *c, const struct cache_kind *k, const char *key,
		    struct recipe *r, const struct viewer *v)
{
	struct err err = { 0 };
	void *obj;
	int rc = cache_get(c, k, key, strlen(key), make, r, v, &obj, &err);

	if (!rc) {
		cr_expect_eq(((struct thing *)obj)->number, r->number);
		thing_put(obj);
	}
	return rc;
}

static int get(struct cache *c, const char *key, struct recipe *r, const struct viewer *v)
{
	return get_kind(c, &kind, key, r, v);
}

Test(cache, makes_a_thing_once)
{
	struct recipe r = { .number = 7, .bytes = 10 };
	struct cache *c = cache_new(10000);

	cr_expect_null(cache_peek(c, &kind, "k", 1));
	cr_expect_eq(get(c, "k", &r, NULL), 0);
	cr_expect_eq(get(c, "k", &r, NULL), 0);
	cr_expect_eq(r.made, 1);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, tells_kinds_apart)
{
	struct recipe r = { .number = 7, .bytes = 10 };
	struct cache *c = cache_new(10000);

	cr_expect_eq(get(c, "k", &r, NULL), 0);
	cr_expect_null(cache_peek(c, &other_kind, "k", 1));
	cache_free(c);
}

Test(cache, keeps_to_its_bytes_and_drops_the_least_used)
{
	struct recipe r = { .bytes = 1000 };
	struct cache *c = cache_new(4000);
	void *obj;

	get(c, "a", &r, NULL);
	get(c, "b", &r, NULL);
	get(c, "a", &r, NULL);
	get(c, "c", &r, NULL);
	get(c, "d", &r, NULL);
	cr_expect_leq(alive, 3);
	cr_expect_null(cache_peek(c, &kind, "b", 1));
	obj = cache_peek(c, &kind, "a", 1);
	cr_expect(obj);
	cache_free(c);
	cr_expect_eq(alive, 1); /* whoever holds it still has it */
	thing_put(obj);
}

Test(cache, keeps_the_reserve_of_a_kind)
{
	static const struct cache_kind reserved = { .get = thing_get,
						    .put = thing_put,
						    .reserve = 50 };
	struct recipe small = { .bytes = 1000 }, large = { .bytes = 3000 };
	struct cache *c = cache_new(10000);
	void *obj;

	for (int i = 0; i < 8; i++) {
		char key[] = { (char)('0' + i), '\0' };

		get_kind(c, &reserved, key, &small, NULL);
	}
	for (int i = 0; i < 8; i++) {
		char key[] = { (char)('a' + i), '\0' };

		get(c, key, &large, NULL);
	}
	/* the older ones, that were more than the reserve, had to go */
	for (int i = 0; i < 8; i++) {
		char key[] = { (char)('0' + i), '\0' };

		obj = cache_peek(c, &reserved, key, 1);
		cr_expect_eq(obj != NULL, i >= 5);
		if (obj)
			thing_put(obj);
	}
	obj = cache_peek(c, &kind, "h", 1);
	cr_assert_not_null(obj);
	thing_put(obj);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, keeps_one_thing_that_is_larger_than_itself)
{
	struct recipe large = { .bytes = 100000 }, small = { .bytes = 1000 };
	struct cache *c = cache_new(4000);
	void *obj;

	get(c, "first", &large, NULL);
	get(c, "small", &small, NULL);
	get(c, "second", &large, NULL);
	cr_expect_eq(alive, 2);
	cr_expect_null(cache_peek(c, &kind, "first", 5));
	for (int i = 0; i < 10; i++) {
		char key[] = { (char)('0' + i), '\0' };

		get(c, key, &small, NULL);
		get(c, "second", &large, NULL);
	}
	cr_expect_eq(large.made, 2);
	cr_expect_leq(alive, 4);
	obj = cache_peek(c, &kind, "second", 6);
	cr_assert_not_null(obj);
	cache_drop(c, &kind, "second", 6);
	thing_put(obj);
	cr_expect_null(cache_peek(c, &kind, "second", 6));
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, makes_anew_what_is_good_for_some_seconds_only)
{
	struct recipe r = { .number = 7, .bytes = 10 };
	struct cache *c = cache_new(10000);
	void *obj;

	clock_now = 100;
	get_kind(c, &short_lived, "k", &r, NULL);
	clock_now = 102;
	get_kind(c, &short_lived, "k", &r, NULL);
	cr_expect_eq(r.made, 1);
	obj = cache_peek(c, &short_lived, "k", 1);
	cr_expect(obj);
	clock_now = 103;
	cr_expect_null(cache_peek(c, &short_lived, "k", 1));
	get_kind(c, &short_lived, "k", &r, NULL);
	cr_expect_eq(r.made, 2);
	cr_expect_eq(alive, 2); /* the first is still held here */
	thing_put(obj);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

static bool still_holds(void *obj, void *ctx)
{
	struct recipe *r = ctx;

	if (r->stale)
		r->compared = ((struct thing *)obj)->number;
	return !r->stale;
}

static const struct cache_kind checked = { .get = thing_get,
					   .put = thing_put,
					   .holds = still_holds };

Test(cache, replaces_what_does_not_hold)
{
	struct recipe old = { .number = 1, .bytes = 10 };
	struct recipe fresh = { .number = 2, .bytes = 10, .stale = true };
	struct cache *c = cache_new(10000);

	get_kind(c, &checked, "k", &old, NULL);
	get_kind(c, &checked, "k", &old, NULL);
	cr_expect_eq(old.made, 1);
	get_kind(c, &checked, "k", &fresh, NULL);
	cr_expect_eq(fresh.made, 1);
	cr_expect_eq(fresh.compared, 1);
	cr_expect_eq(alive, 1);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, keeps_the_old_one_when_making_its_successor_is_interrupted)
{
	struct recipe old = { .number = 1, .bytes = 10 };
	struct recipe interrupted = { .rc = -EINTR, .stale = true };
	struct recipe failed = { .rc = -ENOENT, .stale = true };
	struct cache *c = cache_new(10000);

	get_kind(c, &checked, "k", &old, NULL);
	cr_expect_eq(get_kind(c, &checked, "k", &interrupted, NULL), -EINTR);
	cr_expect_eq(alive, 1);
	cr_expect_eq(get_kind(c, &checked, "k", &failed, NULL), -ENOENT);
	cr_expect_eq(failed.compared, 1);
	cr_expect_eq(alive, 0);
	cache_free(c);
}

Test(cache, takes_what_is_set_and_counts_it)
{
	struct recipe r = { .number = 1, .bytes = 10 };
	struct cache *c = cache_new(2000);
	struct cache_stats s;
	void *obj;

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(make(&r, NULL, &obj, &r.bytes, NULL), 0);
		cr_expect_eq(cache_set(c, &kind, "k", 1, obj, 1000), 0);
	}
	cr_expect_eq(alive, 1, "the second replaces the first");
	cr_expect_eq(cache_peek(c, &kind, "k", 1), obj);
	thing_put(obj);
	cache_stats(c, &s);
	cr_expect_eq(s.entries, 1);
	cr_expect_eq(s.hits, 1);
	cr_expect_eq(s.evicted, 0);
	cr_expect_geq(s.bytes, 1000);
	get(c, "other", &(struct recipe){ .bytes = 1000 }, NULL);
	cache_stats(c, &s);
	cr_expect_eq(s.entries, 1);
	cr_expect_eq(s.misses, 1);
	cr_expect_eq(s.evicted, 1);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

static bool is_even(const void *obj, void *ctx)
{
	++*(unsigned *)ctx;
	return ((const struct thing *)obj)->number % 2 == 0;
}

Test(cache, drops_those_of_a_kind_that_a_condition_names)
{
	struct cache *c = cache_new(100 << 10);
	struct cache_stats stats;
	unsigned asked = 0;
	struct thing *used;

	cache_drop_if(c, &kind, is_even, &asked);
	cr_expect_eq(asked, 0);
	for (int i = 0; i < 6; i++) {
		struct recipe r = { .number = i, .bytes = i == 4 ? 200 << 10 : 10 };
		char key[] = { (char)('0' + i), '\0' };

		get(c, key, &r, NULL);
		r.bytes = 10;
		get_kind(c, &other_kind, key, &r, NULL);
	}
	used = cache_peek(c, &kind, "2", 1);
	cache_drop_if(c, &kind, is_even, &asked);
	cr_expect_eq(asked, 6);
	cache_stats(c, &stats);
	cr_expect_eq(stats.entries, 3 + 6);
	cr_expect_eq(stats.evicted, 0);
	for (int i = 0; i < 6; i++) {
		char key[] = { (char)('0' + i), '\0' };
		void *t = cache_peek(c, &kind, key, 1);

		cr_expect_eq(t != NULL, i % 2, "%d", i);
		if (t)
			thing_put(t);
	}
	cr_assert_not_null(used);
	cr_expect_eq(used->number, 2);
	thing_put(used);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, does_not_keep_failures)
{
	struct recipe bad = { .rc = -EBADMSG }, good = { .bytes = 1 };
	struct cache *c = cache_new(1000);

	cr_expect_eq(get(c, "k", &bad, NULL), -EBADMSG);
	cr_expect_eq(get(c, "k", &good, NULL), 0);
	cache_free(c);
}

struct party {
	struct cache *c;
	struct recipe *r;
	const struct viewer *v;
	int rc;
};

static void *join_in(void *arg)
{
	struct party *p = arg;

	p->rc = get(p->c, "k", p->r, p->v);
	return NULL;
}

Test(cache, is_asked_by_many_threads_and_makes_it_once)
{
	struct recipe r = { .number = 3, .bytes = 10, .sleep_us = 50000 };
	struct party p[8];
	pthread_t threads[8];
	struct cache *c = cache_new(100000);

	for (int i = 0; i < 8; i++) {
		p[i] = (struct party){ c, &r, NULL, -1 };
		pthread_create(&threads[i], NULL, join_in, &p[i]);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		cr_expect_eq(p[i].rc, 0);
	}
	cr_expect_eq(r.made, 1);
	cache_free(c);
	cr_expect_eq(alive, 0);
}

Test(cache, lets_another_one_make_it_when_the_first_gives_up)
{
	/* as long as it takes: the first does not come to an end before it gives up */
	struct recipe r = { .number = 3, .bytes = 10, .sleep_us = 100000000 };
	atomic_bool cancel = false;
	struct viewer impatient = { .cancel = &cancel };
	struct cache *c = cache_new(100000);
	struct party first = { c, &r, &impatient, 0 }, second = { c, &r, NULL, -1 };
	pthread_t a, b;

	pthread_create(&a, NULL, join_in, &first);
	while (!__atomic_load_n(&r.made, __ATOMIC_RELAXED))
		usleep(1000);
	pthread_create(&b, NULL, join_in, &second);
	usleep(20000);
	atomic_store(&cancel, true);
	pthread_join(a, NULL);
	__atomic_store_n(&r.sleep_us, 0, __ATOMIC_RELAXED);
	pthread_join(b, NULL);
	cr_expect_eq(first.rc, -EINTR);
	cr_expect_eq(second.rc, 0);
	cr_expect_eq(r.made, 2);
	cache_free(c);
}

Test(cache, a_failure_reaches_everybody_who_waits)
{
	struct recipe r = { .rc = -EBADMSG, .sleep_us = 100000 };
	struct party p[4];
	pthread_t threads[4];
	struct cache *c = cache_new(100000);

	for (int i = 0; i < 4; i++) {
		p[i] = (struct party){ c, &r, NULL, 0 };
		pthread_create(&threads[i], NULL, join_in, &p[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		cr_expect_eq(p[i].rc, -EBADMSG);
	}
	cache_free(c);
}

static void *hammer(void *arg)
{
	struct party *p = arg;
	unsigned state = (unsigned)p->rc;

	for (int i = 0; i < 3000; i++) {
		char key[2] = { (char)('a' + (state >> 16) % 20), '\0' };
		struct recipe r = { .bytes = 500,
				    .number = key[0],
				    .rc = (state >> 8) % 7 ? 0 : -EBADMSG };

		state = state * 1103515245u + 12345u;
		get(p->c, key, &r, NULL);
	}
	return NULL;
}

Test(cache, survives_many_threads_with_little_room)
{
	struct party p[4];
	pthread_t threads[4];
	struct cache *c = cache_new(4000);

	for (int i = 0; i < 4; i++) {
		p[i] = (struct party){ .c = c, .rc = i + 1 };
		pthread_create(&threads[i], NULL, hammer, &p[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cache_free(c);
	cr_expect_eq(alive, 0);
}
