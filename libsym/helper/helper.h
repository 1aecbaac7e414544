/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_HELPER_HELPER_H
#define LIBSYM_HELPER_HELPER_H

#include "base/box/box.h"

/* The box (base/box/box.h) whose jobs are answers to requests (libsym/wire/request.h). */
extern const struct box_kind sym_helper_box;

#endif
