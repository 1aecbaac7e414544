/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_BUILTIN_H
#define EVENTS_BUILTIN_H

#include <stddef.h>

/* The files below events/tables/, which programs carry with them. */
struct ev_builtin {
	const char *path; /* "timer/events" */
	const char *text, *end;
};
extern const struct ev_builtin ev_builtins[];
extern const size_t ev_nr_builtins;

#endif
