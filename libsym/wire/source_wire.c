/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/source_wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/wire.h"

int sym_source_pack(const struct sym_text *s, struct strbuf *out)
{
	struct sym_source_header h = {
		.magic = SYM_SOURCE_MAGIC,
		.version = SYM_SOURCE_VERSION,
		.state = s->state,
		.reason_len = (uint32_t)strlen(s->reason) + 1,
		.path_len = (uint32_t)strlen(s->path) + 1,
		.len = (uint32_t)s->len,
		.mtime = s->mtime,
	};

	strbuf_add(out, &h, sizeof(h));
	strbuf_add(out, s->reason, h.reason_len);
	strbuf_add(out, s->path, h.path_len);
	strbuf_add(out, s->data, s->len);
	return strbuf_error(out);
}

static bool is_text(const char *s, uint32_t len)
{
	return len && strnlen(s, len) == len - 1;
}

static void take_text(char *to, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		to[i] = sym_wire_plain(s[i]);
}

int sym_source_decode(const void *data, size_t len, struct sym_text **out,
		      struct err *err)
{
	const struct sym_source_header *h = data;
	const char *from = (const char *)(h + 1);
	struct sym_text *s;
	char *to;

	if (len < sizeof(*h) || h->magic != SYM_SOURCE_MAGIC ||
	    h->version != SYM_SOURCE_VERSION || h->state >= SYM_NR_STATES ||
	    h->len > SYM_SOURCE_MAX ||
	    sizeof(*h) + (uint64_t)h->reason_len + h->path_len + h->len != len ||
	    !is_text(from, h->reason_len) || !is_text(from + h->reason_len, h->path_len))
		return err_set(err, -EBADMSG,
			       "answer of the symbol helper: not a source file");
	s = malloc(sizeof(*s) + len - sizeof(*h) + 1);
	if (!s)
		return err_errno(err, -ENOMEM, "source file");
	to = (char *)(s + 1);
	take_text(to, from, h->reason_len + h->path_len);
	*s = (struct sym_text){
		.state = (enum sym_state)h->state,
		.reason = to,
		.path = to + h->reason_len,
		.data = to + h->reason_len + h->path_len,
		.len = h->len,
		.mtime = h->mtime,
	};
	memcpy(to + h->reason_len + h->path_len, from + h->reason_len + h->path_len,
	       h->len);
	to[len - sizeof(*h)] = '\0';
	*out = s;
	return 0;
}

int sym_source_none(enum sym_state state, const char *reason, struct sym_text **out,
		    struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	struct sym_text s = { .state = state, .reason = reason, .path = "", .data = "" };
	int rc = sym_source_pack(&s, &blob);

	return rc ? err_errno(err, rc, "source file")
		  : sym_source_decode(blob.data, blob.len, out, err);
}
