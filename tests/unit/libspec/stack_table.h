/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_LIBSPEC_STACK_TABLE_H
#define TESTS_LIBSPEC_STACK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libspec/stack/stack_read.h"
#include "libspec/stack/stack_write.h"
#include "tests/unit/libspec/scratch.h"

/*
 * A table in which each node's number tells what it must be: frames that differ, some of
 * them ends, at different depths.
 */
struct spec_stack_node table_frame(uint32_t number);
bool table_same(struct spec_stack_node a, struct spec_stack_node b);

struct spec_stack_writer *table_open(const struct scratch *s, size_t max_bytes);
/* Adds table_frame(number); the number that it got. */
uint32_t table_add(struct spec_stack_writer *w, uint32_t number);
/* Adds a frame that is none of these, one a @nth. */
uint32_t table_add_other(struct spec_stack_writer *w, uint32_t nth);
/* Adds frames until the table has @nr nodes, and expects each at its number. */
void table_grow_to(struct spec_stack_writer *w, uint32_t nr);

/* Reads the table, which must be readable. */
struct spec_stacks table_read(const struct scratch *s);
/* How many nodes say that they were lost; every other one must be table_frame(). */
uint32_t table_lost(const struct spec_stacks *t, uint32_t nr);

/* Replaces the file of frames. */
void table_put(const struct scratch *s, const void *data, size_t len);
char *table_bytes(const struct scratch *s, size_t *len);

#endif
