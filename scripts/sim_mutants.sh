#!/usr/bin/env bash
# Proves that the simulation notices broken rules: scripts/sim_mutants.sh [--seeds N] [NAME…]
#
# Breaks one rule of src/base/mutant.h at a time, chosen at run time in a build with -DPAWL_MUTANTS=ON, and prints after
# how many seeds it was noticed. Fails when N seeds (300) are not enough for one. Without names it proves the same of the
# kills of a real process, for the rules that these can see.
set -euo pipefail
cd "$(dirname "$0")/.."

seeds=300
if [[ ${1:-} == --seeds ]]; then
  seeds=$2
  shift 2
fi

scripts/build.sh sim-mutants pawl_sim
sim=build/sim-mutants/tests/sim/pawl_sim
if [[ $# -eq 0 ]]; then
  mapfile -t names < <("$sim" --list-mutants)
  set -- "${names[@]}"
  scripts/build.sh sim-mutants engine_kill
  kill=build/sim-mutants/tests/engine_kill/engine_kill
  "$kill" --kills 3 >/dev/null
  for name in answer_before_commit request_forgotten slot_leaked token_reused; do
    if "$kill" --kills 200 --mutant "$name" >build/sim-mutants/killed.log 2>&1; then
      echo "$name SURVIVED: $(tail -n 1 build/sim-mutants/killed.log)"
      exit 1
    fi
    echo "$name detected: $(tail -n 1 build/sim-mutants/killed.log)"
  done
fi

"$sim" --seeds 1..3 >/dev/null # without a mutant nothing is noticed
noticed=0
for name in "$@"; do
  if "$sim" --mutant "$name" --seeds "1..$seeds"; then
    noticed=$((noticed + 1))
  fi
done
echo "$noticed of $# broken rules detected within $seeds seeds each"
[[ $noticed -eq $# ]]
