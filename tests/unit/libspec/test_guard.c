/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libspec/sample/guard.h"

enum { PAGE = 4096 };

/* A shared mapping of @len bytes, of a file that has @have of them. */
static char *map_file(size_t len, size_t have)
{
	CLEANUP(close_fd) int fd = memfd_create("guarded", MFD_CLOEXEC);
	char *base;

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)have), 0);
	base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(base, MAP_FAILED);
	return base;
}

static void store(char *at, char value)
{
	*(volatile char *)at = value;
}

static char load(const char *at)
{
	return *(const volatile char *)at;
}

Test(guard, lets_a_store_behind_the_end_of_a_file_land_in_memory)
{
	char *base = map_file(4 * PAGE, 2 * PAGE), *other = map_file(PAGE, PAGE);
	struct spec_guard *g = spec_guard_new(base, 4 * PAGE);
	struct spec_guard *h = spec_guard_new(other, PAGE);

	store(base, 'a');
	cr_expect_not(spec_guard_failed(g));
	store(base + 3 * PAGE, 'b');
	cr_expect(spec_guard_failed(g));
	cr_expect_eq(load(base + 3 * PAGE), 'b');
	cr_expect_eq(load(base), 0, "memory stands in for all of it");
	store(base + 2 * PAGE, 'c');
	cr_expect_eq(spec_guard_failures, 1, "it fails once");
	store(other, 'd');
	cr_expect_not(spec_guard_failed(h), "the others go on");
	spec_guard_free(g);
	spec_guard_free(h);
}

Test(guard, lets_a_load_read_zeros)
{
	char *base = map_file(PAGE, 0);
	struct spec_guard *g = spec_guard_new(base, PAGE);

	cr_expect_eq(load(base + 17), 0);
	cr_expect(spec_guard_failed(g));
	spec_guard_free(g);
}

/* How a process ends that stores where no guard is. */
static int status_of(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void store_beside(void)
{
	char *base = map_file(PAGE, 0), *bare = map_file(PAGE, 0);
	struct spec_guard *g = spec_guard_new(base, PAGE);

	store(base, 'a');
	if (!spec_guard_failed(g))
		_exit(1);
	store(bare, 'b');
}

static void store_after(void)
{
	char *base = map_file(PAGE, 0);

	spec_guard_free(spec_guard_new(base, PAGE));
	store(base, 'a');
}

static void be_sent_one(void)
{
	spec_guard_new(map_file(PAGE, 0), PAGE);
	raise(SIGBUS);
}

static void own_handler(int signo)
{
	(void)signo;
	_exit(7);
}

static void store_with_own_handler(void)
{
	signal(SIGBUS, own_handler);
	store_beside();
}

Test(guard, leaves_every_other_fault_what_it_was)
{
	int status;

	signal(SIGBUS, SIG_DFL); /* criterion's */
	status = status_of(store_beside);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = status_of(store_after);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = status_of(be_sent_one);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = status_of(store_with_own_handler);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void *work(void *arg)
{
	for (int i = 0; i < 500; i++) {
		char *base = map_file(2 * PAGE, i % 2 ? PAGE : 2 * PAGE);
		struct spec_guard *g = spec_guard_new(base, 2 * PAGE);

		store(base + PAGE, 'x');
		if (spec_guard_failed(g) != (i % 2))
			*(bool *)arg = true;
		spec_guard_free(g);
		munmap(base, 2 * PAGE);
	}
	return NULL;
}

Test(guard, is_of_its_thread)
{
	pthread_t threads[4];
	bool wrong[4] = { false };

	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, work, &wrong[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		cr_expect_not(wrong[i]);
	}
	cr_expect_eq(spec_guard_failures, 0, "it is counted by thread");
}
