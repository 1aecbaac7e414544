/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/stream.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/who/origins.h"
#include "kernel/uapi/opfs_buffer.h"

enum { TASK_WORDS = 6, IMAGE_WORDS = 9, MODULE_WORDS = 11, MAX_PATH = 1 << 16 };
enum { STACK_WORDS = 5, RANGE_WORDS = 4 };

/* Regions that are remembered.  A chain's places may refer to older ones. */
enum { MAX_REGIONS = 4096 };
_Static_assert((int)MAX_REGIONS + (int)COLL_MAX_FRAMES + (int)COLL_STREAM_RANGES <
		       (int)COLL_ORIGINS_REGIONS,
	       "the collector remembers what a chain can refer to");

/* Handles of regions, apart from cookies, which have 32 bits. */
#define FIRST_REGION (1ULL << 32)

/* A record that is no sample: its argument and its words, which are all there. */
struct note {
	uint32_t arg;
	size_t nr;
	const uint64_t *w;
};

int coll_stream_init(struct coll_stream *s, struct err *err)
{
	*s = (struct coll_stream){ 0 };
	/* not one that another stream has had */
	s->who.seq = clock_mono_ns();
	s->places = calloc(COLL_MAX_FRAMES, sizeof(*s->places));
	s->ranges = calloc(COLL_STREAM_RANGES, sizeof(*s->ranges));
	if (!s->places || !s->ranges) {
		coll_stream_fini(s);
		return err_errno(err, -ENOMEM, "event buffer");
	}
	memset(s->events, 0xff, sizeof(s->events));
	return 0;
}

void coll_stream_fini(struct coll_stream *s)
{
	free(s->places);
	s->places = NULL;
	free(s->ranges);
	s->ranges = NULL;
	strbuf_fini(&s->stack_bytes);
	map_fini(&s->regions);
	strbuf_fini(&s->path);
}

void coll_stream_map(struct coll_stream *s, uint32_t counter, uint32_t event)
{
	s->events[counter % COLL_STREAM_COUNTERS] = event;
}

static int hand_over(struct coll_stream *s, const struct coll_rec *rec)
{
	return s->consume(s->ctx, rec);
}

/* @nr samples that were taken and cannot be delivered. */
static int lose(struct coll_stream *s, enum spec_stat why, uint64_t nr)
{
	struct coll_rec rec = {
		.kind = COLL_REC_LOST, .time_ns = s->rec.time_ns, .why = why, .lost = nr
	};

	return nr ? hand_over(s, &rec) : 0;
}

static int add_figure(struct coll_stream *s, enum spec_stat which, uint64_t nr)
{
	struct coll_rec rec = { .kind = COLL_REC_FIGURE,
				.time_ns = s->rec.time_ns,
				.why = which,
				.figure = nr };

	return nr ? hand_over(s, &rec) : 0;
}

/* The sampled one, or inside a trace one of its callers. */
static int take_pair(struct coll_stream *s, uint64_t pc, uint64_t event,
		     const struct coll_ext_sample *ext)
{
	struct coll_rec *rec = s->tracing ? &s->traced : &s->rec;

	s->place.at = pc;
	if (s->tracing && s->nr_places) {
		if (s->nr_places < COLL_MAX_FRAMES)
			s->places[s->nr_places++] = s->place;
		else
			s->frames_over++;
		return 0;
	}
	s->told++;
	*rec = (struct coll_rec){ .kind = COLL_REC_SAMPLE,
				  .time_ns = s->rec.time_ns,
				  .tgid = s->rec.tgid,
				  .tid = s->rec.tid,
				  .cpu = s->rec.cpu };
	rec->event = s->events[OPK_EVENT_COUNTER(event)];
	rec->sample.domain = s->place.kernel ? COLL_KERNEL : COLL_USER;
	rec->sample.late = event & OPK_EVENT_LATE;
	rec->sample.ext = ext;
	rec->sample.who = &s->who;
	if (s->tracing) {
		s->places[s->nr_places++] = s->place;
		if (!ext)
			return 0;
		/* its registers must outlive the words they came in */
		s->traced_ext = *ext;
		s->traced_ext.regs =
			memcpy(s->regs, ext->regs, ext->nr * sizeof(*ext->regs));
		rec->sample.ext = &s->traced_ext;
		return 0;
	}
	rec->sample.places = &s->place;
	rec->sample.nr_places = 1;
	return hand_over(s, rec);
}

