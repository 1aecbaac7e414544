/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_ASM_H
#define OPFS_REPORT_SOURCE_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "libsym/wire/disasm.h"
#include "opfs/report/report.h"

/*
 * The data of `asm`: functions (or the parts of an image outside of them) by descending
 * samples, and their instructions, fetched for many functions at once.
 */
struct asm_unit {
	const struct profile_row *const *rows; /* of all applications: one symbol */
	size_t nr_rows;
	uint64_t *samples;        /* one a class */
	struct sym_range *ranges; /* the code to be shown, by off */
	size_t nr_ranges;
	size_t first_code;       /* of its ranges in @code->codes */
	struct sym_disasm *code; /* NULL: none was asked for; borrowed from the window */
};

struct asm_units {
	struct asm_unit *units; /* by descending samples */
	size_t nr;
	struct sym_disasm **broken; /* private: by image, those whose helper died */
	size_t nr_images;
	struct arena arena;
};

/* As many successive units as may be in memory at once. */
struct asm_window {
	size_t first, end;
	struct sym_disasm **codes; /* one an image of the window */
	size_t nr_codes;
};

#define ASM_AROUND 32u /* bytes before and behind a sample outside every symbol */

void asm_units_fini(struct asm_units *u);

/*
 * Groups the rows of a view by symbol; leaves out those below the threshold (percent of
 * @totals).  0 or -ENOMEM.
 */
int asm_units_make(struct asm_units *u, const struct view *view, double threshold);

/**
 * asm_window_next - fetches the code of the units behind those of the last window
 * @w: zeroed before the first call; what it held is freed
 * Returns 1, or 0 if there are no more units; -EINVAL: the options are not those of the
 * processor; -EINTR; -ENOMEM; another errno: no helper can be started.
 */
int asm_window_next(struct asm_window *w, struct asm_units *u,
		    const struct report_job *job, struct err *err);
void asm_window_fini(struct asm_window *w);

/* Why there is no code for a unit, in one line; NULL if there is code. */
const char *asm_reason(const struct asm_unit *u, const struct profile *p);

#endif
