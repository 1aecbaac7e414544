/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/stack/stack_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "libspec/sample/sample_file.h"
#include "libspec/sample/sample_write.h"
#include "libspec/sample/store.h"
#include "libspec/stack/stack_images.h"

enum {
	DIR_MODE = 0755,
	FIRST_BYTES = 8192,
	GROW_BYTES = 4 << 20, /* and no more at once; before that the file doubles */
	MIN_SLOTS = 1 << 10,
	MAX_NODES = 1 << 28,
	RETRY_AFTER = 512, /* adds: a full disk may have room again */
	FETCH_FRAMES = 128,
};

struct spec_stack_writer {
	struct spec_stack_node *nodes; /* in the mapping */
	uint32_t nr, max, room;        /* nodes: used, allowed, and without growing */
	/* Open addressing, numbers of nodes; 0: free.  At most half of it is used. */
	uint32_t *index;
	uint32_t mask;
	uint32_t *hashes; /* of each node and its callers; room for half of the index */
	uint64_t seed[2];
	struct map images;  /* name -> number */
	uint32_t nr_images; /* the highest number that was given */
	uint32_t max_image; /* no row of a higher one was, when the table was opened */
	bool new_images;    /* since the last sync */
	struct spec_sample_file file;
	int dir_fd;
	struct err why;   /* why the last add was refused, */
	uint32_t refused; /* and how many more are, before it is tried again */
};

static const char frames[] = SPEC_STACK_TABLE;

static struct spec_stack_header *header(const struct spec_stack_writer *w)
{
	return w->file.base;
}

/* How many nodes the file has bytes for. */
static uint32_t capacity(const struct spec_stack_writer *w)
{
	return (uint32_t)((w->file.len - sizeof(struct spec_stack_header)) /
			  sizeof(struct spec_stack_node));
}

static void attach(struct spec_stack_writer *w)
{
	uint32_t nodes = capacity(w);

	w->nodes = (void *)((char *)w->file.base + sizeof(struct spec_stack_header));
	w->room = nodes < w->max ? nodes : w->max;
}

static int failed(struct err *err)
{
	return err_set(err, -EIO, "%s: the disk failed under it", frames);
}

/* A file that is shorter than its mapping lost nodes. */
static int check_length(const struct spec_stack_writer *w, struct err *err)
{
	struct stat st;

	if (fstat(w->file.fd, &st) || (size_t)st.st_size < w->file.len)
		return err_set(err, -EIO, "%s: was cut short by somebody", frames);
	return 0;
}

/* ---- the index */

/*
 * The hash of a frame is made of that of its caller, so those of a whole stack can be had
 * before any of its nodes is.  Which nodes collide depends on the process, so nobody can
 * choose such code.
 */
static inline uint32_t hash(const struct spec_stack_writer *w, uint32_t callers,
			    uint32_t image, uint64_t off)
{
	unsigned __int128 m = (unsigned __int128)(off ^ w->seed[0]) *
			      (((uint64_t)callers << 32 | image) ^ w->seed[1]);
	uint64_t h = (uint64_t)m ^ (uint64_t)(m >> 64);

	return (uint32_t)(h ^ h >> 32);
}

/* The slot of a node, or the free one where it would be.  @h: its hash */
static inline uint32_t find(const struct spec_stack_writer *w, uint32_t h,
			    uint32_t parent, uint32_t image, uint64_t off)
{
	uint32_t slot = h & w->mask;

	for (; w->index[slot]; slot = (slot + 1) & w->mask) {
		const struct spec_stack_node *n = &w->nodes[w->index[slot]];

		if (n->off == off && n->parent == parent && n->image == image)
			break;
	}
	return slot;
}

/* A node that is there gets its hash and its slot. */
static void index_node(struct spec_stack_writer *w, uint32_t i)
{
	const struct spec_stack_node *n = &w->nodes[i];
	uint32_t h = hash(w, w->hashes[n->parent], n->image, n->off);
	uint32_t slot = find(w, h, n->parent, n->image, n->off);

	w->hashes[i] = h;
	if (!w->index[slot])
		w->index[slot] = i;
}