/* The chain is over, or is taken for it. */
static int end_trace(struct coll_stream *s, uint64_t frames_lost, bool cut)
{
	bool any = s->tracing && s->nr_places;

	s->tracing = false;
	if (!any)
		return 0;
	s->traced.sample.cut = cut || s->frames_over;
	frames_lost += s->frames_over;
	s->traced.sample.frames_lost =
		frames_lost < COLL_MAX_FRAMES ? (uint32_t)frames_lost : COLL_MAX_FRAMES;
	s->traced.sample.places = s->places;
	s->traced.sample.nr_places = s->nr_places;
	s->nr_places = 0;
	return hand_over(s, &s->traced);
}

static int take_trace_begin(struct coll_stream *s, const struct note *n)
{
	int rc = end_trace(s, 0, false);

	(void)n;
	s->tracing = true;
	s->nr_places = 0;
	s->frames_over = 0;
	return rc;
}

static int take_trace_end(struct coll_stream *s, const struct note *n)
{
	bool no_stack = s->tracing && s->nr_places && n->arg & OPK_TRACE_NO_STACK;
	int rc = end_trace(s, n->w[0], n->arg & OPK_TRACE_FULL);

	return rc ? rc : add_figure(s, SPEC_STAT_STACKS_NOT_COPIED, no_stack);
}

static int take_task(struct coll_stream *s, const struct note *n)
{
	s->rec.tid = n->arg;
	s->rec.tgid = (uint32_t)n->w[0];
	s->who =
		(struct coll_who){ .seq = s->who.seq + 1,
				   .app = (uint32_t)n->w[1],
				   .start_ns = n->w[2],
				   .execs = (uint32_t)n->w[3],
				   .parent = n->nr > TASK_WORDS ? (uint32_t)n->w[6] : 0 };
	memcpy(s->who.comm, &n->w[4], sizeof(s->who.comm) - 1);
	return 0;
}

static int take_cpu(struct coll_stream *s, const struct note *n)
{
	s->rec.cpu = n->arg;
	return 0;
}

static void set_image(struct coll_stream *s, uint64_t handle)
{
	s->image = handle;
	if (!s->place.kernel)
		s->place.handle = handle;
}

static int take_cookie(struct coll_stream *s, const struct note *n)
{
	set_image(s, n->arg ? n->arg : UINT64_MAX);
	return 0;
}

static int take_kernel(struct coll_stream *s, const struct note *n)
{
	(void)n;
	s->place.kernel = true;
	s->place.handle = 0;
	return 0;
}

static int take_user(struct coll_stream *s, const struct note *n)
{
	(void)n;
	s->place.kernel = false;
	s->place.handle = s->image;
	return 0;
}

static int take_module(struct coll_stream *s, const struct note *n)
{
	char name[65] = "";
	struct coll_module module = { .name = name,
				      .start = n->w[1],
				      .len = n->w[2],
				      .going = n->arg == OPK_MODULE_GOING };
	struct coll_rec rec = { .kind = COLL_REC_MODULE,
				.time_ns = n->w[0],
				.module = &module };

	memcpy(name, &n->w[3], sizeof(name) - 1);
	/* a name that could be a path is nobody's; none at all: notices were missed */
	if (strchr(name, '/') || module.len > UINT64_MAX - module.start)
		return 0;
	return hand_over(s, &rec);
}

/*
 * The path as the collector knows mappings: from the root, and with the kernel's mark if
 * the file was deleted.  One that could not be told is made of what is known.
 */
