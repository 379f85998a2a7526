#!/usr/bin/env python3
"""The engine beside a bare loop on SQLite, in alternating rounds: engine_bench.py PAWL [REFERENCE_DIR]

PAWL is the program; REFERENCE_DIR has reference_store.cpp, which is compiled with the flags of the release preset. For 1, 16
and 256 callers, beside a million sleeping records: what `pawl bench` measures, and the same of the bare loop with batches as
large as the engine's were on average. A stimulus of the engine (create, start, done) is one transition of the loop.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile

from store_rounds import ROUNDS, compile_reference, figures, line

GOAL = 1.6
CALLERS = (1, 16, 256)


def measure_engine(pawl, callers, given, directory):
    return figures([pawl, "bench", "--json", "--callers", str(callers), "--sleeping", str(given.sleeping),
                    "--seconds", str(given.seconds), "--dir", directory + "/engine"])


def measure_loop(program, batch, given, directory):
    return figures([program, "direct", "jobs", "--json", "--batch", str(max(1, round(batch))), "--records",
                    str(given.sleeping), "--seconds", str(given.seconds), "--dir", directory + "/bare"])


def describe_engine(runs):
    def values(*names):
        for run in runs:
            value = run
            for name in names:
                value = value[name]
            yield value

    def median(*names):
        return statistics.median(values(*names))

    print(f"  jobs       {line('done', list(values('jobs_per_s')), 'a second')}, {median('mean_batch'):.1f} stimuli in a commit")
    print(f"  answer     p50 {median('answer_ms', 'p50'):.2f} ms, p99 {median('answer_ms', 'p99'):.2f} ms,"
          f" max {max(values('answer_ms', 'max')):.1f} ms; {median('rss_mib'):.0f} MiB resident")


def describe(who, cpu, wall, written):
    print(f"  {who:10} {line('CPU', cpu, 'us')}, {line('wall', wall, 'us')} a stimulus, {written:.0f} bytes written")


def compare(callers, pawl, program, given, directory):
    engine, loop = [], []
    for _ in range(ROUNDS):
        engine.append(measure_engine(pawl, callers, given, directory))
        if program:
            loop.append(measure_loop(program, engine[-1]["mean_batch"], given, directory))
    print(f"{callers} callers beside {given.sleeping} sleeping records, {ROUNDS} rounds of {given.seconds:g} s:")
    describe_engine(engine)
    describe("engine", [run["cpu_us"] for run in engine], [1e6 / run["stimuli_per_s"] for run in engine],
             statistics.median(run["write_bytes"] for run in engine))
    if not program:
        return True
    describe("bare loop", [run["cpu_us"] for run in loop], [1e6 / run["running_per_s"] for run in loop],
             statistics.median(run["write_bytes"] for run in loop))
    cpu = [a["cpu_us"] / b["cpu_us"] for a, b in zip(engine, loop)]
    wall = [b["running_per_s"] / a["stimuli_per_s"] for a, b in zip(engine, loop)]
    is_met = statistics.median(cpu) <= GOAL
    print(f"  {line('ratio of CPU', cpu, '')}, {line('of wall', wall, '')};"
          f" goal: at most {GOAL} of CPU: {'met' if is_met else 'MISSED'}", flush=True)
    return is_met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pawl")
    parser.add_argument("reference", nargs="?", default="")
    parser.add_argument("--sleeping", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--callers", type=int, nargs="+", default=CALLERS)
    parser.add_argument("--dir", default="", help="keeps the seeded stores for the next time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.dir or temporary
        source = pathlib.Path(given.reference) / "reference_store.cpp"
        program = ""
        if given.reference and source.exists():
            program = str(pathlib.Path(temporary) / "reference_store")
            compile_reference(source, program)
        else:
            print("no bare loop to compare with: name the directory of reference_store.cpp")
        met = [compare(callers, given.pawl, program, given, directory) for callers in given.callers]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
