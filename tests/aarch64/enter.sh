#!/bin/sh
# Run a command in an arm64 root, as the first process of new user, mount and pid namespaces.
#
#     enter.sh FOLDER CPUINFO COMMAND [ARGUMENT ...]
#
# CPUINFO is the content of /proc/cpuinfo, or empty for this machine's.
set -eu

folder=$1
cpuinfo=$2
root=$folder/root
shift 2

# The kernel opens the interpreter now (F), and passes it the name that a program was called by (P).
mount -t binfmt_misc binfmt_misc "$root/sys"
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":aarch64:M::$magic:$mask:$folder/qemu-aarch64-static:FP" > "$root/sys/register"

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ -n "$cpuinfo" ]; then
  mount --bind "$cpuinfo" "$root/proc/cpuinfo"
fi
# The command is not the first process, which signals such as SIGSEGV do not end.
chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/bin \
  sh -c 'cd /work && exec "$@"' sh "$@"
