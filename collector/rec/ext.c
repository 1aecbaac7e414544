/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rec/ext.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/opt.h"
#include "collector/rec/ext_ibs.h"

static const struct coll_ext_feature *const features[] = { &coll_ext_ibs };

enum { NR_FEATURES = sizeof(features) / sizeof(features[0]) };

static const struct coll_ext_feature *find_feature(const char *name, size_t len)
{
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (strlen(features[i]->name) == len &&
		    !strncmp(features[i]->name, name, len))
			return features[i];
	return NULL;
}

static int unknown(const char *arg, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };

	for (size_t i = 0; i < NR_FEATURES; i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", features[i]->name);
	return err_set(
		err, -EINVAL,
		"--ext-feature=%s: there is no such feature; write NAME:ARGS, with "
		"one of: %s",
		arg, strbuf_str(&names));
}

int coll_ext_parse(struct coll_ext *x, const char *arg, struct err *err)
{
	const char *colon = strchrnul(arg, ':');
	const struct coll_ext_feature *f = find_feature(arg, (size_t)(colon - arg));

	if (!f)
		return unknown(arg, err);
	if (x->feature)
		return err_set(
			err, -EINVAL,
			"--ext-feature=%s: one feature at a time, and %s is chosen "
			"already",
			arg, x->feature->name);
	x->feature = f;
	return f->init(x, *colon ? colon + 1 : "", err);
}

/* NAME:COUNT[:UNITMASK[:1[:1]]]: these samples cannot be taken of one mode only. */
static int parse_word(char *rest, const char *word, uint64_t *count, uint64_t *unit_mask,
		      struct err *err)
{
	unsigned long long values[4] = { 0, 0, 1, 1 };
	const char *field;
	int n = 0;

	while ((field = strsep(&rest, ":"))) {
		if (n == 4)
			return err_set(err, -EINVAL,
				       "event %s: more than five fields: it is "
				       "NAME:COUNT:UNITMASK:KERNEL:USER",
				       word);
		if (*field && opt_number(field, word, 0, UINT32_MAX, &values[n], err))
			return -EINVAL;
		n++;
	}
	if (values[2] != 1 || values[3] != 1)
		return err_set(err, -EINVAL,
			       "event %s: it is sampled in kernel and user code alike: "
			       "write 1:1, or leave the last two fields out",
			       word);
	*count = values[0];
	*unit_mask = values[1];
	return 0;
}

static const struct coll_ext_feature *feature_of(const char *event)
{
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (features[i]->knows(event))
			return features[i];
	return NULL;
}

bool coll_ext_knows(const char *word)
{
	CLEANUP(free_ptr) char *name = strndup(word, strcspn(word, ":"));

	return name && feature_of(name);
}

int coll_ext_event(struct coll_ext *x, const char *word, struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(word);
	char *rest = copy, *name = copy ? strsep(&rest, ":") : NULL;
	uint64_t count, unit_mask;
	int rc;

	if (!copy)
		return err_errno(err, -ENOMEM, "-e");
	x->feature = feature_of(name);
	rc = parse_word(rest, word, &count, &unit_mask, err);
	return rc ? rc : x->feature->choose(x, name, count, unit_mask, err);
}

enum coll_ext_result coll_ext_derive(struct coll_ext *x, const struct coll_ext_sample *s,
				     struct coll_ext_hit *hits, size_t *nr)
{
	enum coll_ext_result result = COLL_EXT_UNASKED;

	*nr = 0;
	if (x->feature)
		result = x->feature->derive(x, s, hits, nr);
	x->result[result]++;
	x->hits += *nr;
	return result;
}

void coll_ext_print_stats(const struct coll_ext *x, struct strbuf *out)
{
	static const char *const names[COLL_NR_EXT_RESULT] = {
		[COLL_EXT_TAKEN] = "samples",
		[COLL_EXT_INCOMPLETE] = "incomplete",
		[COLL_EXT_INVALID] = "without a valid address",
		[COLL_EXT_UNASKED] = "of a kind not asked for",
	};

	if (!x->feature)
		return;
	strbuf_printf(out, "%s:", x->feature->name);
	for (int i = 0; i < COLL_NR_EXT_RESULT; i++)
		if (x->result[i] || i == COLL_EXT_TAKEN)
			strbuf_printf(out, "%s %" PRIu64 " %s", i ? "," : "",
				      x->result[i], names[i]);
	strbuf_printf(out, ", %" PRIu64 " derived events", x->hits);
}

void coll_ext_fini(struct coll_ext *x)
{
	vec_fini(&x->events);
	x->feature = NULL;
}
