/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_REPLAY_H
#define COLLECTOR_SOURCE_REPLAY_H

#include "collector/source/source.h"

/* A saved stream of the driver's event buffer; the path "-" is standard input. */
extern const struct coll_source_kind coll_source_replay;

#endif
