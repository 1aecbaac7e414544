/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { FIRST_CAP = 16 };

struct map_slot {
	char *key; /* NULL: never used; &tomb: deleted */
	size_t len;
	uint64_t hash, value;
};

enum slot_state { SLOT_FREE, SLOT_USED, SLOT_DEAD };

struct map_u64_slot {
	uint64_t key, value;
	enum slot_state state;
};

static char tomb;
static uint64_t seed[2];
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
static bool seeded; /* atomic: spares the call */

/*
 * The 16 bytes the kernel gives every program at its start: they need no system call,
 * which a sandboxed process may not have.
 */
static void seed_init(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

	if (random)
		memcpy(seed, random, sizeof(seed));
	seed[0] ^= 0x9e3779b97f4a7c15ULL;
	seed[1] ^= 0xc2b2ae3d27d4eb4fULL;
	__atomic_store_n(&seeded, true, __ATOMIC_RELEASE);
}

static void need_seed(void)
{
	if (!__atomic_load_n(&seeded, __ATOMIC_ACQUIRE))
		pthread_once(&seed_once, seed_init);
}

static uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

/* SipHash-1-3: without the seed, nobody can choose keys that collide. */
uint64_t map_hash(const void *data, size_t len)
{
	const uint8_t *at = data;
	uint64_t v[4], word;
	size_t left = len;

	need_seed();
	v[0] = seed[0] ^ 0x736f6d6570736575ULL;
	v[1] = seed[1] ^ 0x646f72616e646f6dULL;
	v[2] = seed[0] ^ 0x6c7967656e657261ULL;
	v[3] = seed[1] ^ 0x7465646279746573ULL;
	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)len << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)at[i] << (8 * i);
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t hash_u64(uint64_t key)
{
	unsigned __int128 wide;

	need_seed();
	wide = (unsigned __int128)(key ^ seed[0]) * (seed[1] | 1);
	key = (uint64_t)wide ^ (uint64_t)(wide >> 64);
	key *= 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 32;
}

/* At least a quarter of the slots was never used, so that every search ends. */
static bool has_room(size_t used, size_t dead, size_t cap)
{
	return used + dead < cap - cap / 4;
}

/* The size for a table that is laid anew without its dead entries.  0: too large. */
static size_t cap_for(size_t used)
{
	size_t want = FIRST_CAP;

	while (want - want / 4 <= used + used / 2)
		if (__builtin_mul_overflow(want, 2, &want))
			return 0;
	return want;
}

static bool slot_live(const struct map_slot *s)
{
	return s->key && s->key != &tomb;
}

static struct map_slot *slot_find(const struct map *m, const void *key, size_t len,
				  uint64_t hash)
{
	if (!m->cap)
		return NULL;
	for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct map_slot *s = &m->slots[i];

		if (!s->key)
			return NULL;
		if (s->key != &tomb && s->hash == hash && s->len == len &&
		    (!len || !memcmp(s->key, key, len)))
			return s;
	}
}

/* The first slot never used on the way of @hash; there is one. */
static struct map_slot *slot_free(struct map_slot *slots, size_t cap, uint64_t hash)
{
	size_t i = hash & (cap - 1);