static int make_index(struct spec_stack_writer *w, uint32_t nr)
{
	uint32_t slots = MIN_SLOTS;
	uint32_t *index, *hashes;

	while (slots / 2 <= nr)
		slots *= 2;
	index = calloc(slots, sizeof(*index));
	hashes = calloc(slots / 2 + 1, sizeof(*hashes));
	if (!index || !hashes) {
		free(index);
		free(hashes);
		return -ENOMEM;
	}
	free(w->index);
	free(w->hashes);
	w->index = index;
	w->hashes = hashes;
	w->mask = slots - 1;
	for (uint32_t i = 1; i < w->nr; i++)
		index_node(w, i);
	return 0;
}

/* ---- the file */

static size_t next_len(size_t len, uint32_t max_nodes)
{
	size_t max = spec_stack_len(max_nodes);

	len += len < GROW_BYTES ? len : GROW_BYTES;
	if (len < FIRST_BYTES)
		len = FIRST_BYTES;
	return len < max ? len : max;
}

/* Reserves and maps more of the file.  On failure everything is as before. */
static int grow(struct spec_stack_writer *w, struct err *err)
{
	struct spec_sample_file f = { .fd = w->file.fd };
	int rc;

	if (w->nr >= w->max)
		return err_set(err, -EFBIG,
			       "%s: all %u frames are taken that --stack-limit allows",
			       frames, w->max);
	rc = check_length(w, err);
	rc = rc ? rc
		: spec_sample_file_map(&f, next_len(w->file.len, w->max), frames, err);
	if (rc)
		return rc;
	w->file.fd = 0; /* it is @f's now */
	spec_sample_file_fini(&w->file);
	w->file = f;
	attach(w);
	return 0;
}

int spec_stack_sync(struct spec_stack_writer *w, struct err *err)
{
	int rc = w->new_images ? spec_stack_images_sync(w->dir_fd, err) : 0;

	if (rc)
		return rc;
	w->new_images = false;
	if (spec_stack_failed(w))
		return failed(err);
	if (msync(w->file.base, spec_stack_len(w->nr), MS_SYNC) && errno != EINVAL)
		return err_errno(err, -errno, "%s: writing back", frames);
	return check_length(w, err);
}

bool spec_stack_failed(const struct spec_stack_writer *w)
{
	return spec_guard_failed(w->file.guard);
}

/* ---- adding */

/* Room for another node.  0 or -errno, with w->why set. */
static int make_room(struct spec_stack_writer *w)
{
	int rc = 0;

	if (w->refused) {
		w->refused--;
		return w->why.code;
	}
	if (w->nr >= w->room)
		rc = grow(w, &w->why);
	if (!rc && w->nr > w->mask / 2 && make_index(w, w->nr))
		rc = err_errno(&w->why, -ENOMEM, "%s", frames);
	if (rc)
		w->refused = RETRY_AFTER;
	return rc;
}

static uint32_t insert(struct spec_stack_writer *w, uint32_t parent, uint32_t image,
		       uint64_t off)
{
	const struct spec_stack_node new = { parent, image, off };
	struct spec_stack_node *n;

	if (spec_stack_failed(w))
		return 0;
	if (!spec_stack_sound(&new, w->nr)) {
		err_set(&w->why, -EINVAL, "%s: %u, %u, %llu: is no frame", frames, parent,
			image, (unsigned long long)off);
		return 0;
	}
	if ((w->nr >= w->room || w->nr > w->mask / 2) && make_room(w))
		return 0;
	n = &w->nodes[w->nr];
	SPEC_STORE(w->file.base, &n->parent, parent);
	SPEC_STORE(w->file.base, &n->off, off);
	SPEC_STORE(w->file.base, &n->image, image);
	SPEC_STORE(w->file.base, &header(w)->nr, (uint64_t)w->nr + 1);
	index_node(w, w->nr);
	return w->nr++;
}

uint32_t spec_stack_add(struct spec_stack_writer *w, uint32_t parent, uint32_t image,
			uint64_t off)
{
	uint32_t callers = parent < w->nr ? w->hashes[parent] : 0;
	uint32_t h = hash(w, callers, image, off);
	uint32_t node = w->index[find(w, h, parent, image, off)];

	if (!node)
		node = insert(w, parent, image, off);
	if (!spec_stack_failed(w))
		return node;
	failed(&w->why);
	return 0;
}

