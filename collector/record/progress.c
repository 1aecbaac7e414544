/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/record/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	FEW = 100,
	BY_FP = 1 << COLL_BY_FRAME_POINTERS,
	BY_DWARF = 1 << COLL_BY_DWARF,
	BY_BOTH = BY_FP | BY_DWARF,
};

void coll_progress_init(struct coll_progress *p, uint64_t now_ns)
{
	*p = (struct coll_progress){ .terminal = isatty(STDERR_FILENO),
				     .begun_ns = now_ns,
				     .told_ns = now_ns };
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

void coll_progress_tell(struct coll_progress *p, const struct spec_stats *s,
			uint64_t now_ns)
{
	if (!p->terminal || now_ns - p->told_ns < 1000000000ULL)
		return;
	p->told_ns = now_ns;
	p->shown = true;
	fprintf(stderr, "\r%.0f s: %" PRIu64 " samples, %" PRIu64 " lost\033[K",
		seconds(now_ns - p->begun_ns), s->value[SPEC_STAT_TAKEN],
		spec_stats_lost(s));
}

void coll_progress_end(struct coll_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

/* What can be done about a loss; what is none, but told all the same, is here too. */
static const struct hint {
	enum spec_stat stat;
	const char *text;
} hints[] = {
	{ SPEC_STAT_LOST_RECORDS, "larger buffers (-m), or a lower rate (-F)" },
	{ SPEC_STAT_LOST_CPU_BUFFER, "larger buffers (-m), or a lower rate (-F)" },
	{ SPEC_STAT_LOST_EVENT_BUFFER,
	  "more in /dev/oprofile/buffer_size, or a lower rate (-F)" },
	{ SPEC_STAT_LOST_IMAGE_TABLE, "load the driver with images=N (see modinfo)" },
	{ SPEC_STAT_LOST_MISSED,
	  "a lower rate (-F); a virtual machine may have been kept waiting" },
	{ SPEC_STAT_LOST_STREAM, "was the stream saved to its end?" },
	{ SPEC_STAT_LOST_KERNEL,
	  "code the kernel made itself (BPF, trampolines), or a --vmlinux that is not "
	  "the "
	  "running kernel; --no-vmlinux keeps them without symbols" },
	{ SPEC_STAT_LOST_SAMPLEFILE, "is the disk full?" },
	{ SPEC_STAT_LOST_INVALID_DOMAIN, "guests are profiled inside the guest" },
	{ SPEC_STAT_LOST_STACKFILE, "is the disk full?" },
	{ SPEC_STAT_LOST_CG_FILE, "is the disk full?" },
	{ SPEC_STAT_STACKS_FULL, "a larger --stack-limit" },
	{ SPEC_STAT_THROTTLE_EVENTS, "a lower rate (-F), or a larger count" },
};

static const char *hint(enum spec_stat stat)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].stat == stat)
			return hints[i].text;
	return NULL;
}

/* What it is, and what can be done about it if that is known. */
static void tell_why(enum spec_stat stat, const char *remedy)
{
	fprintf(stderr, ": %s%s%s\n", spec_stat_info[stat].doc, remedy ? "; " : "",
		remedy ? remedy : "");
}

static void tell_few(const struct coll_progress *p, uint64_t taken, uint64_t rate_hz,
		     uint64_t now_ns)
{
	fprintf(stderr,
		"only %" PRIu64 " sample%s in %.2f s: too few to tell where time goes; "
		"take more with ",
		taken, taken == 1 ? "" : "s", seconds(now_ns - p->begun_ns));
	if (rate_hz)
		fprintf(stderr, "a higher rate (-F, now %" PRIu64 ") or a longer run\n",
			rate_hz);
	else
		fputs("a smaller count (-e EVENT:COUNT) or a longer run\n", stderr);
}

