/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/driver_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"

enum { MAX_VALUE = 64 };

static const char fs_type[] = "oprofilefs", mark[] = "enable";

/* Whether the kernel knows the file system, which the driver brings along. */
static bool registered(void)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/filesystems", "re");
	char line[128], name[64];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "nodev %63s", name) == 1 && !strcmp(name, fs_type))
			return true;
	return false;
}

static int not_permitted(int rc, const char *what, struct err *err)
{
	return err_set(
		err, rc,
		"%s: the kernel does not let this user profile with the driver: run "
		"as root, outside of containers, in a kernel that is not locked down "
		"(/sys/kernel/security/lockdown)",
		what);
}

static int mount_it(struct coll_driver_fs *d, struct err *err)
{
	if (!registered())
		return err_set(err, -ENODEV,
			       "the driver opfs_sampler is not loaded: modprobe "
			       "opfs_sampler (\"make driver driver-install\" builds and "
			       "installs it); or leave --source=kernel out, since perf's "
			       "interface needs no driver");
	if (!mkdir(d->dir, 0755))
		d->made = true;
	else if (errno != EEXIST)
		return err_errno(err, -errno, "%s", d->dir);
	if (!mount(fs_type, d->dir, fs_type, MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		d->mounted = true;
		return 0;
	}
	if (errno == EPERM || errno == EACCES)
		return not_permitted(-errno, d->dir, err);
	return err_errno(err, -errno, "mounting oprofilefs at %s", d->dir);
}

static int open_dir(struct coll_driver_fs *d)
{
	close_fd(&d->fd);
	d->fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd < 0 ? -errno : 0;
}

int coll_driver_fs_open(struct coll_driver_fs *d, const char *dir, struct err *err)
{
	int rc;

	*d = (struct coll_driver_fs){ .dir = dir, .fd = -1 };
	if (!open_dir(d) && coll_driver_fs_has(d, mark))
		return 0;
	rc = mount_it(d, err);
	if (rc)
		return rc;
	rc = open_dir(d);
	return rc ? err_errno(err, rc, "%s", dir) : 0;
}

static void put_back(struct coll_driver_fs *d)
{
	struct err err;

	while (d->before.len) {
		struct coll_setting *s = &d->before.data[--d->before.len];

		if (coll_driver_fs_put(d, s->path, s->value, &err))
			log_err("a setting of the driver could not be put back: %s",
				err.msg);
		free(s->path);
		free(s->value);
	}
	vec_fini(&d->before);
}

void coll_driver_fs_fini(struct coll_driver_fs *d)
{
	put_back(d);
	close_fd(&d->fd);
	d->fd = -1;
	if (d->mounted && umount2(d->dir, UMOUNT_NOFOLLOW))
		log_err("%s could not be unmounted: %s", d->dir, strerror(errno));
	if (d->made)
		rmdir(d->dir);
	d->mounted = d->made = false;
}

bool coll_driver_fs_has(const struct coll_driver_fs *d, const char *path)
{
	return !faccessat(d->fd, path, F_OK, 0);
}

/* The word in a file, without its newline; heap. */
static int read_word(const struct coll_driver_fs *d, const char *path, char **out,
		     struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = file_slurp(d->fd, path, MAX_VALUE, &text, err);

	if (rc == -EPERM || rc == -EACCES)
		return not_permitted(rc, path, err);
	if (rc)
		return rc;
	if (text.len && text.data[text.len - 1] == '\n')
		strbuf_truncate(&text, text.len - 1);
	*out = strbuf_take(&text);
	return *out ? 0 : err_errno(err, -ENOMEM, "%s", path);
}

int coll_driver_fs_get(const struct coll_driver_fs *d, const char *path, uint64_t *value,
		       struct err *err)
{
	CLEANUP(free_ptr) char *word = NULL;
	int rc = read_word(d, path, &word, err);

	if (rc)
		return rc;
	return sscanf(word, "%" SCNu64, value) == 1
		       ? 0
		       : err_set(err, -EBADMSG, "%s/%s: it holds no number", d->dir,
				 path);
}

/* What the driver's refusals mean. */
static int explain(const struct coll_driver_fs *d, const char *path, const char *word,
		   int rc, struct err *err)
{
	if (rc == -EPERM || rc == -EACCES)
		return not_permitted(rc, path, err);
	if (rc == -EBUSY)
		return err_set(err, rc,
			       "%s/%s: the driver is busy: another program samples with "
			       "it, or something else holds a counter (the kernel log, "
			       "dmesg, says which)",
			       d->dir, path);
	if (rc == -EINVAL)
		return err_set(err, rc,
			       "%s/%s: the driver does not take \"%s\": the kernel log "
			       "(dmesg) says which values it takes",
			       d->dir, path, word);
	return err_errno(err, rc, "%s/%s", d->dir, path);
}

int coll_driver_fs_put(struct coll_driver_fs *d, const char *path, const char *word,
		       struct err *err)
{
	CLEANUP(close_fd) int fd = file_open_within(d->fd, path, O_WRONLY | O_TRUNC);
	int rc = fd < 0 ? fd : file_write_all(fd, word, strlen(word));

	return rc ? explain(d, path, word, rc, err) : 0;
}

int coll_driver_fs_set_word(struct coll_driver_fs *d, const char *path, const char *word,
			    struct err *err)
{
	struct coll_setting was = { 0 };
	int rc = read_word(d, path, &was.value, err);

	if (rc)
		return rc;
	if (!strcmp(was.value, word)) {
		free(was.value);
		return 0;
	}
	was.path = strdup(path);
	if (!was.path || vec_push(&d->before, was)) {
		free(was.path);
		free(was.value);
		return err_errno(err, -ENOMEM, "%s", path);
	}
	return coll_driver_fs_put(d, path, word, err);
}

int coll_driver_fs_set(struct coll_driver_fs *d, const char *path, uint64_t value,
		       struct err *err)
{
	char word[32];

	snprintf(word, sizeof(word), "%" PRIu64, value);
	return coll_driver_fs_set_word(d, path, word, err);
}
