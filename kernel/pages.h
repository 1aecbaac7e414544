/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_PAGES_H
#define OPK_PAGES_H

#include <linux/time64.h>
#include <linux/types.h>

struct file;
struct opk_place;
struct opk_raw;

/*
 * A way to attribute user code that needs no lock: the page that was executed tells which
 * file it is of, and where in it.  What it does not tell is by which path the process
 * knows the file, so that must have been looked up before, for a sample of this process
 * on this CPU.
 */
struct opk_page_file {
	const void *file, *mm, *mapping; /* compared, never followed */
	u64 ino;
	struct timespec64 mtime;
	s64 size;
	u32 tgid, cookie; /* cookie 0: the entry is unused */
};

/* One for each CPU, used on that CPU only, and not by NMIs. */
struct opk_pages {
	struct opk_page_file files[64];
};

/*
 * The image of @file, which the process of a sample has mapped, and whose lock the caller
 * holds: its cookie if it was noted here, else 0.
 */
u32 opk_page_known(struct opk_pages *pages, const struct opk_raw *raw,
		   const struct file *file);
void opk_page_note(struct opk_pages *pages, const struct opk_raw *raw,
		   const struct file *file, u32 cookie);

/*
 * In an interrupt (not on PREEMPT_RT), for a sample of current: finds the place of a user
 * address.  false: it is no file's, or none that is known, or its page is not there.
 */
bool opk_page_place(struct opk_pages *pages, const struct opk_raw *raw, unsigned long pc,
		    struct opk_place *place);

#endif
