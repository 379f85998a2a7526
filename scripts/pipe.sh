#!/usr/bin/env bash
# Loads messages through pawl pipe while it, Kafka and the search node are killed at random:
# scripts/pipe.sh [--minutes M] [--rounds N] [--messages N] [--at-least N]
# or while the search node is away for 3 minutes, and two million messages wait; then with three brokers, and with
# Elasticsearch: scripts/pipe.sh long
#
# SEED=n in the environment repeats a run, as far as the machine lets it.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "building pawl topic_tool search_sink" # which is quiet, and may take minutes
scripts/build.sh dev pawl topic_tool search_sink
tools=build/dev/tests/components
chaos() {
  /usr/bin/python3 tests/pipe/chaos.py build/dev/pawl "$tools/topic_tool" --seed "${SEED:-$(date +%s)}" "$@"
}
if [[ ${1:-} == long ]]; then
  shift
  /usr/bin/python3 tests/pipe/endurance.py build/dev/pawl "$tools/topic_tool" "$tools/search_sink" "$@"
  chaos --rounds 2 --brokers 3
  SEARCH_ENGINE=es8 tests/components/search.sh install
  chaos --rounds 2 --engine es8
else
  chaos "$@"
fi
