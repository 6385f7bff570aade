//! What each rule is about and how to keep it, for readers of a finding who do not have the manual at
//! hand. A test holds the list to the codes that the rooms use.

/// A rule, by the code its findings carry.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable kebab-case name.
    pub code: &'static str,
    /// What it asks, in one sentence.
    pub about: &'static str,
    /// Why it asks, and how to mend it.
    pub help: &'static str,
}

/// The rule of this code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by_key(&code, |rule| rule.code).ok()?;
    RULES.get(at)
}

/// Every rule, sorted by name.
pub const RULES: &[Rule] = &[
    Rule {
        code: "absolute-path",
        about: "A path is named from some root within the repository, never from the root of the file system.",
        help: "Other machines and other worktrees have other roots. Write the path from the top of the repository, or, for a brief, from the folder of the plan file.",
    },
    Rule {
        code: "bad-brief",
        about: "A brief file is a text file of reasonable size.",
        help: "The file is there but cannot be taken: it is not a file, not UTF-8, not readable, or larger than 1 MiB. Let the brief name long material instead of holding it.",
    },
    Rule {
        code: "bad-duration",
        about: "A length of time has a unit.",
        help: "Write `90s`, `5m` or `1h30m`: a bare number would leave the unit to be guessed.",
    },
    Rule {
        code: "bad-id",
        about: "Ids become branches, folders and arguments, so they are made of letters, digits, `-`, `_` and single inner dots.",
        help: "Choose another name; it starts with a letter or a digit and has at most 64 characters.",
    },
    Rule {
        code: "bad-lenses",
        about: "A review looks through at least one lens, and through each once.",
        help: "Each lens is a session of the reviewing worker: one that is there twice is paid twice. Name others, or leave `lenses` out.",
    },
    Rule {
        code: "bad-path",
        about: "A path holds no NUL character.",
        help: "No file system has such a path. Take the character out.",
    },
    Rule {
        code: "bad-size",
        about: "A size is a number of bytes, or a number with its unit.",
        help: "Write `64MB` or `256MiB`.",
    },
    Rule {
        code: "bad-variable",
        about: "Names of variables are made of letters, digits and `_`, and start with no digit.",
        help: "Templates and shells read other characters as something else. Rename it.",
    },
    Rule {
        code: "bad-version",
        about: "The version of the plan format is 1.",
        help: "Write `version = 1`. A plan of a later version needs a later `sop`.",
    },
    Rule {
        code: "blank-brief",
        about: "A brief says what is to be done.",
        help: "A worker that gets a blank brief has to guess. Write the task into it.",
    },
    Rule {
        code: "case-twins",
        about: "WPs that are at work together do not spell one path in two ways.",
        help: "`src/A.rs` and `src/a.rs` are two files on most Linux machines and one on most others, where a checkout of the merged work loses one of them. Spell it in one way.",
    },
    Rule {
        code: "command-template",
        about: "Each argument of a worker or reviewer is a template that compiles and asks only for what there is.",
        help: "See the finding for the variable and what it may have been meant to be. What a shell would run is handed over as an argument after the script, never pasted into it.",
    },
    Rule {
        code: "copy-tracked",
        about: "Provisioning copies untracked files only.",
        help: "A tracked file is in every worktree already, and a copy over it would look like a change by the worker. Leave it out of `copy`.",
    },
    Rule {
        code: "critic-nobody",
        about: "`[critic]` names somebody who reads.",
        help: "Name a `tier`, or say `when = \"never\"`, or leave the table out: a plan that nobody reads would only seem to be read.",
    },
    Rule {
        code: "cycle",
        about: "WPs do not wait for each other in a ring.",
        help: "None of them could ever start. Drop one of the `needs` entries that the finding shows, or cut the work differently.",
    },
    Rule {
        code: "duplicate-id",
        about: "Each id and each stage name is used once, whatever its case.",
        help: "Branches and folders are named after it, and some file systems do not tell cases apart. Rename one of the two.",
    },
    Rule {
        code: "empty-command",
        about: "A command has a program to run.",
        help: "Write a line, or a list of the program and its arguments.",
    },
    Rule {
        code: "empty-dod",
        about: "A WP that makes a change has a Definition of Done.",
        help: "Without a command that must exit 0 nothing proves the work. Add one to `dod`.",
    },
    Rule {
        code: "empty-verify",
        about: "`[verify]` asks for something.",
        help: "Name a `review_tier`, or `live` commands, or leave the table out: a last look that looks at nothing would only seem to be one.",
    },
    Rule {
        code: "empty-whitelist",
        about: "A WP that makes a change has a whitelist.",
        help: "It could not touch a single file. Name the paths, or make it a scout with `kind = \"scout\"`.",
    },
    Rule {
        code: "escaping-brief",
        about: "A brief is a file of the repository.",
        help: "A link may lead to a brief elsewhere in the repository or in the plan's folder, but not out of both: nobody else would have that text, and it would be of no commit. Put a copy next to the plan.",
    },
    Rule {
        code: "escaping-path",
        about: "A path does not lead out of its root with `..`.",
        help: "Name a file within the repository, or, for a brief, within the folder of the plan file.",
    },
    Rule {
        code: "fallback-cycle",
        about: "A tier is not its own fallback.",
        help: "When its provider is down, falling back to itself helps nobody. Take the entry out.",
    },
    Rule {
        code: "idle-key",
        about: "A key has an effect.",
        help: "As the rest of the plan is, this key does nothing, and its author probably meant it to. Leave it out, or say what it depends on.",
    },
    Rule {
        code: "late-need",
        about: "A WP needs only WPs of its own stage or of stages before.",
        help: "Stages run one after the other, so it would wait for ever. Move one of the two.",
    },
    Rule {
        code: "live-expect",
        about: "`expect` is for what is run on the base.",
        help: "Live commands are run once, on the integrated tree, where they all have to pass. Leave it out.",
    },
    Rule {
        code: "misplaced-key",
        about: "A command and an agent have keys of their own.",
        help: "`brief` is for a `command`; `program` and `args` are for an `agent`.",
    },
    Rule {
        code: "missing-brief",
        about: "A brief file exists.",
        help: "It is looked for from the folder of the plan file. Write it, correct the name, or use `brief_text`.",
    },
    Rule {
        code: "missing-file",
        about: "Files that the plan names exist.",
        help: "Instructions, copies and a worker's program are named from the top of the repository. Correct the name, or make the file.",
    },
    Rule {
        code: "missing-key",
        about: "Required keys are there.",
        help: "Add the key that the finding names; the schema explains it: `sop schema plan`.",
    },
    Rule {
        code: "missing-program",
        about: "A worker, a command that reviews or one of the last look, that is a program of the machine, is on its PATH.",
        help: "Without it what needs it could not start, and others would be paid before that shows. Install it, mend its name, or name a file of the repository by a path with a `/`.",
    },
    Rule {
        code: "missing-stage",
        about: "In a plan with stages, each WP is in one.",
        help: "Add `stage` to the WP.",
    },
    Rule {
        code: "missing-tier",
        about: "Each WP has a tier.",
        help: "Name one with `tier` in the WP or in `[plan]`; with a single tier in the plan that one is taken.",
    },
    Rule {
        code: "no-brief",
        about: "Each WP has a brief.",
        help: "Add `brief`, a file, or `brief_text`, the task itself.",
    },
    Rule {
        code: "no-lesson",
        about: "Each item of `.sop/notes.md` is a lesson.",
        help: "Write `- 2026-01-31: TEXT`, or with paths in backticks after ` for `. What is no item of a list is yours.",
    },
    Rule {
        code: "no-program",
        about: "`acp` names a protocol, so the program that speaks it has to be named too.",
        help: "Add `program`, with the arguments that make it speak the protocol on its standard input and output.",
    },
    Rule {
        code: "no-repository",
        about: "Outside a repository only the file itself is checked.",
        help: "Move the plan into the repository that it is for, or say `--no-repo` to have it so on purpose.",
    },
    Rule {
        code: "no-review-table",
        about: "`review = \"worker\"` says that a worker reviews, and `[review]` says which.",
        help: "Add a `[review]` table with a `tier`.",
    },
    Rule { code: "no-work", about: "A plan has at least one WP.", help: "Add a `[[wp]]` table." },
    Rule {
        code: "not-in-base",
        about: "What workers are to read is in the base commit.",
        help: "A worktree is made from the base, so a file that lies only in a checkout is not there. Commit it, or choose another base.",
    },
    Rule {
        code: "not-utf8",
        about: "A plan file is UTF-8.",
        help: "TOML allows no other encoding. Save the file as UTF-8.",
    },
    Rule {
        code: "notes-unreadable",
        about: "The notes of a repository can be read as text.",
        help: "They are `.sop/notes.md`, a plain file of at most 256 KiB. Check what is there, its permissions and its encoding.",
    },
    Rule {
        code: "nothing-shared",
        about: "A stage consolidates what it shares.",
        help: "Without shared files, or without a work package that changes any file, there is nothing to consolidate. Name the files in `shared`, or leave `[stage.consolidate]` out.",
    },
    Rule {
        code: "open-quote",
        about: "Quotes in a command line are closed.",
        help: "Close the quote, or write the command as a list of arguments, in which nothing needs quoting.",
    },
    Rule {
        code: "out-of-range",
        about: "Numbers are within their limits.",
        help: "See the finding for the limits.",
    },
    Rule {
        code: "overlap",
        about: "Two WPs that are at work at the same time share no path of the base.",
        help: "Both would change the same file, and neither would know. Narrow one whitelist, take the path away with `!`, let one WP wait for the other with `needs`, or leave the file to `shared`.",
    },
    Rule {
        code: "pattern",
        about: "A whitelist pattern is valid and can match a path of the repository.",
        help: "Patterns are relative to the top of the repository. `*` stays within a folder, `dir/**` is everything in one, `!` takes paths away, and a backslash takes a special character literally.",
    },
    Rule {
        code: "possible-overlap",
        about: "Two WPs that are at work at the same time share no path that could come to be, and neither can make a file where the other needs a folder.",
        help: "No file of the base is in both whitelists, but a new one could be; the finding shows such a path. Narrow one of the patterns if both WPs may get there. Where one could make a file of the name of the other's folder, name one of them otherwise.",
    },
    Rule {
        code: "request-without-push",
        about: "A pull request is of a branch that was pushed.",
        help: "Leave `push = false` out of `[delivery]`, or say `pull_request = false` as well.",
    },
    Rule {
        code: "reserved-id",
        about: "No work package is called like a stage's gate.",
        help: "`gate-1`, `gate-2`, … name the worktrees and logs in which a stage is proven as a whole. Choose another name.",
    },
    Rule {
        code: "schema",
        about: "A plan file keeps to the schema of plan files.",
        help: "`sop schema plan` prints it; editors complete and explain keys with it.",
    },
    Rule {
        code: "scout-whitelist",
        about: "A scout changes nothing.",
        help: "It leaves a report. Leave the whitelist out, or `kind = \"scout\"`.",
    },
    Rule {
        code: "self-need",
        about: "A WP does not need itself.",
        help: "It could never start. Take the entry out.",
    },
    Rule {
        code: "shared-file",
        about: "The shared files of a stage are in no whitelist of it.",
        help: "They are left for consolidation, after the WPs of the stage are merged. Take them away with a `!` pattern.",
    },
    Rule {
        code: "stale-worker",
        about: "A worker that is a file of the repository is taken from the base commit.",
        help: "The checkout holds another version, which no worktree would see. Commit it to the base before the run if it is the one that is meant.",
    },
    Rule {
        code: "syntax",
        about: "A plan file is TOML.",
        help: "See the finding for the place; https://toml.io explains the format.",
    },
    Rule {
        code: "template-leaves-out",
        about: "A template prints the task and, in later rounds, the problems.",
        help: "A worker that is not told them cannot solve them. Print `brief` and `problems`, or start from a built-in template with `extends`.",
    },
    Rule {
        code: "template-misfit",
        about: "A template finds the variables of each WP that uses it.",
        help: "Give the WP the value under `vars`, or guard its use in the template with `{% if … %}`.",
    },
    Rule {
        code: "template-render",
        about: "A template can be rendered for a first and for a later round.",
        help: "See the finding for the place in the template.",
    },
    Rule {
        code: "template-syntax",
        about: "A template compiles.",
        help: "Templates are Jinja. See the finding for the place in the template.",
    },
    Rule {
        code: "template-unknown-variable",
        about: "A template asks only for variables that there are.",
        help: "See the finding for those that there are. Values of your own go under `vars` of a WP.",
    },
    Rule {
        code: "template-unreadable",
        about: "Template files can be read as text.",
        help: "They lie in `.sop/templates`. Check the permissions and the encoding of the file named.",
    },
    Rule {
        code: "tier-cycle",
        about: "Escalation leads from tier to tier and not in a ring.",
        help: "A ring would spend rounds on a tier that has failed already. Let the strongest tier have no `escalate_to`.",
    },
    Rule {
        code: "two-briefs",
        about: "A WP has one brief.",
        help: "Leave out `brief` or `brief_text`.",
    },
    Rule {
        code: "unclear-worker",
        about: "A worker is a command or an agent.",
        help: "Give it `command` or `agent`, and not both.",
    },
    Rule {
        code: "undecided",
        about: "A plan that is run has nothing left to be decided.",
        help: "A comment that begins with `DECIDE:` is a question to whoever owns the plan, as `sop draft` leaves them. Decide it, change what has to be changed, and take the comment out.",
    },
    Rule {
        code: "unknown-base",
        about: "The base names a commit of this repository.",
        help: "Name a branch, a tag or a commit that is here, or fetch it first.",
    },
    Rule {
        code: "unknown-key",
        about: "Keys are those that the plan format has.",
        help: "A misspelt key would otherwise be passed over in silence. Correct it or take it out.",
    },
    Rule {
        code: "unknown-lens",
        about: "A lens is a template that is there.",
        help: "Lens `NAME` is the template `review-NAME`, built in or `.sop/templates/review-NAME.md.j2`.",
    },
    Rule {
        code: "unknown-stage",
        about: "A WP names a stage that is declared.",
        help: "Correct the name, or declare the stage with `[[stage]]`.",
    },
    Rule {
        code: "unknown-template",
        about: "A WP names a template that there is.",
        help: "Correct the name, or add the template as `.sop/templates/NAME.md.j2`.",
    },
    Rule {
        code: "unknown-tier",
        about: "Tiers are named as they are declared.",
        help: "Correct the name, or declare the tier with `[tiers.NAME]`.",
    },
    Rule {
        code: "unknown-value",
        about: "A value is one of those that the key takes.",
        help: "See the finding for them.",
    },
    Rule {
        code: "unknown-worker",
        about: "A tier names a worker that is declared.",
        help: "Correct the name, or declare the worker with `[workers.NAME]`.",
    },
    Rule {
        code: "unknown-wp",
        about: "`needs` names WPs of the plan.",
        help: "Correct the id, or take the entry out.",
    },
    Rule {
        code: "untold-cost",
        about: "A budget of money is for agents that tell what they cost.",
        help: "codex and gemini never tell it, so nothing is ever counted against `budget_usd` while they work. Say `budget_tokens`: tokens are told by all agents. A plain command may tell its cost in the file `SOP_TURN`.",
    },
    Rule {
        code: "unused-review",
        about: "A `[review]` table is used by some WP.",
        help: "Each WP says another review, or `[plan] review` does for all. Leave the table out, or let one say `review = \"worker\"`.",
    },
    Rule {
        code: "unused-stage",
        about: "Each stage has a WP.",
        help: "Give it one, or take the stage out.",
    },
    Rule {
        code: "user-config",
        about: "What a plan means is in the repository.",
        help: "The plan depends on your own config or environment, so another machine may read it otherwise, or not at all. Say it in the plan or in `.sop/config.toml`. `--no-user-config` checks the plan without.",
    },
    Rule {
        code: "verify-independent",
        about: "What is verified in the end has been integrated.",
        help: "Independent WPs each have a branch of their own and nothing is integrated. Give the plan stages or `needs`, or leave `[verify]` out.",
    },
    Rule {
        code: "wrong-type",
        about: "A value has the type that the key takes.",
        help: "See the finding for the type; a list of one still needs its brackets.",
    },
];
