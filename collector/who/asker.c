/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/asker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "collector/who/helper.h"

#define MS CLOCK_NS_PER_MS

enum {
	MAX_HELPERS = 8,  /* each but one is blocked */
	MAX_STUCK = 16,   /* given up, and not to be killed */
	MAX_STARTS = 200, /* that failed, one after the other */
	START_MS = 25,    /* between these */
	LOOK_MS = 50,     /* between looks at what helpers do */
};

struct question {
	struct question *next;
	enum coll_question_kind kind;
	uint64_t lane;
	coll_answered answered;
	void *ctx;
	uint64_t arg;
	unsigned deaths; /* of helpers that were at it */
	size_t len;
	char data[];
};

/* A lane that is blocked, or has been; the others are not listed. */
struct lane {
	uint64_t id;
	bool blocked;
	unsigned given_up; /* questions, one after the other */
	uint64_t dead_until_ns;
};

struct at_work {
	struct coll_helper helper;
	/* in the order of the answers to come; NULL: another helper has it by now */
	VEC(struct question *) asked;
	bool suspect; /* its first question is blocked: it keeps that one alone */
};

const struct coll_asker_kind coll_asks_questions = {
	.box = &coll_answer_box,
	.deaths = 200,
	.finish_ms = COLL_ASKER_WORK_S * 1000,
};

/* One may be killed; one that dies of what it reads, or of its limits, will again. */
const struct coll_asker_kind coll_asks_tables = {
	.box = &coll_table_box,
	.once = true,
	.deaths = 1,
	.finish_ms = COLL_ASKER_TABLES_S * 1000,
};

struct coll_asker {
	const struct coll_asker_kind *kind;
	char *program;
	struct box box;
	struct at_work helpers[MAX_HELPERS];
	struct question *first, **end; /* that no helper has yet */
	size_t open;
	VEC(struct lane) lanes;
	pid_t stuck[MAX_STUCK];
	int file; /* came with the answer that is being taken; -1: none */
	unsigned failed_starts;
	uint64_t start_ns, look_ns; /* not before that */
	uint64_t finishing_ns;      /* how long the end has been waited for */
};

uint64_t coll_lane_process(uint32_t tgid)
{
	return tgid;
}

uint64_t coll_lane_device(uint32_t dev_major, uint32_t dev_minor)
{
	return 1ull << 63 | (uint64_t)dev_major << 32 | dev_minor;
}

struct coll_asker *coll_asker_new(const struct coll_asker_kind *kind, const char *program)
{
	struct coll_asker *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->kind = kind;
	a->program = program ? strdup(program) : NULL;
	a->box = (struct box)BOX_NONE;
	a->end = &a->first;
	a->file = -1;
	for (int i = 0; i < MAX_HELPERS; i++)
		a->helpers[i].helper = (struct coll_helper)COLL_HELPER_NONE;
	return a;
}

void coll_asker_free(struct coll_asker *a)
{
	struct question *next;

	if (!a)
		return;
	for (int i = 0; i < MAX_HELPERS; i++) {
		vec_for(&a->helpers[i].asked, q)
			free(*q);
		vec_fini(&a->helpers[i].asked);
		coll_helper_end(&a->helpers[i].helper);
	}
	for (; a->first; a->first = next) {
		next = a->first->next;
		free(a->first);
	}
	vec_fini(&a->lanes);
	box_end(&a->box);
	free(a->program);
	free(a);
}

size_t coll_asker_open(const struct coll_asker *a)
{
	return a ? a->open : 0;
}

unsigned coll_asker_stuck(struct coll_asker *a)
{
	unsigned nr = 0;

	for (int i = 0; a && i < MAX_STUCK; i++) {
		if (a->stuck[i] && kill(a->stuck[i], 0) && errno == ESRCH)
			a->stuck[i] = 0;
		nr += a->stuck[i] != 0;
	}
	return nr;
}

/* ---- lanes */

static struct lane *find_lane(const struct coll_asker *a, uint64_t id)
{
	vec_for(&a->lanes, l)
		if (l->id == id)
			return l;
	return NULL;
}

/* Without memory for it, it is not known that the lane is blocked: NULL. */
static struct lane *need_lane(struct coll_asker *a, uint64_t id)
{
	struct lane *l = find_lane(a, id), fresh = { .id = id };

	if (l || vec_push(&a->lanes, fresh))
		return l;
	return &a->lanes.data[a->lanes.len - 1];
}

