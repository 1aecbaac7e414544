// SPDX-License-Identifier: GPL-2.0-or-later
#include "notices.h"

#include <linux/module.h>
#include <linux/notifier.h>

#include "compat.h"
#include "control.h"
#include "event_buffer.h"
#include "sync.h"
#include "uapi/opfs_buffer.h"

/* Process context; no lock of ours is held. */
static int module_changed(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *mod = data;
	unsigned long text, size;

	if (!READ_ONCE(opk_running) ||
	    (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING))
		return NOTIFY_DONE;
	text = opk_module_text(mod, &size);
	/* What was sampled so far goes before the notice: addresses change hands. */
	opk_sync();
	opk_event_module(state == MODULE_STATE_COMING ? OPK_MODULE_LOADED :
							OPK_MODULE_GOING,
			 mod->name, text, size);
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = module_changed };

int opk_notices_init(void)
{
	return register_module_notifier(&block);
}

void opk_notices_exit(void)
{
	unregister_module_notifier(&block);
}
