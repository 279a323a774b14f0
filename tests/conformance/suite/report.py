"""The results of a run: as a table, as JSON, as JUnit's XML; and several runs side by side."""

import collections
import dataclasses
import json
import xml.etree.ElementTree as xml

STATUSES = ("passed", "failed", "refused")


def counts(results):
    return {status: sum(result.status == status for result in results) for status in STATUSES}


def area_of(name):
    """witx/load of witx/load/bytes."""
    return "/".join(name.split("/")[:2])


def by_area(results):
    areas = collections.defaultdict(list)
    for result in results:
        areas[area_of(result.name)].append(result)
    return areas


def table(results, verbose):
    """A line for each check that did not pass, or for each, and one for each area."""
    lines = []
    for area, mine in by_area(results).items():
        number = counts(mine)
        lines.append(f"{area:32} {number['passed']:5} of {len(mine)} passed" + (f", {number['refused']} refused" if number["refused"] else ""))
        for result in mine:
            if result.status == "failed" or verbose:
                lines.append(f"  {result.status:8}{result.name}: {result.got}" + (f"; expected {result.expected}" if result.status == "failed" else "") + f" [{result.cite}]")
            if result.status == "failed" and result.detail:
                lines.append(f"          {result.detail}")
    number = counts(results)
    lines.append(f"{len(results)} checks: " + ", ".join(f"{number[status]} {status}" for status in STATUSES))
    return "\n".join(lines)


def as_json(host, results):
    return json.dumps({"host": host, "counts": counts(results), "checks": [dataclasses.asdict(result) for result in results]}, indent=1)


def as_junit(host, results):
    number = counts(results)
    suite = xml.Element("testsuite", name=f"wasi-nn conformance: {host}", tests=str(len(results)), failures=str(number["failed"]), skipped=str(number["refused"]))
    for result in results:
        case = xml.SubElement(suite, "testcase", classname=area_of(result.name).replace("/", "."), name=result.name, time=f"{result.seconds:.3f}")
        if result.status == "failed":
            xml.SubElement(case, "failure", message=f"{result.got}; expected {result.expected}").text = f"{result.cite}\n{result.detail}"
        elif result.status == "refused":
            xml.SubElement(case, "skipped", message=result.got)
    return xml.tostring(suite, encoding="unicode", xml_declaration=True)


def side_by_side(files):
    """Markdown: for each area of these JSON reports, how many checks passed in each."""
    reports = [json.loads(file.read_text()) for file in files]
    per_host = []
    for report in reports:
        areas = collections.defaultdict(collections.Counter)
        for check in report["checks"]:
            areas[area_of(check["name"])][check["status"]] += 1
        per_host.append(areas)
    names = list(dict.fromkeys(name for areas in per_host for name in areas))
    lines = ["| checks | " + " | ".join(report["host"] for report in reports) + " |", "| --- |" + " --- |" * len(reports)]
    for name in names:
        lines.append(f"| {name} | " + " | ".join(_cell(areas.get(name)) for areas in per_host) + " |")
    return "\n".join(lines)


def _cell(number):
    if not number:
        return ""
    whole = number["passed"] + number["failed"]
    return f"{number['passed']} of {whole}" + (f", {number['refused']} refused" if number["refused"] else "")
