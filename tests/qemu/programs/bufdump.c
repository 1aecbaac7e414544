/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bufdump [OPTION]...: reads the driver's buffer until a stream ends (the driver was
 * disabled) or a signal comes, checks that it keeps to kernel/uapi/opfs_buffer.h, and
 * prints what it told: lines of "NAME NUMBER", then "image SAMPLES PATH".  Knows nothing
 * of the collector's decoder, and is linked statically: also for guests without
 * libraries.
 *
 *	-b FILE       instead of /dev/oprofile/buffer
 *	-s MS         sleeps so long after every read: a slow reader
 *	-t PATH=OFF   samples of PATH on the page at this file offset (hexadecimal) were
 *	              misattributed (see twin.h)
 *	-i            prints what images were told to be too: "file BUILD-ID INODE PATH"
 *	-v            prints samples and calls too, with the task's application at the end
 *	-k            knows of no copies of stacks, as readers before them
 *	-f            reads before everybody else, with real-time priority
 *	-n US         does not wait in read(), but looks again up to so many us later
 *	-o FILE       saves the stream too
 * Exits with 1 when there was something wrong with the stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/uapi/opfs_buffer.h"
#include "tests/qemu/programs/witness.h"

enum { MAX_COOKIES = 1 << 20, MAX_TRAPS = 16, MAX_CPUS = 64, MAX_COUNTERS = 256 };
enum { BUFFER_WORDS = 8192, PAGE = 4096 };

/* As told once. */
struct image {
	struct image *before; /* told before this one */
	char *path;
	uint64_t size, samples, trapped, late_trapped, trap;
	uint32_t cookie;
	bool has_trap;
};

static struct {
	struct image *by_cookie[MAX_COOKIES], *last_image;
	struct {
		const char *path;
		uint64_t off;
	} traps[MAX_TRAPS];
	uint64_t cpus[MAX_CPUS], events[MAX_COUNTERS], lost[OPK_NR_LOST];
	uint64_t samples, user, kernel, anon, idle, late, trapped, late_trapped;
	uint64_t tasks, exits, modules, traces, frames, aborted, counters, told_taken;
	uint64_t hellos, byes, skipped, words, mistakes, time_ns, since_hello, lost_since;
	uint64_t images_gone, stacks, stacks_whole, stacks_cut, stacks_refused,
		stack_bytes;
	uint64_t witnesses, kernel_witnesses;
	uint64_t no_app;
	unsigned nr_traps;
} all;

/* Context, as records told it. */
static struct {
	uint32_t cpu, cookie, tid, app;
	uint64_t tgid, anon_first, anon_last;
	bool has_mode, has_cpu, has_task, has_place, is_kernel, is_anon, in_trace;
	bool of_kernel; /* the task is a thread of the kernel's own */
	unsigned trace_pairs;
	/* the sample of the trace */
	uint64_t pc, first;
	uint32_t image;
	bool in_kernel, is_late;
} now;

static bool verbose, list_files, real_time, no_stacks;
static useconds_t pause_us, look_us;
static volatile sig_atomic_t stopped;

