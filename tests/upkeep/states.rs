//! The table: states that a repository can be in, and what each verb has to make of it.

/// How the branch of the lead's worktree came into `main`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    Merged,
    Unmerged,
    Squash,
    Rebase,
}

/// What a verb does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// It is done.
    Done,
    /// It is refused, and the reason says this.
    Stays(&'static str),
    /// The state is none of the main checkout.
    Not,
}

/// Which class `gc` finds, and what its reason says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gc {
    Reclaim,
    Salvage(&'static str),
    Hold(&'static str),
}

/// One state.
#[derive(Debug, Clone, Copy)]
pub struct State {
    pub name: &'static str,
    pub merge: Merge,
    /// Puts a worktree, or the main checkout, into it. `$ROOT` and `$MAIN` are set.
    pub script: &'static str,
    /// `rm`, without any flag.
    pub rm: Ends,
    /// `rm` with both flags.
    pub discard: Ends,
    pub archive: Ends,
    pub gc: Gc,
    /// `sync` of the main checkout in this state to a branch that changes `tracked.txt` and adds `new.txt`, `new.log`.
    pub sync: Ends,
    /// `migrate-to-bare` of the main checkout in this state.
    pub migrate: Ends,
    /// A process stays in it.
    pub process: bool,
    /// Only root can make it.
    pub root: bool,
    /// Nothing was committed in the worktree.
    pub untouched: bool,
}

use Ends::{Done, Not, Stays};
use Gc::{Hold, Reclaim, Salvage};

/// A submodule, which `main` has too.
macro_rules! submodule {
    () => {
        "git -c protocol.file.allow=always submodule --quiet add \"$ROOT/sub.git\" sub; git commit -q -m 'a submodule'
         git -C \"$MAIN\" merge -q --ff-only \"$(git rev-parse HEAD)\" 2>/dev/null || true
         "
    };
}

const CLEAN: State = State {
    name: "clean",
    merge: Merge::Merged,
    script: "",
    rm: Done,
    discard: Done,
    archive: Done,
    gc: Reclaim,
    sync: Done,
    migrate: Done,
    process: false,
    root: false,
    untouched: false,
};

/// All of them.
pub const STATES: &[State] = &[
    CLEAN,
    State {
        name: "modified",
        script: "echo mine >> tracked.txt; rm other.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: other.txt, tracked.txt"),
        sync: Stays("tracked.txt"),
        ..CLEAN
    },
    State {
        name: "modified beside",
        script: "echo mine >> other.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: other.txt"),
        ..CLEAN
    },
    State {
        name: "mode",
        script: "chmod +x other.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: other.txt"),
        ..CLEAN
    },
    State {
        name: "untracked",
        script: "echo mine > new.txt; mkdir -p deep/er; echo mine too > deep/er/notes",
        rm: Stays("--discard-untracked"),
        gc: Salvage("untracked: deep/er/notes, new.txt"),
        sync: Stays("new.txt"),
        ..CLEAN
    },
    State {
        name: "untracked where a folder comes",
        script: "echo mine > folder",
        rm: Stays("--discard-untracked"),
        gc: Salvage("untracked: folder"),
        sync: Stays("folder"),
        ..CLEAN
    },
    State {
        name: "ignored",
        script: "echo log > a.log; mkdir build; echo obj > build/out; echo log > new.log",
        sync: Stays("new.log"),
        ..CLEAN
    },
    State {
        name: "staged",
        script: "echo staged > other.txt; echo fresh > fresh.txt; git add -A",
        rm: Stays("--discard-modified"),
        gc: Salvage("staged: fresh.txt, other.txt"),
        ..CLEAN
    },
    State {
        name: "staged, then modified",
        script: "echo staged > tracked.txt; git add -A; echo modified > tracked.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("staged: tracked.txt"),
        sync: Stays("tracked.txt"),
        ..CLEAN
    },
    State {
        name: "staged, then deleted",
        script: "echo only in the index > gone.txt; git add gone.txt; rm gone.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("gone.txt"),
        ..CLEAN
    },
    State {
        name: "stash",
        script: "echo stashed > tracked.txt; git stash -q; echo twice > tracked.txt; git stash -q",
        ..CLEAN
    },
    State {
        name: "conflict",
        script: "git checkout -q -b theirs HEAD~1 2>/dev/null; echo theirs >> work.txt; git commit -q -a -m theirs
            theirs=$(git rev-parse HEAD); git checkout -q - ; git branch -q -D theirs; git update-ref refs/keep/none HEAD
            git update-ref -d refs/keep/none; git merge -q $theirs > /dev/null 2>&1 || true
            git status --porcelain | grep -q '^UU work.txt'",
        rm: Stays("a merge is under way"),
        discard: Stays("a merge is under way"),
        gc: Salvage("in conflict: work.txt"),
        sync: Stays("a merge is under way"),
        migrate: Stays("a merge is under way"),
        ..CLEAN
    },
    State {
        name: "rebase under way",
        script: "echo other >> work.txt; git commit -q -a -m other; git rebase -q -x false HEAD~1 > /dev/null 2>&1 || true
            echo between > tracked.txt",
        rm: Stays("a rebase is under way"),
        discard: Stays("a rebase is under way"),
        gc: Hold("it is on no branch"),
        sync: Stays("no branch"),
        migrate: Stays("a rebase is under way"),
        ..CLEAN
    },
    State {
        name: "bisect under way",
        script: "git bisect start HEAD HEAD~2 > /dev/null 2>&1",
        rm: Stays("a bisect is under way"),
        discard: Stays("a bisect is under way"),
        gc: Salvage("a bisect is under way"),
        sync: Stays("no branch"),
        migrate: Stays("a bisect is under way"),
        ..CLEAN
    },
    State { name: "detached", script: "git checkout -q --detach", sync: Stays("no branch"), ..CLEAN },
    State {
        name: "detached with work",
        script: "git checkout -q --detach; echo loose > loose.txt; git add -A; git commit -q -m loose",
        rm: Stays("which no branch holds"),
        discard: Stays("which no branch holds"),
        gc: Hold("it is on no branch"),
        sync: Stays("no branch"),
        ..CLEAN
    },
    State {
        name: "locked",
        script: "git worktree lock --reason 'on a stick' . 2>/dev/null",
        rm: Stays("locked (on a stick)"),
        discard: Stays("locked (on a stick)"),
        archive: Stays("locked (on a stick)"),
        gc: Hold("locked (on a stick)"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "missing folder",
        script: "cd ..; rm -r w",
        gc: Hold("its folder is gone"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "missing folder, staged work",
        script: "echo staged > tracked.txt; git add -A; cd ..; rm -r w",
        rm: Stays("--discard-modified"),
        gc: Hold("its folder is gone"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "moved",
        script: "echo mine > mine.txt; cd ..; mv w elsewhere",
        gc: Hold("git worktree repair"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "nested repository",
        script: "git init -q nested; cd nested; echo inner > inner; git add -A; git -c user.name=x -c user.email=x@y commit -q -m x",
        rm: Stays("a repository of its own is inside: nested"),
        discard: Stays("a repository of its own is inside: nested"),
        archive: Stays("a repository of its own is inside: nested"),
        gc: Hold("a repository of its own is inside: nested"),
        ..CLEAN
    },
    State {
        name: "nested in what is ignored",
        script: "mkdir build; git init -q build/nested; echo inner > build/nested/inner",
        rm: Stays("build/nested"),
        discard: Stays("build/nested"),
        archive: Stays("build/nested"),
        gc: Hold("build/nested"),
        ..CLEAN
    },
    State {
        name: "submodule",
        script: submodule!(),
        ..CLEAN
    },
    State {
        name: "submodule with own work",
        script: concat!(
            submodule!(),
            "cd sub; echo own >> tracked.txt; git -c user.name=x -c user.email=x@y commit -q -a -m own"
        ),
        rm: Stays("a submodule holds work"),
        discard: Stays("a submodule holds work"),
        archive: Stays("a submodule holds work"),
        gc: Hold("a submodule holds work"),
        ..CLEAN
    },
    State {
        name: "submodule with a stash",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; echo stashed >> tracked.txt; git stash -q"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with two stashes, one dropped",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; for n in 1 2; do echo stash $n > other.txt; git stash -q; done; git stash drop -q"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with a tag",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; echo tagged >> tracked.txt; git commit -q -a -m tagged; git tag kept; git reset -q --hard HEAD~1; git reflog expire --expire=now --all"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with a tag of a file",
        script: concat!(
            submodule!(),
            "cd sub; git tag kept $(echo only here | git hash-object -w --stdin)"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with a note",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; git notes add -m 'noted only here' 2>/dev/null"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with a branch",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; git checkout -q -b other; echo other >> tracked.txt; git commit -q -a -m other; git checkout -q -; git reflog expire --expire=now --all"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with work that only its log names",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; echo logged >> tracked.txt; git commit -q -a -m logged; git reset -q --hard HEAD~1"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule with something staged",
        script: concat!(
            submodule!(),
            "cd sub; echo staged >> tracked.txt; git add -A; git show HEAD:tracked.txt > tracked.txt"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "submodule that was put away, with own work",
        script: concat!(
            submodule!(),
            "cd sub; git config user.name x; git config user.email x@y; echo own >> tracked.txt; git stash -q; cd ..; git submodule --quiet deinit sub"
        ),
        rm: Stays("a submodule holds work that is nowhere else: modules/sub"),
        discard: Stays("a submodule holds work that is nowhere else: modules/sub"),
        archive: Stays("a submodule holds work that is nowhere else: modules/sub"),
        gc: Hold("a submodule holds work that is nowhere else: modules/sub"),
        ..CLEAN
    },
    State {
        name: "submodule of a submodule, with a stash",
        script: concat!(
            submodule!(),
            "git clone -q --bare sub \"$ROOT/deep.git\"; cd sub; git config user.name x; git config user.email x@y; git -c protocol.file.allow=always submodule --quiet add \"$ROOT/deep.git\" deep; git commit -q -m deep; git push -q origin HEAD:refs/heads/with-deep
            git fetch -q; cd ..; git add -A; git commit -q -m 'a deeper one'; git -C \"$MAIN\" merge -q --ff-only \"$(git rev-parse HEAD)\" 2>/dev/null || true
            cd sub/deep; git config user.name x; git config user.email x@y; echo stashed >> tracked.txt; git stash -q"
        ),
        rm: Stays("a submodule holds work that is nowhere else: sub"),
        discard: Stays("a submodule holds work that is nowhere else: sub"),
        archive: Stays("a submodule holds work that is nowhere else: sub"),
        gc: Hold("a submodule holds work that is nowhere else: sub"),
        ..CLEAN
    },
    State {
        name: "a ref of its own",
        script: "git checkout -q --detach; echo kept > kept.txt; git add -A; git commit -q -m kept; git update-ref refs/worktree/keep HEAD
            git checkout -q -; git reflog expire --expire=now --all",
        rm: Stays("refs of its own hold commits that no other has"),
        discard: Stays("refs of its own hold commits that no other has"),
        gc: Salvage("only refs of its own hold"),
        ..CLEAN
    },
    State {
        name: "a ref of its own, of a file",
        script: "git update-ref refs/worktree/keep $(echo only here | git hash-object -w --stdin)",
        rm: Stays("holds what is no commit"),
        discard: Stays("holds what is no commit"),
        archive: Stays("holds what is no commit"),
        gc: Hold("holds what is no commit"),
        ..CLEAN
    },
    State {
        name: "thrown away, and in its log",
        script: "echo tried > tried.txt; git add -A; git commit -q -m tried; git reset -q --hard HEAD~1",
        gc: Salvage("only its log names"),
        ..CLEAN
    },
    State {
        name: "amended, and the first form in its log",
        script: "echo first > other.txt; git commit -q -a -m first; echo second > other.txt; git commit -q -a --amend -m second
            git -C \"$MAIN\" merge -q --ff-only \"$(git rev-parse HEAD)\" 2>/dev/null || true",
        gc: Salvage("only its log names"),
        ..CLEAN
    },
    State {
        name: "rebased, and the first form in its log",
        script: "git -C \"$MAIN\" reset -q --hard refs/pre/rebase; git rebase -q main 2>/dev/null || true",
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "symlink out",
        script: "ln -s ../../../outside out; ln -s /etc/hostname far",
        rm: Stays("--discard-untracked"),
        gc: Salvage("untracked: far, out"),
        migrate: Stays("out"),
        ..CLEAN
    },
    State {
        name: "live process inside",
        process: true,
        rm: Stays("a process is in it"),
        discard: Stays("a process is in it"),
        archive: Stays("a process is in it"),
        gc: Hold("a process is in it"),
        migrate: Stays("a process is in it"),
        ..CLEAN
    },
    State {
        name: "unmerged",
        merge: Merge::Unmerged,
        rm: Stays("`w` is not merged"),
        discard: Stays("`w` is not merged"),
        gc: Hold("`w` is not merged"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State { name: "merged by squash", merge: Merge::Squash, sync: Not, migrate: Not, ..CLEAN },
    State { name: "merged by rebase", merge: Merge::Rebase, sync: Not, migrate: Not, ..CLEAN },
    State {
        name: "undone by itself",
        script: "echo tried > tried.txt; git add -A; git commit -q -m tried; git rm -q tried.txt; git commit -q -m undone",
        rm: Stays("`w` is not merged"),
        discard: Stays("`w` is not merged"),
        gc: Hold("`w` is not merged"),
        sync: Stays("commits of its own"),
        ..CLEAN
    },
    State {
        name: "remote gone",
        merge: Merge::Unmerged,
        script: "git config branch.w.remote origin; git config branch.w.merge refs/heads/w
            git config remote.origin.url /nowhere; git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'",
        rm: Stays("`w` is not merged"),
        discard: Stays("`w` is not merged"),
        gc: Hold("`w` is not merged"),
        ..CLEAN
    },
    State {
        name: "another user's file",
        root: true,
        script: "echo theirs > theirs.log; chown 12345 theirs.log",
        rm: Stays("files of another user are inside: theirs.log"),
        discard: Stays("files of another user are inside: theirs.log"),
        archive: Stays("files of another user are inside: theirs.log"),
        gc: Hold("files of another user are inside: theirs.log"),
        migrate: Stays("theirs.log"),
        ..CLEAN
    },
    State {
        name: "intent to add",
        script: "echo intended > new.txt; git add -N new.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: new.txt"),
        sync: Stays("new.txt"),
        ..CLEAN
    },
    State {
        name: "assume-unchanged",
        script: "git update-index --assume-unchanged tracked.txt; echo hidden > tracked.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: tracked.txt"),
        sync: Stays("tracked.txt"),
        ..CLEAN
    },
    State {
        name: "skip-worktree",
        script: "git update-index --skip-worktree tracked.txt; echo hidden > tracked.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: tracked.txt"),
        sync: Stays("tracked.txt"),
        ..CLEAN
    },
    State {
        name: "odd names",
        script: "printf x > \"$(printf 'new\\nline')\"; printf y > \"$(printf 'b\\377d')\"; printf z > ./-dash; printf q > 'a \"q\" b'",
        rm: Stays("--discard-untracked"),
        gc: Salvage("new\\nline"),
        ..CLEAN
    },
    State {
        name: "case-only twins",
        script: "echo lower > readme; echo upper > README; git add readme; echo changed > readme",
        rm: Stays("--discard-modified"),
        gc: Salvage("untracked: README"),
        ..CLEAN
    },
    State {
        name: "sparse",
        script: "git sparse-checkout set --no-cone '/*' '!/dir/' 2>/dev/null; test ! -e dir; mkdir dir; echo hidden > dir/inner.txt",
        rm: Stays("--discard-modified"),
        gc: Salvage("modified: dir/inner.txt"),
        ..CLEAN
    },
    State {
        name: "sparse and clean",
        script: "git sparse-checkout set --no-cone '/*' '!/dir/' 2>/dev/null; test ! -e dir",
        ..CLEAN
    },
    State {
        name: "a filter that loses bytes",
        script: "git config filter.lossy.clean 'tr a-z A-Z'; echo '*.up filter=lossy' > .gitattributes
            git add -A; git commit -q -m attributes; git -C \"$MAIN\" merge -q --ff-only \"$(git rev-parse HEAD)\" 2>/dev/null || true
            echo lower > file.up",
        rm: Stays("--discard-untracked"),
        gc: Salvage("untracked: file.up"),
        ..CLEAN
    },
    State {
        name: "a pipe",
        script: "mkfifo pipe",
        ..CLEAN
    },
    State {
        name: "a lock left on the index",
        script: "touch \"$(git rev-parse --absolute-git-dir)/index.lock\"",
        rm: Stays("its index is locked"),
        discard: Stays("its index is locked"),
        archive: Stays("its index is locked"),
        gc: Hold("its index is locked"),
        sync: Stays("its index is locked"),
        migrate: Stays("index.lock"),
        ..CLEAN
    },
    State {
        name: "nothing done yet",
        untouched: true,
        gc: Hold("nothing was done in it yet"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
    State {
        name: "link replaced",
        script: "test -f .git && rm .git && git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x",
        rm: Stays("does not lead back"),
        discard: Stays("does not lead back"),
        archive: Stays("does not lead back"),
        gc: Hold("does not lead back"),
        sync: Not,
        migrate: Not,
        ..CLEAN
    },
];
