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


def package_of(path):
    """Returns the Debian package of a file and its version, or None."""
    for name in (path, os.path.realpath(path)):
        try:
            found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        except FileNotFoundError:
            return None
        if found.returncode == 0:
            package = found.stdout.split(":")[0]
            version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True).stdout
            return package, version.splitlines()[0] if version else None
    return None


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
    for line in libraries.read_text().splitlines():
        library, path = line.split()
        packages.append(entry(library, bundle / "lib" / library, package_of(path)))
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
