/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/named.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "collector/store/session.h"

const char *coll_named_match(const struct names *all, const char *typed)
{
	const char *match = NULL;

	for (size_t i = 0; i < all->len; i++) {
		CLEANUP(strbuf_fini) struct strbuf shown = { 0 };

		if (!strcmp(all->data[i], typed))
			return all->data[i];
		escape_text(&shown, all->data[i]);
		if (!strcmp(strbuf_str(&shown), typed))
			match = all->data[i];
	}
	return match;
}

static int none(const char *dir, const struct names *all, const char *typed,
		struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 }, meant = { 0 };
	struct nearest near = { .typed = typed };

	for (size_t i = 0; i < all->len; i++)
		if (strcmp(all->data[i], typed) != 0) /* it was there just now */
			nearest_offer(&near, all->data[i]);
	escape_text(&text, typed);
	if (near.name) {
		escape_text(&meant, near.name);
		near.name = strbuf_str(&meant);
		strbuf_printf(&text, " in %s", dir);
		nearest_tell(&near, "", &text);
	} else if (all->len) {
		strbuf_printf(&text, " in %s; \"opcollect list\" shows all", dir);
	} else {
		strbuf_printf(&text,
			      " in %s, and no other; name a directory that has "
			      "some with --session-dir",
			      dir);
	}
	return err_set(err, -ENOENT, "there is no session %s", strbuf_str(&text));
}

/* Has it what reports are made of, or what a collector makes first?  0, -ENOENT: there is
 * nothing of that name any more, -EACCES, or -EINVAL. */
static int check_session(int samples_fd, const char *name)
{
	static const char *const signs[] = { "{root}", "{kern}", "stats" };
	CLEANUP(close_fd) int fd = coll_session_dir(samples_fd, name);

	for (size_t i = 0; fd >= 0 && i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!faccessat(fd, signs[i], F_OK, AT_SYMLINK_NOFOLLOW))
			return 0;
		if (errno == EACCES)
			return -EACCES;
	}
	return fd == -ENOENT || fd == -EACCES ? fd : -EINVAL;
}

int coll_named_find(int samples_fd, const char *dir, const struct names *all,
		    const char *typed, const char **name, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	int rc;

	*name = coll_named_match(all, typed);
	rc = *name ? check_session(samples_fd, *name) : -ENOENT;
	if (rc == -ENOENT)
		return none(dir, all, typed, err);
	if (!rc)
		return 0;
	escape_text(&shown, *name);
	if (rc == -EACCES)
		return err_set(err, rc,
			       "%s/samples/%s: permission denied: its owner has to allow "
			       "it, with chmod u+rwx, or do it",
			       dir, strbuf_str(&shown));
	return err_set(err, -EINVAL,
		       "%s/samples/%s is not a session (it holds neither samples nor "
		       "figures): it is left as it is",
		       dir, strbuf_str(&shown));
}
