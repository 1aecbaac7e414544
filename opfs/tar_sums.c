/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opfs/tar_impl.h"

/*
 * One pass over the archive, from its beginning: whatever somebody reads is summed up if
 * it is what comes next, or nearly so.  The rest is read when the MANIFEST is.
 */
enum { CHUNK = 128 << 10, NEARLY = 8 << 20, POLL_NS = 50000000 };

int tar_sums_init(struct tar *a, struct err *err)
{
	a->sums.done = calloc(a->members.len, sizeof(*a->sums.done));
	sha256_init(&a->sums.ctx);
	return a->sums.done ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void tar_sums_fini(struct tar *a)
{
	free(a->sums.done);
	strbuf_fini(&a->sums.manifest);
}

static bool is_off(const atomic_bool *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

static bool is_summed(const struct member *m)
{
	return m->kind != MEMBER_DIR && m->kind != MEMBER_MANIFEST;
}

/* ---- the text */

static void make_manifest(const struct tar *a, struct strbuf *out)
{
	spec_manifest_begin(out);
	for (size_t i = 0; i < a->members.len; i++)
		if (is_summed(&a->members.data[i]))
			spec_manifest_line(out, a->sums.done[i],
					   a->members.data[i].name);
	spec_manifest_end(out);
}

uint64_t tar_sums_size(const struct tar *a)
{
	uint64_t size = spec_manifest_frame_len();

	vec_for(&a->members, m)
		if (is_summed(m))
			size += spec_manifest_line_len(m->name);
	return size;
}

/* ---- summing; the lock is held */

static const struct member *current(const struct tar *a)
{
	return &a->members.data[a->sums.member];
}

/* Ends members that have no more bytes before s->at. */
static void end_members(struct tar *a)
{
	struct sums *s = &a->sums;

	while (current(a)->kind != MEMBER_MANIFEST &&
	       tar_content(current(a)) + current(a)->size <= s->at) {
		sha256_digest(&s->ctx, SPEC_SUM_BYTES, s->done[s->member]);
		s->member++;
	}
}

/* Bytes at s->at. */
static void advance(struct tar *a, const char *buf, size_t len)
{
	struct sums *s = &a->sums;
	uint64_t end = s->at + len;

	while (s->at < end && current(a)->kind != MEMBER_MANIFEST) {
		const struct member *m = current(a);
		uint64_t first = tar_content(m), last = first + m->size;
		uint64_t to = last < end ? last : end;

		if (s->at < first) { /* headers, and what fills blocks up */
			to = first < end ? first : end;
		} else {
			sha256_update(&s->ctx, to - s->at, (const uint8_t *)buf);
		}
		buf += to - s->at;
		s->at = to;
		end_members(a);
	}
}

/* Reads and sums up as far as @end, and not the MANIFEST: that is read with this lock. */
static int catch_up(struct tar *a, uint64_t end, const atomic_bool *cancel)
{
	uint64_t manifest = a->members.data[a->members.len - 1].off;
	char *chunk = malloc(CHUNK);
	int rc = chunk ? 0 : -ENOMEM;

	end = end < manifest ? end : manifest;
	while (!rc && a->sums.at < end && current(a)->kind != MEMBER_MANIFEST) {
		uint64_t left = end - a->sums.at;
		size_t n = left < CHUNK ? (size_t)left : CHUNK;

		rc = is_off(cancel) ? -EINTR
				    : tar_read_raw(a, chunk, n, a->sums.at, cancel);
		if (!rc)
			advance(a, chunk, n);
	}
	free(chunk);
	return rc;
}

/* Who only passes by does not wait for somebody that sums up much. */
void tar_sums_feed(struct tar *a, const char *buf, size_t len, uint64_t off)
{
	struct sums *s = &a->sums;
	uint64_t end = off + len;

	if (pthread_mutex_trylock(&s->lock))
		return;
	if (off > s->at && off - s->at <= NEARLY)
		catch_up(a, off, NULL);
	if (off <= s->at && s->at < end)
		advance(a, buf + (s->at - off), end - s->at);
	pthread_mutex_unlock(&s->lock);
}

static int lock_until(pthread_mutex_t *lock, const atomic_bool *cancel)
{
	struct timespec until;

	do {
		if (is_off(cancel))
			return -EINTR;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_mutex_timedlock(lock, &until));
	return 0;
}

int tar_sums_read(struct tar *a, char *buf, size_t len, uint64_t off,
		  const atomic_bool *cancel)
{
	struct sums *s = &a->sums;
	int rc = lock_until(&s->lock, cancel);

	if (rc)
		return rc;
	end_members(a); /* empty ones at the very end */
	rc = catch_up(a, UINT64_MAX, cancel);
	if (!rc && !s->manifest.len)
		make_manifest(a, &s->manifest);
	rc = rc ? rc : strbuf_error(&s->manifest);
	if (!rc && off + len > s->manifest.len)
		rc = -EIO;
	if (!rc)
		memcpy(buf, s->manifest.data + off, len);
	pthread_mutex_unlock(&s->lock);
	return rc;
}
