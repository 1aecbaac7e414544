/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <string.h>

#include "libsym/elf/kallsyms.h"

Test(kallsyms, module_names_are_equal_with_either_dash)
{
	cr_expect(sym_module_name_equal("snd-hda_intel", 13, "snd_hda-intel"));
	cr_expect(!sym_module_name_equal("snd", 3, "snd_hda"));
	cr_expect(!sym_module_name_equal("snd_hda", 7, "snd"));
	cr_expect(!sym_module_name_equal("snd.hda", 7, "snd_hda"));
}
