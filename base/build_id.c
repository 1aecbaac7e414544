/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hex.h"

void build_id_format(const struct build_id *id, char out[BUILD_ID_TEXT])
{
	*out = '\0';
	for (size_t i = 0; i < id->len && i < BUILD_ID_MAX; i++)
		sprintf(out + 2 * i, "%02x", id->bytes[i]);
}

int build_id_parse(const char *hex, struct build_id *out)
{
	struct build_id id = { 0 };
	size_t len = strlen(hex);

	if (len % 2 || len / 2 > BUILD_ID_MAX)
		return -EINVAL;
	for (size_t i = 0; i < len; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		id.bytes[id.len++] = (uint8_t)(high << 4 | low);
	}
	*out = id;
	return 0;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

bool build_id_of_notes(const void *notes, size_t len, struct build_id *out)
{
	struct cursor c = cursor_init(notes, len);

	while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) { /* the same in 32 bits */
		uint32_t name_len = cursor_u32(&c), desc_len = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const char *name = cursor_bytes(&c, name_len);
		const void *desc;

		cursor_skip(&c, -name_len & 3);
		desc = cursor_bytes(&c, desc_len);
		cursor_skip(&c, -desc_len & 3);
		if (!name || !desc)
			return false;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(name, "GNU", 4) &&
		    desc_len && desc_len <= BUILD_ID_MAX) {
			out->len = (uint8_t)desc_len;
			memcpy(out->bytes, desc, desc_len);
			return true;
		}
	}
	return false;
}
