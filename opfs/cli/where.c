/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/where.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "opfs/cli/mounted.h"

/* The path in the tree of what follows a mount point; "" is its root. */
static char *in_tree(const struct mounted *m, const char *rest)
{
	struct strbuf path = { 0 };

	strbuf_puts(&path, m->root + strspn(m->root, "/"));
	rest += strspn(rest, "/");
	if (path.len && *rest)
		strbuf_putc(&path, '/');
	strbuf_puts(&path, rest);
	while (path.len && path.data[path.len - 1] == '/')
		strbuf_truncate(&path, path.len - 1);
	return strbuf_take(&path);
}

/* The mount @m says where the sessions are. */
static int use_mount(struct where *w, const struct mounted *m, struct err *err)
{
	if (m->source[0] != '/')
		return err_set(err, -EINVAL,
			       "%s: this mount does not tell its session directory (its "
			       "device is called %s): say it with --session-dir DIR",
			       m->point, m->source);
	if (w->dir && strcmp(w->dir, m->source) != 0)
		return err_set(err, -EINVAL,
			       "%s and %s are mounts of two session directories: one "
			       "command reads one",
			       w->point, m->point);
	if (w->dir)
		return 0;
	w->dir = strdup(m->source);
	w->point = strdup(m->point);
	w->user = m->user;
	w->from = SPEC_SESSION_GIVEN;
	return w->dir && w->point ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* "../x" seen from @at: dots at the beginning, for those behind are a value's.  NULL: out
 * of the tree, or of memory. */
static char *join(const char *at, const char *word)
{
	struct strbuf path = { 0 };

	strbuf_puts(&path, at);
	for (;;) {
		size_t len = strcspn(word, "/");

		if (len == 1 && word[0] == '.') {
			word += len;
		} else if (len == 2 && !memcmp(word, "..", 2)) {
			const char *slash = path.len ? strrchr(path.data, '/') : NULL;

			if (!path.len) {
				strbuf_fini(&path);
				return NULL;
			}
			strbuf_truncate(&path, slash ? (size_t)(slash - path.data) : 0);
			word += len;
		} else {
			break;
		}
		word += strspn(word, "/");
	}
	if (path.len && *word)
		strbuf_putc(&path, '/');
	strbuf_puts(&path, word);
	if (!path.len)
		strbuf_putc(&path, '/');
	return strbuf_take(&path);
}

/* *word becomes @path, which is on the heap. */
static int replace(struct where *w, char **word, char *path, enum where_words kind)
{
	CLEANUP(free_ptr) char *own = path;

	if (own && kind == WHERE_SESSIONS)
		own[strcspn(own, "/")] = '\0';
	if (!own || names_add(&w->words, *own ? own : "/"))
		return -ENOMEM;
	*word = w->words.data[w->words.len - 1];
	return 0;
}

/* Relative paths that lead into a mount are as those of the shell. */
static const struct mounted *find(const struct mounted_list *mounts, const char *cwd,
				  const char *word, struct strbuf *full,
				  const char **rest)
{
	if (word[0] != '/')
		strbuf_printf(full, "%s/", cwd);
	strbuf_puts(full, word);
	return strbuf_error(full) ? NULL : mounted_within(mounts, strbuf_str(full), rest);
}

static int take_word(struct where *w, const struct mounted_list *mounts, const char *cwd,
		     enum where_words kind, char **word, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf full = { 0 };
	const struct mounted *m;
	const char *rest;
	char *path;
	int rc;

	if (w->at && **word != '/') {
		if (kind == WHERE_SESSIONS)
			return 0;
		path = join(w->at, *word);
		return path ? replace(w, word, path, kind) : 0;
	}
	if (!strchr(*word, '/') && kind == WHERE_SESSIONS)
		return 0;
	m = find(mounts, cwd, *word, &full, &rest);
	if (!m)
		return 0;
	rc = use_mount(w, m, err);
	if (!rc && replace(w, word, in_tree(m, rest), kind))
		rc = err_set(err, -ENOMEM, "out of memory");
	return rc;
}

static void read_mounts(struct mounted_list *out)
{
	if (mounted_read(out)) /* without /proc there are none */
		mounted_fini(out);
}

static int by_mounts(struct where *w, enum where_words kind, char **words, int nr,
		     struct err *err)
{
	CLEANUP(mounted_fini) struct mounted_list mounts = { 0 };
	const struct mounted *m = NULL;
	char cwd[PATH_MAX] = "";
	bool here = !nr;
	const char *rest;
	int rc = 0;

	read_mounts(&mounts);
	if (getcwd(cwd, sizeof(cwd)))
		m = mounted_within(&mounts, cwd, &rest);
	for (int i = 0; i < nr && !rc; i++)
		if (words[i][0] == '/')
			rc = take_word(w, &mounts, cwd, kind, &words[i], err);
		else
			here = true;
	if (m && !rc && (here || !w->dir)) {
		rc = use_mount(w, m, err);
		w->at = in_tree(m, rest);
		if (!rc && !w->at)
			rc = err_set(err, -ENOMEM, "out of memory");
	}
	for (int i = 0; i < nr && !rc; i++)
		if (words[i][0] != '/')
			rc = take_word(w, &mounts, cwd, kind, &words[i], err);
	return rc;
}

int where_find(struct where *w, const char *given, enum where_words kind, char **words,
	       int nr, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };
	int rc = given ? 0 : by_mounts(w, kind, words, nr, err);

	if (rc || w->dir)
		return rc;
	w->from = spec_session_dir(given, &dir);
	w->dir = strbuf_take(&dir);
	return w->dir ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void where_tell(const struct where *w, const char *program)
{
	static const char *const why[] = {
		[SPEC_SESSION_ENV] = "$OPFS_SESSION_DIR names it",
		[SPEC_SESSION_HERE] = "it is here",
		[SPEC_SESSION_SYSTEM] = "./oprofile_data is not there",
	};
	bool terminal = isatty(STDERR_FILENO) && w->from == SPEC_SESSION_SYSTEM;

	if (!opt_verbose && !terminal)
		return;
	if (w->point)
		fprintf(stderr, "%s: using %s: of the mount at %s\n", program, w->dir,
			w->point);
	else if (w->from != SPEC_SESSION_GIVEN && file_is_dir(w->dir))
		fprintf(stderr, "%s: using %s: %s\n", program, w->dir, why[w->from]);
}

void where_explain(const struct where *w, struct err *err)
{
	if (w->from == SPEC_SESSION_SYSTEM && err->code == -ENOENT) {
		err_set(err, -ENOENT,
			"neither ./oprofile_data nor /var/lib/oprofile is there: record "
			"a session with \"opcollect record -- COMMAND\", or say where "
			"one is with --session-dir DIR");
	} else if (w->from == SPEC_SESSION_ENV) {
		err_add(err, err->code, "$OPFS_SESSION_DIR");
	} else if (w->point && w->user != geteuid()) {
		CLEANUP(strbuf_fini) struct strbuf what = { 0 };

		strbuf_printf(&what, "%s is a mount of user %u", w->point,
			      (unsigned)w->user);
		err_add(err, err->code, "%s", strbuf_str(&what));
	}
}

void where_fini(struct where *w)
{
	free(w->dir);
	free(w->at);
	free(w->point);
	names_fini(&w->words);
	*w = (struct where){ 0 };
}
