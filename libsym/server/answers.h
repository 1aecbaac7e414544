/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_ANSWERS_H
#define LIBSYM_SERVER_ANSWERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Answers of helpers that outlive the process: a file for each request in a directory of
 * the user, sym_caches_own()/answers, which nobody else may look into.  An answer is used
 * again while all files are as they were that the helper read, or looked for and did not
 * find (libsym/file/seen.h), and by the same program: a helper would say the same.
 * A file is called by a hash of the request and holds, each padded to 8 bytes:
 *
 *	struct sym_answer_header
 *	the answer, the request, the list
 *
 * What cannot be read or stored is as if it had never been there.  Files come and go
 * whole, and none is written to, so they are mapped.  Any number of threads and processes
 * may use a directory.
 */
#define SYM_ANSWER_FILE_MAGIC "opfs ans"
#define SYM_ANSWER_FILE_VERSION 1u

struct sym_answer_header {
	char magic[8];
	uint32_t version, zero;
	uint64_t sum;     /* of all behind this */
	uint64_t program; /* hash of what stat(2) shows of the program that wrote it */
	uint64_t answer_len, request_len, seen_len; /* unpadded */
};
_Static_assert(sizeof(struct sym_answer_header) == 56, "header of an answer");

struct sym_answers {
	pthread_mutex_t lock; /* over all below */
	bool tried;
	int fd;           /* the directory; -1: none */
	uint64_t program; /* constant, once @fd is there */
	uint64_t bytes;   /* of its files, as far as known */
	bool counted;
};

void sym_answers_init(struct sym_answers *a);
void sym_answers_fini(struct sym_answers *a);

/* A file that was read. */
struct sym_kept_answer {
	void *answer; /* aligned to 8 bytes; must not be written to */
	size_t len;
};
/* Also of a zeroed one, or one whose @answer somebody took over, and set to NULL. */
void sym_kept_answer_fini(struct sym_kept_answer *k);

/* True if there is an answer to the request that holds. */
bool sym_answers_get(struct sym_answers *a, const struct strbuf *request,
		     struct sym_kept_answer *out);
/* The answer was taken over: this gives it back, at any time. */
void sym_answers_unmap(void *answer, size_t len);
/* Stores one. */
void sym_answers_put(struct sym_answers *a, const struct strbuf *request,
		     const void *seen, size_t seen_len, const void *answer, size_t len);

#endif
