/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define ONLINE "/sys/devices/system/cpu/online"

int coll_cpus_online(struct ids *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (file_slurp(AT_FDCWD, ONLINE, 1 << 16, &text, NULL) || !text.len) {
		strbuf_reset(&text);
		strbuf_printf(&text, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	}
	if (strbuf_error(&text))
		return err_errno(err, -ENOMEM, ONLINE);
	strbuf_truncate(&text, strcspn(text.data, "\n"));
	return ids_parse_ranges(out, text.data, ONLINE, err);
}
