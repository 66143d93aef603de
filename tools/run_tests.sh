#!/bin/sh
# Runs every test of a build folder and closes with one line: "N passed, N failed". Exit code 1 when one failed.
# Skipped tests (their tool is missing) are named and count as neither.
set -u
build=${1:-build}

# A run file that a test writes lasts as long as the test, so that memory is disk enough: a commit to a disk takes longer than a small run.
room=1048576 # KiB that all of them never come to
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -ge $room ]; then
	TMPDIR=$(mktemp -d /dev/shm/fathom-tests-XXXXXX) || exit 1
	export TMPDIR
	trap 'rm -rf "$TMPDIR"' EXIT
	trap 'exit 130' INT TERM
fi
# One more than cores: some tests wait for a browser, or for time to go by.
meson test -C "$build" --print-errorlogs --no-rebuild --num-processes $(($(nproc) + 1)) </dev/null
rc=$?
python3 - "$build" <<'PY'
import json, sys
passed = failed = 0
skipped = []
for line in open(sys.argv[1] + "/meson-logs/testlog.json", encoding="utf-8"):
    t = json.loads(line)
    if t["result"] in ("OK", "EXPECTEDFAIL"):
        passed += 1
    elif t["result"] == "SKIP":
        skipped.append(t["name"])
    else:
        failed += 1
if skipped:
    print("skipped:", " ".join(skipped))
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
PY
counted=$?
[ "$rc" = 0 ] || exit "$rc"
exit "$counted"
