#!/bin/sh
# One small run and its report under valgrind: no invalid access, no definite leak.
# Usage: valgrind_run.sh FATHOM FOLDER
set -eu
fathom=$1
file=$2/valgrind.fathom
rm -f "$file"
check() {
	valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite -q "$fathom" "$@"
}
check run -d sim:toy -p clock -o "$file"
check report "$file" --format json >/dev/null
