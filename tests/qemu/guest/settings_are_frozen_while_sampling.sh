# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
. /guest/lib.sh
load
start
for file in buffer_size cpu_buffer_size buffer_watershed backtrace_depth timer_hz \
	source 0/enabled 0/count 0/event; do
	refused "$file" "$(get "$file")" busy
done
nested 200
stop
put timer_hz 500
unload
