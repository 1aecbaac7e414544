/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/builtin.h"

/* TABLE(number, file): events/module.mk names the same files, to build this anew. */
#define TABLES(TABLE)                                                                    \
	TABLE(0, "arm/armv8-pmuv3/events")                                               \
	TABLE(1, "arm/armv8-pmuv3/unit_masks")                                           \
	TABLE(2, "i386/arch_perfmon/events")                                             \
	TABLE(3, "i386/arch_perfmon/unit_masks")                                         \
	TABLE(4, "perf/generic/events")                                                  \
	TABLE(5, "perf/software/events")                                                 \
	TABLE(6, "timer/events")                                                         \
	TABLE(7, "x86-64/family17h/events")                                              \
	TABLE(8, "x86-64/family17h/unit_masks")                                          \
	TABLE(9, "x86-64/family19h/events")                                              \
	TABLE(10, "x86-64/family19h/unit_masks")

#define TEXT(n, file)                                                                    \
	extern const char ev_text_##n[], ev_text_end_##n[];                              \
	__asm__(".pushsection .rodata\n"                                                 \
		".hidden ev_text_" #n "\n.hidden ev_text_end_" #n "\n"                   \
		".global ev_text_" #n "\n.global ev_text_end_" #n "\n"                   \
		"ev_text_" #n ": .incbin \"events/tables/" file "\"\n"                   \
		"ev_text_end_" #n ": .byte 0\n"                                          \
		".popsection\n");
TABLES(TEXT)

#define ROW(n, file) { file, ev_text_##n, ev_text_end_##n },
const struct ev_builtin ev_builtins[] = { TABLES(ROW) };
const size_t ev_nr_builtins = sizeof(ev_builtins) / sizeof(ev_builtins[0]);
