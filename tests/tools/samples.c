/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests, what libspec does with sessions:
 *	samples totals SESSION_DIR      a line a sample file, fields separated by tabs
 *	samples add SESSION PATH        adds "KEY COUNT" lines of stdin to a sample file
 *	                                of the directory SESSION (samples/NAME)
 *	samples abi SESSION_DIR         writes its file abi
 * add goes on after a failure and prints "counted N refused N: FIRST REASON".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/sample/abi.h"
#include "libspec/sample/sample_read.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/session.h"

struct totals {
	const char *session;
	int fd;
	const struct spec_abi *abi; /* NULL: of this machine */
};

static void print_image(const struct spec_image *img)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_image_show(img, &text);
	printf("\t%s", img->kind == SPEC_IMAGE_NONE ? "-" : strbuf_str(&text));
}

static void print_id(int64_t id)
{
	if (id == SPEC_ALL)
		printf("\t-");
	else
		printf("\t%" PRId64, id);
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct totals *t = ctx;
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct err err = { 0 };
	uint64_t total = 0;

	printf("%s\t%s", t->session, file->path);
	if (file->bad || spec_sample_open_as(t->fd, file->path, t->abi, &r, &err) ||
	    spec_sample_total(&r, &total, &err)) {
		printf("\tbad\n");
		return 0;
	}
	print_image(&file->name->app);
	print_image(&file->name->image);
	print_image(&file->name->callee);
	printf("\t%s\t%" PRIu64 "\t%" PRIu64, file->name->event, file->name->count,
	       file->name->unit_mask);
	print_id(file->name->tgid);
	print_id(file->name->tid);
	print_id(file->name->cpu);
	printf("\t%u\t%" PRIu64 "\n", r.nr_nodes, total);
	return 0;
}

static int print_totals(const char *dir, struct err *err)
{
	CLEANUP(names_fini) struct names list = { 0 };
	CLEANUP(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? err_errno(err, -errno, "%s", dir)
			: spec_session_list(fd, NULL, &list, err);
	struct spec_abi abi;
	bool foreign = !rc && !spec_abi_read(fd, &abi, NULL) && !spec_abi_is_native(&abi);

	for (size_t i = 0; i < list.len && !rc; i++) {
		char path[4096];
		struct totals t = { .session = list.data[i],
				    .abi = foreign ? &abi : NULL };

		snprintf(path, sizeof(path), "samples/%s", list.data[i]);
		t.fd = openat(fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (t.fd < 0)
			return err_errno(err, -errno, "%s", path);
		rc = spec_session_walk(t.fd, spec_session_escaped(t.fd), visit, &t, err);
		close(t.fd);
	}
	return rc;
}

static int add_all(struct spec_sample_writer *w)
{
	uint64_t key, counted = 0, refused = 0;
	uint32_t count;
	struct err err = { 0 };

	while (scanf("%" SCNu64 " %" SCNu32, &key, &count) == 2) {
		if (spec_sample_add(w, key, count, refused ? NULL : &err))
			refused += count;
		else
			counted += count;
	}
	printf("counted %" PRIu64 " refused %" PRIu64 ": %s\n", counted, refused,
	       err.msg);
	return 0;
}

static int add(const char *session, const char *path, struct err *err)
{
	static const struct spec_sample_header header = { .cpu_type = 4, .count = 1 };
	CLEANUP(close_fd) int fd = open(session, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spec_sample_writer *w = NULL;
	int rc = fd < 0 ? err_errno(err, -errno, "%s", session)
			: spec_sample_writer_open(fd, path, &header, &w, err);

	if (!rc)
		rc = add_all(w);
	spec_sample_writer_free(w);
	return rc;
}

static int write_abi(const char *dir, struct err *err)
{
	CLEANUP(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "%s", dir);
	return spec_abi_write(fd, err);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int rc;

	if (argc == 3 && !strcmp(argv[1], "totals"))
		rc = print_totals(argv[2], &err);
	else if (argc == 4 && !strcmp(argv[1], "add"))
		rc = add(argv[2], argv[3], &err);
	else if (argc == 3 && !strcmp(argv[1], "abi"))
		rc = write_abi(argv[2], &err);
	else
		return 2;
	if (rc)
		fprintf(stderr, "samples: %s\n", err.msg);
	return rc ? 1 : 0;
}
