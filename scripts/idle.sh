#!/usr/bin/env bash
# Watches a runner that has nothing to do: scripts/idle.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh dev idle_runner
PAWL_IDLE_SECONDS=$1 exec /usr/bin/python3 tests/engine/idle.py build/dev/tests/engine/idle_runner
