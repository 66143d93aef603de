#!/bin/sh
# Builds with the address and undefined-behaviour sanitizers and runs the tests that are worth running under them. Reports name
# functions and lines (-g1); to tell variables, too, would take a sixth more of the build. A null pointer and an object that is too small
# stop the program by the address sanitizer as well: checks of their own are a quarter of the build and of the tests.
# A report ends the program. To go on behind it takes half as much code again.
# Usage: sanitize.sh BUILD
set -eu
build=${1:-build-asan}
cd "$(dirname "$0")/.."

[ -f "$build/build.ninja" ] ||
	meson setup "$build" -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug -Doptimization=0 \
		"-Dc_args=['-g1', '-fno-sanitize=null,object-size', '-fno-sanitize-recover=all']"
# meson builds what its tests need; this is what runs beside them.
ninja -C "$build" fathom tests/known/known_answers
# vptr and friends aside, every report is an error; a leak is one too.
export ASAN_OPTIONS=abort_on_error=0:exitcode=66:detect_leaks=1:allocator_may_return_null=1:verify_asan_link_order=0
export LSAN_OPTIONS="suppressions=$(pwd)/tools/leaks_allowed.supp:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=67
# Suites that only read source text say nothing new here, those that compare many values take long, and of the long runs one is enough.
# That one is measured beside the tests, and what uses threads is built and run beside both: no core waits for the last of anything.
"$build/tests/known/known_answers" --left-out 24 toy >"$build/toy.txt" 2>&1 </dev/null &
toy=$!
tools/sanitize_threads.sh "$build-threads" >"$build/threads.txt" 2>&1 </dev/null &
threads=$!
rc=0
meson test -C "$build" --print-errorlogs --no-suite conform --no-suite long --no-suite known --no-suite compared \
	--num-processes $(($(nproc) + 1)) --timeout-multiplier 4 </dev/null || rc=$?
ended() {
	wait "$1" || {
		rc=$?
		cat "$2"
	}
}
ended "$toy" "$build/toy.txt"
ended "$threads" "$build/threads.txt"
exit "$rc"
