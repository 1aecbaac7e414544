/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/answers.h"

#include "collector/who/identify.h"
#include "collector/who/jit_ask.h"
#include "collector/who/jit_table.h"
#include "collector/who/procfs.h"
#include "collector/who/table_answer.h"

void coll_answer(enum coll_question_kind kind, char *question, size_t len,
		 struct strbuf *out, int *file)
{
	static void (*const answers[COLL_NR_QUESTIONS])(char *question, size_t len,
							struct strbuf *out, int *file) = {
		[COLL_ASK_FILE] = coll_identify_answer,
		[COLL_ASK_PROCESS] = coll_proc_answer,
		[COLL_ASK_THREADS] = coll_proc_answer_threads,
		[COLL_ASK_WORDS] = coll_proc_answer_words,
		[COLL_ASK_TABLE] = coll_table_answer,
		[COLL_ASK_JIT_TABLE] = coll_jit_answer_table,
		[COLL_ASK_JIT_HOLD] = coll_jit_answer_hold,
		[COLL_ASK_JIT_FETCH] = coll_jit_answer_fetch,
	};

	*file = -1;
	answers[kind](question, len, out, file);
}
