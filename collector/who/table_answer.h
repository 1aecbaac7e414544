/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_TABLE_ANSWER_H
#define COLLECTOR_WHO_TABLE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* In a helper that has opened what a table is made of: limits what it may take, and gives
 * up all rights.  False: that failed. */
bool coll_table_confine(void);

/**
 * coll_table_answer - answers COLL_ASK_TABLE, in a helper that answers nothing else after
 * @question: of coll_identify_question(); empty: the vdso
 * The file is opened, if it is certain to be the one that was mapped; then the process
 * enters a sandbox, and makes its table.  The answer is the table, or nothing.
 */
void coll_table_answer(char *question, size_t len, struct strbuf *out, int *file);

#endif
