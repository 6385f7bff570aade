#!/bin/sh
# The worker of this plan: author.sh TASK writes that task's file. It stands in for a coding agent.
set -eu

out=plans-examples/staged/out
mkdir -p "$out/units"

unit() {
    printf '. "${0%%/out/*}/out/length.sh"\nunit %s %s\n' "$1" "$2" > "$out/units/$1.sh"
}

case $1 in
interface)
    cat > "$out/length.sh" <<'END'
# unit NAME MILLIMETRES: one line of the table, in metres.
unit() {
    printf '%-5s %d.%03d\n' "$1" $(($2 / 1000)) $(($2 % 1000))
}
END
    ;;
foot) unit foot 305 ;;
yard) unit yard 914 ;;
mile) unit mile 1609344 ;;
units-shared) ls "$out/units" | sed 's/[.]sh$//' > "$out/units.txt" ;;
table)
    cat > "$out/table.sh" <<'END'
#!/bin/sh
# Prints every unit in metres.
while read -r unit; do
    sh "${0%/*}/units/$unit.sh"
done < "${0%/*}/units.txt"
END
    chmod +x "$out/table.sh"
    ;;
esac
sleep 1