__attribute__((format(printf, 1, 2))) static void mistake(const char *format, ...)
{
	va_list args;

	if (all.mistakes++ >= 20)
		return;
	va_start(args, format);
	printf("mistake at word %" PRIu64 ": ", all.words);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/*
 * Where the image is, or would be, that a cookie stands for: cookies that differ by a
 * multiple of the number of places are never known at the same time.
 */
static struct image **place_of(uint32_t cookie)
{
	return &all.by_cookie[cookie % MAX_COOKIES];
}

static struct image *image_of(uint32_t cookie)
{
	static char no_path[] = "unknown";
	static struct image unknown = { .path = no_path };

	struct image *image = *place_of(cookie);

	if (!cookie || !image || image->cookie != cookie) {
		mistake("cookie %" PRIu32 " was not told", cookie);
		return &unknown;
	}
	return image;
}

static const char *place(void)
{
	if (now.is_kernel)
		return "kernel";
	return now.is_anon ? "anon" : image_of(now.cookie)->path;
}

static void count_user(uint64_t pc, bool late)
{
	struct image *image;

	all.user++;
	if (now.is_anon) {
		all.anon++;
		if (pc > now.anon_last - now.anon_first)
			mistake("offset %" PRIx64 " is outside of its region", pc);
		return;
	}
	image = image_of(now.cookie);
	image->samples++;
	if (pc >= image->size)
		mistake("offset %" PRIx64 " is beyond the end of %s", pc, image->path);
	if (!image->has_trap || pc / PAGE != image->trap / PAGE)
		return;
	if (late) {
		image->late_trapped++;
		all.late_trapped++;
	} else {
		image->trapped++;
		all.trapped++;
	}
}

static void take_sample(uint64_t pc, uint64_t event)
{
	bool late = event & OPK_EVENT_LATE;

	if (!now.has_mode || !now.has_cpu || !now.has_task ||
	    (!now.is_kernel && !now.has_place))
		mistake("a sample without context");
	if (verbose)
		printf("%s %s %" PRIx64 " tgid %" PRIu64 " tid %u cpu %u app %s\n",
		       now.in_trace && now.trace_pairs ? "call" : "sample", place(), pc,
		       now.tgid, now.tid, now.cpu,
		       now.app ? image_of(now.app)->path : "-");
	if (now.in_trace && now.trace_pairs++) {
		all.frames++;
		return;
	}
	now.pc = pc;
	now.image = now.is_anon ? 0 : now.cookie;
	now.first = now.anon_first;
	now.in_kernel = now.is_kernel;
	now.is_late = late;
	all.samples++;
	all.since_hello++;
	all.late += late;
	all.no_app += !now.app && !now.of_kernel;
	all.events[OPK_EVENT_COUNTER(event)]++;
	all.cpus[now.cpu % MAX_CPUS]++;
	if (!now.is_kernel) {
		count_user(pc, late);
		return;
	}
	all.kernel++;
	all.idle += !now.tgid;
	if ((int64_t)pc >= 0)
		mistake("%" PRIx64 " is no address of a kernel", pc);
}

/* ---- records: arg, and words that are at least as many as the table below says */

static void on_task(uint32_t arg, const uint64_t *w, unsigned n)
{
	all.tasks++;
	now.has_task = true;
	now.tid = arg;
	now.tgid = w[0];
	now.app = (uint32_t)w[1];
	/* The kernel's threads are the children of number 2. */
	now.of_kernel = !w[0] || w[0] == 2 || (n > 6 && w[6] == 2);
	if (now.app)
		image_of(now.app);
}

static void on_cpu(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	now.has_cpu = true;
	now.cpu = arg;
}

static void on_cookie(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	now.has_place = true;
	now.is_anon = false;
	now.cookie = arg;
	image_of(arg);
}

static void on_anon(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)n;
	now.has_place = now.is_anon = true;
	now.anon_first = w[0];
	now.anon_last = w[1];
	if (arg > OPK_ANON_VSYSCALL || w[1] < w[0])
		mistake("a region %" PRIx64 "-%" PRIx64 " of kind %u", w[0], w[1], arg);
}

static void on_kernel(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)w, (void)n;
	now.has_mode = now.is_kernel = true;
}

static void on_user(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)w, (void)n;
	now.has_mode = true;
	now.is_kernel = false;
}

static void on_module(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	all.modules++;
	if (arg != OPK_MODULE_LOADED && arg != OPK_MODULE_GOING)
		mistake("a module in state %u", arg);
}

static void on_trace_begin(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)w, (void)n;
	if (now.in_trace)
		mistake("a call chain in another one");
	now.in_trace = true;
	now.trace_pairs = 0;
	all.traces++;
}

static void on_trace_end(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	if (!now.in_trace || !now.trace_pairs)
		mistake("a call chain that did not begin, or without a sample");
	now.in_trace = false;
	all.aborted += arg & OPK_TRACE_ABORTED ? 1 : 0;
	all.stacks_refused += arg & OPK_TRACE_NO_STACK ? 1 : 0;
}

/* The range of an address, or NULL. */
static const uint64_t *range_of(const uint64_t *ranges, uint64_t nr, uint64_t at)
{
	for (; nr; nr--, ranges += 4)
		if (at >= ranges[0] && at < ranges[1])
			return ranges;
	return NULL;
}

/* The registers of a sample of user code are those of the place it was taken at. */
static void check_ip(uint64_t ip, const uint64_t *range)
{
	uint64_t first = now.image ? range[3] : range[0];

	if (now.in_kernel || now.is_late)
		return;
	if ((uint32_t)range[2] != now.image || (!now.image && range[0] != now.first) ||
	    (now.image ? ip - range[0] + first : ip - first) != now.pc)
		mistake("a stack at %" PRIx64 " of a sample at %" PRIx64 " in image %u",
			ip, now.pc, now.image);
}

