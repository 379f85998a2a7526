#!/usr/bin/env bash
# Configures a preset when that is needed and builds it in build/PRESET: scripts/build.sh PRESET [TARGET…]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
dir=build/$preset
shift

# Lets a copy of the sources (mutants) find what was compiled here.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

if [[ ! -e $dir/build.ninja || CMakePresets.json -nt $dir/build.ninja ]]; then
  echo "pawl: configuring $dir"
  mkdir -p "$dir"
  if ! cmake --preset "$preset" >"$dir/configure.log" 2>&1; then
    cat "$dir/configure.log" >&2
    exit 1
  fi
fi

if ninja -C "$dir" -n "$@" | grep -q '^ninja: no work to do'; then
  exit 0
fi
# On a terminal ninja shows its progress in one line; anywhere else that would be a line per file.
quiet=()
if [[ ! -t 1 ]]; then
  quiet=(--quiet)
fi
exec ninja -C "$dir" "${quiet[@]}" "$@"
