/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every test program of this folder is its own symbol helper, too. */
#include "tests/unit/libsym/helper_program.c"
