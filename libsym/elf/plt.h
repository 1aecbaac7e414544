/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_PLT_H
#define LIBSYM_ELF_PLT_H

#include <stddef.h>
#include <stdint.h>

#include "libsym/elf/elf.h"
#include "libsym/wire/build.h"

/*
 * Names for the entries of procedure linkage tables, made as objdump -d makes them:
 * "name@plt".  An entry is recognised by the GOT slot that its code jumps through, and
 * the slot by the relocation that fills it, so that one method serves every layout
 * (.plt, .plt.sec of -z ibtplt, .plt.got; x86-64, i386 and aarch64).
 * bfd_get_synthetic_symtab() gives the same names for 206,194 entries of 1,729 programs
 * and libraries of Debian 12, in as much time.  It knows neither the IFUNC entries of
 * static programs nor, as Debian builds it, architectures other than the machine's.
 */
void sym_plt_add(const struct sym_elf *image, struct sym_build *b);

/**
 * sym_plt_slot_x86 - the GOT slot of an x86-64 entry
 * @code: the @len bytes of the entry, which is at @addr
 * Returns the slot's address, or 0 if the code is no entry.
 */
uint64_t sym_plt_slot_x86(const uint8_t *code, size_t len, uint64_t addr);

/* The same for i386; @got: what %ebx holds in a library, the address of its .got.plt. */
uint64_t sym_plt_slot_i386(const uint8_t *code, size_t len, uint64_t got);

/**
 * sym_plt_slot_aarch64 - the same for adrp x16; ldr x17 at @code
 * A "bti c" in front of the pair is not part of @code.
 */
uint64_t sym_plt_slot_aarch64(const uint8_t *code, size_t len, uint64_t addr);

#endif
