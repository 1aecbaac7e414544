// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "files.h"

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "control.h"
#include "event_buffer.h"
#include "oprofilefs.h"
#include "perf_source.h"
#include "record.h"
#include "stats.h"
#include "sync.h"

static const struct opk_number numbers[] = {
	{ "buffer_size", &opk_settings.buffer_size, 4096, 1 << 24 },
	{ "buffer_watershed", &opk_settings.buffer_watershed, 256, 1 << 23 },
	{ "cpu_buffer_size", &opk_settings.cpu_buffer_size, 1024, 1 << 20 },
	{ "backtrace_depth", &opk_settings.backtrace_depth, 0, OPK_MAX_DEPTH },
	{ "user_stack", &opk_settings.user_stack, 0, OPK_MAX_STACK },
	{ "timer_hz", &opk_settings.timer_hz, 1, 100000 },
};

static int enable_show(struct seq_file *seq, void *unused)
{
	seq_puts(seq, READ_ONCE(opk_running) ? "1\n" : "0\n");
	return 0;
}

static ssize_t enable_write(struct file *file, const char __user *buf, size_t count,
			    loff_t *pos)
{
	char line[OPK_LINE];
	int rc = opk_take_line(line, buf, count, *pos);

	if (!rc && !strcmp(line, "1")) {
		rc = opk_control_start();
	} else if (!rc && !strcmp(line, "0")) {
		opk_control_stop();
	} else if (rc != -EFAULT) {
		pr_info("enable: must be 0 or 1\n");
		rc = -EINVAL;
	}
	return rc ? rc : count;
}

OPK_SHOW(enable, enable_write);

static int dump_open(struct inode *inode, struct file *file)
{
	return opk_permitted();
}

static ssize_t dump_write(struct file *file, const char __user *buf, size_t count,
			  loff_t *pos)
{
	char line[OPK_LINE];
	int rc = opk_take_line(line, buf, count, *pos);

	if (rc == -EFAULT)
		return rc;
	if (rc || strcmp(line, "1")) {
		pr_info("dump: must be 1\n");
		return -EINVAL;
	}
	opk_sync();
	opk_event_wake(true);
	return count;
}

static const struct file_operations dump_fops = {
	.owner = THIS_MODULE,
	.open = dump_open,
	.write = dump_write,
};

static int source_show(struct seq_file *seq, void *unused)
{
	char name[32];

	opk_control_source(name, sizeof(name));
	seq_printf(seq, "%s\n", name);
	return 0;
}

static ssize_t source_write(struct file *file, const char __user *buf, size_t count,
			    loff_t *pos)
{
	char line[OPK_LINE];
	int rc = opk_take_line(line, buf, count, *pos);

	if (rc == -EINVAL)
		pr_info("source: must be auto, or the name of a source\n");
	if (!rc)
		rc = opk_control_choose(line);
	return rc ? rc : count;
}

OPK_SHOW(source, source_write);

/* A file whose text, its i_private, never changes. */
static int text_show(struct seq_file *seq, void *unused)
{
	seq_puts(seq, seq->private);
	return 0;
}

OPK_SHOW(text, NULL);

static const char *cpu_type(void)
{
	return opk_perf_present() ? "perf\n" : "timer\n";
}

int opk_files_create(struct super_block *sb, struct dentry *root)
{
	const struct {
		const char *name;
		umode_t mode;
		const struct file_operations *fops;
		const void *private;
	} files[] = {
		{ "enable", 0644, &enable_fops, NULL },
		{ "dump", 0200, &dump_fops, NULL },
		{ "buffer", 0400, &opk_event_fops, NULL },
		{ "source", 0644, &source_fops, NULL },
		{ "cpu_type", 0444, &text_fops, cpu_type() },
		{ "pointer_size", 0444, &text_fops, sizeof(long) == 8 ? "8\n" : "4\n" },
	};
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < ARRAY_SIZE(files); i++)
		rc = opk_create(sb, root, files[i].name, files[i].mode, files[i].fops,
				(void *)files[i].private);
	for (i = 0; !rc && i < ARRAY_SIZE(numbers); i++)
		rc = opk_create_number(sb, root, &numbers[i]);
	if (!rc)
		rc = opk_stats_create(sb, root);
	if (!rc)
		rc = opk_control_create_files(sb, root);
	return rc;
}
