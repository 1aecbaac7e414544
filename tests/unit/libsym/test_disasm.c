/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "libsym/code/disasm.h"
#include "libsym/helper/image.h"
#include "libsym/wire/disasm_wire.h"

#define MIB (1u << 20)

/* Without a debug file, since objdump does not look for one. */
static const struct sym_places no_debug = { .debug_dir = "/nonexistent" };

struct ranges {
	struct sym_range *data;
	size_t len, cap;
};

static struct sym_disasm *take(const struct sym_job *job, const struct sym_range *ranges,
			       size_t nr, const char *options)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	struct sym_disasm *d = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_disasm_encode(job, ranges, nr, options, &blob, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(sym_disasm_decode(blob.data, blob.len, &d, &err), 0, "%s", err.msg);
	return d;
}

static FILE *objdump(const char *flags, const char *path)
{
	char command[600];
	FILE *f;

	snprintf(command, sizeof(command), "LC_ALL=C objdump %s '%s'", flags, path);
	f = popen(command, "r");
	cr_assert_not_null(f);
	return f;
}

/* The code sections, as objdump lists them. */
static struct ranges code_sections(const char *path)
{
	FILE *f = objdump("-h", path);
	struct ranges out = { 0 };
	struct sym_range r = { 0 };
	uint64_t size, vma, off;
	char line[512], name[200];

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*u %199s %" SCNx64 " %" SCNx64 " %*x %" SCNx64, name,
			   &size, &vma, &off) == 4)
			r = (struct sym_range){ off, off + size };
		else if (strstr(line, "CODE") && strstr(line, "CONTENTS"))
			cr_assert_eq(vec_push(&out, r), 0);
	}
	pclose(f);
	cr_assert(out.len);
	return out;
}

static int by_vma(const void *pa, const void *pb)
{
	const struct sym_insn *a = pa, *b = pb;

	return a->vma < b->vma ? -1 : a->vma > b->vma;
}

struct score {
	size_t lines, equal;
};

/* Every line of objdump -d against ours at the same address. */
static struct score compare(const char *path, const char *options)
{
	struct sym_job job = { .kind = SYM_USER, .path = path, .places = &no_debug };
	struct ranges ranges = code_sections(path);
	struct score score = { 0 };
	char flags[100], line[4096];
	FILE *f;

	struct {
		struct sym_insn *data;
		size_t len, cap;
	} all = { 0 };
	struct {
		struct sym_disasm **data;
		size_t len, cap;
	} keep = { 0 };

	for (size_t i = 0; i < ranges.len; i++) {
		struct sym_disasm *d = take(&job, &ranges.data[i], 1, options);

		cr_assert_eq(d->state, SYM_OK, "%s", d->reason);
		for (size_t k = 0; k < d->codes[0].nr_insns; k++)
			cr_assert_eq(vec_push(&all, d->codes[0].insns[k]), 0);
		cr_assert_eq(vec_push(&keep, d), 0);
	}
	snprintf(flags, sizeof(flags), "-d --no-show-raw-insn %s %s",
		 *options ? "-M" : "", options);
	f = objdump(flags, path);
	while (fgets(line, sizeof(line), f)) {
		struct sym_insn key = { 0 }, *ours;
		char *tab = strchr(line, '\t');

		if (line[0] != ' ' || !tab ||
		    sscanf(line, " %" SCNx64 ":", &key.vma) != 1)
			continue;
		line[strcspn(line, "\n")] = '\0';
		score.lines++;
		ours = bsearch(&key, all.data, all.len, sizeof(key), by_vma);
		if (ours && !strcmp(ours->text, tab + 1))
			score.equal++;
		else if (score.lines - score.equal < 5)
			cr_log_warn("%s\n     ours: %s\n", line,
				    ours ? ours->text : "(none)");
	}
	pclose(f);
	for (size_t i = 0; i < keep.len; i++)
		sym_disasm_put(keep.data[i]);
	vec_fini(&keep);
	vec_fini(&all);
	vec_fini(&ranges);
	return score;
}

static void same_as_objdump(const char *path, const char *options)
{
	struct score s;

	if (access(path, R_OK))
		cr_skip_test("%s: not here", path);
	s = compare(path, options);
	cr_expect_gt(s.lines, 10);
	cr_expect_eq(s.equal, s.lines, "%s -M '%s': %zu of %zu lines are the same", path,
		     options, s.equal, s.lines);
}

Test(disasm, a_stripped_program_reads_as_objdump_prints_it)
{
	same_as_objdump("/bin/ls", "");
}

Test(disasm, a_library_reads_as_objdump_prints_it)
{
	same_as_objdump("/lib/x86_64-linux-gnu/libc.so.6", "");
}

