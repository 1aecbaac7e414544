/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/nameless.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "opfs/profile/images.h"

enum profile_row_kind profile_nameless_kind(const struct profile_build *b, uint32_t image)
{
	const struct sym_table *table = b->p->images[image].table;

	return !table || profile_stripped(table) ? PROFILE_ROW_IMAGE : PROFILE_ROW_NONE;
}

const char *profile_nameless_row(const struct profile_build *b, uint32_t image)
{
	return profile_nameless_kind(b, image) == PROFILE_ROW_IMAGE
		       ? b->p->cat->images[image].shown
		       : "(no symbol)";
}

const char *profile_nameless_func(const struct profile_build *b, uint32_t image,
				  const struct sym_section *entry)
{
	const char *base = b->p->cat->images[image].base;
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (entry)
		strbuf_printf(&name, "%s+0x%" PRIx64, base, entry->vma);
	else
		strbuf_printf(&name, "[%s]", base);
	return strbuf_error(&name) ? NULL : arena_strdup(&b->p->arena, strbuf_str(&name));
}
