/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of struct opt on what samples are filed and how, which "replay" shares as well;
 * ctx begins with coll_options. */
{ 0, "separate", "LIST", "file samples by: none, lib, kernel (default), thread, cpu, all",
  coll_set_separate },
	{ 0, "image", "LIST",
	  "only these: a program with what it uses, a library or module by itself",
	  coll_set_image },
	{ 0, "max-files", "N",
	  "after N files of threads or CPUs a session, what is new is filed together",
	  coll_set_max_files },
	{ 0, "stack-limit", "SIZE",
	  "stacks of -g take up to SIZE a session (64M), then no new ones",
	  coll_set_stack_limit },
