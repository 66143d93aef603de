#!/bin/sh
# Calibrates the inference on fresh random GPUs and writes doc/results/calibration.md.
# Usage: tools/calibrate.sh BUILD [COUNT [SEED]]. The seed is printed, so that a failure can be run again.
set -eu
build=${1:-build}
count=${2:-200}
seed=${3:-$(date +%s)000}
echo "seed $seed"
ninja -C "$build" tests/known/calibrate
mkdir -p doc/results
exec "$build/tests/known/calibrate" "$count" "$seed" -j "$(nproc)" doc/results/calibration.md
