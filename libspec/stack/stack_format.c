/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/stack/stack_format.h"

#include <errno.h>
#include <string.h>

static const struct {
	uint64_t number;
	const char *text;
} ends[] = {
#define END(number, id, text) { number, text },
#include "libspec/stack/stack_end_list.h"
#undef END
};

const char *spec_stack_end_text(uint64_t number)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i].number == number)
			return ends[i].text;
	return NULL;
}

int spec_stack_header_check(const struct spec_stack_header *h, struct err *err)
{
	if (memcmp(h->magic, SPEC_STACK_MAGIC, sizeof(h->magic)) != 0)
		return err_set(err, -EBADMSG, "%s: is no table of stacks",
			       SPEC_STACK_TABLE);
	if (h->version != SPEC_STACK_VERSION ||
	    h->node_bytes != sizeof(struct spec_stack_node))
		return err_set(err, -EBADMSG,
			       "%s: is of another version (%u, this is %u)",
			       SPEC_STACK_TABLE, h->version, SPEC_STACK_VERSION);
	return 0;
}
