/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindat: unwinds stacks that it is told on stdin, for the tests.  A stack is a line
 *
 *	ip sp fp bx MAPS SIZE
 *
 * of hexadecimal numbers, then MAPS lines as of /proc/PID/maps, whose paths name the
 * files to read (of the vdso too), then SIZE bytes from the stack pointer on.  The answer
 * is a line: why the stack ends, and the addresses, "!" where code was interrupted.
 *
 * unwindat -c FILE...: what compiling a file gives, and how long it takes.
 * unwindat -t FILE: writes its table.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libcfi/compile.h"
#include "libcfi/table.h"
#include "libcfi/unwind.h"

enum { MAX_FILES = 4096, MAX_MAPS = 65536, MAX_STACK = 64 << 20, MAX_FRAMES = 1024 };

static const char *const ends[] = {
	[CFI_END_WHOLE] = "whole",       [CFI_END_SHORT] = "short",
	[CFI_END_NO_TABLE] = "no-table", [CFI_END_UNKNOWN] = "unknown",
	[CFI_END_DAMAGED] = "damaged",   [CFI_END_FULL] = "full",
};

static struct file {
	char *path;
	struct strbuf bytes;
	struct cfi_table table;
	bool usable;
} files[MAX_FILES];
static size_t nr_files;

static struct map {
	uint64_t start, end, off;
	const struct file *file; /* NULL: none is mapped */
} maps[MAX_MAPS];
static size_t nr_maps;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "unwindat: %s\n", what);
	exit(2);
}

static void compile(struct file *f)
{
	CLEANUP(close_fd) int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct err err = { 0 };

	if (fd < 0 || cfi_compile_file(fd, &f->bytes, &err))
		return;
	if (cfi_table_init(&f->table, f->bytes.data, f->bytes.len, &err))
		die(err.msg);
	f->usable = true;
}

static const struct file *file_of(const char *path)
{
	struct file *f;

	if (*path != '/')
		return NULL;
	for (size_t i = 0; i < nr_files; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (nr_files == MAX_FILES)
		die("too many files");
	f = &files[nr_files++];
	f->path = strdup(path);
	if (!f->path)
		die("no memory");
	compile(f);
	return f;
}

static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	(void)arg;
	for (size_t i = 0; i < nr_maps; i++) {
		const struct map *m = &maps[i];

		if (ip < m->start || ip >= m->end)
			continue;
		if (m->file && m->file->usable)
			out->table = &m->file->table;
		out->key = ip - m->start + m->off;
		return;
	}
	out->unknown = true;
}

static void read_map(void)
{
	char *line = NULL, perms[8];
	struct map *m = &maps[nr_maps];
	size_t room = 0;
	int at = 0;

	if (getline(&line, &room, stdin) <= 0 ||
	    sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m->start,
		   &m->end, perms, &m->off, &at) < 4)
		die("no mapping");
	line[strcspn(line, "\n")] = 0;
	if (strchr(perms, 'x')) {
		m->file = at ? file_of(line + at) : NULL;
		nr_maps++;
	}
	free(line);
}

static void print_stack(const struct cfi_regs *regs, const struct cfi_stack *stack)
{
	static struct cfi_frame frames[MAX_FRAMES];
	const struct cfi_unwinder u = { .machine = CFI_X86_64, .find = find };
	size_t nr;
	enum cfi_end end = cfi_unwind(&u, regs, stack, frames, MAX_FRAMES, &nr);

	printf("%s", ends[end]);
	for (size_t i = 0; i < nr; i++)
		printf(" %" PRIx64 "%s", frames[i].ip, frames[i].exact ? "!" : "");
	putchar('\n');
	fflush(stdout);
}

static bool read_stack(void)
{
	struct cfi_regs regs = { 0 };
	struct cfi_stack stack = { 0 };
	CLEANUP(free_ptr) void *bytes = NULL;
	size_t nr;

	if (scanf("%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %zx %zx", &regs.ip,
		  &regs.sp, &regs.fp, &regs.bx, &nr, &stack.size) != 6)
		return false;
	if (getchar() != '\n' || nr > MAX_MAPS || stack.size > MAX_STACK)
		die("no stack");
	for (nr_maps = 0; nr; nr--)
		read_map();
	bytes = malloc(stack.size + 1);
	if (!bytes || fread(bytes, 1, stack.size, stdin) != stack.size)
		die("no bytes");
	stack.start = regs.sp;
	stack.bytes = bytes;
	print_stack(&regs, &stack);
	return true;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print_table(const char *path)
{
	double start = now_ms(), ms;
	const struct file *f = file_of(path);

	ms = now_ms() - start;
	if (!f || !f->usable)
		die(path);
	printf("%s: %zu rows, %zu bytes, %.1f ms\n", path, f->table.nr, f->bytes.len, ms);
}

static void write_table(const char *path)
{
	const struct file *f = file_of(path);

	if (!f || !f->usable ||
	    fwrite(f->bytes.data, 1, f->bytes.len, stdout) != f->bytes.len)
		die(path);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "-c"))
		for (int i = 2; i < argc; i++)
			print_table(argv[i]);
	else if (argc == 3 && !strcmp(argv[1], "-t"))
		write_table(argv[2]);
	else
		while (read_stack())
			;
	return 0;
}
