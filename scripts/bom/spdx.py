"""Writes an SPDX 2.3 document of things and their files."""

import datetime
import os
import re
import uuid

from spdx_tools.spdx import model
from spdx_tools.spdx.spdx_element_utils import calculate_package_verification_code

from bom.thing import SPDX

Is = model.RelationshipType
NOT_KNOWN = model.SpdxNoAssertion()


def identifier(kind, *words):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(word for word in words if word)).strip("-")


def created():
    """The time of SOURCE_DATE_EPOCH, by default now."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = (
        datetime.datetime.now(datetime.UTC)
        if seconds is None
        else datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
    )
    return now.replace(microsecond=0, tzinfo=None)


class Document:
    """A document about `whole`, and everything that belongs to it."""

    def __init__(self, whole):
        self.packages, self.files, self.relations = {}, [], []
        self.described = {}  # SPDX id: its thing
        self.whole = whole

    def build(self, contents):
        """`contents`: the things that have files in the prefix, `whole` among them."""
        self._relate("SPDXRef-DOCUMENT", Is.DESCRIBES, self._package(self.whole))
        for thing in contents:
            about = self._package(thing)
            if thing is not self.whole:
                self._relate(self._package(self.whole), Is.CONTAINS, about)
            for relation, others in ((Is.STATIC_LINK, thing.links), (Is.DEPENDS_ON, thing.needs)):
                for other in others:
                    self._relate(about, relation, self._package(other))
        return model.Document(self._creation(), list(self.packages.values()), self.files, relationships=self.relations)

    def _creation(self):
        name = f"{self.whole.name}-{self.whole.version}"
        # Files with the same contents have the same name.
        digests = "".join(sorted(file.name + file.checksums[0].value for file in self.files))
        return model.CreationInfo(
            "SPDX-2.3",
            "SPDXRef-DOCUMENT",
            name,
            f"https://spdx.org/spdxdocs/{name}-{uuid.uuid5(uuid.NAMESPACE_URL, digests)}",
            [model.Actor(model.ActorType.TOOL, "wasinn-scripts/sbom.py")],
            created(),
        )

    def _relate(self, one, relation, other):
        self.relations.append(model.Relationship(one, relation, other))

    def _package(self, thing):
        """The SPDX id of a thing. The first call writes the thing."""
        known = identifier("Package", thing.name, thing.version)
        if self.described.setdefault(known, thing) is not thing:
            raise ValueError(f"{thing.name} and {self.described[known].name}: both are {known}")
        if known not in self.packages:
            package = model.Package(
                known, thing.name, NOT_KNOWN, version=thing.version, files_analyzed=bool(thing.files)
            )
            self._fill(package, thing)
            self.packages[known] = package
        return known

    def _fill(self, package, thing):
        package.supplier = model.Actor(model.ActorType.ORGANIZATION, thing.supplier) if thing.supplier else NOT_KNOWN
        package.license_declared = SPDX.parse(thing.licence) if thing.licence else NOT_KNOWN
        package.license_concluded = NOT_KNOWN
        package.copyright_text = NOT_KNOWN
        package.license_comment, package.comment, package.homepage = (
            thing.licence_comment or None,
            thing.comment,
            thing.homepage,
        )
        if thing.purl:
            package.external_references = [
                model.ExternalPackageRef(model.ExternalPackageRefCategory.PACKAGE_MANAGER, "purl", thing.purl)
            ]
        if thing.sha256:
            package.checksums = [model.Checksum(model.ChecksumAlgorithm.SHA256, thing.sha256)]
        files = [self._file(package, *file) for file in thing.files]
        if files:
            package.verification_code = calculate_package_verification_code(files)

    def _file(self, package, path, sha1, sha256, links):
        checksums = [
            model.Checksum(model.ChecksumAlgorithm.SHA1, sha1),
            model.Checksum(model.ChecksumAlgorithm.SHA256, sha256),
        ]
        file = model.File(f"./{path}", f"{identifier('File', path)}-{sha1[:8]}", checksums, copyright_text=NOT_KNOWN)
        file.license_concluded = NOT_KNOWN
        if links:
            file.comment = "Also named by links: " + ", ".join(links)
        self.files.append(file)
        self._relate(package.spdx_id, Is.CONTAINS, file.spdx_id)
        return file
