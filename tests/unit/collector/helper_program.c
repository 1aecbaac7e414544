/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets every test program of this folder be its own helper. */
#include <unistd.h>

#include "collector/who/answer.h"

static const struct box_kind *const kinds[] = { &coll_answer_box, &coll_table_box };

__attribute__((constructor)) static void be_helper(int argc, char **argv)
{
	if (box_wanted(argc, argv))
		_exit(box_main(kinds, 2, argc, argv));
}
