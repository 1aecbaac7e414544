/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "libspec/name/clock.h"

/* Last: it includes <syslog.h>, whose LOG_DEBUG hides ours, which is not used here. */
#include <systemd/sd-journal.h>

static const char journal_socket[] = "/run/systemd/journal/socket";

static char log_path[4200]; /* "": no file */
static int log_fd = -1;

static void to_journal(enum log_level level, const char *text)
{
	/* in the order of enum log_level */
	static const int priority[] = { LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO };

	if (sd_journal_send("MESSAGE=%s", text, "PRIORITY=%i", priority[level],
			    "SYSLOG_IDENTIFIER=opcollect", NULL) < 0)
		dprintf(STDERR_FILENO, "opcollect: %s\n", text);
}

static void to_file(enum log_level level, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	(void)level;
	spec_clock_utc((uint64_t)time(NULL) * SPEC_NS_PER_S, &line);
	strbuf_printf(&line, " opcollect[%d]: %s\n", getpid(), text);
	if (log_fd < 0 || strbuf_error(&line) || write(log_fd, line.data, line.len) < 0)
		dprintf(STDERR_FILENO, "opcollect: %s\n", text);
}

static int open_file(struct err *err)
{
	int fd = open(log_path,
		      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
		      0640);

	if (fd < 0)
		return err_errno(err, -errno, "--log %s", log_path);
	close_fd(&log_fd);
	log_fd = fd;
	return 0;
}

int daemon_log_open(const struct coll_daemon_options *o, struct err *err)
{
	bool automatic = !strcmp(o->log, "auto");
	bool journal = !strcmp(o->log, "journal") ||
		       (automatic && (getenv("JOURNAL_STREAM") ||
				      (o->detach && !access(journal_socket, W_OK))));
	int rc;

	if (journal && access(journal_socket, W_OK))
		return err_errno(err, -errno, "--log journal: %s", journal_socket);
	if (journal) {
		log_set_sink(to_journal);
		return 0;
	}
	if (!strcmp(o->log, "stderr") || (automatic && !o->detach))
		return 0;
	if (automatic)
		snprintf(log_path, sizeof(log_path), "%s/opcollect.log",
			 o->sampling.session_dir);
	else
		snprintf(log_path, sizeof(log_path), "%s", o->log);
	rc = open_file(err);
	if (!rc)
		log_set_sink(to_file);
	return rc;
}

void daemon_log_reopen(void)
{
	struct err err = { 0 };

	if (*log_path && open_file(&err))
		log_err("%s", err.msg);
}

void daemon_notify(const char *state)
{
	sd_notify(0, state);
}
