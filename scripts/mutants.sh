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
  timeout --foreground "$limit" "$copy/scripts/build.sh" edit "$1" >"$log" 2>&1
}

# The tests of a program of GoogleTest, or one of ctest that runs the program under test.
run_tests() {
  local tests=$1 target=$2
  if [[ $target == *_test ]]; then
    timeout 120 "$(find "$copy/build/edit" -name "$target" -type f)" --gtest_filter="*$tests*" --gtest_brief=1 \
      --gtest_fail_fast >"$log" 2>&1 && ! grep -q '^\[==========\] 0 tests' "$log"
  else
    ctest --test-dir "$copy/build/edit" -R "$tests" --no-tests=error --timeout 60 >"$log" 2>&1
  fi
}

first_failed_test() {
  local failed
  failed=$(sed -nE 's/^\[  FAILED  \] ([^ ,]+).*/\1/p; s/.* - (\S+) \(Failed\)$/\1/p' "$log" | head -n 1)
  echo "${failed:-a test program that did not finish}"
}

# Tests that are red before the change, or that do not exist, prove nothing.
declare -A known_green
are_green() {
  local tests=$1 target=$2
  if [[ -z ${known_green["$tests $target"]:-} ]]; then
    known_green["$tests $target"]=no
    if build "$target" && run_tests "$tests" "$target"; then
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
    verdict="WRONG: $file does not exist"
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
    verdict="WRONG: the tests $tests fail even without the change"
    return
  fi

  printf '%s' "$before$new$after" >"$copy/$file"
  if ! build "$target"; then
    tail -n 20 "$log"
    verdict="WRONG: does not build"
  elif run_tests "$tests" "$target"; then
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
  if [[ ${#columns[@]} -ne 6 ]]; then
    verdict="WRONG: ${#columns[@]} columns; 6 are needed"
  else
    try_mutant "${columns[@]:1:5}"
  fi
  if [[ $verdict == WRONG* ]] && time_is_used_up; then
    echo "${columns[0]}: not tried: the $minutes minutes are up"
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
