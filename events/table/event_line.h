/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_EVENT_LINE_H
#define EVENTS_TABLE_EVENT_LINE_H

struct ev_parse;

/* Takes a line of "events" that is neither empty nor a comment. */
int ev_event_line(struct ev_parse *p, char *line);

#endif
