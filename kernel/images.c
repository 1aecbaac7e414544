// SPDX-License-Identifier: GPL-2.0-or-later
#include "images.h"

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kdev_t.h>
#include <linux/log2.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "build_id.h"
#include "compat.h"
#include "sync.h"
#include "uapi/opfs_buffer.h"

enum { MIN_IMAGES = 16, MAX_IMAGES = 1 << 20, PER_BUCKET = 4, MAX_PATH = 4000 };

static unsigned int max_images = 32767;
module_param_named(images, max_images, uint, 0400);
MODULE_PARM_DESC(images, "Most images in a run, 16 to 1048576; 104 bytes each");

/* The identity of an image; the pointers are compared and never followed. */
struct image_key {
	const void *dentry, *mnt;
	u64 ino, dev;
	s64 mtime_ns, size;
	u32 generation;
};

enum state {
	STATE_NEW,     /* taken, not in a bucket yet */
	STATE_FOUND,   /* in a bucket, holds the file */
	STATE_TWICE,   /* another CPU was first: unused, but holds the file */
	STATE_DEFINED, /* everything that can be known is known */
	STATE_DROPPED, /* unused, without a file */
};

struct image {
	struct image_key key;
	struct image *next;
	struct file *file;
	char *path;
	u8 state, build_id_len;
	bool deleted;
	u8 build_id[OPK_BUILD_ID];
};

/*
 * Buckets are lists that grow at their head by compare and exchange, so that an NMI may
 * search them while an interrupt adds to them.  Entries are never removed.
 */
static struct image *images; /* by cookie; [0] is unused */
static struct image **buckets;
static unsigned int bucket_bits;
static atomic_t nr_images; /* cookies handed out, at most max_images */

static DEFINE_MUTEX(define_mutex);
static u32 first_undefined; /* those below are defined or dropped; define_mutex */

u32 opk_images_count(void)
{
	return atomic_read(&nr_images);
}

static u8 state_of(const struct image *image)
{
	/* Pairs with the release in set_state(). */
	return smp_load_acquire(&image->state);
}

static void set_state(struct image *image, u8 state)
{
	/* Pairs with the acquire in state_of(). */
	smp_store_release(&image->state, state);
}

/* The entries of a bucket; new ones are added in front. */
static struct image *entries(struct image **bucket)
{
	/* Pairs with the exchange in add(): an entry that is found is complete. */
	return smp_load_acquire(bucket);
}

static void key_of(const void *dentry, const void *mnt, const struct inode *inode,
		   struct image_key *key)
{
	struct timespec64 mtime = opk_mtime(inode);

	memset(key, 0, sizeof(*key));
	key->dentry = dentry;
	key->mnt = mnt;
	key->ino = inode->i_ino;
	key->dev = inode->i_sb->s_dev;
	key->mtime_ns = timespec64_to_ns(&mtime);
	key->size = i_size_read(inode);
	key->generation = inode->i_generation;
}

/*
 * A mapping may hold the file below an overlay, while the executable is always the file
 * that the user opened.  Both get the key of the latter.
 */
static void key_of_file(const struct file *file, struct image_key *key)
{
	const struct path *path = opk_file_path(file);

	key_of(path->dentry, path->mnt, d_inode(path->dentry), key);
}

static struct image **bucket_of(const struct image_key *key)
{
	u64 mix = (unsigned long)key->dentry ^ key->ino << 20 ^ key->mtime_ns;

	return &buckets[hash_64(mix, bucket_bits)];
}

static struct image *find(struct image *at, const struct image_key *key)
{
	for (; at; at = at->next) {
		if (!memcmp(&at->key, key, sizeof(*key)))
			return at;
	}
	return NULL;
}

/* An unused entry for add(), or NULL if the table is full. */
static struct image *new_image(void)
{
	int nr = atomic_read(&nr_images);

	do {
		if (nr >= (int)max_images)
			return NULL;
	} while (!atomic_try_cmpxchg(&nr_images, &nr, nr + 1));
	return &images[nr + 1];
}

/*
 * Takes over the reference to @file.  It is not dropped here: it may be the last one,
 * and this may be an interrupt.
 */
static u32 add(struct image *image, struct image **bucket, struct image *head,
	       const struct image_key *key, struct file *file)
{
	struct image *twin;

	image->key = *key;
	image->file = file;
	do {
		twin = find(head, key);
		if (twin) {
			set_state(image, STATE_TWICE);
			return twin - images;
		}
		image->next = head;
		/*
		 * Set before the entry can be found: whoever finds it may want it
		 * defined.
		 */
		set_state(image, STATE_FOUND);
	} while (!try_cmpxchg(bucket, &head, image));
	opk_sync_soon();
	return image - images;
}

u32 opk_image_of(struct file *file)
{
	struct image **bucket, *head, *image;
	struct image_key key;

	key_of_file(file, &key);
	bucket = bucket_of(&key);
	head = entries(bucket);
	image = find(head, &key);
	if (image)
		return image - images;
	image = new_image();
	return image ? add(image, bucket, head, &key, get_file(file)) : 0;
}

