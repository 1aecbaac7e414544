/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef OPFS_BUFFER_H
#define OPFS_BUFFER_H

#include <linux/types.h>

/*
 * The stream that /dev/oprofile/buffer hands out, version 1.
 *
 * It is made of 64-bit words, little endian, the same whatever the size of a pointer is
 * in the reader or the kernel.  read() returns whole words; a record may be cut in two
 * by the end of a read, and goes on at the start of the next one.
 *
 * A word that is not OPK_ESCAPE begins a sample, which has two words:
 *
 *	pc	OPK_USER: offset in the file that OPK_COOKIE named last (the file
 *		offset, not the address it is linked for), or in the region that
 *		OPK_ANON named last, whichever of these two came later;
 *		OPK_KERNEL: an absolute kernel address
 *	event	OPK_EVENT_COUNTER(event): index of the counter; flags OPK_EVENT_*
 *
 * OPK_ESCAPE begins any other record:
 *
 *	OPK_ESCAPE
 *	head	OPK_HEAD_CODE: what it is; OPK_HEAD_LEN: words that follow;
 *		OPK_HEAD_ARG: 32 bits of argument
 *	...	OPK_HEAD_LEN words
 *
 * A code that a reader does not know, and words beyond those it knows of a code, are to
 * be skipped.  Codes are added without a new version; a version changes when an old
 * reader would misread the stream.
 *
 * Context records (CPU, TASK, KERNEL, USER, COOKIE, ANON, TIME) hold for all samples
 * that follow until the next record of their kind; only changes are told, so what was
 * told before an overflow or a LOST record still holds.  TASK leaves mode and image as
 * they are.  All context is told anew after OPK_HELLO.
 */
#define OPK_BUFFER_VERSION 1

#define OPK_ESCAPE (~(__u64)0)

#define OPK_HEAD(code, len, arg)                                                         \
	((__u64)(code) | (__u64)(len) << 16 | (__u64)(__u32)(arg) << 32)
#define OPK_HEAD_CODE(head) ((__u32)(head)&0xffff)
#define OPK_HEAD_LEN(head) ((__u32)(head) >> 16)
#define OPK_HEAD_ARG(head) ((__u32)((head) >> 32))

/* The second word of a sample; bits not named are 0 and to be ignored. */
#define OPK_EVENT_COUNTER(event) ((__u32)(event)&0xff)
/*
 * Resolved some time after the sample was taken, while another thread shared the
 * address space and could have changed the mapping meanwhile; or so much later that the
 * sample's task itself went on.
 */
#define OPK_EVENT_LATE ((__u64)1 << 31)

/* Counters of OPK_EVENT_COUNTER beyond the numbered directories. */
#define OPK_COUNTER_IBS_FETCH 0xf0
#define OPK_COUNTER_IBS_OP 0xf1
#define OPK_COUNTER_TIMER 0xff /* the timer, or any source without counters */

