#!/bin/sh
# The pinning prologue is PTX that the vendor's assembler takes: test_pin.sh TEST_KERNEL PTXAS
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$1" --pinned "$dir/pinned.ptx"
"$2" -arch=sm_90 "$dir/pinned.ptx" -o "$dir/pinned.cubin"
test -s "$dir/pinned.cubin"