static const char *image_path(struct coll_stream *s, const struct note *n,
			      const struct coll_mmap *m, bool deleted)
{
	static const char mark[] = " (deleted)";
	size_t len = n->w[8], room = (n->nr - IMAGE_WORDS) * sizeof(*n->w);
	const char *path = (const char *)&n->w[IMAGE_WORDS];

	strbuf_reset(&s->path);
	if (len <= room && len <= MAX_PATH)
		strbuf_add(&s->path, path, strnlen(path, len));
	if (!s->path.len || s->path.data[0] != '/') {
		strbuf_reset(&s->path);
		strbuf_printf(&s->path, "/(unknown)/%u:%u/%llu", m->dev_major,
			      m->dev_minor, (unsigned long long)m->inode);
	}
	len = s->path.len;
	if (deleted && (len < sizeof(mark) ||
			strcmp(s->path.data + len - (sizeof(mark) - 1), mark) != 0))
		strbuf_puts(&s->path, mark);
	return strbuf_error(&s->path) ? NULL : strbuf_str(&s->path);
}

static int take_image(struct coll_stream *s, const struct note *n)
{
	struct coll_rec rec = { .kind = COLL_REC_ORIGIN,
				.time_ns = s->rec.time_ns,
				.tgid = s->rec.tgid,
				.tid = s->rec.tid };
	struct coll_mmap *m = &rec.origin.mmap;
	int64_t mtime_ns = (int64_t)n->w[3];
	size_t id_len = n->w[2] >> 32 & 0xff;

	if (!n->arg)
		return 0;
	rec.origin.handle = n->arg;
	m->dev_major = (uint32_t)(n->w[0] >> 32);
	m->dev_minor = (uint32_t)n->w[0];
	m->inode = n->w[1];
	m->inode_gen = (uint32_t)n->w[2];
	m->mtime = mtime_ns > 0 ? (uint64_t)mtime_ns / 1000000000 : 0;
	m->size = n->w[4];
	m->build_id_len = (uint8_t)(id_len < COLL_BUILD_ID ? id_len : COLL_BUILD_ID);
	memcpy(m->build_id, &n->w[5], m->build_id_len);
	m->filename = image_path(s, n, m, n->w[2] >> 40 & OPK_IMAGE_DELETED);
	return m->filename ? hand_over(s, &rec) : -ENOMEM;
}

static int take_image_gone(struct coll_stream *s, const struct note *n)
{
	struct coll_rec rec = { .kind = COLL_REC_ORIGIN,
				.time_ns = s->rec.time_ns,
				.tgid = s->rec.tgid,
				.tid = s->rec.tid };

	if (!n->arg)
		return 0;
	rec.origin.handle = n->arg;
	rec.origin.gone = true;
	return hand_over(s, &rec);
}

static const char *const labels[] = {
	[OPK_ANON_OTHER] = "anon",          [OPK_ANON_HEAP] = "[heap]",
	[OPK_ANON_STACK] = "[stack]",       [OPK_ANON_VDSO] = "[vdso]",
	[OPK_ANON_VSYSCALL] = "[vsyscall]",
};

enum { NR_LABELS = sizeof(labels) / sizeof(labels[0]) };

/* The handle of a region, which is told if it is new.  0 or -ENOMEM. */
static int region_handle(struct coll_stream *s, uint32_t kind, uint64_t first,
			 uint64_t last, uint64_t *handle)
{
	const uint64_t key[] = { kind < NR_LABELS ? kind : OPK_ANON_OTHER, first, last };
	struct coll_rec rec = { .kind = COLL_REC_ORIGIN,
				.time_ns = s->rec.time_ns,
				.tgid = s->rec.tgid,
				.tid = s->rec.tid };

	*handle = UINT64_MAX;
	if (last < first || last == UINT64_MAX)
		return 0;
	if (map_get(&s->regions, key, sizeof(key), handle))
		return 0;
	/* they are told again: the collector forgets them too */
	if (s->regions.used >= MAX_REGIONS)
		map_fini(&s->regions);
	*handle = FIRST_REGION + s->nr_regions;
	if (map_set(&s->regions, key, sizeof(key), *handle))
		return -ENOMEM;
	s->nr_regions++;
	rec.origin.handle = *handle;
	rec.origin.region = true;
	rec.origin.mmap = (struct coll_mmap){ .start = first,
					      .len = last - first + 1,
					      .filename = labels[key[0]] };
	return hand_over(s, &rec) ? -ENOMEM : 0;
}

