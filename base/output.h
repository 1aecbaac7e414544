/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

/**
 * output_end - writes what stdout still holds
 * @program: whose message begins with it
 * Returns 0, or 1 if something that was printed could not be written, with a message on
 * stderr unless nobody reads any more (EPIPE).
 */
int output_end(const char *program);

#endif
