/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* From rows of the profile to sums by line. */

/* How many callers of inlined code are followed. */
enum { MAX_INLINED = 64 };

struct call_key {
	uint32_t file, line, name;
};

/* ---- numbers of files and names */

static int add_file(struct source_sums *b, const char *name, uint64_t *index)
{
	struct source_file f = { .name = arena_strdup(&b->s->arena, name) };

	*index = b->files.len;
	if (!f.name || vec_push(&b->files, f))
		return -ENOMEM;
	return map_set(&b->file_of, name, strlen(name), *index);
}

/* The oldest binary decides whether a source is too new. */
static void note_binary(struct source_sums *b, struct source_file *f)
{
	const struct sym_table *t = b->p->images[b->image].table;

	if (t && t->mtime && (!f->binary_mtime || t->mtime < f->binary_mtime)) {
		f->binary_mtime = t->mtime;
		f->binary = b->image;
	}
}

/* The number of a file of the current image. */
static int file_number(struct source_sums *b, uint32_t file, uint32_t *out)
{
	const char *name = b->of->files[file];
	uint64_t index;

	if (!b->image_files[file]) {
		if (!map_get(&b->file_of, name, strlen(name), &index) &&
		    add_file(b, name, &index))
			return -ENOMEM;
		b->image_files[file] = (uint32_t)index + 1;
		note_binary(b, &b->files.data[index]);
	}
	*out = b->image_files[file] - 1;
	return 0;
}

static int name_number(struct source_sums *b, uint32_t inlined, uint32_t *out)
{
	const char *name = b->of->inlines[inlined].name;
	uint64_t index = b->names.len;

	if (!b->image_names[inlined]) {
		if (!map_get(&b->name_of, name, strlen(name), &index)) {
			char *copy = arena_strdup(&b->s->arena, name);

			if (!copy || vec_push(&b->names, copy) ||
			    map_set(&b->name_of, name, strlen(name), index))
				return -ENOMEM;
		}
		b->image_names[inlined] = (uint32_t)index + 1;
	}
	*out = b->image_names[inlined] - 1;
	return 0;
}

static bool known_file(const struct source_sums *b, uint32_t file)
{
	return file < b->of->nr_files && b->of->files[file][0];
}

/* ---- sums */

static int new_counts(struct source_sums *b, size_t *at)
{
	if (vec_reserve(&b->counts, b->nr))
		return -ENOMEM;
	*at = b->counts.len;
	if (b->nr)
		memset(b->counts.data + *at, 0, b->nr * sizeof(uint64_t));
	b->counts.len += b->nr;
	return 0;
}

static void add_counts(struct source_sums *b, size_t at)
{
	for (size_t c = 0; c < b->nr; c++)
		b->counts.data[at + c] += b->run[c];
}

static int add_line(struct source_sums *b, uint32_t file, uint32_t line)
{
	uint64_t key, index = b->sums.len;

	if (line == UINT32_MAX) /* means the end of a file; none is so long */
		line--;
	key = (uint64_t)file << 32 | line;
	if (!map_u64_get(&b->sum_of, key, &index)) {
		struct sum sum = { .file = file, .line = line };

		if (new_counts(b, &sum.at) || vec_push(&b->sums, sum) ||
		    map_u64_set(&b->sum_of, key, index))
			return -ENOMEM;
	}
	add_counts(b, b->sums.data[index].at);
	return 0;
}

static int add_call(struct source_sums *b, const struct call_key *key)
{
	uint64_t index = b->calls.len;

	if (!map_get(&b->call_of, key, sizeof(*key), &index)) {
		struct sum sum = { key->file, key->line, key->name, 0 };

		if (new_counts(b, &sum.at) || vec_push(&b->calls, sum) ||
		    map_set(&b->call_of, key, sizeof(*key), index))
			return -ENOMEM;
	}
	add_counts(b, b->calls.data[index].at);
	return 0;
}

/* A function inlined into itself may be called twice in the same line. */
static bool among(const struct call_key *keys, size_t nr, const struct call_key *key)
{
	for (size_t i = 0; i < nr; i++)
		if (!memcmp(&keys[i], key, sizeof(*key)))
			return true;
	return false;
}

/* The lines that the row's code is inlined into. */
static int add_calls(struct source_sums *b, const struct sym_line *row)
{
	struct call_key seen[MAX_INLINED];
	uint32_t at = row->inlined;
	size_t nr = 0;

	while (nr < MAX_INLINED && at < b->of->nr_inlines) {
		const struct sym_inline *in = &b->of->inlines[at];
		struct call_key *key = &seen[nr];

		if (known_file(b, in->call_file)) {
			key->line = in->call_line;
			if (file_number(b, in->call_file, &key->file) ||
			    name_number(b, at, &key->name))
				return -ENOMEM;
			if (!among(seen, nr, key)) {
				nr++;
				if (add_call(b, key))
					return -ENOMEM;
			}
		}
		at = in->parent < at ? in->parent : SYM_LINE_NONE;
	}
	return 0;
}

