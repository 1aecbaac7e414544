/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_REC_REC_H
#define COLLECTOR_REC_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/rec/user_stack.h"
#include "libspec/session/stats.h"

/* What every source of samples turns its bytes into. */

enum coll_rec_kind {
	COLL_REC_SAMPLE,
	COLL_REC_MMAP,
	COLL_REC_COMM,
	COLL_REC_FORK,
	COLL_REC_EXIT,
	COLL_REC_LOST,
	COLL_REC_THROTTLE,
	COLL_REC_NONE, /* of no interest here */
	/* of sources that find out themselves where code is */
	COLL_REC_ORIGIN, /* what a handle stands for */
	COLL_REC_MODULE, /* a kernel module came or went */
	COLL_REC_FIGURE, /* adds to a figure that is no loss */
	COLL_NR_REC
};

/* The mode a sample was taken in. */
enum coll_domain { COLL_USER, COLL_KERNEL, COLL_OTHER /* guest, hypervisor */ };

enum { COLL_MAX_FRAMES = 1024, COLL_BUILD_ID = 20 };

/* Values of struct coll_frames.ips from here on name the mode of what follows. */
#define COLL_CONTEXT_MAX ((uint64_t)-4095)

struct coll_ext_sample; /* collector/rec/ext.h */

/*
 * Where code is, as a source knows it that resolves addresses itself: the offset in what
 * the handle stands for (COLL_REC_ORIGIN), or, in the kernel, an address.  Without a
 * handle user code is an address too, for the collector to resolve.
 */
struct coll_place {
	uint64_t at;
	uint64_t handle; /* 0: none */
	bool kernel;
};

enum { COLL_TASK_COMM = 16 };

/* The task that runs, as a source knows it that sees every task switch. */
struct coll_who {
	uint64_t seq;              /* another one in each: it need be looked at once */
	uint64_t app;              /* handle of its application; 0: none, or unknown */
	uint64_t start_ns;         /* of the thread, CLOCK_MONOTONIC */
	uint32_t execs;            /* how often it has executed a program */
	uint32_t parent;           /* tgid; 0: unknown */
	char comm[COLL_TASK_COMM]; /* NUL-terminated */
};

struct coll_sample {
	uint64_t ip;
	enum coll_domain domain;
	/* frames as the kernel gives them, innermost first, with context markers; NULL
	 * and 0 without call chains */
	const uint64_t *ips;
	size_t nr_ips;
	/* or, instead of these and @ip: the sampled place, then its callers, innermost
	 * first; NULL: the source gives addresses */
	const struct coll_place *places;
	size_t nr_places;
	const struct coll_who *who;        /* with @places */
	const struct coll_ext_sample *ext; /* more than an address; NULL: no more */
	/* what the callers of user code can be found by; NULL: it was not asked for, or
	 * is not known */
	const struct coll_user_stack *user_stack;
	uint32_t frames_lost; /* callers left out, since nobody knows where they are */
	bool cut;             /* as many callers as were asked for: there may be more */
	bool late;            /* resolved when it might have been something else */
};

struct coll_mmap {
	uint64_t start, len, pgoff; /* bytes */
	const char *filename;
	uint8_t build_id_len; /* 0: the next four tell the file */
	uint8_t build_id[COLL_BUILD_ID];
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_gen;
	bool kernel;
	uint64_t mtime, size; /* of the file; 0: unknown */
};

struct coll_module {
	const char *name;    /* "": it is not known which, and there may be more */
	uint64_t start, len; /* of its code; 0: unknown */
	bool going;
};

struct coll_rec {
	enum coll_rec_kind kind;
	uint64_t time_ns;   /* CLOCK_MONOTONIC; 0: before everything */
	uint32_t tgid, tid; /* whom it is about; of a fork: the child. UINT32_MAX: gone */
	uint32_t cpu;       /* UINT32_MAX: unknown */
	uint32_t event;     /* index of the event; SAMPLE, THROTTLE */
	union {
		struct coll_sample sample;
		struct coll_mmap mmap;
		struct {
			const char *name;
			bool exec;
		} comm;
		struct {
			uint32_t tgid, tid;
		} parent;                         /* FORK */
		uint64_t lost;                    /* LOST: records */
		const struct coll_module *module; /* MODULE */
		struct {
			uint64_t handle;
			/* a file; or a label ("[vdso]") in @mmap.filename and the
			 * region */
			struct coll_mmap mmap;
			bool region;
			bool gone; /* nothing will name the handle any more */
		} origin;          /* ORIGIN */
		uint64_t figure;   /* FIGURE: how much */
	};
	enum spec_stat why; /* LOST: the reason, 0: LOST_RECORDS; FIGURE: which */
};

/* Takes one record; everything in it is borrowed until it returns.  0 or -errno. */
typedef int (*coll_consume)(void *ctx, const struct coll_rec *rec);

#endif
