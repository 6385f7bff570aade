#!/bin/sh
# Makes a repository out of the source of petgraph, a library that `sop` is built on, with this example's
# plan and worker in it.
#
#   sh plans-examples/codemod/make-repo.sh DIR
#
# DIR must not exist yet; DIR.target, beside it, will hold what the compiler makes. Nothing is downloaded:
# the source is where cargo put it when `sop` was built.
set -eu

dir=${1:?"usage: make-repo.sh DIR, a folder that does not exist yet"}
here=$(cd "$(dirname "$0")" && pwd)
if [ -e "$dir" ]; then
    echo "make-repo.sh: $dir is there already; name another folder, or remove it" >&2
    exit 2
fi

# Cargo knows where it unpacked the source of each dependency.
source=$(
    cargo metadata --offline --locked --format-version 1 --manifest-path "$here/../../Cargo.toml" |
        tr ',' '\n' |
        sed -n 's|^.*"manifest_path":"\(.*/petgraph-[0-9.]*\)/Cargo.toml".*$|\1|p'
)
if [ ! -d "$source/src" ]; then
    echo "make-repo.sh: cargo has no source of petgraph; build sop first (cargo build)" >&2
    exit 1
fi
version=${source##*/petgraph-}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cp -R "$source/." "$dir"
cp -R "$here/sop" "$dir/sop"
cd "$dir"

# petgraph's own manifest also names what its benchmarks and some of its tests need. The library, and the
# tests that need nothing else, build from three crates that sop is built from too.
rm -f Cargo.lock Cargo.toml.orig .cargo-ok .cargo_vcs_info.json
cat > Cargo.toml <<MANIFEST
[package]
name = "petgraph"
version = "$version"
edition = "2021"
autobenches = false
autotests = false

[features]
default = ["std", "graphmap", "stable_graph", "matrix_graph"]
std = ["indexmap/std"]
graphmap = []
stable_graph = []
matrix_graph = []

[dependencies]
fixedbitset = { version = "0.5.7", default-features = false }
hashbrown = { version = "0.15", default-features = false, features = ["default-hasher", "inline-more"] }
indexmap = { version = "2.5", default-features = false }

[[test]]
name = "operator"

[lints.rust]
unexpected_cfgs = "allow"

[profile.dev]
debug = false
incremental = false
MANIFEST

# One folder for what the compiler makes, outside every worktree: dependencies are compiled once.
mkdir .cargo
cat > .cargo/config.toml <<CONFIG
[build]
target-dir = "$dir.target"

[net]
offline = true
CONFIG
cargo generate-lockfile --quiet

git init --quiet --initial-branch=main
# petgraph ignores its lock file; every worktree should build from the same one.
git add --all
git add --force Cargo.lock
git -c user.name="sop example" -c user.email=example@localhost commit --quiet -m "petgraph $version, and a plan"
echo "$dir: petgraph $version, $(git ls-files | wc -l | tr -d ' ') files"
