/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"

static bool under_app(unsigned separate, bool kernel)
{
	return separate & (kernel ? COLL_SEPARATE_KERNEL : COLL_SEPARATE_LIB);
}

bool coll_route(unsigned separate, const struct coll_context *c, struct coll_key *key)
{
	bool need_app =
		under_app(separate, c->kernel) || c->image->name.kind == SPEC_IMAGE_ANON;

	if (need_app && !c->app && !c->kernel)
		return false;
	*key = (struct coll_key){
		.app = need_app && c->app ? c->app : c->image,
		.image = c->image,
		.event = c->event,
		.tgid = separate & COLL_SEPARATE_THREAD ? (int64_t)c->tgid : SPEC_ALL,
		.tid = separate & COLL_SEPARATE_THREAD ? (int64_t)c->tid : SPEC_ALL,
		.cpu = separate & COLL_SEPARATE_CPU ? (int64_t)c->cpu : SPEC_ALL,
	};
	return true;
}

bool coll_route_wanted(unsigned separate, const struct coll_context *c)
{
	return c->image->wanted ||
	       (c->app && c->app->wanted && under_app(separate, c->kernel));
}

static const struct word {
	const char *name;
	unsigned sets;
} words[] = {
	{ "none", 0 },
	{ "lib", COLL_SEPARATE_LIB },
	{ "library", COLL_SEPARATE_LIB },
	{ "kernel", COLL_SEPARATE_LIB | COLL_SEPARATE_KERNEL },
	{ "thread", COLL_SEPARATE_THREAD },
	{ "cpu", COLL_SEPARATE_CPU },
	{ "all", COLL_SEPARATE_LIB | COLL_SEPARATE_KERNEL | COLL_SEPARATE_THREAD |
			 COLL_SEPARATE_CPU },
};

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

static int unknown_word(const char *name, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	struct nearest near = { .typed = name };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		nearest_offer(&near, words[i].name);
	nearest_tell(&near, "", &meant);
	return err_set(err, -EINVAL,
		       "--separate: \"%s\" is none of none, lib, kernel, thread, cpu, "
		       "all%s",
		       name, strbuf_str(&meant));
}

int coll_separate_parse(const char *list, unsigned *out, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(list);
	unsigned set = 0;
	bool filing = false; /* does a word say under what images are filed? */
	char *rest = copy, *name;

	if (!copy)
		return err_errno(err, -ENOMEM, "--separate");
	while ((name = strsep(&rest, ","))) {
		const struct word *word = find_word(name);

		if (!word)
			return unknown_word(name, err);
		filing |= !word->sets || word->sets & COLL_SEPARATE_LIB;
		set = word->sets ? set | word->sets : 0;
	}
	*out = filing ? set : set | COLL_SEPARATE_DEFAULT;
	return 0;
}

void coll_separate_print(unsigned separate, struct strbuf *out)
{
	const size_t all = sizeof(words) / sizeof(words[0]) - 1;
	unsigned told = 0;

	/* first the words that mean one thing each, then those that include others */
	for (size_t i = all; i-- > 1;) {
		if (!strcmp(words[i].name, "library") ||
		    (words[i].sets & separate) != words[i].sets ||
		    (words[i].sets & ~told) == 0)
			continue;
		strbuf_printf(out, "%s%s", told ? "," : "", words[i].name);
		told |= words[i].sets;
	}
	if (!told)
		strbuf_puts(out, "none");
}
