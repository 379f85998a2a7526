#!/usr/bin/env bash
# Simulates the engine on failing processes, disks, clocks and networks: scripts/sim.sh --seeds N [--minutes M]
#
# Two halves at the same time, each of N/2 seeds; the first hundred are run twice and have to be the same. Fails when
# something does not hold, or when the minutes were enough for fewer than a tenth of the seeds. FIRST=n in the
# environment begins with another seed.
set -euo pipefail
cd "$(dirname "$0")/.."

usage="usage: scripts/sim.sh --seeds N [--minutes M]"
[[ ${1:-} == --seeds && ($# -eq 2 || ($# -eq 4 && $3 == --minutes)) ]] || {
  echo "$usage" >&2
  exit 2
}
seeds=$2
minutes=${4:-0}
first=${FIRST:-1}
logs=build/sim

scripts/build.sh dev pawl_sim
mkdir -p "$logs"
if [[ $minutes -gt 0 ]]; then # what is left after the build
  seconds=$((minutes * 60 > SECONDS ? minutes * 60 - SECONDS : 1))
  minutes=$((seconds / 60)).$((seconds % 60 * 100 / 60 / 10))
fi

middle=$((first + seeds / 2))
sim=build/dev/tests/sim/pawl_sim
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
"$sim" --seeds "$first..$((middle - 1))" --twice 100 --minutes "$minutes" --all-hits --keep tests/sim/seeds >"$logs/1.log" 2>&1 &
half=$!
failed=0
"$sim" --seeds "$middle..$((first + seeds - 1))" --minutes "$minutes" --keep tests/sim/seeds >"$logs/2.log" 2>&1 || failed=1
wait "$half" || failed=1
cat "$logs/1.log"
grep -E "BROKEN|^again|hold" "$logs/2.log" || true

reached=$(awk '/ seeds of .* hold/ {sum += $1} END {print sum + 0}' "$logs"/[12].log)
echo "$reached of $seeds seeds, starting at $first, the first hundred twice; $(grep -c BROKEN "$logs"/1.log || true)$(grep -c BROKEN "$logs"/2.log | sed 's/^/ and /' || true) broken"
[[ $failed -eq 0 && $((reached * 10)) -ge $seeds ]]
