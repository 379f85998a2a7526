#!/usr/bin/env bash
# Kills processes that write, and looks at what they leave: scripts/kills.sh --kills N [--minutes M]
#
# SEED=n in the environment repeats a run, as far as the machine lets it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh dev store_kill
exec build/dev/tests/store_kill/store_kill --seed "${SEED:-$(date +%s)}" "$@"
