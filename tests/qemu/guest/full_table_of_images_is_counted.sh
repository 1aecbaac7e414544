# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# More programs at a time than the table of images has room for: samples of the last ones
# are lost and counted as such, those of the first stay with them, none goes to another's.
. /guest/lib.sh
load images=24
put timer_hz 1000
# for all that is told: a busy host may not let the reader run
put buffer_size 4194304
mkdir programs
cp /bin/nested programs/0
start -v
for i in $(seq 40); do
	ln programs/0 "programs/$i"
	background "programs/$i" 1000000
	echo "$! $i" >>started
done
until_taken 1000 usleep 500000
[ "$(get stats/images)" -le 24 ] || fail "$(get stats/images) images"
for pid in $(cut -d ' ' -f 1 started); do
	kill -9 "$pid"
done
stop >told
expect lost_no_image -ge 10
[ "$(lost_after_all)" = "$(of lost_no_image)" ] ||
	fail "lost for another reason: $(cat told)"
# "sample PATH PC tgid T ...": of the process's own program, or before it became that.
awk 'NR == FNR { program[$1] = $2; next }
	$1 != "sample" || !($5 in program) { next }
	$2 ~ /^(kernel|anon|\/bin\/busybox)$/ { next }
	$2 != "/tmp/test/programs/" program[$5] { print; wrong++ }
	{ own[program[$5]] = 1 }
	END { exit wrong || length(own) < 10 }' started out ||
	fail "misattributed, or too few"
# The table is empty again.
start
until_taken 100 programs/40 300
stop
[ "$(samples_of /tmp/test/programs/40)" -ge 5 ] || fail "40 has no room"
expect_no_loss
unload
