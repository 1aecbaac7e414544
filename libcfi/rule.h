/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_RULE_H
#define LIBCFI_RULE_H

#include <stdint.h>

#include "libcfi/compile.h"

/*
 * What a table is made of: a header, keys in ascending order, for each the number of the
 * rule that holds from there to the next key, and the rules.  Little endian.
 *
 *	header
 *	uint32_t keys[nr_keys]
 *	uint32_t index[nr_pages + 1], if there are keys: how many are below each page
 *	uint16_t numbers[nr_keys], and zeros up to a multiple of 4 bytes
 *	struct cfi_rule rules[nr_rules]; rule 0 is that of code of which nothing is known
 */
#define CFI_MAGIC "OPFSCFI1"

enum { CFI_MAX_KEYS = 4 << 20, CFI_MAX_RULES = UINT16_MAX };

struct cfi_header {
	char magic[8];
	uint32_t machine;
	uint32_t nr_keys, nr_rules;
	uint32_t shift; /* keys of a page are equal but for this many bits */
};

enum { CFI_MAX_SHIFT = 31 };

/* The number of a key's page; that of the first key is 0. */
static inline uint32_t cfi_page(uint32_t key, uint32_t first, uint32_t shift)
{
	return (key >> shift) - (first >> shift);
}

enum cfi_kind {
	CFI_NONE,    /* there is no information */
	CFI_DAMAGED, /* there is, and it makes no sense, or is beyond us */
	CFI_OUTER,   /* the outermost function: it has no caller */
	CFI_PLAIN,   /* CFA = base + off */
	CFI_DEREF,   /* CFA = *(base + off) + add */
	CFI_PLT,     /* CFA = base + off, 8 more if (ip & 15) >= add */
	CFI_NR_KINDS
};

/* What addresses are based on. */
enum cfi_base {
	CFI_BY_SP,
	CFI_BY_FP,
	CFI_BY_BX,
	CFI_BY_CFA, /* of saved registers only */
	CFI_NR_BASES
};

/* Registers that are followed.  CFI_BX is rbx, or, on arm64 below signals, x30. */
enum cfi_reg { CFI_FP, CFI_RA, CFI_BX, CFI_NR_REGS };

enum cfi_how {
	CFI_SAME,  /* it is what it was; RA: in the link register */
	CFI_SAVED, /* at base + off */
	CFI_LOST,  /* nobody knows */
	CFI_NR_HOW
};

struct cfi_saved {
	uint8_t how, base;
	int16_t off;
};

struct cfi_rule {
	uint8_t kind, base;
	uint8_t signal; /* the return address is one that was about to be executed */
	uint8_t zero;
	int32_t off, add;
	struct cfi_saved saved[CFI_NR_REGS];
};

/*
 * For each machine the rule of code that signal handlers return to: the kernel has left
 * all registers on the stack.
 */
extern const struct cfi_rule cfi_signal_rules[];

_Static_assert(sizeof(struct cfi_header) == 24, "header is 24 bytes");
_Static_assert(sizeof(struct cfi_rule) == 24, "a rule is 24 bytes");

#endif
