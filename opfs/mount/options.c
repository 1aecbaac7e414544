/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "base/suggest.h"

enum { MIN_WORKERS = 8, MAX_WORKERS = 256, MAX_OPERANDS = 2, WORD_WIDTH = 14 };
#define MIB ((size_t)1 << 20)
#define DEFAULT_CACHE (64 * MIB)
#define DEFAULT_HELD (1024 * MIB)

void mount_options_init(struct mount_options *o)
{
	/* most of their time they wait for helpers */
	int wanted = 2 * get_nprocs();

	*o = (struct mount_options){
		.cache_bytes = DEFAULT_CACHE,
		.held_bytes = DEFAULT_HELD,
		.workers = wanted > MIN_WORKERS ? (unsigned)wanted : MIN_WORKERS,
	};
	if (o->workers > MAX_WORKERS)
		o->workers = MAX_WORKERS;
}

void mount_options_fini(struct mount_options *o)
{
	free(o->session_dir);
	free(o->mountpoint);
	free(o->fsname);
	*o = (struct mount_options){ 0 };
}

static int set_string(char **to, const char *value, struct err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	free(*to);
	*to = copy;
	return 0;
}

static int set_session(struct mount_options *o, const char *value, struct err *err)
{
	if (!*value)
		return err_set(err, -EINVAL, "session: needs a directory");
	return set_string(&o->session_dir, value, err);
}

static int set_fsname(struct mount_options *o, const char *value, struct err *err)
{
	return set_string(&o->fsname, value, err);
}

/* A number of bytes, with K, M or G behind it. */
static int size_of(const char *value, const char *what, size_t *out, struct err *err)
{
	static const char units[] = "KMG";
	uint64_t n;
	size_t digits = number_digits(value, 10, &n);
	const char *unit, *end = digits ? value + digits : NULL;

	if (end && *end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1] ||
		    __builtin_mul_overflow(n, 1ull << (10 * (unit - units + 1)), &n))
			end = NULL;
	}
	if (!end || n > SIZE_MAX / 2)
		return err_set(err, -EINVAL,
			       "%s: \"%s\" is no number of bytes (like 64M)", what,
			       value);
	*out = (size_t)n;
	return 0;
}

static int set_cache(struct mount_options *o, const char *value, struct err *err)
{
	return size_of(value, "cache", &o->cache_bytes, err);
}

static int set_held(struct mount_options *o, const char *value, struct err *err)
{
	return size_of(value, "held", &o->held_bytes, err);
}

static int set_workers(struct mount_options *o, const char *value, struct err *err)
{
	unsigned long long n;
	int rc = opt_number(value, "workers", 1, MAX_WORKERS, &n, err);

	if (!rc)
		o->workers = (unsigned)n;
	return rc;
}

static int set_allow_other(struct mount_options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->allow_other = true;
	return 0;
}

static int set_debug(struct mount_options *o, const char *value, struct err *err)
{
	(void)value, (void)err;
	o->debug = true;
	return 0;
}

/* Words of -o that have a meaning here. */
static const struct word {
	const char *name;
	const char *value; /* NULL: has none */
	const char *doc;
	int (*set)(struct mount_options *o, const char *value, struct err *err);
} words[] = {
	{ "allow_other", NULL, "other users may look too", set_allow_other },
	{ "session", "DIR", "where the samples are", set_session },
	{ "cache", "SIZE", "memory for what was computed (64M)", set_cache },
	{ "held", "SIZE", "memory and disk for what is open (1G)", set_held },
	{ "workers", "N", "threads that make reports", set_workers },
	{ "fsname", "NAME", "the device that is shown (the session directory)",
	  set_fsname },
	{ "debug", NULL, "as -d", set_debug },
};
enum { NR_WORDS = sizeof(words) / sizeof(words[0]) };

/*
 * Words that mount(8) and fstab pass to every file system.  The mount is ro, nosuid,
 * nodev, noexec and checks modes in any case: mount(8) adds rw,suid,dev,exec by itself.
 */
static const char *const ignored[] = {
	"_netdev",     "async",         "atime",      "auto",       "default_permissions",
	"defaults",    "dev",           "diratime",   "dirsync",    "exec",
	"group",       "iversion",      "lazytime",   "loud",       "mand",
	"noatime",     "noauto",        "nodev",      "nodiratime", "noexec",
	"nofail",      "noiversion",    "nolazytime", "nomand",     "nonempty",
	"norelatime",  "nostrictatime", "nosuid",     "nouser",     "nousers",
	"owner",       "relatime",      "ro",         "rw",         "silent",
	"strictatime", "suid",          "sync",       "user",       "users",
};
static const char *const ignored_beginnings[] = {
	"x-", "X-", "comment=", "subtype=", "user=", "uhelper=", "helper=",
};

static bool is_ignored(const char *word)
{
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (!strcmp(word, ignored[i]))
			return true;
	for (size_t i = 0; i < sizeof(ignored_beginnings) / sizeof(ignored_beginnings[0]);
	     i++)
		if (!strncmp(word, ignored_beginnings[i], strlen(ignored_beginnings[i])))
			return true;
	return false;
}

