/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets every test program of this folder be its own symbol helper. */
#include <unistd.h>

#include "libsym/helper/helper.h"

__attribute__((constructor)) static void be_helper(int argc, char **argv)
{
	static const struct box_kind *const boxes[] = { &sym_helper_box };

	if (box_wanted(argc, argv))
		_exit(box_main(boxes, 1, argc, argv));
}
