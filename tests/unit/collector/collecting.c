/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/collector/collecting.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_read.h"

static char dir[] = "/tmp/opfs-collect.XXXXXX";
static const struct coll_sink_event event = { .name = "TIMER",
					      .count = 1000,
					      .cpu_type = 4 };
static struct coll_kernel_options no_kernel = { .no_vmlinux = true };
struct coll_collect c;
int session_fd;

void map_file(uint64_t start, uint64_t pgoff, const char *file, uint64_t inode)
{
	TELL(10, MMAP,
	     .mmap = { .start = start,
		       .len = 0x1000,
		       .pgoff = pgoff,
		       .filename = file,
		       .inode = inode });
}

void collecting_begin(void)
{
	struct err err = { 0 };

	cr_assert(mkdtemp(dir));
	session_fd = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(coll_collect_init(&c, session_fd, &event, &no_kernel, NULL, 0, &err),
		     0, "%s", err.msg);
	c.separate = COLL_SEPARATE_LIB;
	c.tree = true;
	c.max_frames = COLL_MAX_FRAMES;
	coll_tasks_need(&c.tasks, 10)->await_exec = true;
	TELL(10, COMM, .comm = { .name = "prog", .exec = true });
	map_file(0x400000, 0x1000, "/bin/prog", 1);
	map_file(0x500000, 0, "/lib/lib.so", 2);
}

void collecting_end(void)
{
	coll_collect_fini(&c);
	close(session_fd);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

void sample_in(uint32_t tgid, enum coll_domain domain, uint64_t ip, const uint64_t *ips,
	       size_t nr_ips)
{
	TELL(tgid, SAMPLE,
	     .sample = { .ip = ip, .domain = domain, .ips = ips, .nr_ips = nr_ips });
}

long counted(const char *path, uint64_t key)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { .fd = -1 };
	struct spec_sample_node nodes[64];
	ssize_t n;
	long sum = 0;

	if (spec_sample_open(session_fd, path, &r, NULL))
		return -1;
	n = spec_sample_read(&r, 0, nodes, 64, NULL);
	for (ssize_t i = 0; i < n; i++)
		sum += nodes[i].key == key ? (long)nodes[i].value : 0;
	return sum;
}

uint64_t stat_of(enum spec_stat s)
{
	return c.stats.value[s];
}

void expect_balance(void)
{
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), stat_of(SPEC_STAT_STORED) +
						       spec_stats_lost(&c.stats) +
						       spec_stats_ignored(&c.stats));
}
