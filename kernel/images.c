// SPDX-License-Identifier: GPL-2.0-or-later
#include "images.h"

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "image_record.h"
#include "shares.h"
#include "sync.h"

enum {
	MIN_IMAGES = 16,
	SLOT_BITS = 20,
	MAX_IMAGES = (1 << SLOT_BITS) - 1,
	PER_BUCKET = 4,
	MAX_VERSIONS = 8, /* of one inode; further ones are taken for the last */
	IDLE_TICKS = 8,   /* without a sample until an image may go */
	UNTOLD_TICKS = 2, /* without one until its file may go untold */
};

static unsigned int max_images = 32767;
module_param_named(images, max_images, uint, 0400);
MODULE_PARM_DESC(images, "Most images at a time, 16 to 1048575; 120 bytes each");

/* Which file; the pointers are compared and never followed. */
struct image_file {
	const void *dentry, *mnt;
	u64 ino, dev;
	u64 generation;
};

struct image_key {
	struct image_file file;
	s64 mtime_ns, size; /* which version of it */
};

struct image {
	struct image_key key;
	struct image *next;  /* in its bucket */
	struct image *queue; /* among those that hold a file, have to go, or are free */
	struct file *file;   /* until it is told */
	u32 cookie;          /* slot, and above SLOT_BITS how often it was used before */
	u32 used;            /* tick of its last sample */
	u16 share;
	bool told;   /* in the event buffer */
	bool queued; /* among those that hold a file */
	bool out;    /* of its bucket: on its way to the free ones */
};

/*
 * Buckets are lists that are searched without a lock, by NMIs too.  The lock is for
 * those who change the table: interrupts add in front, the synchroniser takes out.
 */
static struct image *images; /* by slot; [0] is unused */
static struct image **buckets;
static unsigned int bucket_bits;
static u32 seed;
static u32 tick;

static DEFINE_RAW_SPINLOCK(lock);
static u32 nr_slots;            /* that were ever used; under lock */
static struct image *free_list; /* of these; under lock */
static struct image *holding;   /* a file; under lock */
static u64 nr_live;             /* under lock */

/*
 * The synchroniser's: entries that are out of their buckets.  They are free when every
 * interrupt that may have found them before has put its record into its CPU's buffer
 * (RCU tells that), and the buffers were read after that.
 */
static struct image *going;
static unsigned long going_rcu;
static bool going_ripe;
static u64 nr_gone;

u64 opk_images_count(void)
{
	return READ_ONCE(nr_live);
}

u64 opk_images_gone(void)
{
	return READ_ONCE(nr_gone);
}

bool opk_images_hold(void)
{
	return READ_ONCE(holding);
}

/* The entries of a bucket, or those behind one; new ones are added in front. */
static struct image *entries(struct image **from)
{
	/* Pairs with the release in insert(): an entry that is found is complete. */
	return smp_load_acquire(from);
}

static void key_of(const void *dentry, const void *mnt, const struct inode *inode,
		   struct image_key *key)
{
	struct timespec64 mtime = opk_mtime(inode);

	memset(key, 0, sizeof(*key));
	key->file.dentry = dentry;
	key->file.mnt = mnt;
	key->file.ino = inode->i_ino;
	key->file.dev = inode->i_sb->s_dev;
	key->file.generation = inode->i_generation;
	key->mtime_ns = timespec64_to_ns(&mtime);
	key->size = i_size_read(inode);
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
	u32 hash =
		jhash_2words((unsigned long)key->file.dentry >> 4, key->file.ino, seed);

	return &buckets[hash & ((1U << bucket_bits) - 1)];
}

/* Who has enough versions gets the newest of them, which is in front of the others. */
static struct image *find(const struct image_key *key)
{
	struct image *at = entries(bucket_of(key)), *newest = NULL;
	unsigned int versions = 0;

	for (; at; at = entries(&at->next)) {
		if (memcmp(&at->key.file, &key->file, sizeof(key->file)))
			continue;
		if (at->key.mtime_ns == key->mtime_ns && at->key.size == key->size)
			return at;
		if (!newest)
			newest = at;
		versions++;
	}
	return versions < MAX_VERSIONS ? NULL : newest;
}

static void touch(struct image *image)
{
	u32 now = READ_ONCE(tick);

	if (READ_ONCE(image->used) != now)
		WRITE_ONCE(image->used, now);
}

