#!/bin/sh
# Print what this machine lacks to run arm64 programs in a system of Debian packages, as one line.
# Where nothing is lacking, print nothing.
set -eu

if [ "$(uname -sm)" = "Linux aarch64" ]; then
  echo "nothing to emulate: this machine is aarch64, where make test runs the tests"
elif [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "Linux on x86-64 is needed, and this is $(uname -sm)"
elif ! command -v apt-get dpkg-deb > /dev/null; then
  echo "apt-get and dpkg-deb are needed, which Debian and Ubuntu have"
elif [ ! -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
  echo "the keys of Debian's archive are needed: apt-get install debian-archive-keyring"
elif ! unshare --user --map-root-user --mount --pid --fork true 2> /dev/null; then
  echo "user namespaces are needed, and this machine does not allow them"
elif ! unshare --user --map-root-user --mount --pid --fork \
  mount -t binfmt_misc binfmt_misc /sys 2> /dev/null; then
  echo "binfmt_misc in user namespaces is needed, which Linux 6.7 and later have"
fi
