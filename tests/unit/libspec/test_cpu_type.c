/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "libspec/sample/cpu_type.h"

Test(cpu_type, is_named_as_its_directory_of_events_and_as_in_reports)
{
	cr_expect_str_eq(spec_cpu_type(41), "i386/arch_perfmon");
	cr_expect_str_eq(spec_cpu_type(4), "timer");
	cr_expect_str_eq(spec_cpu_name(4), "CPU with timer interrupt");
	cr_expect_null(spec_cpu_type(9999));
	cr_expect_null(spec_cpu_name(9999));
}
