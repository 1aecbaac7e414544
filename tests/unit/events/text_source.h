/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_EVENTS_TEXT_SOURCE_H
#define TESTS_EVENTS_TEXT_SOURCE_H

#include "events/table/table.h"

/* Tables from texts: pairs of path and text, ended by NULL. */
struct ev_source text_source(const char *const *pairs);

#endif