/* What a witness keeps in registers is on its stack too. */
static void check_witness(const uint64_t *w, const uint64_t *bytes)
{
	all.witnesses++;
	all.kernel_witnesses += now.in_kernel;
	if (w[2] - bytes[WITNESS_FP] > 1 || w[3] - bytes[WITNESS_OTHER] > 1)
		mistake("a stack of another moment: registers %" PRIu64 " %" PRIu64
			", memory %" PRIu64 " %" PRIu64,
			w[2], w[3], bytes[WITNESS_FP], bytes[WITNESS_OTHER]);
}

static void print_call(const uint64_t *ranges, uint64_t nr, uint64_t at)
{
	const uint64_t *range = range_of(ranges, nr, at - 1);

	if (!range)
		mistake("no range of return address %" PRIx64, at);
	else if (verbose)
		printf("call %s %" PRIx64 "\n",
		       (uint32_t)range[2] ? image_of((uint32_t)range[2])->path : "anon",
		       at - range[0] + range[3]);
}

static void on_user_stack(uint32_t arg, const uint64_t *w, unsigned n)
{
	uint64_t size = (uint32_t)w[4], nr = w[4] >> 32;
	const uint64_t *bytes = w + 5, *ranges = bytes + size / 8, *range;

	if (!now.in_trace || !now.trace_pairs || size % 8 || !size ||
	    5 + size / 8 + nr * 4 != n) {
		mistake("a stack of %" PRIu64 " bytes, %" PRIu64 " ranges", size, nr);
		return;
	}
	all.stacks++;
	all.stacks_whole += arg & OPK_STACK_WHOLE ? 1 : 0;
	all.stacks_cut += arg & OPK_STACK_RANGES_CUT ? 1 : 0;
	all.stack_bytes += size;
	for (uint64_t i = 0; i < nr; i++) {
		if (ranges[4 * i] >= ranges[4 * i + 1])
			mistake("a range from %" PRIx64 " to %" PRIx64, ranges[4 * i],
				ranges[4 * i + 1]);
		if ((uint32_t)ranges[4 * i + 2])
			image_of((uint32_t)ranges[4 * i + 2]);
	}
	range = range_of(ranges, nr, w[0]);
	if (range)
		check_ip(w[0], range);
	if (size < 8 * WITNESS_WORDS || bytes[0] != WITNESS_MAGIC)
		return;
	check_witness(w, bytes);
	print_call(ranges, nr, bytes[WITNESS_CALLER]);
	print_call(ranges, nr, bytes[WITNESS_CALLER + 2]);
	print_call(ranges, nr, bytes[WITNESS_CALLER + 4]);
}

static void set_trap(struct image *image)
{
	image->has_trap = false;
	for (unsigned i = 0; i < all.nr_traps; i++) {
		if (strcmp(all.traps[i].path, image->path))
			continue;
		image->has_trap = true;
		image->trap = all.traps[i].off;
	}
}

static void print_file(const uint64_t *w, const char *path)
{
	const unsigned char *id = (const unsigned char *)&w[5];

	fputs("file ", stdout);
	for (unsigned i = 0; i < (w[2] >> 32 & 0xff); i++)
		printf("%02x", id[i]);
	printf(" %" PRIu64 " %s\n", w[1], path);
}

static void on_image(uint32_t arg, const uint64_t *w, unsigned n)
{
	uint64_t len = w[8];
	struct image *image;

	if (!arg || *place_of(arg) || len > (n - 9) * sizeof(*w) ||
	    (w[2] >> 32 & 0xff) > 20) {
		mistake("an image with cookie %u, %" PRIu64 " bytes of path", arg, len);
		return;
	}
	image = calloc(1, sizeof(*image));
	if (image)
		image->path = strndup((const char *)&w[9], len);
	if (!image || !image->path) {
		puts("no memory");
		exit(1);
	}
	image->size = w[4];
	image->cookie = arg;
	image->before = all.last_image;
	all.last_image = *place_of(arg) = image;
	set_trap(image);
	if (list_files)
		print_file(w, image->path);
}

static void on_image_gone(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	image_of(arg);
	*place_of(arg) = NULL;
	all.images_gone++;
}

static void on_task_exit(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)w, (void)n;
	all.exits++;
}

static void on_lost(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)n;
	if (!arg || arg >= OPK_NR_LOST) {
		mistake("samples lost for reason %u", arg);
		return;
	}
	all.lost[arg] += w[0];
	all.lost_since += w[0];
}

