/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "libspec/name/name.h"
#include "libspec/session/reserve.h"
#include "libspec/session/session.h"
#include "libspec/session/table.h"

enum { MAX_FIGURE = 64, MAX_LIVE = 128, MAX_NOTES = 16 * 1024 * 1024 };

static const char dir_name[] = "stats", live_path[] = "stats/live",
		  notes_path[] = "stats/notes", throttled_dir[] = "stats/throttled";

const struct spec_stat_info spec_stat_info[SPEC_NR_STATS] = {
#define STAT(id, file, what, text)                                                       \
	[SPEC_STAT_##id] = { .name = file, .doc = text, .kind = SPEC_STAT_KIND_##what },
#include "libspec/session/stat_list.h"
#undef STAT
};

static int make_dir(int session_fd, const char *path, struct err *err)
{
	if (mkdirat(session_fd, path, 0755) && errno != EEXIST)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

/* A small file without the blanks at its end.  -ENOENT if there is none. */
static int read_line(int session_fd, const char *path, size_t max, struct strbuf *out,
		     struct err *err)
{
	int rc = file_slurp(session_fd, path, max, out, err);
	size_t len = out->len;

	if (rc == -EFBIG)
		return err_set(err, -EBADMSG, "%s: not what it should hold: too long",
			       path);
	while (len && strchr(" \n", out->data[len - 1]))
		len--;
	strbuf_truncate(out, len);
	return rc;
}

/* One of the directory @dir. */
static int read_figure(int dir, const char *name, uint64_t *value, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct err why = { 0 };
	int rc = read_line(dir, name, MAX_FIGURE, &text, &why);

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(err, rc, "%s/%s", dir_name, why.msg);
	if (!text.len || strlen(text.data) != text.len ||
	    !spec_table_parse(text.data, UINT64_MAX, value))
		return err_set(err, -EBADMSG, "%s/%s: holds no number", dir_name, name);
	return 0;
}

/* Which figures there are.  Where a writer may replace one at this moment, a listing may
 * miss it: then each is to be tried. */
static int list_figures(int dir, bool settled, struct names *out)
{
	int rc = settled ? dirlist_read(dir, out) : 0;

	for (size_t i = 0; i < SPEC_NR_STATS && !settled && !rc; i++)
		rc = names_add(out, spec_stat_info[i].name);
	if (!settled)
		names_sort(out);
	return rc;
}

int spec_stats_read_settled(int session_fd, bool settled, struct spec_stats *out,
			    struct err *err)
{
	CLEANUP(names_fini) struct names there = { 0 };
	CLEANUP(close_fd)
	int dir = file_open_within(session_fd, dir_name, O_RDONLY | O_DIRECTORY);
	struct spec_stats s = { 0 };
	int rc = dir < 0 ? dir : list_figures(dir, settled, &there);

	if (rc && rc != -ENOENT)
		return err_errno(err, rc, "%s", dir_name);
	for (size_t i = 0; i < SPEC_NR_STATS; i++) {
		const char *name = spec_stat_info[i].name;

		rc = names_has(&there, name) ? read_figure(dir, name, &s.value[i], err)
					     : 0;
		if (rc)
			return rc;
	}
	*out = s;
	return 0;
}

int spec_stats_read(int session_fd, struct spec_stats *out, struct err *err)
{
	return spec_stats_read_settled(session_fd, false, out, err);
}

static int write_figure(int session_fd, enum spec_stat stat, uint64_t value,
			struct err *err)
{
	char path[64], text[24];
	int len = snprintf(text, sizeof(text), "%" PRIu64, value);

	snprintf(path, sizeof(path), "%s/%s", dir_name, spec_stat_info[stat].name);
	if (value)
		return spec_room_replace(session_fd, path, text, (size_t)len, err);
	if (unlinkat(session_fd, path, 0) && errno != ENOENT)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

/*
 * What is stored comes last: figures of which a kill left some old, and some new, then
 * never say that more was stored than others know of.
 */
int spec_stats_write(int session_fd, const struct spec_stats *s,
		     const struct spec_stats *told, struct err *err)
{
	const enum spec_stat last = SPEC_STAT_STORED;
	int rc = make_dir(session_fd, dir_name, err);

	for (enum spec_stat i = 0; i <= SPEC_NR_STATS && !rc; i++) {
		enum spec_stat stat = i < SPEC_NR_STATS ? i : last;

		if ((stat != last || i == SPEC_NR_STATS) &&
		    (!told || told->value[stat] != s->value[stat]))
			rc = write_figure(session_fd, stat, s->value[stat], err);
	}
	return rc;
}

int spec_stats_sync(int session_fd, struct err *err)
{
	CLEANUP(names_fini) struct names files = { 0 };
	CLEANUP(close_fd)
	int dir = file_open_within(session_fd, dir_name, O_RDONLY | O_DIRECTORY);
	int rc = dir < 0 ? dir : dirlist_read(dir, &files);

	for (size_t i = 0; i < files.len && !rc; i++) {
		CLEANUP(close_fd)
		int fd = file_open_within(dir, files.data[i], O_RDONLY | O_NONBLOCK);

		rc = fd >= 0 && fsync(fd) ? -errno : 0;
	}
	if (!rc && fsync(dir))
		rc = -errno;
	return rc ? err_errno(err, rc, "%s: writing back", dir_name) : 0;
}

static uint64_t sum_of(const struct spec_stats *s, enum spec_stat_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SPEC_NR_STATS; i++) {
		if (spec_stat_info[i].kind == kind &&
		    __builtin_add_overflow(sum, s->value[i], &sum))
			return UINT64_MAX;
	}
	return sum;
}

uint64_t spec_stats_lost(const struct spec_stats *s)
{
	return sum_of(s, SPEC_STAT_KIND_LOSS);
}

uint64_t spec_stats_ignored(const struct spec_stats *s)
{
	return sum_of(s, SPEC_STAT_KIND_IGNORED);
}

int spec_stats_throttled(int session_fd, const char *event, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int rc = make_dir(session_fd, dir_name, err);
	int fd;

	if (!rc)
		rc = make_dir(session_fd, throttled_dir, err);
	if (rc)
		return rc;
	strbuf_printf(&path, "%s/", throttled_dir);
	spec_event_escape(event, &path);
	if (strbuf_error(&path))
		return err_errno(err, -ENOMEM, "%s", event);
	fd = openat(session_fd, path.data, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path.data);
	close(fd);
	return 0;
}

static int read_throttled(int session_fd, struct names *files)
{
	CLEANUP(close_fd)
	int fd = file_open_within(session_fd, throttled_dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return dirlist_read(fd, files);
}

int spec_stats_each_throttled(int session_fd, int (*visit)(void *ctx, const char *event),
			      void *ctx, struct err *err)
{
	CLEANUP(names_fini) struct names files = { 0 };
	CLEANUP(strbuf_fini) struct strbuf event = { 0 };
	bool escaped = spec_session_escaped(session_fd);
	int rc = read_throttled(session_fd, &files);

	if (rc)
		return err_errno(err, rc, "%s", throttled_dir);
	for (size_t i = 0; i < files.len && !rc; i++) {
		strbuf_reset(&event);
		if (escaped)
			spec_event_unescape(files.data[i], strlen(files.data[i]), &event);
		else
			strbuf_puts(&event, files.data[i]);
		if (strbuf_error(&event))
			return err_errno(err, -ENOMEM, "%s", throttled_dir);
		rc = visit(ctx, strbuf_str(&event));
	}
	return rc;
}

int spec_live_read(int session_fd, struct spec_live *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct spec_live live = { 0 };
	char *word[4], *save = NULL, *at;
	size_t nr = 0;
	int rc = read_line(session_fd, live_path, MAX_LIVE, &text, err);

	if (rc)
		return rc;
	at = text.data ? text.data : (char[]){ "" };
	while (nr < 4 && (word[nr] = strtok_r(nr ? NULL : at, " ", &save)))
		nr++;
	if (nr == 3)
		live.closed = !strcmp(word[2], "closed");
	if (nr != 3 || !spec_table_parse(word[0], UINT64_MAX, &live.generation) ||
	    !spec_table_parse(word[1], UINT64_MAX, &live.drained_ns) ||
	    (!live.closed && strcmp(word[2], "live") != 0))
		return err_set(err, -EBADMSG,
			       "%s: not GENERATION NANOSECONDS live|closed", live_path);
	*out = live;
	return 0;
}

int spec_live_write(int session_fd, const struct spec_live *live, struct err *err)
{
	char text[MAX_LIVE];
	int len = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %s\n",
			   live->generation, live->drained_ns,
			   live->closed ? "closed" : "live");
	int rc = make_dir(session_fd, dir_name, err);

	return rc ? rc : spec_room_replace(session_fd, live_path, text, (size_t)len, err);
}

static bool note_plain(unsigned char c)
{
	return c >= ' ' && c != 0x7f;
}

int spec_stats_note(int session_fd, const char *line, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(close_fd) int fd = -1;
	int rc = make_dir(session_fd, dir_name, err);

	if (rc)
		return rc;
	escape_add(&text, line, strlen(line), note_plain);
	strbuf_putc(&text, '\n');
	fd = openat(session_fd, notes_path,
		    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(err, -errno, "%s", notes_path);
	rc = strbuf_error(&text);
	if (!rc)
		rc = file_write_all(fd, text.data, text.len);
	return rc ? err_errno(err, rc, "%s", notes_path) : 0;
}

static int each_line(char *at, int (*visit)(void *ctx, const char *line), void *ctx,
		     struct err *err)
{
	CLEANUP(map_fini) struct map seen = { 0 };

	for (char *end; (end = strchr(at, '\n')); at = end + 1) {
		size_t len = (size_t)(end - at);
		int rc;

		*end = '\0';
		if (!len || map_get(&seen, at, len, NULL))
			continue;
		rc = map_set(&seen, at, len, 0);
		if (rc)
			return err_errno(err, rc, "%s", notes_path);
		rc = visit(ctx, at);
		if (rc)
			return rc;
	}
	return 0;
}

int spec_stats_each_note(int session_fd, int (*visit)(void *ctx, const char *line),
			 void *ctx, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct err why = { 0 };
	int rc = file_slurp(session_fd, notes_path, MAX_NOTES, &text, &why);

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(err, rc, "%s", why.msg);
	return text.data ? each_line(text.data, visit, ctx, err) : 0;
}
