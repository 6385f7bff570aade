#!/bin/sh
# The worker of this plan: rename.sh STEP PATHS, in a worktree of petgraph.
#
# A coding agent would read the brief and find its own way. This one knows three steps:
#   define   give the trait its new name where it is defined, and keep the old one as a second name for it
#   rename   write the new name in place of the old one, in every file below PATHS
#   remove   take the old name away
set -eu

old=IndexType
new=IndexInt
step=$1
paths=$2

# in_place FILE SCRIPT: what `sed -i` does where there is one. The file keeps its mode.
in_place() {
    sed "$2" "$1" > "$1.new"
    cat "$1.new" > "$1"
    rm "$1.new"
}

case $step in
define)
    in_place src/graph_impl/mod.rs "s/$old/$new/g"
    printf '\n/// The name that `%s` had before.\npub use self::%s as %s;\n' "$new" "$new" "$old" \
        >> src/graph_impl/mod.rs
    in_place src/lib.rs "s/$old,/$new, $old,/"
    ;;
rename)
    # PATHS is a list of words, and no path in petgraph has a space.
    # shellcheck disable=SC2086
    grep -rl "$old" $paths | while IFS= read -r file; do
        echo "renames in $file"
        in_place "$file" "s/$old/$new/g"
    done
    ;;
remove)
    in_place src/graph_impl/mod.rs "/^\/\/\/ The name that \`$new\` had before/d; /^pub use self::$new as $old;/d"
    in_place src/lib.rs "s/$new, $old,/$new,/"
    ;;
*)
    echo "rename.sh: no step $step" >&2
    exit 2
    ;;
esac
