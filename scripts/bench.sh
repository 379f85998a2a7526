#!/usr/bin/env bash
# Runs every bench of the release build.
set -euo pipefail
cd "$(dirname "$0")/.."

for bench in build/release/bench/bench_*; do
  if [[ -f $bench && -x $bench ]]; then
    echo "== ${bench##*/}"
    "$bench"
  fi
done
