/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_SHARES_H
#define OPK_SHARES_H

#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * What each user holds of the table of images, so that one user cannot fill it for all:
 * an eighth at most, all users but root together three quarters, and no more than some
 * hundred new ones a tick, for each of them is work.  The table's lock is held by the
 * caller of all these but opk_share_user() and opk_share_pressed().
 */
enum { OPK_NEW_A_TICK = 512 };

/*
 * The user that pays for the images of the current task.  Users of user namespaces are
 * nobody but who made the outermost one.  Any context.
 */
kuid_t opk_share_user(void);

/* Forgets all users; @images: size of the table. */
void opk_shares_reset(unsigned int images);

/*
 * Charges one image to @user.  Returns the share, for opk_share_give(), or -1 if that
 * would be too much.  @tick: any number that changes when a tick is over.
 */
int opk_share_take(kuid_t user, u32 tick);
void opk_share_give(unsigned int share);

/* True if images that are not used should go, to make room for others of this user. */
bool opk_share_pressed(unsigned int share);

#endif
