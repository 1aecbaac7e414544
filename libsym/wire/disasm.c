/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/disasm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsym/wire/disasm_wire.h"
#include "libsym/wire/wire.h"

struct sym_disasm *sym_disasm_get(struct sym_disasm *d)
{
	__atomic_add_fetch(&d->refs, 1, __ATOMIC_RELAXED);
	return d;
}

void sym_disasm_put(struct sym_disasm *d)
{
	if (d && !__atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL))
		free(d); /* one block: see sym_disasm_decode() */
}

int sym_disasm_none(enum sym_state state, const char *reason, struct sym_disasm **out,
		    struct err *err)
{
	size_t len = strlen(reason);
	struct sym_disasm *d = calloc(1, sizeof(*d) + len + 1);
	char *text = (char *)(d + 1);

	if (!d)
		return err_errno(err, -ENOMEM, "code");
	for (size_t i = 0; i < len; i++)
		text[i] = sym_wire_plain(reason[i]);
	*d = (struct sym_disasm){
		.state = state, .reason = text, .bytes = sizeof(*d) + len + 1, .refs = 1
	};
	*out = d;
	return 0;
}
