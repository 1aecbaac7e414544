/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_PASS_H
#define BASE_BOX_PASS_H

#include <stddef.h>
#include <sys/types.h>

/* Descriptors that go from process to process, over sockets of the AF_UNIX family. */

/**
 * box_pass_send - sends a message, and a descriptor with it
 * @fd: stays the caller's; -1: none
 * @len: at least 1; of a SOCK_STREAM all is sent, or part of it
 * Returns bytes sent, or -errno (-EPIPE, without a signal, if nobody is there).
 */
ssize_t box_pass_send(int socket, const void *data, size_t len, int fd);

/**
 * box_pass_receive - receives what box_pass_send() sent
 * @flags: MSG_DONTWAIT, or 0
 * @fd: the caller's, closed when it executes another program; -1: none came.  More than
 *	one that a message may hold are closed.
 * Returns bytes received, 0 at the end, or -errno.
 */
ssize_t box_pass_receive(int socket, void *data, size_t len, int flags, int *fd);

#endif
