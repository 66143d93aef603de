#!/bin/sh
# Runs every test of a build folder and closes with one line: "N passed, N failed". Exit code 1 when one failed.
# Skipped tests (their tool is missing) are named and count as neither.
set -u
build=${1:-build}

# One more than cores: many tests wait for the disk, which has to have what a run measured.
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
