#!/usr/bin/env bash
# The tests that make test leaves out: scripts/test_more.sh [--full] [SHARE…]
#
# A share that has minutes runs until they are used up and fails when it reached less than a tenth of its full count; `rules`
# is a sample of 20 and fails when it reached less than a tenth of that, or when more than 4 survive. A share without
# minutes runs as long as it needs, and one without a command is left to --full. With --full every share runs its full count, however long
# that takes. A share's last line says what it reached, or how to see again what failed.
set -euo pipefail
cd "$(dirname "$0")/.."

# share | minutes | what runs | full count | command | command for the full count
table=$(
  cat <<'END'
headers    |  - | every header, compiled alone                            | all headers   | scripts/headers.sh                                                        | scripts/headers.sh
lint       |  - | clang-tidy on every source                              | all sources   | -                                                                         | scripts/lint.sh --all
asan       |  - | all tests but the slow under ASan and UBSan             | the tests     | scripts/builds.sh asan                                                    | env LOAD_SECONDS=60 scripts/builds.sh asan
tsan       |  - | the same under TSan                                     | the tests     | scripts/builds.sh tsan                                                    | env LOAD_SECONDS=60 scripts/builds.sh tsan
clang      |  - | the same, compiled by Clang                             | the tests     | scripts/builds.sh clang                                                   | env LOAD_SECONDS=60 scripts/builds.sh clang
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
broken     |  - | the same with broken rules, src/base/mutant.h           | every rule    | -                                                                         | scripts/sim_mutants.sh
model      |  - | leases, in every order in which things can happen       | the model     | -                                                                         | tests/spin/lease.sh full
idle       |  - | a runner with nothing to do, under strace               | 30 seconds    | -                                                                         | scripts/idle.sh 30
openapi    |  - | schemathesis calls every route of a running server      | 10 minutes    | -                                                                         | tests/openapi/check.py build/dev/pawl --minutes 10
newcomer   |  - | the README in a clean clone, from `make run` on         | the README    | -                                                                         | tests/newcomer.sh
pipe       |  3 | a pipe, its Kafka and its search node, killed           | 20 rounds     | scripts/pipe.sh --minutes MINUTES --messages 20000 --at-least 2           | scripts/pipe.sh --rounds 20 --at-least 20
pipe_long  |  - | a pipe whose search node is away, and one that lags     | 3 minutes     | -                                                                         | scripts/pipe.sh long
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

  if $full; then
    minutes=-
    command=$full_command
  fi
  read -ra words <<<"${command//MINUTES/$minutes}"
  if [[ ${words[0]} == - ]]; then # left to make soak
    continue
  fi
  echo "== $share: $what"
  start=$SECONDS
  if "${words[@]}" </dev/null 2>&1 | tee "build/more/$share.log"; then
    result=passed
    passed=$((passed + 1))
  else
    result=FAILED
    failed=$((failed + 1))
    echo "$share failed; to see it again: make $($full && echo soak || echo test-more) SHARES=$share" | tee -a "build/more/$share.log"
  fi
  used=$(printf '%d:%02d' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))
  reached=$(tail -n 1 "build/more/$share.log")
  echo
  # shellcheck disable=SC2059
  summary+=$'\n'$(printf "$row" "$share" "$result" "$minutes" "$used" "$count" "$reached")
done <<<"$table"

tee build/more/summary.txt <<<"$summary"
echo
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