static void lane_answered(struct coll_asker *a, uint64_t id)
{
	struct lane *l = find_lane(a, id);

	if (l)
		*l = a->lanes.data[--a->lanes.len];
}

static bool is_blocked(const struct coll_asker *a, uint64_t id)
{
	const struct lane *l = find_lane(a, id);

	return l && l->blocked;
}

static bool is_dead(const struct coll_asker *a, uint64_t id, uint64_t now)
{
	const struct lane *l = find_lane(a, id);

	return l && now < l->dead_until_ns;
}

/* ---- questions */

static void queue(struct coll_asker *a, struct question *q)
{
	q->next = NULL;
	*a->end = q;
	a->end = &q->next;
}

static void queue_first(struct coll_asker *a, struct question *q)
{
	q->next = a->first;
	if (!a->first)
		a->end = &q->next;
	a->first = q;
}

static void unqueue(struct coll_asker *a, struct question **at)
{
	struct question *q = *at;

	*at = q->next;
	if (a->end == &q->next)
		a->end = at;
}

static void done(struct coll_asker *a, struct question *q, int rc, char *answer,
		 size_t len)
{
	a->open--;
	q->answered(q->ctx, q->arg, rc, answer, len);
	free(q);
}

static int answer_here(const struct coll_question *q)
{
	CLEANUP(strbuf_fini) struct strbuf question = { 0 };
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	CLEANUP(close_fd) int file = -1;

	strbuf_add(&question, q->data, q->len);
	if (strbuf_error(&question))
		return -ENOMEM;
	coll_answer(q->kind, question.data, q->len, &answer, &file);
	if (strbuf_error(&answer))
		return -ENOMEM;
	q->answered(q->ctx, q->arg, 0, answer.data, answer.len);
	return 0;
}

int coll_asker_ask(struct coll_asker *a, const struct coll_question *q)
{
	struct question *copy;

	if (!a)
		return answer_here(q);
	copy = q->len <= COLL_QUESTION_MAX ? malloc(sizeof(*copy) + q->len) : NULL;
	if (!copy)
		return -ENOMEM;
	*copy = (struct question){ .kind = q->kind,
				   .lane = q->lane,
				   .answered = q->answered,
				   .ctx = q->ctx,
				   .arg = q->arg,
				   .len = q->len };
	memcpy(copy->data, q->data, q->len);
	queue(a, copy);
	a->open++;
	return 0;
}

/* ---- helpers */

static struct question *head(const struct at_work *w)
{
	return w->asked.len ? w->asked.data[0] : NULL;
}

static struct question *take_head(struct at_work *w)
{
	struct question *q = w->asked.data[0];

	memmove(w->asked.data, w->asked.data + 1,
		--w->asked.len * sizeof(w->asked.data[0]));
	return q;
}

/* Hands its questions from number @from on to others, ahead of theirs. */
static void hand_back(struct coll_asker *a, struct at_work *w, size_t from)
{
	for (size_t i = w->asked.len; i-- > from;) {
		if (w->asked.data[i])
			queue_first(a, w->asked.data[i]);
		w->asked.data[i] = NULL;
	}
}

static void end_helper(struct coll_asker *a, struct at_work *w)
{
	hand_back(a, w, 0);
	coll_helper_end(&w->helper);
	w->asked.len = 0;
	w->suspect = false;
}

/* The question that it was at gets no answer but @rc; the others are asked again. */
static void end_over_head(struct coll_asker *a, struct at_work *w, int rc)
{
	struct question *q = take_head(w);

	end_helper(a, w);
	done(a, q, rc, NULL, 0);
}

static void suspect(struct coll_asker *a, struct at_work *w)
{
	struct lane *l = need_lane(a, head(w)->lane);

	w->suspect = true;
	if (l)
		l->blocked = true;
	hand_back(a, w, 1);
}

static void unsuspect(struct coll_asker *a, struct at_work *w, uint64_t id)
{
	struct lane *l = w->suspect ? find_lane(a, id) : NULL;

	w->suspect = false;
	if (l)
		l->blocked = false;
}

static void remember_stuck(struct coll_asker *a, pid_t pid)
{
	for (int i = 0; i < MAX_STUCK; i++)
		if (!a->stuck[i]) {
			a->stuck[i] = pid;
			return;
		}
}

