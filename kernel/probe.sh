#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# probe.sh HEADER SYMVERS NAME COMPILER...: writes a header that tells what the kernel has
# which the driver is built for.  The Makefile starts it.
#
#   SYMVERS   the kernel's Module.symvers, which lists what it exports
#   NAME      of kernel and compiler, for a comment
#   COMPILER  the compiler, and all options that the driver is compiled with
#
# Every OPK_HAS_... is defined, as 0 or 1: what is spelled wrong is not silently missing.
# Versions of Linux are not asked for, since vendors bring new code to old kernels.
set -u

header=$1 symvers=$2 name=$3
shift 3
work=$header.work
rows=''

# Compiles a function: $1 is its headers, $2 its body; the rest is the compiler.
compiles()
{
	headers=$1 body=$2
	shift 2
	{
		for h in $headers; do
			echo "#include <$h>"
		done
		echo "static void __attribute__((unused)) opk_probe(void) { $body }"
	} | "$@" -Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -Werror=int-conversion \
		-fsyntax-only -x c -
}

# A row of the table: OPK_HAS_$1 is 1 if $3 compiles after the headers $2.
has()
{
	row=$1 headers=$2 body=$3
	shift 3
	rows="$rows $row"
	{
		value=0
		! compiles "$headers" "$body" "$@" 2>"$work/$row.log" || value=1
		echo "#define OPK_HAS_$row $value" >"$work/$row"
	} &
}

# What is declared need not be exported, or only to modules that the kernel names.
is_exported()
{
	awk -F '\t' -v symbol="$1" '$2 == symbol && $5 == "" { found = 1 }
		END { exit !found }' "$symvers" 2>/dev/null
}

has_export()
{
	value=0
	! is_exported "$2" || value=1
	rows="$rows $1"
	echo "#define OPK_HAS_$1 $value" >"$work/$1"
}

# A probe also fails for a mistake that has nothing to do with what it looks for.
control()
{
	compiles "linux/dcache.h linux/fs.h linux/hrtimer.h linux/module.h
		trace/events/sched.h" '' "$@" 2>"$work/control.log" && return
	cat "$work/control.log" >&2
	echo "opfs: nothing can be compiled with this kernel's headers, see above:" \
		"is $1 the compiler it was built by?" >&2
	rm -rf "$work"
	exit 1
}

rm -rf "$work"
mkdir -p "$work" || exit 1
control "$@"

has HRTIMER_SETUP linux/hrtimer.h '
	extern enum hrtimer_restart expired(struct hrtimer *);
	extern struct hrtimer timer;
	hrtimer_setup(&timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);' "$@"
has INODE_GET_MTIME linux/fs.h '
	extern struct inode *inode;
	(void)inode_get_mtime(inode);' "$@"
has INODE_SET_CTIME_CURRENT linux/fs.h '
	extern struct inode *inode;
	(void)inode_set_ctime_current(inode);' "$@"
has SIMPLE_INODE_INIT_TS linux/fs.h '
	extern struct inode *inode;
	(void)simple_inode_init_ts(inode);' "$@"
has INODE_JUST_DROP linux/fs.h '
	extern struct inode *inode;
	(void)inode_just_drop(inode);' "$@"
has FILE_USER_PATH linux/fs.h '
	extern struct file *file;
	(void)file_user_path(file);' "$@"
# It once took the file, and now takes the place that refers to it.
has GET_FILE_RCU_PLACE linux/fs.h '
	extern struct file __rcu **place;
	(void)get_file_rcu(place);' "$@"
has MODULE_MEM linux/module.h '
	extern struct module *mod;
	(void)mod->mem[MOD_TEXT].size;' "$@"
has IN_EXECVE linux/sched.h '
	extern struct task_struct *task;
	(void)task->in_execve;' "$@"
has D_MAKE_PERSISTENT 'linux/dcache.h linux/fs.h' '
	extern struct dentry *dentry;
	extern struct inode *inode;
	d_make_persistent(dentry, inode);' "$@"
# Arguments of tracepoints: a compiler may only warn of a callback that has others.
has EXIT_GROUP_DEAD trace/events/sched.h '
	static_assert(__same_type(check_trace_callback_type_sched_process_exit,
		void(void (*)(void *, struct task_struct *, bool))));' "$@"
has_export SCHED_SETATTR_NOCHECK sched_setattr_nocheck
wait

{
	echo "/* Written by probe.sh for $name. */"
	for row in $rows; do
		cat "$work/$row" || exit 1
	done
} >"$work/header" || exit 1
mv "$work/header" "$header" && rm -rf "$work"