/* arg and words of each code.  1..14 mean what they meant in OProfile's buffer. */
enum opk_code {
	/*
	 * Task switch.  arg: tid, in the initial pid namespace.
	 *	[0] tgid
	 *	[1] cookie of the application's image (its exe); 0: none (kernel thread)
	 *	    or not known
	 *	[2] start time of the thread, CLOCK_MONOTONIC ns
	 *	[3] how many times it has called exec, modulo 2^32
	 *	[4][5] comm, 16 bytes, NUL padded
	 *	[6] its parent's tgid; a change of that alone is not told
	 * A thread keeps its identity (tid, start time) over exec; words 1, 3 and the
	 * comm tell when that changed.
	 */
	OPK_TASK = 1,
	/* CPU switch.  arg: the CPU of the samples that follow. */
	OPK_CPU = 2,
	/* Image switch.  arg: cookie; OPK_IMAGE has told it before. */
	OPK_COOKIE = 3,
	/* The samples that follow were taken in kernel mode. */
	OPK_KERNEL = 4,
	/* The samples that follow were taken in user mode. */
	OPK_USER = 5,
	/*
	 * A module of the kernel came or went: read /proc/modules again.
	 * arg: enum opk_module_state.
	 *	[0] CLOCK_MONOTONIC ns  [1] start of its text, 0: not known
	 *	[2] bytes of its text   [3]..[10] name, 64 bytes, NUL padded
	 * Kernel samples before this record were taken before the change; LOADED comes
	 * before the module's code runs, GOING after it ran last.  An empty name: one or
	 * more such records found no room.
	 */
	OPK_MODULE = 6,
	/*
	 * A call chain.  arg: frames that were found, the sampled one included.
	 * Until OPK_TRACE_END the first pair is the sample, and the pairs after it are
	 * its callers, innermost first: pc is the return address, made relative as a
	 * sample's is, in the mode and image that context records between the pairs
	 * tell.  They are not samples: only the first pair counts.  A sample that is an
	 * IBS record may stand in the first pair's place.
	 */
	OPK_TRACE_BEGIN = 8,
	/* arg: OPK_TRACE_* flags.	[0] frames left out: their mapping is unknown */
	OPK_TRACE_END = 9,
	/*
	 * AMD's Instruction-Based Sampling.  A sample, with the registers that it was
	 * made from; arg: number of registers.
	 *	[0] pc, [1] event: as the two words of a sample
	 *	[2] capabilities (CPUID 8000_001B EAX)
	 *	[3].. registers, as perf gives them:
	 *	FETCH: IbsFetchCtl IbsFetchLinAd IbsFetchPhysAd [IbsExtdCtl]
	 *	OP: IbsOpCtl IbsOpRip IbsOpData IbsOpData2 IbsOpData3 IbsDcLinAd
	 *	    IbsDcPhysAd [IbsBrTarget] [IbsOpData4]
	 * Those in brackets are there if the capabilities say so.
	 */
	OPK_IBS_FETCH = 13,
	OPK_IBS_OP = 14,
	/*
	 * What a cookie means; told before its first use, again after OPK_HELLO.  There
	 * is no order among cookies, nor are they all that follow a smallest one.
	 * arg: cookie (1..).
	 *	[0] device: major << 32 | minor	[1] inode
	 *	[2] inode generation (low 32 bits), length of build-id in bytes
	 *	    (bits 32..39, 0: none), flags OPK_IMAGE_* (bits 40..)
	 *	[3] mtime, ns since the epoch (signed)	[4] size in bytes
	 *	[5][6][7] build-id, first 20 bytes, zero padded
	 *	[8] bytes of the path, without a NUL
	 *	[9].. path, NUL padded to whole words
	 * The path is as the initial namespace's root sees it.  That of a file which is
	 * mounted in another namespace only is below the root of that, whatever a task's
	 * own root directory is.  It is empty if it was too long or could not be told.
	 */
	OPK_IMAGE = 15,
	/*
	 * Region switch, for user code in no file.  arg: enum opk_anon.
	 *	[0] first address  [1] last address
	 * The samples that follow hold pc - first address.
	 */
	OPK_ANON = 16,
	/*
	 * A task is gone.  arg: tid.	[0] tgid  [1] CLOCK_MONOTONIC ns
	 * Samples of it from other CPUs may follow within one synchronisation.
	 */
	OPK_TASK_EXIT = 17,
	/*
	 * Samples that were taken, and are not in the stream.  arg: enum opk_lost.
	 *	[0] how many since the last record with this reason
	 *	[1] how many since OPK_HELLO
	 */
	OPK_LOST = 18,
	/*
	 * The first record of a stream, once at every open of the buffer and start.
	 * arg: OPK_BUFFER_VERSION.
	 *	[0] OPK_MAGIC  [1] CLOCK_MONOTONIC ns  [2] CLOCK_REALTIME ns
	 *	[3] number of possible CPUs  [4] depth of call chains, 0: none
	 *	[5] frequency of the timer in Hz, 0: the source is another
	 */
	OPK_HELLO = 19,
	/*
	 * Samples that follow were taken at about this time: later than the record of
	 * this kind before it, save those with OPK_EVENT_LATE.  [0] CLOCK_MONOTONIC ns
	 */
	OPK_TIME = 20,
	/*
	 * What a counter counts; after OPK_HELLO, one for each.  arg: its index.
	 *	[0] event  [1] unit_mask  [2] count (samples are that many events apart)
	 *	[3] extra  [4] OPK_COUNTER_* flags  [5] perf type
	 */
	OPK_COUNTER = 21,
	/*
	 * The stream's end: it was stopped, and all that was taken has been told.
	 *	[0] samples taken since OPK_HELLO: those told, plus all OPK_LOST
	 *	[1] times a limit on the rate cut in  [2] call chains cut short by a fault
	 * read() then returns 0 once.  A new start begins with OPK_HELLO.
	 */
	OPK_BYE = 22,
	/*
	 * A cookie that no record names any more, before OPK_HELLO.  arg: cookie.
	 */
	OPK_IMAGE_GONE = 23,
	/*
	 * The registers of a sample's thread in user mode, and a copy of its stack, for
	 * whoever finds its callers by unwinding; of the moment of the sample.  Between
	 * OPK_TRACE_BEGIN and OPK_TRACE_END, behind the pairs.  arg: OPK_STACK_* flags
	 * (bits 0..15); the machine, as ELF numbers them (bits 16..31).
	 *	[0] instruction pointer  [1] stack pointer
	 *	[2] frame pointer: rbp, x29  [3] x86-64: rbx; arm64: x30
	 *	[4] bytes of the copy, a multiple of 8 (low 32 bits); number of ranges
	 *	[5].. the bytes, from the stack pointer on, in the machine's order
	 * Then for each range of the address space that held executable memory, and which
	 * the instruction pointer, x30 or an aligned word of the copy pointed into, at
	 * that moment, in any order:
	 *	[0] first address  [1] first address behind it
	 *	[2] cookie (low 32 bits; 0: no file's), which OPK_IMAGE has told before;
	 *	    without one enum opk_anon (bits 32..)
	 *	[3] offset of its first address in the file; 0 without one
	 */
	OPK_USER_STACK = 24,
};

