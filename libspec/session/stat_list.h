/* SPDX-License-Identifier: GPL-2.0-or-later */
/* STAT(id, file name, enum spec_stat_kind without its prefix, what a person is told) */
STAT(TAKEN, "total_samples", FIGURE, "samples taken")
STAT(STORED, "stored_samples", FIGURE, "samples stored")
STAT(LOST_KERNEL, "lost_kernel", LOSS,
	"kernel samples without a kernel or module that holds them")
STAT(LOST_SAMPLEFILE, "lost_samplefile", LOSS,
	"sample file could not be opened, grown or named")
STAT(LOST_KILLED, "lost_killed", LOSS,
	"waited for what file or process it is of when the collector was killed")
STAT(LOST_WRITE_BACK, "lost_write_back", LOSS,
	"the disk refused what had been counted in a sample file")
STAT(LOST_NO_MAPPING, "lost_no_mapping", LOSS, "user address in no known mapping")
STAT(LOST_NO_APP_KERNEL, "lost_no_app_for_kernel_sample", LOSS,
	"kernel sample of a process whose application is unknown")
STAT(LOST_NO_APP_USER, "lost_no_app_for_user_sample", LOSS,
	"user sample of a process whose application is unknown")
STAT(LOST_INVALID_DOMAIN, "lost_invalid_domain", LOSS,
	"sample from a mode that cannot be stored (guest, hypervisor)")
STAT(LOST_HYPERVISOR, "lost_invalid_hypervisor_addr", LOSS,
	"hypervisor address outside every known region")
STAT(LOST_RECORDS, "lost_records_by_kernel", LOSS,
	"records the kernel dropped because a ring was full")
STAT(LOST_EXITED, "lost_exited", LOSS, "process had exited before it could be identified")
STAT(LOST_CPU_BUFFER, "lost_cpu_buffer", LOSS, "a CPU's buffer in the driver was full")
STAT(LOST_EVENT_BUFFER, "lost_event_buffer", LOSS, "the driver's event buffer was full")
STAT(LOST_UNRESOLVED, "lost_unresolved", LOSS,
	"too many samples waited to be resolved by the driver")
STAT(LOST_IMAGE_TABLE, "lost_image_table", LOSS,
	"the driver had no room for another binary")
STAT(LOST_STOPPED, "lost_stopped", LOSS, "still to be resolved when sampling was stopped")
STAT(LOST_BAD_ADDRESS, "lost_bad_address", LOSS,
	"address that is neither user code nor kernel")
STAT(LOST_NESTED, "lost_nested", LOSS, "taken in the middle of another sample's handling")
STAT(LOST_MISSED, "lost_missed", LOSS,
	"their time had passed when the driver's timer came too late")
STAT(LOST_BUSY, "lost_busy", LOSS,
	"the process changed its mappings until the driver gave up")
STAT(LOST_STREAM, "lost_stream", LOSS, "part of a buffer stream that makes no sense")
STAT(LOST_EXT, "lost_ext", LOSS,
	"extended sample that is incomplete, or whose address is not to be trusted")
STAT(IGNORED_IMAGE, "ignored_by_image", IGNORED, "left out by --image, as asked")
STAT(IGNORED_EXT, "ignored_by_ext", IGNORED,
	"extended samples of which no chosen event is true")
STAT(IGNORED_SELF, "ignored_self", IGNORED, "the collector's own work")
STAT(LOST_BT_NO_MAPPING, "lost_bt_no_mapping", FIGURE,
	"call chain frames in no known mapping (the sample itself is stored)")
STAT(LOST_CG_FILE, "lost_bt_samplefile", FIGURE,
	"arcs whose sample file could not be written when the session was closed (the "
	"stacks are stored)")
STAT(STACKS, "total_stacks", FIGURE, "samples whose stack was stored")
STAT(LOST_STACKFILE, "lost_stackfile", FIGURE,
	"samples whose stack could not be stored (the sample itself is)")
STAT(STACKS_FULL, "stacks_full", FIGURE,
	"samples whose stack had no room: --stack-limit, or a full disk (the sample "
	"itself is stored)")
STAT(STACKS_DEPTH, "stacks_depth", FIGURE,
	"stacks that end at as many frames as were asked for, or can be had")
STAT(STACKS_NO_MAPPING, "stacks_no_mapping", FIGURE,
	"stacks that end at an address in no known mapping")
STAT(STACKS_COPY_SHORT, "stacks_copy_short", FIGURE,
	"stacks that go on above what was copied of them: --callgraph=dwarf,SIZE copies "
	"up to 65528 bytes")
STAT(STACKS_NOT_COPIED, "stacks_not_copied", FIGURE,
	"stacks that go on where nothing was copied: on another stack, as behind a "
	"signal handler that has its own, or in what was not in memory (the sample "
	"itself, and callers by frame pointers, are stored)")
STAT(STACKS_NO_UNWIND, "stacks_no_unwind", FIGURE,
	"stacks that end at code with neither an unwind table nor a frame pointer: java "
	"-XX:+PreserveFramePointer has these, and so has what is built with "
	"-fno-omit-frame-pointer")
STAT(STACKS_DAMAGED, "stacks_damaged", FIGURE,
	"stacks that cannot be as their unwind tables say")
STAT(STACKS_NO_REGISTERS, "stacks_no_registers", FIGURE,
	"stacks of 32-bit programs, which are not unwound")
STAT(BT_NO_CALLER, "bt_no_caller", PART,
	"samples stored without a caller: code whose frames are not known, or where a "
	"thread or interrupt begins")
STAT(BT_ABORTED, "bt_aborted", FIGURE, "call chains cut short by a bad frame pointer")
STAT(RESOLVED_LATE, "resolved_late", FIGURE,
	"samples resolved while another thread could change the mapping")
STAT(FOLDED, "folded", FIGURE,
	"samples of further threads or CPUs, filed under the program alone: --max-files")
STAT(EXT_HITS, "ext_events", FIGURE, "derived events of extended samples")
STAT(THROTTLE_EVENTS, "throttle_events", FIGURE, "times the kernel throttled sampling")
STAT(TASKS_LOST, "task_records_lost", FIGURE,
	"records of what tasks did that the kernel dropped: /proc was asked instead")
STAT(TASKS_PASSED, "task_records_passed", FIGURE,
	"records of what tasks did of users who made too many: /proc was asked instead")
STAT(ARCS, "total_arcs", FIGURE,
	"call arcs stored, made of the stacks when the session was closed")
STAT(LOST_OVERFLOW, "event_lost_overflow", FIGURE,
	"samples OProfile 0.9's kernel driver dropped because its buffer was full")
