#!/bin/sh
# Compiles kernels.cu to PTX with clang alone. Usage: make_ptx.sh [CLANG] > kernels.ptx
cd "$(dirname "$0")" || exit 1
"${1:-clang-14}" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Wno-unknown-cuda-version -Xclang -target-feature -Xclang +ptx60 -O2 -S -o - kernels.cu
