#!/usr/bin/env bash
# Measures what a newcomer waits for, in a clean clone without ccache: scripts/cold.sh [run|test|install|asan|tsan|clang]…
#
# Prints CPU (user and system) and wall time of each; downloads and the installation of packages are not counted. Without a name: run, test, install
# and asan. `test` comes after `run`, in the same clone. What is not committed is not measured.
set -euo pipefail
cd "$(dirname "$0")/.."

parts=("$@")
[[ $# -gt 0 ]] || parts=(run test install asan)
export CCACHE_DISABLE=1
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT

scripts/setup.sh build pipe more
tests/components/kafka.sh install
tests/components/search.sh install
git clone --quiet . "$clone/pawl"
[[ ! -e ../shared ]] || ln -s "$(realpath ../shared)" "$clone/shared"
cd "$clone/pawl"

# What is measured: its name, then the command. Its output goes to a log that is shown when it fails.
measure() {
  local name=$1 figures
  shift
  TIMEFORMAT='%R %U %S'
  if ! { figures=$({ time "$@" >"$clone/log" 2>&1; } 2>&1); }; then
    tail -n 40 "$clone/log" >&2
    echo "$name failed"
    exit 1
  fi
  awk -v name="$name" '{printf "%-32s %5.1f CPU minutes, %5.1f minutes of wall time\n", name, ($2 + $3) / 60, $1 / 60}' <<<"$figures"
}


for part in "${parts[@]}"; do
  case $part in
    run) measure 'make run, compiled and linked' scripts/build.sh dev pawl ;;
    test)
      again=$(ninja -C build/dev -n | grep -cE 'Building CXX object src/[a-z]+/CMakeFiles/pawl[a-z_]*\.dir/' || true)
      echo "product sources make test compiles again: $again"
      measure 'make test, compiled' scripts/build.sh dev
      measure 'make test, run' ctest --preset dev -j3
      ;;
    install) measure 'make install' make install PREFIX="$clone/prefix" ;;
    asan | tsan | clang)
      measure "$part, compiled" scripts/build.sh "$part"
      measure "$part, run" scripts/builds.sh "$part"
      ;;
    *)
      echo "usage: scripts/cold.sh [run|test|install|asan|tsan|clang]…" >&2
      exit 2
      ;;
  esac
done
