/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwound [STEPS]: single-steps a child through functions of all shapes, which note who
 * called them, and unwinds its stack by libcfi at each step.  Exits with 0 if all stacks
 * had what was noted, nothing but calls, and led to the outermost frame.  The kernel's
 * vdso is what the handler of a signal returns to.
 *
 * Compiled with -finstrument-functions.  For arm64.
 */
#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "libcfi/compile.h"
#include "libcfi/table.h"
#include "libcfi/unwind.h"

enum { DEPTH = 64, COPY = 16 << 10, MAX_FRAMES = 128, SHOWN = 10, BEYOND_US = 32 };

#define APART __attribute__((noinline))
#define UNTOLD __attribute__((no_instrument_function))

/* Where the functions that run return to, the first one first. */
static struct notes {
	unsigned long nr;
	uint64_t at[DEPTH];
} notes;

UNTOLD void __cyg_profile_func_enter(void *function, void *from);
UNTOLD void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from)
{
	(void)function;
	notes.at[notes.nr] = (uint64_t)from;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	notes.nr++;
}

void __cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
	notes.nr--;
}

/* ---- the child */

static volatile int sink;
static jmp_buf back;

APART UNTOLD static int leaf(int n)
{
	return n * 3 + sink;
}

APART UNTOLD static int tail_called(int n)
{
	sink = leaf(n);
	return n + sink;
}

APART UNTOLD static int tail_calls(int n)
{
	sink = leaf(n) + 1;
	return tail_called(n + 1);
}

APART static int saves_many(int a, int b, int c)
{
	int d = leaf(a), e = leaf(b), f = leaf(c), g = tail_calls(d), h = leaf(e);

	sink = leaf(a + b + c + d + e + f + g + h);
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

APART static int recurses(int n)
{
	return n ? recurses(n - 1) + saves_many(n, n + 1, n + 2) : leaf(n);
}

APART static int allocates(int n)
{
	char *room = alloca((size_t)n * 16 + 16);

	memset(room, n, (size_t)n * 16);
	sink = room[n];
	return leaf(sink);
}

APART static int is_aligned(int n)
{
	_Alignas(64) volatile int values[8];

	for (int i = 0; i < 8; i++)
		values[i] = leaf(n + i);
	return values[n & 7];
}

APART static int has_much(int n)
{
	volatile char room[9000];

	room[n] = room[n + 1] = (char)leaf(n);
	return room[n];
}

APART UNTOLD static void jumps(int n)
{
	sink = leaf(n);
	longjmp(back, 1);
}

static int by_value(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

APART static void calls_back(void)
{
	int values[] = { 5, 2, 8 };

	qsort(values, 3, sizeof(values[0]), by_value);
	sink = values[0];
}

static void handles(int sig)
{
	sink = saves_many(sig, 1, 2);
}

APART static void shapes(int n)
{
	sink = recurses(2);
	sink = allocates(n);
	sink = is_aligned(n);
	sink = has_much(n);
	if (!setjmp(back))
		jumps(n);
	calls_back();
	raise(SIGUSR1);
}

static _Noreturn void run_child(void)
{
	signal(SIGUSR1, handles);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	shapes(3);
	_exit(0);
}

/* ---- the parent */

static struct image {
	uint64_t start, end, off;
	struct strbuf bytes;
	struct cfi_table table;
} images[2];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "unwound: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void compile(struct image *image, int fd)
{
	struct err err = { 0 };

	if (fd < 0 || cfi_compile_file(fd, &image->bytes, &err) ||
	    cfi_table_init(&image->table, image->bytes.data, image->bytes.len, &err))
		die(err.msg);
	close(fd);
}

static int copy_vdso(const struct image *image)
{
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	size_t size = (size_t)(image->end - image->start);

	if (fd < 0 || write(fd, (const void *)image->start, size) != (ssize_t)size)
		die("vdso");
	return fd;
}

static void read_maps(void)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR), start, end, off;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], perms[8];

	while (f && fgets(line, sizeof(line), f)) {
		struct image *image;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end,
			   perms, &off) != 4 ||
		    !strchr(perms, 'x'))
			continue;
		image = &images[start == vdso];
		image->start = start;
		image->end = end;
		image->off = off;
	}
	if (!f || !images[0].end || !images[1].end)
		die("/proc/self/maps");
	fclose(f);
	compile(&images[0], open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	compile(&images[1], copy_vdso(&images[1]));
}

