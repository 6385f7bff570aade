#!/bin/sh
# Git starts this instead of whatever would carry a worker's push: see pushes.rs. It notes what was to be
# pushed where, a line each in the file $SOP_PUSHES (URL, tab, ref), and refuses it.
url=$2
asked= refs= dry=
note() {
    [ -z "$dry" ] && [ -n "$SOP_PUSHES" ] && printf '%s\t%s\n' "$url" "$1" >>"$SOP_PUSHES"
    noted=yes
}
while IFS= read -r line; do
    case $line in
    capabilities) printf 'option\npush\n\n' ;;
    'option dry-run true') dry=yes && echo ok ;;
    'option '*) echo ok ;;
    'list for-push')
        asked=yes
        echo 'sop: a worker pushes nothing; what it leaves in its worktree is checked and committed by sop' >&2
        echo
        ;;
    'push '*)
        note "${line##*:}"
        refs="$refs ${line##*:}"
        ;;
    '')
        [ -n "$refs" ] || break
        for ref in $refs; do
            echo "error $ref a worker pushes nothing"
        done
        echo
        refs=
        ;;
    esac
done
# Git gives up by itself where there seems to be nothing on the other side to delete.
[ -z "$asked" ] || [ -n "$noted" ] || note ''