/* It has been told, or can be. */
static bool is_complete(const struct image *image)
{
	return READ_ONCE(image->told) || READ_ONCE(image->file);
}

/* An entry for a new image of @user, or NULL: there is no room. */
static struct image *take_slot(kuid_t user)
{
	struct image *image = free_list;
	int share;

	if (!image && nr_slots == max_images)
		return NULL;
	share = opk_share_take(user, tick);
	if (share < 0)
		return NULL;
	if (image) {
		free_list = image->queue;
	} else {
		image = &images[++nr_slots];
		image->cookie = nr_slots;
	}
	image->share = share;
	image->told = false;
	image->out = false;
	image->used = tick;
	nr_live++;
	return image;
}

static struct image *insert(const struct image_key *key, kuid_t user)
{
	struct image **bucket = bucket_of(key), *image = take_slot(user);

	if (!image)
		return NULL;
	image->key = *key;
	image->next = *bucket;
	/* Pairs with the acquire in entries(). */
	smp_store_release(bucket, image);
	return image;
}

/* Gives the file to an image that is to be told, and is not queued. */
static void attach(struct image *image, struct file *file)
{
	/* Pairs with the acquire in opk_image_tell(). */
	smp_store_release(&image->file, file);
	image->queued = true;
	image->queue = holding;
	WRITE_ONCE(holding, image);
}

/*
 * Takes over the reference to @file.  fput() may be called in interrupts: it leaves the
 * last one to a worker.
 */
