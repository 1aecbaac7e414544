/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_ANSWERS_H
#define COLLECTOR_WHO_ANSWERS_H

#include <stddef.h>

#include "base/strbuf.h"

/* What can be asked. */
enum coll_question_kind {
	COLL_ASK_FILE,    /* which file a mapping is of: collector/who/identify.h */
	COLL_ASK_PROCESS, /* everything that /proc tells of one: collector/who/procfs.h */
	COLL_ASK_THREADS, /* that, and its threads */
	COLL_ASK_WORDS,   /* the same without mappings and threads */
	COLL_ASK_TABLE,   /* the unwind table of a file: collector/who/table_answer.h */
	COLL_ASK_JIT_TABLE, /* that of code made at run time: collector/who/jit_table.h */
	COLL_ASK_JIT_HOLD,  /* where it names its code: collector/who/jit_ask.h */
	COLL_ASK_JIT_FETCH, /* these names */
	COLL_NR_QUESTIONS
};

/* Appends the answer; the file that goes with it is in @file, -1: none.  The question may
 * be changed. */
void coll_answer(enum coll_question_kind kind, char *question, size_t len,
		 struct strbuf *out, int *file);

#endif
