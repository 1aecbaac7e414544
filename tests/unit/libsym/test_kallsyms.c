/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <string.h>

#include "libsym/kallsyms.h"

Test(kallsyms, module_names_are_equal_with_either_dash)
{
	cr_expect(sym_module_name_equal("snd-hda_intel", 13, "snd_hda-intel"));
	cr_expect(!sym_module_name_equal("snd", 3, "snd_hda"));
	cr_expect(!sym_module_name_equal("snd_hda", 7, "snd"));
	cr_expect(!sym_module_name_equal("snd.hda", 7, "snd_hda"));
}

Test(kallsyms, the_build_id_is_found_among_other_notes)
{
	static const char notes[] = "\4\0\0\0\3\0\0\0\1\0\0\0GNU\0abc\0" /* padded */
				    "\6\0\0\0\4\0\0\0\3\0\0\0Linux\0\0\0\1\2\3\4"
				    "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xbe\xef\0\0";
	struct sym_id id = { 0 };

	sym_notes_build_id(notes, sizeof(notes) - 1, &id);
	cr_assert_eq(id.len, 2);
	cr_expect_eq(memcmp(id.bytes, "\xbe\xef", 2), 0);
	for (size_t len = 0; len < sizeof(notes) - 4; len++) {
		sym_notes_build_id(notes, len, &id);
		cr_expect(id.len == 0, "cut at %zu", len);
	}
}