static u32 add(const struct image_key *key, struct file *file, kuid_t user)
{
	struct image *image;
	unsigned long flags;
	u32 cookie = 0;

	raw_spin_lock_irqsave(&lock, flags);
	image = find(key);
	if (!image)
		image = insert(key, user);
	if (image) {
		cookie = image->cookie;
		touch(image);
	}
	if (image && !is_complete(image)) {
		attach(image, file);
		file = NULL;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	if (file)
		fput(file);
	else
		opk_sync_soon();
	return cookie;
}

/* The cookie of an image that needs nothing any more, or 0. */
static u32 known(const struct image_key *key)
{
	struct image *image = find(key);

	if (!image || !is_complete(image))
		return 0;
	touch(image);
	return READ_ONCE(image->cookie);
}

u32 opk_image_of(struct file *file, kuid_t user)
{
	struct image_key key;
	u32 cookie;

	key_of_file(file, &key);
	cookie = known(&key);
	return cookie ? cookie : add(&key, get_file(file), user);
}

/*
 * prctl() may replace the executable, and its memory may then be reused for another
 * file: the values read count only if it is still the executable afterwards.
 */
static u32 known_exe(struct mm_struct *mm)
{
	const struct dentry *dentry;
	const struct inode *inode;
	struct image_key key;
	struct file *file;
	u32 cookie = 0;

	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (!file)
		goto out;
	dentry = READ_ONCE(file->f_path.dentry);
	inode = READ_ONCE(file->f_inode);
	if (!dentry || !inode)
		goto out;
	key_of(dentry, READ_ONCE(file->f_path.mnt), inode, &key);
	/* Reads the file's fields before checking that it still is the executable. */
	smp_rmb();
	if (rcu_access_pointer(mm->exe_file) == file)
		cookie = known(&key);
out:
	rcu_read_unlock();
	return cookie;
}

u32 opk_image_of_exe(struct mm_struct *mm, kuid_t user)
{
	u32 cookie = known_exe(mm);
	struct image_key key;
	struct file *file;

	if (cookie || in_nmi())
		return cookie;
	file = opk_get_exe_file(mm);
	if (!file)
		return 0;
	key_of_file(file, &key);
	return add(&key, file, user);
}

static struct image *image_at(u32 cookie)
{
	return &images[cookie & MAX_IMAGES];
}

bool opk_image_again(u32 cookie)
{
	struct image *image = image_at(cookie);

	if (READ_ONCE(image->cookie) != cookie || READ_ONCE(image->out) ||
	    !is_complete(image))
		return false;
	touch(image);
	return true;
}

int opk_image_tell(u32 cookie, u64 *words)
{
	struct image *image = image_at(cookie);

	/* What has gone was told, or no record names it. */
	if (image->cookie != cookie || image->told)
		return 0;
	/* Pairs with attach(): set by interrupts, cleared by us. */
	if (!smp_load_acquire(&image->file))
		return -ENOENT;
	return opk_image_record(image->file, cookie, words);
}

void opk_image_told(u32 cookie)
{
	struct image *image = image_at(cookie);
	struct file *file = image->file;

	WRITE_ONCE(image->told, true);
	WRITE_ONCE(image->file, NULL);
	fput(file);
}

/*
 * Files of images that no record named for a while go untold: their samples were lost.  A
 * sample that comes later brings the file again.
 */
static void let_files_go(void)
{
	struct image *image, *next;
	struct file *file;

	raw_spin_lock_irq(&lock);
	image = holding;
	WRITE_ONCE(holding, NULL);
	raw_spin_unlock_irq(&lock);
	for (; image; image = next) {
		next = image->queue;
		file = NULL;
		raw_spin_lock_irq(&lock);
		if (!image->told && tick - image->used < UNTOLD_TICKS) {
			image->queue = holding;
			WRITE_ONCE(holding, image);
		} else {
			file = image->file;
			WRITE_ONCE(image->file, NULL);
			image->queued = false;
		}
		raw_spin_unlock_irq(&lock);
		if (file)
			fput(file);
	}
}

static void free_slot(struct image *image)
{
	raw_spin_lock_irq(&lock);
	WRITE_ONCE(image->cookie, image->cookie + MAX_IMAGES + 1);
	image->queue = free_list;
	free_list = image;
	opk_share_give(image->share);
	nr_live--;
	raw_spin_unlock_irq(&lock);
	nr_gone++;
}

void opk_images_before(void)
{
	going_ripe = going && poll_state_synchronize_rcu(going_rcu);
}

void opk_images_after(void (*gone)(u32 cookie))
{
	struct image *image, *next;

	let_files_go();
	if (!going_ripe)
		return;
	for (image = going; image; image = next) {
		next = image->queue;
		gone(image->cookie);
		free_slot(image);
	}
	going = NULL;
}

static bool may_go(const struct image *image)
{
	return !image->out && !image->queued &&
	       tick - READ_ONCE(image->used) > IDLE_TICKS &&
	       opk_share_pressed(image->share);
}

static void take_out(struct image *image)
{
	struct image **from = bucket_of(&image->key);

	while (*from != image)
		from = &(*from)->next;
	WRITE_ONCE(*from, image->next);
	WRITE_ONCE(image->out, true);
	image->queue = going;
	going = image;
}

void opk_images_tick(void)
{
	u32 last = READ_ONCE(nr_slots), i;

	WRITE_ONCE(tick, tick + 1);
	if (going)
		return;
	for (i = 1; i <= last; i++) {
		if (!may_go(&images[i]))
			continue;
		raw_spin_lock_irq(&lock);
		if (may_go(&images[i]))
			take_out(&images[i]);
		raw_spin_unlock_irq(&lock);
	}
	if (going)
		going_rcu = start_poll_synchronize_rcu();
}

static void clear(void)
{
	u32 i;

	if (!images || !buckets)
		return;
	for (i = 1; i <= nr_slots; i++) {
		if (images[i].file)
			fput(images[i].file);
	}
	memset(images, 0, (nr_slots + 1) * sizeof(*images));
	memset(buckets, 0, sizeof(*buckets) << bucket_bits);
	opk_shares_reset(max_images);
	seed = get_random_u32();
	nr_slots = 0;
	free_list = NULL;
	holding = NULL;
	going = NULL;
	nr_live = 0;
	nr_gone = 0;
}

int opk_images_reset(void)
{
	if (!images) {
		max_images = clamp_t(unsigned int, max_images, MIN_IMAGES, MAX_IMAGES);
		bucket_bits = order_base_2(max_images / PER_BUCKET);
		images = vzalloc(array_size(max_images + 1, sizeof(*images)));
		buckets = vzalloc(sizeof(*buckets) << bucket_bits);
	}
	if (!images || !buckets) {
		opk_images_free();
		return -ENOMEM;
	}
	clear();
	return 0;
}

void opk_images_free(void)
{
	clear();
	vfree(images);
	vfree(buckets);
	images = NULL;
	buckets = NULL;
}
