// SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "images.h"
#include "resolve.h"

static struct opk_page_file *slot_of(struct opk_pages *pages, const void *mm,
				     const void *mapping)
{
	u64 mix = (unsigned long)mm ^ (unsigned long)mapping << 8;

	return &pages->files[hash_64(mix, ilog2(ARRAY_SIZE(pages->files)))];
}

/* The cookie of a slot if it is about this and still one, or 0. */
static __always_inline u32 cookie_in(const struct opk_page_file *slot,
				     const struct opk_raw *raw,
				     const struct address_space *mapping)
{
	const struct inode *inode = mapping->host;
	struct timespec64 mtime = opk_mtime(inode);

	if (!slot->cookie || slot->mm != raw->mm || slot->tgid != raw->task.tgid ||
	    slot->mapping != mapping || slot->ino != inode->i_ino ||
	    !timespec64_equal(&slot->mtime, &mtime) || slot->size != i_size_read(inode))
		return 0;
	/* The application's was looked at just now. */
	return slot->cookie == raw->task.app || opk_image_again(slot->cookie)
		       ? slot->cookie
		       : 0;
}

u32 opk_page_known(struct opk_pages *pages, const struct opk_raw *raw,
		   const struct file *file)
{
	const struct address_space *mapping = file->f_mapping;
	const struct opk_page_file *slot = slot_of(pages, raw->mm, mapping);
	unsigned long flags;
	u32 cookie = 0;

	/* The CPU's thread does this too, and interrupts may note something meanwhile. */
	local_irq_save(flags);
	if (slot->file == file)
		cookie = cookie_in(slot, raw, mapping);
	local_irq_restore(flags);
	return cookie;
}

void opk_page_note(struct opk_pages *pages, const struct opk_raw *raw,
		   const struct file *file, u32 cookie)
{
	const struct address_space *mapping = file->f_mapping;
	struct opk_page_file *slot = slot_of(pages, raw->mm, mapping);
	const struct inode *inode = mapping->host;
	unsigned long flags;

	local_irq_save(flags);
	*slot = (struct opk_page_file){
		.file = file,
		.mm = raw->mm,
		.mapping = mapping,
		.ino = inode->i_ino,
		.mtime = opk_mtime(inode),
		.size = i_size_read(inode),
		.tgid = raw->task.tgid,
		.cookie = cookie,
	};
	local_irq_restore(flags);
}

bool opk_page_place(struct opk_pages *pages, const struct opk_raw *raw, unsigned long pc,
		    struct opk_place *place)
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
		place->cookie = cookie_in(slot_of(pages, raw->mm, mapping), raw, mapping);
	place->kind = OPK_PLACE_FILE;
	place->anon = 0;
	place->off = (u64)(folio->index + folio_page_idx(folio, page)) << PAGE_SHIFT |
		     offset_in_page(pc);
	/* It may be the last, if the file was truncated meanwhile: not on PREEMPT_RT. */
	folio_put(folio);
	return place->cookie;
}
