/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_STACK_SINK_H
#define COLLECTOR_STORE_STACK_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/store/sink.h"
#include "collector/store/stack.h"
#include "libspec/stack/stack_write.h"

/* The last stack of a lane, the outermost frame first, and the nodes of it: the next one
 * mostly begins alike. */
struct coll_stack_lane {
	size_t nr;
	struct coll_frame frames[COLL_MAX_STACK];
	uint32_t nodes[COLL_MAX_STACK];
};

/*
 * The stacks of a session: its table of frames, which is made at the first stack, and the
 * sample files beside it.  What fails here costs stacks, and no samples.
 */
struct coll_stack_sink {
	struct coll_sink
		sink;   /* of the directory "stacks"; -1: nothing was counted yet */
	int session_fd; /* borrowed */
	size_t limit;   /* bytes of nodes; 0: COLL_STACK_LIMIT */
	struct spec_stack_writer *writer; /* NULL: closed */
	uint32_t table;                   /* counts the writers */
	uint32_t synced;  /* nodes on the disk, as far as this writer was asked */
	int failed;       /* why stacks cannot be stored now; 0: they can */
	uint32_t skipped; /* stacks since that failure */
	struct coll_stack_lane *lanes; /* COLL_STACK_LANES, with a writer */
};

#define COLL_STACK_LIMIT (64u << 20)

/* 0 or -ENOMEM.  @session_fd is borrowed. */
int coll_stack_sink_init(struct coll_stack_sink *s, int session_fd,
			 struct coll_images *images, const struct coll_sink_event *events,
			 struct err *err);
void coll_stack_sink_fini(struct coll_stack_sink *s);

/**
 * coll_stack_sink_node - the node of a stack, to be counted in @s->sink
 * @separate: enum coll_separate, for the table
 * Adds frames that are new; where there is no room for one the node is SPEC_STACK_FIRST.
 * Gives its images their rows in the tables.  Returns 0, or -errno if the stack cannot be
 * stored: the first such failure is kept in @s->sink.
 */
int coll_stack_sink_node(struct coll_stack_sink *s, unsigned separate,
			 const struct coll_stack *stack, uint32_t *node);

/* Closes the table, as long as no stack comes. */
void coll_stack_sink_close(struct coll_stack_sink *s);
/* As coll_sink_move(). */
void coll_stack_sink_move(struct coll_stack_sink *s, int session_fd);
/* As coll_sink_write_back(): frames first, for counts are of them. */
bool coll_stack_sink_write_back(struct coll_stack_sink *s, uint64_t until_ns);
/* On the disk, of all files met. */
size_t coll_stack_sink_bytes(const struct coll_stack_sink *s);

#endif
