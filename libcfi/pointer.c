/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/pointer.h"

enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SIGNED = 0x08,
	PE_SLEB128 = 0x09,
	PE_PCREL = 0x10,
};

bool cfi_pointer(struct cfi_reader *r, uint8_t how, const struct cfi_section *in,
		 uint64_t *out)
{
	const uint8_t *at = r->at;

	switch (how & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_UDATA8 | PE_SIGNED:
		*out = cfi_fixed(r, 8);
		break;
	case PE_UDATA2:
		*out = cfi_fixed(r, 2);
		break;
	case PE_UDATA2 | PE_SIGNED:
		*out = (uint64_t)(int64_t)(int16_t)cfi_fixed(r, 2);
		break;
	case PE_UDATA4:
		*out = cfi_fixed(r, 4);
		break;
	case PE_UDATA4 | PE_SIGNED:
		*out = (uint64_t)(int64_t)(int32_t)cfi_fixed(r, 4);
		break;
	case PE_ULEB128:
		*out = cfi_uleb(r);
		break;
	case PE_SLEB128:
		*out = (uint64_t)cfi_sleb(r);
		break;
	default:
		return false;
	}
	switch (how & ~0x0f) {
	case PE_PCREL:
		if (!in)
			return false;
		*out += in->vma + (uint64_t)(at - (const uint8_t *)in->bytes);
		return !r->bad;
	case 0:
		return !r->bad;
	default:
		return false;
	}
}
