/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/meminfo.h"

#include <criterion/criterion.h>
#include <unistd.h>

Test(meminfo, is_some_of_what_the_machine_has)
{
	uint64_t all =
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	cr_expect(meminfo_available() > 1 << 20);
	cr_expect(meminfo_available() <= all);
}
