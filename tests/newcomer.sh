#!/usr/bin/env bash
# Follows README.md and then docs/start.md as a newcomer does, every command in order, in one folder, beside the server of `make run`
# (tests/docs/walk.py); then tries what one tries next: corrects the mistakes one after another, draws and prints the machine
# in every way there is, and makes mistakes with records.
#
# Usage: newcomer.sh [--record] PAWL with a program that is built; newcomer.sh alone begins with `make run` in a clean clone. With --record
# the two pages are rewritten to what is printed.
set -euo pipefail

source=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
record=()
if [[ ${1:-} == --record ]]; then
  record=("$1")
  shift
fi

fail() {
  echo "newcomer: $1" >&2
  exit 1
}

# Runs pawl and keeps what it prints, errors included. $1: the exit code it must have.
run() {
  local expected=$1 code=0
  shift
  "$pawl" "$@" >printed 2>&1 || code=$?
  [[ $code == "$expected" ]] || { cat printed >&2; fail "pawl $* ended with $code instead of $expected"; }
}

# Compares what a step gave with what it should give.
same() {
  diff -u --label "$1: expected" --label "$1: found" "$2" "$3" >&2 || fail "$1 differs"
}

# Corrects one mistake; $1 is the id of its message, $2 the edit, $3 how many mistakes are left.
correct() {
  grep -q "\[$1\]$" printed || fail "no message with the id $1"
  cp mistakes.yaml before
  sed -i "$2" mistakes.yaml
  ! cmp -s before mistakes.yaml || fail "nothing to correct for $1"
  if [[ $3 == 0 ]]; then
    run 0 validate mistakes.yaml
    return
  fi
  run 1 validate mistakes.yaml
  ! grep -q "\[$1\]$" printed || fail "$1 is still reported after the correction"
  [[ $(grep -c ': error: ' printed) == "$3" ]] || { cat printed >&2; fail "expected $3 errors after correcting $1"; }
}

walk() {
  /usr/bin/python3 "$source/tests/docs/walk.py" "${record[@]}" "$folder/clone" "$1" "$source/README.md" "$source/docs/start.md"
}

if [[ $# == 0 ]]; then
  git clone -q "$source" "$folder/clone"
  walk 'make run'
else
  mkdir -p "$folder/clone/build/dev"
  cp -r "$source/examples" "$source/machines" "$source/scripts" "$folder/clone"
  ln -s "$(realpath "$1")" "$folder/clone/build/dev/pawl"
  walk 'scripts/run.sh --listen 127.0.0.1:0'
fi
cd "$folder/clone"
pawl=$PWD/build/dev/pawl
unset PAWL_URL PAWL_TOKEN PAWL_PROFILE PAWL_CA # records are in a directory from here on
export XDG_CONFIG_HOME=$folder

# The three mistakes, and their corrections.
run 1 validate mistakes.yaml
[[ $(grep -c ': error: ' printed) == 3 ]] || fail "mistakes.yaml does not have three mistakes"
correct bad_expression 's/data\.ammount/data.amount/' 2
correct bad_duration 's/{30: lapsed}/{30d: lapsed}/' 1
correct dead_end 's/lapsed: {}/lapsed: {final: true}/' 0
grep -qx 'mistakes.yaml: ok, machine invoice, 5 states' printed || fail "it is not said to be ok"
same 'the corrected file' <(sed '/^scenarios:/,$d' invoice.yaml) mistakes.yaml

for format in mermaid dot text; do
  run 0 graph invoice.yaml --format "$format"
  [[ -s printed ]] || fail "an empty picture: $format"
done

# What is printed is a machine file, valid, and printed as itself.
for machine in machines/order invoice; do
  run 0 print "$machine.yaml"
  mv printed again.yaml
  run 0 validate again.yaml machines/parcel.yaml
  run 0 print again.yaml
  same "$machine.yaml printed twice" again.yaml printed
  run 0 print "$machine.yaml" --json
  mv printed again.json
  run 0 print again.json
  same "$machine.yaml by way of JSON" again.yaml printed
done

run 0 schema
grep -q '"\$schema": "https://json-schema.org/draft/2020-12/schema"' printed || fail "this is no JSON Schema"

# The server has ended, and its records can be seen in its directory. What one gets wrong at first.
run 0 verify pawl-data
run 0 list invoice
grep -q '^invoice/17  paid ' printed || fail "the invoice is not listed"
run 0 create invoice/17 --data '{"amount": 5}'
grep -q '^invoice/17: duplicate, paid' printed || fail "a record was created twice"
run 1 fire invoice/17 pay
grep -q '^pawl: invoice/17: refused: ' printed || fail "a refusal does not say so"
run 1 create invoice/19
run 1 list --dir elsewhere
grep -q '`pawl init`' printed || fail "it is not said how to begin"

echo "newcomer: all as README.md and docs/start.md say"
