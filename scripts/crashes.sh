#!/usr/bin/env bash
# Crashes the store at every call to the disk, lets calls fail and bits flip: scripts/crashes.sh --scripts N
set -euo pipefail
cd "$(dirname "$0")/.."

scripts=${2:?usage: scripts/crashes.sh --scripts N}
scripts/build.sh dev store_crash_test
export PAWL_CRASH_SCRIPTS=$scripts
test=build/dev/tests/store_crash/store_crash_test

# Calls that fail are tried beside the rest, which takes longer.
$test --gtest_brief=1 --gtest_filter='StoreIoErrors.*' >build/crashes_beside.log 2>&1 &
beside=$!
result=0
$test --gtest_brief=1 --gtest_filter='-StoreIoErrors.*' | tee build/crashes.log || result=1
wait $beside || result=1
cat build/crashes_beside.log
echo "$scripts scripts: $(grep -m1 '^crash points' build/crashes.log)"
exit $result
