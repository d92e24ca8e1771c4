#!/bin/sh
# Run a command in the arm64 system that setup.sh made, on a copy of this checkout.
#
#     [CPUINFO=FILE] run.sh FOLDER COMMAND [ARGUMENT ...]
#
# The command runs in /work, as root of namespaces of its own, where Linux starts every arm64
# program with qemu. That needs Linux 6.7 or later, and user namespaces, but not root. With CPUINFO
# the programs find that file at /proc/cpuinfo, in which LLVM looks for the name of the CPU.
set -eu

folder=$(cd "$1" && pwd)
shift
checkout=$(cd "$(dirname "$0")/../.." && pwd)
work=$folder/root/work

# Copies keep their times, since bytecode is valid for one.
for name in ffi_builder tests tools docs examples benchmarks Makefile LICENSE; do
  cp -rpu "$checkout/$name" "$work"
done
cp -pu "$checkout"/*.py "$checkout"/*.toml "$checkout"/*.md "$work"
(cd "$work" && find . -name '*.py') | while read -r name; do
  [ -e "$checkout/$name" ] || rm "$work/$name"
done

cpuinfo=${CPUINFO:+$(realpath "$CPUINFO")}
exec unshare --user --map-root-user --mount --pid --fork --kill-child \
  sh "$checkout/tests/aarch64/enter.sh" "$folder" "$cpuinfo" "$@"
