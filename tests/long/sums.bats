#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The sums of sessions that one user of a mount looks up take no more than others leave.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

@test "who looks up ever other sums gets ENFILE, and others what they want" {
	# mine and s1 to s14, with ten samples each
	jq -n '[("mine", "s\(range(1; 15))") | {session: ., app: "/bin/true",
		samples: {"0x1100": 10}}]' | mksession
	(ulimit -n 2000 && shared_mount)
	# held, so that the kernel cannot forget them
	run as $bob /usr/bin/python3 - "$M" <<-'END'
	import itertools, os, sys
	held = []
	for n in range(2, 15):
	    for names in itertools.combinations(["s%d" % i for i in range(1, 15)], n):
	        try:
	            held.append(os.open(sys.argv[1] + "/session:" + ",".join(names),
	                                os.O_PATH))
	            os.fstat(held[-1])
	        except OSError as e:
	            print(e.strerror, len(held))
	            sys.exit()
	END
	[[ $output == "Too many open files in system "* ]]
	[ "${output##* }" -gt 50 ]
	run -0 as $bob cat "$M/status"
	[[ $output == *"user $bob stored, and the sums that he looked at, take as"* ]]
	run -0 as $alice cat "$M/mine/summary" "$M/session:mine,s1/summary"
	[[ $output == *" 10 "*" 20 "* ]]
	[ "$(ls "/proc/$(mount_pids "$M")/fd" | wc -l)" -lt 1100 ]
}

# Session s0 and 300 more, whose tables take 600 MiB when they are read.
large_tables() {
	local s=$D/samples

	mksession <<<'[{"session": "s0", "app": "/bin/true", "samples": {"0x1100": 10}}]'
	mkdir -p "$s/s0/stats"
	echo '1 1000000000 closed' >"$s/s0/stats/live"
	touch "$s/s0/MANIFEST"
	{
		printf '# opfs images 1\n'
		printf '/bin/o%d\t/bin/o\t-\t1\t1\t-\t1\t-\n' {1..8000}
	} >"$s/s0/images"
	for i in {1..300}; do
		cp -al "$s/s0" "$s/s$i"
	done
}

@test "what root stored is summed, and seen one after the other, however much it is" {
	large_tables
	shared_mount
	run -0 as $alice cat "$M/session:*/summary"
	[[ $output == *" 3010 "* ]]
	for i in {0..300}; do
		as $alice cat "$M/s$i/summary" >"$W/seen" || return 1
	done
}

@test "what one user stored takes the memory of nobody else" {
	large_tables
	chown -R $bob "$D/samples"/s*
	cp -r "$D/samples/s0" "$D/samples/root"
	shared_mount
	run -0 as $alice cat "$M/session:*/summary"
	run -0 as $alice cat "$M/session:*/status"
	[[ $output == *": too large to be read for several users"* ]]
	run -0 as $alice cat "$M/root/summary" "$M/session:root,s0/summary"
	[[ $output == *" 10 "* ]]
}