static void on_hello(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)n;
	if (arg != OPK_BUFFER_VERSION || w[0] != OPK_MAGIC)
		mistake("version %u, magic %" PRIx64, arg, w[0]);
	memset(&now, 0, sizeof(now));
	all.hellos++;
	all.since_hello = all.lost_since = 0;
	all.time_ns = w[1];
	memset(all.by_cookie, 0, sizeof(all.by_cookie));
}

static void on_time(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)n;
	if (w[0] < all.time_ns)
		mistake("time goes back by %" PRIu64 " ns", all.time_ns - w[0]);
	all.time_ns = w[0];
}

static void on_counter(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)w, (void)n;
	all.counters++;
	if (arg >= MAX_COUNTERS)
		mistake("a counter %u", arg);
}

static void on_bye(uint32_t arg, const uint64_t *w, unsigned n)
{
	(void)arg, (void)n;
	all.byes++;
	all.told_taken += w[0];
	if (w[0] != all.since_hello + all.lost_since)
		mistake("%" PRIu64 " taken, but %" PRIu64 " told and %" PRIu64 " lost",
			w[0], all.since_hello, all.lost_since);
}

static const struct record {
	void (*take)(uint32_t arg, const uint64_t *words, unsigned n);
	unsigned words;
} records[] = {
	[OPK_TASK] = { on_task, 6 },
	[OPK_CPU] = { on_cpu, 0 },
	[OPK_COOKIE] = { on_cookie, 0 },
	[OPK_KERNEL] = { on_kernel, 0 },
	[OPK_USER] = { on_user, 0 },
	[OPK_MODULE] = { on_module, 11 },
	[OPK_TRACE_BEGIN] = { on_trace_begin, 0 },
	[OPK_TRACE_END] = { on_trace_end, 1 },
	[OPK_IMAGE] = { on_image, 9 },
	[OPK_ANON] = { on_anon, 2 },
	[OPK_TASK_EXIT] = { on_task_exit, 2 },
	[OPK_LOST] = { on_lost, 2 },
	[OPK_HELLO] = { on_hello, 6 },
	[OPK_TIME] = { on_time, 1 },
	[OPK_COUNTER] = { on_counter, 6 },
	[OPK_BYE] = { on_bye, 3 },
	[OPK_IMAGE_GONE] = { on_image_gone, 0 },
	[OPK_USER_STACK] = { on_user_stack, 5 },
};

static const char *const lost_names[] = {
	[OPK_LOST_OVERFLOW] = "overflow",
	[OPK_LOST_EVENT_OVERFLOW] = "event_overflow",
	[OPK_LOST_NO_MAPPING] = "no_mapping",
	[OPK_LOST_EXITED] = "exited",
	[OPK_LOST_NO_WORK] = "no_work",
	[OPK_LOST_NO_IMAGE] = "no_image",
	[OPK_LOST_STOPPED] = "stopped",
	[OPK_LOST_BAD_PC] = "bad_pc",
	[OPK_LOST_NESTED] = "nested",
	[OPK_LOST_MISSED] = "missed",
	[OPK_LOST_BUSY] = "busy",
};
_Static_assert(sizeof(lost_names) / sizeof(lost_names[0]) >= OPK_NR_LOST, "a name each");

/* Takes one record off the words; returns how many it was, 0 if it is not all there. */
static size_t take_record(const uint64_t *w, size_t n)
{
	const struct record *r = NULL;
	uint32_t code;
	unsigned len;

	if (n < 2)
		return 0;
	if (!all.hellos && (w[0] != OPK_ESCAPE || OPK_HEAD_CODE(w[1]) != OPK_HELLO))
		mistake("the stream does not begin with hello");
	if (w[0] != OPK_ESCAPE) {
		take_sample(w[0], w[1]);
		return 2;
	}
	code = OPK_HEAD_CODE(w[1]);
	len = OPK_HEAD_LEN(w[1]);
	if (n < 2 + (size_t)len)
		return 0;
	if (code < sizeof(records) / sizeof(records[0]) && records[code].take &&
	    !(code == OPK_USER_STACK && no_stacks))
		r = &records[code];
	if (!r)
		all.skipped++;
	else if (len < r->words)
		mistake("a record %u of %u words", code, len);
	else
		r->take(OPK_HEAD_ARG(w[1]), w + 2, len);
	return 2 + (size_t)len;
}

