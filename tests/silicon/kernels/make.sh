#!/bin/sh
# Makes the PTX of every kernel from its source; needs nvcc. The PTX is kept beside it, so that nothing else does.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
	nvcc -arch=compute_80 -O3 -ptx -o "${source%.cu}.raw" "$source"
	# a version that older drivers take, too
	sed -e '/^\/\//d' -e 's/^\.version .*/.version 7.8/' "${source%.cu}.raw" | cat -s >"${source%.cu}.ptx"
	rm "${source%.cu}.raw"
done
