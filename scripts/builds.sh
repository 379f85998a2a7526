#!/usr/bin/env bash
# Builds the sanitizer and Clang presets and runs their tests: scripts/builds.sh [--minutes N]
#
# Tests labelled slow are left to make test. Builds that the minutes do not suffice for are not reached; the first one
# has to be. Without minutes the runner is under load for 60 seconds of each.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=600
if [[ ${1:-} == --minutes ]]; then
  minutes=$2
else
  export LOAD_SECONDS=60
fi

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

seconds_left() {
  echo $((minutes * 60 > SECONDS ? minutes * 60 - SECONDS : 1))
}

# Prints what ctest says but for the tests that passed.
run_tests() {
  local preset=$1 fixed_addresses=()
  # GCC's ThreadSanitizer cannot start where the kernel spreads addresses widely.
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
  fi
  "${fixed_addresses[@]}" ctest --preset "$preset" -j "$(nproc)" -LE '^slow$' --no-tests=error \
    --stop-time "$(date -d "+$(seconds_left) seconds" +%T)" 2>&1 |
    sed -uE '/^ *(Start +[0-9]+:|[0-9]+\/[0-9]+ Test +#[0-9]+: .* Passed )/d'
}

# What ctest ends because the minutes are used up it calls a timeout.
has_failure() {
  local kinds='Failed|Exception'
  if ! grep -q '^The stop time has been passed' "$1"; then
    kinds+='|Timeout'
  fi
  grep -qE "\*\*\*($kinds)" "$1"
}

all=(asan tsan clang)
passed=0
failures=()
unreached=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for preset in "${all[@]}"; do
  start=$SECONDS
  result=0
  timeout --foreground "$(seconds_left)" scripts/build.sh "$preset" || result=$?
  if ((result == 0)); then
    run_tests "$preset" | tee "$log" || result=$?
  fi
  is_late=false
  if ((SECONDS >= minutes * 60)); then
    is_late=true
  fi
  if ((result == 0)); then
    passed=$((passed + 1))
  elif $is_late && ! has_failure "$log"; then
    unreached+=("$preset")
  else
    failures+=("$preset does not build, or has failing tests")
  fi
  : >"$log"
  echo "$preset took $((SECONDS - start)) s"
  if $is_late; then
    break
  fi
done

reached="$passed of ${#all[@]} builds passed"
for preset in "${unreached[@]}"; do
  reached+="; the minutes were used up in $preset"
done
for failure in "${failures[@]}"; do
  reached+="; $failure"
done
echo "$reached"
[[ $passed -gt 0 && ${#failures[@]} -eq 0 ]]
