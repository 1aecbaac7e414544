/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <string.h>

size_t utf8_len(const void *at, size_t left)
{
	const unsigned char *s = at;
	size_t len = !left       ? 0
		     : *s < 0x80 ? 1
		     : *s < 0xc2 ? 0
		     : *s < 0xe0 ? 2
		     : *s < 0xf0 ? 3
		     : *s < 0xf5 ? 4
				 : 0;

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

size_t utf8_control_len(const void *at, size_t left)
{
	const unsigned char *s = at;

	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	if (s[0] == 0xc2 && left > 1 && s[1] >= 0x80 && s[1] < 0xa0)
		return 2;
	return s[0] >= 0x80 && s[0] < 0xa0;
}

void utf8_no_controls(char *text)
{
	for (size_t left = strlen(text), len; left; text += len, left -= len) {
		size_t control = utf8_control_len(text, left);

		memset(text, '?', control);
		len = control ? control : utf8_len(text, left);
		len = len ? len : 1;
	}
}
