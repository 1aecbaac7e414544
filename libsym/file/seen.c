/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/seen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hex.h"
#include "libsym/file/identity.h"

enum { WORD = sizeof(uint64_t), BOOT_TEXT = 36 };

static struct strbuf *seen; /* NULL: nobody wants it */

void sym_seen_begin(struct strbuf *list)
{
	seen = list;
}

void sym_seen_doubt(void)
{
	if (seen)
		seen->failed = true;
}

static void add(struct strbuf *list, const char *path, const struct sym_identity *id)
{
	static const char zeros[WORD];
	size_t len = strlen(path) + 1;

	strbuf_add(list, id, sizeof(*id));
	strbuf_add(list, path, len);
	strbuf_add(list, zeros, (WORD - len % WORD) % WORD);
	list->failed |= !id->known || list->len > SYM_SEEN_MAX;
}

void sym_seen_add(struct strbuf *list, const char *path)
{
	struct sym_identity id = sym_identity_of(path);

	add(list, path, &id);
}

void sym_seen_file(const char *path, int fd)
{
	struct sym_identity id = { .known = fd == -ENOENT || fd == -ENOTDIR };

	if (fd >= 0)
		id = sym_identity_of_fd(fd);
	if (seen)
		add(seen, path, &id);
}

/* 32 hexadecimal digits with hyphens between them. */
static struct sym_identity identity_of_boot(void)
{
	CLEANUP(close_fd) int fd = open(SYM_SEEN_BOOT, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct sym_identity id = { 0 };
	uint64_t half[2] = { 0 };
	char text[BOOT_TEXT];
	unsigned digits = 0;

	if (fd < 0 || file_read_all(fd, text, sizeof(text)) != sizeof(text))
		return id;
	for (size_t i = 0; i < sizeof(text); i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			continue;
		half[digits / 16 % 2] = half[digits / 16 % 2] << 4 | (unsigned)digit;
		digits++;
	}
	id.known = digits == 32;
	id.dev = half[0];
	id.ino = half[1];
	return id;
}

void sym_seen_boot(void)
{
	struct sym_identity id = { 0 };

	if (seen) {
		id = identity_of_boot();
		add(seen, SYM_SEEN_BOOT, &id);
	}
}

static bool entry_holds(const struct sym_identity *then, const char *path)
{
	struct sym_identity now =
		!strcmp(path, SYM_SEEN_BOOT) ? identity_of_boot() : sym_identity_of(path);

	return sym_identity_same(then, &now);
}

bool sym_seen_holds(const void *list, size_t len)
{
	const char *at = list, *end = at + len;
	struct sym_identity then;

	while (at < end) {
		size_t room = (size_t)(end - at), path;

		if (room <= sizeof(then))
			return false;
		memcpy(&then, at, sizeof(then));
		room -= sizeof(then);
		at += sizeof(then);
		path = strnlen(at, room) + 1;
		if (path > room || *at != '/' || !entry_holds(&then, at))
			return false;
		path += (WORD - path % WORD) % WORD;
		at += path < room ? path : room;
	}
	return len <= SYM_SEEN_MAX;
}
