/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nested_inlines.cc has from another file. */
#ifndef NESTED_INLINES_H
#define NESTED_INLINES_H

#define ALWAYS static inline __attribute__((always_inline))
#define MARK(number)                                                                     \
	__asm__ volatile("1: nop\n\t.pushsection marks,\"a\"\n\t.quad 1b, " #number      \
			 "\n\t.popsection" ::                                            \
				 : "memory")

ALWAYS unsigned from_header(volatile unsigned *p)
{
	unsigned v = *p;

	MARK(4);
	return v * 5;
}

#endif
