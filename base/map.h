/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Open-addressing hash tables with byte-string or u64 keys and u64 values (an index or
 * a pointer cast through uintptr_t).  Seeded per process, since keys come from outside.
 * A zeroed table is empty.  String keys are copied.
 */
struct map {
	struct map_slot *slots;
	size_t used, cap, dead;
};

/* String keys. */
bool map_get(const struct map *m, const void *key, size_t len, uint64_t *value);
/* Adds or replaces.  0 or -ENOMEM. */
int map_set(struct map *m, const void *key, size_t len, uint64_t value);
bool map_del(struct map *m, const void *key, size_t len);
void map_fini(struct map *m);
/* Iterates in no order: *pos starts at 0; false at the end.  No changes meanwhile. */
bool map_next(const struct map *m, size_t *pos, const void **key, size_t *len,
	      uint64_t *value);

/* u64 keys. */
struct map_u64 {
	struct map_u64_slot *slots;
	size_t used, cap, dead;
};

bool map_u64_get(const struct map_u64 *m, uint64_t key, uint64_t *value);
int map_u64_set(struct map_u64 *m, uint64_t key, uint64_t value);
bool map_u64_del(struct map_u64 *m, uint64_t key);
void map_u64_fini(struct map_u64 *m);
bool map_u64_next(const struct map_u64 *m, size_t *pos, uint64_t *key, uint64_t *value);

/* A 64-bit hash of bytes with the process's seed; not for files. */
uint64_t map_hash(const void *data, size_t len);

#endif
