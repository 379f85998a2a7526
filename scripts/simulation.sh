#!/usr/bin/env bash
# Long random runs: scripts/simulation.sh --minutes N --at-least RULES | --rules N
#
# Compares the recurrences of random rules with a slow, obvious implementation, on every core. SEED=n in the
# environment repeats a run.
set -euo pipefail
cd "$(dirname "$0")/.."

cores=$(nproc)
seed=${SEED:-$(date +%s)}
oracle=build/dev/tests/calendar/recurrence_oracle
logs=build/simulation

scripts/build.sh dev recurrence_oracle
case "$#${1:-}${3:-}" in
  4--minutes--at-least)
    seconds=$(($2 * 60 > SECONDS ? $2 * 60 - SECONDS : 1))
    run=(timeout $((seconds + 60)) "$oracle" --seconds "$seconds")
    wanted=$4
    ;;
  2--rules)
    run=("$oracle" --rules $((($2 + cores - 1) / cores)))
    wanted=$2
    ;;
  *)
    echo "usage: scripts/simulation.sh --minutes N --at-least RULES | --rules N" >&2
    exit 2
    ;;
esac

# Case i of a run has its seed plus i, so the runs lie far apart.
mkdir -p "$logs"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
runs=()
for ((core = 0; core < cores; ++core)); do
  "${run[@]}" --seed $((seed + core * 1000000000)) >"$logs/$core.log" 2>&1 &
  runs+=($!)
done

failures=0
rules=0
for core in "${!runs[@]}"; do
  if ! wait "${runs[core]}"; then
    failures=$((failures + 1))
  fi
  cat "$logs/$core.log"
  reached=$(awk '$1 == "all" {print $2 + $3}' "$logs/$core.log")
  rules=$((rules + ${reached:-0}))
done

echo "$rules rules (at least $wanted wanted) with SEED=$seed, $failures of $cores runs failed"
[[ $failures -eq 0 && $rules -ge $wanted ]]
