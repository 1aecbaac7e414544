// SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "images.h"
#include "record.h"

static struct opk_page_file *slot_of(struct opk_pages *pages, const void *mm,
				     const void *mapping)
{
	u64 mix = (unsigned long)mm ^ (unsigned long)mapping << 8;

	return &pages->files[hash_64(mix, ilog2(ARRAY_SIZE(pages->files)))];
}

void opk_page_note(struct opk_pages *pages, const struct mm_struct *mm, u32 tgid,
		   const struct file *file, u32 cookie)
{
	const struct address_space *mapping = file->f_mapping;
	struct opk_page_file *slot = slot_of(pages, mm, mapping);
	unsigned long flags;

	/* The CPU's thread does this too, and an interrupt must not find half of it. */
	local_irq_save(flags);
	*slot = (struct opk_page_file){
		mm, mapping, mapping->host->i_ino, tgid, cookie,
	};
	local_irq_restore(flags);
}

/* The cookie of what is mapped, or 0. */
static u32 cookie_of(struct opk_pages *pages, const struct address_space *mapping)
{
	const struct mm_struct *mm = current->mm;
	const struct opk_page_file *slot = slot_of(pages, mm, mapping);

	if (!slot->cookie || slot->mm != mm || slot->tgid != current->tgid ||
	    slot->mapping != mapping || slot->ino != mapping->host->i_ino)
		return 0;
	return opk_image_again(slot->cookie) ? slot->cookie : 0;
}

bool opk_page_place(struct opk_pages *pages, unsigned long pc, struct opk_place *place)
{
	const struct address_space *mapping;
	struct folio *folio;
	struct page *page;
	int found;

	/* There are none; but the kernel insists that they would do no harm here. */
	pagefault_disable();
	found = get_user_pages_fast_only(pc, 1, 0, &page);
	pagefault_enable();
	if (found != 1)
		return false;
	folio = page_folio(page);
	mapping = READ_ONCE(folio->mapping);
	/* The two lowest bits, if set, say that the memory is no file's. */
	place->cookie = 0;
	if (mapping && !((unsigned long)mapping & 3) && !folio_test_hugetlb(folio))
		place->cookie = cookie_of(pages, mapping);
	place->kind = OPK_PLACE_FILE;
	place->off = (u64)(folio->index + folio_page_idx(folio, page)) << PAGE_SHIFT |
		     offset_in_page(pc);
	/* It may be the last, if the file was truncated meanwhile: not on PREEMPT_RT. */
	folio_put(folio);
	return place->cookie;
}
