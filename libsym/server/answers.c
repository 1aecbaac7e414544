/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL /* one more library would be loaded at each start */
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "base/vec.h"
#include "libsym/file/caches.h"
#include "libsym/file/identity.h"
#include "libsym/file/seen.h"
#include "libsym/wire/request.h"
#include "libsym/wire/wire.h"

#define MAX_BYTES (256u << 20)  /* of all files, */
#define MAX_FILE (64u << 20)    /* and of one */
#define FREE_BYTES (256u << 20) /* of the disk, that are left to others */

enum {
	WORD = sizeof(uint64_t),
	NAME = 2 * sizeof(uint64_t) + 1,
	DAY_S = 24 * 3600,
	TOO_OLD_S = 30 * DAY_S, /* since it was used, to a day */
};

void sym_answers_init(struct sym_answers *a)
{
	*a = (struct sym_answers){ .fd = -1 };
	pthread_mutex_init(&a->lock, NULL);
}

void sym_answers_fini(struct sym_answers *a)
{
	close_fd(&a->fd);
	pthread_mutex_destroy(&a->lock);
}

static size_t padded(uint64_t len)
{
	return (size_t)(len + WORD - 1) / WORD * WORD;
}

static size_t file_len(const struct sym_answer_header *h)
{
	return sizeof(*h) + padded(h->answer_len) + padded(h->request_len) +
	       padded(h->seen_len);
}

void sym_answers_unmap(void *answer, size_t len)
{
	struct sym_answer_header *h = (struct sym_answer_header *)answer - 1;

	(void)len;
	munmap(h, file_len(h));
}

void sym_kept_answer_fini(struct sym_kept_answer *k)
{
	if (k->answer)
		sym_answers_unmap(k->answer, k->len);
	*k = (struct sym_kept_answer){ 0 };
}

/* ---- the directory */

/* Ours, and closed to others.  Who uses another user's home, as sudo does, has none. */
static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

/* Does the nearest directory above that exists belong to this user? */
static bool is_at_home(const char *path)
{
	CLEANUP(free_ptr) char *up = strdup(path);
	struct stat st;
	char *slash;

	while (up && (slash = strrchr(up, '/')) && slash > up) {
		*slash = '\0';
		if (!stat(up, &st))
			return st.st_uid == geteuid();
	}
	return false;
}

static int open_directory(void)
{
	CLEANUP(strbuf_fini) struct strbuf at = { 0 };
	CLEANUP(close_fd) int fd = -1;
	const char *path;

	strbuf_printf(&at, "%s/answers", sym_caches_own());
	path = strbuf_str(&at);
	if (!*sym_caches_own() || strbuf_error(&at))
		return -1;
	if (access(path, F_OK) &&
	    (!is_at_home(path) || file_mkdirs(AT_FDCWD, path, 0700, NULL)))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 && is_private(fd) ? take_fd(&fd) : -1;
}

/* Does a library read binaries? */
static bool is_reader(const char *path)
{
	static const char *const readers[] = { "libdw", "libelf", "libbfd",
					       "libopcodes" };
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (!strncmp(slash + 1, readers[i], strlen(readers[i])))
			return true;
	return false;
}

/* Those that read binaries tell what a helper says, too.  Their notes, which have their
 * build-ids, are those of what is loaded, whatever an upgrade put in its place. */
static int add_library(struct dl_phdr_info *lib, size_t size, void *ctx)
{
	uint64_t *hash = ctx;

	(void)size;
	for (unsigned n = 0; is_reader(lib->dlpi_name) && n < lib->dlpi_phnum; n++) {
		const ElfW(Phdr) *ph = &lib->dlpi_phdr[n];

		if (ph->p_type == PT_NOTE)
			*hash = XXH3_64bits_withSeed((const char *)lib->dlpi_addr +
							     ph->p_vaddr,
						     ph->p_memsz, *hash);
	}
	return 0;
}

/* Who would answer; false if that cannot be told. */
static bool own_program(uint64_t *hash)
{
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	struct sym_identity id = sym_identity_of_fd(fd);

	*hash = XXH3_64bits(&id, sizeof(id));
	dl_iterate_phdr(add_library, hash);
	return id.known;
}

/* -1: there is none. */
static int directory(struct sym_answers *a)
{
	int fd;

	pthread_mutex_lock(&a->lock);
	if (!a->tried) {
		a->tried = true;
		if (own_program(&a->program))
			a->fd = open_directory();
	}
	fd = a->fd;
	pthread_mutex_unlock(&a->lock);
	return fd;
}

static void name_of(const struct sym_answers *a, const struct strbuf *request,
		    char name[NAME])
{
	snprintf(name, NAME, "%016" PRIx64,
		 (uint64_t)XXH3_64bits_withSeed(request->data, request->len, a->program));
}

/* ---- reading */

/* Says that it is used, once a day. */
static void touch(int dir, const char *name, const struct stat *st)
{
	static const struct timespec now[2] = { { .tv_nsec = UTIME_NOW },
						{ .tv_nsec = UTIME_NOW } };

	if (time(NULL) - st->st_mtime > DAY_S)
		utimensat(dir, name, now, AT_SYMLINK_NOFOLLOW);
}

/* @len: of the file */
static uint64_t sum_of(const struct sym_answer_header *h, size_t len)
{
	return XXH3_64bits(&h->program, len - offsetof(__typeof__(*h), program));
}

