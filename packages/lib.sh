# What the scripts of this folder share. They work in the project's folder and put what they make into
# target/packages, or the folder that JUROR_PACKAGES names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project=$PWD
target=${CARGO_TARGET_DIR:-$project/target}
export CARGO_TARGET_DIR=$target
out=${JUROR_PACKAGES:-$target/packages}
mkdir -p "$out"
out=$(cd "$out" && pwd)

say() { printf '%s: %s\n' "${0##*/}" "$1" >&2; }
fail() { say "$1"; exit 1; }

version() {
    sed -n 's/^version = "\(.*\)"/\1/p' "$project/Cargo.toml" | head -n 1
}

# Installs the tools of requirements.txt once for a list of them, and puts them on PATH.
tools() {
    local folder=$target/packages-tools
    if ! cmp -s packages/requirements.txt "$folder/installed.txt"; then
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r packages/requirements.txt
        cp packages/requirements.txt "$folder/installed.txt"
    fi
    PATH=$folder/bin:$PATH
}

# Sets `std_flags`: what cargo is told so that there is a standard library for a target, which comes from
# rustup, or else from its sources.
standard_library() {
    local sysroot
    sysroot=$(rustc --print sysroot)
    std_flags=()
    if [ -d "$sysroot/lib/rustlib/$1/lib" ]; then return; fi
    if [ -d "$sysroot/lib/rustlib/src/rust/library" ]; then
        # A stable compiler builds it if it is told to, and it is the release that the sources are of.
        export RUSTC_BOOTSTRAP=1
        std_flags=(-Z build-std=std,panic_unwind)
        return
    fi
    fail "the standard library for $1 is missing: \`rustup target add $1\`, or add its sources with \`rustup component add rust-src\`"
}
