#!/usr/bin/env bash
# Tries what README.md tells a newcomer, with nothing but the README: serves, lets the payment of an order fail twice and then succeed,
# writes the machine with its three mistakes, reads the messages, corrects one after another, looks at the machine in every way there
# is, and keeps records.
#
# Usage: newcomer.sh PAWL with a program that is built; newcomer.sh alone begins with `make run` in a clean clone.
set -euo pipefail

source=$(realpath "$(dirname "$0")/..")
readme=$source/README.md
folder=$(mktemp -d)
started=()
end() {
  [[ ${#started[@]} == 0 ]] || kill "${started[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$folder"
}
trap end EXIT
unset PAWL_URL PAWL_TOKEN PAWL_PROFILE PAWL_CA  # records are in a directory here
export XDG_CONFIG_HOME=$folder

fail() {
  echo "newcomer: $1" >&2
  exit 1
}

# The file that the README shows under this name.
readme_file() {
  awk -v first="# $1" '
    shown && /^```$/ { exit }
    shown { print }
    previous == "```yaml" && $0 == first { shown = 1; print }
    { previous = $0 }' "$readme"
}

# What the README says that this command prints.
readme_output() {
  awk -v command="\$ $1" '
    shown && (/^```$/ || /^\$ /) { exit }
    shown { print }
    $0 == command { shown = 1 }' "$readme"
}

# Compares what a step gave with what it should give.
same() {
  diff -u --label "$1: expected" --label "$1: found" "$2" "$3" >&2 || fail "$1 differs"
}

# Runs pawl and keeps what it prints, errors included. $1: the exit code it must have.
run() {
  local expected=$1 code=0
  shift
  "$pawl" "$@" >printed 2>&1 || code=$?
  [[ $code == "$expected" ]] || { cat printed >&2; fail "pawl $* ended with $code instead of $expected"; }
}

# A command that the README shows with its output.
run_as_in_readme() {
  local expected=$1
  shift
  readme_output "pawl $*" >shown
  [[ -s shown ]] || fail "the README does not show: pawl $*"
  run "$expected" "$@"
  same "pawl $*" shown printed
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

# A command line that the README shows, as it stands there; $1 is how it begins. Instants, and the name of who runs it,
# differ from run to run.
run_line_of_readme() {
  local command
  command=$(sed -n "s|^\\$ \($1.*\)|\1|p" "$readme" | head -1)
  [[ -n $command ]] || fail "the README does not show: $1"
  readme_output "$command" | timeless >shown
  PATH=$(dirname "$pawl"):$PATH bash -c "$command" >printed 2>&1 || { cat printed >&2; fail "$command"; }
  same "$command" shown <(timeless <printed)
}

timeless() {
  sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+Z?/TIME/g; s/  \[[^]]+\]$/  [YOU]/'
}

# The commands of the README up to its first machine, without remarks.
readme_commands() {
  awk '/^## Your first machine$/ { exit }
    /^```/ { kind = kind ? "" : $0; next }
    kind == "```sh" { sub(/ +#.*/, ""); print }
    kind == "```console served" && sub(/^\$ /, "")' "$readme"
}

# Waits until a file has this line.
wait_for() {
  for _ in $(seq "$3"); do
    ! grep -q "$2" "$1" || return 0
    sleep 0.1
  done
  cat "$1" >&2
  fail "nothing says: $2"
}

# The order whose payment fails twice: the commands of the README in a clone, or what looks like one.
walk_through() {
  local command count=0
  export PATH=$PATH # the README puts the program there
  : >shell
  while IFS= read -r command; do
    count=$((count + 1))
    case $command in
      'make run')
        "$@" >served 2>served.err &
        started+=($!)
        # A clean clone is built first.
        wait_for served '^  export PATH=' 18000
        ;;
      'make test') ;; # is what this is part of
      export*) # with the address and the token that were printed
        [[ $command == 'export PATH=$PWD/build/dev:$PATH PAWL_URL='* ]] || fail "what \`make run\` prints is not: $command"
        eval "$(grep -m 1 '^  export PATH=' served)"
        ;;
      *tail*)
        $command >tailed 2>&1 &
        started+=($!)
        ;;
      *' &')
        readme_output "$command" >shown
        ${command% &} >worked 2>&1 &
        started+=($!)
        for _ in $(seq 300); do
          ! cmp -s worked shown || break
          sleep 0.1
        done
        same "$command" shown worked
        ;;
      *' retry '*)
        readme_output "$command" >shown
        bash -c "$command" >printed 2>&1 || { cat printed >&2; fail "$command"; }
        same "$command" <(head -n 1 shown) printed
        wait_for worked "$(tail -n 1 shown)" 300 # what the worker says of it
        ;;
      *)
        readme_output "$command" | timeless >shown
        bash -c "$command" >printed 2>&1 || { cat printed >&2; fail "$command"; }
        same "$command" shown <(timeless <printed)
        ;;
    esac
  done < <(readme_commands)
  ((count >= 10 && count <= 12)) || fail "the README has $count commands up to there"
  grep -q 'done: paying -> shipping' printed || fail "the order is not paid"
  wait_for tailed 'when: shipping -> shipped' 100
}

