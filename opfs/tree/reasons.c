/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/reasons.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/escape.h"

enum { PER_USER = 32, MAX_USERS = 64, MAX_TEXT = 600 };

struct reason {
	char *text;
	time_t at;
	unsigned times;
};

struct user {
	uid_t uid;
	unsigned next; /* slot that the next reason takes */
	unsigned nr;
	unsigned long heard; /* of all reasons, when the last one came */
	struct reason ring[PER_USER];
};

struct reasons {
	pthread_mutex_t lock;
	unsigned long count;
	unsigned nr_users;
	struct user users[MAX_USERS];
};

struct reasons *reasons_new(void)
{
	struct reasons *r = calloc(1, sizeof(*r));

	if (r)
		pthread_mutex_init(&r->lock, NULL);
	return r;
}

static void user_fini(struct user *u)
{
	for (unsigned i = 0; i < PER_USER; i++)
		free(u->ring[i].text);
	*u = (struct user){ 0 };
}

void reasons_free(struct reasons *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->nr_users; i++)
		user_fini(&r->users[i]);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static struct user *find_user(struct reasons *r, uid_t uid)
{
	for (unsigned i = 0; i < r->nr_users; i++)
		if (r->users[i].uid == uid)
			return &r->users[i];
	return NULL;
}

static struct user *make_user(struct reasons *r, uid_t uid)
{
	struct user *u = &r->users[0];

	if (r->nr_users < MAX_USERS) {
		u = &r->users[r->nr_users++];
	} else {
		for (unsigned i = 1; i < MAX_USERS; i++)
			if (r->users[i].heard < u->heard)
				u = &r->users[i];
		user_fini(u);
	}
	u->uid = uid;
	return u;
}

void reasons_add(struct reasons *r, uid_t uid, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	CLEANUP(free_ptr) char *copy = NULL;
	struct reason *last, *slot;
	struct user *u;

	escape_text(&line, text);
	if (line.len > MAX_TEXT)
		strbuf_truncate(&line, MAX_TEXT);
	copy = strbuf_take(&line);
	if (!copy)
		return;
	pthread_mutex_lock(&r->lock);
	u = find_user(r, uid);
	u = u ? u : make_user(r, uid);
	u->heard = ++r->count;
	last = &u->ring[(u->next + PER_USER - 1) % PER_USER];
	slot = u->nr && !strcmp(last->text, copy) ? last : &u->ring[u->next];
	if (slot == last) {
		slot->times++;
	} else {
		free(slot->text);
		*slot = (struct reason){ .text = TAKE(copy), .times = 1 };
		u->next = (u->next + 1) % PER_USER;
		u->nr += u->nr < PER_USER;
	}
	slot->at = time(NULL);
	pthread_mutex_unlock(&r->lock);
}

void reasons_show(struct reasons *r, uid_t uid, struct strbuf *out)
{
	struct user *u;

	pthread_mutex_lock(&r->lock);
	u = find_user(r, uid);
	for (unsigned i = 0; u && i < u->nr; i++) {
		const struct reason *reason =
			&u->ring[(u->next + PER_USER - 1 - i) % PER_USER];
		char when[32] = "";
		struct tm tm;

		if (localtime_r(&reason->at, &tm))
			strftime(when, sizeof(when), "%H:%M:%S", &tm);
		strbuf_printf(out, "  %s  %s", when, reason->text);
		if (reason->times > 1)
			strbuf_printf(out, " (%u times)", reason->times);
		strbuf_putc(out, '\n');
	}
	pthread_mutex_unlock(&r->lock);
}

bool reasons_is_probe(const char *name, size_t len)
{
	static const char *const names[] = {
		"autorun.inf", "desktop.ini", "lost+found", "AACS",      "BDMV",
		"CVS",         "RCS",         "SCCS",       "BDAV",      "VIDEO_TS",
		"DCIM",        "HEAD",        "_darcs",     "Thumbs.db", "mimetypes",
	};
	static const char desktop[] = ".desktop";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !strncasecmp(names[i], name, len))
			return true;
	return (len && name[0] == '.') ||
	       (len >= sizeof(desktop) - 1 && !memcmp(name + len - (sizeof(desktop) - 1),
						      desktop, sizeof(desktop) - 1));
}
