// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

enum { SHARE_BITS = 8, NR_SHARES = 1 << SHARE_BITS, PROBES = 8, PART = 8, MIN_SHARE = 8 };

struct share {
	kuid_t user;
	u32 images; /* 0: the share is nobody's */
	u32 tick, new;
};

static struct share shares[NR_SHARES];
static u32 nr_images, max_images;

kuid_t opk_share_user(void)
{
	const struct cred *cred = current_cred();
	const struct user_namespace *ns = cred->user_ns;
	kuid_t user = cred->uid;

	for (; ns->parent; ns = ns->parent)
		user = ns->owner;
	return user;
}

void opk_shares_reset(unsigned int images)
{
	memset(shares, 0, sizeof(shares));
	nr_images = 0;
	max_images = images;
}

/* The user's share; where too many users meet, they have one together. */
static struct share *share_of(kuid_t user)
{
	u32 first = hash_32(__kuid_val(user), SHARE_BITS), i;
	struct share *share, *unused = NULL;

	for (i = 0; i < PROBES; i++) {
		share = &shares[(first + i) % NR_SHARES];
		if (share->images && uid_eq(share->user, user))
			return share;
		if (!share->images && !unused)
			unused = share;
	}
	if (!unused)
		return &shares[first];
	*unused = (struct share){ .user = user };
	return unused;
}

static u32 limit_of(const struct share *share)
{
	if (uid_eq(share->user, GLOBAL_ROOT_UID))
		return max_images;
	return max_t(u32, max_images / PART, MIN_SHARE);
}

int opk_share_take(kuid_t user, u32 tick)
{
	bool root = uid_eq(user, GLOBAL_ROOT_UID);
	struct share *share = share_of(user);

	if (share->tick != tick) {
		share->tick = tick;
		share->new = 0;
	}
	if (share->images >= limit_of(share))
		return -1;
	if (!root && (nr_images >= max_images / 4 * 3 || share->new >= OPK_NEW_A_TICK))
		return -1;
	share->images++;
	share->new ++;
	nr_images++;
	return share - shares;
}

void opk_share_give(unsigned int share)
{
	shares[share].images--;
	nr_images--;
}

bool opk_share_pressed(unsigned int share)
{
	return READ_ONCE(nr_images) >= max_images / 8 * 5 ||
	       READ_ONCE(shares[share].images) >= limit_of(&shares[share]) / 4 * 3;
}
