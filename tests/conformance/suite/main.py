"""Tests any host of wasi-nn with real guests.

CMD starts the host with one guest. In it stand {wasm}, the guest; {args}, its arguments; {dir}, a folder that the guest sees as /suite;
and if the host needs them {models}, a folder with the model "digits", and {seconds}, the deadline that a compute should have.

  wasinn-conformance --host 'wasinn run --dir {dir}::/suite --nn-timeout {seconds}s {wasm} {args}'

The exit status is 0 if no check failed but those that --known names; 1 otherwise; 2 for a command line that is none.
"""

import argparse
import fnmatch
import pathlib
import sys

import checks
import digits
import functions
import hostile
import nodes
import report
import run


def parse(arguments):
    parser = argparse.ArgumentParser(prog="wasinn-conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", metavar="CMD", help="the command that runs a guest")
    parser.add_argument("--name", help="the host's name in reports (default: CMD's first word)")
    parser.add_argument("--form", action="append", choices=[form.name for form in checks.FORMS], help="core modules (witx) or components (wit); default: both")
    parser.add_argument("--format", choices=digits.FORMATS, default="onnx", help="of the models that guests bring along (default: onnx, which has the most checks)")
    parser.add_argument("--named", metavar="NAME", help="the host has {models}/digits under this name")
    parser.add_argument("--filter", action="append", metavar="GLOB", help="only checks of these names; with - before it, not these")
    parser.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="for each answer of a guest (default: 30)")
    parser.add_argument("--nodes", type=pathlib.Path, metavar="FOLDER", help="also ONNX's tests of operators: onnx/backend/test/data/node of the Python package onnx")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of --nodes, each Nth")
    parser.add_argument("--strict", action="store_true", help="what the host refuses, as it has not what a check needs, is a failure")
    parser.add_argument("--known", action="append", type=pathlib.Path, default=[], metavar="FILE", help="names of checks that fail, or globs, one a line; one that passes is a failure, too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the report as JSON")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="the report as JUnit's XML")
    parser.add_argument("--verbose", action="store_true", help="each check in the table, and not only those that failed")
    parser.add_argument("--list", action="store_true", help="list the checks, with the right answers and the lines that these rest on")
    parser.add_argument("--table", nargs="+", type=pathlib.Path, metavar="REPORT", help="print JSON reports side by side, as Markdown")
    options = parser.parse_args(arguments)
    if not (options.host or options.list or options.table):
        parser.error("--host CMD says how to run a guest")
    if options.host and "{wasm}" not in options.host:
        parser.error("--host: {wasm} must stand in CMD for the guest")
    if options.nodes and not options.nodes.is_dir():
        parser.error(f"--nodes: there is no folder {options.nodes}")
    return options


def all_areas(options, data):
    models, tiny = data / "models" / "digits", data / "models" / "onnx"
    for form in checks.FORMS:
        if options.form and form.name not in options.form:
            continue
        yield from functions.areas(form, options.format, models, tiny, options.named)
        yield from hostile.areas(form, options.format, models, tiny)
        if options.nodes:
            yield from nodes.areas(form, options.nodes, options.every)


def fits(name, glob):
    return name == glob or fnmatch.fnmatchcase(name, glob)  # names may have brackets


def wanted(filters):
    only = [glob for glob in filters or [] if not glob.startswith("-")]
    but = [glob[1:] for glob in filters or [] if glob.startswith("-")]

    def is_wanted(name):
        return (not only or any(fits(name, glob) for glob in only)) and not any(fits(name, glob) for glob in but)

    return is_wanted


def list_checks(areas, is_wanted):
    for area in areas:
        for part in area.parts:
            for check in part.checks:
                if is_wanted(check.name):
                    seen = f"; in the field: {check.expect.seen}" if check.expect.seen else ""
                    print(f"{check.name}: {check.expect.words()} [{check.expect.cite}{seen}]")


def verdict(results, known, strict):
    """The exit status, and what to say of known failures."""
    bad = ("failed", "refused") if strict else ("failed",)
    words = []
    for result in results:
        is_known = any(fits(result.name, glob) for glob in known)
        if is_known == (result.status in bad) or (result.status == "refused" and not strict):
            continue
        if is_known:
            words.append(f"{result.name} is known to fail, and does not")
        elif known or result.status == "refused":
            words.append(f"{result.name} fails, and is not known to: {result.got}")
        else:
            words.append(None)
    return (1 if words or not results else 0), filter(None, words)


def read_known(files):
    lines = (line.split("#")[0].strip() for file in files for line in file.read_text().splitlines())
    return [line for line in lines if line]


def main(data, arguments=None):
    options = parse(arguments)
    if options.table:
        print(report.side_by_side(options.table))
        return 0
    is_wanted = wanted(options.filter)
    areas = all_areas(options, data)
    if options.list:
        list_checks(areas, is_wanted)
        return 0
    runner = run.Runner(run.Host(options.host, data / "models", options.limit), data / "guests", is_wanted)
    results = [result for area in areas for result in runner.run(area)]
    name = options.name or options.host.split()[0]
    if options.json:
        options.json.write_text(report.as_json(name, results))
    if options.junit:
        options.junit.write_text(report.as_junit(name, results))
    print(report.table(results, options.verbose))
    status, words = verdict(results, read_known(options.known), options.strict)
    for line in words if results else ["no check has such a name"]:
        print(line, file=sys.stderr)
    return status
