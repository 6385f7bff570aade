//! The faults that people met with tools like this one, end to end where they can be, and other rough
//! handling. Which test keeps which case (`git::`, `launch::` and `run::` are folders of this binary):
//!
//! | case | what happens | kept by |
//! | --- | --- | --- |
//! | 1 | the engine dies with work in a worktree | `run::kill_matrix`, `git::worktrees::asking_again_gives_the_same_worktree_with_the_work_in_it` |
//! | 2 | an untracked file where a merge would put one | [`work`]: nothing is ever merged into a checkout |
//! | 3 | a process still runs in a worktree that is to go | [`removal`], `git::removals::a_process_in_it_is_named_and_the_worktree_left_alone` |
//! | 4 | submodules | [`removal`], `git::removals::an_initialised_submodule_does_not_stop_removal_and_its_own_commits_do` |
//! | 5 | 16 start at once on a branch with an upstream | [`starts`], `git::worktrees::many_at_once_all_stand` |
//! | 6 | what an earlier run left | [`starts`], `run::infrastructure::what_a_killed_run_of_the_same_name_left_is_in_nobodys_way` |
//! | 7 | an instruction that is not in the base | [`starts`], `run::compile` |
//! | 8 | a move from outside to inside | `run::adversary`: the trick "move in" |
//! | 9 | the worker merges what the base has become | [`work`], `git::bases` |
//! | 10 | files copied in by provisioning | [`work`], `git::bases::provisioned_files_are_never_committed_and_never_a_finding` |
//! | 11 | started from a git hook | [`starts`], `git::environment` |
//! | 12 | no worktree can be made | [`starts`], `git::worktrees::a_checkout_that_fails_is_rolled_back` |
//! | 13 | a check that is missing, not executable, or proves nothing | [`work`], `run::infrastructure` |
//! | 14 | what a worker says and what it did | [`work`], `run::outcomes` |
//! | 15 | commits that were there before | [`work`], `git::bases::commits_that_were_there_before_are_not_the_workers` |
//! | 16 | a kill between commit, merge and record | `run::kill_matrix` |
//! | 17 | KILL, and the process id is taken by another | `run::kill_matrix`, `launch::lost::a_reused_process_id_is_left_alone` |
//! | 18 | a child in a session of its own holds a lock | `launch::stopping::a_lock_holder_in_a_session_of_its_own_is_gone_after_cancel`, `run::requests` |
//! | 19 | silence, the clock, a flood | [`work`], `launch::limits` |
//! | 20 | odd file names | [`escaping`], `run::adversary` |

mod case;
mod escaping;
mod removal;
mod rough;
mod starts;
mod work;
