/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/options.h"

#include <string.h>

/* What a word sets.  Sort keys and demangling are no switches: see below. */
struct switch_row {
	enum spec_word_id word;
	size_t off; /* of a bool in struct options */
};

#define SWITCH(word, member)                                                             \
	{                                                                                \
		SPEC_WORD_##word, offsetof(struct options, member)                       \
	}

static const struct switch_row switches[] = {
	SWITCH(MERGE_LIB, merge_lib),
	SWITCH(MERGE_LIBRARY, merge_lib),
	SWITCH(MERGE_KERNEL, merge_kernel),
	SWITCH(MERGE_UNITMASK, classes.merge_unitmask),
	SWITCH(MERGE_ALL, merge_lib),
	SWITCH(MERGE_ALL, classes.merge_unitmask),
	SWITCH(SPLIT_CPU, classes.split_cpu),
	SWITCH(SPLIT_TID, classes.split_tid),
	SWITCH(SPLIT_TGID, classes.split_tgid),
	SWITCH(WITH_ACCUMULATED, view.accumulated),
	SWITCH(WITH_REVERSE_SORT, view.reverse),
	SWITCH(WITH_SHOW_ADDRESS, view.show_address),
	SWITCH(WITH_DEBUG_INFO, debug_info),
	SWITCH(WITH_LONG_FILENAMES, view.long_filenames),
	SWITCH(WITH_NO_HEADER, view.no_header),
	SWITCH(WITH_GLOBAL_PERCENT, view.global_percent),
	SWITCH(WITH_EXCLUDE_DEPENDENT, view.exclude_dependent),
	SWITCH(WITH_INLINES, inlines),
	SWITCH(WITH_SOURCE, source),
	SWITCH(WITH_CHILDREN, view.children),
	SWITCH(WITH_INVERTED, inverted),
	SWITCH(WITH_ICICLE, icicle),
};

static const struct {
	enum spec_word_id word;
	enum view_key key;
} sort_keys[] = {
	{ SPEC_WORD_SORT_SAMPLE, VIEW_BY_SAMPLES },
	{ SPEC_WORD_SORT_IMAGE, VIEW_BY_IMAGE },
	{ SPEC_WORD_SORT_APP_NAME, VIEW_BY_APP },
	{ SPEC_WORD_SORT_SYMBOL, VIEW_BY_SYMBOL },
	{ SPEC_WORD_SORT_DEBUG, VIEW_BY_DEBUG },
	{ SPEC_WORD_SORT_VMA, VIEW_BY_VMA },
	{ SPEC_WORD_SORT_DIFF, VIEW_BY_DIFF },
};

static const struct {
	enum spec_word_id word;
	enum sym_demangle_style style;
} styles[] = {
	{ SPEC_WORD_DEMANGLE_NONE, SYM_DEMANGLE_NONE },
	{ SPEC_WORD_DEMANGLE_NORMAL, SYM_DEMANGLE_NORMAL },
	{ SPEC_WORD_DEMANGLE_SMART, SYM_DEMANGLE_SMART },
};

static const enum sym_demangle_style short_styles[] = {
	[SYM_DEMANGLE_NONE] = SYM_DEMANGLE_NONE,
	[SYM_DEMANGLE_NORMAL] = SYM_DEMANGLE_SHORT,
	[SYM_DEMANGLE_SMART] = SYM_DEMANGLE_SMART_SHORT,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void add_sort_key(struct view_options *v, enum view_key key)
{
	for (size_t i = 0; i < v->nr_sort; i++)
		if (v->sort[i] == key)
			return;
	v->sort[v->nr_sort++] = key;
}

static void read_word(struct options *o, enum spec_word_id word)
{
	o->words |= 1ull << word;
	for (size_t i = 0; i < NR(switches); i++)
		if (switches[i].word == word)
			*(bool *)((char *)o + switches[i].off) = true;
	for (size_t i = 0; i < NR(sort_keys); i++)
		if (sort_keys[i].word == word)
			add_sort_key(&o->view, sort_keys[i].key);
	for (size_t i = 0; i < NR(styles); i++)
		if (styles[i].word == word)
			o->demangle = styles[i].style;
}

void options_init(struct options *o, const struct spec *spec)
{
	const struct spec_tag *span = spec_span_tag(spec);

	*o = (struct options){
		.demangle = SYM_DEMANGLE_NORMAL,
		.include_symbols = spec->values[SPEC_INCLUDE_SYMBOLS],
		.exclude_symbols = spec->values[SPEC_EXCLUDE_SYMBOLS],
		.include_file = spec->values[SPEC_INCLUDE_FILE],
		.exclude_file = spec->values[SPEC_EXCLUDE_FILE],
		.image_path = spec->values[SPEC_IMAGE_PATH],
		.root = spec->values[SPEC_ROOT],
		.search_dirs = spec->values[SPEC_SEARCH_DIRS],
		.base_dirs = spec->values[SPEC_BASE_DIRS],
		.span = span ? spec->values[span->id] : NULL,
		.span_tag = span ? span->name : NULL,
	};
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = spec->values[i];

		if (!v || !spec_tag_presents(&spec_tags[i]))
			continue;
		o->tags |= 1ull << i;
		for (size_t w = 0; w < v->nr_words; w++)
			read_word(o, v->words[w]);
	}
	if (o->words & OPTION_WITH(SHORT_NAMES))
		o->demangle = short_styles[o->demangle];
	o->regions = o->classes.split_tgid || o->classes.split_tid ||
		     spec->values[SPEC_TGID] || spec->values[SPEC_TID];
	if (spec->values[SPEC_THRESHOLD])
		o->view.threshold = spec->values[SPEC_THRESHOLD]->percent;
	if (spec->values[SPEC_SYNTAX])
		o->syntax = spec->values[SPEC_SYNTAX]->text;
}

static void add_value(const struct spec_value *v, struct strbuf *key)
{
	if (v)
		strbuf_puts(key, v->raw);
	strbuf_putc(key, '\n');
}

void options_profile_key(const struct options *o, struct strbuf *key)
{
	strbuf_printf(key, "%d%d%d%d%d%d%d%d;", o->classes.split_cpu,
		      o->classes.split_tid, o->classes.split_tgid,
		      o->classes.merge_unitmask, o->merge_lib, o->merge_kernel,
		      (int)o->demangle, o->regions);
	add_value(o->image_path, key);
	add_value(o->root, key);
}
