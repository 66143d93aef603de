#!/bin/sh
# Builds the libFuzzer targets with clang and runs each for a while. New inputs stay in the build folder; a crash is a
# file there and ends the run.
# Usage: fuzz.sh BUILD [SECONDS]
set -eu
build=${1:-build-fuzz}
seconds=${2:-${FUZZ_SECONDS:-60}}
cd "$(dirname "$0")/.."
root=$(pwd)

if [ ! -f "$build/build.ninja" ]; then
	CC=clang meson setup "$build" -Dfuzz=true -Dc_args=-fsanitize=fuzzer-no-link -Db_sanitize=address,undefined \
		-Db_lundef=false
fi
ninja -C "$build"
for target in "$build"/tests/fuzz/fuzz_*; do
	[ -f "$target" ] && [ -x "$target" ] || continue
	name=$(basename "$target")
	mkdir -p "$build/corpus/$name"
	echo "fuzzing $name for $seconds s"
	"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$build/corpus/$name-crash-" \
		"$build/corpus/$name" "$root/tests/fuzz/corpus/${name#fuzz_}"
done
