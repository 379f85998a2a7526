#!/usr/bin/env python3
"""The store beside a bare loop on SQLite, in alternating rounds: store_rounds.py BUILD_DIR [REFERENCE_DIR]

BUILD_DIR has store_loop; REFERENCE_DIR has reference_store.cpp, which is compiled with the flags of the release preset.
Prints CPU and wall time per transition of both, median and range of at least five rounds, the ratio of each round, bytes
written, and the time and memory of an open store. --sleeping N measures only the opening, with N records.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

GOAL = 1.3
ROUNDS = 5


def release_flags():
    presets = json.loads((pathlib.Path(__file__).parent.parent / "CMakePresets.json").read_text())
    variables = next(p for p in presets["configurePresets"] if p["name"] == "release")["cacheVariables"]
    return variables["CMAKE_CXX_FLAGS_RELEASE"].split() + variables["CMAKE_EXE_LINKER_FLAGS"].split()


def compile_reference(source, to):
    command = ["g++", "-std=c++20", "-pthread", *release_flags(), str(source), "-o", str(to), "-lsqlite3"]
    subprocess.run(command, check=True)


def figures(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def line(name, values, unit):
    return f"{name} {statistics.median(values):.2f} {unit} ({min(values):.2f} to {max(values):.2f})"


def compare(workload, ours, reference, seconds):
    runs = {"store": [], "bare loop": []}
    commands = {
        "store": ours + [workload, "--dir", reference["dir"] + "/ours", "--seconds", str(seconds)],
        "bare loop": [reference["program"], "direct", workload, "--dir", reference["dir"] + "/bare", "--seconds",
                      str(seconds), "--json"],
    }
    for _ in range(ROUNDS):
        for who, command in commands.items():
            runs[who].append(figures(command))
    print(f"{workload}, {runs['store'][0]['records']} records, batch {runs['store'][0]['batch']}, {ROUNDS} rounds:")
    for who, all_runs in runs.items():
        cpu = [run["cpu_us"] for run in all_runs]
        wall = [1e6 / run["running_per_s"] for run in all_runs]
        written = statistics.median(run["write_bytes"] for run in all_runs)
        print(f"  {who:10} {line('CPU', cpu, 'us')}, {line('wall', wall, 'us')} a transition, {written:.0f} bytes written")
    ratios = {}
    for what, figure in (("CPU", lambda run: run["cpu_us"]), ("wall", lambda run: 1 / run["running_per_s"])):
        ratios[what] = [figure(a) / figure(b) for a, b in zip(runs["store"], runs["bare loop"])]
    is_met = statistics.median(ratios["CPU"]) <= GOAL
    print(f"  {line('ratio of CPU', ratios['CPU'], '')}, {line('of wall', ratios['wall'], '')};"
          f" goal: at most {GOAL} of CPU: {'met' if is_met else 'MISSED'}")
    return is_met


def measure_opening(ours, directory, records):
    command = ours + ["open", "--dir", directory, "--records", str(records)]
    figures(command)  # the one that seeds it
    runs = [figures(command) for _ in range(ROUNDS)]
    seconds = [run["open_s"] for run in runs]
    memory = max(run["rss_mib"] for run in runs)
    is_met = max(seconds) < 2 and memory < 300
    print(f"open, {records} sleeping records, {ROUNDS} times: {line('wall', seconds, 's')}, at most {memory:.0f} MiB;"
          f" goal: under 2 s and 300 MB: {'met' if is_met else 'MISSED'}")
    return is_met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("reference", nargs="?", default="")
    parser.add_argument("--sleeping", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--dir", default="", help="keeps the seeded stores for the next time")
    given = parser.parse_args()
    ours = [str(pathlib.Path(given.build) / "store_loop")]
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.dir or temporary
        if given.sleeping:
            return 0 if measure_opening(ours, directory + "/ours", given.sleeping) else 1
        is_met = measure_opening(ours, directory + "/ours", 1_000_000)
        source = pathlib.Path(given.reference) / "reference_store.cpp"
        if not given.reference or not source.exists():
            print("no bare loop to compare with: name the directory of reference_store.cpp")
            return 0 if is_met else 1
        program = pathlib.Path(temporary) / "reference_store"
        compile_reference(source, program)
        reference = {"program": str(program), "dir": directory}
        pathlib.Path(directory, "bare").mkdir(exist_ok=True)
        for workload in ("jobs", "fire"):
            is_met &= compare(workload, ours, reference, given.seconds)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
