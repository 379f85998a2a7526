#!/usr/bin/env bash
# Proves that the tests notice broken rules: scripts/mutants.sh [--minutes N] [TABLE]
#
# Applies one change of tests/mutants.txt at a time to a copy of the sources, builds it there and expects the tests it
# names to fail. Fails when a change survives, cannot be applied or does not build, and when the time was enough for
# fewer than a tenth of them.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=0
if [[ ${1:-} == --minutes ]]; then
  minutes=$2
  shift 2
fi
table=${1:-tests/mutants.txt}
copy=$PWD/build/mutants
log=$PWD/build/mutants.log

time_is_used_up() {
  [[ $minutes -gt 0 && $SECONDS -ge $((minutes * 60)) ]]
}

files() {
  (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print)
}

# Brings the copy up to date by content, so that nothing is compiled again but what differs.
refresh_copy() {
  mkdir -p "$copy"
  local file
  while IFS= read -r file; do
    if ! cmp -s "$file" "$copy/$file"; then
      mkdir -p "$(dirname "$copy/$file")"
      cp "$file" "$copy/$file"
    fi
  done < <(files .)
  while IFS= read -r file; do
    if [[ ! -e $file ]]; then
      rm "$copy/$file"
    fi
  done < <(files "$copy")
}

build() {
  local limit=0 # none
  if [[ $minutes -gt 0 ]]; then
    limit=$((minutes * 60 > SECONDS ? minutes * 60 - SECONDS : 1))
  fi
  timeout --foreground "$limit" "$copy/scripts/build.sh" dev "$1" >"$log" 2>&1
}

run_tests() {
  rm -f "$copy/build/dev/Testing/Temporary/LastTestsFailed.log"
  ctest --test-dir "$copy/build/dev" -R "$1" --no-tests=error --stop-on-failure --timeout 60 \
    -j "$(nproc)" >"$log" 2>&1
}

first_failed_test() {
  local failed=$copy/build/dev/Testing/Temporary/LastTestsFailed.log
  if [[ -s $failed ]]; then
    sed -n '1 {s,^[0-9]*:,,; s, *# GetParam.*,,; p}' "$failed"
  else
    echo "a test program that does not start"
  fi
}

# Tests that are red before the change, or that do not exist, prove nothing.
declare -A known_green
are_green() {
  local tests=$1 target=$2
  if [[ -z ${known_green["$tests $target"]:-} ]]; then
    known_green["$tests $target"]=no
    if build "$target" && run_tests "$tests"; then
      known_green["$tests $target"]=yes
    else
      tail -n 40 "$log"
    fi
  fi
  [[ ${known_green["$tests $target"]} == yes ]]
}

# Sets `verdict` to what became of the change.
try_mutant() {
  local file=$1 old=$2 new=$3 tests=$4 target=$5 start=$SECONDS
  if [[ ! -f $file ]]; then
    verdict="WRONG: there is no $file"
    return
  fi

  local text before after
  text=$(cat "$file" && echo .)
  text=${text%.}
  before=${text%%"$old"*}
  after=${text#*"$old"}
  if [[ $before == "$text" || $after == *"$old"* ]]; then
    verdict="WRONG: $file does not contain this text exactly once: $old"
    return
  fi
  if ! are_green "$tests" "$target"; then
    verdict="WRONG: without the change, the tests $tests do not all pass"
    return
  fi

  printf '%s' "$before$new$after" >"$copy/$file"
  if ! build "$target"; then
    tail -n 20 "$log"
    verdict="WRONG: does not build"
  elif run_tests "$tests"; then
    verdict="SURVIVED: the tests $tests still pass"
  else
    verdict="caught by $(first_failed_test) in $((SECONDS - start)) s"
  fi
  printf '%s' "$text" >"$copy/$file"
}

trim() {
  local word=$1
  word=${word#"${word%%[![:space:]]*}"}
  echo "${word%"${word##*[![:space:]]}"}"
}

mapfile -t mutants < <(grep -vE '^ *(#|$)' "$table")
total=${#mutants[@]}
tried=0
caught=0
refresh_copy

for mutant in "${mutants[@]}"; do
  if time_is_used_up; then
    break
  fi
  mutant=${mutant// | | / |  | } # nothing replaces it
  IFS=$'\x1f' read -ra columns <<<"${mutant// | /$'\x1f'}"
  for i in "${!columns[@]}"; do
    columns[i]=$(trim "${columns[i]}")
  done
  if [[ ${#columns[@]} -lt 5 || ${#columns[@]} -gt 6 ]]; then
    verdict="WRONG: ${#columns[@]} columns; 5 or 6 are needed"
  else
    try_mutant "${columns[@]:1:4}" "${columns[5]:-all}"
  fi
  if [[ $verdict == WRONG* ]] && time_is_used_up; then
    echo "${columns[0]}: not tried, the $minutes minutes are used up"
    break
  fi
  echo "${columns[0]}: $verdict"
  tried=$((tried + 1))
  if [[ $verdict == caught* ]]; then
    caught=$((caught + 1))
  fi
done

echo "$caught caught, $tried tried, $total in the table"
[[ $total -gt 0 && $caught -eq $tried && $((tried * 10)) -ge $total ]]
