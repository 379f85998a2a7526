#!/usr/bin/env bash
# The tests that make test leaves out, in shares of 45 minutes: scripts/test_more.sh [--full] [SHARE…]
#
# Every share runs until its minutes are used up and fails when it reached less than a tenth of its full count; `rules`
# is a sample of 20 and fails when it reached less than a tenth of that, or when more than 4 survive.
# With --full it runs the full count instead, however long that takes. A share's last line says what it reached.
set -euo pipefail
cd "$(dirname "$0")/.."

# share | minutes | what runs | full count | command | command for the full count
table=$(
  cat <<'END'
headers    |  2 | every header, compiled alone                            | all headers   | scripts/headers.sh                                                        | scripts/headers.sh
builds     | 22 | all tests but the slow under ASan+UBSan, TSan and Clang | 3 builds      | scripts/builds.sh --minutes MINUTES                                       | scripts/builds.sh
mutants    |  3 | the tests against broken rules, tests/mutants.txt       | every mutant  | scripts/mutants.sh --minutes MINUTES                                      | scripts/mutants.sh
rules      |  2 | the tests against rules of the core broken at random    | 400 mutants   | scripts/mutants/run.py --count 20 --at-most-surviving 4 --minutes MINUTES | scripts/mutants/run.py --count 400
fuzz       |  1 | every target of fuzz/targets.txt                        |  8 minutes    | scripts/fuzz.sh --minutes MINUTES                                         | scripts/fuzz.sh --minutes 8
simulation |  2 | random recurrence rules against the slow oracle         | 200,000 rules | scripts/simulation.sh --minutes MINUTES --at-least 20000                  | make --no-print-directory test-time
crashes    |  2 | the store on a disk that fails, at every call           | 8 scripts     | scripts/crashes.sh --scripts 2                                            | scripts/crashes.sh --scripts 8
kills      |  1 | a process that writes through the store, killed         | 100 kills     | scripts/kills.sh store --kills 100 --minutes MINUTES                      | scripts/kills.sh store --kills 100
killed     |  1 | a process with an engine under load, killed             | 300 kills     | scripts/kills.sh engine --kills 300 --minutes MINUTES                     | scripts/kills.sh engine --kills 300 --minutes 60
served     |  1 | the program as a server under load over HTTP, killed    | 100 kills     | scripts/kills.sh server --kills 100 --minutes MINUTES                     | scripts/kills.sh server --kills 100 --minutes 60
bad_input  |  2 | a server that is sent what it must not take             | 10 minutes    | scripts/bad_input.sh --minutes MINUTES                                    | scripts/bad_input.sh --minutes 10
engine     |  3 | the engine on failing processes, disks and networks     | 2,000 seeds   | scripts/sim.sh --seeds 2000 --minutes MINUTES                             | scripts/sim.sh --seeds 2000
broken     |  0 | the same with broken rules, src/base/mutant.h           | every rule    | echo left to make soak                                                    | scripts/sim_mutants.sh
model      |  0 | leases, in every order in which things can happen       | the model     | echo left to make soak                                                    | tests/spin/lease.sh full
idle       |  0 | a runner with nothing to do, under strace               | 30 seconds    | echo left to make soak                                                    | scripts/idle.sh 30
openapi    |  0 | schemathesis calls every route of a running server      | 10 minutes    | echo left to make soak                                                    | tests/openapi/check.py build/dev/pawl --minutes 10
newcomer   |  0 | the README in a clean clone, from `make run` on         | the README    | echo left to make soak                                                    | tests/newcomer.sh
pipe       |  3 | a pipe, its Kafka and its search node, killed           | 20 rounds     | scripts/pipe.sh --minutes MINUTES --messages 20000 --at-least 2           | scripts/pipe.sh --rounds 20 --at-least 20
pipe_long  |  0 | a pipe whose search node is away, and one that lags     | 3 minutes     | echo left to make soak                                                    | scripts/pipe.sh long
END
)

full=false
if [[ ${1:-} == --full ]]; then
  full=true
  shift
fi
for share in "$@"; do
  if ! grep -q "^$share " <<<"$table"; then
    echo "scripts/test_more.sh: no share is called '$share'" >&2
    exit 2
  fi
done

mkdir -p build/more
row='%-11s %-8s %8s %8s  %-14s %s\n'
# shellcheck disable=SC2059
summary=$(printf "$row" share result minutes used 'full count' reached)
passed=0
failed=0

while IFS='|' read -r share minutes what count command full_command; do
  read -r share <<<"$share"
  read -r minutes <<<"$minutes"
  read -r what <<<"$what"
  read -r count <<<"$count"
  if [[ $# -gt 0 && " $* " != *" $share "* ]]; then
    continue
  fi

  used=-
  if [[ $what == - ]]; then
    result=-
    reached="nothing to run yet"
  else
    if $full; then
      minutes=-
      command=$full_command
    fi
    echo "== $share: $what"
    read -ra words <<<"${command//MINUTES/$minutes}"
    start=$SECONDS
    if "${words[@]}" </dev/null 2>&1 | tee "build/more/$share.log"; then
      result=passed
      passed=$((passed + 1))
    else
      result=FAILED
      failed=$((failed + 1))
    fi
    used=$(printf '%d:%02d' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))
    reached=$(tail -n 1 "build/more/$share.log")
    echo
  fi
  # shellcheck disable=SC2059
  summary+=$'\n'$(printf "$row" "$share" "$result" "$minutes" "$used" "$count" "$reached")
done <<<"$table"

echo "$summary"
echo
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
