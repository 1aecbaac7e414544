/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: opfs libspec libsym events base */
/* Nodes of a table of stacks, whatever they are: what profiles, call trees and slices
 * make of them, and of functions that are inlined there.  Every sample stays, wherever it
 * is shown. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_write.h"
#include "libspec/stack/stack_format.h"
#include "libsym/wire/lines_wire.h"
#include "opfs/profile/calltree.h"
#include "opfs/profile/inlines.h"
#include "opfs/profile/lines.h"
#include "opfs/profile/stacks.h"
#include "opfs/session/catalog_load.h"
#include "opfs/tree/browse_tree.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SAMPLES = 100000, MAX_NODES = 4096 };

static char dir[] = "/tmp/opfs-fuzz.XXXXXX";
static int top = -1, session = -1;
static const char file[] = "{root}/a/{dep}/{root}/a/E.1.0.all.all.all";
static const char stacks[] = "stacks/{root}/a/{dep}/{root}/a/E.1.0.all.all.all";
static const char images[] = "# opfs stack-images 1\n"
			     "1\tuser\t{root}/a\n"
			     "2\tuser\t{root}/lib\n"
			     "3\tkernel\t{kern}/ext4\n";

static void clean_up(void)
{
	file_remove_tree(AT_FDCWD, dir, NULL);
}

static struct spec_sample_writer *writer(const char *path)
{
	struct spec_sample_header header = { .count = 1 };
	struct spec_sample_writer *w;

	if (spec_sample_writer_open(session, path, &header, &w, NULL))
		abort();
	return w;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct spec_sample_writer *w;

	(void)argc;
	(void)argv;
	if (!mkdtemp(dir) || atexit(clean_up))
		abort();
	top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file_mkdirs(top, "samples/current/stacks", 0755, NULL))
		abort();
	session = openat(top, "samples/current", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session < 0 || file_replace(session, "stacks/images", images,
					sizeof(images) - 1, 0644, 0, NULL))
		abort();
	w = writer(file);
	for (uint32_t i = 1; i <= 100; i++)
		spec_sample_add(w, i, SAMPLES / 100, NULL);
	spec_sample_writer_free(w);
	return 0;
}

/* The table, and counts of its nodes, of many only some, and of one behind them. */
static void write_stacks(const uint8_t *data, size_t nr)
{
	struct spec_stack_header h = { .magic = SPEC_STACK_MAGIC,
				       .version = SPEC_STACK_VERSION,
				       .node_bytes = sizeof(struct spec_stack_node),
				       .nr = nr + 1,
				       .separate = SPEC_STACK_LIB };
	CLEANUP(strbuf_fini) struct strbuf table = { 0 };
	const struct spec_stack_node none = { 0 };
	CLEANUP(close_fd) int fd = -1;
	struct spec_sample_writer *w;

	strbuf_add(&table, &h, sizeof(h));
	strbuf_add(&table, &none, sizeof(none));
	strbuf_add(&table, data, nr * sizeof(none));
	fd = openat(session, "stacks/frames", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0644);
	if (fd < 0 || file_write_all(fd, table.data, table.len))
		abort();
	unlinkat(session, stacks, 0);
	w = writer(stacks);
	for (uint32_t i = 1; i <= nr + 1; i += nr > 256 ? 16 : 1)
		spec_sample_add(w, i, 1 + i % 3, NULL);
	spec_sample_writer_free(w);
}

static bool is_ours(void *ctx, const char *listed)
{
	return ctx && *listed == '[';
}

static void browse(struct profile *p, enum browse_kind kind)
{
	struct browse_tree *t;

	if (browse_tree_new(p, kind, NULL, is_ours, p, NULL, &t, NULL))
		abort();
	for (uint32_t i = 1; i < t->nr_nodes; i++) {
		const struct browse_node *n = &t->nodes[i];

		if (browse_tree_child(t, n->parent, t->listed[n->name]) != i &&
		    kind != BROWSE_THROUGH)
			abort();
	}
	browse_tree_put(t);
}

static uint64_t sum_of(const struct profile *p, bool inverted)
{
	const struct calltree_options how = { .inverted = inverted };
	struct calltree t;
	uint64_t sum, self = 0;

	if (calltree_build(p, &how, NULL, &t, NULL))
		abort();
	sum = t.total[0];
	for (size_t i = 0; i < t.nr_nodes; i++)
		self += t.self[i];
	if (self != sum)
		abort();
	calltree_fini(&t);
	return sum;
}

