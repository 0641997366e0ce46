#!/usr/bin/env python3
"""Writes what is built into Juror as CycloneDX 1.5, to standard output.

The list is made from cargo's metadata and Cargo.lock alone and is the same for the same Cargo.lock:
it has no time in it, and its serial number follows from its contents.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import uuid

PROJECT = pathlib.Path(__file__).resolve().parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def cargo(*words):
    done = subprocess.run(["cargo", *words], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"packages/sbom.py: cargo {words[0]} failed, see above")
    return done.stdout


def built(package, target):
    """Returns the names and versions of all crates that are built: metadata has more."""
    told = cargo("tree", "--locked", "-p", package, "-e", "normal,build", "--target", target, "--prefix", "none")
    words = (line.split() for line in told.splitlines() if line)
    return {(name, version.removeprefix("v")) for name, version, *_ in words}


def checksums():
    """Returns the hash of each crate of the registry, from Cargo.lock."""
    found, package = {}, {}
    for line in (PROJECT / "Cargo.lock").read_text(encoding="utf-8").splitlines():
        if line == "[[package]]":
            package = {}
        key, equals, value = line.partition(" = ")
        if equals and value.startswith('"'):
            package[key] = value.strip('"')
        if key == "checksum":
            found[package["name"], package["version"]] = package["checksum"]
    return found


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def licences(package):
    if package["license"]:
        # Older manifests have a slash for OR.
        expression = " OR ".join(part.strip() for part in package["license"].split("/"))
        return [{"expression": expression}]
    return [{"license": {"name": pathlib.Path(package["license_file"] or "not stated").name}}]


def component(package, hashes):
    key = package["name"], package["version"]
    made = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
        "licenses": licences(package),
    }
    if package["description"]:
        made["description"] = " ".join(package["description"].split())
    if key in hashes:
        made["hashes"] = [{"alg": "SHA-256", "content": hashes[key]}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def edges(node, packages):
    def is_used(used):
        is_built = any(kind["kind"] != "dev" for kind in used["dep_kinds"])
        return is_built and used["pkg"] in packages and used["pkg"] != node["id"]

    uses = {purl(packages[used["pkg"]]) for used in node["deps"] if is_used(used)}
    return {"ref": purl(packages[node["id"]]), "dependsOn": sorted(uses)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="juror", help="juror or juror-python [%(default)s]")
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu", help="platform, or `all` [%(default)s]")
    args = parser.parse_args()

    platform = [] if args.target == "all" else ["--filter-platform", args.target]
    told = json.loads(cargo("metadata", "--locked", "--format-version", "1", *platform))
    wanted, hashes = built(args.package, args.target), checksums()
    packages = {
        package["id"]: package
        for package in told["packages"]
        if (package["name"], package["version"]) in wanted and package["source"] in (None, REGISTRY)
    }
    main_one = next(package for package in packages.values() if package["name"] == args.package)
    components = sorted((component(package, hashes) for package in packages.values()), key=lambda made: made["purl"])
    root = next(made for made in components if made["purl"] == purl(main_one))
    root = {**root, "type": "application" if args.package == "juror" else "library"}
    listed = [made for made in components if made["purl"] != root["purl"]]
    needs = [edges(node, packages) for node in told["resolve"]["nodes"] if node["id"] in packages]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": root,
            "properties": [{"name": "juror:target", "value": args.target}],
        },
        "components": listed,
        "dependencies": sorted(needs, key=lambda need: need["ref"]),
    }
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).digest()
    bom = {**bom, "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"}
    json.dump(bom, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
