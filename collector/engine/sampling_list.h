/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of struct opt that "record" and the daemon share; ctx begins with coll_options. */
{ 'e', "event", "EVENT",
  "sample by NAME:COUNT:UNITMASK:KERNEL:USER; may be repeated, or a list",
	coll_set_event },
{ 'F', "frequency", "HZ", "samples a second and CPU (997), where no COUNT is given",
  coll_set_rate },
#include "collector/engine/filing_list.h"
{ 'k', "vmlinux", "FILE", "take FILE for the kernel, instead of /proc/kallsyms",
  coll_set_vmlinux },
{ 0, "no-vmlinux", NULL, "file kernel samples as no-vmlinux, without symbols",
  coll_set_no_vmlinux },
{ 0, "source", "SOURCE", "perf (default), or kernel: the driver opfs_sampler",
  coll_set_source },
{ 0, "ext-feature", "NAME:ARGS",
  "ibs:fetch:EVENT,...:COUNT:MASK|op:EVENT,...:COUNT:MASK; with --source=kernel",
  coll_set_feature },
{ 'm', "mmap-pages", "PAGES", "size of each CPU's buffer (256 pages)", coll_set_pages },
