// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source of samples for tests only: real NMIs, on machines that have no counters to
 * raise them.  On every CPU a timer sends an NMI to its own CPU and takes a sample, so
 * that the NMI's sample comes in the middle of its own, or sends one to another CPU,
 * where it hits whatever is done there.  Only x86 has NMIs here: elsewhere it must be
 * loaded with quiet=1.  Never installed.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <asm/irq_regs.h>
#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "compat.h"
#include "opfs_source.h"

enum { COUNTER_TIMER = 0, COUNTER_NMI = 1 };

static u64 hz = 2000;
module_param(hz, ullong, 0444);
MODULE_PARM_DESC(hz, "NMIs that each CPU sends in a second");

static bool quiet;
module_param(quiet, bool, 0444);
MODULE_PARM_DESC(quiet, "No NMIs: a timer that may be set higher than the driver's");

static unsigned int burst = 1;
module_param(burst, uint, 0444);
MODULE_PARM_DESC(burst, "Samples taken each time the timer expires");

static atomic_t nmis, offered;

static int show(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops show_ops = { .get = show };
module_param_cb(nmis, &show_ops, &nmis, 0444);
MODULE_PARM_DESC(nmis, "NMIs taken so far");
module_param_cb(offered, &show_ops, &offered, 0444);
MODULE_PARM_DESC(offered, "Samples offered to the driver so far");

static DEFINE_PER_CPU(struct hrtimer, timers);
static struct cpumask sampled;

static void offer(struct pt_regs *regs, unsigned int counter)
{
	atomic_inc(&offered);
	opk_add_sample(regs, counter, NULL);
}

#ifdef CONFIG_X86
/* NMIs sent to a CPU and not claimed: two may arrive as one, none as two. */
static DEFINE_PER_CPU(atomic_t, on_their_way);
static DEFINE_PER_CPU(unsigned int, turns);

static int take_nmi(unsigned int type, struct pt_regs *regs)
{
	if (atomic_dec_if_positive(this_cpu_ptr(&on_their_way)) < 0)
		return NMI_DONE;
	atomic_inc(&nmis);
	offer(regs, COUNTER_NMI);
	return NMI_HANDLED;
}

static void send_nmi(unsigned int cpu)
{
	atomic_inc(per_cpu_ptr(&on_their_way, cpu));
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static void send_nmis(unsigned int self)
{
	unsigned int other = cpumask_next(self, &sampled);

	if (other >= nr_cpu_ids)
		other = cpumask_first(&sampled);
	if (this_cpu_inc_return(turns) % 2)
		send_nmi(self);
	else if (other < nr_cpu_ids)
		send_nmi(other);
}

static int setup(void)
{
	return register_nmi_handler(NMI_LOCAL, take_nmi, 0, "opfs_torture");
}

static void shutdown(void)
{
	msleep(20);
	unregister_nmi_handler(NMI_LOCAL, "opfs_torture");
}
#else
static void send_nmis(unsigned int self)
{
}

static int setup(void)
{
	return quiet ? 0 : -EOPNOTSUPP;
}

static void shutdown(void)
{
}
#endif

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct pt_regs *regs = get_irq_regs();

	if (!quiet)
		send_nmis(smp_processor_id());
	for (unsigned int i = 0; regs && i < burst; i++)
		offer(regs, COUNTER_TIMER);
	hrtimer_forward_now(timer, ns_to_ktime(div64_u64(NSEC_PER_SEC, hz)));
	return HRTIMER_RESTART;
}

static int start(unsigned int cpu)
{
	struct hrtimer *timer = per_cpu_ptr(&timers, cpu);

	cpumask_set_cpu(cpu, &sampled);
	opk_hrtimer_init(timer, expired, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(div64_u64(NSEC_PER_SEC, hz)),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void stop(unsigned int cpu)
{
	cpumask_clear_cpu(cpu, &sampled);
	hrtimer_cancel(per_cpu_ptr(&timers, cpu));
	/* What was sent to this CPU arrives while it can still be claimed. */
	mdelay(2);
}

/* Files in oprofilefs: hz, and a text. */
static struct opk_number hz_number = { "hz", &hz, 1, 100000 };

static ssize_t hello_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(buf, count, pos, "hello\n", 6);
}

static const struct file_operations hello_fops = {
	.owner = THIS_MODULE,
	.read = hello_read,
};

static int create_files(struct super_block *sb, struct dentry *root)
{
	struct dentry *dir = opk_mkdir(sb, root, "torture");
	int rc;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	rc = opk_create_number(sb, dir, &hz_number);
	return rc ? rc : opk_create(sb, dir, "hello", 0444, &hello_fops, NULL);
}

static struct opk_source torture = {
	.name = "torture",
	.owner = THIS_MODULE,
	.create_files = create_files,
	.setup = setup,
	.start = start,
	.stop = stop,
	.shutdown = shutdown,
};

static int __init opfs_torture_init(void)
{
	return hz && hz <= 100000 ? opk_source_register(&torture) : -EINVAL;
}
module_init(opfs_torture_init);

static void __exit opfs_torture_exit(void)
{
	opk_source_unregister(&torture);
}
module_exit(opfs_torture_exit);

MODULE_DESCRIPTION("NMIs for testing opfs_sampler");
MODULE_LICENSE("GPL");
