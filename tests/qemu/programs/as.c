/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * as UID CAPABILITIES COMMAND...: runs a command as that user with those capabilities and
 * no others, root too: "none", or some of perfmon, sys_admin, dac_override with commas
 * between.
 */
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} known[] = {
	{ "perfmon", CAP_PERFMON },
	{ "sys_admin", CAP_SYS_ADMIN },
	{ "dac_override", CAP_DAC_OVERRIDE },
};

static uint64_t parse(char *names)
{
	uint64_t bits = 0;

	for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(known[i].name, name))
				bits |= 1ULL << known[i].number;
	return bits;
}

static int limit_to(uint64_t bits)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	for (unsigned i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct){ (uint32_t)(bits >> 32 * i),
							   (uint32_t)(bits >> 32 * i),
							   (uint32_t)(bits >> 32 * i) };
	if (syscall(SYS_capset, &head, data))
		return -1;
	for (unsigned long i = 0; i < 64; i++)
		if (bits >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	uid_t uid;

	if (argc < 4)
		return 2;
	uid = (uid_t)atoi(argv[1]);
	/* Being root gives no capability, and leaving root takes none. */
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP, 0, 0, 0) ||
	    setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    limit_to(parse(argv[2]))) {
		perror("as");
		return 3;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
