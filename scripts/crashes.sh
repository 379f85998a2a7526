#!/usr/bin/env bash
# Crashes the store at every call to the disk, lets calls fail and bits flip: scripts/crashes.sh --scripts N
set -euo pipefail
cd "$(dirname "$0")/.."

scripts=${2:?usage: scripts/crashes.sh --scripts N}
scripts/build.sh dev store_crash_test
PAWL_CRASH_SCRIPTS=$scripts build/dev/tests/store_crash/store_crash_test --gtest_brief=1 | tee build/crashes.log
echo "$scripts scripts: $(grep -m1 '^crash points' build/crashes.log)"
