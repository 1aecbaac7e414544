/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/tar_header.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stddef.h>

#include "base/library.h"

/*
 * libarchive makes the headers: ustar where that is enough, pax records for long names
 * and large sizes.  It converts names from the locale, so it is given a UTF-8 locale; a
 * name that is not UTF-8 is stored as it is.
 */
static locale_t utf8;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Of the library, which is loaded for the first archive. */
#define FUNCTIONS(F)                                                                     \
	F(entry_free)                                                                    \
	F(entry_new)                                                                     \
	F(entry_set_filetype)                                                            \
	F(entry_set_mtime)                                                               \
	F(entry_set_pathname)                                                            \
	F(entry_set_perm)                                                                \
	F(entry_set_size)                                                                \
	F(error_string)                                                                  \
	F(set_error)                                                                     \
	F(write_free)                                                                    \
	F(write_header)                                                                  \
	F(write_new)                                                                     \
	F(write_open)                                                                    \
	F(write_set_bytes_per_block)                                                     \
	F(write_set_format_pax_restricted)

static struct {
#define POINTER(name) __typeof__(archive_##name) *name;
	FUNCTIONS(POINTER)
} la;

static struct err not_loaded; /* code 0: it is */

static void load(void)
{
	static const struct library_function functions[] = {
#define FUNCTION(name) { "archive_" #name, offsetof(__typeof__(la), name) },
		FUNCTIONS(FUNCTION)
	};

	library_load("libarchive.so.13", "libarchive13", functions,
		     sizeof(functions) / sizeof(functions[0]), &la, &not_loaded);
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

struct sink {
	struct strbuf *to;
	bool full; /* the header is complete: content would only be zeros */
};

static la_ssize_t take(struct archive *w, void *ctx, const void *data, size_t len)
{
	struct sink *s = ctx;

	if (s->full) {
		la.set_error(w, ECANCELED, "only the header is wanted");
		return -1;
	}
	strbuf_add(s->to, data, len);
	return (la_ssize_t)len;
}

static void describe(const struct member *m, struct archive_entry *e)
{
	bool dir = m->kind == MEMBER_DIR;

	la.entry_set_pathname(e, m->name);
	la.entry_set_filetype(e, dir ? AE_IFDIR : AE_IFREG);
	la.entry_set_perm(e, dir || m->executable ? 0755 : 0644);
	la.entry_set_size(e, dir ? 0 : (la_int64_t)m->size);
	la.entry_set_mtime(e, m->mtime, 0);
}

static int write_header(struct archive *w, const struct member *m, struct sink *sink,
			struct err *err)
{
	struct archive_entry *e = la.entry_new();
	int rc = ARCHIVE_FATAL;

	if (e) {
		describe(m, e);
		la.write_set_format_pax_restricted(w);
		la.write_set_bytes_per_block(w, 0);
		rc = la.write_open(w, sink, NULL, take, NULL);
	}
	if (rc == ARCHIVE_OK) /* a warning means a name that is not UTF-8 */
		rc = la.write_header(w, e);
	sink->full = true;
	la.entry_free(e);
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return strbuf_error(sink->to) ? err_set(err, -ENOMEM, "out of memory")
					      : 0;
	return err_set(err, -EINVAL, "%.200s: no tar header can say this: %.200s",
		       m->name,
		       e && la.error_string(w) ? la.error_string(w) : "no memory");
}

int tar_header(const struct member *m, struct strbuf *out, struct err *err)
{
	struct sink sink = { .to = out };
	locale_t before = (locale_t)0;
	struct archive *w;
	int rc;

	pthread_once(&once, load);
	if (not_loaded.code)
		return err_set(err, -EIO, "archives cannot be made: %s", not_loaded.msg);
	w = la.write_new();
	if (!w)
		return err_set(err, -ENOMEM, "out of memory");
	if (utf8)
		before = uselocale(utf8);
	rc = write_header(w, m, &sink, err);
	la.write_free(w);
	if (utf8)
		uselocale(before);
	return rc;
}
