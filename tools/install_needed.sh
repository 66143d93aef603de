#!/bin/sh
# Installs what the build needs and this machine lacks, on Debian and Ubuntu. Says what it installs. Does nothing, and
# needs no rights, when everything is there. With --checks also what only the tests and checks need, with --packages what
# only packages need.
set -eu

# What must be there: a test for it, and the package that brings it.
build="gcc:gcc make:make meson:meson ninja:ninja-build pkg-config:pkg-config python3:python3"
headers="sqlite3:libsqlite3-dev jansson:libjansson-dev smartcols:libsmartcols-dev libelf:libelf-dev
	ffnvcodec:libffmpeg-nvenc-dev"
check_headers="cmocka:libcmocka-dev"
checks="clang:clang clang-format:clang-format clang-tidy:clang-tidy valgrind:valgrind nm:binutils xz:xz-utils
	man:man-db zsh:zsh fish:fish rsvg-convert:librsvg2-bin"

missing=
for pair in $build; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
for pair in $headers; do
	pkg-config --exists "${pair%%:*}" 2>/dev/null || missing="$missing ${pair##*:}"
done
# Their .pc is missing on Ubuntu 22.04.
[ -e /usr/include/CL/cl.h ] || missing="$missing opencl-c-headers"
# A compiler without the C library's headers builds nothing.
[ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
[ "${1:-}" != --packages ] || command -v dpkg-shlibdeps >/dev/null 2>&1 || missing="$missing dpkg-dev"
if [ "${1:-}" = --checks ]; then
	for pair in $checks; do
		command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
	done
	for pair in $check_headers; do
		pkg-config --exists "${pair%%:*}" 2>/dev/null || missing="$missing ${pair##*:}"
	done
	# A CPU as an OpenCL device, and the loader that finds it.
	ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd"
	python3 -c 'import jsonschema' 2>/dev/null || missing="$missing python3-jsonschema"
	ldconfig -p 2>/dev/null | grep -q libOpenCL.so.1 || missing="$missing ocl-icd-libopencl1"
	# Clang's own runtime (libFuzzer, sanitizers) carries clang's version in its package's name.
	if command -v clang >/dev/null 2>&1; then
		runtime=$(clang -print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null || true)
		version=$(clang -dumpversion | cut -d. -f1)
		[ "$(uname -m)" != x86_64 ] || [ -e "$runtime" ] || missing="$missing libclang-rt-$version-dev"
	else
		missing="$missing libclang-rt-dev"
	fi
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "fathom needs:$missing (Debian names); install them with this system's package manager, then try again" >&2
	exit 3
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "fathom needs:$missing; as root: apt-get install$missing" >&2
		exit 3
	fi
	as_root=sudo
fi

echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# A machine that has just started may be installing its own updates: two minutes are enough for them to end.
install() {
	# shellcheck disable=SC2086 # one word a package
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o DPkg::Lock::Timeout=120 --no-install-recommends $1 </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$as_root apt-get update -q </dev/null >"$log" 2>&1 || true # an old index may still do
# In a release without libclang-rt-dev clang depends on the runtime already.
if ! apt-cache show libclang-rt-dev >/dev/null 2>&1; then
	missing=$(echo "$missing" | sed 's/ libclang-rt-dev//')
fi
if ! install "$missing" >>"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "could not install:$missing; install them by hand, then try again" >&2
	exit 3
fi
