/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_SAMPLING_H
#define COLLECTOR_DAEMON_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/daemon/config.h"
#include "collector/daemon/control.h"
#include "collector/daemon/keeper.h"
#include "collector/daemon/options.h"
#include "collector/daemon/seal.h"
#include "collector/engine/engine.h"

/* The daemon, and what it does with samples: begins, ends, and goes on in another
 * session. */

/* How far it has come with a disk that is nearly full. */
enum disk { DISK_FINE, DISK_ROTATED, DISK_MAKING_ROOM };

struct daemon {
	struct coll_config config;
	struct coll_daemon_options opt; /* borrows from @config */
	struct coll_engine engine;
	struct coll_control control;
	struct coll_keeper *keeper;
	int signal_fd;
	bool quit;
	bool deinit; /* "deinit" was the last word: nothing of the machine is held */
	char why_stopped[512]; /* "": asked to */
	char cpus[256];        /* those online when the source was opened */
	uint64_t begun_s;      /* CLOCK_REALTIME: when the daemon began, */
	uint64_t changed_s;    /* and when sampling began or ended last */
	uint64_t session_ns;   /* CLOCK_BOOTTIME: when the session was begun */
	/* CLOCK_MONOTONIC: when that was done last */
	uint64_t looked_ns, cpus_ns, checkpoint_ns, containers_ns;
	bool checkpointing;
	int told_broken; /* what of the sink's failures was logged */
	enum disk disk;
	uint64_t disk_ns; /* when @disk changed */
	uint64_t removed; /* sessions, when room was made last */
	unsigned rotations, resets;
	bool untold;            /* at its end: figures could not be written */
	struct strbuf farewell; /* what those are told who wait for its end */
};

int daemon_start(struct daemon *d, struct err *err);
/* @why: "" if somebody asked for it */
void daemon_stop(struct daemon *d, const char *why);
/* Sees that what was sampled before this call is counted.  0 or -errno. */
int daemon_drain(struct daemon *d);
/* Has names of containers kept that are held open, whose files may be gone later. */
void daemon_keep_held(struct daemon *d);
/* @name NULL: by the time.  @old: NULL, or receives what it is called now. */
int daemon_rotate(struct daemon *d, const char *name, struct strbuf *old,
		  struct err *err);
/* Another session takes the place of the present one, which is removed. */
int daemon_empty(struct daemon *d, struct err *err);

/* "session "current" has N samples" */
void daemon_tell_session(const struct daemon *d, struct strbuf *out);
/* The CPUs that are online, as the kernel lists them. */
void daemon_read_cpus(char *text, size_t size);
/* Bytes that are free for us where the session lies. */
uint64_t daemon_disk_free(const struct daemon *d);

#endif
