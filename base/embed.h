/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/*
 * EMBED(symbol, "file"): the bytes of a file, from symbol[] to symbol_end[], where a NUL
 * is.  The path starts at the root; a module.mk names the file, to build the object anew.
 */
#define EMBED(symbol, file)                                                              \
	extern const char symbol[], symbol##_end[];                                      \
	__asm__(".pushsection .rodata\n"                                                 \
		".hidden " #symbol "\n.hidden " #symbol "_end\n"                         \
		".global " #symbol "\n.global " #symbol "_end\n" #symbol                 \
		": .incbin \"" file "\"\n" #symbol "_end: .byte 0\n"                     \
		".popsection\n")

#endif