/* Counts what was collected for one row of lines. */
static int end_run(struct source_sums *b)
{
	const struct sym_line *row = b->run_row;
	uint32_t file;
	int rc = 0;

	if (!row || !known_file(b, row->file)) {
		for (size_t c = 0; c < b->nr; c++)
			b->rest[b->image * b->nr + c] += b->run[c];
	} else {
		rc = file_number(b, row->file, &file);
		rc = rc ? rc : add_line(b, file, row->line);
		if (!rc && b->image_names)
			rc = add_calls(b, row);
	}
	if (b->nr)
		memset(b->run, 0, b->nr * sizeof(*b->run));
	return rc;
}

/* Places come in order, so the row of lines is usually the same one or the next. */
static const struct sym_line *row_at(const struct source_sums *b, uint64_t off)
{
	const struct sym_line *row = b->run_row, *end = b->of->rows + b->of->nr_rows;

	for (int i = 0; row && i < 4 && row < end && row->off <= off; i++, row++)
		if (off < row->end)
			return row;
	return sym_line_find(b->of, off);
}

static int add_hits(struct source_sums *b, const struct profile_row *row)
{
	int rc = 0;

	b->run_row = NULL;
	for (size_t i = 0; i < row->nr_hits && !rc; i++) {
		const struct sym_line *at = row_at(b, row->hits[i]);

		if (at != b->run_row)
			rc = end_run(b);
		b->run_row = at;
		for (size_t c = 0; c < b->nr; c++)
			b->run[c] += profile_hit_samples(row, i, b->nr)[c];
	}
	return rc ? rc : end_run(b);
}

/* ---- functions */

static int new_symbol(struct source_sums *b, const struct profile_row *row, uint32_t file,
		      uint32_t line)
{
	struct source_symbol sym = { file, line, row->image, row->sym, row->name, NULL };

	sym.samples = arena_calloc(&b->s->arena, b->nr + 1, sizeof(uint64_t));
	return sym.samples ? vec_push(&b->symbols, sym) : -ENOMEM;
}

/* A symbol counts once, in however many applications it was sampled. */
static int add_symbol(struct source_sums *b, const struct profile_row *row)
{
	uint64_t index = b->symbols.len, key = (uint64_t)(uintptr_t)row->sym;
	const struct sym_line *at = sym_line_find(b->of, row->sym->off);
	uint64_t *samples;
	uint32_t file;

	if (!at || !known_file(b, at->file))
		return 0;
	if (!map_u64_get(&b->symbol_of, key, &index)) {
		if (file_number(b, at->file, &file) ||
		    new_symbol(b, row, file, at->line) ||
		    map_u64_set(&b->symbol_of, key, index))
			return -ENOMEM;
	}
	samples = (uint64_t *)b->symbols.data[index].samples;
	for (size_t c = 0; c < b->nr; c++)
		samples[c] += row->samples[c];
	return 0;
}

/* ---- rows */

static int enter_image(struct source_sums *b, uint32_t image)
{
	free(b->image_files);
	free(b->image_names);
	b->image_files = b->image_names = NULL;
	b->image = image;
	b->of = lines_image(b->lines, image);
	if (!b->of)
		return 0;
	b->image_files = calloc(b->of->nr_files + 1, sizeof(*b->image_files));
	if (!b->image_files)
		return -ENOMEM;
	if (!b->job->o->inlines)
		return 0;
	b->image_names = calloc(b->of->nr_inlines + 1, sizeof(*b->image_names));
	return b->image_names ? 0 : -ENOMEM;
}

static int add_row(struct source_sums *b, const struct profile_row *row)
{
	int rc = 0;

	if (b->image != row->image)
		rc = enter_image(b, row->image);
	if (rc)
		return rc;
	for (size_t c = 0; c < b->nr; c++) {
		((uint64_t *)b->s->totals)[c] += row->samples[c];
		if (!b->of || !row->nr_hits)
			b->rest[row->image * b->nr + c] += row->samples[c];
	}
	if (b->of && row->nr_hits)
		rc = add_hits(b, row);
	if (!rc && b->of && row->sym)
		rc = add_symbol(b, row);
	return rc;
}

static bool counts(const struct source_sums *b, const struct profile_row *row)
{
	if (row->aside || (b->job->o->view.exclude_dependent && row->app != row->image))
		return false;
	return profile_any_sample(row->samples, b->nr);
}

int source_sums_add(struct source_sums *b)
{
	int rc = 0;

	b->image = CATALOG_NO_IMAGE;
	for (size_t i = 0; i < b->p->nr_rows && !rc; i++) {
		if (i % 1024 == 0 && viewer_gone(b->job->v))
			return -EINTR;
		if (counts(b, &b->p->rows[i]))
			rc = add_row(b, &b->p->rows[i]);
	}
	return rc;
}

void source_sums_fini(struct source_sums *b)
{
	vec_fini(&b->files);
	vec_fini(&b->names);
	vec_fini(&b->sums);
	vec_fini(&b->calls);
	vec_fini(&b->counts);
	vec_fini(&b->symbols);
	map_fini(&b->file_of);
	map_fini(&b->name_of);
	map_fini(&b->call_of);
	map_u64_fini(&b->sum_of);
	map_u64_fini(&b->symbol_of);
	free(b->image_files);
	free(b->image_names);
	free(b->rest);
	free(b->run);
	lines_free(b->lines);
}
