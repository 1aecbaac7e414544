/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_SINK_H
#define COLLECTOR_STORE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/who/images.h"
#include "libspec/sample/sample_write.h"

/*
 * The sample files being counted in.  Which file is a struct coll_key; files are opened
 * at their first sample and closed, least recently used first, when there are too many,
 * or too much of them is mapped.  A file that was closed is remembered until the disk has
 * what was counted in it.
 */
struct coll_key {
	const struct coll_image *app, *image;
	uint32_t event;
	int64_t tgid, tid, cpu; /* SPEC_ALL: not separated */
};

/* What sample files say of an event. */
struct coll_sink_event {
	const char *name; /* borrowed */
	uint64_t count, unit_mask;
	uint32_t cpu_type, code;
	double cpu_mhz;
};

struct coll_file;

struct coll_sink {
	int session_fd;             /* borrowed */
	struct coll_images *images; /* borrowed */
	const struct coll_sink_event *events;
	struct coll_file **table; /* hash of files by key; open chains */
	uint32_t cap, nr;         /* slots, files */
	uint32_t open, max_open;
	/* bytes of the open files, which are mapped; of all files met, on the disk */
	size_t mapped, max_mapped, bytes;
	struct coll_file *newest, *oldest; /* open ones, by use */
	uint32_t checkpoint; /* number of the last that was begun; 0: none */
	/* closed ones that may not be on the disk, by the time they were closed */
	struct coll_file *unsure_first, *unsure_last;
	uint32_t unsure;
	uint32_t separated, max_separated; /* files of threads or CPUs; 0: any number */
	/* counted as stored, then refused by the disk; the caller subtracts it */
	uint64_t lost;
	const char *what; /* is counted there, for the log */
	int broken;       /* the first failure: -ENOSPC, ...; 0: none */
	struct err why;
};

/* @max_open: files open at once; 0: what the descriptor limit leaves. */
int coll_sink_init(struct coll_sink *s, int session_fd, struct coll_images *images,
		   const struct coll_sink_event *events, uint32_t max_open,
		   struct err *err);
void coll_sink_fini(struct coll_sink *s);

/**
 * coll_sink_add - counts a sample
 * @at: the sample file's key: an offset, or the node of a stack
 * @weight: how often; 1 but for what was measured
 * @counts: how many of the figures it is: 0 if it is one more event of a sample
 * Returns 0, or -errno if it could not be stored: the first such failure is kept in
 * @broken and @why.
 */
int coll_sink_add(struct coll_sink *s, const struct coll_key *key, uint64_t at,
		  uint32_t weight, uint32_t counts);

/**
 * coll_sink_fold - whether a sample must do without a file of its thread or CPU
 * @key: made that of all threads and CPUs, if there are @max_separated others
 * So a session has a bounded number of files for each program and image, however many
 * threads come and go.  To be asked before coll_sink_add().
 */
bool coll_sink_fold(struct coll_sink *s, struct coll_key *key);

/* Closes all files and goes on in another session; what was broken is forgiven.  Whether
 * the disk takes what is in the old one is for coll_seal() to ask. */
void coll_sink_move(struct coll_sink *s, int session_fd);

/* Begins a checkpoint: what was counted by now shall be on the disk after it. */
void coll_sink_checkpoint(struct coll_sink *s);
/* Starts writing back all files, so that no single one has to be waited for. */
void coll_sink_write_soon(const struct coll_sink *s);
/**
 * coll_sink_write_back - goes on with the checkpoint
 * @until_ns: CLOCK_MONOTONIC: begins no other file after that
 * What the disk refuses goes from the figures to the losses (@lost, @broken), and its
 * file is treated as one that could not be grown.  Returns whether there is more to do.
 */
bool coll_sink_write_back(struct coll_sink *s, uint64_t until_ns);

#endif
