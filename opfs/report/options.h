/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_OPTIONS_H
#define OPFS_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "libspec/spec/class.h"
#include "libspec/spec/spec.h"
#include "libsym/table/demangle.h"
#include "opfs/report/view.h"

/*
 * What the presenting tags of a specification ask of a report.  All zeros are the
 * defaults.  Borrows from the specification.
 */
struct options {
	struct view_options view;
	struct spec_class_rules classes; /* merge:, split: */
	bool merge_lib, merge_kernel;
	bool regions; /* processes are told apart, and so is the memory of each */
	enum sym_demangle_style demangle;
	bool debug_info;               /* with:debug-info */
	bool inlines;                  /* with:inlines */
	bool source;                   /* with:source */
	bool inverted;                 /* with:inverted */
	bool icicle;                   /* with:icicle */
	const struct spec_value *span; /* time: or last:, NULL: neither was given */
	const char *span_tag;          /* which of both */
	const char *syntax;            /* as objdump -M; NULL: none given */
	const struct spec_value *include_symbols, *exclude_symbols; /* NULL: not given */
	const struct spec_value *include_file, *exclude_file;
	const struct spec_value *image_path, *root, *search_dirs, *base_dirs;
	uint64_t tags; /* presenting tags that were given: OPTION_TAG() */
	uint64_t
		/* words that were given to any tag: those of with: are OPTION_WITH() */
		words;
};

#define OPTION_TAG(id) (1ull << SPEC_##id)
#define OPTION_WITH(id) (1ull << SPEC_WORD_WITH_##id)

/**
 * options_init - reads the presenting tags
 * @spec: must outlive @o
 * Cannot fail: each value was checked when the specification was made.
 */
void options_init(struct options *o, const struct spec *spec);

/* Appends to a key the tags that change what is loaded, not only how it is shown. */
void options_profile_key(const struct options *o, struct strbuf *key);

#endif
