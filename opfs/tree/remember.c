/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/remember.h"

#include "base/cleanup.h"

void tree_remember(struct tree *t, const struct place *from, const char *name,
		   const struct viewer *v, const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (from->spec) {
		place_format(from, &text);
		strbuf_putc(&text, '/');
	}
	if (from->kind == PLACE_VALUES || from->kind == PLACE_PREFIX) {
		strbuf_printf(&text, "%s%s%s", from->tag->name,
			      *from->tag->name ? ":" : "",
			      from->value ? from->value : "");
		strbuf_putc(&text, '/');
	}
	if (from->event)
		strbuf_printf(&text, "events/%s%s", from->event, *from->event ? "/" : "");
	if (!name)
		name = from->report->name;
	strbuf_printf(&text, "%s: %s", name, err->msg);
	reasons_add(t->reasons, v ? v->cred.uid : 0, strbuf_str(&text));
}
