#!/bin/sh
# Run a command in the arm64 system that setup.sh made, on a copy of this checkout.
#
#     run.sh FOLDER COMMAND [ARGUMENT ...]
#
# The command runs in /work, as root of namespaces of its own, where Linux starts every arm64
# program with qemu. That needs Linux 6.7 or later, and user namespaces; no root.
set -eu

folder=$(cd "$1" && pwd)
shift
checkout=$(cd "$(dirname "$0")/../.." && pwd)
root=$folder/root

# With the times of files, which bytecode is valid for.
for name in ffi_builder tests docs examples benchmarks setup.py; do
  cp -rpu "$checkout/$name" "$root/work"
done
cp -pu "$checkout"/*.toml "$checkout"/*.md "$checkout"/LICENSE "$root/work"

exec unshare --user --map-root-user --mount --pid --fork --kill-child \
  sh "$checkout/tests/aarch64/enter.sh" "$folder" "$@"
