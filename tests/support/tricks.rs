//! The scope adversary: what a worker may try to leave the whitelist unseen, and what it may honestly do.
//!
//! Each is a shell script. It runs in the worktree of one WP, with `MAIN` (the user's checkout), `SIBLING` (the
//! worktree of another WP) and `OUTSIDE` (a folder of somebody else's) in its environment. The whitelist is
//! [`WHITELIST`], the repository is made by [`SETUP`].

/// Who is meant to say no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// The scope check of the WP names it.
    Scope,
    /// The WP's guard names it as what a person may have done: no blame, unless the plan says frozen.
    Person,
    /// The sibling's worktree is no longer what was committed from it.
    Sibling,
    /// The check passes before it, and the second look, after the Definition of Done, names it.
    AfterDod,
}

/// One trick.
pub struct Trick {
    pub name: &'static str,
    pub script: &'static str,
    /// The path or ref that must be named, as bytes.
    pub named: &'static [u8],
    pub caught: Caught,
}

/// What the base of the repository holds.
pub const SETUP: &str = r"
mkdir -p src docs lib/deep
printf 'one\n' > src/a.txt; printf 'two\n' > src/b.txt; printf 'doc\n' > docs/guide.md
printf 'lib\n' > lib/x.c; printf 'deep\n' > lib/deep/y.c; printf 'top\n' > top.txt
printf '#!/bin/sh\n' > tool.sh; chmod +x tool.sh
ln -s a.txt src/link; ln -s lib liblink
printf '*.log\n/build/\n' > .gitignore
";

/// The only folder that the WP may touch.
pub const WHITELIST: &str = "src/";

const fn scope(name: &'static str, script: &'static str, named: &'static str) -> Trick {
    Trick { name, script, named: named.as_bytes(), caught: Caught::Scope }
}