/* It may be unable to die; it shares nothing with us. */
static void give_up(struct coll_asker *a, struct at_work *w, uint64_t now)
{
	uint64_t id = head(w)->lane;
	struct lane *l;

	unsuspect(a, w, id);
	l = need_lane(a, id);
	if (l && ++l->given_up > 1)
		l->dead_until_ns = now + COLL_ASKER_DEAD_S * CLOCK_NS_PER_S;
	remember_stuck(a, (pid_t)w->helper.pid);
	end_over_head(a, w, -ETIMEDOUT);
}

/* It has gone: killed, or the question killed it. */
static void bury(struct coll_asker *a, struct at_work *w)
{
	struct question *q = head(w);
	bool begun = w->helper.pid;

	if (q)
		unsuspect(a, w, q->lane);
	if (!begun)
		a->failed_starts++;
	if (q && a->kind->once && coll_helper_died_of_it(&w->helper)) {
		end_over_head(a, w, -ENOTRECOVERABLE);
	} else if (q && begun && ++q->deaths > a->kind->deaths) {
		if (!a->kind->once)
			log_warn("helper processes die of a question: it is given up");
		end_over_head(a, w, -EAGAIN);
	} else {
		end_helper(a, w);
	}
}

static void look(struct coll_asker *a, struct at_work *w, uint64_t now)
{
	const struct lane *l;
	uint64_t waited, patience;

	if (!w->asked.len || !w->helper.pid || coll_helper_sends(&w->helper)) {
		w->helper.state = (struct box_state){ 0 };
		return;
	}
	waited = box_state_look(&w->helper.state, (pid_t)w->helper.pid, now);
	if (waited < COLL_ASKER_SUSPECT_MS * MS)
		return;
	if (!head(w)) { /* what it is at is another one's by now */
		end_helper(a, w);
		return;
	}
	if (!w->suspect)
		suspect(a, w);
	l = find_lane(a, head(w)->lane);
	patience = l && l->given_up ? COLL_ASKER_AGAIN_MS : COLL_ASKER_PATIENCE_MS;
	if (waited >= patience * MS)
		give_up(a, w, now);
}

int coll_asker_file(struct coll_asker *a)
{
	return a ? take_fd(&a->file) : -1;
}

static void drop_file(struct coll_asker **a)
{
	close_fd(&(*a)->file);
	(*a)->file = -1;
}

static void take_answers(struct coll_asker *a, struct at_work *w)
{
	char *answer;
	size_t len;

	while (w->helper.fd >= 0 &&
	       coll_helper_next(&w->helper, &answer, &len, &a->file)) {
		CLEANUP(drop_file) struct coll_asker *taking = a;
		struct question *q;

		w->helper.bad = !w->asked.len;
		if (w->helper.bad)
			break;
		q = take_head(w);
		w->helper.state = (struct box_state){ 0 };
		if (!q)
			continue;
		w->suspect = false;
		lane_answered(a, q->lane);
		done(a, q, 0, answer, len);
		if (a->kind->once)
			end_helper(a, w);
	}
	if (w->helper.pid)
		a->failed_starts = 0;
}

static void attend(struct coll_asker *a, struct at_work *w)
{
	int rc = coll_helper_exchange(&w->helper);

	take_answers(a, w);
	if ((rc || w->helper.bad) && w->helper.fd >= 0)
		bury(a, w);
}

/* ---- which helper is asked what */

/* NULL: no more may be, or can be, started now. */
static struct at_work *start_helper(struct coll_asker *a, uint64_t now)
{
	struct err err = { 0 };

	if (now < a->start_ns)
		return NULL;
	for (int i = 0; i < MAX_HELPERS; i++) {
		struct at_work *w = &a->helpers[i];

		if (w->helper.fd >= 0)
			continue;
		if (a->failed_starts)
			a->start_ns = now + START_MS * MS;
		if (!coll_helper_start(&w->helper, &a->box, a->kind->box, a->program,
				       &err))
			return w;
		if (!a->failed_starts++)
			log_warn("%s", err.msg);
		a->start_ns = now + START_MS * MS;
		return NULL;
	}
	return NULL;
}

/* One that is not blocked; @full: there is one, but it has enough to do. */
static struct at_work *find_helper(struct coll_asker *a, bool *full)
{
	*full = false;
	for (int i = 0; i < MAX_HELPERS; i++) {
		struct at_work *w = &a->helpers[i];

		if (w->helper.fd < 0 || w->suspect)
			continue;
		if (w->asked.len < (a->kind->once ? 1 : COLL_HELPER_ASKED))
			return w;
		*full = true;
	}
	return NULL;
}

