/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_BASE_SCRATCH_H
#define TESTS_UNIT_BASE_SCRATCH_H

/* Makes a directory for a test; @dir ends in XXXXXX, as for mkdtemp().  Returns its
 * descriptor. */
int scratch_new(char *dir);
/* Removes it with all that is in it. */
void scratch_remove(const char *dir, int fd);

#endif
