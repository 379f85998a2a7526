#!/usr/bin/env bash
# Shows that a pipe loses nothing: a real Kafka and a real OpenSearch, events with every kind of poison among them, and kills.
#
# scripts/pipe_demo.sh [--built DIR] [--events N]
#
# --built: programs that are there already (build/dev); nothing is installed or built then.
set -euo pipefail
cd "$(dirname "$0")/.."

built=
events=20000
while (($# > 0)); do
  case $1 in
    --built) built=${2:?--built DIR} ;;
    --events) events=${2:?--events N} ;;
    *)
      echo "usage: scripts/pipe_demo.sh [--built DIR] [--events N]" >&2
      exit 2
      ;;
  esac
  shift 2
done

if [[ -z $built ]]; then
  scripts/setup.sh build pipe
  tests/components/kafka.sh install
  tests/components/search.sh install
  scripts/build.sh dev pawl topic_tool
  built=build/dev
fi
exec /usr/bin/python3 -u scripts/pipe_demo.py "$built" --events "$events"