Test(disasm, a_cxx_library_reads_as_objdump_prints_it)
{
	same_as_objdump("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "");
}

Test(disasm, options_are_those_of_objdump)
{
	static const char *const options[] = { "intel", "att", "suffix",
					       "intel,intel-mnemonic", "addr32,data16" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		same_as_objdump("/bin/ls", options[i]);
}

/* Makes a program of a source and hands its path to @check. */
static void with_program(const char *name, const char *source, const char *build,
			 void (*check)(const char *path))
{
	char dir[] = "/tmp/test_disasm.XXXXXX", command[800];
	FILE *f;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "cat >%s/%s", dir, name);
	f = popen(command, "w");
	cr_assert_not_null(f);
	fputs(source, f);
	cr_assert_eq(pclose(f), 0);
	snprintf(command, sizeof(command), "cd %s && %s 2>/dev/null", dir, build);
	if (system(command)) {
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		cr_assert_eq(system(command), 0);
		cr_assert_fail("cannot be built: %s: run 'make deps'", build);
	}
	snprintf(command, sizeof(command), "%s/out", dir);
	check(command);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}

static void check_plain(const char *path)
{
	same_as_objdump(path, "");
}

static const char c_source[] =
	"#include <stdio.h>\n"
	"static int data[100]; int global; __thread int tls; extern char **environ;\n"
	"static int __attribute__((noinline)) add(int x)\n"
	"{ return data[x & 63] + tls + global++; }\n"
	"int main(int c, char **v)\n"
	"{ printf(\"%d %p\\n\", add(c), (void *)environ); fputs(*v, stderr); return 0; "
	"}\n";

Test(disasm, a_static_pie_reads_as_objdump_prints_it)
{
	with_program("p.c", c_source, "gcc -O2 -static-pie -o out p.c", check_plain);
}

Test(disasm, a_program_with_symbols_reads_as_objdump_prints_it)
{
	with_program("p.c", c_source, "gcc -O2 -g -o out p.c", check_plain);
	with_program("p.c", c_source, "gcc -O2 -no-pie -o out p.c", check_plain);
	with_program("p.c", c_source,
		     "gcc -fcf-protection -Wl,-z,ibtplt,-z,now -o out p.c", check_plain);
}

Test(disasm, i386_reads_as_objdump_prints_it)
{
	static const char source[] = ".globl go\n.type go,@function\n"
				     "go: push %ebp\nmov %esp,%ebp\ncall foo@PLT\n"
				     "call bar@PLT\nmov data@GOT(%ebx),%eax\nret\n"
				     ".size go,.-go\nlocal: nop\njmp go\n"
				     "mov %eax,2(%esi,%edi,4)\n.data\ndata: .long 1\n";

	with_program("p.s", source,
		     "as --32 -o p.o p.s && ld -m elf_i386 -shared -o out p.o",
		     check_plain);
	with_program("p.s", source,
		     "as --32 -o p.o p.s && ld -m elf_i386 -z ibtplt -shared -o out p.o",
		     check_plain);
}

/* ---- what is asked for */

static const struct sym_job ls = { .kind = SYM_USER,
				   .path = "/bin/ls",
				   .places = &no_debug };

static int refused(const struct sym_range *ranges, size_t nr, const char *options,
		   struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };

	return sym_disasm_encode(&ls, ranges, nr, options, &blob, err);
}

Test(disasm, an_unknown_option_is_refused_with_those_that_there_are)
{
	struct sym_range r = { 0x5000, 0x5010 };
	struct err err = { 0 };

	cr_expect_eq(refused(&r, 1, "bogus", &err), -EINVAL);
	cr_expect(strstr(err.msg, "\"bogus\"") && strstr(err.msg, "intel-mnemonic") &&
			  strstr(err.msg, "suffix"),
		  "%s", err.msg);
	cr_expect_eq(refused(&r, 1, "intel,", NULL), -EINVAL);
	cr_expect_eq(refused(&r, 1, ",", NULL), -EINVAL);
	cr_expect_eq(refused(&r, 1, "intel suffix", NULL), -EINVAL);
}

Test(disasm, bytes_alone_are_those_of_the_file)
{
	struct sym_range r[] = { { 0x5001, 0x5041 }, { 0x4800, 0x4810 } };
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = take(&ls, r, 2, NULL);
	uint8_t want[64];
	FILE *f = fopen("/bin/ls", "r");

	cr_assert_not_null(f);
	cr_assert_eq(d->nr_codes, 2);
	for (size_t i = 0; i < 2; i++) {
		size_t len = r[i].end - r[i].off;

		cr_assert_eq(fseek(f, (long)r[i].off, SEEK_SET), 0);
		cr_assert_eq(fread(want, 1, len, f), len);
		cr_assert_not_null(d->codes[i].bytes);
		cr_expect_eq(memcmp(d->codes[i].bytes, want, len), 0);
		cr_expect_eq(d->codes[i].nr_insns, 0);
		cr_expect_eq(d->codes[i].range.off, r[i].off);
	}
	fclose(f);
}

