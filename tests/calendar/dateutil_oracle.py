#!/usr/bin/python3
"""Compares the wall times that `recurrence_oracle --dump` prints with those of python-dateutil.

Reads JSON lines {rrule, dtstart, date_only, before, walls} on stdin: the first 30 wall times before
`before`, in UTC. Rules of classes where dateutil reads RFC 5545 otherwise, or takes too long, are
left out by name and counted.
"""

import argparse
import collections
import datetime
import json
import sys
import unittest.mock

from dateutil import rrule

FIRST = 30
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FORMAT = "%Y%m%dT%H%M%S"
LONGEST_WALK = {"SECONDLY": datetime.timedelta(days=100), "MINUTELY": datetime.timedelta(days=730)}


class BeyondEnd(Exception):
    """dateutil walks on to the year 9999 when nothing comes; this ends the walk."""


def stop_after(year):
    """Makes dateutil's walk end after that year: `until` is only looked at when something comes."""
    rebuild = rrule._iterinfo.rebuild

    def rebuild_until(info, at_year, month):
        if at_year > year:
            raise BeyondEnd
        rebuild(info, at_year, month)

    return rebuild_until


def parts_of(text):
    return dict(part.split("=") for part in text.split(";"))


def numbers(parts, name):
    return [int(value) for value in parts[name].split(",")] if name in parts else []


def reach(case):
    """How far dateutil has to walk for this case."""
    end = case["walls"][-1] if len(case["walls"]) == FIRST else case["before"]
    start = datetime.datetime.strptime(case["dtstart"], FORMAT)
    return datetime.datetime.strptime(end, FORMAT) - start


def starts_week(parts, case):
    """Whether DTSTART is the first day of its week."""
    start = datetime.datetime.strptime(case["dtstart"], FORMAT)
    return WEEKDAYS[start.weekday()] == parts.get("WKST", "MO")


def left_out(parts, case):
    """The class for which a rule is left out, or None."""
    walk = LONGEST_WALK.get(parts["FREQ"])
    if walk and reach(case) > walk:
        return "a walk too long for dateutil (SECONDLY over 100 days, MINUTELY over 2 years)"
    if parts["FREQ"] == "WEEKLY" and "BYSETPOS" in parts and not starts_week(parts, case):
        return "WEEKLY with BYSETPOS (dateutil's first week begins at DTSTART, not at WKST)"
    days = parts.get("BYDAY", "").split(",")
    if len({len(day) > 2 for day in days}) == 2:
        return "BYDAY with and without ordinals (dateutil wants both to hold)"
    if not {52, 53, -52, -53}.isdisjoint(numbers(parts, "BYWEEKNO")):
        return "BYWEEKNO 52, 53, -52, -53 (dateutil loses days of them in the neighbouring year)"
    return None


def occurrences(parts, case):
    """The first occurrences that dateutil finds."""
    start = datetime.datetime.strptime(case["dtstart"], FORMAT)
    before = datetime.datetime.strptime(case["before"], FORMAT)
    parts = dict(parts)
    if case["date_only"]:
        for name in ("BYHOUR", "BYMINUTE", "BYSECOND"):
            parts.pop(name, None)
    if "60" in parts.get("BYSECOND", "").split(","):
        parts["BYSECOND"] = ",".join(s if s != "60" else "59" for s in parts["BYSECOND"].split(","))
    limit = before - datetime.timedelta(seconds=1)
    if "UNTIL" in parts:
        until = parts.pop("UNTIL").rstrip("Z")
        limit = min(limit, datetime.datetime.strptime(until, FORMAT if "T" in until else "%Y%m%d"))
    count = int(parts.pop("COUNT", 0))
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    found = []
    with unittest.mock.patch.object(rrule._iterinfo, "rebuild", stop_after(before.year)):
        try:
            rule = rrule.rrulestr(text, dtstart=start).replace(until=limit)
            for wall in rule:
                found.append(wall.strftime(FORMAT))
                if len(found) == FIRST or len(found) == count:
                    break
        except BeyondEnd:
            pass
        except ValueError as error:
            # It saw that INTERVAL and a BY part never meet.
            if "empty set" not in str(error) and "empty rule" not in str(error):
                raise
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--at-least", type=int, default=1, help="fail if fewer are compared")
    at_least = arguments.parse_args().at_least
    skipped = collections.Counter()
    compared = walls = differences = 0
    for line in sys.stdin:
        case = json.loads(line)
        parts = parts_of(case["rrule"])
        reason = left_out(parts, case)
        if reason:
            skipped[reason] += 1
            continue
        compared += 1
        found = occurrences(parts, case)
        walls += len(found)
        if found != case["walls"]:
            differences += 1
            print(f"difference: {case['rrule']} from {case['dtstart']} before {case['before']}")
            print(f"  given:    {case['walls']}")
            print(f"  dateutil: {found}")
    for reason, count in sorted(skipped.items()):
        print(f"left out: {count:6} {reason}")
    print(f"compared: {compared} rules, {walls} wall times; left out: {sum(skipped.values())}; "
          f"differences: {differences}")
    if compared < at_least:
        print(f"TOO FEW: {compared} rules compared, at least {at_least} wanted")
    return 1 if differences or compared < at_least else 0


if __name__ == "__main__":
    sys.exit(main())
