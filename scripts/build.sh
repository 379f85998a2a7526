#!/usr/bin/env bash
# Configures a preset when that is needed and builds it in build/PRESET: scripts/build.sh PRESET [TARGET…]
#
# On a terminal one line shows what is being built and roughly how long it takes; elsewhere only errors are printed.
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

plan=$(ninja -C "$dir" -n "$@")
if [[ $plan == *'ninja: no work to do.' ]]; then
  exit 0
fi
if [[ ! -t 1 ]]; then
  exec ninja -C "$dir" --quiet "$@"
fi

steps=$(grep -c '^\[' <<<"$plan")
# A step takes 7 CPU seconds on average where each target is compiled as one source, a second where it is a file or a link.
seconds_per_step=7
[[ $preset != edit ]] || seconds_per_step=2
expected=$((steps * seconds_per_step / $(nproc)))

in_minutes() {
  if (($1 < 60)); then
    echo "$1 s"
  else
    printf '%d:%02d min' $(($1 / 60)) $(($1 % 60))
  fi
}

# Reads what ninja says; repeats the line each second, so that one sees that something happens.
show_progress() {
  local line='' done=0 what='configuration' status=0
  while true; do
    status=0
    IFS= read -r -t 1 line || status=$?
    if ((status > 0 && status <= 128)); then # ninja has ended
      break
    elif ((status == 0)) && [[ $line =~ ^\[([0-9]+)/[0-9]+\]\ (.*) ]]; then
      done=${BASH_REMATCH[1]}
      what=${BASH_REMATCH[2]%%/CMakeFiles*}
      what=${what##* }
    elif ((status == 0)) && [[ $line != 'ninja: Entering'* ]]; then
      printf '\r\e[K%s\n' "$line"
    fi
    printf '\r\e[Kpawl: building, %d of %d steps, %s%s; %s is done' "$done" "$steps" "$(in_minutes "$SECONDS")" \
      "$( ((SECONDS > expected)) || echo " of about $(in_minutes "$expected")")" "$what"
  done
  printf '\r\e[K'
}

ninja -C "$dir" "$@" 2>&1 | show_progress
