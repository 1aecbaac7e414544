/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/sample_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libspec/sample/sample_file.h"
#include "libspec/sample/sample_read.h"
#include "libspec/sample/store.h"

enum { MAX_TRIES = 100, PAGE = 4096, LARGE = 1 << 14, AHEAD = 16 };

struct spec_sample_writer {
	struct spec_sample_node *nodes;
	uint32_t *table;
	uint32_t mask; /* slots - 1 */
	uint32_t used; /* current_size; the file's copy follows it */
	struct spec_disk disk;
	struct spec_sample_file file;
	int session_fd;
	char *path;
};

static struct spec_sample_descr *descr(const struct spec_sample_file *f)
{
	return (void *)((char *)f->base + sizeof(struct spec_sample_header));
}

static struct spec_sample_node *nodes_of(const struct spec_sample_file *f)
{
	return (void *)((char *)f->base + SPEC_SAMPLE_NODES_OFF);
}

static inline uint32_t slot_of(uint64_t key, uint32_t mask)
{
	uint32_t t = (uint32_t)(key >> 32) ^ (uint32_t)key;

	return (t ^ t >> 8) & mask;
}

/*
 * A chain leads only to nodes in use, and takes at most as many steps as there are;
 * the file is shared with whoever may write it.
 */
static inline struct spec_sample_node *find(const struct spec_sample_writer *w,
					    uint64_t key)
{
	uint32_t at = w->table[slot_of(key, w->mask)];

	for (uint32_t left = w->used; at && at < w->used && left; left--) {
		struct spec_sample_node *n = &w->nodes[at];

		if (n->key == key)
			return n;
		at = n->next;
	}
	return NULL;
}

static void attach(struct spec_sample_writer *w, struct spec_sample_file *f,
		   uint32_t size, uint32_t used)
{
	spec_sample_file_fini(&w->file);
	w->file = TAKE(*f);
	w->nodes = nodes_of(&w->file);
	w->table = (uint32_t *)(void *)(w->nodes + size);
	w->mask = size - 1;
	w->used = used;
}

/*
 * Slots for @used and one more; 0 if that is too many.  libdb always doubles; a large
 * file that is copied to grow does so half as often.
 */
static uint32_t size_for(uint32_t used)
{
	uint32_t size = SPEC_SAMPLE_MIN_NODES;

	while (size <= used && size < SPEC_SAMPLE_MAX_NODES)
		size *= size < LARGE ? 2 : 4;
	if (size > SPEC_SAMPLE_MAX_NODES)
		size = SPEC_SAMPLE_MAX_NODES;
	return size > used ? size : 0;
}

/* Fills a new file: header, nodes 1 .. @used-1, and their table by pushing in front. */
static void fill(const struct spec_sample_file *f, uint32_t size,
		 const struct spec_sample_header *header,
		 const struct spec_sample_node *nodes, uint32_t used)
{
	struct spec_sample_node *to = nodes_of(f);
	uint32_t *table = (uint32_t *)(void *)(to + size);

	memcpy(f->base, header, sizeof(*header));
	*descr(f) = (struct spec_sample_descr){ .size = size, .current_size = used };
	for (uint32_t i = 1; i < used; i++) {
		uint32_t *slot = &table[slot_of(nodes[i].key, size - 1)];

		if (i + AHEAD < used)
			__builtin_prefetch(
				&table[slot_of(nodes[i + AHEAD].key, size - 1)], 1);
		to[i].key = nodes[i].key;
		to[i].value = nodes[i].value;
		to[i].next = *slot;
		*slot = i;
	}
}

static int too_many(uint32_t used, const char *path, struct err *err)
{
	return err_set(err, -EFBIG,
		       "%s: holds %u distinct addresses, the most a sample file can",
		       path, used - 1);
}

/* A new file in .new/ that holds these samples, with room for more. */
static int lay(int session_fd, const char *path, const struct spec_sample_header *header,
	       const struct spec_sample_node *nodes, uint32_t used,
	       struct spec_sample_file *f, char tmp[SPEC_SAMPLE_TMP_MAX], struct err *err)
{
	uint32_t size = size_for(used);
	int rc;