static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	(void)arg;
	for (size_t i = 0; i < 2; i++)
		if (ip >= images[i].start && ip < images[i].end) {
			out->table = &images[i].table;
			out->key = ip - images[i].start + images[i].off;
			return;
		}
	out->unknown = true;
}

static uint64_t pac_mask(pid_t pid)
{
	struct {
		uint64_t data, code;
	} masks = { 0 };
	struct iovec to = { &masks, sizeof(masks) };

	/* a processor that signs no pointers has no such registers */
	return ptrace(PTRACE_GETREGSET, pid, NT_ARM_PAC_MASK, &to) ? 0 : masks.code;
}

static void copy(pid_t pid, uint64_t from, void *to, size_t size, size_t *copied)
{
	struct iovec local = { to, size }, remote = { (void *)from, size };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		die("process_vm_readv");
	*copied = (size_t)n;
}

/* Is what stands before a return address a call? */
static bool is_call(uint64_t ip)
{
	uint32_t code;

	if (ip < images[0].start + 4 || ip >= images[0].end)
		return false;
	memcpy(&code, (const void *)(ip - 4), sizeof(code));
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
}

static const char *fault_of(const struct notes *noted, const struct cfi_frame *frames,
			    size_t nr, enum cfi_end end, uint64_t mask)
{
	size_t next = 0;

	if (end != CFI_END_WHOLE)
		return "it is not whole";
	for (size_t i = nr; i-- > 1;) {
		uint64_t ip = frames[i].ip;

		if (next < noted->nr && ip == (noted->at[next] & ~mask))
			next++;
		if (!frames[i].exact && !(i + 1 < nr && frames[i + 1].exact) &&
		    !is_call(ip))
			return "it has what is no call";
	}
	return next < noted->nr ? "it lacks a caller" : NULL;
}

static long nr_beyond_us;

static bool check(pid_t pid, const struct cfi_unwinder *u)
{
	static uint8_t bytes[COPY];
	struct user_regs_struct r;
	struct iovec to = { &r, sizeof(r) };
	struct cfi_stack stack = { .bytes = bytes };
	struct cfi_frame frames[MAX_FRAMES];
	struct cfi_regs regs;
	struct notes noted;
	const char *fault;
	enum cfi_end end;
	size_t nr;

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &to))
		die("registers");
	regs = (struct cfi_regs){ r.pc, r.sp, r.regs[29], r.regs[30], 0 };
	stack.start = r.sp;
	copy(pid, r.sp, bytes, sizeof(bytes), &stack.size);
	copy(pid, (uint64_t)&notes, &noted, sizeof(noted), &nr);
	end = cfi_unwind(u, &regs, &stack, frames, MAX_FRAMES, &nr);
	fault = fault_of(&noted, frames, nr, end, u->pac_mask);
	/* longjmp() counts from x0 while it restores registers */
	if (end == CFI_END_DAMAGED && nr == 1 && ++nr_beyond_us <= BEYOND_US)
		return true;
	if (!fault)
		return true;
	printf("unwound: %s, end %d:", fault, end);
	for (size_t i = 0; i < nr; i++)
		printf(" %" PRIx64 "%s", frames[i].ip, frames[i].exact ? "!" : "");
	printf("; noted:");
	for (size_t i = 0; i < noted.nr; i++)
		printf(" %" PRIx64, noted.at[i]);
	putchar('\n');
	return false;
}

int main(int argc, char **argv)
{
	long most = argc > 1 ? atol(argv[1]) : 1000000, steps = 0, wrong = 0;
	struct cfi_unwinder u = { .machine = CFI_ARM64, .find = find };
	int status, sig = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		run_child();
	read_maps();
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("waitpid");
	u.pac_mask = pac_mask(pid);
	while (steps < most && wrong < SHOWN) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)sig) ||
		    waitpid(pid, &status, 0) != pid)
			die("step");
		if (!WIFSTOPPED(status))
			break;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		wrong += !check(pid, &u);
		steps++;
	}
	printf("unwound: %ld stacks, %ld wrong, %ld by registers that are not sampled, "
	       "signatures %#" PRIx64 "\n",
	       steps, wrong, nr_beyond_us, u.pac_mask);
	return wrong || !WIFEXITED(status) || WEXITSTATUS(status);
}
