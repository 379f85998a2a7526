#!/usr/bin/env bash
# Walks through every state of the model of leases, tests/spin/pawl_lease.pml, with Spin:
#   lease.sh holds DEFINITION…             nothing is wrong in any state that is reached
#   lease.sh lives DEFINITION…             and the task ends, however unlucky everybody is
#   lease.sh breaks ASSERTION DEFINITION…  this assertion does not hold: the model notices a broken rule
#   lease.sh full                          the model at its full size: a quarter of an hour, 11 GB
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/pawl_lease.pml

how=$1
shift
expected=""
if [[ $how == breaks ]]; then
  expected=$1
  shift
fi

# of the model | of the verifier's compiler | of the verifier, which fails when it meets its limit of depth
case $how in
  holds | breaks) define=() compile=(-O1 -DSAFETY) run=(-m200000) ;;
  lives) define=(-DLIVE) compile=(-O1 -DNFAIR=8) run=(-m200000 -a -f) ;;
  full) define=() compile=(-O2 -DSAFETY -DCOLLAPSE -DMEMLIM=14000) run=(-m400000 -w27) ;;
  *)
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
spin -a "${define[@]}" "${@/#/-D}" "$model" >spin.log 2>&1 || {
  cat spin.log
  exit 1
}
cc "${compile[@]}" -o pan pan.c
./pan -n "${run[@]}" >pan.log 2>&1 || true
if [[ $how == breaks ]]; then
  grep -qF "assertion violated $expected" pan.log || {
    echo "$* should break $expected, but:"
    cat pan.log
    exit 1
  }
  echo "$* breaks $expected"
else
  # Of a walk that is whole there is nothing else to be said.
  grep -q "errors: 0" pan.log && ! grep -qE "max search depth too small|Search not completed|reached -DMEMLIM" pan.log || {
    cat pan.log
    exit 1
  }
  echo "$(sed -n 's/^ *\([0-9e+.]*\) states, stored.*/\1/p' pan.log) states, no error"
fi
