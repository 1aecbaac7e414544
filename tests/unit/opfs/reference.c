/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/opfs/reference.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"

#define BIN "/opt/opdemo/bin/"
#define ANON "anon (tgid:4242 range:0x7f0000000000-0x7f0000000fff)"
#define VDSO "[vdso] (tgid:4242 range:0x7f0000010000-0x7f0000011fff)"
#define BOX "geo::Box<long>"
#define VEC_BOX "std::vector<" BOX ", std::allocator<" BOX " > >"

struct row {
	const char *app, *image, *symbol; /* symbol NULL: the image itself */
	uint64_t vma, cycles, misses;
};

static const struct row rows[] = {
	{ BIN "tool", BIN "libmisc.so", "__do_global_dtors_aux", 0x10b0, 500, 0 },
	{ BIN "demo", BIN "demo", "crunch", 0x1250, 353, 11 },
	{ BIN "tool", BIN "tool", NULL, 0, 270, 90 },
	{ BIN "tool", "/no-vmlinux", NULL, 0, 210, 0 },
	{ BIN "demo", BIN "libdemo.so", "lib_hash", 0x1110, 200, 9 },
	{ BIN "demo", BIN "demo", "sift", 0x1289, 120, 22 },
	{ BIN "demo", "/no-vmlinux", NULL, 0, 90, 0 },
	{ BIN "demo", BIN "libdemo.so", "step", 0x110a, 80, 0 },
	{ BIN "demo-nopie", BIN "demo-nopie", "crunch", 0x40123d, 77, 0 },
	{ BIN "shapes", BIN "shapes", BOX "::area() const", 0x13f2, 64, 3 },
	{ BIN "demo", BIN "demo", "helper", 0x116a, 60, 0 },
	{ BIN "demo", BIN "libmisc.so", "__do_global_dtors_aux", 0x10b0, 50, 0 },
	{ BIN "demo", BIN "demo", "recurse", 0x1178, 40, 0 },
	{ BIN "demo", BIN "demo", "cb", 0x1173, 40, 0 },
	{ BIN "demo", BIN "libmisc.so", "misc_sum", 0x10f9, 25, 0 },
	{ BIN "demo", BIN "libdemo.so", "lib_fold", 0x1142, 20, 0 },
	{ BIN "demo", ANON, NULL, 0, 10, 0 },
	{ BIN "demo", VDSO, NULL, 0, 8, 0 },
	{ BIN "demo-nopie", BIN "demo-nopie", "main", 0x401184, 5, 0 },
	{ BIN "demo", BIN "demo", "main", 0x1197, 1, 0 },
	{ BIN "shapes", BIN "shapes", VEC_BOX "::size() const", 0x13da, 0, 3 },
	{ BIN "shapes", BIN "shapes", VEC_BOX "::operator[](unsigned long)", 0x13fc, 0,
	  3 },
	{ BIN "shapes", BIN "shapes", VEC_BOX "::operator[](unsigned long) const", 0x13e6,
	  0, 3 },
	{ BIN "shapes", BIN "shapes",
	  "geo::total(std::vector<" BOX ", std::allocator<" BOX
	  " > > const&, std::__cxx11::basic_string<char, std::char_traits<char>, "
	  "std::allocator<char> > const&)",
	  0x1269, 0, 3 },
	{ BIN "shapes", BIN "shapes", BOX "::grow(long)", 0x1408, 0, 3 },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct fake_event cycles = { "CPU_CLK_UNHALTED", 100000, 0, 41 };
static const struct fake_event misses = { "LLC_MISSES", 6000, 0x41, 41 };

static bool names_symbol(const char *list, const char *symbol)
{
	char item[64];

	snprintf(item, sizeof(item), "%.60s,", symbol ? symbol : "-");
	return list[0] == '!' ? !strstr(list + 1, item) : !!strstr(list, item);
}

static bool wanted(const struct reference *r, const struct row *row)
{
	return (!r->app || !strcmp(row->app, r->app)) && (r->two_events || row->cycles) &&
	       (!r->symbols || names_symbol(r->symbols, row->symbol));
}

/* Replaces the rows that an image shown as itself gives by those of its symbols. */
static void set_rows(struct profile *p, struct fake *f, const struct reference *r)
{
	p->rows = arena_calloc(&p->arena, NR_ROWS, sizeof(*p->rows));
	p->nr_rows = 0;
	for (size_t i = 0; i < NR_ROWS; i++) {
		struct profile_row *row = &p->rows[p->nr_rows];

		if (!wanted(r, &rows[i]))
			continue;
		row->kind = rows[i].symbol ? PROFILE_ROW_SYMBOL : PROFILE_ROW_IMAGE;
		row->app = fake_image(f, r->merge_lib ? rows[i].image : rows[i].app);
		row->image = fake_image(f, rows[i].image);
		row->name = rows[i].symbol ? rows[i].symbol : rows[i].image;
		row->vma = rows[i].vma;
		row->samples = arena_calloc(&p->arena, 2, sizeof(uint64_t));
		row->samples[0] = rows[i].cycles;
		if (r->two_events)
			row->samples[1] = rows[i].misses;
		p->nr_rows++;
	}
}

struct profile *reference_profile(struct fake *f, const struct reference *r)
{
	struct profile *p;

	fake_init(f);
	for (size_t i = 0; i < NR_ROWS; i++) {
		const char *app = r->merge_lib ? rows[i].image : rows[i].app;

		if (!wanted(r, &rows[i]))
			continue;
		if (rows[i].cycles)
			fake_file(f, app, rows[i].image, &cycles, rows[i].cycles);
		if (r->two_events && rows[i].misses)
			fake_file(f, app, rows[i].image, &misses, rows[i].misses);
	}
	p = fake_load(f, PROFILE_SYMBOLS);
	set_rows(p, f, r);
	return p;
}

char *reference_text(const char *name)
{
	static const char start_mark[] = "--- stdout\n", end_mark[] = "--- stderr\n";
	const char *top = getenv("OPFS_TOP");
	struct strbuf path = { 0 }, text = { 0 };
	struct err err = { 0 };
	char *start, *end;

	strbuf_printf(&path, "%s/tests/data/transcripts/%s", top ? top : ".", name);
	cr_assert_eq(file_slurp(AT_FDCWD, strbuf_str(&path), 1 << 20, &text, &err), 0,
		     "%s", err.msg);
	start = strstr(text.data, start_mark);
	cr_assert_not_null(start);
	start += sizeof(start_mark) - 1;
	end = strstr(start, end_mark);
	cr_assert_not_null(end);
	start = strndup(start, (size_t)(end - start));
	strbuf_fini(&path);
	strbuf_fini(&text);
	return start;
}
