// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "control.h"
#include "notices.h"
#include "oprofilefs.h"
#include "perf_source.h"
#include "timer_source.h"
#include "sync.h"

static int __init opk_init(void)
{
	int rc = opk_sync_init();

	if (rc)
		return rc;
	rc = opk_notices_init();
	if (rc)
		goto undo_sync;
	opk_source_register(&opk_source_perf);
	opk_source_register(&opk_source_timer);
	rc = opk_fs_init();
	if (rc)
		goto undo_notices;
	return 0;
undo_notices:
	opk_notices_exit();
undo_sync:
	opk_sync_exit();
	return rc;
}

static void __exit opk_exit(void)
{
	opk_fs_exit();
	opk_notices_exit();
	opk_sync_exit();
	opk_control_free();
}

module_init(opk_init);
module_exit(opk_exit);

MODULE_DESCRIPTION("Samples of what the CPUs do, for opfs");
MODULE_LICENSE("GPL");