Test(disasm, instructions_cover_their_range_in_order)
{
	struct sym_range r = { 0x5000, 0x6000 };
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = take(&ls, &r, 1, "");
	const struct sym_code *c = &d->codes[0];

	cr_assert(c->nr_insns);
	cr_expect_eq(c->insns[0].off, r.off);
	for (size_t i = 1; i < c->nr_insns; i++)
		cr_assert_eq(c->insns[i].off, c->insns[i - 1].off + c->insns[i - 1].len);
	cr_expect_eq(c->insns[c->nr_insns - 1].off + c->insns[c->nr_insns - 1].len,
		     r.end);
}

/* As where a stripped program was sampled at the end of one section and in the next. */
Test(disasm, a_range_goes_on_in_the_sections_behind_its_own)
{
	struct ranges sections = code_sections("/bin/ls");
	struct sym_range all = { sections.data[0].off,
				 sections.data[sections.len - 1].end };
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = take(&ls, &all, 1, "");
	CLEANUP(sym_disasm_putp) struct sym_disasm *each = NULL;
	const struct sym_code *c = &d->codes[0];
	size_t at = 0;

	cr_assert_gt(sections.len, 2);
	each = take(&ls, sections.data, sections.len, "");
	cr_assert_eq(c->range.end, all.end);
	for (size_t i = 0; i < each->nr_codes; i++)
		for (size_t j = 0; j < each->codes[i].nr_insns; j++, at++) {
			const struct sym_insn *want = &each->codes[i].insns[j];

			cr_assert_lt(at, c->nr_insns);
			cr_assert_eq(c->insns[at].off, want->off);
			cr_assert_eq(c->insns[at].vma, want->vma);
			cr_assert_str_eq(c->insns[at].text, want->text);
		}
	cr_expect_eq(at, c->nr_insns);
	vec_fini(&sections);
}

Test(disasm, strange_ranges_are_cut_or_empty)
{
	struct sym_range r[] = {
		{ 1ull << 40, (1ull << 40) + 16 }, /* behind the file */
		{ 0x5010, 0x5000 },
		{ UINT64_MAX - 16, UINT64_MAX },
		{ 0, 16 }, /* no section, but a segment has the headers */
		{ 0x5000, 0x5000 },
	};
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = take(&ls, r, 5, "");
	struct sym_range far = { 0x5000, 0x5000 + SYM_DISASM_MAX_BYTES };

	cr_assert_eq(d->nr_codes, 5);
	cr_expect_null(d->codes[0].bytes);
	cr_expect_null(d->codes[1].bytes);
	cr_expect_null(d->codes[2].bytes);
	cr_expect_not_null(d->codes[3].bytes);
	cr_expect_null(d->codes[4].bytes);
	sym_disasm_put(d);
	d = take(&ls, &far, 1, "");
	cr_expect(d->codes[0].range.end > 0x5000 && d->codes[0].range.end < MIB);
	far.end++;
	cr_expect_eq(refused(&far, 1, "", NULL), -EFBIG);
	r[0] = (struct sym_range){ 0, UINT64_MAX };
	cr_expect_eq(refused(r, 1, "", NULL), -EFBIG);
}

/* A copy of /bin/ls with another byte at @at. */
static int patched_ls(size_t at, uint8_t byte)
{
	CLEANUP(strbuf_fini) struct strbuf image = { 0 };
	CLEANUP(close_fd) int in = open("/bin/ls", O_RDONLY);
	int fd = memfd_create("ls", MFD_CLOEXEC);
	char buf[4096];
	ssize_t n;

	cr_assert(in >= 0 && fd >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		strbuf_add(&image, buf, (size_t)n);
	image.data[at] = (char)byte;
	cr_assert_eq(file_write_all(fd, image.data, image.len), 0);
	return fd;
}

static struct sym_disasm *take_open(int fd, const char *options)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	struct sym_range r = { 0x5000, 0x5100 };
	struct sym_disasm *d = NULL;

	cr_assert_eq(sym_disasm_encode_fd(fd, &ls, &r, 1, options, &blob, NULL), 0);
	cr_assert_eq(sym_disasm_decode(blob.data, blob.len, &d, NULL), 0);
	return d;
}

Test(disasm, a_machine_without_disassembler_gives_a_reason_and_bytes)
{
	CLEANUP(close_fd) int fd = patched_ls(18, 8); /* e_machine: MIPS */
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = take_open(fd, "");

	cr_expect_eq(d->state, SYM_NO_SYMBOLS);
	cr_expect(strstr(d->reason, "/bin/ls: no disassembler for this machine"), "%s",
		  d->reason);
	cr_assert_eq(d->nr_codes, 1);
	cr_expect_not_null(d->codes[0].bytes);
	cr_expect_eq(d->codes[0].nr_insns, 0);
}

