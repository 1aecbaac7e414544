/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks and mappings that come and go while they are sampled:
 *
 * storm fork N A B      runs "A work 1" and "B work 1" in turn, N times each
 * storm kill N A B      runs "A forever" and "B forever" in turn and kills them
 * storm dl N A B        loads a library, works in it, unloads it, in turn
 * storm mmap N A B      three threads map a library each to an address of their own,
 *                       work in it and map the other one over it
 * storm images N A B    maps N new links of each library and works in one after another,
 *                       until it is killed: every sample may be one of a new image
 * A and B are twins (twin.h).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 300000 };

static const char *twins[2];
static long times;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static pid_t run(const char *path, const char *how, const char *arg)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	execl(path, path, how, arg, (char *)NULL);
	_exit(127);
}

static void storm_fork(void)
{
	int status;

	for (long i = 0; i < 2 * times; i++) {
		run(twins[i % 2], "work", "1");
		if (wait(&status) < 0 || status)
			fail("child");
	}
}

static void storm_kill(void)
{
	int status;

	for (long i = 0; i < 2 * times; i++) {
		pid_t pid = run(twins[i % 2], "forever", NULL);

		usleep(2000 + i % 7 * 500);
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status))
			fail("child");
	}
}

static void storm_dl(void)
{
	void *last = NULL;
	long same = 0;

	for (long i = 0; i < 2 * times; i++) {
		void *lib = dlopen(twins[i % 2], RTLD_NOW | RTLD_LOCAL);
		void (*work)(unsigned long) = NULL;
		Dl_info info = { 0 };

		if (lib)
			*(void **)&work = dlsym(lib, "twin_work");
		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		dladdr(*(void **)&work, &info);
		same += info.dli_fbase == last;
		last = info.dli_fbase;
		work(ROUNDS);
		dlclose(lib);
	}
	printf("coinciding %ld of %ld\n", same, 2 * times);
}

/* Where twin_work is in a library, by the loader's own view of it. */
static unsigned long work_offset(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	Dl_info info;

	if (!lib || !dladdr(dlsym(lib, "twin_work"), &info))
		fail(path);
	return (char *)info.dli_saddr - (char *)info.dli_fbase;
}

static void *map_and_work(void *unused)
{
	unsigned long offset[2] = { work_offset(twins[0]), work_offset(twins[1]) };
	int fd[2] = { open(twins[0], O_RDONLY), open(twins[1], O_RDONLY) };
	size_t size = 65536;
	char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || fd[0] < 0 || fd[1] < 0)
		fail("mmap");
	for (long i = 0; i < 2 * times; i++) {
		void (*work)(unsigned long);
		void *junk;

		if (mmap(at, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 fd[i % 2], 0) == MAP_FAILED)
			fail("mmap");
		*(void **)&work = at + offset[i % 2];
		work(ROUNDS / 10);
		junk = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (junk != MAP_FAILED)
			munmap(junk, 4096);
	}
	return unused;
}

static void storm_mmap(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, map_and_work, NULL))
			fail("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void storm_images(void)
{
	unsigned long offset[2] = { work_offset(twins[0]), work_offset(twins[1]) };
	char **at = calloc((size_t)times * 2, sizeof(*at));
	char name[32];

	for (long i = 0; at && i < 2 * times; i++) {
		int fd;

		snprintf(name, sizeof(name), "link.%ld", i);
		if (link(twins[i % 2], name))
			fail(name);
		fd = open(name, O_RDONLY);
		at[i] = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (fd < 0 || at[i] == MAP_FAILED)
			fail(name);
		close(fd);
	}
	for (long i = 0; at; i++) {
		void (*work)(unsigned long);

		*(void **)&work = at[i % (2 * times)] + offset[i % 2];
		work(ROUNDS / 10);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} storms[] = {
	{ "fork", storm_fork }, { "kill", storm_kill },     { "dl", storm_dl },
	{ "mmap", storm_mmap }, { "images", storm_images },
};

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	times = atol(argv[2]);
	twins[0] = argv[3];
	twins[1] = argv[4];
	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		if (strcmp(storms[i].name, argv[1]))
			continue;
		storms[i].run();
		return 0;
	}
	return 2;
}
