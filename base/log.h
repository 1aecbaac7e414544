/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

/*
 * Messages of a running program, one line each: "PROGRAM: what: why" on stderr (or a
 * log descriptor).  Rate-limited: after 10 messages from one place in a second the rest
 * of that second is counted and told in one line; LOG_DEBUG is not limited.  Only
 * collector/ and opfs/ call these.
 */
enum log_level { LOG_ERROR, LOG_WARN, LOG_NOTE, LOG_DEBUG };

/* What a message of LOG_DEBUG is about. */
enum log_topic {
#define TOPIC(name, word) LOG_##name,
#include "base/log_topic_list.h"
#undef TOPIC
	LOG_NR_TOPICS
};

/* @program is borrowed for ever.  Default level LOG_NOTE, default descriptor 2. */
void log_init(const char *program);
void log_set_level(enum log_level level);
void log_set_fd(int fd);
/* Takes lines instead of the descriptor, without program and newline; NULL: nothing does.
 * Called with a lock held: it must not log. */
void log_set_sink(void (*sink)(enum log_level level, const char *text));
void log_at(enum log_level level, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * log_want - shows messages of LOG_DEBUG about some topics, and no others
 * @list: their words, separated by commas; "all" and "debug" are all.  Lists add up.
 * Before the first call all are shown, if LOG_DEBUG is.  Returns 0, or -EINVAL with the
 * words that there are.
 */
int log_want(const char *list, struct err *err);
void log_debug_at(enum log_topic topic, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define log_err(...) log_at(LOG_ERROR, __FILE__, __LINE__, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __FILE__, __LINE__, __VA_ARGS__)
#define log_note(...) log_at(LOG_NOTE, __FILE__, __LINE__, __VA_ARGS__)
#define log_debug(topic, ...) log_debug_at(topic, __FILE__, __LINE__, __VA_ARGS__)

#endif
