# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60 x86
# More programs than the table of images has room for: samples of the last ones are lost
# and counted as such, those of the first stay with them, none goes to another's.
. /guest/lib.sh
load images=40
put timer_hz 4000
mkdir programs
cp /bin/nested programs/0
start -v
for i in $(seq 80); do
	ln programs/0 programs/$i
	programs/$i 20 &
	echo "$! $i" >>started
	wait $!
done
programs/1 300 &
echo "$! 1" >>started
wait $!
again=$!
[ "$(get stats/images)" = 40 ] || fail "$(get stats/images) images"
stop >told
expect lost_no_image -ge 10
[ "$(of lost)" = "$(of lost_no_image)" ] || fail "lost for another reason: $(cat told)"
# "sample PATH PC tgid T ...": of the process's own program, or before it became that.
awk 'NR == FNR { program[$1] = $2; next }
	$1 != "sample" || !($5 in program) { next }
	$2 ~ /^(kernel|anon|\/bin\/busybox)$/ { next }
	$2 != "/tmp/test/programs/" program[$5] { print; wrong++ }
	{ own[program[$5]] = 1 }
	END { exit wrong || length(own) < 10 }' started out ||
	fail "misattributed, or too few"
[ "$(grep -c "^sample /tmp/test/programs/1 .* tgid $again " out)" -ge 5 ] ||
	fail "1 was forgotten"
[ "$(samples_of /tmp/test/programs/80)" = 0 ] || fail "80 had no room"
tell
# The table is empty again.
start
programs/80 300
stop
[ "$(samples_of /tmp/test/programs/80)" -ge 5 ] || fail "80 has no room"
expect lost -eq 0
unload
