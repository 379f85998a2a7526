#!/usr/bin/python3
"""Breaks the rules in whole folders, one place at a time, and counts how often the tests notice.

Every place where a rule can be broken is found by sites.py; all of them are compiled into one build, in
build/rule_mutants, and the one that runs is chosen at run time. A seeded sample is tried. Fails when the tests notice
less than 90 % of it, or, with --at-most-surviving, when more than that many survive; and when the time was enough for
less than a tenth of it. Survivors that are known are listed, with the reason, in tests/surviving_mutants.txt.

build/rule_mutants/tried.txt has what became of each. PAWL_MUTANT=NUMBER build/rule_mutants/TEST runs one again.
"""

import argparse
import fnmatch
import glob
import json
import multiprocessing
import multiprocessing.pool
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
try:
    from sites import CannotParse, Source, number_sites
except ImportError as error:
    print(f"{error}; scripts/setup.sh build more installs it", file=sys.stderr)
    sys.exit(2)

# What is mutated, and the test programs that have to notice, the quickest first.
FOLDERS = ["src/decide", "src/policy"]
TESTS = ["src/decide/decide_test", "src/policy/policy_test", "tests/scripts/scripts_test", "tests/decide/*_test"]
# Few random plays, since most mutants are noticed before; always the same; a failing one is not made shorter.
RANDOM_TESTS = {"PAWL_PLAYS": "100", "RC_PARAMS": "max_success=100 seed=1 noshrink=1"}

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = "build/rule_mutants"
MUTATED = f"{BUILD}/mutated"
LEFT_BEHIND = f"{BUILD}/left_behind"  # where the test programs run: those that die leave files
SURVIVORS = "tests/surviving_mutants.txt"
JOBS = 2
BYTES = 4 << 30  # what a test program may take, since a mutant may never stop growing
ROUNDS = 10  # of building, each without what did not compile in the last
KILLED_OF_100 = 90


def stop(why):
    print(why, file=sys.stderr)
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=400, help="how many mutants to try (400)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses them; by default the time")
    parser.add_argument("--minutes", type=float, help="start no further mutant after this time")
    parser.add_argument("--at-most-surviving", type=int, metavar="N", help="fail when more survive, whatever the share")
    parser.add_argument("--folders", nargs="+", default=FOLDERS, help="what to mutate")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="test programs in the build folder, also as patterns")
    return parser.parse_args()


# The sources.

def read_sources(folders):
    paths = []
    for folder in folders:
        in_folder = [path for path in sorted(glob.glob(f"{folder}/*.cc")) if not path.endswith("_test.cc")]
        if not in_folder:
            stop(f"there is nothing to mutate in {folder}")
        paths += in_folder

    configured = run_quietly(["scripts/build.sh", "edit", "build.ninja"])
    if configured.returncode != 0:
        stop(configured.stdout)
    with open("build/edit/compile_commands.json", encoding="utf-8") as file:
        flags = {command["file"]: flags_of(command) for command in json.load(file)}
    with multiprocessing.Pool(JOBS) as pool:
        try:
            return pool.starmap(Source, [(f"{ROOT}/{path}", flags[f"{ROOT}/{path}"], path) for path in paths])
        except KeyError as path:
            stop(f"no CMakeLists.txt compiles {path}")
        except CannotParse as errors:
            stop(f"cannot be parsed:\n{errors}")


def flags_of(command):
    """What the parser needs of them."""
    words = shlex.split(command["command"])
    wanted = [word for word in words if re.match(r"-[DI]|-std=", word)]
    return wanted + [flag for word, path in zip(words, words[1:]) if word == "-isystem" for flag in (word, path)]


# The build.

