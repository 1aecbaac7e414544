/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_ANSWER_H
#define COLLECTOR_WHO_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "base/box/box.h"
#include "collector/who/answers.h"

/* What helper processes of the collector do: they answer questions, one by one. */
/* Bytes of a question, and of an answer. */
enum { COLL_QUESTION_MAX = 1 << 16, COLL_ANSWER_MAX = 32 << 20 };

/* Goes over the socket before each question, and each answer. */
struct coll_ask_frame {
	uint32_t kind; /* enum coll_question_kind; of an answer: COLL_ANSWER_... */
	uint32_t len;  /* bytes behind this */
};

enum {
	COLL_ANSWER_HELLO = 0x48656c6f, /* first of all: the helper's pid as uint32_t */
	COLL_ANSWER_IS = 0x416e7377,
	COLL_ANSWER_FILE, /* the same, and a descriptor goes with the frame */
};

/* Of all questions but those for tables, */
extern const struct box_kind coll_answer_box;
/* and of that one: a job answers one, and is over, as it has given up all rights. */
extern const struct box_kind coll_table_box;

#endif