Test(disasm, another_build_gives_no_code)
{
	struct sym_job job = ls;
	struct sym_range r = { 0x5000, 0x5100 };
	struct sym_disasm *d;

	job.build_id = (struct build_id){ .len = 4, .bytes = { 1, 2, 3, 4 } };
	d = take(&job, &r, 1, "");
	cr_expect_eq(d->state, SYM_CHANGED);
	cr_expect(strstr(d->reason, "build-id"));
	cr_expect_eq(d->nr_codes, 0);
	sym_disasm_put(d);
	job.path = "/nonexistent/ls";
	d = take(&job, &r, 1, "");
	cr_expect_eq(d->state, SYM_MISSING);
	sym_disasm_put(d);
}

/* ---- bytes from a helper */

static struct strbuf small_blob(void)
{
	struct strbuf blob = { 0 };
	struct sym_range r[] = { { 0x5000, 0x5020 }, { 0x5100, 0x5120 } };

	cr_assert_eq(sym_disasm_encode(&ls, r, 2, "", &blob, NULL), 0);
	return blob;
}

static int decode(const struct strbuf *blob, size_t len)
{
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = NULL;

	return sym_disasm_decode(blob->data, len, &d, NULL);
}

Test(disasm, code_that_is_cut_short_or_has_more_is_refused)
{
	CLEANUP(strbuf_fini) struct strbuf blob = small_blob();

	for (size_t len = 0; len < blob.len; len++)
		cr_assert_eq(decode(&blob, len), -EBADMSG);
	strbuf_putc(&blob, 0);
	cr_assert_eq(decode(&blob, blob.len), -EBADMSG);
}

static int with_u32(size_t at, uint32_t value)
{
	CLEANUP(strbuf_fini) struct strbuf blob = small_blob();

	memcpy(blob.data + at, &value, sizeof(value));
	return decode(&blob, blob.len);
}

Test(disasm, lies_about_ranges_and_instructions_are_refused)
{
	const size_t code = sizeof(struct sym_disasm_header);
	const size_t insn = code + 2 * sizeof(struct sym_disasm_code);
	static const size_t header[] = {
		offsetof(struct sym_disasm_header, magic),
		offsetof(struct sym_disasm_header, version),
		offsetof(struct sym_disasm_header, state),
		offsetof(struct sym_disasm_header, nr_codes),
		offsetof(struct sym_disasm_header, nr_insns),
		offsetof(struct sym_disasm_header, text_len),
		offsetof(struct sym_disasm_header, bytes_len),
		offsetof(struct sym_disasm_header, bytes_len) + 4,
		offsetof(struct sym_disasm_header, reason),
	};

	for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++)
		cr_expect_eq(with_u32(header[i], 0x7fffffff), -EBADMSG, "field %zu", i);
	cr_expect_eq(with_u32(code + offsetof(struct sym_disasm_code, nr_insns), 9999),
		     -EBADMSG);
	cr_expect_eq(with_u32(code + offsetof(struct sym_disasm_code, has_bytes), 2),
		     -EBADMSG);
	cr_expect_eq(with_u32(code + offsetof(struct sym_disasm_code, has_bytes), 0),
		     -EBADMSG);
	cr_expect_eq(with_u32(code + offsetof(struct sym_disasm_code, end), 0x5200),
		     -EBADMSG);
	cr_expect_eq(with_u32(insn + offsetof(struct sym_disasm_insn, at), 0x20),
		     -EBADMSG);
	cr_expect_eq(with_u32(insn + offsetof(struct sym_disasm_insn, len), 0), -EBADMSG);
	cr_expect_eq(with_u32(insn + offsetof(struct sym_disasm_insn, text), 0xffffff),
		     -EBADMSG);
}

Test(disasm, no_single_damaged_bit_crashes_the_reader)
{
	CLEANUP(strbuf_fini) struct strbuf blob = small_blob();

	for (size_t at = 0; at < blob.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			blob.data[at] ^= (char)(1 << bit);
			decode(&blob, blob.len);
			blob.data[at] ^= (char)(1 << bit);
		}
}

Test(disasm, control_bytes_in_texts_cannot_forge_lines)
{
	CLEANUP(strbuf_fini) struct strbuf blob = small_blob();
	CLEANUP(sym_disasm_putp) struct sym_disasm *d = NULL;
	struct sym_disasm_header h;

	memcpy(&h, blob.data, sizeof(h));
	blob.data[blob.len - h.text_len] = '\n';
	cr_assert_eq(sym_disasm_decode(blob.data, blob.len, &d, NULL), 0);
	cr_expect_eq(d->codes[0].insns[0].text[0], '?');
}