static void slice(struct profile *p, const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) uint8_t *keep = calloc(p->stacks->nr_stacks + 1, 1);
	struct profile *part;
	uint64_t samples = 0;

	for (size_t i = 0; i < p->stacks->nr_stacks; i++) {
		keep[i] = data[i % size] & 1;
		samples += keep[i] ? p->stacks->stacks[i].samples : 0;
	}
	if (profile_slice(p, keep, PROFILE_ARCS, NULL, &part, NULL))
		abort();
	if (part->classes[0].total != samples)
		abort();
	profile_put(part);
}

/* Rows of 16 bytes, the last without an end, with any of these functions inlined, and
 * these into any before them. */
static struct sym_lines *lines_of(const uint8_t *data, size_t size)
{
	static const char names[] = "\0f\0g\0h";
	CLEANUP(sym_lines_build_fini) struct sym_lines_build b = { 0 };
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	struct sym_lines *l;
	uint32_t nr = 1 + data[0] % 6; /* so that trees stay small */

	strbuf_add(&b.names, names, sizeof(names));
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t byte = data[i % size];
		const struct sym_wire_inline in = {
			.name = byte % 4 ? byte % 4 * 2 - 1 : 0,
			.parent = i && byte % 16 ? i - 1 - byte % i : SYM_LINE_NONE,
			.call_file = SYM_LINE_NONE,
		};

		if (vec_push(&b.inlines, in))
			abort();
	}
	for (uint64_t i = 0; i < 32; i++) {
		const struct sym_line row = {
			.off = i * 16,
			.end = i < 31 ? i * 16 + 16 : UINT64_MAX,
			.file = SYM_LINE_NONE,
			.inlined = data[(nr + i) % size] % 4 ? data[i % size] % nr
							     : SYM_LINE_NONE,
		};

		if (vec_push(&b.rows, row))
			abort();
	}
	if (sym_lines_pack(&b, &bytes) ||
	    sym_lines_decode(bytes.data, bytes.len, SYM_LINES_INLINES, &l, NULL))
		abort();
	return l;
}

static void check_frames(const struct profile_stacks *s)
{
	for (size_t i = 1; i < s->nr_frames; i++) {
		const struct profile_frame *f = &s->frames[i],
					   *in = &s->frames[f->parent];

		if (f->parent >= i || f->func >= s->nr_funcs ||
		    (f->inlined && (f->image != in->image || f->off != in->off ||
				    s->funcs[f->func].kind != FRAME_INLINED)))
			abort();
	}
}

static void inline_code(struct profile *p, const uint8_t *data, size_t size,
			unsigned needs)
{
	struct profile_inline_query q = { .needs = needs, .lines = lines_new(p) };
	struct profile *out;
	uint64_t sum = 0;

	if (!q.lines)
		abort();
	for (uint32_t i = 0; i < p->cat->nr_images; i++)
		lines_set(q.lines, i, lines_of(data + i % size, size - i % size));
	if (profile_inline(p, &q, &out, NULL))
		abort();
	check_frames(out->stacks);
	for (size_t i = 0; i < out->nr_rows; i++)
		sum += out->rows[i].samples[0];
	if (sum != SAMPLES || sum_of(out, false) != SAMPLES ||
	    sum_of(out, true) != SAMPLES)
		abort();
	profile_put(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = size / sizeof(struct spec_stack_node);
	struct catalog_source from = { .session_dir_fd = top };
	char *names[] = { (char *)"current" };
	struct profile_query q = { .needs = PROFILE_ARCS, .nr_selected = 1 };
	const uint32_t first = 0;
	struct profile *p;

	if (!nr || nr > MAX_NODES)
		return 0;
	write_stacks(data, nr);
	if (catalog_load(&from, names, 1, NULL, NULL, &q.cat, NULL))
		abort();
	q.selected = &first;
	if (profile_load(&q, &p, NULL))
		abort();
	if (p->stacks) {
		if (sum_of(p, false) != SAMPLES || sum_of(p, true) != SAMPLES)
			abort();
		for (int kind = BROWSE_CALLS; kind <= BROWSE_THROUGH; kind++)
			browse(p, (enum browse_kind)kind);
		slice(p, data, size);
		inline_code(p, data, size, PROFILE_INLINES | PROFILE_STACKS);
		inline_code(p, data, size, PROFILE_INLINES | PROFILE_ARCS);
	}
	profile_put(p);
	catalog_put(q.cat);
	return 0;
}
