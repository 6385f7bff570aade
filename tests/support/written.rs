//! Plan files for whole runs: one script is the worker, and each test says what it does.

/// A plan named `o`, with the tier `standard` whose worker is `worker.sh`, and what `rest` adds.
pub fn plan(rest: &str) -> String {
    with_head("", rest)
}

/// The same, with more keys in `[plan]`.
pub fn with_head(keys: &str, rest: &str) -> String {
    format!(
        "version = 1\n[plan]\nname = \"o\"\ngoal = \"Try it.\"\nbase = \"main\"\n{keys}\n\
         [tiers.standard]\nworker = \"script\"\n[workers.script]\ncommand = [\"sh\", \"worker.sh\"]\n\
         {rest}\n"
    )
}

/// A WP that may write `<id>.txt` and is done when there is `good` in it; `more` holds further keys.
pub fn wp(id: &str, more: &str) -> String {
    wp_proven_by(id, &format!("[\"grep -q good {id}.txt\"]"), more)
}

/// The same with another DoD, as a TOML array.
pub fn wp_proven_by(id: &str, dod: &str, more: &str) -> String {
    format!(
        "\n[[wp]]\nid = \"{id}\"\nwhitelist = [\"{id}.txt\"]\ndod = {dod}\n\
         brief_text = \"Make {id}.txt good.\"\n{more}\n"
    )
}

/// A worker that notes its start (`<wp>/<attempt>` in the mark `starts`) and then does `script`, which
/// can say `done_well`.
pub fn worker(script: &str) -> String {
    format!(
        "echo \"$SOP_WP/$SOP_ATTEMPT\" >> \"$MARKS/starts\"\n\
         done_well() {{ echo \"good $SOP_WP\" > \"$SOP_WP.txt\"; }}\n{script}\n"
    )
}
