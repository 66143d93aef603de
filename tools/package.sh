#!/bin/sh
# Makes a package of the program, its man page, completions, descriptions and papers in FOLDER, and prints its name: `deb` for this
# distribution, or `tarball`, which runs from any folder on systems whose C library is not older than this one's.
# With SYSROOT, the folder of an older x86-64 Debian (doc/faq.md), the tarball is built against that and runs from glibc 2.28 on.
# Usage: [SYSROOT=DIR] package.sh deb|tarball FOLDER
set -eu
kind=$1
folder=$2
cd "$(dirname "$0")/.."
root=$(pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build=$folder/build-$kind${SYSROOT:+-older}
staging=$folder/staging-$kind
sysroot=${SYSROOT:-}
oldest=2.28
arch=$(dpkg --print-architecture 2>/dev/null || uname -m)
# Paths of this machine are nobody's business.
options="-Dtests=false -Dlibrary=false -Dstrip=true"
c_args=-ffile-prefix-map=$root=.
c_link_args=
older=
if [ "$kind" = deb ]; then
	command -v dpkg-shlibdeps >/dev/null || { echo "package.sh deb needs dpkg-shlibdeps, of Debian's package dpkg-dev" >&2; exit 3; }
	options="$options --prefix=/usr"
else
	options="$options --prefix=/fathom --libdir=lib -Drelocatable=true"
fi

library_path() {
	# shellcheck disable=SC2086 # one word an option
	gcc $older -print-file-name="$1"
}

# Writes libm.so for the linker alone: names of the system's libm with the newest versions that are not newer than $oldest.
older_libm() {
	mkdir -p "$folder/older"
	nm -D --defined-only "$1" | awk -v oldest="$oldest" -v map="$folder/older/libm.map" '
		function order(version, part) { split(version, part, "."); return part[1] * 1e6 + part[2] * 1e3 + part[3] }
		$2 ~ /[TWi]/ && split($3, symbol, /@+GLIBC_/) == 2 && order(symbol[2]) <= order(oldest) && order(symbol[2]) >= order(best[symbol[1]]) {
			best[symbol[1]] = symbol[2]
		}
		END {
			for (name in best) {
				print ".globl " name "\n.type " name ",@function\n" name ":"
				names[best[name]] = names[best[name]] " " name ";"
			}
			for (version in names) print "GLIBC_" version " {" names[version] " };" >map
		}' >"$folder/older/libm.s"
	gcc -shared -nostdlib -Wl,-soname,"$(basename "$1")" -Wl,--version-script,"$folder/older/libm.map" -o "$folder/older/libm.so" \
		"$folder/older/libm.s"
}

if [ -n "$sysroot" ]; then
	if [ "$kind" != tarball ] || [ ! -e "$sysroot/usr/include/stdio.h" ]; then
		echo "package.sh: SYSROOT is for a tarball, and a folder with usr/include/stdio.h; $sysroot is none" >&2
		exit 2
	fi
	sysroot=$(cd "$sysroot" && pwd)
	# Absolute links would lead to this system's libraries. A folder may be found by two names.
	find "$sysroot"/lib*/ "$sysroot"/usr/lib*/ -type l -name '*.so*' | while read -r link; do
		target=$(readlink "$link")
		[ "${target#/}" = "$target" ] || ln -sfr "$sysroot$target" "$link"
	done
	libraries=$sysroot/usr/lib/$(gcc -print-multiarch)
	# The compiler looks into folders beside its own before those of a --sysroot, for libraries and for what starts a program.
	older="--sysroot=$sysroot -B$libraries/ -L$sysroot/lib/$(gcc -print-multiarch)"
	older_libm "$(library_path libm.so.6)"
	export PKG_CONFIG_SYSROOT_DIR="$sysroot" PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$sysroot/usr/lib/pkgconfig:$sysroot/usr/share/pkgconfig"
	c_args="$c_args --sysroot=$sysroot"
	c_link_args="-L$folder/older $older"
fi
# shellcheck disable=SC2086 # one word an option
[ -f "$build/build.ninja" ] || meson setup "$build" $options "-Dc_args=$c_args" "-Dc_link_args=$c_link_args" >"$folder/$kind.log" 2>&1 || { cat "$folder/$kind.log" >&2; exit 1; }
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

# Copies the libraries that $1 needs, and theirs, unless they are parts of the C library, with their licences.
bundle() {
	for library in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'); do
		case $library in
		libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | ld-linux*) continue ;;
		esac
		[ ! -e "$2/$library" ] || continue
		cp -L "$(library_path "$library")" "$2/$library"
		owner=$(dpkg-query --admindir="$sysroot/var/lib/dpkg" -S "*/$library" 2>/dev/null | sed -n '1s/:.*//p')
		[ -z "$owner" ] || cp "$sysroot/usr/share/doc/$owner/copyright" "$2/$library.copyright"
		bundle "$2/$library" "$2"
	done
}

tarball() {
	name=fathom-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
	rm -rf "${folder:?}/$name"
	mv "$staging/fathom" "$folder/$name"
	documents "$folder/$name/share/doc/fathom"
	cp LICENSE "$folder/$name/"
	mkdir -p "$folder/$name/lib/fathom/bundled"
	bundle "$folder/$name/bin/fathom" "$folder/$name/lib/fathom/bundled"
	needs=$(find "$folder/$name" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec readelf -V {} + 2>/dev/null |
		grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
	if [ -n "$sysroot" ] && [ "$(printf '%s\n' "$needs" "$oldest" | sort -V | tail -n 1)" != "$oldest" ]; then
		echo "package.sh: the tarball needs glibc $needs, not $oldest or older: $sysroot is too new" >&2
		exit 1
	fi
	tar -C "$folder" --owner=0 --group=0 --sort=name -czf "$folder/$name.tar.gz" "$name"
	echo "$folder/$name.tar.gz"
	echo "needs glibc $needs or newer" >&2
}

"$kind"