def run_quietly(command, environment=None):
    return subprocess.run(command, env=environment, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def write_if_changed(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    content = text.encode("latin-1")
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    with open(path, "wb") as file:
        file.write(content)


def write_sources(sources, dropped):
    for source in sources:
        write_if_changed(f"{MUTATED}/{source.name}", source.mutated(dropped))
    names = {source.name for source in sources}
    for path in glob.glob(f"{MUTATED}/**/*.cc", recursive=True):
        if os.path.relpath(path, MUTATED) not in names:
            os.remove(path)


def sites_in_error(log, sites):
    """The sites that the compiler complains of: each has lines of its own, on which its number stands."""
    by_number = {site.number: site for site in sites}
    found = set()
    for pattern in (r"mutated/(\S+?\.cc):(\d+):\d+: error:", r"mutated/(\S+?\.cc):(\d+):\d+:\s+required from"):
        for name, line in set(re.findall(pattern, log)):
            with open(f"{MUTATED}/{name}", encoding="latin-1") as file:
                lines = file.read().split("\n")[:int(line)]
            numbers = re.findall(r"pawl_mutant\((\d+)\)", "\n".join(lines))
            if numbers:
                found.add(by_number[int(numbers[-1])])
        if found:
            break
    return found


def build(sources, sites, patterns):
    """Builds the test programs with all sites in them; gives them and the sites that do not compile."""
    # As scripts/build.sh does, so that what is not mutated is found in the cache.
    environment = dict(os.environ, CCACHE_BASEDIR=os.getcwd(), CCACHE_NOHASHDIR="1")
    dropped = set()
    write_sources(sources, dropped)
    configured = run_quietly(["cmake", "--preset", "dev", "-B", BUILD,
                              f"-DCMAKE_PROJECT_INCLUDE={ROOT}/scripts/mutants/swap_sources.cmake",
                              f"-DPAWL_MUTATED={ROOT}/{MUTATED}"], environment)
    if configured.returncode != 0:
        stop(configured.stdout)

    targets = run_quietly(["ninja", "-C", BUILD, "-t", "targets", "all"]).stdout
    programs = re.findall(r"^(\S+): CXX_EXECUTABLE_LINKER", targets, re.MULTILINE)
    tests = []
    for pattern in patterns:
        matching = fnmatch.filter(programs, pattern)
        if not matching:
            stop(f"no test program is called {pattern}")
        tests += [name for name in matching if name not in tests]

    for _ in range(ROUNDS):
        built = run_quietly(["ninja", "-C", BUILD, f"-j{JOBS}", "-k0", "--quiet", *tests], environment)
        if built.returncode == 0:
            return tests, dropped
        wrong = sites_in_error(built.stdout, sites) - dropped
        if not wrong:
            stop(built.stdout)
        for site in wrong:
            print(f"does not compile: {site.file}:{site.line}: {site.rule}")
        dropped |= wrong
        write_sources(sources, dropped)
    stop(built.stdout)


# The runs.

def passes(tests, number, seconds):
    """Whether all tests pass, with what happened otherwise."""
    end = time.monotonic() + seconds
    environment = dict(os.environ, **RANDOM_TESTS, PAWL_MUTANT=str(number), GTEST_BRIEF="1")
    for test in tests:
        left = max(end - time.monotonic(), 0.1)
        # A session of its own, so that what it has started ends with it; and limits that hold without us.
        program = subprocess.Popen(
            ["prlimit", "--core=0", f"--as={BYTES}", f"--cpu={4 * int(left + 1)}",
             f"{ROOT}/{BUILD}/{test}", "--gtest_fail_fast"],
            cwd=LEFT_BEHIND, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            code = program.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            code = None
        if code is None:
            return False, f"killed by {test}, which took too long"
        if code != 0:
            return False, f"killed by {test}" + (f", which ended with signal {-code}" if code < 0 else "")
    return True, "survived"


def time_without_mutant(tests):
    start = time.monotonic()
    green, why = passes(tests, 0, 600)
    if not green:
        stop(f"without a mutant the tests have to pass; {why.removeprefix('killed by ')} failed")
    return time.monotonic() - start


def try_all(sample, tests, seconds, end):
    """Tries one after the other until the time is used up; gives those that were killed and those that survived."""
    def try_one(site):
        if end and time.monotonic() > end:
            return site, None, "not tried"
        return site, *passes(tests, site.number, seconds)

    by_survival = {True: [], False: [], None: []}
    with multiprocessing.pool.ThreadPool(JOBS) as pool, open(f"{BUILD}/tried.txt", "w", encoding="utf-8") as log:
        for site, survived, verdict in pool.imap(try_one, sample):
            by_survival[survived].append(site)
            print(f"mutant {site.number}, line {site.line} | {site.name()} | {verdict}", file=log, flush=True)
    return by_survival[False], by_survival[True]


# The survivors that are known.

def read_reasons():
    """By name of the site."""
    reasons = {}
    with open(SURVIVORS, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                columns = re.fullmatch(r"(.+) \| ([^|]+)", line.strip())
                if not columns:
                    stop(f"{SURVIVORS}: this line has no reason: {line}")
                name, reason = columns.groups()
                reasons[" | ".join(column.strip() for column in name.split(" | "))] = reason
    return reasons


def explain(killed, survivors, sites, folders):
    """Lists the survivors without a reason and the reasons without a survivor; gives how many are explained."""
    reasons = read_reasons()
    names = {site.name() for site in sites}
    unexplained = [site for site in survivors if site.name() not in reasons]
    stale = [f"{name}: not there" for name in reasons
             if name not in names and os.path.dirname(name.split(" | ")[0]) in folders]
    stale += [f"{site.name()}: killed" for site in killed if site.name() in reasons]
    if unexplained:
        print(f"survived, without a reason in {SURVIVORS}:")
        for site in unexplained:
            print(f"  line {site.line}, mutant {site.number}:\n    {site.name()} |")
    if stale:
        print(f"to be removed from {SURVIVORS}:")
        for line in stale:
            print(f"  {line}")
    return len(survivors) - len(unexplained)


def main():
    options = arguments()
    end = options.minutes and time.monotonic() + options.minutes * 60
    os.chdir(ROOT)
    sys.stdout.reconfigure(line_buffering=True)
    folders = [folder.rstrip("/") for folder in options.folders]

    sources = read_sources(folders)
    sites = number_sites(sources)
    print(f"{len(sites)} sites in {len(sources)} sources of {' and '.join(folders)}; building them")
    tests, dropped = build(sources, sites, options.tests)
    compiled = [site for site in sites if site not in dropped]
    shutil.rmtree(LEFT_BEHIND, ignore_errors=True)
    os.makedirs(LEFT_BEHIND)
    seconds = time_without_mutant(tests)
    print(f"the tests pass without a mutant, in {seconds:.1f} s; trying mutants with seed {options.seed}")
    sample = random.Random(options.seed).sample(compiled, min(options.count, len(compiled)))
    killed, survivors = try_all(sample, tests, max(10, 10 * seconds), end)
    explained = explain(killed, survivors, sites, folders)
    tried = len(killed) + len(survivors)
    print(f"sites {len(sites)}, compiled {len(compiled)}, tried {tried}, killed {len(killed)}, "
          f"survived {len(survivors)} ({explained} explained), seed {options.seed}")

    if tried == 0 or tried * 10 < len(sample):
        return 1
    if options.at_most_surviving is not None:
        return int(len(survivors) > options.at_most_surviving)
    return int(len(killed) * 100 < KILLED_OF_100 * tried)


if __name__ == "__main__":
    sys.exit(main())
