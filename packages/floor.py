#!/usr/bin/env python3
"""Says which release of glibc a program or a wheel needs, by the versions of the symbols it names.

    packages/floor.py FILE [MOST]

FILE is an ELF file or a wheel with ELF files. Fails if one needs more than MOST, such as 2.17. It reads
the files itself, so that it is right about files of other machines, and needs nothing installed.
"""

import io
import struct
import sys
import zipfile

GNU_VERNEED = 0x6FFFFFFE


def elves(path):
    """Yields the names and contents of the ELF files in a file."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:4] == b"\x7fELF":
        yield path, content
    elif content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            for name in wheel.namelist():
                part = wheel.read(name)
                if part[:4] == b"\x7fELF":
                    yield name, part
    else:
        sys.exit(f"{path}: neither an ELF file nor a wheel")


def text(content, start):
    return content[start : content.index(b"\0", start)].decode()


def needed(content):
    """Yields libraries and the versions that are needed of them."""
    if content[4:6] != b"\x02\x01":
        sys.exit("only 64-bit little-endian files are read")
    (offset,) = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQII", content, offset + n * size) for n in range(count)]
    for _, kind, _, _, start, _, link, n_libraries in sections:
        if kind != GNU_VERNEED:
            continue
        names = sections[link][4]
        for _ in range(n_libraries):
            _, n_versions, library, first, following = struct.unpack_from("<HHIII", content, start)
            version = start + first
            for _ in range(n_versions):
                _, _, _, name, next_version = struct.unpack_from("<IHHII", content, version)
                yield text(content, names + library), text(content, names + name)
                version += next_version
            start += following


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path, most = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None
    found = False
    for name, content in elves(path):
        found = True
        versions = {version.removeprefix("GLIBC_") for _, version in needed(content) if version.startswith("GLIBC_")}
        # Names of the library itself, such as GLIBC_PRIVATE or GLIBC_ABI_DT_RELR, are no releases.
        strange = {version for version in versions if not version[0].isdigit()}
        floor = max((version for version in versions - strange), key=numbers, default=None)
        print(f"{name}: {f'needs glibc {floor}' if floor else 'needs no glibc'}")
        if strange:
            sys.exit(f"{name} needs {', '.join(sorted(strange))} of glibc, which has no release")
        if most and floor and numbers(floor) > numbers(most):
            sys.exit(f"{name} needs glibc {floor}, and {most} is the most it may")
    if not found:
        sys.exit(f"{path}: there is no ELF file in it")


if __name__ == "__main__":
    main()