/// Every trick: each must be refused with the path named.
pub const TRICKS: &[Trick] = &[
    scope("move in", "git mv docs/guide.md src/guide.md", "docs/guide.md"),
    scope("move out", "git mv src/a.txt docs/a.txt", "docs/a.txt"),
    scope("plain move in", "mv docs/guide.md src/guide.md", "docs/guide.md"),
    scope("delete outside", "rm lib/x.c", "lib/x.c"),
    scope("delete a folder outside", "rm -r lib", "lib/deep/y.c"),
    scope("change outside", "echo more >> top.txt", "top.txt"),
    scope(
        "same size, old time stamps",
        "cp -p top.txt src/t; printf 'TOP\\n' > top.txt; touch -r src/t top.txt; rm src/t",
        "top.txt",
    ),
    scope(
        "same bytes replaced through a rename",
        "printf 'TOP\\n' > src/t; touch -r top.txt src/t; mv src/t top.txt",
        "top.txt",
    ),
    scope("mode set", "chmod +x top.txt", "top.txt"),
    scope(
        "mode cleared, fileMode off",
        "git config core.fileMode false; chmod -x tool.sh",
        "tool.sh",
    ),
    scope("link swapped for a file", "rm liblink; printf lib > liblink", "liblink"),
    scope("file swapped for a link", "rm top.txt; ln -s src/a.txt top.txt", "top.txt"),
    scope("folder swapped for a link", "mv lib src/lib; ln -s src/lib lib", "lib"),
    scope("link retargeted", "ln -sfn docs liblink", "liblink"),
    scope(
        "file swapped for a folder",
        "rm top.txt; mkdir top.txt; echo x > top.txt/inner",
        "top.txt/inner",
    ),
    scope("write through a link in the base", "echo more >> liblink/x.c", "lib/x.c"),
    scope(
        "write through a link of its own",
        "ln -s ../lib src/l; echo more >> src/l/x.c",
        "lib/x.c",
    ),
    scope("new file outside", "echo new > docs/new.md", "docs/new.md"),
    scope("new file deep outside", "mkdir -p new/deep; echo x > new/deep/er", "new/deep/er"),
    scope(
        "nested repository",
        "git init -q vendor; echo x > vendor/f; git -C vendor add f; git -C vendor commit -qm x",
        "vendor/f",
    ),
    scope("nested repository in scope", "git init -q src/v; echo x > src/v/f", "src/v"),
    scope(
        "gitlink",
        "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null; test -n \"$(git ls-files -s sub | grep ^160000)\"",
        "sub",
    ),
    scope(
        "gitlink in the index alone",
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),mod",
        "mod",
    ),
    scope(
        "staged and put back",
        "echo bad >> top.txt; git add top.txt; printf 'top\\n' > top.txt",
        "top.txt",
    ),
    scope("case twin of a file", "echo twin > TOP.txt", "TOP.txt"),
    scope("case twin of the whitelisted folder", "mkdir SRC; echo twin > SRC/a.txt", "SRC/a.txt"),
    scope("name with a newline", "printf x > 'docs/a\nb'", "docs/a\nb"),
    scope(
        "name that pretends to be in scope",
        "mkdir -p 'docs\nsrc'; printf x > 'docs\nsrc/a.txt'",
        "docs\nsrc/a.txt",
    ),
    Trick {
        name: "name that is not UTF-8",
        script: "printf x > \"$(printf 'docs/\\377\\376')\"",
        named: b"docs/\xff\xfe",
        caught: Caught::Scope,
    },
    scope("leading dash and quotes", "printf x > \"./-rf \\\"q\\\" 'z'\"", "-rf \"q\" 'z'"),
    scope(
        "own commit",
        "echo more >> src/a.txt; git commit -qam mine",
        "refs/heads/sop/run-1/adversary",
    ),
    scope("own commit outside", "echo more >> top.txt; git commit -qam mine", "top.txt"),
    scope(
        "own commit, then undone on disk",
        "echo x >> top.txt; git commit -qam m; git show HEAD~:top.txt > top.txt",
        "refs/heads/sop/run-1/adversary",
    ),
    scope("amend", "echo more >> top.txt; git commit -qa --amend --no-edit", "top.txt"),
    scope(
        "reset",
        "echo x > base.txt; git add -A; git commit -qm x; git reset -q --soft $(git commit-tree -m root HEAD^{tree})",
        "base.txt",
    ),
    scope("branch switch", "git switch -q -c mine", "HEAD"),
    scope("branch switch leaves a branch", "git switch -q -c mine", "refs/heads/mine"),
    scope(
        "detached HEAD",
        "git checkout -q --detach; echo x >> top.txt; git commit -qam x",
        "HEAD",
    ),
    scope("stash", "echo more >> src/a.txt; git stash -q", "refs/stash"),
    scope(
        "assume-unchanged",
        "git update-index --assume-unchanged top.txt; echo more >> top.txt",
        "top.txt",
    ),
    scope(
        "skip-worktree",
        "git update-index --skip-worktree top.txt; echo more >> top.txt",
        "top.txt",
    ),
    scope(
        "skip-worktree and removed",
        "git update-index --skip-worktree top.txt; rm top.txt",
        "top.txt",
    ),
    scope("sparse checkout", "git sparse-checkout set --no-cone src", "top.txt"),
    scope(
        "info/exclude",
        "echo hidden.txt >> \"$(git rev-parse --git-path info/exclude)\"; echo x > hidden.txt",
        "hidden.txt",
    ),
    scope(
        "info/exclude itself",
        "echo hidden.txt >> \"$(git rev-parse --git-path info/exclude)\"",
        "info/exclude",
    ),
    scope(
        "ignore file in scope",
        "printf '../docs/**\\n*\\n' > src/.gitignore; mkdir -p docs; echo x > docs/hidden",
        "docs/hidden",
    ),
    scope(
        "ignore file outside",
        "echo hidden.txt >> .gitignore; echo x > hidden.txt",
        "hidden.txt",
    ),
    scope("ignore file removed", "rm .gitignore", ".gitignore"),
    scope(
        "nested ignore file",
        "mkdir new; echo '*' > new/.gitignore; echo x > new/hidden",
        "new/hidden",
    ),
    scope(
        "core.excludesFile",
        "echo hidden.txt > src/ex; git config core.excludesFile \"$PWD/src/ex\"; echo x > hidden.txt",
        "hidden.txt",
    ),
    scope(
        "core.fsmonitor",
        "printf '#!/bin/sh\\nprintf \"t\\\\0\"\\n' > src/mon; chmod +x src/mon; git config core.fsmonitor \"$PWD/src/mon\"; git status >/dev/null; echo x >> top.txt",
        "top.txt",
    ),
    scope(
        "untracked cache",
        "git update-index --untracked-cache; git status -uno >/dev/null; echo x > docs/u",
        "docs/u",
    ),
    scope(
        "split index",
        "git update-index --split-index --skip-worktree top.txt; echo x >> top.txt",
        "top.txt",
    ),
    scope("HEAD removed", "echo x >> top.txt; rm \"$(git rev-parse --git-dir)/HEAD\"", "top.txt"),
    scope(
        "administrative folder removed",
        "echo x >> top.txt; rm -r \"$(git rev-parse --git-dir)\"",
        "top.txt",
    ),
    scope(
        "index removed",
        "rm \"$(git rev-parse --git-path index)\"; echo x >> top.txt",
        "top.txt",
    ),
    scope(
        "index of lies",
        "echo x >> top.txt; git update-index top.txt; git update-index --cacheinfo 100644,$(git rev-parse HEAD:top.txt),top.txt",
        "top.txt",
    ),
    scope(
        "replaced objects",
        "echo x >> top.txt; git replace $(git rev-parse HEAD:top.txt) $(git hash-object -w top.txt)",
        "top.txt",
    ),
    scope(
        "a filter that hides",
        "git config filter.hide.clean 'git show HEAD:src/b.txt'; echo 'b.txt filter=hide' > src/.gitattributes; echo bad >> src/b.txt",
        "src/b.txt",
    ),
    scope("a filter in the configuration", "git config filter.hide.clean 'cat'", "config"),
    scope(
        "a hook installed",
        "h=$(git rev-parse --git-common-dir)/hooks; mkdir -p $h; echo exit > $h/pre-commit; chmod +x $h/pre-commit",
        "hooks/pre-commit",
    ),
    scope("hooks moved", "git config core.hooksPath /tmp/nowhere", "config"),
    scope("configuration edited", "git config user.name Mallory", "config"),
    scope(
        "a branch moved",
        "git update-ref refs/heads/other HEAD~0; git branch -f stable HEAD^{commit} 2>/dev/null || true",
        "refs/heads/other",
    ),
    scope("a tag made", "git tag mine", "refs/tags/mine"),
    scope("a note made", "git notes add -m x", "refs/notes/commits"),
    scope(
        "branch made an alias",
        "git symbolic-ref refs/heads/sop/run-1/adversary refs/heads/main",
        "refs/heads/sop/run-1/adversary",
    ),
    scope(
        "link to the repository rewritten",
        "rm .git; git init -q .; git add -A; git commit -qm x",
        ".git",
    ),
    scope(
        "worktree settings",
        "git config extensions.worktreeConfig true; git config --worktree core.bare false",
        "config",
    ),
    scope(
        "grafts",
        "mkdir -p $(git rev-parse --git-common-dir)/info; git rev-parse HEAD > $(git rev-parse --git-common-dir)/info/grafts",
        "info/grafts",
    ),
    scope("a pipe", "mkfifo docs/pipe", "docs/pipe"),
    scope("a pipe in scope", "mkfifo src/pipe", "src/pipe"),
    scope("a file swapped for a pipe", "rm top.txt; mkfifo top.txt", "top.txt"),
    scope("a second .git", "mkdir -p docs/.GIT; echo x > docs/.GIT/config", "docs/.GIT"),
    scope(
        "the branch of another run's base",
        "git update-ref refs/heads/release $(git commit-tree -m x HEAD^{tree})",
        "refs/heads/release",
    ),
    Trick {
        name: "a file in the main checkout",
        script: "echo x >> $MAIN/top.txt",
        named: b"top.txt",
        caught: Caught::Person,
    },
    Trick {
        name: "a new file in the main checkout",
        script: "echo x > $MAIN/new",
        named: b"new",
        caught: Caught::Person,
    },
    Trick {
        name: "write through a link into the main checkout",
        script: "ln -s $MAIN src/m; echo x >> src/m/top.txt; rm src/m",
        named: b"top.txt",
        caught: Caught::Person,
    },
    Trick {
        name: "something staged in the main checkout",
        script: "cd $MAIN; git rm -q --cached top.txt",
        named: b"index",
        caught: Caught::Person,
    },
    Trick {
        name: "the user's branch moved",
        script: "git update-ref refs/heads/main $(git commit-tree -m x -p main main^{tree})",
        named: b"refs/heads/main",
        caught: Caught::Person,
    },
    Trick {
        name: "a file in a sibling's worktree",
        script: "echo x >> $SIBLING/src/b.txt",
        named: b"src/b.txt",
        caught: Caught::Sibling,
    },
    Trick {
        name: "a new file in a sibling's worktree",
        script: "echo x > $SIBLING/src/n",
        named: b"src/n",
        caught: Caught::Sibling,
    },
    Trick {
        name: "changed by the Definition of Done",
        script: "echo generated >> lib/x.c",
        named: b"lib/x.c",
        caught: Caught::AfterDod,
    },
    Trick {
        name: "put back late, by the Definition of Done",
        script: "printf 'TWO\\n' > src/b.txt",
        named: b"src/b.txt",
        caught: Caught::AfterDod,
    },
];

