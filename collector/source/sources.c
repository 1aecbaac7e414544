/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/sources.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "collector/source/driver.h"
#include "collector/source/perf.h"
#include "collector/source/replay.h"

const struct coll_source_kind *const coll_sources[] = {
	&coll_source_perf,
	&coll_source_driver,
	&coll_source_replay,
	NULL,
};

int coll_source_find(const char *name, const struct coll_source_kind **out,
		     struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };

	for (size_t i = 0; coll_sources[i]; i++) {
		if (coll_sources[i]->saved)
			continue;
		if (!strcmp(name, coll_sources[i]->name)) {
			*out = coll_sources[i];
			return 0;
		}
		strbuf_printf(&names, "%s%s", names.len ? " or " : "",
			      coll_sources[i]->name);
	}
	return err_set(err, -EINVAL, "--source=%s: it is %s", name, strbuf_str(&names));
}
