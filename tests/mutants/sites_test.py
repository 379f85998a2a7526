#!/usr/bin/python3
"""Proves that mutants are found and built as they should: tests/mutants/sites_test.py COMPILER

sample.cpp becomes sample.mutated.cpp, word by word; that prints what sample.cpp prints, and something else with each
of its mutants; a mutant that does not compile is found and left out. With --record in place of the compiler,
sample.mutated.cpp is written anew.
"""

import difflib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "../../scripts/mutants")
sys.path.insert(0, SCRIPTS)
sys.dont_write_bytecode = True

try:
    import clang.cindex
except ImportError:
    print("skipped: there is no python3-clang")
    sys.exit(77)

import run
import sites

SAMPLE = f"{HERE}/sample.cpp"
GOLDEN = f"{HERE}/sample.mutated.cpp"


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def compile_it(compiler, path, program):
    return run.run_quietly([compiler, "-std=c++20", "-w", "-include", f"{SCRIPTS}/pawl_mutant.h", path, "-o", program])


def output(program, number=0):
    try:
        return subprocess.run(["prlimit", "--core=0", program], env={"PAWL_MUTANT": str(number)}, capture_output=True,
                              timeout=1).stdout
    except subprocess.TimeoutExpired:
        return "no end"


def main():
    source = sites.Source(SAMPLE, ["-std=c++20"], "sample.cpp")
    sites.number_sites([source])
    text = source.mutated()
    if sys.argv[1] == "--record":
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(GOLDEN, encoding="utf-8") as file:
        golden = file.read()
    sys.stdout.writelines(difflib.unified_diff(golden.splitlines(True), text.splitlines(True), GOLDEN, "now"))
    check(text == golden, "the mutated source is not as expected")
    check(len({site.name() for site in source.sites}) == len(source.sites), "two mutants have the same name")

    compiler = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        run.MUTATED = f"{folder}/mutated"
        program = f"{folder}/program"
        path = f"{run.MUTATED}/sample.cc"

        run.write_if_changed(path, text)
        log = compile_it(compiler, path, program).stdout
        wrong = run.sites_in_error(log, source.sites)
        check([site.name() for site in wrong] ==
              ["sample.cpp | bool compare(OnlyLess a, OnlyLess b) { return a < b; } | < to <="], f"dropped:\n{log}")
        run.write_if_changed(path, source.mutated(wrong))
        built = compile_it(compiler, path, program)
        check(built.returncode == 0, built.stdout)
        check(compile_it(compiler, SAMPLE, f"{folder}/original").returncode == 0, "sample.cpp does not compile")

        expected = output(f"{folder}/original")
        check(output(program) == expected, "without a mutant, the program does something else")
        for site in source.sites:
            check(site in wrong or output(program, site.number) != expected, f"{site.number}: {site.name()}: no change")
    print(f"{len(source.sites)} mutants, each does what it should")


if __name__ == "__main__":
    main()
