/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/* An answer, a request and a demangled name of arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "libsym/demangle.h"
#include "libsym/request.h"
#include "libsym/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sym_table *t)
{
	uint64_t vma;

	for (size_t i = 0; i < t->nr_syms; i++) {
		const struct sym *s = &t->syms[i];

		if (sym_find(t, s->off) != s || strpbrk(s->name, "\n\t\x1b"))
			abort();
		if (sym_find(t, s->off + s->size) == s)
			abort();
		sym_vma(t, s->off, &vma);
	}
	if (strlen(t->reason) + strlen(t->path) + strlen(t->debug_path) > 3u << 20)
		abort();
}

static void try_smart(const uint8_t *data, size_t size)
{
	struct strbuf out = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	sym_demangle_smart(text, &out);
	if (out.len > size + 64)
		abort();
	strbuf_fini(&out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym_table *t = NULL;
	struct sym_request r;
	void *copy = malloc(size + 8); /* aligned as the decoders ask for */

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (!sym_wire_decode(copy, size, &t, NULL))
		check(t);
	sym_table_put(t);
	if (!sym_request_parse(copy, size, &r, NULL) && r.kind == SYM_REQUEST_LOAD &&
	    strlen(r.job.path) + strlen(r.places.kernel_notes) > size)
		abort();
	free(copy);
	try_smart(data, size);
	return 0;
}
