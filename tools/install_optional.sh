#!/bin/sh
# Installs what single tests are skipped without: a browser and what drives it, and programs that read exports, and Slurm. Takes what this machine's
# package registries have, says what it lacks in one line, and never fails.
set -u

modules=${XDG_CACHE_HOME:-$HOME/.cache}/fathom-checks
missing=
for pair in chromium:chromium node:nodejs npm:npm promtool:prometheus slurmctld:slurmctld slurmd:slurmd srun:slurm-client munged:munge; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	for package in $missing; do
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" </dev/null >/dev/null 2>&1 ||
			echo "not installed: $package; its tests are skipped"
	done
fi
if [ ! -d "$modules/node_modules/axe-core" ] && command -v npm >/dev/null 2>&1; then
	mkdir -p "$modules" && timeout 120 npm install --prefix "$modules" --no-audit --no-fund --silent playwright-core@1 axe-core@4 </dev/null >/dev/null 2>&1 ||
		echo "not installed: playwright-core, axe-core; the test of pages is skipped"
fi
exit 0
