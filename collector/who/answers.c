/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/answers.h"

#include "collector/who/identify.h"
#include "collector/who/procfs.h"

void coll_answer(enum coll_question_kind kind, char *question, size_t len,
		 struct strbuf *out, int *file)
{
	static void (*const answers[COLL_NR_QUESTIONS])(char *question, size_t len,
							struct strbuf *out, int *file) = {
		[COLL_ASK_FILE] = coll_identify_answer,
		[COLL_ASK_PROCESS] = coll_proc_answer,
		[COLL_ASK_THREADS] = coll_proc_answer_threads,
		[COLL_ASK_WORDS] = coll_proc_answer_words,
	};

	*file = -1;
	answers[kind](question, len, out, file);
}
