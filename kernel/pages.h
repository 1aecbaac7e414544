/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_PAGES_H
#define OPK_PAGES_H

#include <linux/types.h>

struct file;
struct mm_struct;
struct opk_place;

/*
 * A way to attribute user code that needs no lock: the page that was executed tells which
 * file it is of, and where in it.  What it does not tell is by which path the process
 * knows the file, so that must have been looked up before, for a sample of this process
 * on this CPU.
 */
struct opk_page_file {
	const void *mm, *mapping; /* compared, never followed */
	u64 ino;
	u32 tgid, cookie; /* cookie 0: the entry is unused */
};

/* One for each CPU, used on that CPU only, and not by NMIs. */
struct opk_pages {
	struct opk_page_file files[64];
};

/* Notes that @mm has @file mapped, whose image is @cookie. */
void opk_page_note(struct opk_pages *pages, const struct mm_struct *mm, u32 tgid,
		   const struct file *file, u32 cookie);

/*
 * In an interrupt (not on PREEMPT_RT), for the address space of current: finds the place
 * of a user address.  false: it is no file's, or none that is known, or its page is not
 * there.
 */
bool opk_page_place(struct opk_pages *pages, unsigned long pc, struct opk_place *place);

#endif