/* Why stacks are not whole, where that is so of a tenth of them or more. */
static void tell_cut(const struct coll_progress *p, const struct spec_stats *s)
{
	static const char by_dwarf[] = "--callgraph=dwarf finds callers without frame "
				       "pointers; or build with -fno-omit-frame-pointer";
	static const struct {
		enum spec_stat stat;
		unsigned by;      /* bits of enum coll_callgraph_how: where it is told */
		const char *text; /* if its own does not say what to do */
	} cut[] = {
		{ SPEC_STAT_BT_NO_CALLER, BY_FP, by_dwarf },
		{ SPEC_STAT_STACKS_NO_MAPPING, BY_FP, by_dwarf },
		{ SPEC_STAT_STACKS_NO_MAPPING, BY_DWARF, "was it unmapped just then?" },
		{ SPEC_STAT_STACKS_NO_UNWIND, BY_BOTH, NULL },
		{ SPEC_STAT_STACKS_COPY_SHORT, BY_BOTH, NULL },
		{ SPEC_STAT_STACKS_NOT_COPIED, BY_BOTH, NULL },
		{ SPEC_STAT_STACKS_DAMAGED, BY_BOTH, NULL },
		{ SPEC_STAT_STACKS_NO_REGISTERS, BY_BOTH,
		  "build them with -fno-omit-frame-pointer" },
		{ SPEC_STAT_STACKS_DEPTH, BY_FP,
		  "--callgraph=FRAMES says how many, up to sysctl "
		  "kernel.perf_event_max_stack" },
		{ SPEC_STAT_STACKS_DEPTH, BY_DWARF,
		  "--callgraph=dwarf,SIZE,FRAMES says how many, up to 1024" },
	};
	uint64_t stacks = s->value[SPEC_STAT_STACKS];

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		uint64_t nr = s->value[cut[i].stat];

		if (!nr || nr < stacks / 10 || !(cut[i].by & 1u << p->stacks))
			continue;
		fprintf(stderr, "  %s: %" PRIu64 " of %" PRIu64,
			spec_stat_info[cut[i].stat].name, nr, stacks);
		tell_why(cut[i].stat, cut[i].text);
	}
}

void coll_progress_result(const struct coll_progress *p,
			  const struct coll_session *session, const struct spec_stats *s,
			  const char *left_out, uint64_t rate_hz, uint64_t now_ns)
{
	uint64_t taken = s->value[SPEC_STAT_TAKEN];

	if (session->renamed.len)
		fprintf(stderr, "the former session \"current\" is now \"%s\"\n",
			strbuf_str(&session->renamed));
	fprintf(stderr, "session: %s%s%s\n", strbuf_str(&session->dir),
		strcmp(session->name, "current") ? ", " : "",
		strcmp(session->name, "current") ? session->name : "");
	fprintf(stderr,
		"samples: %" PRIu64 " taken, %" PRIu64 " stored, %" PRIu64 " lost", taken,
		s->value[SPEC_STAT_STORED], spec_stats_lost(s));
	if (s->value[SPEC_STAT_IGNORED_IMAGE])
		fprintf(stderr, ", %" PRIu64 " left out by --image",
			s->value[SPEC_STAT_IGNORED_IMAGE]);
	if (s->value[SPEC_STAT_IGNORED_SELF])
		fprintf(stderr, ", %" PRIu64 " of opcollect itself left out",
			s->value[SPEC_STAT_IGNORED_SELF]);
	fputc('\n', stderr);
	for (int i = 0; i < SPEC_NR_STATS; i++) {
		const char *remedy = hint((enum spec_stat)i);

		if (!s->value[i] ||
		    (spec_stat_info[i].kind != SPEC_STAT_KIND_LOSS && !remedy))
			continue;
		fprintf(stderr, "  %s: %" PRIu64, spec_stat_info[i].name, s->value[i]);
		tell_why((enum spec_stat)i, remedy);
	}
	tell_cut(p, s);
	if (!s->value[SPEC_STAT_STORED] && s->value[SPEC_STAT_IGNORED_IMAGE])
		fprintf(stderr,
			"no sample was taken in what --image names; samples were in: "
			"%s\n",
			left_out);
	else if (taken < FEW && !p->saved)
		tell_few(p, taken, rate_hz, now_ns);
}