	if (!size)
		return too_many(used, path, err);
	rc = spec_sample_file_make(session_fd, path, spec_sample_file_len(size), f, tmp,
				   err);
	if (!rc)
		fill(f, size, header, nodes, used);
	return rc;
}

/*
 * The same samples in a new file with room for more, in place of the old one.  On failure
 * everything is as before.
 */
static int replace(struct spec_sample_writer *w, const struct spec_sample_header *header,
		   const struct spec_sample_node *nodes, uint32_t used, struct err *err)
{
	CLEANUP(spec_sample_file_fini) struct spec_sample_file f = { 0 };
	char tmp[SPEC_SAMPLE_TMP_MAX];
	int rc = lay(w->session_fd, w->path, header, nodes, used, &f, tmp, err);

	if (rc)
		return rc;
	if (spec_guard_failed(f.guard) || spec_guard_failed(w->file.guard)) {
		unlinkat(w->session_fd, tmp, 0);
		return err_set(err, -EIO, "%s: growing: the disk failed", w->path);
	}
	if (renameat(w->session_fd, tmp, w->session_fd, w->path)) {
		rc = err_errno(err, -errno, "%s: growing", w->path);
		unlinkat(w->session_fd, tmp, 0);
		return rc;
	}
	attach(w, &f, size_for(used), used);
	w->disk.sure = 0; /* another file */
	return 0;
}

/* Puts @tmp at @path, whether or not there is a file; makes directories. */
static int put(int session_fd, const char *tmp, const char *path, struct err *err)
{
	int rc;

	if (!renameat(session_fd, tmp, session_fd, path))
		return 0;
	rc = errno == ENOENT ? spec_sample_file_publish(session_fd, tmp, path, err)
			     : err_errno(err, -errno, "%s", path);
	if (rc)
		unlinkat(session_fd, tmp, 0);
	return rc;
}

int spec_sample_replace(int session_fd, const char *path,
			const struct spec_sample_header *header,
			const struct spec_sample_node *nodes, uint32_t used,
			struct err *err)
{
	uint32_t size = size_for(used);
	struct spec_sample_file f = { .len = size ? spec_sample_file_len(size) : 0 };
	CLEANUP(free_ptr) void *whole = NULL;
	char tmp[SPEC_SAMPLE_TMP_MAX];
	int rc;

	if (!size)
		return too_many(used, path, err);
	f.base = whole = calloc(1, f.len);
	if (!whole)
		return err_errno(err, -ENOMEM, "%s", path);
	fill(&f, size, header, nodes, used);
	rc = spec_sample_file_write(session_fd, path, whole, f.len, tmp, err);
	return rc ? rc : put(session_fd, tmp, path, err);
}

/*
 * value, key, next; current_size makes the node count; only then the table knows it.
 * Any other order lets a kill leave a chain that ends in itself or a node in use whose
 * content is something else's.
 */
static int insert(struct spec_sample_writer *w, uint64_t key, uint32_t count,
		  struct err *err)
{
	struct spec_sample_node *n;
	uint32_t *slot;

	if (w->used > w->mask) {
		int rc = replace(w, w->file.base, w->nodes, w->used, err);

		if (rc)
			return rc;
	}
	n = &w->nodes[w->used];
	slot = &w->table[slot_of(key, w->mask)];
	SPEC_STORE(w->file.base, &n->value, count);
	SPEC_STORE(w->file.base, &n->key, key);
	SPEC_STORE(w->file.base, &n->next, *slot);
	SPEC_STORE(w->file.base, &descr(&w->file)->current_size, w->used + 1);
	SPEC_STORE(w->file.base, slot, w->used);
	w->used++;
	return 0;
}

int spec_sample_add(struct spec_sample_writer *w, uint64_t key, uint32_t count,
		    struct err *err)
{
	struct spec_sample_node *n = find(w, key);
	uint32_t sum;
	int rc = 0;

	if (n && !__builtin_add_overflow(n->value, count, &sum))
		SPEC_STORE(w->file.base, &n->value, sum);
	else if (count)
		rc = insert(w, key, count, err);
	if (spec_guard_failed(w->file.guard))
		return err_set(err, -EIO, "%s: the disk failed under it", w->path);
	if (!rc)
		w->disk.total += count;
	return rc;
}

