#!/usr/bin/env bash
# Long random runs: scripts/simulation.sh --minutes N --at-least RULES | --rules N
#
# Compares the recurrences of random rules with a slow, obvious implementation.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  echo "usage: scripts/simulation.sh --minutes N --at-least RULES | --rules N" >&2
  exit 2
}

scripts/build.sh dev recurrence_oracle
oracle=build/dev/tests/calendar/recurrence_oracle

case ${1:-} in
  --minutes)
    [[ $# -eq 4 && $3 == --at-least ]] || usage
    seconds=$(($2 * 60 > SECONDS ? $2 * 60 - SECONDS : 1))
    exec timeout --foreground $((seconds + 60)) "$oracle" --seconds "$seconds" --at-least "$4" --seed "$(date +%s)"
    ;;
  --rules)
    [[ $# -eq 2 ]] || usage
    exec "$oracle" --rules "$2" --seed "$(date +%s)"
    ;;
  *) usage ;;
esac
