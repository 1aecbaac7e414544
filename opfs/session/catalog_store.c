/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "libspec/session/manifest.h"
#include "libspec/session/session.h"
#include "opfs/session/catalog_known.h"
#include "opfs/session/catalog_load.h"

enum { REREAD_NS = 1000000000, LOOK_NS = 20000000 };
/* The sets that are kept: so many, or fewer large ones. */
enum { MAX_SETS = 64, SET_COST = 4 << 20 };
/* The sessions, and files in them, that are kept for sums. */
enum { MAX_PARTS = 1 << 12, MAX_FILES = 1 << 18, FILE_COST = 512 };

/* Of all stores: catalogs of different stores differ as well.  Atomic. */
static uint64_t last_generation;

struct catalog_store {
	char *path;
	int fd;
	char *archive; /* where files of the sampled machine may be, see archive_dir.h */
	char *dir;     /* of @fd, absolute */
	struct cache *sets;  /* struct read by the names of its sessions */
	struct cache *parts; /* struct catalog by the name of its session */
	uid_t owner;         /* who is trusted, if other users read */
	struct given_up given_up;
	struct catalog_source from;
};

/* In an archive of OProfile's oparchive the session directory has its usual path. */
static int find_archive(struct catalog_store *s)
{
	CLEANUP(free_ptr) char *real = realpath(s->path, NULL);
	CLEANUP(strbuf_fini) struct strbuf root = { 0 }, dir = { 0 };
	CLEANUP(close_fd) int below = -1;

	if (!real)
		return -errno;
	strbuf_puts(&root, real);
	strbuf_puts(&dir, real);
	if (faccessat(s->fd, "samples", F_OK, 0))
		below = openat(s->fd, ARCHIVE_DIR_OPROFILE,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (below < 0) {
		strbuf_puts(&root, "/" ARCHIVE_DIR);
	} else {
		strbuf_puts(&dir, "/" ARCHIVE_DIR_OPROFILE);
		close(s->fd);
		s->fd = take_fd(&below);
	}
	s->archive = strbuf_take(&root);
	s->dir = strbuf_take(&dir);
	return s->archive && s->dir ? 0 : -ENOMEM;
}

int catalog_store_new(const char *session_dir, const uid_t *trusted,
		      struct catalog_store **out, struct err *err)
{
	struct catalog_store *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->path = strdup(session_dir);
	s->fd = open(session_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = s->fd < 0 ? -errno : 0;
	s->sets = cache_new((size_t)MAX_SETS * SET_COST);
	s->parts = cache_new((size_t)MAX_FILES * FILE_COST);
	code = code ? code : s->path && s->sets && s->parts ? 0 : -ENOMEM;
	code = code ? code : find_archive(s);
	given_up_init(&s->given_up);
	s->owner = trusted ? *trusted : 0;
	s->from = (struct catalog_source){ s->fd, trusted ? &s->owner : NULL,
					   &s->given_up };
	if (!code) {
		*out = s;
		return 0;
	}
	catalog_store_free(s);
	if (code == -ENOENT)
		return err_set(err, code,
			       "%s: no such session directory; record one with "
			       "\"opcollect record -- COMMAND\", or name another with "
			       "--session-dir",
			       session_dir);
	if (code == -ENOTDIR)
		return err_set(err, code,
			       "%s: not a directory, so no session directory: name one "
			       "with --session-dir DIR",
			       session_dir);
	if (code == -EACCES)
		return err_set(err, code,
			       "%s: this session directory does not allow you to read it "
			       "(its owner can: chmod o+rx)",
			       session_dir);
	return err_errno(err, code, "%s", session_dir);
}

void catalog_store_free(struct catalog_store *s)
{
	if (!s)
		return;
	cache_free(s->sets);
	cache_free(s->parts);
	if (s->fd >= 0)
		close(s->fd);
	free(s->archive);
	free(s->dir);
	free(s->path);
	free(s);
}

int catalog_store_fd(const struct catalog_store *s)
{
	return s->fd;
}

const uid_t *catalog_store_trusted(const struct catalog_store *s)
{
	return s->from.trusted;
}

int catalog_store_stat(const struct catalog_store *s, const char *session,
		       struct stat *samples, struct stat *st)
{
	CLEANUP(close_fd) int samples_fd = spec_session_samples(s->fd);

	if (samples_fd < 0)
		return samples_fd;
	if (samples && fstat(samples_fd, samples))
		return -errno;
	return spec_session_stat(samples_fd, session, s->from.trusted, st);
}

bool catalog_store_trusts(const struct catalog_store *s, const char *session)
{
	struct stat st;

	return !s->from.trusted || catalog_store_stat(s, session, NULL, &st) ||
	       spec_session_trusts(s->from.trusted, st.st_uid);
}

const char *catalog_store_path(const struct catalog_store *s)
{
	return s->path;
}

/* ---- freshness */

/* Is the directory of a sealed session the one that was read? */
static bool is_same(const struct catalog_store *s, const struct catalog_dir *d,
		    int samples_fd)
{
	struct stat st;

	return d->sealed && catalog_same_readers(d) &&
	       !spec_session_stat(samples_fd, d->session, s->from.trusted, &st) &&
	       st.st_dev == d->dev && st.st_ino == d->ino &&
	       clock_ns_of(&st.st_mtim) == d->mtime_ns;
}

enum freshness {
	FRESH,   /* as it was read */
	STALE,   /* certainly changed */
	UNKNOWN, /* only reading it again would tell */
};

/* Is the session the directory that was read, and unchanged? */
static enum freshness look_at(struct catalog_store *s, int samples_fd,
			      const struct catalog_dir *d)
{
	struct spec_live live = { 0 };
	struct stat st;
	int rc;

	if (is_same(s, d, samples_fd))
		return FRESH;
	if (d->given_up)
		return given_up_has(&s->given_up, d->dev, d->ino) ||
				       !given_up_left(&s->given_up, d->owner)
			       ? FRESH
			       : STALE;
	rc = spec_session_stat(samples_fd, d->session, s->from.trusted, &st);
	if (rc)
		return d->fd < 0 && rc == -ENOENT ? FRESH : STALE;
	if (d->fd < 0 || st.st_dev != d->dev || st.st_ino != d->ino ||
	    !catalog_same_readers(d))
		return STALE;
	if (spec_live_read(d->fd, &live, NULL)) /* one of OProfile's */
		return d->has_live                      ? STALE
		       : !strcmp(d->session, "current") ? UNKNOWN
							: FRESH;
	return d->has_live && live.generation == d->live.generation &&
			       live.closed == d->live.closed
		       ? FRESH
		       : STALE;
}

/* A catalog, and when it was read. */
struct read {
	int refs; /* atomic */
	struct catalog *cat;
	uint64_t read_ns;           /* CLOCK_MONOTONIC, before it was read */
	_Atomic uint64_t looked_ns; /* when it was last found to be fresh */
};

static enum freshness freshness(struct catalog_store *s, struct read *r)
{
	CLEANUP(close_fd) int samples_fd = -1;
	enum freshness worst = FRESH;
	uint64_t now = clock_mono_ns();

	if (now - atomic_load(&r->looked_ns) < LOOK_NS)
		return FRESH;
	samples_fd = spec_session_samples(s->fd);
	for (size_t i = 0; i < r->cat->nr_dirs && worst != STALE; i++) {
		enum freshness f = look_at(s, samples_fd, &r->cat->dirs[i]);

		worst = f == FRESH ? worst : f;
	}
	if (worst == UNKNOWN && now - r->read_ns < REREAD_NS)
		worst = FRESH;
	if (worst == FRESH)
		atomic_store(&r->looked_ns, now);
	return worst;
}

/* ---- reading */

/* Where binaries, and names that outlive them, are besides on this machine. */
static int add_places(const struct catalog_store *s, struct catalog *c, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf symbols = { 0 };

	strbuf_printf(&symbols, "%s/" SPEC_SYMBOLS_DIR, s->dir);
	c->symbols = arena_strdup(&c->arena, strbuf_str(&symbols));
	c->session_dir = arena_strdup(&c->arena, s->dir);
	if (strbuf_error(&symbols) || !c->symbols || !c->session_dir ||
	    archive_dir_init(&c->archive, s->archive, &c->arena))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* What others may have to be charged for what was read of one session, or of a sum. */
static int charge(struct catalog_store *s, const struct viewer *v, struct catalog *c,
		  struct err *err)
{
	const struct catalog_dir *d = &c->dirs[0];
	bool sum = c->nr_dirs > 1;
	int rc;

	/* what trusted users stored is there once, for all */
	if (!s->from.trusted || !v ||
	    (!sum && spec_session_trusts(s->from.trusted, d->owner)))
		return 0;
	rc = catalog_charge(c, sum ? v->cred.uid : d->owner, err);
	if (rc == -ENFILE && !sum) { /* his, and not a lack of who asks */
		given_up_add(&s->given_up, d->dev, d->ino);
		rc = err_set(err, -EFBIG, "session %.100s: %s", d->session, err->msg);
	}
	return rc;
}

/* Reads one session, or the sum of several. */
static int load(struct catalog_store *s, char *const *names, size_t nr,
		struct catalog *const *parts, const struct viewer *v,
		struct catalog **out, struct err *err)
{
	struct catalog *c = NULL, *same = NULL;
	int rc = catalog_load(&s->from, names, nr, parts, v, &c, err);

	rc = rc ? rc : add_places(s, c, err);
	if (!rc) {
		catalog_hash(c);
		same = nr == 1 ? catalog_known(c) : NULL;
	}
	if (!rc && !same) {
		c->generation = __atomic_add_fetch(&last_generation, 1, __ATOMIC_RELAXED);
		rc = charge(s, v, c, err);
		same = !rc && nr == 1 ? catalog_know(c) : NULL;
	}
	if (rc || same)
		catalog_put(c);
	if (!rc)
		*out = same ? same : c;
	return rc;
}

/* ---- parts of sums */

static void *part_get(void *obj)
{
	return catalog_get(obj);
}

static void part_put(void *obj)
{
	catalog_put(obj);
}

struct part_ask {
	struct catalog_store *s;
	int samples_fd;
	const char *name;
};

static bool part_holds(void *obj, void *ctx)
{
	const struct part_ask *ask = ctx;

	return is_same(ask->s, &((const struct catalog *)obj)->dirs[0], ask->samples_fd);
}

static const struct cache_kind part_kind = { .get = part_get,
					     .put = part_put,
					     .holds = part_holds };

/* What it costs to keep a catalog in a cache, where it stays charged to a user who may
 * not look at it any more: so all of what he is charged for. */
static size_t cost_of(const struct catalog *c, size_t least)
{
	return c->charged > least ? c->charged : least;
}

static int part_make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		     struct err *err)
{
	const struct part_ask *ask = ctx;
	char *names[] = { (char *)(uintptr_t)ask->name };
	size_t least = MAX_FILES / MAX_PARTS;
	struct catalog *c;
	int rc = load(ask->s, names, 1, NULL, v, &c, err);

	if (rc)
		return rc;
	*obj = c;
	*bytes = cost_of(c, (c->nr_files > least ? c->nr_files : least) * FILE_COST);
	return 0;
}

static bool has_manifest(int samples_fd, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	strbuf_printf(&path, "%s/" SPEC_MANIFEST, name);
	return !strbuf_error(&path) &&
	       !faccessat(samples_fd, strbuf_str(&path), F_OK, AT_SYMLINK_NOFOLLOW);
}

/* NULL in @out: the session may change, and is to be read with the sum. */
static int get_part(struct part_ask *ask, const struct viewer *v, struct catalog **out,
		    struct err *err)
{
	size_t len = strlen(ask->name);
	int rc;

	if (!strcmp(ask->name, "current") || !has_manifest(ask->samples_fd, ask->name))
		return 0;
	rc = cache_get(ask->s->parts, &part_kind, ask->name, len, part_make, ask, v,
		       (void **)out, err);
	if (rc == -EFBIG) { /* the sum is made without it, and says so */
		*out = NULL;
		return 0;
	}
	/* a file that cannot be read now may be readable later */
	if (!rc && (!(*out)->dirs[0].sealed || (*out)->nr_bad))
		cache_drop(ask->s->parts, &part_kind, ask->name, len);
	return rc;
}

static int load_sum(struct catalog_store *s, char *const *names, size_t nr,
		    const struct viewer *v, struct catalog **out, struct err *err)
{
	CLEANUP(close_fd) int samples_fd = -1;
	struct catalog **parts = calloc(nr, sizeof(*parts));
	int rc = 0;

	if (!parts)
		return err_set(err, -ENOMEM, "out of memory");
	samples_fd = spec_session_samples(s->fd);
	for (size_t i = 0; i < nr && samples_fd >= 0 && !rc; i++)
		rc = get_part(&(struct part_ask){ s, samples_fd, names[i] }, v, &parts[i],
			      err);
	rc = rc ? rc : load(s, names, nr, parts, v, out, err);
	for (size_t i = 0; i < nr; i++)
		catalog_put(parts[i]);
	free(parts);
	return rc;
}

/* ---- sets of sessions */

static void *read_get(void *obj)
{
	struct read *r = obj;

	__atomic_add_fetch(&r->refs, 1, __ATOMIC_RELAXED);
	return r;
}

static void read_put(void *obj)
{
	struct read *r = obj;

	if (!r || __atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL))
		return;
	catalog_put(r->cat);
	free(r);
}

struct set_ask {
	struct catalog_store *s;
	char *const *names;
	size_t nr;
	struct read *was; /* the stale one that is replaced; reference */
};

static bool set_holds(void *obj, void *ctx)
{
	struct set_ask *ask = ctx;

	if (freshness(ask->s, obj) == FRESH)
		return true;
	read_put(ask->was);
	ask->was = read_get(obj);
	return false;
}

static const struct cache_kind set_kind = { .get = read_get,
					    .put = read_put,
					    .holds = set_holds };

/* If nothing changed, the generation stays, and all that was made of it. */
static struct catalog *same_as_before(const struct set_ask *ask, const struct catalog *c)
{
	return ask->was && ask->was->cat->hash == c->hash ? catalog_get(ask->was->cat)
							  : NULL;
}

static int set_make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		    struct err *err)
{
	const struct set_ask *ask = ctx;
	struct catalog_store *s = ask->s;
	struct read *r = calloc(1, sizeof(*r));
	struct catalog *c, *same;
	int rc;

	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	r->refs = 1;
	r->read_ns = clock_mono_ns();
	atomic_store(&r->looked_ns, r->read_ns);
	rc = ask->nr > 1 ? load_sum(s, ask->names, ask->nr, v, &c, err)
			 : load(s, ask->names, ask->nr, NULL, v, &c, err);
	if (rc) {
		free(r);
		return rc;
	}
	same = same_as_before(ask, c);
	if (same)
		catalog_put(c);
	r->cat = same ? same : c;
	*obj = r;
	*bytes = cost_of(r->cat,
			 r->cat->arena.total > SET_COST ? r->cat->arena.total : SET_COST);
	return 0;
}

