/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/share.h"

#include <errno.h>

void share_init(struct share *s, uint64_t total, bool fair)
{
	*s = (struct share){ .total = total, .fair = fair };
}

void share_fini(struct share *s)
{
	map_u64_fini(&s->users);
	*s = (struct share){ 0 };
}

uint64_t share_of(const struct share *s, uid_t uid)
{
	uint64_t has = 0;

	map_u64_get(&s->users, uid, &has);
	return has;
}

bool share_may(const struct share *s, uid_t uid, uint64_t amount)
{
	uint64_t free = s->total - s->used;

	if (amount > free)
		return false;
	/* one more than is left: the last unit */
	return !s->fair || share_of(s, uid) + amount <= free - amount + 1;
}

int share_take(struct share *s, uid_t uid, uint64_t amount)
{
	if (!share_may(s, uid, amount))
		return -EAGAIN;
	if (map_u64_set(&s->users, uid, share_of(s, uid) + amount))
		return -ENOMEM;
	s->used += amount;
	return 0;
}

void share_give(struct share *s, uid_t uid, uint64_t amount)
{
	uint64_t has = share_of(s, uid);

	s->used -= amount;
	if (has > amount)
		map_u64_set(&s->users, uid, has - amount); /* it is there: cannot fail */
	else
		map_u64_del(&s->users, uid);
}
