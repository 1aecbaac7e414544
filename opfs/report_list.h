/* SPDX-License-Identifier: GPL-2.0-or-later */
/* REPORT(id): the files of a profile directory, in directory order. */
REPORT(readme)
REPORT(status)
REPORT(summary)
REPORT(symbols)
REPORT(tsv)
