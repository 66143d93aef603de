#!/bin/sh
# Runs the unit tests and those of the program from outside in a build that counts what they run, and says how much that is. A process that is
# killed counts nothing.
# Usage: coverage.sh BUILD
set -eu
build=${1:-build-coverage}
cd "$(dirname "$0")/.."
[ -f "$build/build.ninja" ] || meson setup "$build" -Db_coverage=true -Dbuildtype=debug -Doptimization=1
ninja -C "$build"
find "$build" -name '*.gcda' -delete
# Known answers and their like go the same paths many times, and the style of the source goes none.
names=$(meson test -C "$build" --no-rebuild --list --no-suite known --no-suite long --no-suite compared --no-suite slow --no-suite prop 2>/dev/null |
	sed 's/.* \/ //' | grep -vx style)
# shellcheck disable=SC2086 # one word a test
meson test -C "$build" --no-rebuild --quiet --timeout-multiplier 4 $names </dev/null || echo "some tests failed; what they ran is counted"
python3 tools/coverage.py "$build"
