/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/code/opcodes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bfd.h refuses to be included without an autoconf header */
#define PACKAGE "opfs"
#define PACKAGE_VERSION OPFS_VERSION
#include <dis-asm.h>

#include "base/cleanup.h"
#include "libsym/wire/wire.h"

#define SKIP_ZEROS 8u        /* so many zero bytes are no instructions */
#define SKIP_ZEROS_AT_END 3u /* fewer than these at the end of a block neither */
#define DATA_PER_LINE 16u
#define MAX_TEXT 1024u /* of one instruction */
#define MAX_OPTIONS 128u

struct machine {
	uint16_t machine; /* EM_ */
	int elf_class;
	enum bfd_architecture arch;
	unsigned long mach;
	const char *usage; /* in the headline of its options */
};

static const struct machine machines[] = {
	{ EM_X86_64, ELFCLASS64, bfd_arch_i386, bfd_mach_x86_64, "i386/x86-64" },
	{ EM_X86_64, ELFCLASS32, bfd_arch_i386, bfd_mach_x64_32, "i386/x86-64" },
	{ EM_386, ELFCLASS32, bfd_arch_i386, bfd_mach_i386_i386, "i386/x86-64" },
	{ EM_AARCH64, ELFCLASS64, bfd_arch_aarch64, bfd_mach_aarch64, "AARCH64" },
	{ EM_AARCH64, ELFCLASS32, bfd_arch_aarch64, bfd_mach_aarch64_ilp32, "AARCH64" },
};

struct sym_opcodes {
	disassembler_ftype run;
	struct disassemble_info info;
	const struct sym_nearest *names;
	const struct sym_piece *piece;
	struct strbuf line; /* text of the instruction under way */
	char *options;
};

static void stay_quiet(const char *fmt, va_list ap)
{
	(void)fmt;
	(void)ap;
}

/* ---- what libopcodes calls */

static void add_formatted(struct strbuf *line, const char *fmt, va_list ap)
{
	char text[MAX_TEXT];
	const char *s;
	int len;

	if (line->len >= MAX_TEXT)
		return;
	if (!strcmp(fmt, "%s")) {
		s = va_arg(ap, const char *);
		strbuf_add(line, s, strnlen(s, MAX_TEXT));
	} else if (!strcmp(fmt, "%.*s")) {
		len = va_arg(ap, int);
		s = va_arg(ap, const char *);
		strbuf_add(line, s, strnlen(s, len < 0 ? 0 : (size_t)len));
	} else {
		len = vsnprintf(text, sizeof(text), fmt, ap);
		if (len > 0)
			strbuf_puts(line, text);
	}
}

static int print(void *stream, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_formatted(stream, fmt, ap);
	va_end(ap);
	return 0;
}

static int print_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;

	(void)style;
	va_start(ap, fmt);
	add_formatted(stream, fmt, ap);
	va_end(ap);
	return 0;
}

static void print_address(bfd_vma vma, struct disassemble_info *info)
{
	struct sym_opcodes *o = info->application_data;

	sym_nearest_print(o->names, vma, o->piece->section, o->piece->lo, o->piece->hi,
			  &o->line);
}

static void no_memory_there(int status, bfd_vma vma, struct disassemble_info *info)
{
	struct sym_opcodes *o = info->application_data;

	(void)status;
	strbuf_printf(&o->line, "Address 0x%llx is out of bounds.",
		      (unsigned long long)vma);
}

static asymbol *no_symbol(bfd_vma vma, struct disassemble_info *info)
{
	(void)vma;
	(void)info;
	return NULL;
}

/* ---- options */

/* The names below the machine's headline in libopcodes' own usage text. */
static void list_options(const struct machine *m, struct strbuf *out)
{
	CLEANUP(free_ptr) char *usage = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&usage, &size);
	bool mine = false;

	if (!f)
		return;
	disassembler_usage(f);
	if (fclose(f) || !usage)
		return;
	for (char *save, *line = strtok_r(usage, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "The following ", 14) == 0)
			mine = strstr(line, m->usage) != NULL;
		if (!mine || strncmp(line, "  ", 2) != 0 || line[2] == ' ')
			continue;
		strbuf_puts(out, out->len ? ", " : "");
		strbuf_add(out, line + 2, strcspn(line + 2, " "));
	}
}

/* @list: names separated by ", ". */
static bool is_listed(const char *list, const char *name, size_t len)
{
	for (const char *at = list; *at; at += strspn(at, ", ")) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, name, len))
			return true;
		at += n;
	}
	return false;
}

static int check_options(const struct machine *m, const char *options, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };

	if (!*options)
		return 0;
	list_options(m, &list);
	for (const char *at = options;; at++) {
		size_t len = strcspn(at, ",");

		if (strlen(options) > MAX_OPTIONS ||
		    !is_listed(strbuf_str(&list), at, len))
			return err_set(err, -EINVAL,
				       "no disassembler option \"%.*s\"; there are: %s",
				       (int)(len < MAX_OPTIONS ? len : MAX_OPTIONS), at,
				       strbuf_str(&list));
		at += len;
		if (!*at)
			return 0;
	}
}

/* ---- set up */

static const struct machine *find_machine(const struct sym_elf *image)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == image->machine &&
		    machines[i].elf_class == gelf_getclass(image->elf))
			return &machines[i];
	return NULL;
}