if [[ $# == 0 ]]; then
  git clone -q "$source" "$folder/clone"
  cd "$folder/clone"
  walk_through make run
  pawl=$PWD/build/dev/pawl
else
  pawl=$(realpath "$1")
  cd "$folder"
  cp -r "$source/examples" "$source/machines" "$source/scripts" .
  mkdir -p build/dev
  ln -s "$pawl" build/dev/pawl
  walk_through scripts/run.sh --listen 127.0.0.1:0
fi
unset PAWL_URL PAWL_TOKEN
mkdir "$folder/own"
cd "$folder/own"

for name in order.yaml invoice.yaml letter.yaml mistakes.yaml story.yaml; do
  readme_file "$name" >"$name"
  [[ -s $name ]] || fail "the README does not show $name"
done

# The three mistakes, and their corrections.
run_as_in_readme 1 validate mistakes.yaml
[[ $(grep -c ': error: ' printed) == 3 ]] || fail "the README shows a file with three mistakes"
correct bad_expression 's/data\.ammount/data.amount/' 2
correct bad_duration 's/{30: lapsed}/{30d: lapsed}/' 1
correct dead_end 's/lapsed: {}/lapsed: {final: true}/' 0
grep -qx 'mistakes.yaml: ok, machine invoice, 5 states' printed || fail "it is not said to be ok"
same 'the corrected file' <(tail -n +2 invoice.yaml) <(tail -n +2 mistakes.yaml)

# The same machine without mistakes, in every way there is to look at it.
run_as_in_readme 0 validate invoice.yaml
run_as_in_readme 0 explain invoice.yaml
run_as_in_readme 0 graph order.yaml
for format in mermaid dot text; do
  run 0 graph invoice.yaml --format "$format"
  [[ -s printed ]] || fail "an empty picture: $format"
done

# The story, with one expectation that is wrong; corrected, it passes.
run_as_in_readme 1 simulate invoice.yaml --script story.yaml
sed -i 's/attempt: 3/attempt: 0/' story.yaml
run 0 simulate invoice.yaml --script story.yaml
grep -qx '1 scenario: 1 passed, 0 failed' printed || fail "the story is not said to pass"

# Records, as far as the README goes, and what one tries next.
run_line_of_readme 'pawl init'
run_line_of_readme 'pawl apply letter.yaml'
run_line_of_readme 'pawl create letter/17'
run_line_of_readme 'pawl fire letter/17 send'
run 0 why letter/17
grep -q 'no worker has taken `mail` yet$' printed || fail "it is not said that a worker is missing"
run_line_of_readme 'pawl work --queue mails'
run_line_of_readme 'pawl log letter/17'
run_line_of_readme 'pawl why letter/17'
run 0 create letter/17 --data '{"to": "bob"}'
grep -q '^letter/17: duplicate, mailed' printed || fail "a record was created twice"
run 1 fire letter/17 send
grep -qx 'pawl: letter/17: refused: `send` is not accepted in `mailed`' printed || fail "a refusal does not say why"
run 1 create letter/18
run 0 list letter
grep -q '^letter/17  mailed ' printed || fail "the letter is not listed"
run 0 verify pawl-data
run 1 list --dir elsewhere
grep -q 'make one by `pawl init`' printed || fail "it is not said how to begin"

# What is printed is a machine file, valid, and printed as itself.
run_as_in_readme 0 print order.yaml
for machine in order invoice; do
  run 0 print "$machine.yaml"
  mv printed again.yaml
  run 0 validate again.yaml
  run 0 print again.yaml
  same "$machine.yaml printed twice" again.yaml printed
  run 0 print "$machine.yaml" --json
  mv printed again.json
  run 0 print again.json
  same "$machine.yaml by way of JSON" again.yaml printed
done

run 0 schema
grep -q '"\$schema": "https://json-schema.org/draft/2020-12/schema"' printed || fail "this is no JSON Schema"

echo "newcomer: all as the README says"
