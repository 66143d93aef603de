#!/bin/sh
# Makes a package of the program, its man page, completions, descriptions and papers in FOLDER, and prints its name: `deb` for this
# distribution, or `tarball`, which runs from any folder on systems whose C library is not older than this one's.
# Usage: package.sh deb|tarball FOLDER
set -eu
kind=$1
folder=$2
cd "$(dirname "$0")/.."
root=$(pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build=$folder/build-$kind
staging=$folder/staging-$kind
arch=$(dpkg --print-architecture 2>/dev/null || uname -m)
# Paths of this machine are nobody's business.
options="-Dtests=false -Dlibrary=false -Dstrip=true -Dc_args=-ffile-prefix-map=$root=."
if [ "$kind" = deb ]; then
	options="$options --prefix=/usr"
else
	options="$options --prefix=/fathom --libdir=lib -Drelocatable=true"
fi
# shellcheck disable=SC2086 # one word an option
[ -f "$build/build.ninja" ] || meson setup "$build" $options >"$folder/$kind.log" 2>&1 || { cat "$folder/$kind.log" >&2; exit 1; }
ninja -C "$build" >"$folder/$kind.log" 2>&1 || { tail -n 30 "$folder/$kind.log" >&2; exit 1; }
version=$("$build/fathom" -V | cut -d' ' -f2 | tr - .)
rm -rf "$staging"
DESTDIR=$staging meson install -C "$build" --no-rebuild >"$folder/$kind.log" 2>&1 || { tail -n 30 "$folder/$kind.log" >&2; exit 1; }

documents() {
	mkdir -p "$1"
	cp README.md NEWS.md "$1/"
	chmod 644 "$1"/*
}

deb() {
	doc=$staging/usr/share/doc/fathom
	documents "$doc"
	gzip -9n "$staging"/usr/share/man/man1/*.1
	{
		echo "fathom ($version) unstable; urgency=medium"
		echo
		echo "  * Built from its own tree; NEWS.md says what is new."
		echo
		echo " -- The authors of fathom <fathom@fathom.invalid>  $(LC_ALL=C date -R)"
	} | gzip -9n >"$doc/changelog.gz"
	{
		echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
		echo "Upstream-Name: fathom"
		echo
		echo "Files: *"
		echo "Copyright: the authors of fathom"
		echo "License: Apache-2.0"
		echo " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."
		echo
		echo "Files: third_party/uplot/*"
		sed -n 's/^Copyright (c) /Copyright: /p' third_party/uplot/LICENSE
		echo "License: MIT"
		sed -n '/^Permission/,$s/^/ /p' third_party/uplot/LICENSE | sed 's/^ $/ ./'
	} >"$doc/copyright"
	find "$staging" -type d -exec chmod 755 {} +
	find "$staging/usr/lib" -type f -exec chmod 644 {} +
	# dpkg-shlibdeps wants a source package's folder.
	mkdir -p "$folder/shlibs/debian"
	: >"$folder/shlibs/debian/control"
	own=$(cd "$staging"/usr/lib/*/fathom && pwd)
	depends=$(cd "$folder/shlibs" && dpkg-shlibdeps -O --ignore-missing-info -l"$own" "$staging/usr/bin/fathom" \
		"$own"/*.so.* 2>"$folder/$kind.log" | sed -n 's/^shlibs:Depends=//p')
	[ -n "$depends" ] || { cat "$folder/$kind.log" >&2; exit 1; }
	mkdir -p "$staging/DEBIAN"
	cat >"$staging/DEBIAN/control" <<CONTROL
Package: fathom
Version: $version
Architecture: $arch
Maintainer: The authors of fathom <fathom@fathom.invalid>
Installed-Size: $(du -sk "$staging/usr" | cut -f1)
Depends: $depends
Suggests: ocl-icd-libopencl1
Section: science
Priority: optional
Description: measures a GPU and infers its micro-architecture
 fathom measures a GPU with microbenchmarks, infers its caches, pipelines and
 memories from the timings, and reports findings with their evidence. It runs on
 NVIDIA GPUs, on OpenCL devices, and on simulated GPUs that it brings along.
CONTROL
	(cd "$staging" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	chmod 644 "$staging"/DEBIAN/*
	package=$folder/fathom_${version}_$arch.deb
	dpkg-deb --root-owner-group --build "$staging" "$package" >"$folder/$kind.log"
	echo "$package"
}

# Libraries that are no part of the C library travel along.
tarball() {
	name=fathom-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
	rm -rf "${folder:?}/$name"
	mv "$staging/fathom" "$folder/$name"
	documents "$folder/$name/share/doc/fathom"
	cp LICENSE "$folder/$name/"
	mkdir -p "$folder/$name/lib/fathom/bundled"
	ldd "$build/fathom" | awk '$2 == "=>" { print $1, $3 }' | while read -r library path; do
		case $library in
		libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | linux-vdso*) ;;
		*) cp -L "$path" "$folder/$name/lib/fathom/bundled/$library" ;;
		esac
	done
	needs=$(find "$folder/$name" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec readelf -V {} + 2>/dev/null |
		grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
	tar -C "$folder" --owner=0 --group=0 --sort=name -czf "$folder/$name.tar.gz" "$name"
	echo "$folder/$name.tar.gz"
	echo "needs the C library ${needs#GLIBC_} or newer" >&2
}

"$kind"