/// Work that stays within [`WHITELIST`] and must pass; `changes` is how many paths it changes.
pub struct Honest {
    pub name: &'static str,
    pub script: &'static str,
    pub changes: usize,
}

/// Every honest change.
pub const HONEST: &[Honest] = &[
    Honest { name: "nothing", script: ":", changes: 0 },
    Honest { name: "an edit", script: "echo more >> src/a.txt", changes: 1 },
    Honest {
        name: "a new file",
        script: "mkdir -p src/new/deep; echo x > src/new/deep/f",
        changes: 1,
    },
    Honest { name: "a move inside", script: "git mv src/a.txt src/c.txt", changes: 2 },
    Honest { name: "a deletion", script: "rm src/b.txt", changes: 1 },
    Honest { name: "a mode", script: "chmod +x src/a.txt", changes: 1 },
    Honest { name: "a link", script: "ln -s ../docs src/docs", changes: 1 },
    Honest {
        name: "odd names",
        script: "printf x > 'src/a\nb'; printf y > \"$(printf 'src/\\377')\"; printf z > 'src/-x \"y\"'",
        changes: 3,
    },
    Honest {
        name: "ignored files",
        script: "echo x > run.log; mkdir build; echo y > build/out; echo z > src/a.log",
        changes: 0,
    },
    Honest {
        name: "touched, not changed",
        script: "touch top.txt lib/x.c; cp top.txt t; cat t > top.txt; rm t",
        changes: 0,
    },
    Honest {
        name: "changed and put back",
        script: "echo x >> top.txt; printf 'top\\n' > top.txt",
        changes: 0,
    },
    Honest {
        name: "mode changed and put back",
        script: "chmod +x top.txt; chmod -x top.txt",
        changes: 0,
    },
    Honest { name: "staged", script: "echo more >> src/a.txt; git add -A", changes: 1 },
    Honest {
        name: "looked around with git",
        script: "git status >/dev/null; git diff >/dev/null; git log >/dev/null; echo x > src/x",
        changes: 1,
    },
    Honest { name: "empty folders", script: "mkdir -p docs/empty/er src/e", changes: 0 },
    Honest {
        name: "ignore and attribute files in scope",
        script: "echo '*.tmp' > src/.gitignore; echo '*.txt text' > src/.gitattributes; echo x > src/f.tmp",
        changes: 3,
    },
    Honest {
        name: "a file swapped for a folder in scope",
        script: "rm src/b.txt; mkdir src/b.txt; echo x > src/b.txt/in",
        changes: 2,
    },
];
