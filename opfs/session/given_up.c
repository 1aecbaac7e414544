/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/given_up.h"

#include "base/clock.h"

enum { SESSION_S = 300, OWNER_S = 60, MAX_SPENT_S = 10 };

void given_up_init(struct given_up *g)
{
	*g = (struct given_up){ 0 };
	pthread_mutex_init(&g->lock, NULL);
}

void given_up_add(struct given_up *g, uint64_t dev, uint64_t ino)
{
	uint64_t until = clock_mono_ns() + SESSION_S * CLOCK_NS_PER_S;
	size_t i;

	pthread_mutex_lock(&g->lock);
	i = g->next_session;
	g->next_session = (i + 1) % GIVEN_UP_MAX;
	g->sessions[i].dev = dev;
	g->sessions[i].ino = ino;
	g->sessions[i].until_ns = until;
	pthread_mutex_unlock(&g->lock);
}

bool given_up_has(struct given_up *g, uint64_t dev, uint64_t ino)
{
	uint64_t now = clock_mono_ns();
	bool found = false;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < GIVEN_UP_MAX && !found; i++)
		found = g->sessions[i].ino == ino && g->sessions[i].dev == dev &&
			g->sessions[i].until_ns > now;
	pthread_mutex_unlock(&g->lock);
	return found;
}

/* The index of an owner who spent something in this minute; GIVEN_UP_MAX: he did not.
 * Lock held. */
static size_t find_owner(const struct given_up *g, uid_t owner)
{
	uint64_t now = clock_mono_ns();
	size_t i = 0;

	while (i < GIVEN_UP_MAX &&
	       (g->owners[i].uid != owner || g->owners[i].until_ns <= now))
		i++;
	return i;
}

void given_up_spend(struct given_up *g, uid_t owner, uint64_t ns)
{
	size_t i;

	pthread_mutex_lock(&g->lock);
	i = find_owner(g, owner);
	if (i == GIVEN_UP_MAX) {
		i = g->next_owner;
		g->next_owner = (i + 1) % GIVEN_UP_MAX;
		g->owners[i].uid = owner;
		g->owners[i].spent_ns = 0;
		g->owners[i].until_ns = clock_mono_ns() + OWNER_S * CLOCK_NS_PER_S;
	}
	g->owners[i].spent_ns += ns;
	pthread_mutex_unlock(&g->lock);
}

uint64_t given_up_left(struct given_up *g, uid_t owner)
{
	uint64_t max = MAX_SPENT_S * CLOCK_NS_PER_S, spent = 0;
	size_t i;

	pthread_mutex_lock(&g->lock);
	i = find_owner(g, owner);
	if (i < GIVEN_UP_MAX)
		spent = g->owners[i].spent_ns;
	pthread_mutex_unlock(&g->lock);
	return spent < max ? max - spent : 0;
}
