/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that is copied into files, at VISIT_OFF, and executed there: the section
 * "visit_code", which begins with visit_spin().
 */
#include <stddef.h>

enum { VISIT_PAGE = 4096, VISIT_OFF = 0xf00 };

extern const char __start_visit_code[], __stop_visit_code[];

__attribute__((section("visit_code"), noinline, noclone)) void
visit_spin(unsigned long rounds);
void visit_spin(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

static inline size_t visit_size(void)
{
	return (size_t)(__stop_visit_code - __start_visit_code);
}
