/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/given_up.h"

#include "base/clock.h"

enum { FOR_S = 60 };

void given_up_init(struct given_up *g)
{
	*g = (struct given_up){ 0 };
	pthread_mutex_init(&g->lock, NULL);
}

void given_up_add(struct given_up *g, uint64_t dev, uint64_t ino)
{
	uint64_t until = clock_mono_ns() + FOR_S * CLOCK_NS_PER_S;

	pthread_mutex_lock(&g->lock);
	g->rows[g->next].dev = dev;
	g->rows[g->next].ino = ino;
	g->rows[g->next].until_ns = until;
	g->next = (g->next + 1) % GIVEN_UP_MAX;
	pthread_mutex_unlock(&g->lock);
}

bool given_up_has(struct given_up *g, uint64_t dev, uint64_t ino)
{
	uint64_t now = clock_mono_ns();
	bool found = false;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < GIVEN_UP_MAX && !found; i++)
		found = g->rows[i].ino == ino && g->rows[i].dev == dev &&
			g->rows[i].until_ns > now;
	pthread_mutex_unlock(&g->lock);
	return found;
}
