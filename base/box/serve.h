/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_SERVE_H
#define BASE_BOX_SERVE_H

#include "base/box/box.h"

#define BOX_OPTION "--box="

enum { BOX_UNKNOWN = 2 }; /* exit status: no such kind, or nobody started it */

/*
 * The box itself.  Its control socket is BOX_FD; a message there is a struct box_limits
 * with a job's socket.  Returns an exit status when its program has gone.
 */
int box_serve(const struct box_kind *kind);

#endif