void spec_stack_fetch(const struct spec_stack_writer *w, uint32_t parent,
		      const struct spec_stack_node *called, size_t nr)
{
	uint32_t slots[FETCH_FRAMES], h = w->hashes[parent];

	nr = nr < FETCH_FRAMES ? nr : FETCH_FRAMES;
	for (size_t i = 0; i < nr; i++) {
		h = hash(w, h, called[i].image, called[i].off);
		slots[i] = h & w->mask;
		__builtin_prefetch(&w->index[slots[i]]);
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t node = w->index[slots[i]];

		__builtin_prefetch(&w->nodes[node]);
		__builtin_prefetch(&w->hashes[node]);
	}
}

int spec_stack_why(const struct spec_stack_writer *w, struct err *err)
{
	return err_set(err, w->why.code, "%s", w->why.msg);
}

/* ---- images */

int spec_stack_image(struct spec_stack_writer *w, const struct spec_image *image,
		     bool kernel, uint32_t *number, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	uint64_t found;
	int rc = spec_image_format(image, &name, err);

	if (rc)
		return rc;
	if (map_get(&w->images, name.data, name.len, &found)) {
		*number = (uint32_t)found;
		return 0;
	}
	if (w->nr_images >= SPEC_STACK_MAX_IMAGES - 1)
		return err_set(err, -E2BIG, "%s: too many images", frames);
	rc = spec_stack_images_append(w->dir_fd, w->nr_images + 1, image, kernel, err);
	if (rc)
		return rc;
	w->new_images = true;
	*number = ++w->nr_images; /* given, also if it is forgotten here */
	if (map_set(&w->images, name.data, name.len, *number))
		return err_errno(err, -ENOMEM, "%s", frames);
	return 0;
}

static int read_images(struct spec_stack_writer *w, struct err *err)
{
	CLEANUP(spec_stack_images_fini) struct spec_stack_images t = { 0 };
	int rc = spec_stack_images_read(w->dir_fd, &t, err);

	for (size_t i = 1; i < t.nr && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		if (t.by_number[i].name.kind == SPEC_IMAGE_NONE)
			continue;
		if (spec_image_format(&t.by_number[i].name, &name, NULL))
			continue; /* another writer's: never asked for */
		if (map_set(&w->images, name.data, name.len, i))
			rc = err_errno(err, -ENOMEM, "%s", frames);
	}
	w->nr_images = t.nr ? (uint32_t)t.nr - 1 : 0;
	w->max_image = spec_stack_images_bound(&t) - 1;
	return rc;
}

/* ---- opening */

static int create(struct spec_stack_writer *w, struct err *err)
{
	CLEANUP(spec_sample_file_fini) struct spec_sample_file f = { 0 };
	char tmp[SPEC_SAMPLE_TMP_MAX];
	struct spec_stack_header *h;
	int rc = spec_sample_file_make(w->dir_fd, frames, FIRST_BYTES, &f, tmp, err);

	if (rc)
		return rc;
	h = f.base;
	*h = (struct spec_stack_header){ .version = SPEC_STACK_VERSION,
					 .node_bytes = sizeof(struct spec_stack_node),
					 .nr = SPEC_STACK_FIRST + 1 };
	memcpy(h->magic, SPEC_STACK_MAGIC, sizeof(h->magic));
	((struct spec_stack_node *)(void *)(h + 1))[SPEC_STACK_FIRST].off =
		SPEC_STACK_FULL;
	rc = spec_guard_failed(f.guard)
		     ? failed(err)
		     : spec_sample_file_publish(w->dir_fd, tmp, SPEC_STACK_FRAMES, err);
	if (rc) {
		unlinkat(w->dir_fd, tmp, 0);
		return rc;
	}
	w->file = TAKE(f);
	attach(w);
	w->nr = SPEC_STACK_FIRST + 1;
	return 0;
}

/* A power failure may leave a file shorter than its header says: it gets its length back,
 * unless that is more than is allowed. */
static int check(const struct spec_stack_writer *w, const struct spec_stack_header *h,
		 uint64_t len, struct err *err)
{
	const char *what = NULL;
	int rc = spec_stack_header_check(h, err);

	if (rc)
		return rc;
	if (h->nr <= SPEC_STACK_FIRST || h->nr > MAX_NODES ||
	    len > spec_stack_len(MAX_NODES))
		what = "has a length that makes no sense";
	else if (h->nr > w->max && spec_stack_len(h->nr) > len)
		what = "was cut short";
	return what ? err_set(err, -EBADMSG, "%s: %s", frames, what) : 0;
}

/*
 * Where the file is longer than its nodes it was not closed: counts may be of numbers
 * that the header does not know of, and nodes of images whose rows were lost.
 */
