/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * END(number in the table, id, what a person is told): why a stack ends early.  Numbers
 * are never used again for something else.
 */
END(1, COPY_SHORT, "copy too short")
END(2, NO_UNWIND, "no unwind table")
END(3, NO_MAPPING, "no mapping")
END(4, DAMAGED, "damaged chain")
END(5, DEPTH, "depth limit")
END(6, FULL, "no room for more stacks")
END(7, UNKNOWN, "unknown frame") /* not an end: its callers are known */
END(8, NO_REGISTERS, "no registers")
END(9, NODE_LOST, "lost by the disk")
END(10, NOT_STORED, "recorded without a stack") /* in no table: what opfs shows */
END(11, NO_COPY, "stack not copied")