	while (slots[i].key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int make_room(struct map *m)
{
	size_t cap = cap_for(m->used);
	struct map_slot *slots;

	if (has_room(m->used, m->dead, m->cap))
		return 0;
	slots = cap ? calloc(cap, sizeof(*slots)) : NULL;
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (slot_live(&m->slots[i]))
			*slot_free(slots, cap, m->slots[i].hash) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	m->dead = 0;
	return 0;
}

bool map_get(const struct map *m, const void *key, size_t len, uint64_t *value)
{
	const struct map_slot *s = slot_find(m, key, len, map_hash(key, len));

	if (s && value)
		*value = s->value;
	return s;
}

int map_set(struct map *m, const void *key, size_t len, uint64_t value)
{
	uint64_t hash = map_hash(key, len);
	struct map_slot *s = slot_find(m, key, len, hash);
	size_t bytes;
	char *copy;

	if (s) {
		s->value = value;
		return 0;
	}
	if (make_room(m) || __builtin_add_overflow(len, 1, &bytes))
		return -ENOMEM;
	copy = malloc(bytes);
	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, key, len);
	copy[len] = '\0';
	*slot_free(m->slots, m->cap, hash) = (struct map_slot){
		.key = copy, .len = len, .hash = hash, .value = value
	};
	m->used++;
	return 0;
}

bool map_del(struct map *m, const void *key, size_t len)
{
	struct map_slot *s = slot_find(m, key, len, map_hash(key, len));

	if (!s)
		return false;
	free(s->key);
	*s = (struct map_slot){ .key = &tomb };
	m->used--;
	m->dead++;
	return true;
}

void map_fini(struct map *m)
{
	for (size_t i = 0; i < m->cap; i++)
		if (slot_live(&m->slots[i]))
			free(m->slots[i].key);
	free(m->slots);
	*m = (struct map){ 0 };
}

bool map_next(const struct map *m, size_t *pos, const void **key, size_t *len,
	      uint64_t *value)
{
	for (; *pos < m->cap; ++*pos) {
		const struct map_slot *s = &m->slots[*pos];

		if (!slot_live(s))
			continue;
		if (key)
			*key = s->key;
		if (len)
			*len = s->len;
		if (value)
			*value = s->value;
		++*pos;
		return true;
	}
	return false;
}

static struct map_u64_slot *u64_find(const struct map_u64 *m, uint64_t key)
{
	if (!m->cap)
		return NULL;
	for (size_t i = hash_u64(key) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct map_u64_slot *s = &m->slots[i];

		if (s->state == SLOT_FREE)
			return NULL;
		if (s->state == SLOT_USED && s->key == key)
			return s;
	}
}

static struct map_u64_slot *u64_free(struct map_u64_slot *slots, size_t cap, uint64_t key)
{
	size_t i = hash_u64(key) & (cap - 1);

	while (slots[i].state != SLOT_FREE)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int u64_make_room(struct map_u64 *m)
{
	size_t cap = cap_for(m->used);
	struct map_u64_slot *slots;

	if (has_room(m->used, m->dead, m->cap))
		return 0;
	slots = cap ? calloc(cap, sizeof(*slots)) : NULL;
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].state == SLOT_USED)
			*u64_free(slots, cap, m->slots[i].key) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	m->dead = 0;
	return 0;
}

bool map_u64_get(const struct map_u64 *m, uint64_t key, uint64_t *value)
{
	const struct map_u64_slot *s = u64_find(m, key);

	if (s && value)
		*value = s->value;
	return s;
}

int map_u64_set(struct map_u64 *m, uint64_t key, uint64_t value)
{
	struct map_u64_slot *s = u64_find(m, key);

	if (s) {
		s->value = value;
		return 0;
	}
	if (u64_make_room(m))
		return -ENOMEM;
	*u64_free(m->slots, m->cap, key) =
		(struct map_u64_slot){ .key = key, .value = value, .state = SLOT_USED };
	m->used++;
	return 0;
}

bool map_u64_del(struct map_u64 *m, uint64_t key)
{
	struct map_u64_slot *s = u64_find(m, key);

	if (!s)
		return false;
	s->state = SLOT_DEAD;
	m->used--;
	m->dead++;
	return true;
}

void map_u64_fini(struct map_u64 *m)
{
	free(m->slots);
	*m = (struct map_u64){ 0 };
}

bool map_u64_next(const struct map_u64 *m, size_t *pos, uint64_t *key, uint64_t *value)
{
	for (; *pos < m->cap; ++*pos) {
		const struct map_u64_slot *s = &m->slots[*pos];

		if (s->state != SLOT_USED)
			continue;
		if (key)
			*key = s->key;
		if (value)
			*value = s->value;
		++*pos;
		return true;
	}
	return false;
}
