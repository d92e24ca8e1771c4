#!/bin/sh
# Make an arm64 system in a folder: qemu, a root of Debian packages, and the tests' wheels.
#
#     setup.sh FOLDER PYTHON
#
# PYTHON is the interpreter of an environment that has ffi_builder and what its tests need.
# Everything comes from Debian and PyPI, and nothing outside FOLDER is changed. It downloads 300 MB
# and writes 1.5 GB.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lacking=$("$here/lacks.sh")
if [ -n "$lacking" ]; then
  echo "No arm64 system can be made: $lacking" >&2
  exit 1
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=$2

suite=bookworm
target_python=3.11 # the one of this suite
packages="python3-dev gcc g++ libc6-dev binutils bash dash coreutils sed grep gawk"

apt=$folder/apt
root=$folder/root
rm -rf "$apt" "$root"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$root"

# ---- Debian packages, with lists and a cache of their own

cat > "$apt/sources.list" << END
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main
END
: > "$apt/state/status"
cat > "$apt/config" << END
APT::Architecture "arm64";
APT::Architectures { "arm64"; "amd64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
END
export APT_CONFIG="$apt/config"
apt-get -qq update
(cd "$apt" && apt-get -qq download qemu-user-static:amd64)
# shellcheck disable=SC2086 # one word a package
apt-get -qq install --download-only $packages

dpkg-deb --fsys-tarfile "$apt"/qemu-user-static_*.deb |
  tar -x -C "$folder" --strip-components=3 ./usr/bin/qemu-aarch64-static

# Debian merges these folders in a maintainer's script.
for name in bin sbin lib; do
  mkdir -p "$root/usr/$name"
  ln -s "usr/$name" "$root/$name"
done
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
done
rm -rf "$apt"

# What other maintainers' scripts would do.
ln -sf gcc "$root/usr/bin/cc"
ln -sf g++ "$root/usr/bin/c++"
ln -sf dash "$root/usr/bin/sh"
ln -sf gawk "$root/usr/bin/awk"
echo "root:x:0:0:root:/root:/bin/sh" > "$root/etc/passwd"
echo "root:x:0:" > "$root/etc/group"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
mkdir -p "$root/work" "$root/tmp" "$root/proc" "$root/dev" "$root/sys"

# ---- wheels

"$python" "$here/requirements.py" "$target_python" > "$folder/requirements.txt"
set --
for tag in manylinux_2_28 manylinux_2_27 manylinux_2_26 manylinux_2_24 manylinux_2_17 manylinux2014; do
  set -- "$@" --platform "${tag}_aarch64"
done
"$python" -m pip install --quiet --disable-pip-version-check --no-compile --only-binary=:all: \
  --python-version "$target_python" --implementation cp "$@" \
  --target "$root/usr/local/lib/python$target_python/dist-packages" \
  --requirement "$folder/requirements.txt"