static int no_word(const char *text, size_t len, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf there = { 0 };
	CLEANUP(free_ptr) char *typed = strndup(text, len);
	struct nearest near = { .typed = typed ? typed : "" };

	for (size_t i = 0; i < NR_WORDS; i++)
		nearest_offer(&near, words[i].name);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		nearest_offer(&near, ignored[i]);
	nearest_tell_all(&near, &there);
	for (size_t i = 0; i < NR_WORDS; i++)
		strbuf_printf(&there, "%s %s%s%s", i ? "," : "", words[i].name,
			      words[i].value ? "=" : "",
			      words[i].value ? words[i].value : "");
	return err_set(err, -EINVAL, "-o %s: no such option%s, and the words of mount(8)",
		       text, strbuf_str(&there));
}

static int add_word(struct mount_options *o, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);

	for (size_t i = 0; i < NR_WORDS; i++) {
		const struct word *w = &words[i];

		if (strlen(w->name) != len || strncmp(w->name, text, len) != 0)
			continue;
		if (w->value && !equals)
			return err_set(err, -EINVAL, "-o %s: needs a value: %s=...", text,
				       w->name);
		if (!w->value && equals)
			return err_set(err, -EINVAL, "-o %s: %s takes no value", text,
				       w->name);
		if (w->set(o, equals ? equals + 1 : NULL, err))
			return err_add(err, -EINVAL, "-o %s", text);
		return 0;
	}
	if (is_ignored(text))
		return 0;
	return no_word(text, len, err);
}

int mount_options_add(struct mount_options *o, const char *list, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf word = { 0 };
	int rc = 0;

	for (const char *at = list; !rc; at++) {
		if (*at == '\\' && (at[1] == ',' || at[1] == '\\')) {
			strbuf_putc(&word, *++at);
			continue;
		}
		if (*at && *at != ',') {
			strbuf_putc(&word, *at);
			continue;
		}
		rc = strbuf_error(&word);
		if (rc)
			err_set(err, rc, "out of memory");
		else if (word.len)
			rc = add_word(o, strbuf_str(&word), err);
		strbuf_reset(&word);
		if (!*at)
			break;
	}
	return rc;
}

static int opt_o(void *ctx, const char *arg, struct err *err)
{
	return mount_options_add(ctx, arg, err);
}

static int opt_session_dir(void *ctx, const char *arg, struct err *err)
{
	return set_session(ctx, arg, err);
}

static int opt_foreground(void *ctx, const char *arg, struct err *err)
{
	struct mount_options *o = ctx;

	(void)arg, (void)err;
	o->foreground = true;
	return 0;
}

static int opt_debug(void *ctx, const char *arg, struct err *err)
{
	struct mount_options *o = ctx;

	(void)arg, (void)err;
	o->debug = o->foreground = true;
	return 0;
}

static const struct opt opts[] = {
	{ 'o', "options", "LIST", "the words above and those of mount(8)", opt_o },
	{ 'f', "foreground", NULL, "stay in the foreground", opt_foreground },
	{ 'd', "debug", NULL, "stay in the foreground and tell every request",
	  opt_debug },
	{ 0, "session-dir", "DIR", "where the samples are", opt_session_dir },
	{ 0 },
};

static struct opt_program program = {
	.name = "opfs mount",
	.synopsis = "[SESSION_DIR] MOUNTPOINT [-o OPTIONS] [-f]",
	.opts = opts,
};

static void describe(struct strbuf *out)
{
	strbuf_puts(out,
		    "Mounts a session directory as a file system: every profile "
		    "specification is "
		    "a\ndirectory, every report a file.  fusermount3 -u MOUNTPOINT or "
		    "umount ends it.\n\nWords of -o, separated by commas:");
	for (size_t i = 0; i < NR_WORDS; i++)
		strbuf_printf(out, "\n  %s%s%-*s  %s", words[i].name,
			      words[i].value ? "=" : "",
			      WORD_WIDTH - (int)strlen(words[i].name) -
				      (words[i].value != NULL),
			      words[i].value ? words[i].value : "", words[i].doc);
}

static enum mount_words wrong(const char *what)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name, what, program.name);
	return MOUNT_WORDS_WRONG;
}

static enum mount_words take_operands(struct mount_options *o, char *const *operands,
				      int nr)
{
	struct err err;

	if (!nr)
		return wrong("needs a mount point");
	if (nr == MAX_OPERANDS && o->session_dir)
		return wrong("the session directory is given twice");
	if (set_string(&o->mountpoint, operands[nr - 1], &err) ||
	    (nr == MAX_OPERANDS && set_session(o, operands[0], &err)))
		return wrong(err.msg);
	return MOUNT_WORDS_RUN;
}

enum mount_words mount_options_parse(struct mount_options *o, int argc, char **argv)
{
	CLEANUP(strbuf_fini) struct strbuf about = { 0 };
	char *operands[MAX_OPERANDS];
	int nr = 0, first;

	describe(&about);
	program.about = strbuf_str(&about);
	for (;;) {
		switch (opt_parse(&program, argc, argv, o, &first)) {
		case OPT_DONE:
			return MOUNT_WORDS_DONE;
		case OPT_FAILED:
		case OPT_WRONG:
			return MOUNT_WORDS_WRONG;
		case OPT_RUN:
			break;
		}
		if (first >= argc)
			return take_operands(o, operands, nr);
		if (nr == MAX_OPERANDS)
			return wrong(
				"too many words: SESSION_DIR and MOUNTPOINT are all");
		/* options may follow it as well: it is the command for them */
		operands[nr++] = argv[first];
		argc -= first;
		argv += first;
	}
}
