/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TOPIC(name, its word): what --verbose=LIST selects, in operf's words. */
TOPIC(MISC, "misc")
TOPIC(RECORD, "record")
TOPIC(CONVERT, "convert")
TOPIC(SFILE, "sfile")
TOPIC(ARCS, "arcs")