/*
 * Makes table and chains of an existing file what they should be.  Stores only what
 * differs, so that the pages of a sound file stay clean.  Sums on the way.
 */
static int repair(struct spec_sample_writer *w, struct err *err)
{
	size_t bytes = ((size_t)w->mask + 1) * sizeof(uint32_t);
	CLEANUP(free_ptr) uint32_t *table = calloc(1, bytes);

	if (!table)
		return err_errno(err, -ENOMEM, "%s", w->path);
	for (uint32_t i = 1; i < w->used; i++) {
		uint32_t *slot = &table[slot_of(w->nodes[i].key, w->mask)];

		if (w->nodes[i].next != *slot)
			w->nodes[i].next = *slot;
		*slot = i;
		w->disk.total += w->nodes[i].value;
	}
	if (memcmp(w->table, table, bytes) != 0)
		memcpy(w->table, table, bytes);
	w->disk.sure = w->disk.total;
	if (spec_guard_failed(w->file.guard))
		return err_set(err, -EIO, "%s: the disk fails", w->path);
	return 0;
}

/* True if libdb's and our own inserts can go on in the file as it is. */
static bool is_sound(const struct spec_sample_descr *d, int fd)
{
	struct stat st;

	return d->size && !(d->size & (d->size - 1)) &&
	       d->size <= SPEC_SAMPLE_MAX_NODES && !fstat(fd, &st) &&
	       (uint64_t)st.st_size >= spec_sample_file_len(d->size) &&
	       (uint64_t)st.st_size < spec_sample_file_len(d->size) + 20;
}

static int check_same(const struct spec_sample_header *old,
		      const struct spec_sample_header *header, const char *path,
		      struct err *err)
{
	const char *what = NULL;

	if (old->event != header->event)
		what = "event";
	else if (old->count != header->count)
		what = "count";
	else if (old->unit_mask != header->unit_mask)
		what = "unit mask";
	else if (old->mtime != header->mtime)
		what = "modification time of the binary";
	else if (old->is_kernel != header->is_kernel)
		what = "kernel flag";
	if (!what)
		return 0;
	return err_set(err, -ESTALE, "%s: holds samples of another %s: not added to",
		       path, what);
}

/* Reads the nodes of a file that cannot stay as it is, and lays it anew. */
static int remake(struct spec_sample_writer *w, struct spec_sample_file *f,
		  const struct spec_sample_header *header, uint32_t used, struct err *err)
{
	struct spec_sample_reader r = { .fd = f->fd,
					.nr_nodes = used - 1,
					.nodes_off = SPEC_SAMPLE_NODES_OFF +
						     sizeof(struct spec_sample_node) };
	CLEANUP(free_ptr) struct spec_sample_node *nodes = calloc(used, sizeof(*nodes));
	ssize_t n;

	if (!nodes)
		return err_errno(err, -ENOMEM, "%s", w->path);
	n = spec_sample_read(&r, 0, nodes + 1, used - 1, err);
	if (n < 0)
		return err_add(err, (int)n, "%s", w->path);
	for (uint32_t i = 1; i < used; i++)
		w->disk.total += nodes[i].value;
	return replace(w, header, nodes, used, err);
}

static int open_existing(struct spec_sample_writer *w, struct spec_sample_file *f,
			 const struct spec_sample_header *header, struct err *err)
{
	struct spec_sample_header old;
	struct spec_sample_descr d;
	int rc = spec_sample_check(f->fd, w->path, &old, &d, err);

	if (!rc)
		rc = check_same(&old, header, w->path, err);
	if (rc)
		return rc;
	if (!is_sound(&d, f->fd))
		return remake(w, f, &old, d.current_size ? d.current_size : 1, err);
	rc = spec_sample_file_map(f, spec_sample_file_len(d.size), w->path, err);
	if (rc)
		return rc;
	if (!d.current_size)
		d.current_size = descr(f)->current_size = 1;
	attach(w, f, d.size, d.current_size);
	return repair(w, err);
}

