#!/usr/bin/env bash
# Builds the sanitizer and Clang presets and runs their tests, all but the slow ones: scripts/builds.sh [asan|tsan|clang]…
#
# Without a name all three. LOAD_SECONDS in the environment says how long the runner is under load in each.
set -euo pipefail
cd "$(dirname "$0")/.."

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# Prints what ctest says, except for tests that passed.
run_tests() {
  local preset=$1 fixed_addresses=()
  # GCC's ThreadSanitizer cannot start where the kernel spreads addresses widely.
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
  fi
  "${fixed_addresses[@]}" ctest --preset "$preset" -j3 -LE '^slow$' --no-tests=error 2>&1 |
    sed -uE '/^ *(Start +[0-9]+:|[0-9]+\/[0-9]+ Test +#[0-9]+: .* Passed )/d'
}

all=("$@")
[[ $# -gt 0 ]] || all=(asan tsan clang)
failed=()
for preset in "${all[@]}"; do
  start=$SECONDS
  if ! scripts/build.sh "$preset"; then
    failed+=("$preset does not build")
  else
    built=$SECONDS
    run_tests "$preset" || failed+=("$preset has failing tests")
    echo "$preset: built in $((built - start)) s, tests ran for $((SECONDS - built)) s"
  fi
done

if [[ ${#failed[@]} -gt 0 ]]; then
  printf '%s\n' "${failed[@]}"
  exit 1
fi