/* @len: of all of it */
static bool is_whole(const struct sym_answers *a, const struct sym_answer_header *h,
		     size_t len)
{
	return !memcmp(h->magic, SYM_ANSWER_FILE_MAGIC, sizeof(h->magic)) &&
	       h->version == SYM_ANSWER_FILE_VERSION && !h->zero &&
	       h->program == a->program && h->request_len <= SYM_REQUEST_MAX &&
	       h->seen_len <= SYM_SEEN_MAX && h->answer_len <= SYM_WIRE_MAX &&
	       file_len(h) == len && h->sum == sum_of(h, len);
}

static bool holds(const struct sym_answer_header *h, const struct strbuf *request)
{
	const char *at = (const char *)(h + 1) + padded(h->answer_len);

	return h->request_len == request->len &&
	       !memcmp(at, request->data, request->len) &&
	       sym_seen_holds(at + padded(h->request_len), h->seen_len);
}

static bool map_file(const struct sym_answers *a, const struct strbuf *request,
		     const char *name, struct sym_kept_answer *out)
{
	CLEANUP(close_fd)
	int fd = openat(a->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct sym_answer_header *h;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE ||
	    st.st_size < (off_t)sizeof(*h) || st.st_uid != geteuid())
		return false;
	len = (size_t)st.st_size;
	h = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (h == MAP_FAILED)
		return false;
	if (!is_whole(a, h, len) || !holds(h, request)) {
		munmap(h, len);
		return false;
	}
	touch(a->fd, name, &st);
	out->answer = h + 1;
	out->len = h->answer_len;
	return true;
}

bool sym_answers_get(struct sym_answers *a, const struct strbuf *request,
		     struct sym_kept_answer *out)
{
	char name[NAME];

	if (directory(a) < 0 || strbuf_error(request))
		return false;
	name_of(a, request, name);
	return map_file(a, request, name, out);
}

/* ---- writing */

struct stored {
	char name[NAME_MAX + 1];
	int64_t used_s;
	uint64_t bytes;
};

static int by_use(const void *x, const void *y)
{
	const struct stored *a = x, *b = y;

	return (a->used_s > b->used_s) - (a->used_s < b->used_s);
}

/* Is it called as an answer is, or one that a killed program did not finish?  What others
 * put there is theirs. */
static bool is_ours(const char *name)
{
	static const char tmp[] = ".tmp.";
	size_t digits = strspn(name, "0123456789abcdef");

	if (!strncmp(name, tmp, strlen(tmp)))
		return true;
	return digits == NAME - 1 && !name[digits];
}

/* Removes what was not used for long, and of the rest the oldest where there is no room
 * for so many bytes: then half goes.  Lock held. */
static void tidy(struct sym_answers *a, uint64_t bytes)
{
	CLEANUP(names_fini) struct names all = { 0 };
	VEC(struct stored) files = { 0 };
	time_t now = time(NULL);
	uint64_t most = MAX_BYTES;
	struct stat st;

	a->bytes = 0;
	if (dirlist_read(a->fd, &all))
		return;
	for (size_t i = 0; i < all.len; i++) {
		struct stored s = { 0 };

		if (!is_ours(all.data[i]) || strlen(all.data[i]) > NAME_MAX ||
		    fstatat(a->fd, all.data[i], &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		memcpy(s.name, all.data[i], strlen(all.data[i]));
		s.used_s = st.st_mtime;
		s.bytes = (uint64_t)st.st_size;
		a->bytes += s.bytes;
		if (vec_push(&files, s))
			break;
	}
	if (a->bytes + bytes > MAX_BYTES)
		most = MAX_BYTES / 2;
	if (files.len)
		qsort(files.data, files.len, sizeof(*files.data), by_use);
	vec_for(&files, f) {
		if (a->bytes <= most && now - f->used_s < TOO_OLD_S)
			break;
		if (!unlinkat(a->fd, f->name, 0))
			a->bytes -= f->bytes;
	}
	vec_fini(&files);
}

/* Takes room for so many bytes. */
static bool make_room(struct sym_answers *a, uint64_t bytes)
{
	struct statvfs fs;
	bool may;

	pthread_mutex_lock(&a->lock);
	if (!a->counted || a->bytes + bytes > MAX_BYTES)
		tidy(a, bytes);
	a->counted = true;
	may = a->bytes + bytes <= MAX_BYTES && !fstatvfs(a->fd, &fs) &&
	      (uint64_t)fs.f_bavail * fs.f_frsize > FREE_BYTES + bytes;
	if (may)
		a->bytes += bytes;
	pthread_mutex_unlock(&a->lock);
	return may;
}

static void put(struct strbuf *out, const void *data, size_t len)
{
	static const char zeros[WORD];

	strbuf_add(out, data, len);
	strbuf_add(out, zeros, padded(len) - len);
}

void sym_answers_put(struct sym_answers *a, const struct strbuf *request,
		     const void *seen, size_t seen_len, const void *answer, size_t len)
{
	struct sym_answer_header h = { .magic = SYM_ANSWER_FILE_MAGIC,
				       .version = SYM_ANSWER_FILE_VERSION,
				       .request_len = request->len,
				       .seen_len = seen_len,
				       .answer_len = len };
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	int dir = directory(a);
	char name[NAME];

	if (dir < 0 || strbuf_error(request) || request->len + seen_len + len > MAX_FILE)
		return;
	h.program = a->program;
	strbuf_add(&file, &h, sizeof(h));
	put(&file, answer, len);
	put(&file, request->data, request->len);
	put(&file, seen, seen_len);
	if (strbuf_error(&file) || file.len > MAX_FILE || !make_room(a, file.len))
		return;
	h.sum = sum_of((const struct sym_answer_header *)file.data, file.len);
	memcpy(file.data, &h, sizeof(h));
	name_of(a, request, name);
	file_replace(dir, name, file.data, file.len, 0600, false, NULL);
}