static int create(struct spec_sample_writer *w, const struct spec_sample_header *header,
		  struct err *err)
{
	CLEANUP(spec_sample_file_fini) struct spec_sample_file f = { 0 };
	struct spec_sample_header h = *header;
	uint32_t size = SPEC_SAMPLE_MIN_NODES;
	size_t len = spec_sample_file_len(size);
	char tmp[SPEC_SAMPLE_TMP_MAX];
	int rc = spec_sample_file_make(w->session_fd, w->path, len, &f, tmp, err);

	if (rc)
		return rc;
	memcpy(h.magic, SPEC_SAMPLE_MAGIC, sizeof(h.magic));
	h.version = SPEC_SAMPLE_VERSION;
	h.pad0 = h.pad1 = 0;
	fill(&f, size, &h, NULL, 1);
	if (spec_guard_failed(f.guard))
		rc = err_set(err, -EIO, "%s: the disk fails", w->path);
	else
		rc = spec_sample_file_publish(w->session_fd, tmp, w->path, err);
	if (rc)
		unlinkat(w->session_fd, tmp, 0);
	else
		attach(w, &f, size, 1);
	return rc;
}

/* One try; -EEXIST if a file appeared where there was none. */
static int open_or_create(struct spec_sample_writer *w,
			  const struct spec_sample_header *header, struct err *err)
{
	CLEANUP(spec_sample_file_fini) struct spec_sample_file f = { 0 };
	int fd = spec_sample_file_open(w->session_fd, w->path, err);

	if (fd == -ENOENT)
		return create(w, header, err);
	if (fd < 0)
		return fd;
	f.fd = fd;
	return open_existing(w, &f, header, err);
}

static void free_writer(struct spec_sample_writer **w)
{
	spec_sample_writer_free(*w);
}

int spec_sample_writer_open(int session_fd, const char *path,
			    const struct spec_sample_header *header,
			    struct spec_sample_writer **out, struct err *err)
{
	CLEANUP(free_writer) struct spec_sample_writer *w = calloc(1, sizeof(*w));
	int rc = -EEXIST;

	if (!w)
		return err_errno(err, -ENOMEM, "%s", path);
	w->session_fd = session_fd;
	w->path = strdup(path);
	if (!w->path)
		return err_errno(err, -ENOMEM, "%s", path);
	for (int i = 0; i < MAX_TRIES && rc == -EEXIST; i++)
		rc = open_or_create(w, header, err);
	if (!rc)
		*out = TAKE(w);
	return rc;
}

int spec_sample_sync(struct spec_sample_writer *w, struct err *err)
{
	char *base = w->file.base;
	size_t first = w->file.len < PAGE ? w->file.len : PAGE;
	struct stat st;

	if (spec_guard_failed(w->file.guard))
		return err_set(err, -EIO, "%s: the disk failed under it", w->path);
	if (((w->file.len > first && msync(base + first, w->file.len - first, MS_SYNC)) ||
	     msync(base, first, MS_SYNC)) &&
	    errno != EINVAL)
		return err_errno(err, -errno, "%s: writing back", w->path);
	if (fstat(w->file.fd, &st) || (size_t)st.st_size < w->file.len)
		return err_set(err, -EIO, "%s: was cut short by somebody", w->path);
	w->disk.sure = w->disk.total;
	return 0;
}

bool spec_sample_failed(const struct spec_sample_writer *w)
{
	return spec_guard_failed(w->file.guard);
}

struct spec_disk spec_sample_disk(const struct spec_sample_writer *w)
{
	return w->disk;
}

void spec_sample_doubt(struct spec_sample_writer *w, uint64_t sure)
{
	if (sure < w->disk.sure)
		w->disk.sure = sure;
}

void spec_sample_sync_soon(const struct spec_sample_writer *w)
{
	sync_file_range(w->file.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

size_t spec_sample_len(const struct spec_sample_writer *w)
{
	return w->file.len;
}

void spec_sample_writer_free(struct spec_sample_writer *w)
{
	if (!w)
		return;
	spec_sample_file_fini(&w->file);
	free(w->path);
	free(w);
}