static void add_to_key(const char *session, struct strbuf *key)
{
	strbuf_printf(key, "%s/", session);
}

static void set_key(char *const *names, size_t nr, struct strbuf *out)
{
	for (size_t i = 0; i < nr; i++)
		add_to_key(names[i], out);
}

struct catalog *catalog_store_ready(struct catalog_store *s, char *const *names,
				    size_t nr)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct catalog *c = NULL;
	struct read *r;

	set_key(names, nr, &key);
	r = strbuf_error(&key) ? NULL : cache_peek(s->sets, &set_kind, key.data, key.len);
	if (r && freshness(s, r) == FRESH)
		c = catalog_get(r->cat);
	read_put(r);
	return c;
}

int catalog_store_get(struct catalog_store *s, char *const *names, size_t nr,
		      const struct viewer *v, struct catalog **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct set_ask ask = { s, names, nr, NULL };
	struct read *r;
	int rc;

	set_key(names, nr, &key);
	if (strbuf_error(&key))
		return err_set(err, -ENOMEM, "out of memory");
	rc = cache_get(s->sets, &set_kind, key.data, key.len, set_make, &ask, v,
		       (void **)&r, err);
	read_put(ask.was);
	if (rc)
		return rc;
	*out = catalog_get(r->cat);
	read_put(r);
	return 0;
}

void catalog_store_doubt(struct catalog_store *s, const struct catalog *c)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct read *r;

	for (size_t i = 0; i < c->nr_dirs; i++)
		add_to_key(c->dirs[i].session, &key);
	if (strbuf_error(&key))
		return;
	r = cache_peek(s->sets, &set_kind, key.data, key.len);
	if (r)
		atomic_store(&r->looked_ns, 0);
	read_put(r);
}

static bool read_is_of(const void *obj, void *session)
{
	return catalog_is_of(((const struct read *)obj)->cat, session);
}

static bool part_is_of(const void *obj, void *session)
{
	return catalog_is_of(obj, session);
}

void catalog_store_forget(struct catalog_store *s, const char *session)
{
	void *ctx = (void *)(uintptr_t)session;

	cache_drop_if(s->sets, &set_kind, read_is_of, ctx);
	cache_drop_if(s->parts, &part_kind, part_is_of, ctx);
}