static void repair(struct spec_stack_writer *w)
{
	static const struct spec_stack_node lost = { .off = SPEC_STACK_NODE_LOST };

	w->nr = capacity(w);
	for (uint32_t i = 1; i < w->nr; i++) {
		struct spec_stack_node *n = &w->nodes[i];

		if (!spec_stack_sound(n, i))
			*n = lost;
		if (n->image > w->nr_images && n->image <= w->max_image)
			w->nr_images = n->image;
	}
	if (header(w)->nr != w->nr)
		SPEC_STORE(w->file.base, &header(w)->nr, (uint64_t)w->nr);
}

static int open_existing(struct spec_stack_writer *w, int fd, struct err *err)
{
	struct spec_stack_header h;
	struct stat st;
	size_t len;
	int rc;

	w->file.fd = fd;
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", frames);
	if (file_pread_all(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return err_set(err, -EBADMSG, "%s: is no table of stacks", frames);
	len = (size_t)st.st_size;
	rc = check(w, &h, len, err);
	if (rc)
		return rc;
	if (spec_stack_len(h.nr) > len) /* how long it had been at most */
		len = next_len(spec_stack_len(h.nr), w->max);
	rc = spec_sample_file_map(&w->file, len, frames, err);
	if (rc)
		return rc;
	attach(w);
	repair(w);
	return 0;
}

static int open_table(struct spec_stack_writer *w, struct err *err)
{
	int fd = spec_sample_file_open(w->dir_fd, SPEC_STACK_FRAMES, err);

	if (fd == -ENOENT)
		return create(w, err);
	return fd < 0 ? err_add(err, fd, SPEC_STACK_DIR) : open_existing(w, fd, err);
}

static int open_all(struct spec_stack_writer *w, int session_fd, uint32_t separate,
		    struct err *err)
{
	int rc = file_mkdirs(session_fd, SPEC_STACK_DIR, DIR_MODE, err);

	if (rc)
		return rc;
	w->dir_fd = file_open_within(session_fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY);
	if (w->dir_fd < 0)
		return err_errno(err, w->dir_fd, SPEC_STACK_DIR);
	rc = spec_sample_sweep(w->dir_fd, err);
	rc = rc ? rc : read_images(w, err);
	rc = rc ? rc : open_table(w, err);
	if (!rc && make_index(w, w->nr))
		rc = err_errno(err, -ENOMEM, "%s", frames);
	if (rc)
		return rc;
	header(w)->separate = separate;
	return spec_stack_failed(w) ? failed(err) : 0;
}

static void discard(struct spec_stack_writer *w)
{
	spec_sample_file_fini(&w->file);
	close_fd(&w->dir_fd);
	map_fini(&w->images);
	free(w->index);
	free(w->hashes);
	free(w);
}

int spec_stack_writer_open(int session_fd, uint32_t separate, size_t max_bytes,
			   struct spec_stack_writer **out, struct err *err)
{
	struct spec_stack_writer *w = calloc(1, sizeof(*w));
	size_t max = max_bytes / sizeof(struct spec_stack_node);
	int rc;

	if (!w)
		return err_errno(err, -ENOMEM, "%s", frames);
	w->dir_fd = -1;
	w->max = max < MAX_NODES ? (uint32_t)max : MAX_NODES;
	if (getrandom(w->seed, sizeof(w->seed), 0) != (ssize_t)sizeof(w->seed))
		rc = err_errno(err, -errno, "random numbers");
	else
		rc = open_all(w, session_fd, separate, err);
	if (rc)
		discard(w);
	else
		*out = w;
	return rc;
}

int spec_stack_dir(const struct spec_stack_writer *w)
{
	return w->dir_fd;
}

uint32_t spec_stack_nr(const struct spec_stack_writer *w)
{
	return w->nr;
}

size_t spec_stack_bytes(const struct spec_stack_writer *w)
{
	return w->file.len;
}

/* The file ends behind its last node: that it was closed, and nothing is missing. */
static void cut(const struct spec_stack_writer *w)
{
	if (!spec_stack_failed(w) && !check_length(w, NULL) &&
	    ftruncate(w->file.fd, (off_t)spec_stack_len(w->nr)))
		return;
}

void spec_stack_writer_free(struct spec_stack_writer *w)
{
	if (!w)
		return;
	cut(w);
	discard(w);
}