/* No helper can be asked, and that will not change soon. */
static bool is_hopeless(struct coll_asker *a)
{
	return a->failed_starts > MAX_STARTS || coll_asker_stuck(a) >= MAX_STUCK;
}

static int give(struct at_work *w, struct question *q)
{
	int rc = coll_helper_put(&w->helper, q->kind, q->data, q->len);

	return rc ? rc : vec_push(&w->asked, q);
}

static void dispatch(struct coll_asker *a)
{
	struct question **at = &a->first, *q;
	uint64_t now = clock_mono_ns();

	while ((q = *at)) {
		struct at_work *w = NULL;
		bool full = false;

		if (is_dead(a, q->lane, now)) {
			unqueue(a, at);
			done(a, q, -ETIMEDOUT, NULL, 0);
			at = &a->first; /* more may have been asked, or less */
			continue;
		}
		if (is_blocked(a, q->lane)) {
			at = &q->next;
			continue;
		}
		w = find_helper(a, &full);
		if (!w && !full)
			w = start_helper(a, now);
		if (!w && !full && is_hopeless(a)) {
			unqueue(a, at);
			done(a, q, -EAGAIN, NULL, 0);
			at = &a->first;
			continue;
		}
		if (!w)
			return;
		unqueue(a, at);
		if (give(w, q)) {
			end_helper(a, w);
			done(a, q, -ENOMEM, NULL, 0);
			at = &a->first;
		}
	}
}

static void wait_for_helpers(struct coll_asker *a, int ms)
{
	struct pollfd fds[MAX_HELPERS];

	for (int i = 0; i < MAX_HELPERS; i++) {
		const struct coll_helper *h = &a->helpers[i].helper;

		fds[i] =
			(struct pollfd){ .fd = h->fd,
					 .events = POLLIN |
						   (coll_helper_sends(h) ? POLLOUT : 0) };
	}
	poll(fds, MAX_HELPERS, ms < LOOK_MS ? ms : LOOK_MS);
}

static void exchange(struct coll_asker *a)
{
	for (int i = 0; i < MAX_HELPERS; i++)
		if (a->helpers[i].helper.fd >= 0)
			attend(a, &a->helpers[i]);
}

static void look_at_all(struct coll_asker *a)
{
	uint64_t now = clock_mono_ns();

	if (now < a->look_ns)
		return;
	a->look_ns = now + LOOK_MS * MS;
	for (int i = 0; i < MAX_HELPERS; i++)
		if (a->helpers[i].helper.fd >= 0)
			look(a, &a->helpers[i], now);
}

void coll_asker_poll(struct coll_asker *a, int ms)
{
	if (!a || !a->open)
		return;
	dispatch(a);
	exchange(a);
	if (a->open && ms > 0) {
		wait_for_helpers(a, ms);
		exchange(a);
	}
	look_at_all(a);
	dispatch(a);
	exchange(a);
}

size_t coll_asker_blocked(const struct coll_asker *a)
{
	size_t nr = 0;

	for (int i = 0; a && i < MAX_HELPERS; i++)
		nr += a->helpers[i].suspect;
	for (const struct question *q = a ? a->first : NULL; q; q = q->next)
		nr += is_blocked(a, q->lane);
	return nr;
}

bool coll_asker_works(const struct coll_asker *a)
{
	return coll_asker_open(a) > coll_asker_blocked(a);
}

static void give_up_all(struct coll_asker *a, uint64_t now)
{
	for (int i = 0; i < MAX_HELPERS; i++)
		if (a->helpers[i].helper.fd >= 0 && head(&a->helpers[i]))
			give_up(a, &a->helpers[i], now);
	while (a->first) {
		struct question *q = a->first;

		unqueue(a, &a->first);
		done(a, q, -ETIMEDOUT, NULL, 0);
	}
}

void coll_asker_finish(struct coll_asker *a)
{
	uint64_t now, last = clock_mono_ns(), since = last;

	if (a && !a->kind->once)
		a->finishing_ns = 0;
	while (coll_asker_open(a)) {
		coll_asker_poll(a, LOOK_MS);
		now = clock_mono_ns();
		a->finishing_ns += now - last;
		last = now;
		if (coll_asker_works(a))
			since = now;
		if (now - since > COLL_ASKER_LAST_S * CLOCK_NS_PER_S ||
		    a->finishing_ns > a->kind->finish_ms * MS)
			give_up_all(a, now);
	}
}
