#!/usr/bin/env bash
# Installs a build, then builds and runs examples/embed against what was installed and nothing else; compiles every
# installed header alone. Usage: package_test.sh BUILD FOLDER [OPTION OF CMAKE…]; FOLDER is made anew.
set -euo pipefail

source=$(realpath "$(dirname "$0")/../..")
build=$(realpath "$1")
rm -rf "$2"
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
options=("$@")

fail() {
  echo "package: $1" >&2
  exit 1
}

# Runs what prints a lot, and shows it only when it fails.
quietly() {
  "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "$* failed"; }
}

# Configures and builds a copy of a project, so that nothing of ours is beside it.
build_as_stranger() {
  cp -r "$1" "$folder/$2"
  quietly cmake -S "$folder/$2" -B "$folder/$2/build" -G Ninja --warn-uninitialized -Werror=dev \
    -D CMAKE_PREFIX_PATH="$folder/prefix" "${options[@]}"
  quietly cmake --build "$folder/$2/build"
}

# What the example prints, with instants as AT.
run_example() {
  "$folder/embed/build/embed" "$@" >"$folder/printed" || fail "embed $* ended with $?"
  sed -E -i 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/AT/' "$folder/printed"
}

same() {
  diff -u --label expected - --label "$1" "$folder/printed" >&2 || fail "$1 differs"
}

# Moved after it was installed: nothing in it may know where it was made.
quietly cmake --install "$build" --prefix "$folder/made"
mv "$folder/made" "$folder/prefix"
if grep -rlF -e "$source" -e "$build" "$folder/prefix/lib/cmake" "$folder/prefix/include"; then
  fail "these name folders of this machine"
fi
"$folder/prefix/bin/pawl" version >"$folder/printed" || fail "the installed pawl does not run"

build_as_stranger "$source/tests/package/headers" headers
build_as_stranger "$source/examples/embed" embed
"$folder/embed/build/embed_pieces" >"$folder/printed" || fail "embed_pieces ended with $?"

story='paid {"amount":12,"receipt":"for 1/1"}
AT  created -> charging
AT  failed bank_unreachable
AT  failed bank_unreachable
AT  done -> telling
AT  done -> paid
why: final since AT'
told='office received: {"amount":12,"receipt":"for 1/1"}'
order=$folder/embed/order.yaml

run_example "$order" "$folder/records"
same "the first run" <<<"create order 17: ok
$told
$story"
run_example "$order" "$folder/records"
same "the second run" <<<"create order 17: duplicate
$story"
run_example "$folder/embed/slow_order.yaml" --virtual
same "the run on the virtual clock" <<<"create order 17: ok
$told
$story"

code=0
"$folder/embed/build/embed" "$folder/none.yaml" --virtual 2>"$folder/printed" || code=$?
[[ $code == 1 ]] || fail "embed without a machine ended with $code instead of 1"
same "an error" <<<"embed: cannot read $folder/none.yaml"
