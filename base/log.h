/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * Messages of a running program, one line each: "PROGRAM: what: why" on stderr (or a
 * log descriptor).  Rate-limited: after 10 messages from one place in a second the rest
 * of that second is counted and told in one line.  Only collector/ and opfs/ call these.
 */
enum log_level { LOG_ERROR, LOG_WARN, LOG_NOTE, LOG_DEBUG };

/* @program is borrowed for ever.  Default level LOG_NOTE, default descriptor 2. */
void log_init(const char *program);
void log_set_level(enum log_level level);
void log_set_fd(int fd);
/* Takes lines instead of the descriptor, without program and newline; NULL: nothing does.
 * Called with a lock held: it must not log. */
void log_set_sink(void (*sink)(enum log_level level, const char *text));
void log_at(enum log_level level, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define log_err(...) log_at(LOG_ERROR, __FILE__, __LINE__, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __FILE__, __LINE__, __VA_ARGS__)
#define log_note(...) log_at(LOG_NOTE, __FILE__, __LINE__, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __FILE__, __LINE__, __VA_ARGS__)

#endif