#define OPK_MAGIC 0x314655425346504fULL /* "OPFSBUF1" */

enum opk_module_state { OPK_MODULE_LOADED = 1, OPK_MODULE_GOING = 2 };

enum opk_anon {
	OPK_ANON_OTHER = 0, /* anonymous memory: JIT compilers */
	OPK_ANON_HEAP = 1,
	OPK_ANON_STACK = 2,
	OPK_ANON_VDSO = 3,
	OPK_ANON_VSYSCALL = 4,
};

#define OPK_TRACE_FULL 1     /* ended at backtrace_depth: there may be more callers */
#define OPK_TRACE_ABORTED 2  /* a frame pointer was bad or its memory not present */
#define OPK_TRACE_NO_USER 4  /* the user part of a kernel sample could not be resolved */
#define OPK_TRACE_NO_STACK 8 /* OPK_USER_STACK was to be here, and could not be given */

#define OPK_STACK_WHOLE 1      /* the copy ends where the stack does */
#define OPK_STACK_RANGES_CUT 2 /* there are ranges beside those that are told */

#define OPK_IMAGE_DELETED 1 /* the file was unlinked when its path was taken */

#define OPK_COUNTER_KERNEL 1
#define OPK_COUNTER_USER 2

enum opk_lost {
	OPK_LOST_OVERFLOW = 1,       /* the CPU's buffer was full */
	OPK_LOST_EVENT_OVERFLOW = 2, /* the event buffer was full: read it faster */
	OPK_LOST_NO_MAPPING = 3,     /* user pc in no mapping when it was resolved */
	OPK_LOST_EXITED = 4,         /* the task exited or called exec before */
	OPK_LOST_NO_WORK = 5,        /* too many samples waited to be resolved */
	OPK_LOST_NO_IMAGE = 6,       /* no room for its image in the table */
	OPK_LOST_STOPPED = 7,        /* waited to be resolved when sampling was stopped */
	OPK_LOST_BAD_PC = 8, /* no address of user code or kernel: cannot be told */
	OPK_LOST_NESTED = 9, /* an NMI in the middle of another sample's handling */
	/* The timer's interrupt came too late: these sample times passed meanwhile. */
	OPK_LOST_MISSED = 10,
	OPK_LOST_BUSY = 11, /* another thread changed the address space all the time */
	OPK_NR_LOST
};

#endif
