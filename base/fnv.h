/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stdint.h>

/* The FNV-1a hash, which is the same in every process: for names in files.  Tables in
 * memory use map_hash(), against which nobody can choose keys that collide. */
#define FNV_START 0xcbf29ce484222325ULL

static inline uint64_t fnv_add(uint64_t hash, uint64_t piece)
{
	return (hash ^ piece) * 0x100000001b3ULL;
}

#endif
