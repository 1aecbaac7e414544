/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/table/short.h"
#include "libsym/table/smart.h"

#define MAX_NAME 65536 /* longer names stay as they are */
#define FLAGS (DMGL_PARAMS | DMGL_ANSI)

/* Which demangler reads which names; the first whose prefix matches is used. */
static const struct {
	const char *prefix;
	int style;
} styles[] = {
	{ "_Z", DMGL_AUTO }, /* C++, and Rust's older mangling inside it */
	{ "__Z", DMGL_AUTO }, { "___Z", DMGL_AUTO }, { "_GLOBAL_", DMGL_AUTO },
	{ "_R", DMGL_RUST },  { "_D", DMGL_DLANG },
};

static char *demangle_part(const char *name)
{
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (!strncmp(name, styles[i].prefix, strlen(styles[i].prefix)))
			return cplus_demangle(name, FLAGS | styles[i].style);
	return NULL;
}

static void add_text(const char *text, enum sym_demangle_style style, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf smart = { 0 };

	if (style == SYM_DEMANGLE_SMART || style == SYM_DEMANGLE_SMART_SHORT) {
		sym_demangle_smart(text, &smart);
		text = strbuf_str(&smart);
	}
	if (style == SYM_DEMANGLE_SHORT || style == SYM_DEMANGLE_SMART_SHORT)
		sym_short_name(text, out);
	else
		strbuf_puts(out, text);
}

void sym_demangle(const char *name, enum sym_demangle_style style, struct strbuf *out)
{
	size_t len = strcspn(name, "@");
	CLEANUP(free_ptr) char *part = NULL;
	CLEANUP(free_ptr) char *text = NULL;

	if (style != SYM_DEMANGLE_NONE && name[0] == '_' && len < MAX_NAME) {
		part = strndup(name, len);
		text = part ? demangle_part(part) : NULL;
	}
	if (!text) {
		strbuf_puts(out, name);
		return;
	}
	add_text(text, style, out);
	strbuf_puts(out, name + len);
}
