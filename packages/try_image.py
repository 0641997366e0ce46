#!/usr/bin/env python3
"""Tries the images of the Dockerfile without an engine.

    packages/try_image.py target/x86_64-unknown-linux-musl/release/juror

Makes the root that the Dockerfile makes around a static program, changes into it as the image's user with
a network of its own, runs ENTRYPOINT and CMD of each image, and HEALTHCHECK until it says that the server
is up. Needs Linux and root.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent
# What users set, and what they bring: tools for `serve`, nothing for `view`.
TOKENS = {"JUROR_TOKEN": "try-image-token", "JUROR_VIEW_TOKEN": "try-image-token"}


def instructions():
    text = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word and not word.startswith("#"):
            yield word, rest.strip()


def images():
    """Returns what each stage says, with what it takes over from the stage it is from."""
    stages, now = {}, {}
    for word, rest in instructions():
        if word == "FROM":
            source, _, name = rest.split()
            now = stages[name] = dict(stages.get(source, {"from": source}))
        elif word == "HEALTHCHECK":
            now[word] = json.loads(rest[rest.index("[") :])
        elif word in ("ENTRYPOINT", "CMD"):
            now[word] = json.loads(rest)
        else:
            now[word] = rest
    return {name: stage for name, stage in stages.items() if "HEALTHCHECK" in stage}


def make_root(root, program, user):
    for folder in ("data", "tmp", "etc/ssl/certs"):
        (root / folder).mkdir(parents=True)
    shutil.copy(program, root / "juror")
    os.chmod(root / "juror", 0o755)
    os.chmod(root, 0o755)
    os.chmod(root / "tmp", 0o1777)
    shutil.copytree(PROJECT / "examples/tools", root / "data/tools")
    for folder, _, names in os.walk(root / "data"):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            os.chown(path, *user)


def inside(root, image, command, **more):
    """Starts a command as an engine does: in the root, as the user, in the working folder."""
    uid, gid = (int(number) for number in image["USER"].split(":"))

    def enter():
        os.chroot(root)
        os.chdir(image["WORKDIR"])
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)

    return subprocess.Popen(command, env=TOKENS, stdin=subprocess.DEVNULL, preexec_fn=enter, **more)


def try_image(name, image, program):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        make_root(root, program, [int(number) for number in image["USER"].split(":")])
        command = image["ENTRYPOINT"] + image["CMD"]
        print(f"{name}: {shlex.join(command)}")
        server = inside(root, image, command, stdout=subprocess.PIPE, text=True)
        try:
            # The server prints its address when it listens.
            print(f"  listens at {server.stdout.readline().strip()}")
            health = inside(root, image, image["HEALTHCHECK"], stdout=subprocess.PIPE, text=True)
            said, _ = health.communicate(timeout=60)
            print(f"  {shlex.join(image['HEALTHCHECK'])}: exit {health.returncode}: {said.strip()}")
            if health.returncode != 0:
                sys.exit(f"{name} is not well")
        finally:
            server.terminate()
            code = server.wait(timeout=60)
        print(f"  stopped: exit {code}")
        health = inside(root, image, image["HEALTHCHECK"], stderr=subprocess.PIPE, text=True)
        said = health.communicate(timeout=60)[1]
        print(f"  after that, exit {health.returncode}: {said.strip()}")
        if health.returncode == 0:
            sys.exit(f"{name} is said to be up when it is not")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    if "JUROR_TRY_INSIDE" not in os.environ:
        # A network of its own, with nothing but loopback.
        os.environ["JUROR_TRY_INSIDE"] = "yes"
        up = "ip link set lo up && exec \"$@\""
        words = ["unshare", "--net", "sh", "-c", up, "sh", sys.executable, __file__, str(program)]
        os.execvp(words[0], words)
    for name, image in images().items():
        try_image(name, image, program)


if __name__ == "__main__":
    main()