static int read_stream(int fd, int save)
{
	static uint64_t words[BUFFER_WORDS + 70000];
	size_t have = 0;

	while (!stopped) {
		ssize_t got = read(fd, words + have, BUFFER_WORDS * sizeof(*words));
		size_t at = 0, n;

		if (got < 0 && errno == EAGAIN)
			usleep((useconds_t)rand() % look_us);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0) {
			printf("read: %s\n", strerror(errno));
			return 1;
		}
		if (!got)
			break;
		if (save >= 0 && write(save, words + have, (size_t)got) != got)
			return 1;
		if (got % (ssize_t)sizeof(*words))
			mistake("%zd bytes are no whole words", got);
		have += (size_t)got / sizeof(*words);
		while ((n = take_record(words + at, have - at))) {
			at += n;
			all.words += n;
		}
		have -= at;
		memmove(words, words + at, have * sizeof(*words));
		if (pause_us)
			usleep(pause_us);
	}
	if (have)
		mistake("%zu words are left over at the end", have);
	return 0;
}

static void print_all(void)
{
	uint64_t lost = 0;

	for (unsigned i = 1; i < OPK_NR_LOST; i++) {
		if (lost_names[i])
			printf("lost_%s %" PRIu64 "\n", lost_names[i], all.lost[i]);
		lost += all.lost[i];
	}
	for (unsigned i = 0; i < MAX_CPUS; i++)
		if (all.cpus[i])
			printf("cpu%u %" PRIu64 "\n", i, all.cpus[i]);
	for (unsigned i = 0; i < MAX_COUNTERS; i++)
		if (all.events[i])
			printf("event%u %" PRIu64 "\n", i, all.events[i]);
#define LINE(field) printf(#field " %" PRIu64 "\n", all.field)
	LINE(hellos), LINE(byes), LINE(told_taken), LINE(samples);
	printf("lost %" PRIu64 "\n", lost);
	LINE(user), LINE(kernel), LINE(idle), LINE(anon), LINE(late), LINE(no_app);
	LINE(trapped), LINE(late_trapped);
	LINE(tasks), LINE(exits), LINE(modules), LINE(traces), LINE(frames),
		LINE(aborted);
	LINE(stacks), LINE(stacks_whole), LINE(stacks_cut), LINE(stacks_refused),
		LINE(stack_bytes), LINE(witnesses), LINE(kernel_witnesses);
	LINE(counters), LINE(images_gone), LINE(skipped), LINE(words), LINE(mistakes);
#undef LINE
	for (const struct image *image = all.last_image; image; image = image->before) {
		if (image->samples)
			printf("image %" PRIu64 " %s\n", image->samples, image->path);
		if (image->trapped || image->late_trapped)
			printf("misattributed %" PRIu64 " late %" PRIu64 " %s\n",
			       image->trapped, image->late_trapped, image->path);
	}
}

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

static int add_trap(char *spec)
{
	char *equals = strrchr(spec, '=');

	if (!equals || all.nr_traps == MAX_TRAPS)
		return 2;
	*equals = '\0';
	all.traps[all.nr_traps].path = spec;
	all.traps[all.nr_traps++].off = strtoull(equals + 1, NULL, 16);
	return 0;
}

/* 0, or what to exit with; *save: where the stream goes too. */
static int take_options(int argc, char **argv, const char **file, int *save)
{
	int opt;

	while ((opt = getopt(argc, argv, "b:fikn:o:s:t:v")) != -1) {
		if (opt == 'b')
			*file = optarg;
		else if (opt == 'o')
			*save = open(optarg, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		else if (opt == 's')
			pause_us = (useconds_t)atoi(optarg) * 1000;
		else if (opt == 'n')
			look_us = (useconds_t)atoi(optarg);
		else if (opt == 'f')
			real_time = true;
		else if (opt == 'i')
			list_files = true;
		else if (opt == 'k')
			no_stacks = true;
		else if (opt == 'v')
			verbose = true;
		else if (opt != 't' || add_trap(optarg))
			return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sched_param first = { .sched_priority = 1 };
	const char *file = "/dev/oprofile/buffer";
	int fd, rc, save = -1;

	rc = take_options(argc, argv, &file, &save);
	if (rc)
		return rc;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	fd = open(file, O_RDONLY | (look_us ? O_NONBLOCK : 0));
	if (fd < 0) {
		printf("%s: %s\n", file, strerror(errno));
		return 1;
	}
	if (real_time && sched_setscheduler(0, SCHED_FIFO, &first)) {
		perror("sched_setscheduler");
		return 1;
	}
	puts("open");
	fflush(stdout);
	rc = read_stream(fd, save);
	close(fd);
	print_all();
	return rc || all.mistakes;
}
