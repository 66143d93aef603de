#!/bin/sh
# Says which build this is: VERSION+COMMIT, with -changed where files differ from it; VERSION alone without git.
# Usage: build_id.sh VERSION FOLDER
commit=$(git -C "$2" describe --always --abbrev=7 --exclude='*' --dirty=-changed 2>/dev/null) || commit=
# A folder inside of somebody else's repository is not ours.
[ "$(git -C "$2" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$2" && pwd -P)" ] || commit=
echo "$1${commit:++$commit}"