static void set_up(struct sym_opcodes *o, const struct machine *m, bool big)
{
	struct disassemble_info *info = &o->info;

	init_disassemble_info(info, &o->line, print, print_styled);
	info->application_data = o;
	info->flavour = bfd_target_elf_flavour;
	info->arch = m->arch;
	info->mach = m->mach;
	info->endian = big ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	info->endian_code =
		m->arch == bfd_arch_aarch64 ? BFD_ENDIAN_LITTLE : info->endian;
	info->display_endian = info->endian;
	info->octets_per_byte = 1;
	info->print_address_func = print_address;
	info->memory_error_func = no_memory_there;
	info->symbol_at_address_func = no_symbol;
	info->disassembler_options = *o->options ? o->options : NULL;
	disassemble_init_for_target(info);
}

int sym_opcodes_new(const struct sym_elf *image, const struct sym_nearest *names,
		    const char *options, struct sym_opcodes **out, struct err *err)
{
	const struct machine *m = find_machine(image);
	const char *ident = elf_getident(image->elf, NULL);
	bool big = ident && ident[EI_DATA] == ELFDATA2MSB;
	disassembler_ftype run = m ? disassembler(m->arch, big, m->mach, NULL) : NULL;
	struct sym_opcodes *o;
	int rc;

	if (!run)
		return err_set(err, -ENOTSUP, "no disassembler for this machine (%u)",
			       image->machine);
	bfd_set_error_handler(stay_quiet);
	rc = check_options(m, options, err);
	if (rc)
		return rc;
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	*o = (struct sym_opcodes){ .run = run, .names = names };
	o->options = strdup(options);
	if (!o->options) {
		free(o);
		return err_set(err, -ENOMEM, "out of memory");
	}
	set_up(o, m, big);
	*out = o;
	return 0;
}

void sym_opcodes_free(struct sym_opcodes *o)
{
	if (!o)
		return;
	disassemble_free_target(&o->info);
	strbuf_fini(&o->line);
	free(o->options);
	free(o);
}

/* ---- code */

struct block {          /* of a piece, up to the next symbol */
	size_t at, end; /* offsets in the piece */
	size_t stop;    /* where its instructions end, which may be behind the piece */
};

static int add_insn(const struct sym_piece *p, struct sym_insns *out, size_t at,
		    size_t len, const struct strbuf *text)
{
	struct sym_disasm_insn insn = {
		.at = (uint32_t)at,
		.len = (uint32_t)(len < p->size - at ? len : p->size - at),
		.text = (uint32_t)out->texts.len,
	};

	strbuf_add(&out->texts, strbuf_str(text), text->len + 1);
	if (out->texts.len > SYM_WIRE_MAX)
		return -EFBIG;
	return vec_push(&out->list, insn);
}

/* How many bytes are padding: zeros that mean nothing.  0: they may mean something. */
static size_t zeros(const struct sym_piece *p, const struct block *b, size_t at)
{
	size_t end = b->stop < p->avail ? b->stop : p->avail, to = at;

	while (to < end && !p->bytes[to])
		to++;
	if (to - at < SKIP_ZEROS && (to != b->stop || to - at >= SKIP_ZEROS_AT_END))
		return 0;
	return to == b->stop ? to - at : (to - at) & ~(size_t)3;
}

static int add_data(const struct sym_piece *p, const struct block *b, struct strbuf *line,
		    struct sym_insns *out)
{
	int rc = 0;

	for (size_t at = b->at, len; at < b->end && !rc; at += len) {
		len = b->end - at < DATA_PER_LINE ? b->end - at : DATA_PER_LINE;
		strbuf_reset(line);
		strbuf_puts(line, ".byte ");
		for (size_t i = 0; i < len; i++)
			strbuf_printf(line, "%s0x%02x", i ? "," : "", p->bytes[at + i]);
		rc = add_insn(p, out, at, len, line);
	}
	return rc;
}

static int add_code(struct sym_opcodes *o, const struct sym_piece *p,
		    const struct block *b, struct sym_insns *out)
{
	size_t len;
	int rc = 0, n;

	for (size_t at = b->at; at < b->end && !rc; at += len) {
		strbuf_reset(&o->line);
		len = zeros(p, b, at);
		if (len) {
			strbuf_puts(&o->line, "...");
			rc = add_insn(p, out, at, len, &o->line);
			continue;
		}
		o->info.insn_info_valid = 0;
		o->info.flags = 0;
		o->info.bytes_per_line = o->info.bytes_per_chunk = 0;
		o->info.stop_vma = p->vma + b->stop;
		n = o->run(p->vma + at, &o->info);
		len = n < 1 ? b->end - at : (size_t)n;
		if (o->line.len)
			rc = add_insn(p, out, at, len, &o->line);
	}
	return rc ? rc : strbuf_error(&o->line);
}

int sym_opcodes_run(struct sym_opcodes *o, const struct sym_piece *p,
		    struct sym_insns *out)
{
	struct block b = { 0 };
	int rc = 0;

	o->piece = p;
	o->info.buffer = (bfd_byte *)p->bytes;
	o->info.buffer_vma = p->vma;
	o->info.buffer_length = p->avail;
	while (b.at < p->size && !rc) {
		uint64_t end = p->hi;
		const struct sym_near *s =
			sym_nearest_block(o->names, p->vma + b.at, p->section, &end);

		b.stop = (size_t)(end - p->vma);
		b.end = b.stop < p->size ? b.stop : p->size;
		if (s && s->flags & SYM_NEAR_OBJECT)
			rc = add_data(p, &b, &o->line, out);
		else
			rc = add_code(o, p, &b, out);
		b.at = b.end;
	}
	o->piece = NULL;
	return rc ? rc : strbuf_error(&out->texts);
}
