/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How far long work has come, in a line on the terminal of who waits for it:
 * "opfs cat: reading symbols: 12 of 340 images".  It appears after a second and is erased
 * when the work ends.
 */

/* From now on, if stderr is a terminal: of @program, which is static. */
void progress_show(const char *program);

/* Work of @nr steps begins.  Texts are static; a @doing of NULL is not told of.  False if
 * it is not shown: nobody looks, or it is a part of what is shown; then do not call the
 * others. */
bool progress_begin(const char *doing, size_t nr, const char *things);
void progress_step(void); /* any thread */
void progress_end(void);

#endif
