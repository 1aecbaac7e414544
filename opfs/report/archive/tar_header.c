/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/tar_header.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>

/*
 * libarchive makes the headers: ustar where that is enough, pax records for long names
 * and large sizes.  It converts names from the locale, so it is given a UTF-8 locale; a
 * name that is not UTF-8 is stored as it is.
 */
static locale_t utf8;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
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
		archive_set_error(w, ECANCELED, "only the header is wanted");
		return -1;
	}
	strbuf_add(s->to, data, len);
	return (la_ssize_t)len;
}

static void describe(const struct member *m, struct archive_entry *e)
{
	bool dir = m->kind == MEMBER_DIR;

	archive_entry_set_pathname(e, m->name);
	archive_entry_set_filetype(e, dir ? AE_IFDIR : AE_IFREG);
	archive_entry_set_perm(e, dir || m->executable ? 0755 : 0644);
	archive_entry_set_size(e, dir ? 0 : (la_int64_t)m->size);
	archive_entry_set_mtime(e, m->mtime, 0);
}

static int write_header(struct archive *w, const struct member *m, struct sink *sink,
			struct err *err)
{
	struct archive_entry *e = archive_entry_new();
	int rc = ARCHIVE_FATAL;

	if (e) {
		describe(m, e);
		archive_write_set_format_pax_restricted(w);
		archive_write_set_bytes_per_block(w, 0);
		rc = archive_write_open(w, sink, NULL, take, NULL);
	}
	if (rc == ARCHIVE_OK) /* a warning means a name that is not UTF-8 */
		rc = archive_write_header(w, e);
	sink->full = true;
	archive_entry_free(e);
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return strbuf_error(sink->to) ? err_set(err, -ENOMEM, "out of memory")
					      : 0;
	return err_set(err, -EINVAL, "%.200s: no tar header can say this: %.200s",
		       m->name,
		       e && archive_error_string(w) ? archive_error_string(w)
						    : "no memory");
}

int tar_header(const struct member *m, struct strbuf *out, struct err *err)
{
	struct archive *w = archive_write_new();
	struct sink sink = { .to = out };
	locale_t before = (locale_t)0;
	int rc;

	pthread_once(&once, make_locale);
	if (!w)
		return err_set(err, -ENOMEM, "out of memory");
	if (utf8)
		before = uselocale(utf8);
	rc = write_header(w, m, &sink, err);
	archive_write_free(w);
	if (utf8)
		uselocale(before);
	return rc;
}
