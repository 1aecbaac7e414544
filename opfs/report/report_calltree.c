/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/calltree_text.h"

static int render(const struct report_job *job, struct strbuf *out, struct err *err)
{
	return calltree_text(job, job->o->inverted, out, err);
}

const struct report report_calltree = {
	.name = "calltree",
	.doc = "each function below its callers, with the samples in it and all that it "
	       "called",
	.needs = PROFILE_STACKS,
	.calls = true,
	.inlines = true,
	.tags = CALLTREE_TAGS,
	.words = CALLTREE_WORDS,
	.check = calltree_text_check,
	.render = render,
};