static int take_anon(struct coll_stream *s, const struct note *n)
{
	uint64_t handle;
	int rc = region_handle(s, n->arg, n->w[0], n->w[1], &handle);

	if (!rc)
		set_image(s, handle);
	return rc;
}

static int take_range(struct coll_stream *s, const uint64_t *w)
{
	struct coll_user_stack *stack = &s->user_stack;
	struct coll_code_range range = {
		.start = w[0], .end = w[1], .handle = (uint32_t)w[2], .at = w[3]
	};
	int rc = 0;

	if (!range.handle) {
		range.at = 0;
		rc = region_handle(s, (uint32_t)(w[2] >> 32), range.start, range.end - 1,
				   &range.handle);
	}
	if (range.start >= range.end || range.handle == UINT64_MAX)
		stack->ranges_cut = true;
	else if (!rc)
		s->ranges[stack->nr_ranges++] = range;
	return rc;
}

/* Of the sample whose trace this is; it outlives the words it came in. */
static int take_user_stack(struct coll_stream *s, const struct note *n)
{
	size_t size = (uint32_t)n->w[4], nr = n->w[4] >> 32, words = size / sizeof(*n->w);
	const uint64_t *w = n->w + STACK_WORDS;
	bool is_arm = n->arg >> 16 == EM_AARCH64;
	int rc = 0;

	if (!s->tracing || !s->nr_places)
		return 0;
	if (size % sizeof(*w) || words > n->nr - STACK_WORDS ||
	    nr > (n->nr - STACK_WORDS - words) / RANGE_WORDS)
		return add_figure(s, SPEC_STAT_STACKS_NOT_COPIED, 1);
	strbuf_reset(&s->stack_bytes);
	strbuf_add(&s->stack_bytes, w, size);
	if (strbuf_error(&s->stack_bytes))
		return -ENOMEM;
	s->user_stack = (struct coll_user_stack){
		.machine = (uint16_t)(n->arg >> 16),
		.regs = { .ip = n->w[0],
			  .sp = n->w[1],
			  .fp = n->w[2],
			  .lr = is_arm ? n->w[3] : 0,
			  .bx = is_arm ? 0 : n->w[3] },
		.bytes = s->stack_bytes.data,
		.size = size,
		.whole = n->arg & OPK_STACK_WHOLE,
		.ranges = s->ranges,
		.ranges_cut = n->arg & OPK_STACK_RANGES_CUT || nr > COLL_STREAM_RANGES,
	};
	for (size_t i = 0; !rc && i < nr && i < COLL_STREAM_RANGES; i++)
		rc = take_range(s, w + words + i * RANGE_WORDS);
	s->traced.sample.user_stack = &s->user_stack;
	return rc;
}

static int take_exit(struct coll_stream *s, const struct note *n)
{
	struct coll_rec rec = { .kind = COLL_REC_EXIT,
				.time_ns = n->w[1],
				.tid = n->arg,
				.cpu = UINT32_MAX };

	rec.tgid = (uint32_t)n->w[0];
	return hand_over(s, &rec);
}

/* What the driver's reasons are called in a session. */
static const enum spec_stat reasons[OPK_NR_LOST] = {
	[OPK_LOST_OVERFLOW] = SPEC_STAT_LOST_CPU_BUFFER,
	[OPK_LOST_EVENT_OVERFLOW] = SPEC_STAT_LOST_EVENT_BUFFER,
	[OPK_LOST_NO_MAPPING] = SPEC_STAT_LOST_NO_MAPPING,
	[OPK_LOST_EXITED] = SPEC_STAT_LOST_EXITED,
	[OPK_LOST_NO_WORK] = SPEC_STAT_LOST_UNRESOLVED,
	[OPK_LOST_NO_IMAGE] = SPEC_STAT_LOST_IMAGE_TABLE,
	[OPK_LOST_STOPPED] = SPEC_STAT_LOST_STOPPED,
	[OPK_LOST_BAD_PC] = SPEC_STAT_LOST_BAD_ADDRESS,
	[OPK_LOST_NESTED] = SPEC_STAT_LOST_NESTED,
	[OPK_LOST_MISSED] = SPEC_STAT_LOST_MISSED,
	[OPK_LOST_BUSY] = SPEC_STAT_LOST_BUSY,
};

