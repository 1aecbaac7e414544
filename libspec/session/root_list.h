/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ROOT(name, what opfs has there): what the root of paths has besides sessions, in the
 * order in which it is listed; no session is given such a name */
ROOT("README", ROOT_FILE)
ROOT("status", ROOT_FILE)
ROOT("events", EVENTS)
