#!/usr/bin/env bash
# Fuzzes every target of fuzz/targets.txt for an equal part of the time: scripts/fuzz.sh --minutes N
#
# A line there is a target and the options of libFuzzer that it needs besides.
# Starts from fuzz/corpus/TARGET; what is found on the way stays in build/fuzz-corpus, and inputs that crash, hang or
# take too much memory in build/fuzz-artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -ne 2 || $1 != --minutes ]]; then
  echo "usage: scripts/fuzz.sh --minutes N" >&2
  exit 2
fi
minutes=$2

mapfile -t lines < <(grep -vE '^ *(#|$)' fuzz/targets.txt)
targets=("${lines[@]%% *}")
if [[ ${#lines[@]} -eq 0 ]]; then
  echo "fuzz/targets.txt lists no targets" >&2
  exit 1
fi
scripts/build.sh clang "${targets[@]}"

artifacts=build/fuzz-artifacts
mkdir -p "$artifacts"
seconds=$((minutes * 60 / ${#targets[@]}))
seconds=$((seconds > 0 ? seconds : 1))
inputs=0
failures=0

for line in "${lines[@]}"; do
  read -ra words <<<"$line"
  target=${words[0]}
  found=build/fuzz-corpus/$target
  log=$artifacts/$target.log
  corpora=("$found")
  if [[ -d fuzz/corpus/$target ]]; then
    corpora+=("fuzz/corpus/$target")
  fi
  mkdir -p "$found"
  touch "$artifacts/start"

  status=0
  "build/clang/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$artifacts/$target-" "${words[@]:1}" "${corpora[@]}" >"$log" 2>&1 || status=$?

  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  inputs=$((inputs + ${count:-0}))
  if [[ $status -eq 0 && ${count:-0} -gt 0 ]]; then
    echo "$target: $count inputs in $seconds s"
    continue
  fi

  failures=$((failures + 1))
  grep -vE '^(#[0-9]+\s+(NEW|REDUCE|pulse|INITED|RELOAD)|INFO:|stat::)' "$log" | tail -n 60 || true
  echo "$target: FAILED with status $status after ${count:-0} inputs; see $log"
  while IFS= read -r input; do
    echo "$target: to reproduce: build/clang/fuzz/$target $input"
  done < <(find "$artifacts" -name "$target-*" -newer "$artifacts/start" | sort)
done

echo "$inputs inputs to ${#targets[@]} targets in $minutes minutes, $failures targets failed"
[[ $failures -eq 0 ]]
