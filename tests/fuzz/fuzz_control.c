/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that a client may send.  links: collector libspec libcfi events base */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/daemon/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct strbuf again = { 0 };
	struct coll_packet p;
	struct err err = { 0 };

	if (coll_packet_parse((const char *)data, len, &p, &err)) {
		if (!err.code || !*err.msg)
			abort();
		return 0;
	}
	/* what was understood is said in the same words */
	coll_packet_begin(&again);
	for (size_t i = 0; i < p.nr; i++)
		coll_packet_add(&again, p.words[i]);
	if (!p.nr || p.nr > COLL_CONTROL_WORDS || again.len > len + 2 ||
	    memcmp(again.data, data, 9) != 0)
		abort();
	strbuf_fini(&again);
	return 0;
}