static int take_lost(struct coll_stream *s, const struct note *n)
{
	enum spec_stat why = n->arg < OPK_NR_LOST ? reasons[n->arg] : 0;

	s->lost += n->w[0];
	return lose(s, why ? why : SPEC_STAT_LOST_RECORDS, n->w[0]);
}

static int take_ibs(struct coll_stream *s, const struct note *n, enum coll_ext_kind kind)
{
	struct coll_ext_sample ext = {
		.kind = kind, .caps = (uint32_t)n->w[2], .nr = n->nr - 3, .regs = n->w + 3
	};

	ext.nr = n->arg < ext.nr ? n->arg : ext.nr;
	ext.nr = ext.nr < COLL_EXT_MAX_REGS ? ext.nr : COLL_EXT_MAX_REGS;
	return take_pair(s, n->w[0], n->w[1], &ext);
}

static int take_ibs_fetch(struct coll_stream *s, const struct note *n)
{
	return take_ibs(s, n, COLL_EXT_IBS_FETCH);
}

static int take_ibs_op(struct coll_stream *s, const struct note *n)
{
	return take_ibs(s, n, COLL_EXT_IBS_OP);
}

static int take_time(struct coll_stream *s, const struct note *n)
{
	s->rec.time_ns = n->w[0];
	return 0;
}

static int take_counter(struct coll_stream *s, const struct note *n)
{
	struct coll_counter c = { .index = n->arg,
				  .config = n->w[0],
				  .unit_mask = n->w[1],
				  .count = n->w[2],
				  .extra = n->w[3],
				  .kernel = n->w[4] & OPK_COUNTER_KERNEL,
				  .user = n->w[4] & OPK_COUNTER_USER,
				  .perf_type = (uint32_t)n->w[5] };
	int event;

	if (!s->counter || c.index >= COLL_STREAM_COUNTERS)
		return 0;
	event = s->counter(s->counter_ctx, &c);
	s->events[c.index] = event < 0 ? UINT32_MAX : (uint32_t)event;
	return event == -ENOMEM ? event : 0;
}

/* The timer is told of by its rate alone. */
static int ask_timer(struct coll_stream *s)
{
	struct coll_counter c = {
		.index = OPK_COUNTER_TIMER, .timer = true, .kernel = true, .user = true
	};
	int event;

	if (!s->counter)
		return 0;
	c.count = s->hello.timer_hz ? 1000000000 / s->hello.timer_hz : 0;
	event = s->counter(s->counter_ctx, &c);
	s->events[c.index] = event < 0 ? UINT32_MAX : (uint32_t)event;
	return event == -ENOMEM ? event : 0;
}

/* All context is told anew. */
static int take_hello(struct coll_stream *s, const struct note *n)
{
	int rc = end_trace(s, 0, false);

	s->begun = true;
	s->ended = false;
	s->hello = (struct coll_hello){ n->w[1], n->w[2], n->w[3], n->w[4], n->w[5] };
	s->rec = (struct coll_rec){ .time_ns = n->w[1],
				    .tgid = UINT32_MAX,
				    .tid = UINT32_MAX,
				    .cpu = UINT32_MAX };
	s->who = (struct coll_who){ .seq = s->who.seq + 1 };
	s->place = (struct coll_place){ .handle = UINT64_MAX };
	s->image = UINT64_MAX;
	s->told = s->lost = 0;
	return rc ? rc : ask_timer(s);
}

static int take_bye(struct coll_stream *s, const struct note *n)
{
	uint64_t known = s->told + s->lost;
	int rc = end_trace(s, 0, false);

	if (!rc && n->w[0] > known)
		rc = lose(s, SPEC_STAT_LOST_RECORDS, n->w[0] - known);
	if (!rc)
		rc = add_figure(s, SPEC_STAT_THROTTLE_EVENTS, n->w[1]);
	if (!rc)
		rc = add_figure(s, SPEC_STAT_BT_ABORTED, n->w[2]);
	s->ended = true;
	return rc;
}

