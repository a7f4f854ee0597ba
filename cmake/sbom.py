#!/usr/bin/env python3
"""Writes the contents of a bundle as SPDX 2.3 (sbom.spdx.json): program, libraries, packages, versions, hashes.

Called by cmake/bundle.sh:  python3 cmake/sbom.py BUNDLE NAME VERSION LIBRARIES
LIBRARIES has a line "NAME PATH" per library, PATH being its source. Files unknown to dpkg have no version.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys


def asked(*words):
    """Returns the lines of dpkg-query; none where dpkg is not there."""
    try:
        return subprocess.run(["dpkg-query", *words], capture_output=True, text=True).stdout.splitlines()
    except FileNotFoundError:
        return []


def packages_of(paths):
    """Returns the Debian package and its version by file, for files of packages. Each call reads all of dpkg's lists."""
    names = {path: (path, os.path.realpath(path)) for path in paths}
    owners = {}
    for line in asked("-S", *sorted({name for both in names.values() for name in both})):
        package, file = line.split(":")[0], line.rsplit(": ", 1)[-1]
        owners.setdefault(file, package)
    found = {path: next((owners[name] for name in both if name in owners), None) for path, both in names.items()}
    packages = sorted({package for package in found.values() if package})
    versions = {}
    for line in asked("-W", "-f=${Package} ${Version}\n", *packages) if packages else []:
        versions.setdefault(*line.split(" ", 1))
    return {path: (package, versions.get(package)) for path, package in found.items() if package}


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def entry(name, file, package):
    described = {
        "SPDXID": identifier(name),
        "name": package[0] if package else name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "packageFileName": file.name,
        "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}],
    }
    if package and package[1]:
        described["versionInfo"] = package[1]
        described["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                      "referenceLocator": f"pkg:deb/debian/{package[0]}@{package[1].replace('+', '%2B')}"}]
    return described


def when():
    """Returns SOURCE_DATE_EPOCH if set (reproducible-builds.org), so that the same build gives the same bytes."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    bundle, name, version, libraries = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    program = entry("voxswap", bundle / "bin" / "voxswap", ("voxswap", None))
    program["versionInfo"] = version
    program["licenseDeclared"] = "Apache-2.0"
    packages = [program]
    paths = dict(line.split() for line in libraries.read_text().splitlines())
    owners = packages_of(paths.values())
    packages += [entry(library, bundle / "lib" / library, owners.get(path)) for library, path in paths.items()]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{program['checksums'][0]['checksumValue'][:32]}",
        "creationInfo": {"created": when(), "creators": [f"Tool: voxswap-{version}"]},
        "packages": packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program["SPDXID"]}]
        + [{"spdxElementId": program["SPDXID"], "relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": one["SPDXID"]} for one in packages[1:]],
    }
    (bundle / "sbom.spdx.json").write_text(json.dumps(document, indent=1) + "\n")


main()
