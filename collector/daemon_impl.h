/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_IMPL_H
#define COLLECTOR_DAEMON_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/config.h"
#include "collector/control.h"
#include "collector/daemon_options.h"
#include "collector/engine.h"
#include "collector/keeper.h"
#include "collector/seal.h"

/* For collector/daemon*.c only. */

/* How far it has come with a disk that is nearly full. */
enum disk { DISK_FINE, DISK_ROTATED, DISK_MAKING_ROOM };

struct daemon {
	struct coll_config config;
	struct coll_daemon_options opt; /* borrows from @config */
	struct coll_engine engine;
	struct coll_control control;
	struct coll_keeper *keeper;
	int signal_fd;
	int nice;               /* of the thread that takes samples */
	bool quit;
	bool deinit;            /* "deinit" was the last word: nothing of the machine is held */
	char why_stopped[512];  /* "": asked to */
	char cpus[256];         /* those online when the source was opened */
	uint64_t begun_s;       /* CLOCK_REALTIME: when the daemon began, */
	uint64_t changed_s;     /* and when sampling began or ended last */
	uint64_t session_ns;    /* CLOCK_BOOTTIME: when the session was begun */
	/* CLOCK_MONOTONIC: when that was done last */
	uint64_t looked_ns, cpus_ns, checkpoint_ns;
	bool checkpointing;
	int told_broken;        /* what of the sink's failures was logged */
	enum disk disk;
	uint64_t disk_ns;       /* when @disk changed */
	uint64_t removed;       /* sessions, when room was made last */
	unsigned rotations, resets;
};

/* ---- daemon_do.c: what it can be told.  0 or -errno, and what is told about it */

int daemon_start(struct daemon *d, struct err *err);
/* @why: "" if somebody asked for it */
void daemon_stop(struct daemon *d, const char *why);
/* @name NULL: by the time.  @old: NULL, or receives what it is called now. */
int daemon_rotate(struct daemon *d, const char *name, struct strbuf *old, struct err *err);
/* A coll_control_do. */
int daemon_do(void *ctx, const struct coll_packet *request, struct strbuf *answer,
	      struct err *err);

/* ---- daemon_watch.c: what is to be done from time to time */

void daemon_watch(struct daemon *d);
void daemon_read_cpus(char *text, size_t size);
/* Bytes that are free for us where the session lies. */
uint64_t daemon_disk_free(const struct daemon *d);

/* ---- daemon_status.c */

void daemon_status(struct daemon *d, bool json, struct strbuf *out);

/* ---- daemon_log.c: journal, file, and the service manager */

/* Before and after it went into the background.  0 or -errno. */
int daemon_log_open(const struct coll_daemon_options *o, struct err *err);
/* The file may have been moved away. */
void daemon_log_reopen(void);
/* "READY=1", "STOPPING=1", ...; nothing if no service manager asks. */
void daemon_notify(const char *state);
void daemon_notify_status(const struct daemon *d);

#endif
