/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * One failure: a code and a message that travel together.  Every function that can
 * fail returns 0 or the negative errno and, where its caller passed a struct err, says
 * in it what failed, why, and what to do.  The finder says what; callers add in front
 * only what they alone know.  Nothing here allocates or prints.
 */
struct err {
	int code;      /* 0, or a negative errno */
	char msg[512]; /* one line, no newline at its end; cut short with "..." */
};

/**
 * err_set - records a failure
 * @e: where to; may be NULL
 * @code: negative errno; -EBADMSG is a corrupt file, -ENODATA no samples
 * Returns @code, so that "return err_set(...)" reads as one step.
 */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * err_add - puts context in front of a message that is already there
 * The result reads "CONTEXT: OLD MESSAGE".  Returns @code.
 */
int err_add(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * err_errno - records a failed system call: "WHAT: strerror(-code)"
 * Returns @code.
 */
int err_errno(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What is returned is the code given: analyzers see it at the call. */
#define ERR_CODE_(function, e, code, ...)                                                \
	({                                                                               \
		int err_code_ = (code);                                                  \
		(void)(function)((e), err_code_, __VA_ARGS__);                           \
		err_code_;                                                               \
	})
#define err_set(e, code, ...) ERR_CODE_(err_set, e, code, __VA_ARGS__)
#define err_add(e, code, ...) ERR_CODE_(err_add, e, code, __VA_ARGS__)
#define err_errno(e, code, ...) ERR_CODE_(err_errno, e, code, __VA_ARGS__)

#endif