/* Each kind of record: how many words it has at least, and who takes it. */
static const struct kind {
	size_t min;
	int (*take)(struct coll_stream *s, const struct note *n);
} kinds[] = {
	[OPK_TASK] = { TASK_WORDS, take_task },
	[OPK_CPU] = { 0, take_cpu },
	[OPK_COOKIE] = { 0, take_cookie },
	[OPK_KERNEL] = { 0, take_kernel },
	[OPK_USER] = { 0, take_user },
	[OPK_MODULE] = { MODULE_WORDS, take_module },
	[OPK_TRACE_BEGIN] = { 0, take_trace_begin },
	[OPK_TRACE_END] = { 1, take_trace_end },
	[OPK_IBS_FETCH] = { 3, take_ibs_fetch },
	[OPK_IBS_OP] = { 3, take_ibs_op },
	[OPK_IMAGE] = { IMAGE_WORDS, take_image },
	[OPK_ANON] = { 2, take_anon },
	[OPK_TASK_EXIT] = { 2, take_exit },
	[OPK_LOST] = { 2, take_lost },
	[OPK_HELLO] = { 6, take_hello },
	[OPK_TIME] = { 1, take_time },
	[OPK_COUNTER] = { 6, take_counter },
	[OPK_BYE] = { 3, take_bye },
	[OPK_IMAGE_GONE] = { 0, take_image_gone },
	[OPK_USER_STACK] = { STACK_WORDS, take_user_stack },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* The stream must begin with a word of ours, in our version. */
static int check_hello(uint32_t code, const struct note *n, struct err *err)
{
	if (code != OPK_HELLO || n->nr < kinds[OPK_HELLO].min || n->w[0] != OPK_MAGIC)
		return err_set(
			err, -EBADMSG,
			"this is no stream of the driver's event buffer: it does not "
			"begin as one");
	if (n->arg != OPK_BUFFER_VERSION)
		return err_set(
			err, -EPROTO,
			"the event buffer's format has version %u, and this program "
			"knows version %d: driver and program must be of one release",
			n->arg, OPK_BUFFER_VERSION);
	return 0;
}

int coll_stream_check(const uint64_t words[COLL_STREAM_START], struct err *err)
{
	const struct note n = { OPK_HEAD_ARG(words[1]), OPK_HEAD_LEN(words[1]),
				words + 2 };

	return check_hello(words[0] == OPK_ESCAPE ? OPK_HEAD_CODE(words[1]) : 0, &n, err);
}

static int take_note(struct coll_stream *s, uint32_t code, const struct note *n,
		     struct err *err)
{
	int rc;

	if (!s->begun || code == OPK_HELLO) {
		rc = check_hello(code, n, err);
		if (rc)
			return rc;
	}
	if (code >= NR_KINDS || !kinds[code].take)
		return 0;
	if (n->nr < kinds[code].min)
		return lose(s, SPEC_STAT_LOST_STREAM, 1);
	return kinds[code].take(s, n);
}

int coll_stream_feed(struct coll_stream *s, const uint64_t *words, size_t nr,
		     size_t *used, struct err *err)
{
	size_t at = 0;
	int rc = 0;

	while (!rc && nr - at >= 2) {
		uint64_t head = words[at + 1];
		struct note n;

		if (words[at] != OPK_ESCAPE) {
			rc = s->begun ? take_pair(s, words[at], head, NULL)
				      : check_hello(0, NULL, err);
			at += 2;
			continue;
		}
		n = (struct note){ OPK_HEAD_ARG(head), OPK_HEAD_LEN(head),
				   words + at + 2 };
		if (nr - at - 2 < n.nr)
			break;
		rc = take_note(s, OPK_HEAD_CODE(head), &n, err);
		at += 2 + n.nr;
	}
	*used = at;
	return rc;
}

int coll_stream_end(struct coll_stream *s, size_t left)
{
	int rc = end_trace(s, 0, false);

	/* the start of a record, which may have been a sample */
	return !rc && left ? lose(s, SPEC_STAT_LOST_STREAM, 1) : rc;
}
