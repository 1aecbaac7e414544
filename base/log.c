/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

enum { MAX_PLACES = 64, MAX_PER_SECOND = 10 };

/* One call of log_at(); a place that finds the table full is not limited. */
struct place {
	const char *file;
	int line;
	time_t second;
	unsigned said, dropped; /* within @second */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[MAX_PLACES];
static const char *name = "opfs";
static enum log_level max_level = LOG_NOTE;
static unsigned wanted; /* bits of topics; 0: all */
static int out_fd = 2;
static void (*out_sink)(enum log_level level, const char *text);

void log_init(const char *program)
{
	name = program;
}

void log_set_level(enum log_level level)
{
	max_level = level;
}

static const char *const words[] = {
#define TOPIC(name, word) [LOG_##name] = word,
#include "base/log_topic_list.h"
#undef TOPIC
};

/* The bits of a word of @len bytes; 0: there is none of the kind. */
static unsigned topics_of(const char *word, size_t len)
{
	static const char *const all[] = { "all", "debug" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strlen(all[i]) == len && !memcmp(all[i], word, len))
			return (1u << LOG_NR_TOPICS) - 1;
	for (unsigned i = 0; i < LOG_NR_TOPICS; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return 1u << i;
	return 0;
}

int log_want(const char *list, struct err *err)
{
	unsigned sum = 0;

	for (;;) {
		size_t len = strcspn(list, ",");
		unsigned found = topics_of(list, len);
		char known[128] = "";

		sum |= found;
		if (found && !list[len])
			break;
		for (unsigned i = 0; !found && i < LOG_NR_TOPICS; i++) {
			strcat(known, ", ");
			strcat(known, words[i]);
		}
		if (!found)
			return err_set(err, -EINVAL,
				       "there are no messages about \"%.*s\", but: all, "
				       "debug%s",
				       (int)len, list, known);
		list += len + 1;
	}
	wanted |= sum;
	return 0;
}

void log_set_fd(int fd)
{
	out_fd = fd;
}

void log_set_sink(void (*sink)(enum log_level level, const char *text))
{
	out_sink = sink;
}

/* One write a line, so that lines of several processes do not mix. */
static void say(enum log_level level, const char *msg)
{
	char text[1024];
	int len = snprintf(text, sizeof(text), "%s: %s\n", name, msg);

	if (len < 0)
		return;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	utf8_no_controls(text);
	if (out_sink) {
		text[len - 1] = '\0';
		out_sink(level, text + strlen(name) + 2);
		return;
	}
	text[len - 1] = '\n';
	while (write(out_fd, text, (size_t)len) < 0 && errno == EINTR)
		;
}

static void tell_dropped(struct place *p)
{
	char msg[128];

	if (!p->dropped)
		return;
	snprintf(msg, sizeof(msg), "%u more messages like those were left out (%s:%d)",
		 p->dropped, p->file, p->line);
	p->dropped = 0;
	say(LOG_NOTE, msg);
}

static time_t now_second(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

static struct place *place_find(const char *file, int line)
{
	for (struct place *p = places; p < places + MAX_PLACES; p++) {
		if (!p->file)
			*p = (struct place){ .file = file, .line = line };
		if (p->line == line && !strcmp(p->file, file))
			return p;
	}
	return NULL;
}

/* Whether a message from here may be shown now; counts it. */
static bool admit(const char *file, int line)
{
	time_t now = now_second();
	struct place *p;

	for (p = places; p < places + MAX_PLACES && p->file; p++) {
		if (p->second == now)
			continue;
		tell_dropped(p);
		p->second = now;
		p->said = 0;
	}
	p = place_find(file, line);
	if (!p)
		return true;
	p->second = now;
	if (p->said >= MAX_PER_SECOND) {
		p->dropped++;
		return false;
	}
	p->said++;
	return true;
}

static void tell(enum log_level level, const char *file, int line, const char *fmt,
		 va_list ap)
{
	char msg[960];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	pthread_mutex_lock(&lock);
	if (level == LOG_DEBUG || admit(file, line))
		say(level, msg);
	pthread_mutex_unlock(&lock);
}

void log_at(enum log_level level, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (level > max_level)
		return;
	va_start(ap, fmt);
	tell(level, file, line, fmt, ap);
	va_end(ap);
}

void log_debug_at(enum log_topic topic, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (max_level < LOG_DEBUG || (wanted && !(wanted & 1u << topic)))
		return;
	va_start(ap, fmt);
	tell(LOG_DEBUG, file, line, fmt, ap);
	va_end(ap);
}
