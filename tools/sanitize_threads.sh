#!/bin/sh
# Builds what uses threads with the thread sanitizer, and runs the tests of it: simulated GPUs in several threads and side by side, and
# kernels that are compiled before they are wanted.
# Usage: sanitize_threads.sh BUILD
set -eu
build=${1:-build-threads}
cd "$(dirname "$0")/.."

[ -f "$build/build.ninja" ] ||
	meson setup "$build" -Db_sanitize=thread -Db_lundef=false -Dbuildtype=debug -Doptimization=0 -Dc_args=-g1
ninja -C "$build" fathom tests/unit/probe/test_ahead tests/unit/sim/backend/test_sim_threads tests/unit/cuda/test_cuda_device \
	tests/fake/libcuda.so.1 tests/fake/libnvidia-ml.so.1
cd "$build"
rm -f race.* ./*.fathom
cat >two.paper <<'PAPER'
title = Two GPUs side by side
authors = fathom
published = nowhere
device = one
gpu = toy
Table 1 | barrier | barrier.latency | 10 | cycles
device = two
gpu = gtx280
Table 1 | barrier | barrier.latency | 20 | cycles
PAPER

# What is said goes to a file for each process, since children of the program say it, too.
export TSAN_OPTIONS="log_path=$(pwd)/race:exitcode=68:die_after_fork=0"
export FATHOM_THREADS=4
rc=0
watched() {
	"$@" >watched.txt 2>&1 </dev/null || {
		rc=1
		echo "failed: $*"
		cat watched.txt
	}
}
watched tests/unit/sim/backend/test_sim_threads shipped_gpus
watched tests/unit/probe/test_ahead
watched ./fathom reproduce two.paper
watched env LD_LIBRARY_PATH=tests/fake FAKE_CUDA_GPU=toy tests/unit/cuda/test_cuda_device
watched env LD_LIBRARY_PATH=tests/fake FAKE_CUDA_GPU=toy ./fathom run -d cuda:0 -p clock,barrier -o fake.fathom
for race in race.*; do
	[ ! -e "$race" ] || {
		rc=1
		cat "$race"
	}
done
[ "$rc" != 0 ] || echo "no race"
exit "$rc"
