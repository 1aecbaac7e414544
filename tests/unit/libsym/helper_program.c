/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets every test program of this folder be its own symbol helper. */
#include <unistd.h>

#include "libsym/server.h"

__attribute__((constructor)) static void be_helper(int argc, char **argv)
{
	if (sym_helper_wanted(argc, argv))
		_exit(sym_helper_main(argc, argv));
}
