/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links: libcfi libsym base
 * What it costs to compile unwind tables and to unwind stacks, beside libdw on the same
 * stacks: JSON lines, in CPU time.  The stacks are those of a program that is stopped 300
 * times.  For x86-64.
 *	cfi PROGRAM [ARGUMENT]...
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libcfi/unwind.h"

enum { SAMPLES = 300, COPIED = 32 << 10, MAX_MAPS = 512, MAX_FRAMES = 256, TURNS = 200 };

static struct sample {
	struct user_regs_struct regs;
	size_t size;
	uint8_t bytes[COPIED];
} samples[SAMPLES], *sample; /* @sample: the one that libdw unwinds */

static struct map {
	uint64_t start, end, off;
	struct strbuf bytes;
	struct cfi_table table;
} maps[MAX_MAPS];
static size_t nr_maps;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "cfi: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die(argv[0]);
	return pid;
}

/* Lets it run for a moment, and stops it. */
static void run(pid_t pid)
{
	const struct timespec moment = { 0, 3000000 };
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig))
			die("it does not run");
		nanosleep(&moment, NULL);
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			die("it ended too early");
		sig = WSTOPSIG(status);
		if (sig == SIGSTOP)
			return;
	}
}

static void take(pid_t pid, struct sample *s)
{
	struct iovec to = { s->bytes, COPIED }, from;
	ssize_t n;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &s->regs))
		die("registers");
	from = (struct iovec){ (void *)s->regs.rsp, COPIED };
	n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	s->size = n > 0 ? (size_t)n : 0;
}

static void compile(struct map *m, const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t begin = cpu_ns();
	struct err err = { 0 };

	if (fd < 0 || cfi_compile_file(fd, &m->bytes, &err) ||
	    cfi_table_init(&m->table, m->bytes.data, m->bytes.len, &err))
		return;
	printf("{\"case\": \"compile\", \"file\": \"%s\", \"keys\": %zu, \"bytes\": %zu, "
	       "\"ms\": %.2f}\n",
	       path, m->table.nr, m->bytes.len, (double)(cpu_ns() - begin) / 1e6);
}

static void read_maps(pid_t pid)
{
	char name[64], line[4400], perms[8], path[4100];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f) && nr_maps < MAX_MAPS) {
		struct map *m = &maps[nr_maps];

		path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4099s",
			   &m->start, &m->end, perms, &m->off, path) < 4 ||
		    !strchr(perms, 'x'))
			continue;
		compile(m, path);
		nr_maps++;
	}
	if (!nr_maps)
		die(name);
	fclose(f);
}

/* As the collector has it: mappings in order. */
static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	size_t low = 0, high = nr_maps;

	(void)arg;
	while (low < high) {
		size_t i = (low + high) / 2;

		if (ip >= maps[i].end) {
			low = i + 1;
		} else if (ip < maps[i].start) {
			high = i;
		} else {
			out->table = maps[i].table.bytes ? &maps[i].table : NULL;
			out->key = ip - maps[i].start + maps[i].off;
			return;
		}
	}
	out->unknown = true;
}

static void print(const char *what, uint64_t ns, size_t stacks, size_t frames)
{
	printf("{\"case\": \"%s\", \"stacks\": %zu, \"frames a stack\": %.1f, "
	       "\"ns a frame\": %.1f, \"us a stack\": %.2f}\n",
	       what, stacks, (double)frames / (double)stacks, (double)ns / (double)frames,
	       (double)ns / 1e3 / (double)stacks);
}

static void unwind_by_us(void)
{
	const struct cfi_unwinder u = { .machine = CFI_X86_64, .find = find };
	struct cfi_frame frames[MAX_FRAMES];
	size_t nr, total = 0, whole = 0;
	uint64_t begin = cpu_ns();

	for (size_t i = 0; i < (size_t)SAMPLES * TURNS; i++) {
		const struct sample *s = &samples[i % SAMPLES];
		const struct cfi_regs regs = { s->regs.rip, s->regs.rsp, s->regs.rbp, 0,
					       s->regs.rbx };
		const struct cfi_stack stack = { s->regs.rsp, s->bytes, s->size, false };

		whole += cfi_unwind(&u, &regs, &stack, frames, MAX_FRAMES, &nr) ==
			 CFI_END_WHOLE;
		total += nr;
	}
	print("libcfi", cpu_ns() - begin, (size_t)SAMPLES * TURNS, total);
	printf("{\"case\": \"whole\", \"share\": %.4f}\n",
	       (double)whole / ((double)SAMPLES * TURNS));
}

/* ---- libdw */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return *(const pid_t *)arg;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
	uint64_t off = at - sample->regs.rsp;

	(void)dwfl;
	(void)arg;
	if (at < sample->regs.rsp || off + sizeof(*out) > sample->size)
		return false;
	memcpy(out, sample->bytes + off, sizeof(*out));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *r = &sample->regs;
	const Dwarf_Word all[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				   r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
				   r->r12, r->r13, r->r14, r->r15, r->rip };

	(void)arg;
	return dwfl_thread_state_registers(thread, 0, sizeof(all) / sizeof(all[0]), all);
}

static int count_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;
	size_t *nr = arg;

	return dwfl_frame_pc(frame, &pc, NULL) && ++*nr < MAX_FRAMES ? DWARF_CB_OK
								     : DWARF_CB_ABORT;
}

static void unwind_by_libdw(pid_t pid)
{
	static const Dwfl_Callbacks files = { .find_elf = dwfl_linux_proc_find_elf,
					      .find_debuginfo =
						      dwfl_standard_find_debuginfo };
	static const Dwfl_Thread_Callbacks threads = { .next_thread = next_thread,
						       .memory_read = read_word,
						       .set_initial_registers =
							       set_registers };
	Dwfl *dwfl = dwfl_begin(&files);
	uint64_t begin = 0;
	size_t total = 0;

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    !dwfl_attach_state(dwfl, NULL, pid, &threads, &pid))
		die("libdw");
	/* the first turn, in which it reads what it needs, does not count */
	for (size_t i = 0; i < (size_t)SAMPLES * 4; i++) {
		size_t nr = 0;

		if (i == SAMPLES)
			begin = cpu_ns();
		sample = &samples[i % SAMPLES];
		dwfl_getthread_frames(dwfl, pid, count_frame, &nr);
		total += i >= SAMPLES ? nr : 0;
	}
	print("libdw", cpu_ns() - begin, (size_t)SAMPLES * 3, total);
	dwfl_end(dwfl);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "cfi PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	pid = start(argv + 1);
	for (int i = 0; i < 50; i++)
		run(pid); /* past its start */
	for (int i = 0; i < SAMPLES; i++) {
		run(pid);
		take(pid, &samples[i]);
	}
	read_maps(pid);
	unwind_by_us();
	unwind_by_libdw(pid);
	kill(pid, SIGKILL);
	return 0;
}
