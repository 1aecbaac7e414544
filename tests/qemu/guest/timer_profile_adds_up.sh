# qemu: 30 smoke x86
. /guest/lib.sh
load
put timer_hz 1000
start
nested 1500
stop
expect samples -ge 1000
expect lost -eq 0
[ "$(samples_of /bin/nested)" -ge 700 ] || fail "nested: $(cat out)"
# What the driver itself counted is what was told.
[ "$(get stats/received)" = "$(of told_taken)" ] || fail "received $(get stats/received)"
unload
