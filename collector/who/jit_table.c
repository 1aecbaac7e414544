/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/jit_table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "collector/who/jit_files.h"
#include "collector/who/table_answer.h"
#include "libcfi/compile.h"
#include "libcfi/trampoline.h"
#include "libspec/jit/jitdump.h"
#include "libspec/jit/perf_map.h"

/* What CPython calls its functions. */
#define PREFIX "py::"
enum { PREFIX_LEN = sizeof(PREFIX) - 1 };

struct making {
	const struct coll_jit_region *region;
	struct spec_jitdump_header header; /* of its jitdump, if it has one */
	VEC(struct cfi_made) made;
	bool any; /* there is unwinding information, of this region or another */
};

static bool is_inside(const struct making *m, uint64_t start, uint64_t size)
{
	return start >= m->region->start && start < m->region->end &&
	       size <= m->region->end - start;
}

static int add(struct making *m, const struct cfi_made *made)
{
	struct cfi_made at = *made;

	m->any = true;
	if (!is_inside(m, made->start, made->size) || m->made.len >= SPEC_JIT_MAX_CODES)
		return 0;
	at.start -= m->region->start;
	return vec_push(&m->made, at);
}

/* A function of python's, by the entry of its trampoline. */
static bool is_trampoline(uint64_t size, const char *name, size_t len)
{
	return (size == CFI_TRAMPOLINE_BYTES || size == CFI_TRAMPOLINE_ENDBR_BYTES) &&
	       len >= PREFIX_LEN && !memcmp(name, PREFIX, PREFIX_LEN);
}

static int take_line(void *ctx, uint64_t start, uint64_t size, const char *name,
		     size_t len)
{
	struct making *m = ctx;

	return is_trampoline(size, name, len)
		       ? add(m, &(struct cfi_made){ .start = start, .size = size })
		       : 0;
}

/* Only lines with such a name are read, and no names kept: a map of a million lines is
 * asked for each region. */
static int take_lines(struct making *m, const struct strbuf *map)
{
	const char *at = map->data, *end = at + map->len, *name, *newline;
	uint64_t bad = 0;
	int rc = 0;

	while (!rc && (name = memmem(at, (size_t)(end - at), PREFIX, PREFIX_LEN))) {
		newline = memrchr(at, '\n', (size_t)(name - at));
		at = newline ? newline + 1 : at;
		newline = memchr(name, '\n', (size_t)(end - name));
		if (!newline)
			break;
		rc = spec_perf_map_read(at, (size_t)(newline + 1 - at), take_line, m,
					&bad);
		at = newline + 1;
	}
	return rc;
}

/* Maps do not say for which machine they are: that of this program. */
static int take_map(struct making *m, const struct strbuf *map)
{
#if defined(__x86_64__)
	return map->len ? take_lines(m, map) : 0;
#else
	(void)take_lines;
	(void)m;
	(void)map;
	return 0;
#endif
}

/* CPython writes its jitdump late: what it says of one trampoline holds for the next. */
static int take_load(void *ctx, const struct spec_jitdump_load *load)
{
	struct making *m = ctx;
	struct cfi_made made = { .start = load->addr, .size = load->size };

	if (m->header.elf_machine == EM_X86_64 &&
	    is_trampoline(load->size, load->name, load->name_len))
		return add(m, &made);
	if (!load->unwind)
		return 0;
	made.frames = load->unwind->eh_frame;
	made.frames_size = load->unwind->eh_frame_len;
	return add(m, &made);
}

/* What made sense of a damaged one counts. */
static int take_dump(struct making *m, const struct strbuf *dump)
{
	const struct spec_jitdump_visit visit = { .load = take_load, .ctx = m };
	struct err err = { 0 };
	int rc = spec_jitdump_read(dump->data, dump->len, &m->header, &visit, NULL, &err);

	return rc == -ENOMEM ? rc : 0;
}

static void make(const struct coll_jit_region *region, const struct coll_jit_files *files,
		 struct strbuf *out)
{
	struct making m = { .region = region };
	size_t before = out->len;
	struct err err = { 0 };
	int rc = files->dump.len ? take_dump(&m, &files->dump) : 0;

	if (!rc)
		rc = take_map(&m, &files->map);
	if (!rc && m.any)
		rc = cfi_compile_made(m.header.elf_machine == EM_AARCH64 ? CFI_ARM64
									 : CFI_X86_64,
				      m.made.data, m.made.len,
				      region->end - region->start, out, &err);
	if (rc)
		strbuf_truncate(out, before);
	vec_fini(&m.made);
}

void coll_jit_answer_table(char *question, size_t len, struct strbuf *out, int *file)
{
	CLEANUP(coll_jit_files_fini) struct coll_jit_files files = { 0 };
	const struct coll_jit_region *region;
	struct coll_jit_fetch q;
	const char *dump;

	(void)file;
	if (!coll_jit_take_question(question, len, &q, &region, &dump) ||
	    q.nr_regions != 1 || region->end <= region->start)
		return;
	coll_jit_files_read(&files, &q, dump);
	if ((files.map.len || files.dump.len) && coll_table_confine())
		make(region, &files, out);
}
