"""The objects of packaging/kubernetes and of its page, and what says whether they are valid: schemas of Kubernetes, and kserve's own classes."""

import json
import pathlib
import re

import jsonschema
import kserve.models
import kubernetes_validate
import referencing
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging" / "kubernetes"
PAGE = ROOT / "docs" / "kubernetes.md"
VERSIONS = ("1.30", "1.37")  # of Kubernetes: the oldest that we say it works with, and the newest that is known here
SCHEMAS = pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{VERSIONS[-1]}.0-local-strict"
PRIMITIVE = {"str": str, "int": int, "bool": bool, "float": (int, float)}


def objects(path):
    return [found for found in yaml.safe_load_all(path.read_text(encoding="utf-8")) if found is not None]


def of_files():
    """Each with the file that has it."""
    return [(path, found) for path in sorted(FOLDER.rglob("*.yaml")) for found in objects(path)]


def of_kind(kind, name=None):
    [found] = [found for _, found in of_files() if found["kind"] == kind and name in (None, found["metadata"]["name"])]
    return found


def of_page():
    """The page's YAML."""
    text = PAGE.read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def faults(found):
    """The errors in an object, as texts."""
    if found["apiVersion"].startswith("serving.kserve.io/"):
        version = found["apiVersion"].split("/")[1]
        return list(faults_of(f"{version[0].upper()}{version[1:]}{found['kind']}", found, found["kind"]))
    said = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(found, version, strict=True)
        except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
            said.append(f"Kubernetes {version}: {error.message}")
    return said


def faults_of(kind, value, where):
    """The same of a value that is to be of a type as kserve's classes name them."""
    if value is None:
        return
    if listed := re.fullmatch(r"list\[(.+)\]", kind):
        if not isinstance(value, list):
            yield f"{where}: not a list"
            return
        for number, item in enumerate(value):
            yield from faults_of(listed[1], item, f"{where}[{number}]")
    elif mapped := re.fullmatch(r"dict\(str, (.+)\)", kind):
        if not isinstance(value, dict):
            yield f"{where}: not a map"
            return
        for key, item in value.items():
            yield from faults_of(mapped[1], item, f"{where}.{key}")
    elif kind in PRIMITIVE:
        if not isinstance(value, PRIMITIVE[kind]) or (kind != "bool" and isinstance(value, bool)):
            yield f"{where}: not of type {kind}: {value!r}"
    elif hasattr(kserve.models, kind):
        yield from faults_of_class(getattr(kserve.models, kind), value, where)
    else:
        yield from faults_of_kubernetes(kind, value, where)


def faults_of_class(known, value, where):
    names = {key: attribute for attribute, key in known.attribute_map.items()}
    unknown = sorted(set(value) - set(names))
    if unknown:
        yield f"{where}: unknown: {', '.join(unknown)}"
    try:
        known(**{names[key]: item for key, item in value.items() if key in names})  # it says what is required
    except ValueError as error:
        yield f"{where}: {error}"
    for key in set(value) & set(names):
        yield from faults_of(known.openapi_types[names[key]], value[key], f"{where}.{key}")


def faults_of_kubernetes(kind, value, where):
    """Errors in Kubernetes' own types, which kserve's classes name as V1Container, by the newest version."""
    version, name = re.fullmatch(r"(V\d+)(\w+)", kind.lower().replace("v", "V", 1)).groups()
    pattern = re.compile(rf"{name}(-[a-z]+)?-{version.lower()}\.json")
    found = [path for path in SCHEMAS.iterdir() if pattern.fullmatch(path.name)]
    if len(found) != 1:
        yield f"{where}: there is no schema of {kind}, or more than one"
        return
    registry = referencing.Registry()
    schema, definitions = (json.loads(path.read_text()) for path in (found[0], SCHEMAS / "_definitions.json"))
    for contents in (schema, definitions):
        registry = referencing.Resource.from_contents(contents) @ registry
    for error in jsonschema.Draft202012Validator(schema, registry=registry).iter_errors(value):
        yield f"{where}: {error.message}"
