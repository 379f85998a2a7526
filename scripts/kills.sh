#!/usr/bin/env bash
# Kills processes and looks at what they leave: scripts/kills.sh store|engine|server --kills N [--minutes M]
#
# store: one that writes through the store; engine: one with an engine under load; server: the program that serves, under
# the same load over HTTP. SEED=n in the environment repeats a run, as far as the machine lets it.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1_kill
targets=("$program")
options=()
if [[ $1 == server ]]; then
  program=engine_kill
  targets=(pawl engine_kill)
  options=(--server build/dev/pawl)
fi
shift
echo "building ${targets[*]}" # which is quiet, and may take minutes
scripts/build.sh dev "${targets[@]}"
exec "build/dev/tests/$program/$program" --seed "${SEED:-$(date +%s)}" "${options[@]}" "$@"