u32 opk_image_of_exe(struct mm_struct *mm)
{
	struct image **bucket, *image = NULL;
	const struct dentry *dentry;
	const struct inode *inode;
	struct file *file;
	struct image_key key;

	/*
	 * prctl() may replace the executable, and its memory may then be reused for
	 * another file: the values read count only if it is still the executable
	 * afterwards.
	 */
	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (!file) {
		rcu_read_unlock();
		return 0;
	}
	dentry = READ_ONCE(file->f_path.dentry);
	inode = READ_ONCE(file->f_inode);
	if (dentry && inode) {
		key_of(dentry, READ_ONCE(file->f_path.mnt), inode, &key);
		/*
		 * Reads the file's fields before checking that it still is the
		 * executable.
		 */
		smp_rmb();
		if (rcu_access_pointer(mm->exe_file) == file) {
			bucket = bucket_of(&key);
			image = find(entries(bucket), &key);
		}
	}
	rcu_read_unlock();
	if (image)
		return image - images;
	image = in_nmi() ? NULL : new_image();
	if (!image)
		return 0;
	file = opk_get_exe_file(mm);
	if (!file) {
		set_state(image, STATE_DROPPED);
		return 0;
	}
	key_of_file(file, &key);
	bucket = bucket_of(&key);
	return add(image, bucket, entries(bucket), &key, file);
}

static void take_path(struct image *image, char *buf)
{
	const struct path *path = opk_file_path(image->file);
	static const char gone[] = " (deleted)";
	char *text = d_path(path, buf, MAX_PATH);
	size_t len;

	if (IS_ERR(text))
		return;
	len = strlen(text);
	image->deleted = d_unlinked(path->dentry);
	if (image->deleted && len >= sizeof(gone) &&
	    !strcmp(text + len - (sizeof(gone) - 1), gone))
		text[len - (sizeof(gone) - 1)] = '\0';
	image->path = kstrdup(text, GFP_KERNEL);
}

/*
 * An overlay has no pages of its own: those of its executables belong to the file below.
 */
static void take_build_id(struct image *image)
{
	const struct inode *inode = file_inode(image->file);
	const struct inode *real = d_real_inode(opk_file_path(image->file)->dentry);

	image->build_id_len = opk_build_id(inode, image->build_id);
	if (!image->build_id_len && real != inode)
		image->build_id_len = opk_build_id(real, image->build_id);
}

static void define(struct image *image)
{
	char *buf = kmalloc(MAX_PATH, GFP_KERNEL);

	if (buf)
		take_path(image, buf);
	kfree(buf);
	take_build_id(image);
}

void opk_images_define(void)
{
	u32 last = opk_images_count(), i;
	bool all = true;
	struct image *image;
	u8 state;

	if (!images || READ_ONCE(first_undefined) > last)
		return;
	mutex_lock(&define_mutex);
	for (i = first_undefined; i <= last; i++) {
		image = &images[i];
		state = state_of(image);
		if (state == STATE_NEW)
			all = false;
		if (state == STATE_FOUND || state == STATE_TWICE) {
			if (state == STATE_FOUND)
				define(image);
			fput(image->file);
			image->file = NULL;
			set_state(image,
				  state == STATE_FOUND ? STATE_DEFINED : STATE_DROPPED);
		}
		if (all)
			WRITE_ONCE(first_undefined, i + 1);
	}
	mutex_unlock(&define_mutex);
}

bool opk_image_defined(u32 cookie)
{
	return !cookie || state_of(&images[cookie]) == STATE_DEFINED;
}

static int pack(const struct image *image, u32 cookie, u64 *words, unsigned int room)
{
	size_t path = image->path ? strlen(image->path) : 0;
	unsigned int len = 9 + DIV_ROUND_UP(path, 8);

	if (room < len + 2)
		return -ENOSPC;
	memset(words, 0, (len + 2) * sizeof(u64));
	words[0] = OPK_ESCAPE;
	words[1] = OPK_HEAD(OPK_IMAGE, len, cookie);
	words[2] = (u64)MAJOR(image->key.dev) << 32 | MINOR(image->key.dev);
	words[3] = image->key.ino;
	words[4] = image->key.generation | (u64)image->build_id_len << 32 |
		   (u64)(image->deleted ? OPK_IMAGE_DELETED : 0) << 40;
	words[5] = image->key.mtime_ns;
	words[6] = image->key.size;
	memcpy(&words[7], image->build_id, image->build_id_len);
	words[10] = path;
	if (path)
		memcpy(&words[11], image->path, path);
	return len + 2;
}

int opk_image_tell(u32 *next, u64 *words, unsigned int room)
{
	u32 last = opk_images_count();
	struct image *image;
	int len;
	u8 state;

	for (; images && *next <= last; ++*next) {
		image = &images[*next];
		/* STATE_NEW lasts no longer than an interrupt on another CPU. */
		while ((state = state_of(image)) < STATE_DEFINED) {
			opk_images_define();
			cond_resched();
		}
		if (state == STATE_DROPPED)
			continue;
		len = pack(image, *next, words, room);
		if (len > 0)
			++*next;
		return len;
	}
	return 0;
}

static void clear(void)
{
	u32 i;

	if (!images || !buckets)
		return;
	opk_images_define();
	for (i = 1; i <= opk_images_count(); i++)
		kfree(images[i].path);
	memset(images, 0, (opk_images_count() + 1) * sizeof(*images));
	memset(buckets, 0, sizeof(*buckets) << bucket_bits);
	atomic_set(&nr_images, 0);
	first_undefined = 1;
}

int opk_images_reset(void)
{
	clear();
	if (images)
		return 0;
	first_undefined = 1;
	max_images = clamp_t(unsigned int, max_images, MIN_IMAGES, MAX_IMAGES);
	bucket_bits = order_base_2(max_images / PER_BUCKET);
	images = vzalloc(array_size(max_images + 1, sizeof(*images)));
	buckets = vzalloc(sizeof(*buckets) << bucket_bits);
	if (images && buckets)
		return 0;
	opk_images_free();
	return -ENOMEM;
}

void opk_images_free(void)
{
	clear();
	vfree(images);
	vfree(buckets);
	images = NULL;
	buckets = NULL;
}
